# Errors that no call of a hook surrounds, or that cut calls off: which statement each is of, and
# what goes on behind it.  And what the calls of a nested statement add to it.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/lib";
use PfsServer;
use Test::More;

my $server = PfsServer->new('main', conf => "autovacuum = off\n");
$server->start;
$server->sql('CREATE EXTENSION pfs');
$server->sql('CREATE TABLE t (i int); CREATE TABLE parent (i int); CREATE TABLE child () INHERITS (parent)');

my $s = $server->session;
my $thread = $s->thread_id;

# What a text did, which may fail: statements of the session in the long history, oldest first.
sub done_by
{
	my ($text, $columns, $where) = @_;

	$server->poll_idle($thread);					# what the session did before is in the history that is emptied
	$server->sql('TRUNCATE pfs.events_statements_history_long, pfs.events_transactions_history_long');
	$s->send($text)->result;
	$server->poll_idle($thread);
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
$server->poll("SELECT count(*) FROM pg_stat_activity WHERE application_name = 'pgbench'", 0);
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
		$server->poll("SELECT count(*) FROM pg_stat_activity WHERE application_name = 'pgbench'", 0);
		is($server->sql(q{SELECT replace(event_name, 'statement/sql/', ''), errors, returned_sqlstate FROM pfs.events_statements_history_long
			WHERE sql_text ~ '^(BEGIN|INSERT|COMMIT)' AND event_name LIKE 'statement/sql/%' ORDER BY thread_id, event_id}), $case->[1], '... and nothing else');
	}
}

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
