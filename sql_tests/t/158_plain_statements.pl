# Plain statements take a path of their own; what comes in the middle of one, or right behind it, goes
# another way.  What is counted does not depend on the way.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/lib";
use PfsServer;
use PfsWire;
use Test::More;

my $server = PfsServer->new('main', conf => "autovacuum = off\ncompute_query_id = on");

$server->start;
$server->sql(<<'EOT');
CREATE EXTENSION pfs;
CREATE DATABASE other;
CREATE TABLE t (i int PRIMARY KEY, n int);
INSERT INTO t SELECT g, 0 FROM generate_series(1, 100) g;
CREATE FUNCTION on_in_the_middle() RETURNS int LANGUAGE plpgsql AS $$
DECLARE n int;
BEGIN
	PERFORM pfs.set_consumers('global_instrumentation', 'YES');
	EXECUTE 'SELECT count(*) FROM t WHERE i > 50' INTO n;
	BEGIN
		PERFORM 1 / (n - n);
	EXCEPTION WHEN division_by_zero THEN
		NULL;
	END;
	RETURN n;
END $$;
EOT

# What events of a session there are: of statements their names, in order.
sub statements
{
	my ($thread) = @_;

	return $server->sql("SELECT coalesce(string_agg(replace(event_name, 'statement/', ''), ', ' ORDER BY event_id), '') FROM pfs.events_statements_history WHERE thread_id = $thread");
}

sub forget
{
	$server->sql('TRUNCATE pfs.events_statements_history, pfs.events_transactions_history, pfs.events_waits_history');
}

# ---- what the server does behind a statement ----

my $listener = PfsWire->new($server, database => 'other');
my $listening = $server->thread_of($listener->pid);
my $transactions = "SELECT sum(count_star) FROM pfs.events_transactions_summary_by_thread_by_event_name WHERE thread_id = $listening";
my $other = PfsWire->new($server, database => 'other');

$listener->send(Query => 'LISTEN news');
$listener->until_ready;
$server->poll_idle($listening);
my $before = $server->sql($transactions);

# The notification is there when the statement ends, and the session gets it in a transaction of its own.
$listener->send(Query => 'SELECT pg_sleep(0.5)');
$other->send(Query => 'NOTIFY news');
$other->until_ready;
$listener->until_ready;
$server->poll_idle($listening);
cmp_ok($server->sql($transactions) - $before, '>=', 2, 'the transaction in which a session is notified counts, too');
is($server->sql("SELECT count(*) FROM pfs.events_transactions_current WHERE thread_id = $listening AND timer_end IS NULL"), 0, '... and is over');

# While it waits for its client it is notified at once: what that sends is inside of the wait, which goes on.
my $idle_wait = "SELECT i.timer_end IS NULL FROM pfs.events_waits_history w JOIN ROW i ON i.event_id = w.nesting_event_id WHERE w.thread_id = $listening AND i.thread_id = $listening AND w.nesting_event_type = 'WAIT' AND w.event_name = 'wait/io/socket/ClientWrite' AND i.event_name = 'idle'";

$other->send(Query => 'NOTIFY news');
$other->until_ready;
ok($server->poll($idle_wait =~ s/ROW/pfs.events_waits_current/r, 't'), 'what a session sends while it is idle is an event inside of the idle wait');
$listener->send(Query => 'SELECT 1');
$listener->until_ready;
$server->poll_idle($listening);
is($server->sql($idle_wait =~ s/ROW/pfs.events_waits_history/r), 'f', '... which ends with the next message');

# ---- messages in several parts ----

my $c = PfsWire->new($server);
my $thread = $server->thread_of($c->pid);

# Statements of that session, one behind the other.
sub execute
{
	foreach my $sql (@_)
	{
		$c->send(Query => $sql);
		$c->until_ready;
	}
}

my $long = 'SELECT ' . ('i' x 8) . ' FROM (SELECT 1 AS iiiiiiii) s WHERE ' . join(' OR ', map { "iiiiiiii = $_" } 1 .. 3000);

execute('SELECT 1');
$server->poll_idle($thread);
forget();
execute(($long) x 3);
$server->poll_idle($thread);
is(statements($thread), join(', ', ('sql/select') x 3), 'a message that comes in several parts is one statement');
is($server->sql("SELECT bool_and(length(sql_text) > 0 AND rows_sent = 1 AND errors = 0) FROM pfs.events_statements_history WHERE thread_id = $thread"), 't', '... with its text and rows');

# ---- several messages at once ----

forget();
$c->send_at_once([ Parse => '', 'SELECT i FROM t WHERE i = 1' ], [ Bind => '' ], [ Execute => 0 ], ['Sync'],
	[ Parse => '', 'UPDATE t SET n = n + 1 WHERE i = 2' ], [ Bind => '' ], [ Execute => 0 ], ['Sync']);
$c->until_ready for 1 .. 2;
$server->poll_idle($thread);
is(statements($thread), 'sql/select, sql/update', 'statements of messages that come at once are told apart');
is($server->sql("SELECT string_agg(state, ', ') FROM pfs.events_transactions_history WHERE thread_id = $thread"), 'COMMITTED, COMMITTED', '... and so are their transactions');

# ---- switches ----

my $bytes = "SELECT sum_number_of_bytes_read FROM pfs.socket_instances i JOIN pfs.socket_summary_by_instance s USING (object_instance_begin) WHERE i.thread_id = $thread";

$server->sql("UPDATE pfs.setup_instruments SET enabled = 'NO' WHERE name = 'wait/io/socket/ClientRead'");
execute('SELECT 1');
$server->poll_idle($thread);
my $read = $server->sql($bytes);
execute(('SELECT 1') x 3);
$server->poll_idle($thread);
is($server->sql($bytes), $read, 'bytes of messages do not count where reads are off');
$server->sql("UPDATE pfs.setup_instruments SET enabled = 'YES' WHERE name = 'wait/io/socket/ClientRead'");

# Off while a transaction is open, which ends then, and on again.
execute('BEGIN');
$server->sql("SELECT pfs.set_consumers('global_instrumentation', 'NO')");
execute('SELECT 1', 'COMMIT', 'SELECT 2', 'SELECT 3');

# A statement that switches all on in its middle stays unseen, with all that it does.
execute('SELECT on_in_the_middle()');
forget();
execute('SELECT 4', 'SELECT 5');
$server->poll_idle($thread);
is(statements($thread), 'sql/select, sql/select', 'what follows is seen');
is($server->sql("SELECT count(*) FROM pfs.events_transactions_current WHERE thread_id = $thread AND timer_end IS NULL"), 0, '... and no transaction of before goes on');
is($server->sql("SELECT string_agg(state, ', ') FROM pfs.events_transactions_history WHERE thread_id = $thread"), 'COMMITTED, COMMITTED', '... each has its own');

# Statements off, waits and errors on: then it is the hooks that pass on.
$server->sql(<<'EOT');
CREATE FUNCTION statements_on() RETURNS int LANGUAGE plpgsql AS $$
DECLARE n int;
BEGIN
	UPDATE pfs.setup_instruments SET enabled = 'YES' WHERE name ~ '^(statement|transaction)';
	EXECUTE 'SELECT count(*) FROM t WHERE i > 50' INTO n;
	RETURN n;
END $$;
CREATE FUNCTION fails_inside() RETURNS int LANGUAGE plpgsql AS $$
BEGIN
	RETURN 1 / (SELECT count(*) FROM t WHERE i < 0);
EXCEPTION WHEN division_by_zero THEN
	RETURN 0;
END $$;
EOT
my $sends = "SELECT count_star FROM pfs.events_waits_summary_by_thread_by_event_name WHERE thread_id = $thread AND event_name = 'wait/io/socket/ClientWrite'";
my $handled = "SELECT sum_error_handled FROM pfs.events_errors_summary_by_thread_by_error WHERE thread_id = $thread AND sql_state = '22012'";
my ($sent, $caught) = split /\|/, $server->sql("SELECT ($sends), coalesce(($handled), 0)");

execute('BEGIN');
$server->sql("UPDATE pfs.setup_instruments SET enabled = 'NO' WHERE name ~ '^(statement|transaction)'");
forget();
execute('SELECT 1', 'SELECT fails_inside()', 'COMMIT', 'SELECT fails_inside()', 'SELECT fails_inside()');
$server->poll_idle($thread);
# The client has its answer before the call that has sent it is counted.
ok($server->poll("SELECT ($sends) - $sent || ' ' || ($handled) - $caught", '6 3'), 'waits and errors count while statements are off');
is(statements($thread), '', '... and no statement is seen');
execute('SELECT statements_on()');
forget();
execute('SELECT 6', 'SELECT 7');
$server->poll_idle($thread);
is(statements($thread), 'sql/select, sql/select', '... until the next message behind the switch');
is($server->sql("SELECT string_agg(state, ', ') FROM pfs.events_transactions_history WHERE thread_id = $thread"), 'COMMITTED, COMMITTED', '... each with its transaction');

# What is switched on in the middle of a message may have hooks of its own before the next one.
$server->sql("UPDATE pfs.setup_instruments SET enabled = 'NO' WHERE name ~ '^(statement|transaction)'");
execute(('SELECT 1') x 5, "UPDATE pfs.setup_instruments SET enabled = 'YES' WHERE name ~ '^(statement|transaction|wait/io/table)'; SELECT count(*) FROM t");
$server->poll_idle($thread);
forget();
execute('SELECT 8', 'SELECT 9');
$server->poll_idle($thread);
is(statements($thread), 'sql/select, sql/select', '... whatever else was switched on');
$server->sql("UPDATE pfs.setup_instruments SET enabled = 'NO' WHERE name = 'wait/io/table/handler'");

# ---- where the event of one lies ----

# Blocks end in the middle of texts of all lengths; some have counters that most have not.
my @texts = map { ("SELECT 1 /* $_ */ FROM t WHERE i = 1", "UPDATE t SET n = n + 1 /* $_ */ WHERE i = 3") } map { 'x' x ($_ * 23) } 1 .. 40;

$server->sql('TRUNCATE pfs.events_statements_history_long');
execute(@texts);
$server->poll_idle($thread);
is($server->sql("SELECT string_agg(md5(sql_text), ' ' ORDER BY event_id) FROM pfs.events_statements_history_long WHERE thread_id = $thread"),
	$server->sql("SELECT string_agg(md5(s), ' ' ORDER BY n) FROM unnest(ARRAY[" . join(', ', map { "'$_'" } @texts) . ']) WITH ORDINALITY AS u(s, n)'),
	'texts of all lengths are whole, in order');
is($server->sql("SELECT bool_and(CASE WHEN event_name LIKE '%update' THEN rows_affected = 1 AND wal_records > 0 ELSE rows_affected = 0 AND wal_records = 0 AND rows_sent = 1 END)
	FROM pfs.events_statements_history_long WHERE thread_id = $thread"), 't', '... with counters of all kinds');

# One that runs is seen where it lies, and goes on elsewhere when another statement begins inside it.
my $padding = 'y' x 900;

$server->sql(q{CREATE FUNCTION nested() RETURNS bigint LANGUAGE plpgsql AS 'BEGIN PERFORM pg_advisory_lock(2); RETURN (SELECT count(*) FROM t); END'});
my $holder = $server->session;
$holder->query('SELECT pg_advisory_lock(1), pg_advisory_lock(2)');
my $current = "SELECT string_agg(regexp_replace(sql_text, 'y{9,}', 'y' || length(sql_text)), '; ' ORDER BY event_id) FROM pfs.events_statements_current WHERE thread_id = $thread";
my $outer = "SELECT pg_advisory_lock(1), nested() /* $padding */";
my $shown = $outer =~ s/y+ /'y' . length($outer) . ' '/er;

foreach (1 .. 5)
{
	$c->send(Query => $outer);
	ok($server->poll($current, $shown), 'a statement that runs is seen');
	$holder->query('SELECT pg_advisory_unlock(1)');
	ok($server->poll($current, "$shown; SELECT pg_advisory_lock(2)") || $server->poll($current, "$shown; PERFORM pg_advisory_lock(2)"), '... also when another one runs inside it');
	$holder->query('SELECT pg_advisory_unlock(2)');
	$c->until_ready;
	execute('SELECT pg_advisory_unlock_all()');
	$holder->query('SELECT pg_advisory_lock(1), pg_advisory_lock(2)');
}
$server->poll_idle($thread);
is($server->sql("SELECT count(*) FROM pfs.events_statements_history_long WHERE thread_id = $thread AND sql_text = '$outer' AND nesting_event_level = 0"), 5, '... and goes to the histories');

# ---- transactions ----

# Begins and ends of transactions are plain where they are simple ones.  What both ways say of the same
# session is the same, also with stages and memory; processor time takes all statements the general way.
$server->sql(<<'EOT');
CREATE TABLE later (i int PRIMARY KEY, at int REFERENCES t DEFERRABLE INITIALLY DEFERRED);
CREATE FUNCTION counts() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM count(*) FROM t; RETURN NULL; END $$;
CREATE CONSTRAINT TRIGGER counting AFTER INSERT ON later DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION counts();
EOT

my @commands = (
	'BEGIN', 'SELECT 1', 'COMMIT',
	'START TRANSACTION ISOLATION LEVEL SERIALIZABLE, READ ONLY', 'SELECT 1', 'END',
	'BEGIN', 'BEGIN', 'UPDATE t SET n = n + 1 WHERE i = 4', 'ROLLBACK', 'ROLLBACK', 'COMMIT', 'ABORT',
	'BEGIN', 'SELECT 1 / 0', 'SELECT 1', 'COMMIT',
	'BEGIN', 'selec 1', 'BEGIN', 'ROLLBACK',
	'BEGIN', 'SAVEPOINT s', 'SELECT 1 / 0', 'ROLLBACK TO s', 'RELEASE s', 'COMMIT AND CHAIN', 'SELECT 1', 'ROLLBACK AND CHAIN', 'COMMIT',
	'BEGIN', 'INSERT INTO later VALUES (1, 1)', 'COMMIT', 'BEGIN', 'INSERT INTO later VALUES (2, 1000)', 'COMMIT', 'DELETE FROM later',
	'BEGIN; SELECT 1; COMMIT', 'BEGIN; COMMIT', 'SELECT 1; BEGIN', 'COMMIT; BEGIN', 'COMMIT', ' /* one */ BEGIN; ', '; COMMIT',
	'BEGIN', 'DECLARE k CURSOR FOR SELECT i FROM t', 'FETCH 2 FROM k', 'COMMIT',
	'BEGIN', 'COMMIT PREPARED \'none\'', 'ROLLBACK', 'DO $$ BEGIN COMMIT; END $$', 'BEGIN TRANSACTION READ WRITE', 'SET TRANSACTION READ ONLY', 'COMMIT');
my @prepared = ([ b => 'BEGIN' ], [ u => 'UPDATE t SET n = n + 1 WHERE i = 5' ], [ e => 'COMMIT' ], [ r => 'ROLLBACK' ], [ f => 'SELECT 1 / (i - 1) FROM t WHERE i = 1' ]);

# All of it, and what is said of the session that has done it.
sub said_of
{
	my ($do) = @_;
	my $session = PfsWire->new($server);
	my $id = $server->thread_of($session->pid);
	my $send = sub {
		my ($n, @messages) = @_;

		$session->send_at_once(@messages);
		$session->until_ready for 1 .. $n;
	};

	$send->(1, [ Query => 'SELECT 1' ]);
	$server->poll_idle($id);
	$server->sql('TRUNCATE pfs.events_statements_history_long, pfs.events_transactions_history_long, pfs.events_stages_history_long, pfs.events_statements_summary_by_digest, pfs.events_transactions_summary_by_thread_by_event_name, pfs.events_stages_summary_by_thread_by_event_name');
	$do->($send);
	$server->poll_idle($id);
	my $statements = "pfs.events_statements_history_long s LEFT JOIN pfs.events_transactions_history_long t ON s.nesting_event_type = 'TRANSACTION' AND t.thread_id = s.thread_id AND t.event_id = s.nesting_event_id
		LEFT JOIN pfs.events_statements_history_long o ON o.thread_id = s.thread_id AND o.event_id = coalesce(t.nesting_event_id, s.nesting_event_id)";
	my $all = $server->sql("SELECT s.event_name, s.sql_text, s.query_id, s.nesting_event_level, s.nesting_event_type, o.sql_text, s.returned_sqlstate, s.message_text, s.errors, s.warnings, s.rows_sent, s.rows_affected, CASE WHEN s.event_name NOT LIKE '%select' THEN s.wal_records > 0 END,
			s.exec_time > 0, s.exec_time <= s.timer_wait, s.max_total_memory > 0
		FROM $statements WHERE s.thread_id = $id ORDER BY s.event_id");
	$all .= "\n" . $server->sql("SELECT t.state, t.access_mode, t.isolation_level, t.autocommit, t.number_of_savepoints, t.trx_id IS NULL, t.nesting_event_type, s.sql_text, s.timer_start <= t.timer_start AND t.timer_end > t.timer_start
		FROM pfs.events_transactions_history_long t LEFT JOIN pfs.events_statements_history_long s ON s.thread_id = t.thread_id AND s.event_id = t.nesting_event_id WHERE t.thread_id = $id ORDER BY t.event_id");
	$all .= "\n" . $server->sql("SELECT digest_text, count_star, sum_errors, sum_warnings, sum_rows_sent, sum_rows_affected FROM pfs.events_statements_summary_by_digest
		WHERE query_id IN (SELECT query_id FROM pfs.events_statements_history_long WHERE thread_id = $id) ORDER BY digest_text");
	$all .= "\n" . $server->sql("SELECT event_name, count_star, sum_errors, sum_warnings FROM pfs.events_statements_summary_by_thread_by_event_name WHERE thread_id = $id AND count_star > 0 ORDER BY event_name");
	$all .= "\n" . $server->sql("SELECT count_star, count_read_write, count_read_only FROM pfs.events_transactions_summary_by_thread_by_event_name WHERE thread_id = $id");
	# A stage begins where the one before it ends, and the last one ends with its statement.
	$all .= "\n" . $server->sql("SELECT g.event_name, s.sql_text, g.timer_start >= s.timer_start AND g.timer_end <= s.timer_end, g.timer_start >= lag(g.timer_end) OVER (ORDER BY g.event_id)
		FROM pfs.events_stages_history_long g LEFT JOIN pfs.events_statements_history_long s ON s.thread_id = g.thread_id AND s.event_id = g.nesting_event_id WHERE g.thread_id = $id ORDER BY g.event_id");
	$all .= "\n" . $server->sql("SELECT event_name, count_star FROM pfs.events_stages_summary_by_thread_by_event_name WHERE thread_id = $id AND count_star > 0 ORDER BY event_name");
	$all .= "\n" . $server->sql("SELECT digest_text, max_total_memory > 0 FROM pfs.events_statements_summary_by_digest
		WHERE query_id IN (SELECT query_id FROM pfs.events_statements_history_long WHERE thread_id = $id) ORDER BY digest_text");
	$all .= "\n" . $server->sql("SELECT statement_name, count_execute FROM pfs.prepared_statements_instances WHERE thread_id = $id ORDER BY 1");
	$session->send('Terminate');
	return $all;
}

sub transactions
{
	my ($send) = @_;

	$send->(1, [ Query => $_ ]) foreach @commands;
	# Each message for itself; then whole transactions at once, with one Sync and with several.
	$send->(1, [ Parse => @$_ ], ['Sync']) foreach @prepared;
	$send->(1, [ Bind => $_ ], [ Execute => 0 ], ['Sync']) foreach qw(b u e e b u r b f u e b b r);
	$send->(1, (map { ([ Bind => $_ ], [ Execute => 0 ]) } @$_), ['Sync']) foreach [qw(b u e)], [qw(b u r u)], [qw(b f e)], ['r'], [qw(u b u e b e)];
	$send->(3, (map { ([ Bind => $_ ], [ Execute => 0 ], ['Sync']) } qw(b u e)));
	# Prepared with the same messages, and not executed.
	$send->(1, [ Parse => '', 'BEGIN' ], [ Bind => '' ], [ Execute => 0 ], [ Parse => '', 'COMMIT' ], [ Bind => '' ], [ Execute => 0 ], [ Parse => '', 'BEGIN' ], ['Sync']);
}

sub both_ways
{
	my ($what, $do) = @_;
	my $plain = said_of($do);

	$server->sql("SELECT pfs.set_consumers('events_statements_cpu', 'YES')");
	my @plain = split /\n/, $plain;
	my @general = split /\n/, said_of($do);
	my @other = grep { ($plain[$_] // '') ne ($general[$_] // '') } 0 .. ($#plain > $#general ? $#plain : $#general);

	ok(!@other, "$what are the same by both ways") or diag(map { "plain: @{[$plain[$_] // '']}\nother: @{[$general[$_] // '']}\n" } @other[0 .. ($#other < 9 ? $#other : 9)]);
	$server->sql("SELECT pfs.set_consumers('events_statements_cpu', 'NO')");
	return $plain;
}

my $plain = both_ways('transactions', \&transactions);

cmp_ok(scalar(() = $plain =~ m{^statement/sql/(?:begin|start_transaction|commit|rollback)\|}gm), '>', 40, '... and they are all there');
$server->sql("UPDATE pfs.setup_instruments SET enabled = 'YES' WHERE name LIKE 'stage/sql/%' OR name LIKE 'memory/context/%'");
$plain = both_ways('transactions with stages and memory', \&transactions);
$server->sql("UPDATE pfs.setup_instruments SET enabled = 'NO' WHERE name LIKE 'stage/sql/%' OR name LIKE 'memory/context/%'");
cmp_ok(scalar(() = $plain =~ m{^stage/sql/commit\|}gm), '>', 20, '... and so are their stages');

# ---- nested ones ----

# Functions that execute statements, one inside the other and deeper than the plain way goes; with errors that are
# caught and that are not, cursors, triggers, written rows, commands, texts that are made, other users, savepoints, and
# queries that are read in parts.  The second time all plans are cached.
$server->sql(<<'EOT');
CREATE ROLE regress_other;
GRANT ALL ON t, later TO regress_other;
CREATE TABLE log (i int, what text);
GRANT ALL ON log TO regress_other;
CREATE TABLE part (i int PRIMARY KEY REFERENCES t, n int);
CREATE FUNCTION one(a int) RETURNS int LANGUAGE plpgsql AS $$ DECLARE b int; BEGIN SELECT n INTO b FROM t WHERE i = a; RETURN b; END $$;
CREATE FUNCTION several(a int) RETURNS int LANGUAGE plpgsql AS $$
DECLARE b int; c int;
BEGIN
	SELECT n INTO b FROM t WHERE i = a;
	UPDATE t SET n = n + 1 WHERE i = a;
	INSERT INTO log VALUES (a, 'several');
	SELECT count(*) INTO c FROM t WHERE i < a;
	RETURN b + c;
END $$;
CREATE FUNCTION deep(a int) RETURNS int LANGUAGE plpgsql AS $$
DECLARE b int;
BEGIN
	IF a = 0 THEN RETURN 0; END IF;
	SELECT deep(a - 1) + one(a) INTO b FROM t WHERE i = 1;
	RETURN b;
END $$;
CREATE FUNCTION caught(a int) RETURNS int LANGUAGE plpgsql AS $$
DECLARE b int;
BEGIN
	SELECT several(a) INTO b;
	BEGIN
		SELECT one(a) / 0 INTO b FROM t WHERE i = 1;
	EXCEPTION WHEN division_by_zero THEN
		SELECT one(a) INTO b;
	END;
	PERFORM one(a + 1);
	RETURN b;
END $$;
CREATE FUNCTION fails(a int) RETURNS int LANGUAGE plpgsql AS $$ DECLARE b int; BEGIN PERFORM one(a); SELECT 1 / (i - 1) INTO b FROM t WHERE i = 1; RETURN b; END $$;
CREATE FUNCTION reads(a int) RETURNS int LANGUAGE plpgsql AS $$
DECLARE r record; b int := 0; c refcursor;
BEGIN
	FOR r IN SELECT i FROM t WHERE i <= a LOOP
		b := b + one(r.i);
		UPDATE t SET n = n + 1 WHERE i = r.i;
	END LOOP;
	OPEN c FOR SELECT i FROM t WHERE i <= a;
	FETCH c INTO b;
	PERFORM one(b);
	CLOSE c;
	RETURN b;
END $$;
CREATE FUNCTION made(a int) RETURNS int LANGUAGE plpgsql AS $$
DECLARE b int;
BEGIN
	EXECUTE 'SELECT n FROM t WHERE i = $1' INTO b USING a;
	RAISE WARNING 'made';
	SET LOCAL work_mem = '5MB';
	WITH w AS (UPDATE t SET n = n + 1 WHERE i = a RETURNING n) SELECT n INTO b FROM w;
	INSERT INTO log VALUES (a, 'made') RETURNING i INTO b;
	RETURN b;
END $$;
CREATE FUNCTION rows_of(a int) RETURNS SETOF int LANGUAGE sql AS $$ SELECT n FROM t WHERE i <= a AND random() >= 0 $$;
CREATE FUNCTION as_other(a int) RETURNS int LANGUAGE plpgsql SECURITY DEFINER AS $$ DECLARE b int; BEGIN SELECT n INTO b FROM t WHERE i = a; RETURN b; END $$;
ALTER FUNCTION as_other OWNER TO regress_other;
CREATE FUNCTION noted() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO log SELECT one(NEW.i), 'noted'; RETURN NULL; END $$;
CREATE TRIGGER noting AFTER INSERT OR UPDATE ON part FOR EACH ROW EXECUTE FUNCTION noted();
CREATE PROCEDURE commits(a int) LANGUAGE plpgsql AS $$ BEGIN INSERT INTO log VALUES (a, 'commits'); COMMIT; PERFORM one(a); END $$;
EOT

my @nesting = (
	'SELECT one(3)', 'SELECT several(4), several(5)', 'SELECT deep(2)', 'SELECT deep(7)', 'SELECT caught(6)', 'SELECT fails(3)',
	'SELECT reads(3)', 'SELECT made(7)', 'SELECT sum(r) FROM rows_of(4) r', 'SELECT rows_of(3) LIMIT 2', 'SELECT as_other(8) FROM t WHERE i < 3',
	'INSERT INTO part VALUES (9, one(9))', 'UPDATE part SET n = several(10) RETURNING n', 'INSERT INTO part VALUES (1000, 1)', 'DELETE FROM part',
	'CALL commits(11)', 'DO $$ BEGIN PERFORM one(12); PERFORM several(13); END $$',
	'BEGIN', 'SELECT several(14)', 'SAVEPOINT s', 'SELECT fails(3)', 'ROLLBACK TO s', 'SELECT caught(15)', 'COMMIT',
	'BEGIN', 'DECLARE k CURSOR FOR SELECT one(i) FROM t', 'FETCH 2 FROM k', 'SELECT one(1)', 'FETCH 2 FROM k', 'COMMIT',
	'SELECT one(1); SELECT several(2); SELECT one(3)', 'PREPARE p (int) AS SELECT several($1)', 'EXECUTE p (16)', 'EXECUTE p (17)', 'DEALLOCATE p');
my @called = ([ c => 'SELECT several(18)' ], [ d => 'SELECT deep(3)' ], [ x => 'SELECT fails(1)' ]);

sub nest
{
	my ($send) = @_;

	$send->(1, [ Query => $_ ]) foreach (@nesting) x 2;
	$send->(1, [ Parse => @$_ ], ['Sync']) foreach @called;
	$send->(1, [ Bind => $_ ], [ Execute => 0 ], ['Sync']) foreach qw(c d c x c d);
	$send->(1, (map { ([ Bind => $_ ], [ Execute => 0 ]) } @$_), ['Sync']) foreach [qw(c d c)], [qw(c x d)];
	$send->(3, (map { ([ Bind => $_ ], [ Execute => 0 ], ['Sync']) } qw(c d c)));
}

$plain = both_ways('nested statements', \&nest);
cmp_ok(scalar(() = $plain =~ m{^statement/sql/\w+\|[^|]*\|[^|]*\|[1-9]}gm), '>', 250, '... and they are all there');
$server->sql("UPDATE pfs.setup_instruments SET enabled = 'YES' WHERE name LIKE 'stage/sql/%' OR name LIKE 'memory/context/%'");
both_ways('nested statements with stages and memory', \&nest);
$server->sql("UPDATE pfs.setup_instruments SET enabled = 'NO' WHERE name LIKE 'stage/sql/%' OR name LIKE 'memory/context/%'");

# EXECUTE: of queries that return rows, write them, do both and fail; with arguments that execute something; planned each time
# and not; in a transaction, behind an error, in a string, in a function, prepared by the client, in parts, and of nothing.
my %executed = (reads => ['SELECT n FROM t WHERE i < $1', 4], calls => [ 'SELECT several($1)', 5 ], writes => [ 'UPDATE t SET n = n + 1 WHERE i = $1', 6 ],
	returns => [ q{INSERT INTO log VALUES ($1, 'executed') RETURNING i}, 7 ], twice => [ 'WITH w AS (UPDATE t SET n = n + 1 WHERE i = $1 RETURNING n) INSERT INTO log SELECT n FROM w', 8 ],
	fires => [ 'UPDATE part SET n = $1', 9 ], later => [ 'SELECT fails($1)', 3 ], now => [ 'SELECT 1 / (n - n) FROM t WHERE i = $1', 10 ]);
my @execute = map { ("EXECUTE $_ ($executed{$_}[1])", "EXECUTE $_ (one(30) + 4)", "EXECUTE $_ ($executed{$_}[1])") } sort keys %executed;

sub run_executes
{
	my ($send) = @_;

	$send->(1, [ Query => "PREPARE $_ (int) AS $executed{$_}[0]" ]) foreach sort keys %executed;
	$send->(1, [ Query => $_ ]) foreach (@execute) x 3, 'EXECUTE nowhere (1)', 'EXECUTE reads', 'BEGIN', @execute[ 0 .. 5 ], 'SAVEPOINT s', 'EXECUTE now (1)', 'ROLLBACK TO s', 'EXECUTE writes (1)', 'COMMIT',
		'SHOW work_mem', 'SET search_path = pg_catalog, public', 'SHOW ALL', 'SHOW nothing.like_it', 'SET nothing = 1', 'SELECT 2', 'RESET search_path', 'SET LOCAL work_mem = 100', 'SET ROLE regress_other', 'SHOW role', 'RESET ROLE',
		'BEGIN', 'SET TRANSACTION READ ONLY', 'SHOW transaction_isolation', 'SET LOCAL work_mem = 200', 'EXECUTE reads (2)', 'COMMIT', 'BEGIN', 'SET TRANSACTION ISOLATION LEVEL SERIALIZABLE', 'ROLLBACK', 'SET work_mem = 300; SHOW work_mem',
		'SET compute_query_id = off', 'SHOW work_mem', 'EXECUTE reads (2)', 'SET compute_query_id = on', 'SET SESSION CHARACTERISTICS AS TRANSACTION READ WRITE',
		'EXECUTE reads (3); EXECUTE writes (4); SELECT 1', q{DO $$ BEGIN EXECUTE 'EXECUTE returns (1)'; EXECUTE 'EXECUTE calls (2)'; END $$}, 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) EXECUTE calls (1)';
	$send->(1, [ Parse => "c$_", "EXECUTE $_ (2)" ], ['Sync']) foreach sort keys %executed;
	$send->(1, [ Parse => @$_ ], ['Sync']) foreach [ set => 'SET work_mem = 400' ], [ show => 'SHOW ALL' ];
	$send->(1, [ Bind => $_ ], [ Execute => 0 ], ['Sync']) foreach qw(set show set show);
	$send->(1, (map { ([ Bind => $_ ], [ Execute => 3 ]) } qw(set show set show)), [ Execute => 0 ], ['Sync']);
	$send->(1, [ Bind => "c$_" ], [ Execute => 0 ], ['Sync']) foreach (sort keys %executed) x 2;
	$send->(1, [ Parse => '', 'EXECUTE writes (5)' ], [ Bind => '' ], [ Execute => 0 ], [ Bind => 'creads' ], [ Execute => 1 ], [ Execute => 0 ], [ Bind => 'creturns' ], [ Execute => 0 ], ['Sync']);
	$send->(1, [ Parse => '', 'EXECUTE writes (6)' ], [ Bind => 'creads' ], [ Execute => 0 ], [ Bind => '' ], [ Execute => 0 ], ['Sync']);
}

$plain = both_ways('EXECUTE', \&run_executes);
cmp_ok(scalar(() = $plain =~ m{^statement/sql/execute\|}gm), '>', 80, '... and they are all there');
$server->sql("UPDATE pfs.setup_instruments SET enabled = 'YES' WHERE name LIKE 'stage/sql/%' OR name LIKE 'memory/context/%'");
both_ways('EXECUTE with stages and memory', \&run_executes);
$server->sql("UPDATE pfs.setup_instruments SET enabled = 'NO' WHERE name LIKE 'stage/sql/%' OR name LIKE 'memory/context/%'");

# What one has waited for in its run is its own, also where its trigger fails behind that, and another way ends it.
$server->sql(<<'EOT');
CREATE TABLE locked (i int PRIMARY KEY, n int);
INSERT INTO locked VALUES (1, 0);
CREATE FUNCTION refuses() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM one(1); RAISE EXCEPTION 'no'; END $$;
CREATE TRIGGER refusing AFTER UPDATE ON locked FOR EACH ROW EXECUTE FUNCTION refuses();
CREATE FUNCTION updates() RETURNS int LANGUAGE plpgsql AS $$ BEGIN UPDATE locked SET n = n + 1 WHERE i = 1; RETURN 1; END $$;
CREATE FUNCTION caught_update() RETURNS int LANGUAGE plpgsql AS $$ BEGIN RETURN updates(); EXCEPTION WHEN OTHERS THEN RETURN 0; END $$;
EOT
foreach my $call ('SELECT updates()', 'SELECT caught_update()', 'UPDATE locked SET n = n + 2 WHERE i = 1')
{
	execute($call);
	$holder->query('BEGIN; SELECT n FROM locked FOR UPDATE');
	$c->send(Query => $call);
	ok($server->poll("SELECT wait_event_type FROM pg_stat_activity WHERE pid = " . $c->pid, 'Lock'), "$call waits for a row");
	$holder->query('COMMIT');
	$c->until_ready;
	$server->poll_idle($thread);
	is($server->sql("SELECT lock_time > 0, lock_time <= timer_wait, errors FROM pfs.events_statements_history_long WHERE thread_id = $thread AND sql_text LIKE 'UPDATE locked%' ORDER BY event_id DESC LIMIT 1"),
		't|t|1', '... and the time is in the statement that fails behind it');
}

# ---- sums ----

# By thread, digest and prepared statement, whatever was truncated meanwhile.
my $by_thread = "SELECT count_star FROM pfs.events_statements_summary_by_thread_by_event_name WHERE thread_id = $thread AND event_name = 'statement/sql/select'";

$server->sql('TRUNCATE pfs.events_stages_summary_global_by_event_name, pfs.events_errors_summary_global_by_error');
$server->sql('TRUNCATE pfs.events_statements_summary_by_digest');
$before = $server->sql($by_thread);
$c->send_at_once([ Parse => 'p', 'SELECT n FROM t WHERE i = 7' ], ['Sync']);
$c->until_ready;
for (1 .. 20)
{
	$c->send_at_once([ Bind => 'p' ], [ Execute => 0 ], ['Sync']);
	$c->until_ready;
}
$server->poll_idle($thread);
is($server->sql($by_thread) - $before, 20, 'each execution counts for its thread');
is($server->sql("SELECT count_star FROM pfs.events_statements_summary_by_digest WHERE digest_text LIKE 'SELECT n FROM t%'"), 20, '... for its digest');
is($server->sql("SELECT count_execute FROM pfs.prepared_statements_instances WHERE thread_id = $thread AND statement_name = 'p'"), 20, '... and for its prepared statement');

done_testing();
