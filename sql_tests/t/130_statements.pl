# Statements that one session of psql cannot show: the extended protocol, parallel
# plans, cancelled and blocked ones, recursion, failures at commit, replication
# commands, and who may read the texts.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/lib";
use PfsServer;
use Test::More;

my $server = PfsServer->new('main', conf => <<'EOT');
autovacuum = off
max_prepared_transactions = 4
max_stack_depth = 2MB
compute_query_id = on
EOT
$server->start;
$server->sql('CREATE EXTENSION pfs');
$server->sql('CREATE TABLE t (i int PRIMARY KEY, v text); INSERT INTO t SELECT g, repeat(\'x\', 50) FROM generate_series(1, 20000) g; ANALYZE t');

sub bench
{
	$server->pgbench(@_);
	$server->poll_ended('pgbench');
}

# Statements of a thread in the long history, oldest first.
sub statements
{
	my ($thread, $columns, $where) = @_;

	$where //= 'true';
	$server->poll_idle($thread);
	return $server->sql("SELECT $columns FROM (SELECT * FROM pfs.events_statements_history_long WHERE thread_id = $thread ORDER BY event_id) e WHERE $where");
}

# ---- protocols ----

foreach my $mode ('simple', 'extended', 'prepared')
{
	$server->sql('TRUNCATE pfs.events_statements_history_long, pfs.events_transactions_history_long');
	bench("SELECT v FROM t WHERE i = 7;\n", '-M', $mode, '-t', 100);
	is($server->sql("SELECT count(*), sum(rows_sent), count(DISTINCT query_id), max(nesting_event_level), count(DISTINCT thread_id) FROM
		pfs.events_statements_history_long WHERE sql_text LIKE 'SELECT v FROM t WHERE i = 7%' AND event_name = 'statement/sql/select'"), '100|100|1|0|1',
		"$mode: one statement for each execution");
	is($server->sql("SELECT count(*) FROM pfs.events_statements_history_long WHERE event_name = 'statement/com/parse'"), $mode eq 'prepared' ? 1 : 0,
		"$mode: a statement is prepared by itself, or not");
	is($server->sql("SELECT count(*) FROM pfs.events_transactions_history_long t JOIN pfs.events_statements_history_long s
		ON s.thread_id = t.thread_id AND s.event_id = t.nesting_event_id WHERE s.sql_text LIKE 'SELECT v FROM t WHERE i = 7%' AND t.autocommit = 'YES'
		AND t.timer_end <= s.timer_end AND s.event_name = 'statement/sql/select'"), 100, "$mode: and each has its transaction inside");
	is($server->sql("SELECT count(*) FROM pfs.events_statements_history_long a JOIN pfs.events_statements_history_long b USING (thread_id)
		WHERE a.event_id < b.event_id AND a.timer_end > b.timer_start AND a.nesting_event_level = 0 AND b.nesting_event_level = 0"), 0,
		"$mode: none begins before the one before it has ended");
}

# Without stages, with one of them, and with some: the same statements.
foreach my $on ('', 'stage/sql/execute', 'stage/sql/parse_analyze', 'stage/sql/commit', 'stage/sql/executor_%')
{
	$server->sql("SELECT pfs.set_instruments('stage/%', 'NO'); SELECT pfs.set_instruments('$on', 'YES')");
	foreach my $mode ('simple', 'prepared')
	{
		$server->sql('TRUNCATE pfs.events_statements_history_long, pfs.events_stages_history_long, pfs.events_waits_history_long, pfs.events_transactions_history_long');
		bench("SELECT v FROM t WHERE i = 8;\n", '-M', $mode, '-t', 50);
		my $ours = "pfs.events_statements_history_long s WHERE s.sql_text LIKE 'SELECT v FROM t WHERE i = 8%' AND s.event_name = 'statement/sql/select'";
		my $what = "$mode, stages " . ($on || 'off');
		is($server->sql("SELECT count(*), sum(rows_sent), count(DISTINCT statement_id), bool_and(exec_time > 0 AND exec_time < timer_wait), sum(shared_blks_hit) >= 50 FROM $ours"),
			'50|50|50|t|t', "$what: all statements");
		is($server->sql("SELECT count(*) FROM pfs.events_transactions_history_long t, $ours AND s.thread_id = t.thread_id AND s.event_id = t.nesting_event_id"),
			50, "$what: each with its transaction");
		is($server->sql("SELECT string_agg(DISTINCT g.event_name, ' '), count(*) FROM pfs.events_stages_history_long g, $ours AND s.thread_id = g.thread_id
			AND s.event_id = g.nesting_event_id"), $on eq '' ? '|0' : $on =~ /%/ ? 'stage/sql/executor_end stage/sql/executor_start|100' : "$on|50", "$what: these stages");
		is($server->sql("SELECT count(*) FROM pfs.events_waits_history_long w, $ours AND s.thread_id = w.thread_id AND w.event_name = 'wait/client/ClientWrite'
			AND w.timer_start > s.timer_start AND w.timer_end < s.timer_end AND (w.nesting_event_type IS DISTINCT FROM 'STATEMENT' OR w.nesting_event_id <> s.event_id)"),
			0, "$what: waits hang in the statement") if $on eq '';
	}
}
# Switched by the statement itself.
$server->sql("SELECT pfs.set_instruments('stage/%', 'NO'); TRUNCATE pfs.events_statements_history_long, pfs.events_stages_history_long");
bench("SELECT pfs.set_instruments('stage/%', 'YES');\nSELECT pfs.set_instruments('stage/%', 'NO');\n", '-M', 'prepared', '-t', 20);
is($server->sql("SELECT count(*), count(*) FILTER (WHERE event_name = 'statement/sql/select') FROM pfs.events_statements_history_long WHERE sql_text LIKE 'SELECT pfs.set_instruments%'"),
	'42|40', 'stages come and go: all statements');
is($server->sql("SELECT count(*) FILTER (WHERE g.event_name = 'stage/sql/finish'), count(*) FILTER (WHERE g.timer_end < g.timer_start)
	FROM pfs.events_stages_history_long g JOIN pfs.events_statements_history_long s ON s.thread_id = g.thread_id AND s.event_id = g.nesting_event_id
	WHERE s.sql_text LIKE 'SELECT pfs.set_instruments%YES%'"), '20|0', 'and stages from where they were switched on');
$server->sql("SELECT pfs.set_instruments('stage/%', 'YES')");

# A pipeline: no idle wait between its statements.
$server->sql('TRUNCATE pfs.events_statements_history_long');
bench("\\startpipeline\nSELECT 1;\nSELECT 2;\nINSERT INTO t VALUES (-1, 'p');\nDELETE FROM t WHERE i = -1;\n\\endpipeline\n", '-M', 'extended', '-t', 5);
is($server->sql("SELECT event_name, sql_text, count(*), sum(rows_affected), sum(rows_sent) FROM pfs.events_statements_history_long
	WHERE sql_text ~ '^(SELECT [12]|INSERT|DELETE)' GROUP BY 1, 2 ORDER BY sql_text COLLATE \"C\""), join("\n",
	'statement/sql/delete|DELETE FROM t WHERE i = -1|5|5|0', q{statement/sql/insert|INSERT INTO t VALUES (-1, 'p')|5|5|0},
	'statement/sql/select|SELECT 1|5|0|5', 'statement/sql/select|SELECT 2|5|0|5'), 'pipelined statements are apart');

# ---- parallel plans ----

my $p = $server->session;
my $tp = $p->thread_id;
$p->query('SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0; SET max_parallel_workers_per_gather = 2');
$server->sql('TRUNCATE pfs.events_statements_history_long');
$p->query("SELECT count(*) FROM t WHERE v LIKE '%y%'");
$server->poll_idle($tp);
is($server->sql("SELECT count(*), max(parallel_workers) FROM pfs.events_statements_history_long WHERE sql_text LIKE 'SELECT count(*) FROM t WHERE v%'"), '1|2',
	'a parallel query is one statement, of the leader');
is($server->sql("SELECT count(*) FROM pfs.events_statements_history_long s JOIN pfs.threads t USING (thread_id) WHERE t.parent_thread_id IS NOT NULL"), 0,
	'workers have none');
cmp_ok(statements($tp, 'max(shared_blks_hit + shared_blks_read)', "sql_text LIKE 'SELECT count(*) FROM t WHERE v%' GROUP BY event_id"), '>=',
	$server->sql("SELECT pg_relation_size('t') / current_setting('block_size')::int"), "the workers' pages count");

# ---- blocked, cancelled, timed out ----

my $a = $server->session;
my $b = $server->session;
my ($ta, $tb) = ($a->thread_id, $b->thread_id);

$a->query('BEGIN; LOCK TABLE t');
$b->send('SELECT v FROM t WHERE i = 3');
ok($server->poll("SELECT sql_text FROM pfs.events_statements_current WHERE thread_id = $tb", 'SELECT v FROM t WHERE i = 3;'), 'a statement that waits in parse analysis is seen with its text');
ok($server->poll("SELECT w.nesting_event_type, g.event_name, g.nesting_event_type, s.nesting_event_level FROM pfs.events_waits_current w
	JOIN pfs.events_stages_current g ON g.thread_id = w.thread_id AND g.event_id = w.nesting_event_id
	JOIN pfs.events_statements_current s ON s.thread_id = g.thread_id AND s.event_id = g.nesting_event_id
	WHERE w.thread_id = $tb AND w.event_name = 'wait/lock/relation'", 'STAGE|stage/sql/parse_analyze|STATEMENT|0'), 'its wait hangs in its stage, that in the statement');
is($server->sql("SELECT waiting_thread_id, waiting_pid, waiting_statement, object_type, object_schema, object_name, lock_mode, blocking_thread_id, blocking_statement,
	depth, terminate_command, wait_time > 0, waiting_since < now() FROM pfs.blocking_tree"), join('|', $tb, $b->pid, 'SELECT v FROM t WHERE i = 3;', 'RELATION', 'public', 't', 'AccessShareLock',
	$ta, 'LOCK TABLE t', 1, 'SELECT pg_terminate_backend(' . $a->pid . ');', 't', 't'), 'blocking_tree says who waits for whom');
is($server->sql("SELECT command, state, info FROM pfs.processlist WHERE thread_id = $tb"), 'Query|stage/sql/parse_analyze|SELECT v FROM t WHERE i = 3;', 'so does processlist');
$a->query('COMMIT');
$b->result;
is($server->sql('SELECT count(*) FROM pfs.blocking_tree'), 0, 'nobody waits any more');
cmp_ok(statements($tb, 'lock_time > 0 AND lock_time <= timer_wait', "sql_text LIKE 'SELECT v FROM t WHERE i = 3%'"), 'eq', 't', 'lock_time is what it waited');
$b->send('SELECT pg_sleep(1000)');
ok($server->poll("SELECT count(*) FROM pfs.events_statements_current WHERE thread_id = $tb AND sql_text LIKE 'SELECT pg_sleep%' AND event_name = 'statement/sql/select'", 1), 'a running one');
$server->sql('SELECT pg_cancel_backend(' . $b->pid . ')');
$b->result;
# Not so short that it can be over before the statement is parsed.
$b->query("BEGIN; SET LOCAL statement_timeout = '1500ms'");
$b->send('SELECT pg_sleep(1000)');
$b->result;
is(statements($tb, 'event_name, errors, returned_sqlstate, message_text', "sql_text LIKE 'SELECT pg_sleep%'"), join("\n",
	'statement/sql/select|1|57014|canceling statement due to user request',
	'statement/sql/select|1|57014|canceling statement due to statement timeout'), 'cancelled and timed out');
$b->query('ROLLBACK');

# A function that catches an error without a subtransaction has not failed, nor has its caller.
SKIP:
{
	skip 'a server without libxml', 2 if $server->sql(q{SELECT count(*) FROM pg_config WHERE name = 'CONFIGURE' AND setting ~ 'with-libxml'}) == 0;
	$b->query(q{SELECT xml_is_well_formed('<a>') AS a});
	$b->query(q{DO $$ BEGIN PERFORM 1 WHERE xml_is_well_formed('<a>'); ROLLBACK; PERFORM 2; END $$});
	# Newer servers find it out without an error; one without frame pointers does not show it.
	my $errors = PfsServer::version() < 16 && $server->has_frame_pointers ? 1 : 0;

	is(statements($tb, 'event_name, errors, returned_sqlstate, message_text, rows_sent',
		"sql_text LIKE 'SELECT xml_is_well_formed%'"), "statement/sql/select|$errors|||1", 'an error that nobody sees');
	is(statements($tb, 'event_name, nesting_event_level, returned_sqlstate', "sql_text LIKE 'DO %xml_is_%' OR sql_text = 'SELECT 2'"),
		"statement/sql/do|0|\nstatement/sql/select|1|", 'nor does a ROLLBACK behind it');
}

# ---- failure at commit; two-phase ----

$server->sql('CREATE TABLE parent (i int PRIMARY KEY); CREATE TABLE child (i int REFERENCES parent DEFERRABLE INITIALLY DEFERRED)');
# Fires before the foreign key's, which 19 checks without a query.
$server->sql(q{CREATE FUNCTION look() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM count(*) FROM parent; RETURN NULL; END';
	CREATE CONSTRAINT TRIGGER "A look" AFTER INSERT ON child DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION look()});
$b->query('BEGIN');
$b->query('INSERT INTO child VALUES (1)');
$b->send('COMMIT');
$b->result;
$server->poll_idle($tb);
is($server->sql("SELECT s.event_name, s.errors, s.returned_sqlstate, t.state FROM pfs.events_statements_history s JOIN pfs.events_transactions_history t
	ON t.thread_id = s.thread_id AND t.event_id = s.nesting_event_id WHERE s.thread_id = $tb AND s.event_name = 'statement/sql/commit'"),
	'statement/sql/commit|1|23503|ROLLED BACK', 'a commit that fails');
cmp_ok($server->sql("SELECT count(*) FROM pfs.events_statements_history c JOIN pfs.events_statements_history s ON s.thread_id = c.thread_id AND c.nesting_event_id = s.event_id
	WHERE s.thread_id = $tb AND s.event_name = 'statement/sql/commit' AND c.nesting_event_level = 1"), '>', 0, 'its deferred triggers are nested in it');
$b->query("BEGIN; INSERT INTO parent VALUES (1); PREPARE TRANSACTION 'two-phase'");
$server->poll_idle($tb);
is($server->sql("SELECT state, gid, trx_id IS NOT NULL FROM pfs.events_transactions_history WHERE thread_id = $tb AND gid IS NOT NULL"), 'PREPARED|two-phase|t', 'a prepared transaction and its name');
my $prepared = $server->sql("SELECT transaction FROM pg_prepared_xacts WHERE gid = 'two-phase'");
$b->query("BEGIN; INSERT INTO parent VALUES (2); PREPARE TRANSACTION 'two-phase 2'");
my $prepared_2 = $server->sql("SELECT transaction FROM pg_prepared_xacts WHERE gid = 'two-phase 2'");
$b->query("COMMIT PREPARED 'two-phase'; ROLLBACK PREPARED 'two-phase 2'");
$b->send("COMMIT PREPARED 'two-phase 2'");
$b->result;
$server->poll_idle($tb);
is($server->sql("SELECT t.state, t.gid, t.trx_id::xid FROM pfs.events_transactions_history t JOIN pfs.events_statements_history s ON s.thread_id = t.thread_id AND s.event_id = t.nesting_event_id
	WHERE t.thread_id = $tb AND s.sql_text ~ '^(COMMIT|ROLLBACK) PREPARED' ORDER BY t.event_id"), "COMMITTED|two-phase|$prepared\nCOMMITTED|two-phase 2|$prepared_2\nROLLED BACK||",
	'what finishes a prepared transaction has its name and number, unless there is none');

# ---- the number of a running transaction ----

# Rows are copied when a cursor begins: what runs when it fetches them is another transaction.
my %running = map { ($_->thread_id => $_) } $a, $b;
my %number = map { $running{$_}->query('BEGIN'); ($_ => $running{$_}->query('SELECT pg_current_xact_id()')) } keys %running;
my $cursor = $server->session;
$cursor->query('BEGIN; DECLARE c CURSOR FOR SELECT thread_id, trx_id FROM pfs.events_transactions_current WHERE thread_id IN (' . join(', ', keys %number) . ')');
my @rows = $cursor->query('FETCH 1 FROM c');
$running{$_}->query('COMMIT; BEGIN; SELECT pg_current_xact_id()') foreach keys %running;
push @rows, $cursor->query('FETCH 1 FROM c');
is(join(' ', sort @rows), join(' ', sort map { "$_|$number{$_}" } keys %number), 'is that of the transaction in the row');
$_->query('COMMIT') foreach $a, $b, $cursor;

# ---- recursion to the stack's limit ----

$server->sql('CREATE FUNCTION down(n int) RETURNS int LANGUAGE plpgsql AS $$ BEGIN IF n > 0 THEN RETURN (SELECT down(n - 1) + count(*) FROM t WHERE i = 1); END IF; RETURN 0; END $$');
$server->sql('TRUNCATE pfs.events_statements_history_long; TRUNCATE pfs.status');
$b->send('SELECT down(1000000)');
$b->result;
is(statements($tb, 'max(nesting_event_level), min(returned_sqlstate)', "returned_sqlstate = '54001'"), '9|54001', 'ten levels are events, all of them failed');
cmp_ok($server->sql("SELECT variable_value FROM pfs.status WHERE variable_name = 'pfs_events_statements_current_lost'"), '>', 10, 'deeper ones are counted as lost');
$b->query('SELECT down(3)');
is(statements($tb, "string_agg(nesting_event_level::text, ' ' ORDER BY nesting_event_level)", "event_id >= (SELECT max(event_id) FROM pfs.events_statements_history_long WHERE thread_id = $tb AND nesting_event_level = 0)"), '0 1 2 3',
	'afterwards all is as before');
ok($server->poll("SELECT count(*) FROM pfs.events_statements_current WHERE thread_id = $tb", 0), 'nothing is left open');

# ---- switches ----

$server->sql(q{UPDATE pfs.setup_consumers SET enabled = 'YES' WHERE name = 'events_statements_cpu'});
$b->query('SELECT sum(g) FROM generate_series(1, 100000) g') foreach 1 .. 3;
# A virtual processor that is taken away between the readings of two clocks has worked all the time: not in each of them.
cmp_ok(statements($tb, 'bool_and(cpu_time > 0) AND bool_or(cpu_time < timer_wait * 1.05)', "sql_text LIKE 'SELECT sum(g)%'"), 'eq', 't', 'processor time, when its consumer is on');
$server->sql(q{UPDATE pfs.setup_instruments SET enabled = 'NO' WHERE name = 'statement/sql/select'});
$b->query('SELECT 4711');
$server->sql(q{UPDATE pfs.setup_instruments SET enabled = 'YES', timed = 'NO' WHERE name = 'statement/sql/select'});
$b->query('SELECT 4712');
$server->sql(q{UPDATE pfs.setup_instruments SET timed = 'YES' WHERE name = 'statement/sql/select'});
is(statements($tb, 'sql_text, timer_start, timer_wait', "sql_text LIKE 'SELECT 471%'"), 'SELECT 4712||', 'switched off; not timed');

# ---- encodings ----

$server->sql(q{SELECT pg_reload_conf()});
my $long = "SELECT '" . ("\xc3\xa4" x 600) . "'";
$b->query($long);
is(statements($tb, 'octet_length(sql_text), sql_text = left(sql_text, -1) || chr(228)', "sql_text LIKE 'SELECT ''%'"), '1024|t', 'a text is cut at the end of a character');

# ---- progress ----

$server->sql('CREATE TABLE big AS SELECT g, repeat(\'x\', 500) AS v FROM generate_series(1, 30000) g; CHECKPOINT; TRUNCATE pfs.events_stages_history_long');
$b->query('VACUUM (ANALYZE) big');
$server->poll_idle($tb);
is($server->sql("SELECT count(*) > 0, bool_and(s.event_name = 'statement/sql/vacuum'), bool_and(g.work_completed <= g.work_estimated),
	count(*) FILTER (WHERE g.event_name = 'stage/progress/vacuum/scanning_heap')
	FROM pfs.events_stages_history_long g JOIN pfs.events_statements_history_long s ON s.thread_id = g.thread_id AND s.event_id = g.nesting_event_id
	WHERE g.thread_id = $tb AND g.event_name LIKE 'stage/progress/%'"), 't|t|t|1', 'phases of a command that reports its progress, with their work');
is($server->sql("SELECT max(work_completed) FROM pfs.events_stages_history_long WHERE thread_id = $tb AND event_name = 'stage/progress/vacuum/scanning_heap'"),
	$server->sql("SELECT pg_relation_size('big') / current_setting('block_size')::int"), 'all pages were scanned');

# ---- rights ----

$server->sql('CREATE ROLE reader LOGIN IN ROLE pg_monitor; CREATE ROLE one LOGIN; CREATE ROLE two LOGIN; GRANT USAGE ON SCHEMA pfs TO one, two; GRANT SELECT ON ALL TABLES IN SCHEMA pfs TO one, two;'
	. ' GRANT EXECUTE ON FUNCTION pfs.thread_id(integer) TO one, two');
my $one = $server->session(user => 'one');
my $two = $server->session(user => 'two');
my $reader = $server->session(user => 'reader');
$one->query("SELECT 'secret of one'");
my $of_one = "SELECT count(*), count(sql_text), count(query_id), count(rows_sent) FROM pfs.events_statements_history WHERE thread_id = " . $one->thread_id;
like($two->query($of_one), qr/^([1-9]\d*)\|0\|0\|\1$/, "others' texts and query ids are hidden, their numbers are not");
like($one->query($of_one), qr/^([1-9]\d*)\|\1\|/, 'a role sees its own');
like($reader->query($of_one), qr/^([1-9]\d*)\|\1\|/, 'pg_read_all_stats sees all');

# ---- replication commands ----

# Some wait, some end a transaction of their own, some only answer; each is one event.
$server->sql("SELECT pg_create_physical_replication_slot('phys')");
foreach my $kind ('database', 'true')
{
	$server->sql('TRUNCATE pfs.events_statements_history_long');
	my ($status, $out, $err) = $server->psql(join(";\n", 'IDENTIFY_SYSTEM', 'SHOW wal_segment_size', 'READ_REPLICATION_SLOT phys', 'SHOW server_version_num',
			'READ_REPLICATION_SLOT "no such"', 'CREATE_REPLICATION_SLOT made TEMPORARY PHYSICAL', 'DROP_REPLICATION_SLOT made', ($kind eq 'database' ? ("SELECT 'sql'", 'show work_mem') : ()), 'IDENTIFY_SYSTEM') . ";\n",
		db => "postgres replication=$kind");

	is($status, 0, "replication=$kind") or diag($err);
	# The last command ends when its process does.
	$server->poll(q{SELECT count(*) FROM pfs.threads WHERE name = 'thread/walsender'}, 0);
	is($server->sql("SELECT string_agg(replace(event_name, 'statement/', '') || ' ' || sql_text, E'\n' ORDER BY event_id)
		FROM pfs.events_statements_history_long WHERE thread_id = (SELECT max(thread_id) FROM pfs.events_statements_history_long WHERE event_name LIKE 'statement/com/replication/%')"),
		"com/replication/identify_system IDENTIFY_SYSTEM;\ncom/replication/show SHOW wal_segment_size;\ncom/replication/read_replication_slot READ_REPLICATION_SLOT phys;\n"
		. "com/replication/show SHOW server_version_num;\ncom/replication/read_replication_slot READ_REPLICATION_SLOT \"no such\";\n"
		. "com/replication/create_replication_slot CREATE_REPLICATION_SLOT made TEMPORARY PHYSICAL;\ncom/replication/drop_replication_slot DROP_REPLICATION_SLOT made;\n"
		. ($kind eq 'database' ? "sql/select SELECT 'sql'\nsql/show show work_mem\n" : '') . 'com/replication/identify_system IDENTIFY_SYSTEM;', 'each command is one event');
	# They follow each other, and none is empty; the client waits in between.
	is($server->sql("SELECT count(*) FROM (SELECT timer_start, timer_end, lag(timer_end) OVER (ORDER BY event_id) AS before FROM pfs.events_statements_history_long
		WHERE thread_id = (SELECT max(thread_id) FROM pfs.events_statements_history_long WHERE event_name LIKE 'statement/com/replication/%')) e
		WHERE timer_end <= timer_start OR timer_start < before"), 0, 'with times of its own');
}
PfsServer::run_ok(PfsServer::bindir() . '/pg_basebackup', '-d', $server->connstr, '-D', "$server->{dir}/backup", '-X', 'none', '-c', 'fast');
ok($server->poll("SELECT count(*) FROM pfs.events_statements_history_long WHERE event_name = 'statement/com/replication/base_backup' AND sql_text LIKE 'BASE_BACKUP%'", 1),
	'a replication command is a statement');

# ---- the end of a session ----

# Its temporary tables go in a transaction, and that in no statement.
my $leaver = $server->session;
my $tl = $leaver->thread_id;

$leaver->query('CREATE TEMP TABLE leaves (i int)');
$server->poll_idle($tl);
my $last = $server->sql("SELECT max(event_id) FROM pfs.events_statements_history_long WHERE thread_id = $tl");
$leaver->close;
$server->poll("SELECT count(*) FROM pfs.threads WHERE thread_id = $tl", 0);
is($server->sql("SELECT count(*) FROM pfs.events_statements_history_long WHERE thread_id = $tl AND event_id > $last"), 0,
	'the end of a session is no statement');
cmp_ok($server->sql("SELECT count(*) FROM pfs.events_transactions_history_long WHERE thread_id = $tl AND event_id > $last"), '>', 0,
	'but has the transaction that drops its temporary tables');

# ---- transactions of an idle session ----

# The server makes it catch up with invalidations that it has missed: a transaction without a statement.
my $idler = $server->session;
my $ti = $idler->thread_id;
my $number = q{SELECT split_part(virtualtransaction, '/', 2) FROM pg_locks WHERE pid = pg_backend_pid() AND locktype = 'virtualxid'};
my $counted = "SELECT count_star FROM pfs.events_transactions_summary_by_thread_by_event_name WHERE thread_id = $ti";

$idler->query('SELECT 1');
$server->poll_idle($ti);
my $began = $idler->query($number);
$server->poll_idle($ti);
my $had = $server->sql($counted);
my $caught_up = 0;

for (1 .. 100)
{
	$server->sql('DO $$ BEGIN FOR i IN 1 .. 100 LOOP CREATE TEMP TABLE passing (a int, b text, c numeric); DROP TABLE passing; COMMIT; END LOOP; END $$');
	$caught_up = $server->sql($counted) - $had;
	last if $caught_up > 0;
}
cmp_ok($caught_up, '>', 0, 'an idle session has transactions, to catch up');
# This one is among them.  Sessions that have caught up tell others to, perhaps late: none came until the
# count was read if the next number is the next transaction's.
my ($ended, $count);

for (1 .. 100)
{
	$ended = $idler->query($number);
	$server->poll_idle($ti);
	$count = $server->sql($counted);
	last if $idler->query($number) == $ended + 1;
}
is($count - $had, $ended - $began, 'as many as its transactions have numbers');

done_testing();
