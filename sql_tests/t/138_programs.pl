# Programs: calls and statements counted exactly, whatever ends a call; functions that are
# dropped, replaced and rolled back; other databases; rights; a full container; resets under load.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/lib";
use PfsServer;
use Test::More;

my $seconds = $ENV{PFS_RESET_SECONDS} // 5;
my $server = PfsServer->new('main', conf => <<'EOT');
autovacuum = off
max_prepared_transactions = 5
EOT
$server->start;
$server->sql('CREATE EXTENSION pfs');

my $s = $server->session;
my $pid = $s->query('SELECT pg_backend_pid()');
my $thread = $server->thread_of($pid);

# What was counted since the last time, in the order of names: calls and statements; and zeroes it.
sub counted
{
	my $rows = $server->sql(q{SELECT coalesce(string_agg(object_name || ' ' || count_star || ' ' || count_statements, ', ' ORDER BY object_name COLLATE "C"), '')
		FROM pfs.events_statements_summary_by_program});

	$server->sql('TRUNCATE pfs.events_statements_summary_by_program');
	return $rows;
}

# Runs a text in the session; what was counted is there when it is idle again.
sub run
{
	my ($text) = @_;

	$s->send($text)->result;
	$server->poll_idle($thread);
	return counted();
}

# ---- what is a program, and whose a statement is ----

$s->query($_) foreach (
	'CREATE TABLE t (i int PRIMARY KEY, n int)',
	'INSERT INTO t SELECT g, 0 FROM generate_series(1, 10) g',
	"CREATE FUNCTION inner_f(x int) RETURNS bigint LANGUAGE plpgsql AS 'BEGIN RETURN (SELECT count(*) FROM t WHERE t.i <= x); END'",
	q{CREATE FUNCTION outer_f(x int) RETURNS bigint LANGUAGE plpgsql AS 'DECLARE s bigint = 0; BEGIN
		PERFORM n FROM t; FOR k IN 1 .. x LOOP s := s + inner_f(k); END LOOP; UPDATE t SET n = n + 1; RETURN s; END'},
	"CREATE FUNCTION nothing_f() RETURNS int LANGUAGE plpgsql AS 'BEGIN RETURN 1; END'",
	"CREATE FUNCTION sql_f() RETURNS bigint LANGUAGE sql VOLATILE AS 'SELECT inner_f(1); SELECT count(*) FROM t'",
	"CREATE FUNCTION tr_f() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM count(*) FROM t; RETURN NEW; END'",
	"CREATE FUNCTION event_f() RETURNS event_trigger LANGUAGE plpgsql AS 'BEGIN PERFORM 1 FROM t; END'",
	q{CREATE PROCEDURE steps_p(n int) LANGUAGE plpgsql AS 'BEGIN FOR k IN 1 .. n LOOP INSERT INTO t VALUES (100 + k); COMMIT; DELETE FROM t WHERE i > 100; ROLLBACK; END LOOP;
		DELETE FROM t WHERE i > 100; END'},
	"CREATE PROCEDURE sql_p() LANGUAGE sql AS 'INSERT INTO t VALUES (200); DELETE FROM t WHERE i = 200'",
	"CREATE PROCEDURE outer_p() LANGUAGE plpgsql AS 'BEGIN CALL steps_p(1); CALL sql_p(); END'",
);
counted();
is(run('SELECT outer_f(3)'), 'inner_f 3 3, outer_f 1 2', 'a statement is counted for the innermost program');
is(run('SELECT nothing_f() FROM t'), 'nothing_f 10 0', 'a program without statements is called');
is(run('SELECT sql_f()'), 'inner_f 1 1', 'a function of SQL is none that is seen');
is(run('CALL steps_p(3)'), 'steps_p 1 7', 'a procedure that commits and rolls back is one call');
is($server->sql('SELECT count(*) FROM t'), 10, '... and has done so');
is(run('CALL sql_p()'), 'sql_p 1 2', 'CALL tells of a procedure of any language');
is(run('CALL outer_p()'), 'outer_p 1 2, sql_p 1 2, steps_p 1 3', 'so does a CALL inside of a procedure, which is the statement of the outer one');
is(run('DO $$ BEGIN PERFORM 1 FROM t; PERFORM inner_f(1) FROM t; END $$'), 'inner_f 10 10', 'a block of DO is no program');
is(run(q{DO $$ BEGIN EXECUTE 'CALL sql_p()'; END $$}), 'sql_p 1 2', '... but around one');
$s->query('CREATE TRIGGER tr BEFORE UPDATE ON t FOR EACH ROW EXECUTE FUNCTION tr_f()');
$s->query('CREATE CONSTRAINT TRIGGER late AFTER UPDATE ON t DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (NEW.i = 1) EXECUTE FUNCTION tr_f()');
counted();
is(run('UPDATE t SET n = n WHERE i <= 3'), 'tr_f 4 4', 'triggers, deferred ones too');
$s->query('DROP TRIGGER tr ON t; DROP TRIGGER late ON t');
$s->query('CREATE EVENT TRIGGER ev ON ddl_command_start EXECUTE FUNCTION event_f()');
counted();
is(run('CREATE TABLE u (i int)'), 'event_f 1 1', 'event triggers');
$s->query('DROP EVENT TRIGGER ev');
counted();
is($server->sql("SELECT count(*) FROM pg_proc p JOIN pg_language l ON l.oid = p.prolang WHERE l.lanname = 'plpgsql' AND p.oid < 16384"), 0,
	'no program of PL/pgSQL came with the server');

# A cursor is the statement of the function that has opened it.
$s->query("CREATE FUNCTION open_f() RETURNS refcursor LANGUAGE plpgsql AS 'DECLARE c refcursor = ''cur''; BEGIN OPEN c FOR SELECT inner_f(i) FROM t; RETURN c; END'");
counted();
is(run("BEGIN; SELECT open_f(); FETCH 3 FROM cur; CLOSE cur; COMMIT"), 'inner_f 3 3, open_f 1 1', 'a cursor is a statement of the program that opened it');

# ---- events ----

# The statements of the session since the last time, in the order of their begin.
sub statements
{
	my ($text) = @_;

	$server->sql("SELECT pfs.reset('events_statements_history_long')");
	run($text);
	return $server->sql("SELECT string_agg(concat_ws(' ', nesting_event_level, object_type, object_schema, object_name, split_part(event_name, '/', 3)), ', ' ORDER BY event_id)
		FROM pfs.events_statements_history_long WHERE thread_id = $thread");
}

is(statements('SELECT outer_f(1)'), '0 select, 1 FUNCTION public outer_f select, 1 FUNCTION public inner_f select, 1 FUNCTION public outer_f update',
	'statements say which function they are in');
# Since 18 a function of SQL plans its statements one by one, before all at its begin.
is(statements('CALL outer_p()') =~ s/(sql_p) (?:delete|insert)/$1/gr, '0 call, 1 PROCEDURE public outer_p call, 2 PROCEDURE public steps_p insert, 2 PROCEDURE public steps_p delete, '
	. '2 PROCEDURE public steps_p delete, 1 PROCEDURE public outer_p call, 2 PROCEDURE public sql_p, 2 PROCEDURE public sql_p', '... or procedure');
is($server->sql("SELECT count(*) FROM pfs.events_statements_history WHERE thread_id = $thread AND object_name = 'steps_p'"), 3, 'in the history, too');
$s->query("CREATE FUNCTION sleeps_f() RETURNS void LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(3600); END'");
$s->send('SELECT sleeps_f()');
ok($server->poll("SELECT string_agg(concat_ws(' ', nesting_event_level, object_name), ', ' ORDER BY event_id) FROM pfs.events_statements_current WHERE thread_id = $thread",
	'0, 1 sleeps_f'), 'and those that run');
$server->sql("SELECT pg_cancel_backend($pid)");
$s->result;
is(run('SELECT 1'), 'sleeps_f 1 1', 'a call that was cancelled is over');

# ---- what ends a call ----

$s->query($_) foreach (
	"CREATE FUNCTION fails_f(x int) RETURNS int LANGUAGE plpgsql AS 'BEGIN PERFORM 1 FROM t; IF x = 0 THEN RAISE ''zero''; END IF; PERFORM fails_f(x - 1); RETURN 1; END'",
	q{CREATE FUNCTION catches_f(x int) RETURNS int LANGUAGE plpgsql AS 'BEGIN PERFORM fails_f(x); RETURN 1; EXCEPTION WHEN OTHERS THEN PERFORM 2 FROM t; RETURN 0; END'},
	q{CREATE FUNCTION throws_f(x int) RETURNS int LANGUAGE plpgsql AS 'BEGIN PERFORM catches_f(x); BEGIN PERFORM fails_f(x); EXCEPTION WHEN OTHERS THEN RAISE; END; RETURN 1; END'},
	"CREATE FUNCTION deep_f(x int) RETURNS int LANGUAGE plpgsql AS 'BEGIN PERFORM 1 FROM t; IF x = 0 THEN RETURN 0; END IF; PERFORM deep_f(x - 1); RETURN 1; END'",
	"CREATE FUNCTION expr_f(x int) RETURNS int LANGUAGE plpgsql AS 'BEGIN RETURN 1 / x; END'",
	"CREATE PROCEDURE fails_p() LANGUAGE plpgsql AS 'BEGIN INSERT INTO t VALUES (300); COMMIT; DELETE FROM t WHERE i = 300; COMMIT; PERFORM expr_f(0); END'",
	q{CREATE PROCEDURE catches_p() LANGUAGE plpgsql AS 'BEGIN BEGIN CALL fails_p(); EXCEPTION WHEN OTHERS THEN NULL; END; PERFORM 1 FROM t; ROLLBACK; PERFORM 2 FROM t; END'},
);
counted();
# PERFORM of a function is a statement of its caller; one that fails counts, too.
is(run('SELECT fails_f(2)'), 'fails_f 3 5', 'an error out of three levels ends three calls');
is(run('SELECT nothing_f()'), 'nothing_f 1 0', 'and leaves none open');
is(run('SELECT catches_f(2)'), 'catches_f 1 2, fails_f 3 5', 'one that is caught ends those inside');
is(run('SELECT throws_f(1)'), 'catches_f 1 2, fails_f 4 6, throws_f 1 2', 'one that is thrown on ends those around');
is(run("SELECT count(catches_f(k)) FROM generate_series(0, 3) k"), 'catches_f 4 8, fails_f 10 16', 'several times in a statement');
is(run('SELECT deep_f(200)'), 'deep_f 201 401', 'recursion');
is(statements('SELECT deep_f(1)'), '0 select, 1 FUNCTION public deep_f select, 1 FUNCTION public deep_f select, 2 FUNCTION public deep_f select', '... in its statements');
is(run('SELECT expr_f(0)'), 'expr_f 1 0', 'an error of an expression');
is(run('CALL fails_p()'), 'expr_f 1 0, fails_p 1 3', 'an error of a procedure that has committed');
is(run('CALL catches_p()'), 'catches_p 1 3, fails_p 1 1', 'one inside of which COMMIT fails, and is caught');
$s->query('BEGIN');
$s->query('SAVEPOINT a');
$s->send('SELECT fails_f(1)')->result;
$s->query('ROLLBACK TO a');
$s->query('SELECT deep_f(0)');
$s->query('COMMIT');
is(run('SELECT 1'), 'deep_f 1 1, fails_f 2 3', 'in a transaction with savepoints');
# A handler that throws an error on: its statement is over, too.  A cursor that waits has not failed.
$s->query($_) foreach (
	"CREATE PROCEDURE rethrows_p() LANGUAGE plpgsql AS 'BEGIN PERFORM 1 / 0 FROM t; EXCEPTION WHEN OTHERS THEN RAISE; END'",
	"CREATE FUNCTION rethrows_f() RETURNS int LANGUAGE plpgsql AS 'BEGIN PERFORM 1 / 0 FROM t; EXCEPTION WHEN OTHERS THEN RAISE; END'",
	"CREATE FUNCTION loops_f() RETURNS int LANGUAGE plpgsql AS 'DECLARE r record; BEGIN FOR r IN SELECT i FROM t LOOP PERFORM 1 / 0 FROM t; END LOOP; RETURN 0; EXCEPTION WHEN OTHERS THEN RETURN 1; END'",
);
# The last of them is over when the session is idle.
$server->poll_idle($thread);
$server->sql("SELECT pfs.reset('events_statements_history_long')");
is(run('DO $$ BEGIN FOR k IN 1 .. 20 LOOP BEGIN CALL rethrows_p(); EXCEPTION WHEN OTHERS THEN NULL; END; BEGIN PERFORM rethrows_f(); EXCEPTION WHEN OTHERS THEN NULL; END; END LOOP; PERFORM nothing_f(); END $$'),
	'nothing_f 1 0, rethrows_f 20 20, rethrows_p 20 20', 'errors that are thrown on and caught');
is($server->sql("SELECT nesting_event_level, count(*), count(returned_sqlstate) FROM pfs.events_statements_history_long WHERE thread_id = $thread GROUP BY 1 ORDER BY 1"),
	"0|1|0\n1|41|40\n2|40|40", '... leave no statement open');
$server->sql("SELECT pfs.reset('events_statements_history_long')");
run('SELECT loops_f()');
is($server->sql("SELECT string_agg(nesting_event_level || ' ' || coalesce(returned_sqlstate, ''), ', ' ORDER BY event_id) FROM pfs.events_statements_history_long WHERE thread_id = $thread"),
	'0 , 1 , 1 22012', 'the query of a loop has not failed, its body has');
counted();
# A time is not shorter than that of the statements in it, nor longer than that of the statement around.
run('SELECT deep_f(3)');
$server->sql("SELECT pfs.reset('events_statements_history_long')");
$s->query('SELECT outer_f(2)');
$server->poll_idle($thread);
is($server->sql(<<"EOT"), 't|t|t|t', 'times agree with those of the events');
SELECT bool_and(p.sum_timer_wait >= p.sum_statements_wait AND p.count_timed = p.count_star), bool_and(abs(p.sum_statements_wait - e.sum) <= e.n AND p.count_statements = e.n),
       bool_and(abs(p.max_statements_wait - e.max) <= 1 AND abs(p.min_statements_wait - e.min) <= 1), bool_and(p.max_timer_wait <= o.timer_wait AND p.sum_shared_blks_hit = e.hit)
  FROM pfs.events_statements_summary_by_program p
  JOIN (SELECT object_name, sum(timer_wait), count(*) AS n, min(timer_wait), max(timer_wait), sum(shared_blks_hit) AS hit FROM pfs.events_statements_history_long
         WHERE thread_id = $thread AND object_type = 'FUNCTION' GROUP BY 1) e USING (object_name),
       (SELECT timer_wait FROM pfs.events_statements_history_long WHERE thread_id = $thread AND sql_text = 'SELECT outer_f(2)') o
EOT
counted();

# ---- dropped, replaced, rolled back ----

sub names { return $server->sql(q{SELECT coalesce(string_agg(object_name, ' ' ORDER BY object_name COLLATE "C"), '') FROM pfs.events_statements_summary_by_program}) }

# Records in use, when the sessions here have freed those that they have removed, as they do where they read next.
sub records
{
	names();
	$s->query('SELECT count(*) FROM pfs.events_statements_summary_by_program');
	return $server->sql("SELECT records_used FROM pfs.containers WHERE name = 'program_instances'");
}

# So many records there are with no function of the test's own.
my $records = records();
my $make = "LANGUAGE plpgsql AS 'BEGIN RETURN 1; END'";

$s->query("CREATE FUNCTION gone_f() RETURNS int $make");
$s->query('SELECT gone_f()');
is(names(), 'gone_f', 'a function has a row');
$s->query("CREATE OR REPLACE FUNCTION gone_f() RETURNS int LANGUAGE plpgsql AS 'BEGIN RETURN 2; END'");
$s->query('SELECT gone_f()');
is($server->sql("SELECT count_star FROM pfs.events_statements_summary_by_program WHERE object_name = 'gone_f'"), 2, 'keeps it when it is replaced');
$s->query("BEGIN");
$s->query("CREATE OR REPLACE FUNCTION gone_f() RETURNS int $make");
$s->query('ROLLBACK');
is(names(), 'gone_f', '... or was to be');
$s->query('ALTER FUNCTION gone_f RENAME TO went_f');
is(names(), 'went_f', 'under its new name');
$s->query('BEGIN');
$s->query('DROP FUNCTION went_f');
$s->query('ROLLBACK');
$s->query('BEGIN');
$s->query('SAVEPOINT a');
$s->query('DROP FUNCTION went_f');
$s->query('ROLLBACK TO a');
$s->query('COMMIT');
is(names() . ' ' . (records() - $records), 'went_f 1', 'a drop that is rolled back was none');
$s->query('BEGIN');
$s->query('DROP FUNCTION went_f');
is($s->query('SELECT count(*) FROM pfs.events_statements_summary_by_program'), 0, 'who has dropped it does not see it');
$s->query('ROLLBACK');
is(names(), 'went_f', 'others do');
$s->query('BEGIN');
$s->query('SAVEPOINT a');
$s->query('DROP FUNCTION went_f');
$s->query('RELEASE a');
$s->query('COMMIT');
is(names() . (records() - $records), '0', 'with the function its record is gone');
$s->query('BEGIN');
$s->query("CREATE FUNCTION never_f() RETURNS int $make");
$s->query('SELECT never_f()');
$s->query('ROLLBACK');
is(names() . (records() - $records), '0', 'one that never was leaves none');
$s->query("CREATE SCHEMA sch; CREATE FUNCTION sch.one_f() RETURNS int $make; CREATE FUNCTION sch.two_f() RETURNS int $make");
$s->query('SELECT sch.one_f(), sch.two_f()');
is(names(), 'one_f two_f', 'two in a schema');
$s->query('DROP SCHEMA sch CASCADE');
is(names() . (records() - $records), '0', 'go with it');
$s->query("CREATE FUNCTION both_f() RETURNS int $make");
$s->query('SELECT both_f()');
$s->query('BEGIN');
$s->query('DROP FUNCTION both_f');
$s->query("PREPARE TRANSACTION 'p'");
is((records() - $records) . ' ' . names(), '1 both_f', 'a drop that is prepared has not happened');
$s->query("COMMIT PREPARED 'p'");
is(names() . (records() - $records), '0', 'one that was prepared and committed is found by a reader');
$s->query("CREATE FUNCTION while_f() RETURNS int LANGUAGE plpgsql AS 'BEGIN PERFORM pg_advisory_lock(1); RETURN 1; END'");
$server->sql('SELECT pg_advisory_lock(1)');
$s->send('SELECT while_f()');
$server->poll("SELECT object_name FROM pfs.events_statements_current WHERE thread_id = $thread AND nesting_event_level = 1", 'while_f');
$server->sql('DROP FUNCTION while_f()');
is($server->sql("SELECT object_schema IS NULL, object_name ~ '^[0-9]+\$' FROM pfs.events_statements_current WHERE thread_id = $thread AND nesting_event_level = 1"), 't|t',
	'a statement in one that was dropped shows its number');
$server->sql('SELECT pg_advisory_unlock(1)');
is($s->result, 1, 'which is dropped while it runs, runs on');
is(run('SELECT 1') . (records() - $records), '0', 'and counts nowhere');

# ---- another database, other roles ----

$server->sql('CREATE DATABASE other');
my $o = $server->session(db => 'other');
$o->query("CREATE FUNCTION other_f() RETURNS int $make");
$o->query("CREATE FUNCTION other_g() RETURNS bigint LANGUAGE plpgsql AS 'BEGIN RETURN (SELECT count(*) FROM pg_class); END'");
my $other = $o->query("SELECT 'other_f'::regproc::oid");
my $other_thread = $server->thread_of($o->query('SELECT pg_backend_pid()'));
$o->query('SELECT other_f()');
$s->query('SELECT nothing_f()');
is($server->sql(q{SELECT string_agg(concat_ws(' ', database_name, object_schema, object_name, count_star), ', ' ORDER BY database_name) FROM pfs.events_statements_summary_by_program}),
	"other $other 1, postgres public nothing_f 1", 'one of another database has a number');
$o->query('SELECT other_g()');
$server->poll_idle($other_thread);
is($server->sql("SELECT object_type, object_schema IS NULL, object_name ~ '^[0-9]+\$' FROM pfs.events_statements_history WHERE thread_id = $other_thread AND nesting_event_level = 1"),
	'FUNCTION|t|t', 'so have its statements');
$o->close;
ok($server->poll("SELECT count(*) FROM pg_stat_activity WHERE datname = 'other'", 0), 'nobody is there');
$server->sql('DROP DATABASE other');
is(names() . ' ' . (records() - $records), 'nothing_f 0', 'with a database its programs go');

$server->sql('CREATE ROLE monitor LOGIN; GRANT pg_monitor TO monitor; CREATE ROLE nobody LOGIN; CREATE ROLE stranger LOGIN');
$server->sql('GRANT SELECT ON pfs.events_statements_history, pfs.events_statements_summary_by_program TO stranger; GRANT USAGE ON SCHEMA pfs TO stranger');
$s->query('SELECT inner_f(1)');
$server->poll_idle($thread);
my $event = "SELECT object_type, object_schema, object_name FROM pfs.events_statements_history WHERE thread_id = $thread AND nesting_event_level = 1 ORDER BY event_id DESC LIMIT 1";
is(($server->psql($event, user => 'monitor'))[1], 'FUNCTION|public|inner_f', 'who reads all statistics sees names of programs');
is(($server->psql($event, user => 'stranger'))[1], 'FUNCTION||', 'others see the type');
is(($server->psql("SELECT count(*) > 0 FROM pfs.events_statements_summary_by_program WHERE object_name = 'inner_f'", user => $_))[1], 't', "$_ sees programs") foreach qw(monitor stranger);
isnt(($server->psql('SELECT 1 FROM pfs.events_statements_summary_by_program', user => 'nobody'))[0], 0, 'nobody else does');
isnt(($server->psql('TRUNCATE pfs.events_statements_summary_by_program', user => 'monitor'))[0], 0, 'nor does the first empty them');

# ---- off ----

counted();
$server->sql("UPDATE pfs.threads SET instrumented = 'NO' WHERE thread_id = $thread");
is(run('SELECT outer_f(2)'), '', 'nothing is counted of a thread that is not instrumented');
$server->sql("UPDATE pfs.threads SET instrumented = 'YES' WHERE thread_id = $thread");
$server->sql("SELECT pfs.set_consumers('global_instrumentation', 'NO')");
is(run('SELECT outer_f(2)'), '', 'nor with nothing on');
$server->sql("SELECT pfs.set_consumers('global_instrumentation', 'YES')");
# Switched on in the middle, and off: calls that began unseen end unseen.
$s->query("CREATE FUNCTION set_f(v text) RETURNS int LANGUAGE plpgsql AS 'BEGIN PERFORM pfs.set_consumers(''global_instrumentation'', v); RETURN inner_f(1); END'");
counted();
is(run("SELECT set_f('NO')"), 'set_f 1 1', 'one that is open when all goes off is counted, and none that begins then');
is(run("SELECT set_f('YES')"), '', 'a statement that runs while all is off is seen from its next message on');
is(run('SELECT outer_f(1)'), 'inner_f 1 1, outer_f 1 2', 'after that all is as before');

# ---- parallel workers ----

$s->query("CREATE FUNCTION parallel_f(x int) RETURNS int PARALLEL SAFE LANGUAGE plpgsql AS 'BEGIN RETURN x; END'");
$s->query('CREATE TABLE large AS SELECT g AS i FROM generate_series(1, 20000) g; ANALYZE large');
$s->query('SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0; SET max_parallel_workers_per_gather = 2; SET parallel_leader_participation = off');
counted();
is(run('SELECT sum(parallel_f(i)) FROM large'), 'parallel_f 20000 0', 'calls in parallel workers count');
$s->query('RESET ALL');

# ---- many processes, and resets ----

my $script = "SELECT outer_f(1);\nSELECT catches_f(0);\n";
my ($made, $calls, $rounds, $end) = (0, 0, 0, time() + $seconds);

counted();
$s->query('ALTER TABLE t ADD COLUMN spare int');
$s->query("CREATE OR REPLACE FUNCTION outer_f(x int) RETURNS bigint LANGUAGE plpgsql AS 'BEGIN PERFORM n FROM t; RETURN inner_f(x); END'");
while (time() < $end || $rounds++ == 0)
{
	my $load = $server->pgbench_start($script, '-t', 50, '-c', 4);

	$calls += $server->sql("SELECT pfs.reset('events_statements_summary_by_program')") while ($server->pgbench_running($load));
	$server->pgbench_end($load);
	$made += 4 * 50 * 4;
}
$calls += $server->sql("SELECT pfs.reset('events_statements_summary_by_program')");
is($calls, $made, "resets took all $made calls, each once");
$server->pgbench($script, '-t', 200, '-c', 8);
is(counted(), 'catches_f 1600 3200, fails_f 1600 1600, inner_f 1600 1600, outer_f 1600 1600', 'eight sessions count exactly');
# Dropped and made again all the time, while others call what is there.
my $load = $server->pgbench_start("SELECT nothing_f(); SELECT inner_f(1);\n", '-t', 400, '-c', 3);
my $turns = 0;

while ($server->pgbench_running($load) || $turns < 20)
{
	$s->query("CREATE FUNCTION turn_f() RETURNS int $make");
	$s->query('SELECT turn_f()');
	$s->query('DROP FUNCTION turn_f');
	$turns++;
}
$server->pgbench_end($load);
is(counted(), 'inner_f 1200 1200, nothing_f 1200 0', 'drops take nothing from others');

# ---- more than a process remembers ----

$s->query(<<'EOT');
DO $do$ BEGIN FOR i IN 1 .. 4200 LOOP
	EXECUTE 'CREATE FUNCTION turn_f() RETURNS int LANGUAGE plpgsql AS $$ BEGIN RETURN 1; END $$';
	EXECUTE 'SELECT turn_f()';
	EXECUTE 'DROP FUNCTION turn_f()';
	COMMIT;
END LOOP; END $do$
EOT
$server->sql("SELECT pfs.reset('events_statements_summary_by_program')");
is(run('SELECT outer_f(1)'), 'inner_f 1 1, outer_f 1 1', 'a session that has called very many forgets them, and goes on');

# ---- more than there is room for, and none ----

foreach my $size (2, 0)
{
	$server->stop;
	$server->conf("pfs.max_program_instances = $size");
	$server->start;
	$s = $server->session;
	$thread = $server->thread_of($s->query('SELECT pg_backend_pid()'));
	is(run('SELECT outer_f(1); SELECT nothing_f(); SELECT nothing_f()'), $size == 0 ? '' : 'inner_f 1 1, outer_f 1 1', "size $size: so many have rows");
	is($server->sql("SELECT variable_value FROM pfs.status WHERE variable_name = 'pfs_program_instances_lost'"), $size == 0 ? 0 : 2, "size $size: each call of another one is lost");
	is($server->sql("SELECT count(*) FROM pfs.events_statements_history WHERE thread_id = $thread AND object_name = 'outer_f'"), $size == 0 ? 0 : 1, "size $size: what statements say");
}
unlike($server->log_text, qr/PANIC|terminated by signal/, 'nothing crashed');

done_testing();
