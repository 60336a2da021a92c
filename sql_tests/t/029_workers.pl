# Parallel workers count for their leader's account, also where the leader is busy
# with its own numbers while they look for it: each rise of a memory mark is.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/lib";
use PfsServer;
use Test::More;

my $event = 'wait/io/file/SLRUStat';
my $server = PfsServer->new('main', conf => <<"EOT");
autovacuum = off
max_worker_processes = 20
max_parallel_workers = 20
pfs.instruments = 'wait/%=OFF, $event=ON, memory/%=ON'
EOT
$server->start;
$server->sql('CREATE EXTENSION pfs; CREATE ROLE u1 LOGIN SUPERUSER');
$server->sql(q{CREATE TABLE t AS SELECT repeat('x', 20) AS v FROM generate_series(1, 20000)});
$server->sql('ALTER TABLE t SET (parallel_workers = 2)');
$server->sql('ANALYZE t');

# The array makes the leader's marks rise while its workers begin; each session is a new one, with marks at zero.
my $runs = 60;
my $script = <<'EOT';
SET max_parallel_workers_per_gather = 2;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SELECT cardinality(array_agg(v)) FROM (SELECT v FROM t WHERE (pg_stat_file('pg_xact/0000')).size >= 0 OFFSET 0) s;
EOT

like($server->sql("$script EXPLAIN SELECT v FROM t WHERE (pg_stat_file('pg_xact/0000')).size >= 0"), qr/Workers Planned: 2/, 'the query has workers');
$server->sql("SELECT pfs.reset('events_waits_summary_global_by_event_name')");
$server->pgbench($script, '-U', 'u1', '-C', '-c', 3, '-t', $runs / 3);
ok($server->poll(q{SELECT (SELECT count(*) FROM pfs.threads WHERE processlist_user = 'u1') + (SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'parallel worker')}, 0),
	'all have gone');
cmp_ok($server->sql(q{SELECT count(*) FROM pfs.events_statements_history_long WHERE parallel_workers > 0}), '>=', $runs / 2, 'most had some');
is($server->sql("SELECT sum(count_star) FROM pfs.events_waits_summary_${_}by_event_name WHERE event_name = '$event'" . (/user|account/ ? " AND user_name = 'u1'" : '')),
	20000 * $runs, "every call is counted: $_")
  foreach 'global_', 'by_account_', 'by_user_', 'by_host_';

# ---- workers of other commands, from 19 on ----

SKIP:
{
	skip 'no such workers', 3 if PfsServer::version() < 19;
	$server->stop;
	$server->conf("autovacuum = on\nautovacuum_naptime = 1\nautovacuum_max_parallel_workers = 2\nmin_parallel_index_scan_size = 0\n"
		  . "autovacuum_vacuum_cost_delay = '50ms'\nwal_level = logical\nmax_repack_replication_slots = 2\n");
	$server->start;
	# Its workers are there for seconds: they nap at every fifth page of the indexes.  Of the table only a part needs a vacuum again.
	$server->sql(q{CREATE TABLE vacuumed (a int PRIMARY KEY, b int, c int) WITH (autovacuum_parallel_workers = 2, autovacuum_vacuum_threshold = 1,
		autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_cost_limit = 5); CREATE INDEX ON vacuumed (b); CREATE INDEX ON vacuumed (c);
		INSERT INTO vacuumed SELECT g, g, g FROM generate_series(1, 100000) g; VACUUM vacuumed; DELETE FROM vacuumed WHERE a BETWEEN 1001 AND 11000});
	is($server->poll(q{SELECT max(w.type || ' ' || l.name || ' ' || l.type) FROM pfs.threads w JOIN pfs.threads l ON l.thread_id = w.parent_thread_id
		WHERE w.name = 'thread/worker/parallel_worker'}, 'BACKGROUND thread/autovacuum_worker BACKGROUND'), 1, 'a parallel worker of autovacuum is in the background, as its leader');
	$server->sql(q{ALTER TABLE vacuumed SET (autovacuum_enabled = off)});

	my $writer = $server->session;
	my $repacker = $server->session;
	my $leader = $repacker->thread_id;
	# It waits for whoever has written, with its worker there.
	$writer->query('BEGIN; UPDATE vacuumed SET b = 0 WHERE a = 1');
	$repacker->send('REPACK (CONCURRENTLY) vacuumed');
	is($server->poll(q{SELECT max(type) FROM pfs.threads WHERE name LIKE 'thread/worker/REPACK%' AND parent_thread_id = } . $leader, 'BACKGROUND'), 1,
		"REPACK's worker has its command as parent");
	is($server->sql("SELECT l.thread_os_id = a.leader_pid FROM pfs.threads w JOIN pfs.threads l ON l.thread_id = w.parent_thread_id
		JOIN pg_stat_activity a ON a.pid = w.thread_os_id WHERE w.name LIKE 'thread/worker/REPACK%'"), 't', 'as pg_stat_activity says');
	$writer->query('COMMIT');
	$repacker->result;
}

done_testing();
