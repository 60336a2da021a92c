# The work of stage/progress/% stages: that of the server's own progress views while
# a command stands still in a phase, never going back while it moves, and complete
# in the histories.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/lib";
use PfsServer;
use Test::More;

my $server = PfsServer->new('main', conf => <<'EOT');
autovacuum = off
max_parallel_maintenance_workers = 0
maintenance_work_mem = 8MB
EOT
$server->start;
my $rewrite = PfsServer::version() >= 19 ? 'repack' : 'cluster';
my $rows = 40000;

$server->sql(<<"EOT");
CREATE EXTENSION pfs;
-- Waits where the row's number is a multiple of a hundred, if somebody holds the lock.
CREATE FUNCTION hold(i int, first int) RETURNS int IMMUTABLE LANGUAGE plpgsql AS
	'BEGIN IF i >= first AND i % 100 = 0 THEN PERFORM pg_advisory_xact_lock_shared(1); END IF; RETURN i; END';
CREATE TABLE big (i int, v text);
INSERT INTO big SELECT g, lpad(g::text, 200, 'x') FROM generate_series(1, $rows) g;
CREATE TABLE parts (i int) PARTITION BY RANGE (i);
CREATE TABLE part1 PARTITION OF parts FOR VALUES FROM (0) TO (100);
CREATE TABLE part2 PARTITION OF parts FOR VALUES FROM (100) TO (200);
INSERT INTO parts SELECT generate_series(0, 199);
EOT
my $pages = $server->sql("SELECT pg_relation_size('big') / current_setting('block_size')::int");

my $holder = $server->session;
my $b = $server->session;
my $pid = $b->query('SELECT pg_backend_pid()');
my $tb = $server->thread_of($pid);

# The running progress stage.
sub stage
{
	return $server->sql("SELECT regexp_replace(event_name, '.*/', ''), work_completed, work_estimated
		FROM pfs.events_stages_current WHERE thread_id = $tb AND event_name LIKE 'stage/progress/%'");
}

# The same by the server's own view: its words, and two of its columns.
sub view
{
	my ($view, $done, $all) = @_;

	return $server->sql("SELECT regexp_replace(replace(phase, ' ', '_'), ':', '', 'g'), $done, $all
		FROM pg_stat_progress_$view WHERE pid = $pid");
}

# What the histories say of the statement of the session b that was run last: the phases in
# their order, each with its work.
sub history
{
	my ($phases) = @_;

	$server->poll_idle($tb);
	return $server->sql("SELECT string_agg(regexp_replace(event_name, '.*/', '') || ' ' || coalesce(work_completed::text, 'none')
			|| '/' || coalesce(work_estimated::text, 'none'), ', ' ORDER BY event_id)
		FROM pfs.events_stages_history_long WHERE thread_id = $tb AND event_name ~ '^stage/progress/.*/($phases)\$'");
}

sub forget
{
	$server->sql('TRUNCATE pfs.events_stages_history_long');
}

# Run it until it waits.  By pg_stat_activity it does so a moment before pfs has seen to the phase and begun the wait.
sub held
{
	my ($sql, $event) = @_;

	forget();
	$b->send($sql);
	$server->poll("SELECT count(*) FROM pfs.events_waits_current WHERE thread_id = $tb AND regexp_replace(event_name, '.*/', '') $event", 1)
	  or die "it does not wait: $sql";
}

sub lock_rows
{
	$holder->query('SELECT pg_advisory_lock(1)');
}

sub unlock_rows
{
	$holder->query('SELECT pg_advisory_unlock(1)');
	is($b->result, '', 'and it goes on');
}

my $advisory = "= 'advisory'";
my $no_work = qr/\|\|$/;

# ---- CREATE INDEX ----

lock_rows();
held('CREATE INDEX big_held ON big (hold(i, 20000))', $advisory);
is(stage(), view('create_index', 'blocks_done', 'blocks_total'), 'CREATE INDEX, scanning: the blocks of the view');
like(stage(), qr/^building_index_scanning_table\|[1-9]\d*\|$pages$/, 'some of all blocks');
unlock_rows();
is(history('building_index_scanning_table'), "building_index_scanning_table $pages/$pages", 'and the scan is complete, although its counters are cleared');
is(history('building_index_loading_tuples_in_tree'), "building_index_loading_tuples_in_tree $rows/$rows", 'the load has its own work');
is(history('building_index_sorting_live_tuples|building_index_initializing') =~ /\d/, '', 'and phases without counters have none');

# A large one is watched.
$server->sql(<<'EOT');
CREATE TABLE samples (n serial, event_id bigint, event_name text, done bigint, estimated bigint);
CREATE PROCEDURE watch(pid int, thread bigint) LANGUAGE plpgsql AS $$
DECLARE
	started boolean := false;
BEGIN
	LOOP
		PERFORM pg_stat_clear_snapshot();
		IF NOT EXISTS (SELECT FROM pg_stat_progress_create_index p WHERE p.pid = watch.pid) THEN
			EXIT WHEN started;
		ELSE
			started := true;
		END IF;
		INSERT INTO samples (event_id, event_name, done, estimated)
			SELECT event_id, event_name, work_completed, work_estimated FROM pfs.events_stages_current
			WHERE thread_id = thread AND event_name LIKE 'stage/progress/create_index/%';
		EXIT WHEN NOT started AND EXISTS (SELECT FROM pg_class WHERE relname = 'big_watched');
	END LOOP;
END $$;
EOT
my $loading = 'stage/progress/create_index/building_index_loading_tuples_in_tree';
for (1 .. 30)
{
	$b->query('DROP INDEX IF EXISTS big_watched');
	$b->send('CREATE INDEX big_watched ON big (v, i)');
	$server->sql("CALL watch($pid, $tb)");
	$b->result;
	last if $server->sql("SELECT count(*) > 1 FROM samples WHERE event_name = '$loading' AND done > 0") eq 't';
}
is($server->sql("SELECT count(*) > 1, bool_and(estimated = $rows) FROM samples WHERE event_name = '$loading' AND done > 0"), 't|t',
	'the load is seen while it goes on, by tuples');
is($server->sql('SELECT count(*) FROM (SELECT done < lag(done) OVER w OR (done IS NULL AND lag(done) OVER w IS NOT NULL)
		OR estimated IS DISTINCT FROM lag(estimated) OVER w AND lag(estimated) OVER w IS NOT NULL OR done > estimated AS back
	FROM samples WINDOW w AS (PARTITION BY event_id ORDER BY n)) s WHERE back'), 0, 'nothing goes back, and no total is lost');

# Access methods without phases of their own.
forget();
$b->query("SET maintenance_work_mem = '1MB'; CREATE INDEX big_hash ON big USING hash (i)");
like(history('building_index.*'), qr{^building_index $pages/$pages, building_index_loading_tuples $rows/$rows$}, 'a hash index: blocks, then tuples');

# Counters that begin again are another run of the phase.
forget();
$b->query('CREATE INDEX parts_i ON parts (i)');
is($server->sql("SELECT count(*), bool_and(work_completed = 100 AND work_estimated = 100) FROM pfs.events_stages_history_long
	WHERE thread_id = $tb AND event_name = '$loading'"), '2|t', 'the load of each partition by itself');

# Waits for others.
$holder->query('BEGIN; LOCK TABLE part1 IN ROW EXCLUSIVE MODE');
held('CREATE INDEX CONCURRENTLY part1_i2 ON part1 (i)', "= 'virtualxid'");
is(stage(), view('create_index', 'lockers_done', 'lockers_total'), 'CREATE INDEX CONCURRENTLY, waiting: the lockers of the view');
like(stage(), qr/^waiting_for_writers_before_build\|0\|1$/, 'none of one');
$holder->query('COMMIT');
is($b->result, '', 'and it goes on');
is(history('waiting_for_writers_before_build'), 'waiting_for_writers_before_build 1/1', 'the wait is complete');
like(history('index_validation_scanning_table'), qr{^index_validation_scanning_table [01]/1$}, 'the validation has its own blocks');

# ---- CLUSTER, VACUUM FULL ----

lock_rows();
held('VACUUM FULL big', $advisory);
is(stage(), view($rewrite, 'index_rebuild_count', "''"), 'VACUUM FULL, indexes: the number of the view');
unlock_rows();
like(history('seq_scanning_heap|writing_new_heap|rebuilding_index'), qr{^seq_scanning_heap $pages/$pages, .*rebuilding_index [1-9]/none$},
	'VACUUM FULL: blocks, then indexes');

$server->sql('ANALYZE big');
forget();
$b->query('SET enable_indexscan = off; CLUSTER big USING big_watched');
like(history('seq_scanning_heap|writing_new_heap'), qr{^seq_scanning_heap $pages/$pages, writing_new_heap $rows/$rows$}, 'CLUSTER by a sort: blocks, then tuples');
lock_rows();
held('CLUSTER big USING big_held', $advisory);
is(stage(), view($rewrite, 'heap_blks_scanned', 'heap_blks_total'), 'CLUSTER, scanning: the blocks of the view');
like(stage(), qr/^seq_scanning_heap\|[1-9]\d*\|$pages$/, 'some of all blocks');
unlock_rows();
forget();
$b->query('SET enable_indexscan = on; SET cpu_operator_cost = 10; CLUSTER big USING big_watched');
is(history('(seq|index)_scanning_heap'), "index_scanning_heap $rows/none", 'CLUSTER by the index: tuples, and nobody knows how many');

# ---- VACUUM, ANALYZE ----

$server->sql('CREATE TABLE fresh (i int, v text); INSERT INTO fresh SELECT * FROM big; CREATE INDEX ON fresh (i); DELETE FROM fresh WHERE i % 10 = 0');
$holder->query('BEGIN; DECLARE c CURSOR FOR SELECT * FROM fresh; FETCH 1 FROM c; MOVE 20000 FROM c');
# With naps a phase is noticed even if all blocks are in memory.  The table that is vacuumed
# behind it would have its phases here, too.
held("SET vacuum_cost_delay = '1ms'; SET vacuum_cost_limit = 100; VACUUM (FREEZE, PROCESS_TOAST false) fresh", "IN ('BufferPin', 'BufferCleanup')");
is(stage(), view('vacuum', 'heap_blks_scanned', 'heap_blks_total'), 'VACUUM, scanning: the blocks of the view');
like(stage(), qr/^scanning_heap\|[1-9]\d*\|\d+$/, 'some of all blocks');
$holder->query('COMMIT');
is($b->result, '', 'and it goes on');
$pages = $server->sql("SELECT pg_relation_size('fresh') / current_setting('block_size')::int");
like(history('scanning_heap|vacuuming_heap'), qr{^scanning_heap $pages/$pages, vacuuming_heap [1-9]\d*/$pages$}, 'VACUUM: blocks scanned, then blocks vacuumed');
is(history('vacuuming_indexes'), PfsServer::version() >= 17 ? 'vacuuming_indexes 1/1' : 'vacuuming_indexes none/none',
	'its indexes, where the server counts them');

lock_rows();
held('ANALYZE big', $advisory);
is(view('analyze', "''", "''"), stage(), 'ANALYZE, computing: no work');
unlock_rows();
$pages = $server->sql("SELECT pg_relation_size('big') / current_setting('block_size')::int");
is(history('acquiring_sample_rows'), "acquiring_sample_rows $pages/$pages", 'and all blocks before');
forget();
$b->query('ANALYZE parts');
is(history('acquiring_inherited_sample_rows'), 'acquiring_inherited_sample_rows 2/2', 'ANALYZE of partitions: tables');

# ---- COPY ----

$server->sql("CREATE TABLE copied (LIKE big); COPY big TO '$server->{data}/copy'");
my $bytes = -s "$server->{data}/copy";

forget();
$b->query("COPY copied FROM '$server->{data}/copy'");
is(history('copying'), "copying $bytes/$bytes", 'COPY from a file: its bytes');
$server->sql('ALTER TABLE copied ADD CHECK (hold(i, 20000) > 0)');
lock_rows();
held("COPY copied FROM '$server->{data}/copy'", $advisory);
is(stage(), $server->sql("SELECT 'copying', bytes_processed, bytes_total FROM pg_stat_progress_copy WHERE pid = $pid"), 'COPY from a file: the bytes of the view');
like(stage(), qr/^copying\|[1-9]\d*\|$bytes$/, 'some of all bytes');
unlock_rows();
forget();
$b->query("COPY (SELECT * FROM big) TO '$server->{data}/copy'");
is(history('copying'), "copying $bytes/none", 'COPY to a file: bytes, and nobody knows how many');

is($server->sql("SELECT count(*) FROM pfs.status WHERE variable_name LIKE 'pfs_events_stages%_lost' AND variable_value::bigint > 0"), 0, 'no stage was lost');

done_testing();
