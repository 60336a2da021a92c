# Digests of utilities that a driver prepares, with pg_stat_statements in the same server: it
# takes the query identifier out of the cached plan, so the second execution finds none there.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/lib";
use PfsServer;
use PfsWire;
use Test::More;

my $executions = 5;

plan skip_all => 'a server without pg_stat_statements' unless glob(PfsServer::run_ok('pg_config', '--pkglibdir') =~ s/\s+$//r . '/pg_stat_statements.*');

foreach my $libraries ('pfs', 'pfs, pg_stat_statements', 'pg_stat_statements, pfs')
{
	my $server = PfsServer->new('main', preload => $libraries, conf => <<'EOT');
autovacuum = off
compute_query_id = on
wal_writer_delay = 10s
pfs.instruments = 'wait/io/table/handler=ON'
EOT

	$server->start;
	$server->sql('CREATE EXTENSION pfs; CREATE ROLE app LOGIN SUPERUSER; CREATE TABLE t (i int); INSERT INTO t SELECT generate_series(1, 100)');
	my $c = PfsWire->new($server, user => 'app');
	my $thread = $server->thread_of($c->pid);
	my @prepared = ([ b => 'BEGIN' ], [ i => 'INSERT INTO t VALUES (0)' ], [ d => 'DECLARE k CURSOR FOR SELECT i FROM t' ], [ f => 'FETCH 10 FROM k' ], [ l => 'LOCK TABLE t' ], [ e => 'COMMIT' ]);
	my %text_of = map { @$_ } @prepared;

	# Each message is answered before the next is sent, as a driver does it.
	my $execute = sub {
		foreach my $name (@_)
		{
			$c->send_at_once([ Bind => $name ], ['Execute'], ['Sync']);
			$c->until_ready;
		}
	};
	foreach my $statement (@prepared)
	{
		$c->send_at_once([ Parse => @$statement ], ['Sync']);
		$c->until_ready;
	}
	$server->poll_idle($thread);
	$server->sql('TRUNCATE pfs.events_statements_summary_by_digest, pfs.events_waits_summary_by_thread_by_event_name, pfs.events_statements_summary_by_thread_by_event_name');
	$execute->(qw(b i d f l e)) for 1 .. $executions;
	$server->poll_idle($thread);

	my $of_thread = "FROM pfs.events_statements_summary_by_thread_by_event_name WHERE thread_id = $thread";
	my $of_app = "WHERE user_name = 'app'";

	foreach my $case ([ b => 'begin' ], [ i => 'insert' ], [ d => 'declare_cursor' ], [ f => 'fetch' ], [ l => 'lock_table' ], [ e => 'commit' ])
	{
		my ($name, $command) = @$case;
		# Constants of some utilities are replaced from 16 on.
		my $like = $text_of{$name} =~ s/\d+/%/gr;

		is($server->sql("SELECT sum(count_star) $of_thread AND event_name = 'statement/sql/$command'"), $executions, "$libraries: $command was executed $executions times");
		# The query of a cursor can have a digest of its own, with the text of DECLARE.
		is($server->sql("SELECT string_agg(DISTINCT count_star::text, ', ') FROM pfs.events_statements_summary_by_digest $of_app AND digest_text LIKE '$like'"), $executions,
			"$libraries: as its digest says");
	}

	# What they wait for, and which rows they read.
	my $syncs = $server->sql("SELECT count_star FROM pfs.events_waits_summary_by_thread_by_event_name WHERE thread_id = $thread AND event_name ILIKE 'wait/io/file/WALSync'");

	cmp_ok($syncs, '>', 1, "$libraries: more than one COMMIT has written WAL to disk");
	is($server->sql("SELECT sum(count_star) FROM pfs.events_waits_summary_by_digest $of_app AND event_name ILIKE 'wait/io/file/WALSync' AND query_id = (SELECT query_id FROM pfs.events_statements_summary_by_digest $of_app AND digest_text = 'COMMIT')"), $syncs,
		"$libraries: all of it has the digest of COMMIT");
	# That of FETCH, or of the cursor's query.
	is($server->sql("SELECT sum(count_fetch) FROM pfs.table_io_waits_summary_by_digest $of_app AND object_name = 't' AND query_id IS NOT NULL"), 10 * $executions,
		"$libraries: rows of FETCH have a digest");

	# And in the load history, where a second execution waits for a lock.
	my $holder = $server->session;

	$holder->query('BEGIN; LOCK TABLE t');
	$execute->('b');
	$c->send_at_once([ Bind => 'l' ], ['Execute'], ['Sync']);
	my $locks = "FROM pfs.load_history WHERE wait_event_type = 'Lock' AND resolution = '1 s'";

	ok($server->poll("SELECT count(*) > 0 $locks"), "$libraries: a LOCK TABLE waits, and the load history has it");
	is($server->sql("SELECT string_agg(DISTINCT coalesce(digest_text, 'NULL'), ', ') $locks"), 'LOCK TABLE t', "$libraries: by its digest");
	$holder->query('COMMIT');
	$c->until_ready;
	$execute->('e');

	# In a function, whose plans are cached, too.
	$server->sql("CREATE FUNCTION locks() RETURNS void LANGUAGE plpgsql AS 'BEGIN LOCK TABLE t IN SHARE MODE; END'");
	$c->send_at_once([ Parse => n => 'SELECT locks()' ], ['Sync']);
	$c->until_ready;
	$server->poll_idle($thread);
	$server->sql('TRUNCATE pfs.events_statements_summary_by_digest');
	$execute->('n') for 1 .. $executions;
	$server->poll_idle($thread);
	is($server->sql("SELECT count(*), count(DISTINCT query_id), count(query_id), (SELECT string_agg(count_star::text, ', ') FROM pfs.events_statements_summary_by_digest d $of_app AND d.query_id = min(e.query_id))
		FROM pfs.events_statements_history_long e WHERE thread_id = $thread AND event_name = 'statement/sql/lock_table' AND sql_text LIKE 'LOCK TABLE t IN SHARE%'"),
		"$executions|1|$executions|$executions", "$libraries: a command in a function has its digest");

	# An EXECUTE has none, whoever sends it and how: what it executes has.
	$c->query($_) foreach 'PREPARE p (int) AS SELECT i, pg_sleep(0.001)::text FROM t WHERE i = $1', 'EXPLAIN EXECUTE p (1)';
	$c->send_at_once([ Parse => x => 'EXECUTE p (1)' ], ['Sync']);
	$c->until_ready;
	$server->sql("CREATE FUNCTION executes() RETURNS void LANGUAGE plpgsql AS 'BEGIN EXECUTE ''EXECUTE p (2)''; END'");
	$server->poll_idle($thread);
	$server->sql('TRUNCATE pfs.events_statements_summary_by_digest, pfs.events_statements_summary_by_thread_by_event_name, pfs.events_statements_history_long');
	$execute->('x') for 1 .. $executions;
	$c->query("EXECUTE p ($_)") for 1 .. 20;
	$c->query('SELECT executes()') for 1 .. $executions;
	$server->poll_idle($thread);
	my $all = 20 + 2 * $executions;
	my $executed = "(SELECT DISTINCT i.query_id FROM pfs.events_statements_history_long i JOIN pfs.events_statements_history_long x ON x.event_id = i.nesting_event_id AND x.thread_id = i.thread_id
		WHERE i.thread_id = $thread AND i.nesting_event_type = 'STATEMENT' AND x.event_name = 'statement/sql/execute')";

	is($server->sql("SELECT sum(count_star) $of_thread AND event_name = 'statement/sql/execute'"), $all, "$libraries: each EXECUTE is counted");
	is($server->sql("SELECT count(*), count(query_id), count(digest_text) FROM pfs.events_statements_history_long WHERE thread_id = $thread AND event_name = 'statement/sql/execute'"), "$all|0|0",
		"$libraries: and is an event without an identifier");
	is($server->sql("SELECT count(*) FROM pfs.events_statements_summary_by_digest WHERE digest_text ~ '^EXECUTE'"), 0, "$libraries: but no digest");
	is($server->sql("SELECT count_star FROM pfs.events_statements_summary_by_digest WHERE query_id IS NULL"), $all, "$libraries: it counts for all others");
	is($server->sql("SELECT string_agg(count_star::text, ', ') FROM pfs.events_statements_summary_by_digest $of_app AND query_id IN $executed"), $all, "$libraries: what it executes has one");
	# A sleep may take two waits.
	is($server->sql("SELECT sum(count_star) >= $all, bool_and(coalesce(query_id IN $executed, false)) FROM pfs.events_waits_summary_by_digest WHERE event_name = 'wait/timeout/PgSleep'"), 't|t', "$libraries: and its waits");
	is($server->sql("SELECT sum(count_fetch) FROM pfs.table_io_waits_summary_by_digest $of_app AND object_name = 't' AND query_id IN $executed"), $all * $server->sql('SELECT count(*) FROM t'), "$libraries: and its rows");
	$c->query('EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) EXECUTE p (1)');
	$c->query('CREATE TEMP TABLE made AS EXECUTE p (1)');
	$server->poll_idle($thread);
	is($server->sql("SELECT string_agg(count_star::text, ', ') FROM pfs.events_statements_summary_by_digest $of_app AND digest_text ~ '^(EXPLAIN|CREATE).*EXECUTE p'"), '1, 1', "$libraries: other commands that execute it have theirs");

	# Of two that were parsed it is the one that is executed.
	$server->sql('TRUNCATE pfs.events_statements_history_long');
	$c->send_at_once([ Parse => y => 'EXECUTE p (11)' ], [ Parse => z => 'EXECUTE p (12)' ], [ Bind => 'y' ], ['Execute'], [ Bind => 'z' ], ['Execute'], [ Bind => 'n' ], ['Execute'], ['Sync']);
	$c->until_ready;
	$server->poll_idle($thread);
	is($server->sql("SELECT string_agg(event_name || ' ' || sql_text, ', ' ORDER BY event_id) FROM pfs.events_statements_history_long WHERE thread_id = $thread AND nesting_event_level = 0"),
		'statement/com/parse EXECUTE p (11), statement/com/parse EXECUTE p (12), statement/sql/execute EXECUTE p (11), statement/sql/execute EXECUTE p (12), statement/sql/select SELECT locks()',
		"$libraries: which is told by the text");

	# What is executed again and again is not forgotten for the sake of many others in between.
	my $rounds = 40;

	$server->sql('TRUNCATE pfs.events_statements_summary_by_digest');
	for my $round (1 .. $rounds)
	{
		$execute->(qw(b e));
		$c->query("SET my.n$_ = '$round'") for 1 .. 100;
	}
	$server->poll_idle($thread);
	is($server->sql("SELECT string_agg(digest_text || ' ' || count_star, ', ' ORDER BY digest_text) FROM pfs.events_statements_summary_by_digest $of_app AND digest_text IN ('BEGIN', 'COMMIT')"),
		"BEGIN $rounds, COMMIT $rounds", "$libraries: prepared commands that are executed among many others");
	$c->send('Terminate');
	$server->stop;
}

# ---- statements without a query identifier ----

my $server = PfsServer->new('none', conf => <<'EOT');
autovacuum = off
compute_query_id = off
pfs.instruments = 'wait/io/table/handler=ON'
EOT
$server->start;
$server->sql('CREATE EXTENSION pfs; CREATE TABLE t (i int); INSERT INTO t SELECT generate_series(1, 100)');
$server->sql("CREATE FUNCTION sleeps() RETURNS void LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(0.001); END'");
my $c = PfsWire->new($server);
my $thread = $server->thread_of($c->pid);
my $d = 'pfs.events_statements_summary_by_digest';

$server->poll_idle($thread);
# Nobody else's statements are counted.
$server->sql('SELECT pfs.set_thread(' . $server->{control}->thread_id . ", 'NO')");
$server->sql("TRUNCATE $d, pfs.events_statements_summary_by_thread_by_event_name, pfs.events_waits_summary_by_thread_by_event_name");
foreach my $text ('SELECT * FROM t', 'selec 1', 'SELECT 1 / 0', 'BEGIN', 'SELECT pg_sleep(0.001)', 'COMMIT', 'SELECT sleeps()')
{
	$c->query($text);
}
$c->send_at_once([ Parse => '', 'SELECT i FROM t' ], [ Bind => '' ], [ Execute => 10 ], [ Execute => 10 ], ['Sync']);
$c->until_ready;
$server->poll_idle($thread);
my $of_thread = "FROM pfs.events_statements_summary_by_thread_by_event_name WHERE thread_id = $thread";

is($server->sql("SELECT count(*), bool_and(query_id IS NULL) FROM $d"), '1|t', 'without identifiers there is one row');
is($server->sql("SELECT count_star, sum_errors, sum_rows_sent FROM $d"), $server->sql("SELECT sum(count_star) FILTER (WHERE event_name <> 'statement/com/fetch'), sum(sum_errors), sum(sum_rows_sent) $of_thread"),
	'all statements are in it, but for a fetch, which is none');
cmp_ok($server->sql("SELECT count_star FROM $d"), '>=', 8, 'those that fail, too');
is($server->sql("SELECT count_star FROM pfs.events_waits_summary_by_digest WHERE event_name = 'wait/timeout/PgSleep' AND query_id IS NULL"), 2, 'so are waits, also of functions');
is($server->sql("SELECT sum(count_fetch) FROM pfs.table_io_waits_summary_by_digest WHERE object_name = 't' AND query_id IS NULL"), 120, 'and rows of tables');
is($server->sql("SELECT sum(count_bucket) = (SELECT count_timed FROM $d) FROM pfs.events_statements_histogram_by_digest"), 't', 'and its histogram');

# A rule makes another query of it, which lies nowhere in the string.
$server->sql('CREATE TABLE ruled (i int); CREATE RULE r AS ON INSERT TO ruled DO INSTEAD INSERT INTO t VALUES (new.i); TRUNCATE pfs.events_statements_history_long');
$c->query('INSERT INTO ruled VALUES (1);');
$c->send_at_once([ Parse => '', 'INSERT INTO ruled VALUES (2);' ], [ Bind => '' ], ['Execute'], ['Sync']);
$c->until_ready;
$server->poll_idle($thread);
is($server->sql("SELECT string_agg(event_name || ' ' || sql_text, ', ' ORDER BY event_id) FROM pfs.events_statements_history_long WHERE thread_id = $thread"),
	'statement/sql/insert INSERT INTO ruled VALUES (1), statement/sql/insert INSERT INTO ruled VALUES (2)', 'what a rule has rewritten is one statement');
$c->send('Terminate');
ok($server->poll("SELECT count(*) FROM pfs.threads WHERE thread_id = $thread", 0), 'the session ends');
is($server->sql("SELECT count_star >= 8 FROM $d"), 't', 'and leaves them');
cmp_ok($server->sql("SELECT pfs.reset('events_statements_summary_by_digest')"), '>=', 8, 'until a reset');
is($server->sql("SELECT count(*) FROM $d"), 0, 'behind it there is no row');

done_testing();
