# Rows that logical replication brings: the apply worker and the workers that copy tables count
# them as sessions do, and a standby counts what is read there.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/lib";
use PfsServer;
use Test::More;

my $instruments = "autovacuum = off\npfs.instruments = 'wait/io/table/handler=ON'\n";
my $publisher = PfsServer->new('publisher', conf => $instruments);
my $subscriber = PfsServer->new('subscriber', conf => $instruments);

$publisher->conf('wal_level = logical');
foreach my $server ($publisher, $subscriber)
{
	$server->start;
	$server->sql('CREATE EXTENSION pfs; CREATE TABLE t (id int PRIMARY KEY, v text); CREATE TABLE whole (id int, v text); ALTER TABLE whole REPLICA IDENTITY FULL');
}
$publisher->sql(q{INSERT INTO t SELECT g, 'v' FROM generate_series(1, 1000) g; CREATE PUBLICATION p FOR TABLE t, whole});
$subscriber->sql(q{CREATE SUBSCRIPTION s CONNECTION '} . $publisher->connstr . q{' PUBLICATION p});

my $ours = q{SELECT object_name, count_fetch, count_insert, count_update, count_delete FROM pfs.table_io_waits_summary_by_table
	WHERE object_name IN ('t', 'whole') ORDER BY 1};
my $theirs = q{SET stats_fetch_consistency = none; SELECT relname, seq_tup_read + coalesce(idx_tup_fetch, 0), n_tup_ins, n_tup_upd, n_tup_del
	FROM pg_stat_user_tables ORDER BY 1};

ok($subscriber->poll(q{SELECT count(*) FROM pg_subscription_rel WHERE srsubstate = 'r'}, 2), 'the tables were copied');
is($subscriber->sql(q{SELECT count_insert FROM pfs.table_io_waits_summary_by_table WHERE object_name = 't'}), 1000, 'and their rows are counted');
$publisher->sql(q{INSERT INTO t SELECT g, 'w' FROM generate_series(1001, 1100) g; INSERT INTO whole SELECT g, 'w' FROM generate_series(1, 10) g});
$publisher->sql(q{UPDATE t SET v = 'x' WHERE id <= 50; DELETE FROM t WHERE id > 1090; UPDATE whole SET v = 'x' WHERE id = 10; TRUNCATE whole});
ok($subscriber->poll(q{SELECT count(*) || ' ' || count(*) FILTER (WHERE v = 'x') || ' ' || (SELECT count(*) FROM whole) FROM t}, '1090 50 0'), 'changes arrive');
# Others see what a transaction has done a moment before its process ends its runs.
ok($subscriber->poll(q{SELECT count(*) FROM pfs.events_waits_current WHERE event_name = 'wait/io/table/handler' AND thread_id <> pfs.thread_id()}, 0),
	'no run of the worker is left');
ok($subscriber->poll(q{SELECT string_agg(object_name || ' ' || count_insert || ' ' || count_update || ' ' || count_delete, ', ' ORDER BY object_name)
	FROM pfs.table_io_waits_summary_by_table WHERE object_name IN ('t', 'whole')}, 't 1100 50 10, whole 10 1 0'), 'they are counted');
$subscriber->sql('ALTER SUBSCRIPTION s DISABLE');
ok($subscriber->poll(q{SELECT count(*) FROM pg_stat_activity WHERE backend_type LIKE 'logical replication%worker%' OR backend_type LIKE '%apply%'}, 0),
	'the worker ends');
$subscriber->sql('SELECT pg_stat_force_next_flush()');
ok($subscriber->poll("SELECT (SELECT string_agg(o::text, ' ' ORDER BY o::text) FROM ($ours) o) = (SELECT string_agg(s::text, ' ' ORDER BY s::text) FROM ("
		  . ($theirs =~ s/SET.*?; //r) . ') s)', 't'), 'every number is the same')
  or diag($subscriber->sql($ours), "\n", $subscriber->sql($theirs));
$subscriber->sql('ALTER SUBSCRIPTION s SET (slot_name = NONE); DROP SUBSCRIPTION s');

# ---- a standby ----

my $backup = PfsServer::folder() . '/backup';

PfsServer::run_ok(PfsServer::bindir() . '/pg_basebackup', '-d', $publisher->connstr, '-D', $backup, '-R', '-c', 'fast', '--no-sync');
my $standby = PfsServer->new('standby', from => $backup);

$standby->start;
$standby->sql('SET enable_indexonlyscan = off; SET enable_bitmapscan = off; SET enable_indexscan = off; SELECT count(v) FROM t');
$standby->sql('RESET ALL; SET enable_seqscan = off; SET enable_bitmapscan = off; SELECT count(v) FROM t WHERE id <= 10');
is($standby->sql(q{SELECT count_fetch, count_insert FROM pfs.table_io_waits_summary_by_table WHERE object_name = 't'}), '1100|0', 'a standby counts what is read there');
$standby->sql('SELECT count(*) FROM whole');
is($standby->sql(q{SELECT count(*) FROM pfs.table_io_waits_summary_by_table WHERE object_name = 'whole'}), 1, 'each table has a row');
my $before = $publisher->sql('DROP TABLE whole; SELECT pg_current_wal_lsn()');

ok($standby->poll("SELECT pg_last_wal_replay_lsn() >= '$before'"), 'a table is dropped on the primary');
is($standby->sql(q{SELECT count(*) FROM pfs.table_io_waits_summary_by_table WHERE object_name = 'whole'}), 0, 'and has no row there');
done_testing();
