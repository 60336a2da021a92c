# Portals that are executed in parts, as a driver with a fetch size does it: the first Execute
# is the statement, each later one is statement/com/fetch, whose time and rows the digest gets
# without a count.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/lib";
use PfsServer;
use PfsWire;
use Test::More;

my $server = PfsServer->new('main', conf => "autovacuum = off\ncompute_query_id = on\npfs.instruments = 'wait/io/table/handler=ON'");

$server->start;
$server->sql(<<'EOT');
CREATE EXTENSION pfs;
CREATE TABLE t (i int);
INSERT INTO t SELECT generate_series(1, 1000);
CREATE PROCEDURE doubled(INOUT x int) LANGUAGE plpgsql AS 'BEGIN x := 2 * x; END';
EOT
my $c = PfsWire->new($server);
my $thread = $server->thread_of($c->pid);
my $ours = "FROM pfs.events_statements_history_long WHERE thread_id = $thread";

sub clear
{
	$server->poll_idle($thread);
	$server->sql('TRUNCATE pfs.events_statements_history_long, pfs.events_statements_summary_by_digest');
}

# How many answers of each of the kinds: rows, portals that have more.
sub answers
{
	my @letters = @_;

	return join('|', map { my $kind = $_; scalar grep { $_ eq $kind } @letters } qw(D s));
}

# ---- a query ----

my $query = 'SELECT i FROM t';
my %ways = (
	'in one pipeline' => sub {
		$c->send_at_once([ Parse => 'q', $query ], [ Bind => 'q' ], (map { [ Execute => 100 ] } 1 .. 11), ['Sync'], [ Close => 'q' ], ['Sync']);
		return ($c->until_ready, $c->until_ready);
	},
	'message by message in a transaction' => sub {
		my @letters;

		$c->send(Query => 'BEGIN');
		$c->until_ready;
		$c->send_at_once([ Parse => '', $query ], [ Bind => '' ], [ Execute => 100 ], ['Sync']);
		push @letters, $c->until_ready;
		for (2 .. 11)
		{
			$c->send_at_once([ Execute => 100 ], ['Sync']);
			push @letters, $c->until_ready;
		}
		$c->send(Query => 'COMMIT');
		$c->until_ready;
		return @letters;
	});

foreach my $what (sort keys %ways)
{
	clear();
	is(answers($ways{$what}->()), '1000|10', "$what: a portal is read in ten parts");
	$server->poll_idle($thread);
	my $digest = "FROM pfs.events_statements_summary_by_digest WHERE digest_text = '$query'";

	is($server->sql("SELECT count(*), sum(rows_sent), sum(rows_examined) $ours AND (sql_text = '$query' AND event_name = 'statement/sql/select' OR event_name = 'statement/com/fetch')"), '11|1000|1000',
		"$what: each has an event, with its rows");
	is($server->sql("SELECT sum_rows_sent, sum_rows_examined $digest"), '1000|1000', "$what: the digest has all rows");
	is($server->sql("SELECT count_fetch FROM pfs.table_io_waits_summary_by_digest WHERE query_id = (SELECT query_id $digest) AND object_name = 't'"), 1000, "$what: and those by table");
	is($server->sql("SELECT count(*) FILTER (WHERE event_name = 'statement/sql/select'), count(*) FILTER (WHERE event_name = 'statement/com/fetch') $ours AND rows_sent = 100"), '1|9',
			"$what: the first is the statement, the others fetch");
	is($server->sql("SELECT count(*) $ours AND event_name = 'statement/com/fetch'"), 10, "$what: the last, which finds the end, too");
	is($server->sql("SELECT count_star, count_timed $digest"), '1|1', "$what: one execution for the digest");
	is($server->sql("SELECT sum(count_bucket) FROM pfs.events_statements_histogram_by_digest WHERE query_id = (SELECT query_id $digest)"), 1, "$what: one for its histogram");
	is($server->sql("SELECT min_timer_wait = max_timer_wait AND max_timer_wait <= sum_timer_wait $digest"), 't', "$what: whose time is shortest and longest");
}

# ---- utilities ----

my @utilities = (
	[ 'SHOW ALL', 'statement/sql/show', 3 ],
	[ 'EXPLAIN (COSTS OFF) SELECT i FROM t ORDER BY i', 'statement/sql/explain', 1 ],
	[ 'CALL doubled(21)', 'statement/sql/call', 1 ],
	[ 'FETCH 10 FROM k', 'statement/sql/fetch', 3 ]);

foreach my $utility (@utilities)
{
	my ($text, $event, $rows) = @$utility;
	my @letters;

	$c->send(Query => 'BEGIN');
	$c->until_ready;
	$c->send(Query => 'DECLARE k CURSOR FOR SELECT i FROM t');
	$c->until_ready;
	clear();
	$c->send_at_once([ Parse => '', $text ], [ Bind => '' ], [ Execute => $rows ], ['Sync']);
	is(answers($c->until_ready), "$rows|1", "$text: $rows rows, and there are more");
	$server->poll_idle($thread);
	is($server->sql("SELECT count(*) $ours AND event_name = '$event'"), 1, "$text: a statement");
	is($server->sql("SELECT rows_sent $ours AND event_name = '$event'"), $rows, "$text: it has sent what the client has got");
	clear();
	$c->send_at_once([ Execute => $rows ], ['Sync']);
	my ($sent, $more) = split /\|/, answers($c->until_ready);

	$c->send(Query => 'COMMIT');
	$c->until_ready;
	$server->poll_idle($thread);
	is($sent, $text =~ /^CALL/ ? 0 : $rows, "$text: its portal is executed again");
	is($server->sql("SELECT count(*) $ours AND event_name = 'statement/sql/commit'"), 1, "$text: what follows has an event");
	is($server->sql("SELECT string_agg(event_name || ' ' || rows_sent, ', ' ORDER BY event_id) $ours AND nesting_event_level = 0 AND event_name <> 'statement/sql/commit'"), "statement/com/fetch $sent",
		"$text: and so has that");
}

# ---- commands that return rows ----

sub events
{
	$server->poll_idle($thread);
	return $server->sql("SELECT string_agg(replace(event_name, 'statement/', '') || ' ' || rows_sent || ' ' || rows_affected, ', ' ORDER BY event_id) $ours AND nesting_event_level = 0
		AND event_name !~ 'begin|commit'");
}

my $returning = 'DELETE FROM t WHERE i <= 5 RETURNING i';
my $with = 'WITH d AS (DELETE FROM t WHERE i <= 10 RETURNING i) SELECT i FROM d';

foreach my $case ([ $returning, 'sql/delete' ], [ $with, 'sql/select' ])
{
	my ($text, $event) = @$case;
	my $digest = "FROM pfs.events_statements_summary_by_digest WHERE digest_text LIKE '" . $text =~ s/\d+/%/gr . "'";

	clear();
	is(answers($c->send_at_once([ Parse => '', $text ], [ Bind => '' ], (map { [ Execute => 2 ] } 1 .. 3), ['Sync']), $c->until_ready), '5|2', "$text: read in three parts");
	is(events(), "$event 2 5, com/fetch 2 0, com/fetch 1 0", "$text: each is an event, with its rows");
	is($server->sql("SELECT count_star, sum_rows_sent, sum_rows_affected $digest"), '1|5|5', "$text: one execution");
	clear();
	is(answers($c->send_at_once([ Parse => '', $text ], [ Bind => '' ], ['Execute'], ['Sync']), $c->until_ready), '0|0', "$text: no more rows");
	is(events(), "$event 0 0", "$text: all at once is one event");
}

# ---- several portals, and what else a client does meanwhile ----

my @parts = qw(query SHOW);
$c->send_at_once([ Parse => 'query', 'SELECT i FROM t ORDER BY i' ], [ Parse => 'SHOW', 'SHOW ALL' ], ['Sync']);
$c->until_ready;
$c->query('BEGIN');
clear();
$c->send_at_once((map { [ BindAs => $_, $_ ] } @parts), (map { [ ExecuteOf => $_, 3 ] } @parts), ['Sync']);
is(answers($c->until_ready), '6|2', 'two portals, each with more');
clear();
# What the simple protocol sends is a statement of its own, whatever portals are open.
$c->query('EXPLAIN (COSTS OFF) SELECT i FROM t');
$c->send_at_once((map { [ ExecuteOf => $_, 4 ] } @parts, reverse @parts), ['Sync']);
is(answers($c->until_ready), '16|4', 'they are executed by turns');
is(events(), 'sql/explain 1 0, com/fetch 4 0, com/fetch 4 0, com/fetch 4 0, com/fetch 4 0', 'each time is an event');
is($server->sql("SELECT string_agg(sql_text, ', ' ORDER BY event_id) $ours AND event_name = 'statement/com/fetch'"), 'SELECT i FROM t ORDER BY i, SHOW ALL, SHOW ALL, SELECT i FROM t ORDER BY i', 'with its text');
is($server->sql("SELECT count(*) $ours AND event_name = 'statement/com/fetch' AND digest_text IS NULL AND sql_text LIKE 'SELECT%'"), 2, 'nothing has been executed since: there is no digest');
$c->query('ROLLBACK');
is($server->sql("SELECT statement_name, count_execute FROM pfs.prepared_statements_instances WHERE thread_id = $thread AND statement_name IN ('query', 'SHOW') ORDER BY statement_name COLLATE \"C\""),
	"SHOW|1\nquery|1", 'each was executed once');
is($server->sql("SELECT count(*) FROM pfs.prepared_statements_instances WHERE thread_id = $thread AND statement_name IN ('query', 'SHOW') AND sum_timer_wait > max_timer_wait"), 2,
	'all its parts are in its time');

# A part that fails is the portal's error.
clear();
$c->send_at_once([ Parse => '', 'SELECT 1 / (4 - i) FROM generate_series(1, 9) i' ], [ Bind => '' ], [ Execute => 2 ], [ Execute => 2 ], ['Sync']);
is(answers($c->until_ready), '3|1', 'the second part of a portal fails');
# Rows of a run that fails are not counted.
is(events(), 'sql/select 2 0, com/fetch 0 0', 'it has an event');
is($server->sql("SELECT count_star, sum_errors, sum_rows_sent FROM pfs.events_statements_summary_by_digest WHERE digest_text LIKE 'SELECT % / (% - i)%'"), '1|1|2', 'and the digest its error');

# Untimed.
$server->sql(q{UPDATE pfs.setup_instruments SET timed = 'NO' WHERE name LIKE 'statement/%'});
clear();
$c->send_at_once([ Parse => '', $query ], [ Bind => '' ], (map { [ Execute => 100 ] } 1 .. 3), ['Sync']);
$c->until_ready;
$server->poll_idle($thread);
is($server->sql("SELECT count_star, count_timed, sum_timer_wait, sum_rows_sent FROM pfs.events_statements_summary_by_digest WHERE digest_text = '$query'"), '1|0|0|300', 'without times');

done_testing();
