# Errors that no call of a hook surrounds, or that cut calls off: which statement each is of, and
# what goes on behind it.  And what the calls of a nested statement add to it.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/lib";
use PfsServer;
use PfsWire;
use Test::More;

my $server = PfsServer->new('main', preload => 'pfs,' . test_module('pfs_test'), conf => "autovacuum = off\n");
$server->start;
$server->sql('CREATE EXTENSION pfs');
$server->sql(test_functions('pfs_test'));
$server->sql('CREATE TABLE t (i int); CREATE TABLE parent (i int); CREATE TABLE child () INHERITS (parent)');

my $s = $server->session;
my $thread = $s->thread_id;

# When the last statement of the session has ended.  poll_idle() does not see one that is not shown while it is parsed.
sub becomes_idle
{
	$server->poll("SELECT count(*) FROM pfs.events_waits_current WHERE thread_id = $thread AND event_name LIKE 'idle%'", 1);
}

# What a text did, which may fail: statements of the session in the long history, oldest first.
sub done_by
{
	my ($text, $columns, $where) = @_;

	becomes_idle();					# what the session did before is in the history that is emptied
	$server->sql('TRUNCATE pfs.events_statements_history_long, pfs.events_transactions_history_long');
	$s->send($text)->result;
	becomes_idle();
	return $server->sql("SELECT $columns FROM (SELECT * FROM pfs.events_statements_history_long WHERE thread_id = $thread ORDER BY event_id) e WHERE "
		  . ($where // 'true'));
}

# ---- between the statements of a string or pipeline ----

my $whose = q{replace(event_name, 'statement/', ''), errors, returned_sqlstate, message_text};

is(done_by('BEGIN\; SELECT 1\; COMMIT\; SELECT no_column;', $whose), join("\n", 'sql/begin|0||', 'sql/select|0||', 'sql/commit|0||',
	'sql/error|1|42703|column "no_column" does not exist'), 'an error of parse analysis is not that of the statement before');
is($server->sql("SELECT state FROM pfs.events_transactions_history_long WHERE thread_id = $thread ORDER BY event_id LIMIT 1"), 'COMMITTED', 'nor of its transaction');
is(done_by('SELECT 1\; SELECT 1 / 0\; SELECT 2;', $whose), "sql/select|0||\nsql/select|1|22012|division by zero", 'one of execution neither');
is(done_by('BEGIN\; SELECT 1;', $whose), "sql/begin|0||\nsql/select|0||", 'a transaction goes on');
is(done_by('SELECT no_column;', $whose), 'sql/error|1|42703|column "no_column" does not exist', 'it fails');
is(done_by('SELECT 2\; SELECT 3;', $whose), 'sql/error|1|25P02|current transaction is aborted, commands ignored until end of transaction block', 'and nothing more is done in it');
$s->query('ROLLBACK');

$server->sql('TRUNCATE pfs.events_statements_history_long');
eval { $server->pgbench("\\startpipeline\nSELECT 4;\nALTER ROLE postgres PASSWORD hush1;\n\\endpipeline\n", '-M', 'extended', '-t', 1); };
like($@, qr/syntax error/, 'a pipeline fails');
$server->poll_ended('pgbench');
is($server->sql("SELECT sql_text, errors, message_text FROM pfs.events_statements_history_long WHERE sql_text ~ '^(SELECT 4|ALTER)' ORDER BY event_id"),
	"SELECT 4|0|\nALTER ROLE postgres PASSWORD <hidden>|1|<hidden>", 'the error is that of its statement, which has a secret');

# A commit that fails, by a message of its own, and a statement that does at its commit.
$server->sql('CREATE TABLE unique_at_commit (i int UNIQUE DEFERRABLE INITIALLY DEFERRED)');
foreach my $mode ('simple', 'extended', 'prepared')
{
	my @cases = ([ "BEGIN;\nINSERT INTO unique_at_commit VALUES (1), (1);\nCOMMIT;\n", "begin|0|\ninsert|0|\ncommit|1|23505" ],
		[ "INSERT INTO unique_at_commit VALUES (2), (2);\n", 'insert|1|23505' ]);

	foreach my $case (@cases)
	{
		$server->sql('TRUNCATE pfs.events_statements_history_long');
		eval { $server->pgbench($case->[0], '-M', $mode, '-t', 1); };
		like($@, qr/unique constraint/, "$mode: a commit fails");
		$server->poll_ended('pgbench');
		is($server->sql(q{SELECT replace(event_name, 'statement/sql/', ''), errors, returned_sqlstate FROM pfs.events_statements_history_long
			WHERE sql_text ~ '^(BEGIN|INSERT|COMMIT)' AND event_name LIKE 'statement/sql/%' ORDER BY thread_id, event_id}), $case->[1], '... and nothing else');
	}
}

$s->send('BEGIN; SELECT 1 / 0; COMMIT')->result;
is(done_by('SELECT 1\; SELECT no_column;', $whose), join("\n", 'sql/select|0||', 'sql/error|1|42703|column "no_column" does not exist'),
	'a commit of what had failed before leaves nothing behind');
$s->send('BEGIN; INSERT INTO unique_at_commit VALUES (3), (3); COMMIT AND CHAIN')->result;
$s->query('SELECT 8');
$server->poll_idle($thread);
is($server->sql("SELECT state, autocommit FROM pfs.events_transactions_history_long WHERE thread_id = $thread ORDER BY event_id DESC LIMIT 1"), 'COMMITTED|YES',
	'a commit and chain that fails begins no transaction');

# ---- messages that come at once ----

my $wire = PfsWire->new($server);
my $wired = $server->thread_of($wire->pid);
my @prepare = ([ Parse => 'json', 'SELECT $1::json' ], [ Parse => 'divide', 'SELECT 1 / $1' ], [ Parse => 'back', 'ROLLBACK TO a' ],
	[ Parse => 'one', 'SELECT 1 AS one' ]);

# What these messages did, by the long history, oldest first.
sub done_by_wire
{
	my ($columns, @messages) = @_;

	$server->poll_idle($wired);
	$server->sql('TRUNCATE pfs.events_statements_history_long');
	$wire->send_at_once(@messages);
	$wire->until_ready foreach grep { $_->[0] =~ /^(Sync|Query)$/ } @messages;
	$server->poll_idle($wired);
	return $server->sql("SELECT $columns FROM (SELECT * FROM pfs.events_statements_history_long WHERE thread_id = $wired ORDER BY event_id) e");
}

done_by_wire($whose, @prepare, ['Sync']);
is(done_by_wire($whose, [ Bind => 'json', '{}' ], ['Execute'], [ Bind => 'json', 'no' ], ['Execute'], ['Sync']),
	"sql/select|0||\nsql/error|1|22P02|invalid input syntax for type json", 'an error of Bind is not that of the Execute before');
done_by_wire($whose, [ Query => 'BEGIN' ], [ Query => 'SAVEPOINT a' ]);
is(done_by_wire($whose, [ Bind => 'divide', 0 ], ['Execute'], ['Sync'], [ Bind => 'back' ], ['Execute'], ['Sync'], [ Bind => 'one' ], ['Execute'], ['Sync']),
	"sql/select|1|22012|division by zero\nsql/rollback|0||\nsql/select|0||", 'what comes with an error inside of a savepoint is another statement');
done_by_wire($whose, [ Query => 'COMMIT' ]);
is(done_by_wire("replace(event_name, 'statement/', ''), sql_text", [ Parse => 'b', 'SELECT 2, 2' ], [ Parse => 'c', 'SELECT 3' ], [ Bind => 'b' ], ['Execute'],
		[ Bind => 'c' ], ['Execute'], ['Sync']),
	"com/parse|SELECT 2, 2\ncom/parse|SELECT 3\nsql/select|SELECT 2, 2\nsql/select|SELECT 3", 'what is executed is not what was parsed last');

# ---- statements that are not shown while they are parsed ----

$server->sql(q{SELECT pfs.set_instruments('statement/com/%', 'NO')});
is(done_by('SELECT no_column', "replace(event_name, 'statement/', ''), sql_text"), 'sql/error|SELECT no_column;', 'what fails in parse analysis is an event');
my $blocker = $server->session;
$blocker->query('BEGIN; LOCK TABLE t');
$server->poll_idle($thread);
$server->sql('TRUNCATE pfs.events_statements_history_long, pfs.events_waits_summary_by_digest');
$s->send('SELECT count(*) AS counted FROM t');
$server->poll_lasts($thread, 'wait/lock/%', 0.01);
is($server->sql("SELECT count(*) FROM pfs.events_statements_current WHERE thread_id = $thread"), 0, 'one that is being parsed is not shown');
$blocker->query('COMMIT');
$s->result;
$server->poll_idle($thread);
is($server->sql("SELECT event_name, sql_text FROM pfs.events_statements_history_long WHERE thread_id = $thread"),
	'statement/sql/select|SELECT count(*) AS counted FROM t', 'one that has waited before that is an event');
is($server->sql(q{SELECT count(*) > 0 FROM pfs.events_waits_summary_by_digest WHERE event_name LIKE 'wait/lock/%'}), 't', 'and its waits are its digest\'s');
$server->sql(q{SELECT pfs.set_instruments('statement/com/%', 'YES')});
$blocker->close;

# ---- cursors that an error cuts off ----

my $failed = q{event_name, errors, returned_sqlstate, nesting_event_level};
my $cursor = 'SELECT 1 / (x - 3) FROM generate_series(1, 5) x';

is(done_by("BEGIN; DECLARE c CURSOR FOR $cursor; SAVEPOINT a; FETCH ALL c; ROLLBACK TO a;", $failed, "sql_text LIKE '%1 / (x - 3)%' AND sql_text !~ '^FETCH'"),
	"statement/sql/declare_cursor|0||0\nstatement/sql/select|1|22012|1", 'a cursor that fails in a younger subtransaction has ended');
is(done_by('SELECT 5', $failed), 'statement/sql/select|0||0', 'and what comes is at top level');
is(done_by('COMMIT', $failed), 'statement/sql/commit|0||0', 'to the end');
is(done_by("DO \$\$ DECLARE c CURSOR FOR $cursor; d CURSOR FOR SELECT 6; n int; BEGIN OPEN d; OPEN c; BEGIN LOOP FETCH c INTO n; END LOOP;
	EXCEPTION WHEN division_by_zero THEN NULL; END; FETCH d INTO n; PERFORM 7; END \$\$", $failed . ', sql_text', "sql_text !~ '^DO'"),
	join("\n", "statement/sql/select|0||1|SELECT 6", 'statement/sql/select|' . ($server->has_frame_pointers ? '1|22012' : '0|') . "|1|$cursor",
		'statement/sql/select|0||1|SELECT 7'),
	'one that a block catches has failed, another goes on');

# ---- planning and execution of nested statements ----

$server->sql('CREATE FUNCTION standard(n int) RETURNS bigint BEGIN ATOMIC INSERT INTO t VALUES (n), (n); SELECT count(*) FROM t; END');
is(join("\n", sort split /\n/, done_by('SELECT standard(1)', q{event_name, rows_affected, rows_sent}, 'nesting_event_level = 1')),
	"statement/sql/insert|2|0\nstatement/sql/select|0|1", 'statements of a function of standard SQL are told apart');
is(done_by(q{SELECT command('CREATE TABLE by_library (i int)')}, q{event_name, sql_text}, 'nesting_event_level = 1'),
	'statement/sql/create_table|CREATE TABLE by_library (i int)', 'a command of a library that wants no result is a nested statement');
$s->query('SET compute_query_id = off');
is(done_by('DO $$ DECLARE n int := 1; BEGIN FOR k IN 1 .. 2 LOOP n := n + k; INSERT INTO t VALUES (n); DELETE FROM t WHERE i = n; PERFORM 8; END LOOP; END $$',
		q{event_name, sql_text}, 'nesting_event_level = 1'), join("\n", ('statement/sql/insert|INSERT INTO t VALUES (n)', 'statement/sql/delete|DELETE FROM t WHERE i = n',
			'statement/sql/select|SELECT 8') x 2), 'without identifiers of queries, too');
$s->query('RESET compute_query_id');

my $locker = $server->session;

$locker->query('BEGIN; LOCK TABLE child');
$server->sql('TRUNCATE pfs.events_statements_history_long');
$s->send("DO \$\$ BEGIN EXECUTE 'SELECT count(*) FROM parent'; END \$\$");
ok($server->poll_lasts($thread, 'wait/lock/relation', 0.2), 'a nested statement waits in the planner');
$locker->query('COMMIT');
$s->result;
$server->poll_idle($thread);
is($server->sql("SELECT lock_time >= 2e11, lock_time <= timer_wait FROM pfs.events_statements_history_long WHERE thread_id = $thread AND nesting_event_level = 1"),
	't|t', 'which is in its lock_time');

done_testing();
