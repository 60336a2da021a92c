# Runs of work on tables as events: how waits are nested in them, what is seen of one that is going
# on, what switches and rules do in the middle of one, what is left of them after errors and crashes.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/lib";
use PfsServer;
use Test::More;

my $server = PfsServer->new('main', conf => <<'EOT');
autovacuum = off
shared_buffers = 1MB
pfs.instruments = 'wait/io/table/handler=ON'
pfs.events_waits_history_size = 1000
EOT

$server->start;
$server->sql(<<'EOT');
CREATE EXTENSION pfs;
CREATE TABLE t (id int PRIMARY KEY, filler text);
INSERT INTO t SELECT g, repeat('x', 500) FROM generate_series(1, 20000) g;
CREATE TABLE other AS SELECT * FROM t LIMIT 1000;
VACUUM ANALYZE;
EOT

# What is counted of a table: fetch, insert, update, delete.
sub counts
{
	my ($table) = @_;

	return $server->sql(<<"EOT");
SELECT count_fetch, count_insert, count_update, count_delete FROM pfs.table_io_waits_summary_by_table
WHERE database_name = current_database() AND object_name = '$table'
EOT
}

sub theirs
{
	my ($table) = @_;

	return $server->sql(<<"EOT");
SET stats_fetch_consistency = none; SELECT seq_tup_read + coalesce(idx_tup_fetch, 0), n_tup_ins, n_tup_upd, n_tup_del FROM pg_stat_user_tables WHERE relname = '$table'
EOT
}

sub fetched
{
	my ($table) = @_;

	return (split /\|/, counts($table))[0] // 0;
}

sub runs
{
	my ($thread) = @_;

	return $server->sql(<<"EOT");
SELECT operation, object_name, index_name, number_of_bytes FROM pfs.events_waits_current
WHERE thread_id = $thread AND event_name = 'wait/io/table/handler' ORDER BY event_id
EOT
}

# Until a session waits for the lock of a relation.  One that is in its queue only can get it without a wait.
sub poll_lock
{
	my ($session, $relation) = @_;
	my $id = $session->thread_id;

	return $server->poll("SELECT count(*) FROM pfs.events_waits_current WHERE thread_id = $id AND event_name = 'wait/lock/relation'"
		  . " AND object_name = '$relation'", 1);
}

# ---- nesting ----

my $s = $server->session;
my $thread = $s->thread_id;

# The table is larger than the buffers, so its pages are read inside of fetches.
$s->query('SET max_parallel_workers_per_gather = 0');
$server->sql('TRUNCATE pfs.events_waits_history');
$s->query('SELECT count(filler) FROM t WHERE id > 0 AND id < 300');
is($server->sql(<<"EOT"), '0', 'reads of a table are inside of its run');
SELECT count(*) FROM pfs.events_waits_history_long f WHERE thread_id = $thread AND event_name = 'wait/io/file/DataFileRead'
	AND object_name IN (SELECT pg_relation_filepath(oid) FROM pg_class WHERE relname IN ('t', 't_pkey'))
	AND NOT EXISTS (SELECT FROM pfs.events_waits_history_long r WHERE r.thread_id = f.thread_id AND r.event_id = f.nesting_event_id
		AND r.event_name = 'wait/io/table/handler' AND f.nesting_event_type = 'WAIT' AND r.object_name = 't'
		AND f.timer_start >= r.timer_start AND f.timer_end <= r.timer_end)
	AND f.event_id > (SELECT min(event_id) FROM pfs.events_waits_history_long WHERE thread_id = $thread AND event_name = 'wait/io/table/handler')
EOT
$server->sql('TRUNCATE pfs.events_waits_history_long');
$s->query('SELECT count(filler) FROM t');
my $nested = $server->sql(<<"EOT");
SELECT count(f.*) > 0, bool_and(r.timer_wait >= f.waits), bool_and(r.timer_wait <= r.timer_end - r.timer_start), max(r.number_of_bytes)
FROM pfs.events_waits_history_long r JOIN (SELECT thread_id, nesting_event_id, sum(timer_wait) AS waits FROM pfs.events_waits_history_long
	WHERE nesting_event_type = 'WAIT' AND event_name NOT LIKE 'wait/io/table/%' GROUP BY 1, 2) f
	ON (f.thread_id, f.nesting_event_id) = (r.thread_id, r.event_id)
WHERE r.thread_id = $thread AND r.event_name = 'wait/io/table/handler' AND r.object_name = 't'
EOT

is($nested, 't|t|t|20000', 'a run has at least the time of what is inside of it, and at most its length');

# Whatever was between the calls is not inside.  A sleep that is as short as a process can lose its processor for
# would be over before it waits; one whose latch somebody sets is two waits.
$server->sql('TRUNCATE pfs.events_waits_history_long');
$s->query('SELECT pg_sleep(0.1) FROM other LIMIT 5');
is($server->sql(<<"EOT"), 't|0', 'what the rest of the plan waits for is not inside');
SELECT count(*) >= 5, count(*) FILTER (WHERE nesting_event_type = 'WAIT') FROM pfs.events_waits_history_long
WHERE thread_id = $thread AND event_name = 'wait/timeout/PgSleep'
EOT

# ---- running ----

$s->query('BEGIN; DECLARE c CURSOR FOR SELECT * FROM t');
is(runs($thread), '', 'no run before the first row');
$s->query('MOVE 100 IN c');
is(runs($thread), 'fetch|t||100', 'a scan that runs');
$s->query('MOVE 1234 IN c');
is(runs($thread), 'fetch|t||1334', 'its rows grow');
is($server->sql("SELECT count(*) FROM pfs.events_waits_current WHERE thread_id = $thread AND event_name LIKE 'wait/io/table/%' AND timer_end IS NOT NULL"), 0,
	'it has no end');
$s->query('SET enable_seqscan = off; SET enable_bitmapscan = off; DECLARE d CURSOR FOR SELECT filler FROM t WHERE id > 50 ORDER BY id; MOVE 10 IN d');
is(runs($thread), "fetch|t||1334\nfetch|t|t_pkey|10", 'two of them');
$s->query('CLOSE c');
is(runs($thread), 'fetch|t|t_pkey|10', 'one ends');
$s->query('COMMIT; RESET ALL; SET max_parallel_workers_per_gather = 0');
is(runs($thread), '', 'none is left');

# ---- errors: the run ends with the transaction, and later waits are not inside of it ----

my $dead = "thread_id = $thread AND event_name = 'wait/timeout/PgSleep'";

foreach my $case ([ 'an error in a scan', 'SELECT 1 / (10000 - id) FROM t', qr/22012/ ],
	[ 'a unique violation', 'INSERT INTO t VALUES (1)', qr/23505/ ],
	[ 'an error in a function in a scan', q{SELECT pg_stat_file('none' || id) FROM t}, qr/58P01/ ],
	[ 'a cancelled scan', 'SELECT pg_sleep(0.01), pg_cancel_backend(pg_backend_pid()), pg_sleep(10) FROM t', qr/57014/ ])
{
	my ($name, $sql, $error) = @$case;

	foreach my $how ('alone', 'in a block', 'in a subtransaction')
	{
		my $waits = ($how eq 'alone' ? '' : $how eq 'in a block' ? 'ROLLBACK; ' : 'ROLLBACK TO a; ') . 'SELECT pg_sleep(0.1)';

		$s->query('BEGIN') if $how ne 'alone';
		$s->query('DECLARE c CURSOR FOR SELECT * FROM other; MOVE 7 IN c; SAVEPOINT a') if $how eq 'in a subtransaction';
		$s->send($sql)->result;
		like($s->last_error, $error, "$name, $how");
		is(runs($thread), $how eq 'in a subtransaction' ? 'fetch|other||7' : '', "$name, $how: its runs are over") if $how ne 'in a block';
		$server->sql('TRUNCATE pfs.events_waits_history_long');
		$s->query($waits);
		is($server->sql("SELECT bool_and(nesting_event_type <> 'WAIT') FROM pfs.events_waits_history_long WHERE $dead"), 't', "$name, $how: later waits are not inside");
		$s->query('COMMIT') if $how eq 'in a subtransaction';
		is(runs($thread), '', "$name, $how: nothing is left");
	}
}

# A call inside of another one, and an error leaves both: an index is built whose expression changes a table.
$s->query(q{CREATE TABLE keys (k int PRIMARY KEY); CREATE FUNCTION make_key(i int) RETURNS void LANGUAGE sql AS 'INSERT INTO public.keys VALUES (i / 10)';
	CREATE FUNCTION key_of(i int) RETURNS int IMMUTABLE LANGUAGE plpgsql AS $$ BEGIN PERFORM public.make_key(i); RETURN i; END $$});
foreach my $sql ('CREATE INDEX ON other (key_of(id))', 'DO $$ BEGIN CREATE INDEX ON other (key_of(id)); EXCEPTION WHEN unique_violation THEN PERFORM pg_sleep(0.1); END $$')
{
	$server->sql('TRUNCATE pfs.events_waits_history_long');
	$s->send($sql)->result;
	like($s->last_error, $sql =~ /^DO/ ? qr/^$/ : qr/23505/, 'an error in a function of an index');
	$s->query('SELECT pg_sleep(0.1)');
	is($server->sql("SELECT bool_and(nesting_event_type <> 'WAIT') FROM pfs.events_waits_history_long WHERE $dead"), 't', 'an error leaves nested calls');
	is(runs($thread), '', 'and no run');
}
is($server->sql("SELECT count_star FROM pfs.table_io_waits_summary_by_table WHERE object_name = 'keys'"), 4, 'the rows of the inner ones are counted');
$s->query('SELECT pg_stat_force_next_flush()');
is(counts('t'), theirs('t'), 'all rows are counted');

# ---- switches in the middle of scans ----

sub switch
{
	my ($column, $value) = @_;

	$server->sql("UPDATE pfs.setup_instruments SET $column = '$value' WHERE name = 'wait/io/table/handler'");
}

$s->query('BEGIN; DECLARE c CURSOR FOR SELECT * FROM t; DECLARE d CURSOR FOR SELECT * FROM t WHERE id > 0 ORDER BY id');
my $begin = fetched('t');

$s->query('MOVE 100 IN c; MOVE 100 IN d');
switch(enabled => 'NO');
$s->query('MOVE 50 IN c');
$s->query('MOVE 50 IN d');
is(fetched('t') - $begin, 200, 'switched off: what was counted until then is there');
$s->query('MOVE 50 IN c');
is(runs($thread), '', 'no run goes on');
switch(enabled => 'YES');
$s->query('MOVE 30 IN c');
$s->query('MOVE 20 IN d');
$s->query('MOVE 10 IN c');
like(runs($thread), qr/^fetch\|t\|\|40$/m, 'switched on: the scan is seen from there on');
$s->query('COMMIT');
is(fetched('t') - $begin, 260, 'and its rows are counted');

# Nothing is timed.
$server->sql('TRUNCATE pfs.table_io_waits_summary_by_table');
switch(timed => 'NO');
$s->query('SELECT count(*) FROM other');
is($server->sql(q{SELECT count_star, count_timed, sum_timer_wait FROM pfs.table_io_waits_summary_by_table WHERE object_name = 'other'}), '1000|0|0', 'timed = NO');
switch(timed => 'YES');
$s->query('SELECT count(*) FROM other');
is($server->sql(q{SELECT count_star, count_timed > 0, sum_timer_wait > 0 FROM pfs.table_io_waits_summary_by_table WHERE object_name = 'other'}), '2000|t|t', 'and YES');

# Rules, by table and schema; a running session follows with its next statement.
$server->sql(q{SELECT pfs.set_object('TABLE', '%', 'public', 'other', 'NO')});
$s->query('SELECT count(*) FROM other');
is(fetched('other'), 2000, 'a rule for the table');
$server->sql(q{SELECT pfs.set_object('TABLE', '%', 'public', '%', 'NO'), pfs.set_object('TABLE', '%', 'public', 'other', 'YES', 'NO')});
$s->query('SELECT count(*) FROM other');
$s->query('SELECT count(*) FROM t WHERE id < 10');
is(fetched('other') . ' ' . fetched('t'), '3000 0', 'a rule for the schema, and another for the table');
$server->sql(q{SELECT pfs.drop_object('TABLE', '%', 'public', '%'), pfs.drop_object('TABLE', '%', 'public', 'other')});

# A bitmap index scan knows the index alone; its first one in a session goes by rules for the table, too.
$server->sql(q{CREATE TABLE named (id int PRIMARY KEY); CREATE TABLE unnamed (id int PRIMARY KEY);
	INSERT INTO named SELECT generate_series(1, 1000); INSERT INTO unnamed SELECT generate_series(1, 1000);
	SELECT pfs.reset('table_io_waits_summary_by_table')});

sub by_bitmaps
{
	my $first = $server->session;

	$first->query('SET enable_seqscan = off; SET enable_indexscan = off; SET enable_indexonlyscan = off');
	is($first->query(q{WITH done AS (INSERT INTO other SELECT -1 FROM named WHERE id < 20 AND id + pg_backend_pid() < 0)
		SELECT count(*) FROM named JOIN unnamed USING (id) WHERE named.id < 100 AND unnamed.id < 100}), 99, 'rows by bitmaps');
	$first->close;
	return $server->sql(q{SELECT coalesce(string_agg(index_name || ' ' || count_fetch, ', ' ORDER BY index_name), '')
		FROM pfs.table_io_waits_summary_by_index_usage WHERE index_name LIKE '%named_pkey' AND count_fetch > 0});
}
$server->sql(q{SELECT pfs.set_object('TABLE', '%', 'public', 'named', 'NO')});
is(by_bitmaps(), 'unnamed_pkey 99', 'a bitmap, and a rule that leaves its table out');
$server->sql(q{SELECT pfs.reset('table_io_waits_summary_by_table'), pfs.set_object('TABLE', '%', 'public', '%', 'NO'),
	pfs.set_object('TABLE', '%', 'public', 'named', 'YES')});
is(by_bitmaps(), 'named_pkey 118', 'and one that is for its table alone, in the rest of WITH, too');
$server->sql(q{ALTER TABLE named RENAME TO renamed; ALTER TABLE unnamed RENAME TO named; SELECT pfs.reset('table_io_waits_summary_by_table')});
$s->query('SET enable_seqscan = off; SET enable_indexscan = off; SET enable_indexonlyscan = off');
$s->query('SELECT count(*) FROM named WHERE id < 100');
$server->sql('ALTER TABLE named RENAME TO unnamed; ALTER TABLE renamed RENAME TO named');
$s->query('SELECT count(*) FROM unnamed WHERE id < 100; RESET ALL');
is($server->sql(q{SELECT index_name || ' ' || count_fetch FROM pfs.table_io_waits_summary_by_index_usage WHERE index_name LIKE '%named_pkey' AND count_fetch > 0}),
	'unnamed_pkey 99', 'the name is that of the present');
$server->sql(q{SELECT pfs.drop_object('TABLE', '%', 'public', '%'), pfs.drop_object('TABLE', '%', 'public', 'named'); DROP TABLE named, unnamed});
$server->sql(q{SELECT pfs.set_object('TABLE', '%', 'pg_catalog', 'pg_class', 'YES')});
$s->query('SELECT count(relname || relkind::text) FROM pg_class');
cmp_ok(fetched('pg_class'), '>', 100, 'a rule for a catalog');
$server->sql(q{SELECT pfs.drop_object('TABLE', '%', 'pg_catalog', 'pg_class')});

# The instrument goes on and off all the time, while scans begin and end.
my $churn = $server->session;

$churn->send(<<'EOT');
DO $$ BEGIN FOR i IN 1 .. 300 LOOP
	UPDATE pfs.setup_instruments SET enabled = CASE WHEN i % 2 = 0 THEN 'YES' ELSE 'NO' END WHERE name = 'wait/io/table/handler';
	PERFORM pg_sleep(0.001); END LOOP; END $$
EOT
my ($n, %wrong) = (0);

until ($churn->is_done)
{
	my $answer = $s->query('SELECT count(filler), (SELECT count(*) FROM other o JOIN t ON t.id = o.id) FROM t WHERE id <= 500');

	$wrong{$answer}++ if $answer ne '500|1000';
	$n++;
}
$churn->result;
is(join(', ', %wrong), '', 'all answers were right');
$begin = fetched('other');
$s->query('SELECT count(*) FROM other');
is(fetched('other') - $begin, 1000, "after $n statements it counts as before");
is(runs($thread), '', 'and no run is left');

# ---- a process ends in the middle ----

sub victim
{
	my $v = $server->session;

	$v->query('BEGIN; DECLARE c CURSOR FOR SELECT * FROM t; INSERT INTO other VALUES (-1)');
	$v->query('MOVE 4321 IN c');
	return $v;
}
my $victim = victim();
my $of_victim = $victim->thread_id;

$server->sql('TRUNCATE pfs.table_io_waits_summary_by_table');
is(runs($of_victim), 'fetch|t||4321', 'a session is in the middle of a scan');
is($server->sql('SELECT pg_terminate_backend(' . $victim->pid . ', 60000)'), 't', 'and is terminated');
$victim->kill;
is(runs($of_victim), '', 'its run is over');
is(fetched('t'), 4321, 'its rows are counted');

my $started = q{SELECT variable_value FROM pfs.status WHERE variable_name = 'pfs_start_time'};
my $before = $server->sql($started);

$victim = victim();
kill 'KILL', $victim->pid;
$server->lost_sessions;
ok($server->poll_connect("SELECT ($started) <> '$before'", 't'), 'one is killed, and the server begins anew');
is($server->sql(q{SELECT count(*) FROM pfs.events_waits_current WHERE event_name = 'wait/io/table/handler'}), 0, 'without a run');
$s = $server->session;
$begin = fetched('other');
is($s->query('SELECT count(*) FROM other'), 1000, 'a scan');
is(fetched('other') - $begin, 1000, 'is counted');

# ---- waits for locks ----

my $waiter = $server->session;

foreach my $case ([ access_share => 'ACCESS EXCLUSIVE', 'ACCESS SHARE' ], [ row_exclusive => 'SHARE', 'ROW EXCLUSIVE' ], [ share => 'ROW EXCLUSIVE', 'SHARE' ],
	[ access_exclusive => 'ACCESS SHARE', 'ACCESS EXCLUSIVE' ])
{
	my ($column, $held, $wanted) = @$case;

	$s->query("BEGIN; LOCK t IN $held MODE");
	$waiter->send("BEGIN; LOCK t IN $wanted MODE; COMMIT");
	ok(poll_lock($waiter, 't'), "$wanted waits for $held");
	$s->query('COMMIT');
	$waiter->result;
	is($waiter->last_error, '', 'and gets it');
	is($server->sql("SELECT count_$column, sum_timer_$column > 0, max_timer_$column <= max_timer_wait FROM pfs.table_lock_waits_summary_by_table WHERE object_name = 't'"),
		'1|t|t', "it is counted as $column");
}
is($server->sql(q{SELECT object_type, database_name, object_schema, object_name, count_star, count_access_share + count_row_share + count_row_exclusive
	+ count_share_update_exclusive + count_share + count_share_row_exclusive + count_exclusive + count_access_exclusive FROM pfs.table_lock_waits_summary_by_table}),
	'TABLE|postgres|public|t|4|4', 'four waits, each in its mode');
$s->query('BEGIN; LOCK t');
$waiter->send('SELECT count(*) FROM t');
poll_lock($waiter, 't');
$server->sql('SELECT pg_cancel_backend(' . $waiter->pid . ')');
$waiter->result;
like($waiter->last_error, qr/57014/, 'a wait that is given up');
$s->query('COMMIT');
is($server->sql('SELECT count_access_share FROM pfs.table_lock_waits_summary_by_table'), 2, 'is counted');
$server->sql('TRUNCATE pfs.table_io_waits_summary_by_table');
is($server->sql('SELECT count_star FROM pfs.table_lock_waits_summary_by_table'), 5, 'TRUNCATE of rows leaves waits for locks');
$server->sql('TRUNCATE pfs.table_lock_waits_summary_by_table');
is($server->sql('SELECT count(*) FROM pfs.table_lock_waits_summary_by_table'), 0, 'TRUNCATE of its own does not');
# The lock of an index, which the planner takes, is no table's.
$s->query('BEGIN; REINDEX INDEX t_pkey');
$waiter->send('EXPLAIN SELECT * FROM t WHERE id = 1');
ok(poll_lock($waiter, 't_pkey'), 'a wait for the lock of an index');
$s->query('COMMIT');
$waiter->result;
is($server->sql(q{SELECT count(*) FROM pfs.events_waits_history WHERE thread_id = } . $waiter->thread_id
	  . q{ AND event_name = 'wait/lock/relation' AND object_name = 't_pkey'}), 1, 'is an event');
is($server->sql('SELECT count(*) FROM pfs.table_lock_waits_summary_by_table'), 0, 'and not counted for a table');
is($server->sql(q{SELECT count(*) FROM pfs.objects_summary_global_by_type WHERE object_name = 't_pkey'}), 0, 'nor is the index one');

# ---- what statements have examined ----

# A statement ends when its session becomes idle, which is after its result.
sub examined
{
	my ($sql, $expected, $name) = @_;
	my $pid = $s->pid;

	local $Test::Builder::Level = $Test::Builder::Level + 1;
	ok($server->poll(<<"EOT", $expected), $name);
SELECT rows_examined, no_index_used FROM pfs.events_statements_history WHERE thread_id = pfs.thread_id($pid) AND sql_text LIKE '$sql%'
ORDER BY event_id DESC LIMIT 1
EOT
}


foreach my $case ([ 'SELECT count(*) FROM other WHERE true', '1000|1' ],
	[ 'SELECT filler FROM t WHERE id = 5', '1|0' ],
	[ 'SELECT count(*) FROM other, (SELECT 1) s', '1000|1' ],
	[ 'SELECT count(*) FROM other JOIN t USING (id)', '2000|1' ],
	[ 'DELETE FROM other WHERE id = 77', '1000|1' ],
	[ 'INSERT INTO other VALUES (5000)', '0|0' ],
	[ 'SELECT 1 AS one', '0|0' ])
{
	my ($sql, $expected) = @$case;

	$s->query("SET enable_hashjoin = off; SET enable_mergejoin = off; SET enable_bitmapscan = off; SET enable_memoize = off");
	$s->query($sql);
	examined($sql, $expected, "examined: $sql");
}
$s->query(q{CREATE FUNCTION scans() RETURNS bigint LANGUAGE plpgsql AS $$ DECLARE n bigint; BEGIN SELECT count(*) INTO n FROM other; RETURN n; END $$});
$s->query('SELECT scans(), scans()');
examined('SELECT scans()', '2000|1', 'a statement has what those inside of it have examined');
$s->query('BEGIN; DECLARE c CURSOR FOR SELECT * FROM other; ');
$s->query('FETCH 10 IN c; FETCH 20 IN c');
examined('FETCH 20', '20|1', 'a cursor: each FETCH has its own rows, and has used no index');
$s->query('COMMIT');

# ---- dropped tables ----

$server->sql('CREATE TABLE brief (i int PRIMARY KEY); INSERT INTO brief SELECT generate_series(1, 10)');
is(counts('brief'), '0|10|0|0', 'a table');
$server->sql('BEGIN; DROP TABLE brief; ROLLBACK');
$server->sql('BEGIN; SAVEPOINT a; DROP TABLE brief; ROLLBACK TO a; COMMIT');
is(counts('brief'), '0|10|0|0', 'a DROP that is rolled back leaves its rows');
my $used = q{SELECT string_agg(records_used::text, ' ' ORDER BY name) FROM pfs.containers WHERE name IN ('table_instances', 'index_stat')};
my $had = $server->sql($used);

# The list of what was dropped is the transaction's: one that has kept nothing of it leaves none to the next.
$server->sql('BEGIN; SAVEPOINT a; DROP TABLE brief; RELEASE a; COMMIT; SELECT 1');
is(counts('brief'), '', 'a DROP does not');
foreach my $round (1 .. 3)
{
	$s->query(<<'EOT');
DO $$ BEGIN FOR i IN 1 .. 1000 LOOP
	CREATE TEMP TABLE brief (i int PRIMARY KEY); INSERT INTO brief VALUES (1); PERFORM * FROM brief; DROP TABLE brief; COMMIT; END LOOP; END $$
EOT
}
$s->query('CREATE TEMP TABLE last (i int); DROP TABLE last; CREATE TEMP TABLE last (i int); DROP TABLE last');
my ($indexes, $tables) = split / /, $server->sql($used);
my ($indexes_before, $tables_before) = split / /, $had;

cmp_ok($indexes, '<=', $indexes_before + 64, '3,000 temporary tables: their indexes have no record any more');
cmp_ok($tables, '<=', $tables_before + 64, 'nor have they');
my $ended = join ', ', map { $_->thread_id } $s, $waiter;
$s->close;
$waiter->close;
ok($server->poll(q{SELECT sum(records_used) <= } . ($indexes_before + $tables_before) . " AND NOT EXISTS (SELECT FROM pfs.threads WHERE thread_id IN ($ended))"
		  . q{ FROM pfs.containers WHERE name IN ('table_instances', 'index_stat')}), 'and none when the session has ended');

# What comes behind the drop makes no record anew: who has waited for the table, and who still writes the index.
sub records
{
	return join ' ', map { $server->sql("SELECT records_used FROM pfs.containers WHERE name = '$_'") } qw(index_stat table_instances table_lock_stat);
}

my ($one, $two) = map { $server->session } 1 .. 2;
my $waits = 'SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = \'Lock\'';

# A removed record is given back at the next removal of the same session.
sub settled
{
	$one->query('CREATE TABLE passing (i int PRIMARY KEY); INSERT INTO passing VALUES (1); DROP TABLE passing') for 1 .. 2;
	return records();
}

my $records = settled();

$one->query('CREATE TABLE awaited (i int)');
$one->query('BEGIN; DROP TABLE awaited');
$two->send('SELECT * FROM awaited');
$server->poll($waits, 1);
$one->query('COMMIT');
$two->result;
like($two->last_error, qr/does not exist/, 'a table is waited for, and has gone');
is(settled(), $records, 'it has no record any more');

$one->query('CREATE TABLE kept (i int); CREATE INDEX kept_i ON kept (i); INSERT INTO kept VALUES (0)');
$two->query('BEGIN; INSERT INTO kept VALUES (1)');
$one->send('DROP INDEX CONCURRENTLY kept_i');
$server->poll($waits, 1);
$two->query('INSERT INTO kept VALUES (2); COMMIT');
$one->result;
$one->query('DROP TABLE kept');
is(settled(), $records, 'an index that is written while it is dropped has none');

# What a transaction has made goes with it.
foreach my $made ('CREATE TABLE gone (i int PRIMARY KEY); INSERT INTO gone VALUES (1)',
	'SAVEPOINT a; CREATE TABLE gone (i int PRIMARY KEY); INSERT INTO gone VALUES (1); RELEASE a',
	'CREATE TABLE gone AS SELECT 1 AS i; ALTER TABLE gone ALTER i TYPE bigint; CREATE INDEX ON gone (i); SET LOCAL enable_seqscan = off; SELECT * FROM gone WHERE i = 1',
	'SAVEPOINT a; CREATE TEMP TABLE gone (i int PRIMARY KEY); INSERT INTO gone VALUES (1); ROLLBACK TO a')
{
	$one->query("BEGIN; $made; ROLLBACK");
	is(settled(), $records, "rolled back: $made");
}
$one->query('BEGIN; CREATE TABLE stays (i int PRIMARY KEY); SAVEPOINT a; INSERT INTO stays VALUES (1); ROLLBACK TO a; COMMIT');
is(counts('stays'), '0|1|0|0', 'one whose rows are rolled back stays, with their counts');
$one->query('DROP TABLE stays');
is(settled(), $records, 'until it is dropped');
$_->close foreach $one, $two;

# Commands with a transaction for each step drop what they drop in a later one.
$s = $server->session;
$s->query('SET enable_seqscan = off; CREATE TABLE steps (i int PRIMARY KEY, j int); INSERT INTO steps SELECT g, g FROM generate_series(1, 2000) g');
foreach my $round (1 .. 70)
{
	$s->query('SELECT j FROM steps WHERE i = 5');
	$s->query($round % 2 ? 'REINDEX TABLE CONCURRENTLY steps' : 'REINDEX INDEX CONCURRENTLY steps_pkey');
}
cmp_ok((split / /, $server->sql($used))[0], '<=', $indexes_before + 64, 'indexes that are built anew leave no record');
$s->query(q{DO $$ BEGIN DROP TABLE nowhere; EXCEPTION WHEN undefined_table THEN NULL; END $$; DROP TABLE steps});
is(counts('steps'), '', 'a DROP that failed does not hide the next one');
$s->close;

# ---- two databases with equal OIDs, and who may see what ----

$server->sql('TRUNCATE pfs.table_io_waits_summary_by_table');
$server->_forget_sessions;
PfsServer::run_ok(PfsServer::bindir() . '/createdb', '-h', $server->{host}, '-p', $server->{port}, '-U', 'postgres', '-T', 'postgres', 'twin');
my $twin = $server->session(db => 'twin');
my $oid = $twin->query(q{SELECT 't'::regclass::oid});

$twin->query('SELECT count(*) FROM other');
$twin->query('INSERT INTO t VALUES (100001)');
is($server->sql(q{SELECT coalesce(sum(count_star), 0) FROM pfs.table_io_waits_summary_by_table WHERE database_name = 'postgres' AND object_name IN ('t', 'other')}), 0,
	'a database with the same OIDs: nothing here');
is($server->sql("SELECT object_schema, object_name, count_insert FROM pfs.table_io_waits_summary_by_table WHERE database_name = 'twin' AND count_insert > 0"), "|$oid|1",
	'of another database the OID');
is($twin->query(q{SELECT object_schema, object_name, count_insert FROM pfs.table_io_waits_summary_by_table WHERE database_name = 'twin' AND count_insert > 0}), 'public|t|1',
	'there the name');
$twin->close;
$server->sql('DROP DATABASE twin');
$server->sql('SELECT 1');
is($server->sql(q{SELECT count(*) FROM pfs.table_io_waits_summary_by_table WHERE database_name IS DISTINCT FROM 'postgres'}), 0, 'a database is dropped with its rows');

# ---- a bitmap scan that goes on when there has been another one ----

# A rollback ends the cursor's run; the next one is of the same index.
$server->sql(q{CREATE TABLE two (a int, b int); INSERT INTO two SELECT g, g FROM generate_series(1, 1000) g; CREATE INDEX two_a ON two (a); CREATE INDEX two_b ON two (b); ANALYZE two});
$s = $server->session;
$s->query('SET enable_seqscan = off; SET enable_indexscan = off; SET enable_indexonlyscan = off');
$s->query('BEGIN; DECLARE c CURSOR FOR SELECT * FROM two WHERE a < 1000; SAVEPOINT s; FETCH 1 FROM c; SELECT count(two.*) FROM two WHERE b < 10; ROLLBACK TO s; MOVE 10 FROM c');
is(runs($s->thread_id), 'fetch|two|two_a|10', 'its rows are of its own index');
$s->query('COMMIT');
$s->close;

# ---- a cursor from before a subtransaction, and an error in the middle of its call inside of it ----

# Its second page is damaged on disk while the server is down.
my $path = "$server->{data}/" . $server->sql(q{CREATE TABLE damaged AS SELECT g AS i, repeat('x', 500) FROM generate_series(1, 100) g; SELECT pg_relation_filepath('damaged')});

$server->stop;
open(my $file, '+<:raw', $path) or die "$path: $!";
seek($file, 8192, 0);
print $file "\xff" x 8192;
close($file) or die $!;
$server->start;
$s = $server->session;
$thread = $s->thread_id;
$s->query('BEGIN; DECLARE c CURSOR FOR SELECT * FROM damaged; MOVE 1 FROM c; SAVEPOINT s');
is(runs($thread), 'fetch|damaged||1', 'a cursor');
$s->send('MOVE ALL FROM c')->result;
like($s->last_error, qr/XX001/, 'its next page is damaged');
$s->query('ROLLBACK TO s');
is(runs($thread), '', 'its run is over with the subtransaction');
$s->query('SELECT pg_sleep(0.1)');
is($server->sql("SELECT count(*) > 0, bool_and(nesting_event_type <> 'WAIT') FROM pfs.events_waits_history WHERE thread_id = $thread AND event_name = 'wait/timeout/PgSleep'"),
	't|t', 'later waits are not inside');
$s->query('COMMIT; DROP TABLE damaged');
$s->close;

# A call that goes on around a subtransaction, whose error it does not see: an index is built by a function.
$s = $server->session;
$thread = $s->thread_id;
$s->query(q{CREATE FUNCTION quiet(i int) RETURNS int IMMUTABLE LANGUAGE plpgsql AS $$ BEGIN
	BEGIN PERFORM 1 / (i - i); EXCEPTION WHEN division_by_zero THEN PERFORM pg_sleep(0.1); END; RETURN i; END $$});
$server->sql('TRUNCATE pfs.events_waits_history');
$s->query('CREATE TABLE few AS SELECT g AS i FROM generate_series(1, 3) g; CREATE INDEX ON few (quiet(i))');
is($server->sql(<<"EOT"), 't|0', 'waits behind a caught error are inside of the call around it, or of the statement in it');
SELECT count(*) >= 3, count(*) FILTER (WHERE nesting_event_id IS NULL) FROM pfs.events_waits_history w
WHERE thread_id = $thread AND event_name = 'wait/timeout/PgSleep'
EOT
is($server->sql("SELECT sum(count_fetch) FROM pfs.table_io_waits_summary_by_table WHERE object_name = 'few'"), 3, 'and its rows are counted');
$s->query('DROP TABLE few');
$s->close;

# ---- room for few, and for none ----

my $full = q{SELECT string_agg(records_max || ' ' || records_used || ' ' || (records_lost > 0), ', ' ORDER BY name) FROM pfs.containers WHERE name IN ('index_stat', 'table_instances')};

foreach my $case ([ 2, 1, '1 1 true, 2 2 true' ], [ 0, 0, '0 0 false, 0 0 false' ], [ 0, 1, undef ], [ 1, 0, undef ])
{
	my ($tables_max, $indexes_max, $expected) = @$case;

	$server->conf("pfs.max_table_instances = $tables_max\npfs.max_index_stat = $indexes_max");
	$server->restart;
	my $name = "room for $tables_max tables and $indexes_max indexes";

	$s = $server->session;
	$s->query('CREATE TABLE x AS SELECT 1 AS i; CREATE INDEX ON x (i); SELECT * FROM x; SELECT count(*) FROM t; SELECT count(*) FROM other; UPDATE t SET id = id WHERE id < 100;'
		  . ' SET enable_seqscan = off; SELECT filler FROM t WHERE id = 5; SELECT * FROM x WHERE i = 1; BEGIN; LOCK x; DROP TABLE x; COMMIT');
	is($s->query('SELECT count(*) FROM t'), $s->query('SELECT count(*) FROM t WHERE id IS NOT NULL'), "$name: the server works");
	is($server->sql($full), $expected, "$name: losses are counted") if defined $expected;
	$server->sql("SELECT pfs.reset('table_io_waits_summary_by_table'), pfs.reset('table_lock_waits_summary_by_table')");
	cmp_ok($server->sql('SELECT count(*) FROM pfs.table_io_waits_summary_by_index_usage'), '<=', $tables_max + $indexes_max, "$name: rows");
	$s->close;
}
done_testing();
