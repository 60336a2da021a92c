# Where one statement ends and the next begins, in a string of several and in a pipeline: what
# happens in the analysis, the planning and the binding of a statement is its own.
#
# Another session holds a lock on the table of the second statement, which needs it before its
# executor starts.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/lib";
use PfsServer;
use PfsWire;
use Test::More;

my $server = PfsServer->new('main', conf => "autovacuum = off\ncompute_query_id = on");

$server->start;
$server->sql('CREATE EXTENSION pfs; CREATE TABLE pc (i int); INSERT INTO pc VALUES (1)');
my $holder = $server->session;
my $second = 'select count(*) from pc';
my @ways = (
	[ 'a string', [ Query => "select 'first one'; $second; select 'third'" ] ],
	[ 'a pipeline, locked in Parse', [ Parse => '', "select 'first one'" ], [ Bind => '' ], ['Execute'], [ Parse => '', $second ], [ Bind => '' ], ['Execute'], ['Sync'] ],
	[ 'a pipeline, locked in Bind', [ Parse => '', "select 'first one'" ], [ Bind => '' ], ['Execute'], [ Bind => 'counts' ], ['Execute'], ['Sync'] ]);

foreach my $way (@ways)
{
	my ($what, @messages) = @$way;
	my $c = PfsWire->new($server);
	my $thread = $server->thread_of($c->pid);

	$c->send_at_once([ Parse => 'counts', $second ], ['Sync']);
	$c->until_ready;
	$server->poll_idle($thread);
	$server->sql('TRUNCATE pfs.events_statements_history_long, pfs.events_statements_summary_by_digest');
	$holder->query('BEGIN; LOCK TABLE pc');
	$c->send_at_once(@messages);
	ok($server->poll("SELECT count(*) FROM pfs.events_waits_current WHERE thread_id = $thread AND event_name = 'wait/lock/relation' AND object_name = 'pc'", 1),
		"$what: its second statement waits for the lock");
	like($server->sql("SELECT sql_text FROM pfs.events_statements_current WHERE thread_id = $thread"), qr/^\s*\Q$second\E/, "$what: it is the one that runs");
	like($server->sql("SELECT waiting_statement FROM pfs.blocking_tree WHERE waiting_thread_id = $thread"), qr/^\s*\Q$second\E/, "$what: blocking_tree names it");
	like($server->sql("SELECT waiting_query FROM pfs_sys.lock_waits WHERE waiting_thread_id = $thread"), qr/^\s*\Q$second\E/, "$what: so does lock_waits");
	$holder->query('COMMIT');
	$c->until_ready;
	$server->poll_idle($thread);

	my $ours = "FROM pfs.events_statements_history_long WHERE thread_id = $thread";

	is($server->sql("SELECT count(*) FILTER (WHERE sql_text LIKE 'select ''first one''%'), count(*) FILTER (WHERE sql_text LIKE '$second%' AND event_name = 'statement/sql/select') $ours"),
		'1|1', "$what: both are in the history");
	is($server->sql("SELECT sum(count_star) FROM pfs.events_waits_summary_by_digest WHERE event_name = 'wait/lock/relation'"), 1, "$what: the wait is charged once");
	is($server->sql("SELECT count(*) $ours AND lock_time > timer_wait"), 0, "$what: no statement waits for locks longer than it takes");
	is($server->sql("SELECT count(*) $ours AND sql_text LIKE '$second%' AND lock_time > 0"), 1, "$what: the second has the time of the lock");
	is($server->sql("SELECT count(*) FROM pfs.events_waits_summary_by_digest WHERE event_name = 'wait/lock/relation'
		AND query_id = (SELECT query_id $ours AND sql_text LIKE '$second%' AND event_name = 'statement/sql/select')"), 1, "$what: and the wait");
	is($server->sql("SELECT count(*) FROM (SELECT timer_start, lag(timer_end) OVER (ORDER BY event_id) AS before $ours AND nesting_event_level = 0) e WHERE timer_start < before"), 0,
		"$what: each begins when the one before is over");
	$c->send('Terminate');
}

# ---- which parts of a string are statements ----

my $s = PfsWire->new($server);
my $thread = $server->thread_of($s->pid);
my $ours = "FROM pfs.events_statements_history_long WHERE thread_id = $thread AND nesting_event_level = 0";

# Texts and what became of them, in their order.
sub events
{
	my ($string) = @_;

	$server->poll_idle($thread);
	$server->sql('TRUNCATE pfs.events_statements_history_long, pfs.events_transactions_history_long');
	$s->query($string);
	$server->poll_idle($thread);
	is($server->sql("SELECT count(*) FROM (SELECT timer_start, lag(timer_end) OVER (ORDER BY event_id) AS before $ours) e WHERE timer_start <> before"), 0,
		"$string: there is no gap");
	return $server->sql("SELECT string_agg(replace(event_name, 'statement/sql/', '') || ' ' || sql_text || ' ' || errors, ' | ' ORDER BY event_id) $ours");
}

is(events('select 1; select 2 ; -- and no more'), 'select select 1 0 | select select 2 0', 'a comment is no statement');
is(events("select 1;;\n/* a /* nested */ comment; */ ; "), 'select select 1 0', 'nor are blanks');
is(events('begin; select 1; commit; select 2'), 'begin begin 0 | select select 1 0 | commit commit 0 | select select 2 0', 'blocks in a string');
is($server->sql("SELECT string_agg(s.sql_text || ' ' || t.autocommit, ' | ' ORDER BY t.event_id) FROM pfs.events_transactions_history_long t JOIN pfs.events_statements_history_long s
	ON s.thread_id = t.thread_id AND s.event_id = t.nesting_event_id WHERE t.thread_id = $thread"), 'begin NO | select 2 YES', 'each begins in its statement');

# An error belongs to the statement that the server has come to, whatever it knows of the query.
foreach my $set ('', 'compute_query_id = off', 'track_activities = off')
{
	$s->query("SET $set") if $set ne '';
	is(events('select 1; select nosuch; select 3'), 'select select 1 0 | error select nosuch; select 3 1', "an error in analysis, $set");
	is(events('select 1; select 1/0; select 3'), 'select select 1 0 | select select 1/0 1', "one of an execution, $set");
	is(events('select 1; commit; select 2'), 'select select 1 0 | commit commit 0 | select select 2 0', "a warning, $set");
	is($server->sql("SELECT string_agg(sql_text, ',') $ours AND warnings > 0"), 'commit', "is its statement's");
}

# Of another statement that is not collected.
$server->sql("SELECT pfs.set_instruments('statement/sql/select', 'NO')");
is(events('select 1; show work_mem; select nosuch'), 'show show work_mem 0 | error select nosuch 1', 'behind one that is off');
$server->sql("SELECT pfs.set_instruments('statement/sql/select', 'YES')");

done_testing();
