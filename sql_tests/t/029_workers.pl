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

done_testing();
