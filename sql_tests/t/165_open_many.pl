# Many open cursors, prepared statements and savepoints: what pfs does for one of them does not
# grow with their number, and each is in the tables what it should be, in whatever order they end.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/lib";
use PfsServer;
use Test::More;

# A walk over all for each would take minutes; with none it is seconds, ten times as many on a busy machine.
my $hangs = '150s';
my $many = 30_000;

my $server = PfsServer->new('main', conf => <<'EOT');
autovacuum = off
pfs.events_statements_history_long_size = 100000
EOT
$server->start;
$server->sql('CREATE EXTENSION pfs');
$server->sql('CREATE TABLE t (i int); INSERT INTO t SELECT generate_series(1, 100)');

my $s = $server->session;
my $t = $s->thread_id;

sub lost { return $server->sql("SELECT variable_value FROM pfs.status WHERE variable_name = 'pfs_events_statements_current_lost'"); }

# Rows of running statements, when the session waits for its client.
sub current
{
	my ($columns, $where) = @_;

	$server->poll_idle($t);
	return $server->sql("SELECT $columns FROM pfs.events_statements_current WHERE thread_id = $t" . ($where // ''));
}

sub history
{
	my ($columns, $where) = @_;

	$server->poll_idle($t);
	return $server->sql("SELECT $columns FROM pfs.events_statements_history_long WHERE thread_id = $t AND $where");
}

sub fail_in
{
	my ($session) = @_;

	$session->send('SELECT 1 / 0');
	$session->result;
}

# ---- one cursor is a running statement from DECLARE to CLOSE ----

my $shown = "sql_text, nesting_event_level, nesting_event_id IS NULL, nesting_event_type IS NULL, timer_end IS NULL";

$s->query('BEGIN; DECLARE one CURSOR FOR SELECT i FROM t');
is(current($shown), 'DECLARE one CURSOR FOR SELECT i FROM t;|1|t|t|t', 'a cursor runs, and is in nothing');
my $id = current('event_id');
$s->query('FETCH 3 FROM one');
$s->query('SELECT 1');
is(current("event_id, $shown"), "$id|DECLARE one CURSOR FOR SELECT i FROM t;|1|t|t|t", 'so it does between the calls');
$s->query('CLOSE one');
is(current('count(*)'), 0, 'until it is closed');
is(history('rows_sent, nesting_event_type', "event_id = $id"), '3|STATEMENT', 'then it is in the history, with the statement that it began in');
$s->query('COMMIT');

# ---- subtransactions ----

$s->query('BEGIN');
$s->query("SAVEPOINT a; DECLARE in_a CURSOR FOR SELECT 'a'; ROLLBACK TO a");
is(current('count(*)'), 0, 'what a savepoint is rolled back with ends');
$s->query("RELEASE a; SAVEPOINT b; DECLARE in_b CURSOR FOR SELECT 'b'; RELEASE b");
$s->query('SAVEPOINT c');
fail_in($s);
$s->query('ROLLBACK TO c');
like(current('sql_text'), qr/in_b/, 'a cursor of a released savepoint survives the rollback of another one');
$s->query('FETCH in_b');
$s->query('CLOSE in_b');
$s->query('COMMIT');
is(history("string_agg(rows_sent::text, ' ')", "nesting_event_level = 1 AND sql_text LIKE '%in_b%'"), '1', 'it is one statement');
is(current('count(*)'), 0, 'nothing is left open');

# ---- more cursors than a thread has slots ----

$server->sql('TRUNCATE pfs.status, pfs.events_statements_history_long');
$server->sql(<<'EOT');
CREATE FUNCTION nested(n int) RETURNS int LANGUAGE plpgsql AS $$
BEGIN
	IF n > 0 THEN RETURN (SELECT nested(n - 1) + count(*) FROM t WHERE i = n); END IF;
	PERFORM pg_advisory_xact_lock(1);
	RETURN 0;
END $$;
EOT
my $holder = $server->session;

$holder->query('BEGIN; SELECT pg_advisory_xact_lock(1)');
$s->query('BEGIN; ' . join('; ', map { "DECLARE c$_ CURSOR FOR SELECT $_, i FROM t" } 1 .. 30));
cmp_ok(current('count(*)'), '>=', 9, 'as many cursors are shown as there are slots for');
$s->send('SELECT nested(5)');
ok($server->poll("SELECT string_agg(nesting_event_level::text, ' ' ORDER BY nesting_event_level) FROM pfs.events_statements_current
	WHERE thread_id = $t AND sql_text NOT LIKE 'DECLARE%' AND event_name = 'statement/sql/select'", '0 1 2 3 4 5 6'), 'statements that are executed are shown before them');
$holder->query('COMMIT');
$s->result;
$holder->query('BEGIN; SELECT pg_advisory_xact_lock(2)');
$s->query('DECLARE waits CURSOR FOR SELECT pg_advisory_xact_lock(2)');
$s->query('FETCH c1; FETCH c2; ' . join('; ', map { "DECLARE d$_ CURSOR FOR SELECT $_" } 1 .. 20));
is(current('count(*)', " AND sql_text LIKE '%waits%'"), 0, 'a cursor that is not read gives its slot away');
$s->send('FETCH waits');
ok($server->poll("SELECT count(*) FROM pfs.events_statements_current WHERE thread_id = $t AND nesting_event_level = 1 AND sql_text LIKE '%waits%'", 1), 'while it is read it is shown again');
$holder->query('COMMIT');
$s->result;
$s->query('FETCH 2 FROM c1');
$s->query('COMMIT');
is(history('count(*), count(DISTINCT event_id), sum(rows_sent), max(timer_end IS NULL::int)::int', "nesting_event_level = 1 AND sql_text LIKE 'DECLARE%' AND event_name = 'statement/sql/select'")
	=~ s/\|[^|]*$//r, '51|51|5', 'all of them are in the history, with what they returned');
is(lost(), 0, 'none is lost');
is(current('count(*)'), 0, 'and none is left open');

# ---- what is too deep is lost, what was only planned is not ----

my $deep = $server->session;

$deep->query('SELECT nested(8)');
is(lost(), 0, 'ten levels have slots; what is planned at the eleventh is no statement');
$deep->query('SELECT nested(10)');
is(lost(), 2, 'a statement at the eleventh level is lost, and so is one at the twelfth');
$deep->close;

# ---- very many ----

$s->query("SET statement_timeout = '$hangs'");
$server->sql('TRUNCATE pfs.status');
is($s->query(<<"EOT"), '', "$many cursors: opened, read, half of them closed from the oldest on, the others at the end");
DO \$\$
DECLARE c refcursor; n int;
BEGIN
	FOR i IN 1 .. $many LOOP c := 'c' || i; OPEN c FOR EXECUTE 'SELECT 1'; END LOOP;
	FOR i IN 1 .. $many LOOP c := 'c' || i; FETCH c INTO n; END LOOP;
	FOR i IN 1 .. $many / 2 LOOP c := 'c' || i; CLOSE c; END LOOP;
END \$\$;
EOT
is(history("count(*), sum(rows_sent)", "nesting_event_level = 1 AND sql_text = 'SELECT 1' AND event_name = 'statement/sql/select'"), "$many|$many", 'each is in the history with its row');
is(lost(), 0, 'none is lost');
is($s->query(<<"EOT"), '', 'as many prepared statements: made, executed, closed from the oldest on');
DO \$\$
BEGIN
	FOR i IN 1 .. $many LOOP EXECUTE format('PREPARE p%s AS SELECT %s', i, i % 10); END LOOP;
	FOR i IN 1 .. $many - 3 LOOP EXECUTE format('DEALLOCATE p%s', i); END LOOP;
END \$\$;
EOT
$s->query('EXECUTE p' . ($many - 1));
is($server->sql("SELECT count(*) <= 3 FROM pfs.prepared_statements_instances WHERE thread_id = $t"), 't', 'no row of one that is closed is left');
$s->query('DEALLOCATE ALL');
is($server->sql("SELECT count(*) FROM pfs.prepared_statements_instances WHERE thread_id = $t"), 0, 'nor of the others');
is($s->query('PREPARE again AS SELECT 1; EXECUTE again; EXECUTE again') =~ s/\s//gr, '11', 'and the next one');
is(current('count(*)'), 0, 'is over');
is($server->sql("SELECT statement_name, count_execute FROM pfs.prepared_statements_instances WHERE thread_id = $t"), 'again|2', 'has its row');

# One that closes itself while nested statements execute it.
$server->sql(<<'EOT');
CREATE FUNCTION closes(what text) RETURNS int LANGUAGE plpgsql AS $$ BEGIN EXECUTE 'DEALLOCATE ' || what; EXECUTE 'PREPARE ' || what || ' AS SELECT 7'; RETURN 1; END $$;
EOT
$s->query(q{PREPARE own AS SELECT closes('own')});
$s->query(q{DO $$ BEGIN EXECUTE 'EXECUTE own'; EXECUTE 'EXECUTE own'; END $$});
is(current('count(*)'), 0, 'the statement is over');
is($server->sql("SELECT sql_text, count_execute FROM pfs.prepared_statements_instances WHERE thread_id = $t AND statement_name = 'own'"), 'PREPARE own AS SELECT 7|1', 'an execution counts for the one of the name that it executes');

# ---- deep: marks of savepoints, and stages ----

$server->sql("SELECT pfs.set_instruments('stage/%', 'YES')");
$s->query('BEGIN; ' . join('; ', map { "SAVEPOINT s$_" } 1 .. 1000));
$s->query('DECLARE c CURSOR FOR SELECT 1; SAVEPOINT "inner"; DECLARE d CURSOR FOR SELECT 2');
fail_in($s);
$s->query('ROLLBACK TO "inner"');
like(current('sql_text'), qr/^DECLARE c CURSOR[^;]*;$/, 'a thousand savepoints deep an error ends what began inside the innermost one only');
$s->query('ROLLBACK TO s500');
is(current('count(*)'), 0, 'and the rollback of many what began in all of them');
$s->query('COMMIT; SELECT nested(100)');
ok($server->poll("SELECT count(*) FROM pfs.events_stages_current WHERE thread_id = $t", 0), 'a hundred levels deep all stages end');
$s->close;
$holder->close;

done_testing();
