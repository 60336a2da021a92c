# Variables that only the postmaster sets (PFS_FIXED) lie on pages of which no process has
# a copy: here each of its children that writes there ends by a signal.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/lib";
use PfsServer;
use Test::More;

my $module = test_module('pfs_test_stop');
my $server = PfsServer->new('main', preload => "pfs, $module", conf => <<'EOT');
pfs_test.protect_fixed = on
pfs.instruments = '%=ON'
pfs.lwlock_events = all
autovacuum_naptime = 1
max_parallel_workers_per_gather = 2
min_parallel_table_scan_size = 0
parallel_setup_cost = 0
parallel_tuple_cost = 0
EOT

# Of the library's variables one page or more is for reading only, between others that are not.
sub protected
{
	my ($pid) = @_;

	open my $maps, '<', "/proc/$pid/maps" or return 1;	# it has ended
	my $flags = join ' ', map { m{^\S+ (\S{4}) .*/pfs\.so$} ? $1 : () } <$maps>;

	return $flags =~ /rw-p r--p rw-p/;
}

$server->start;
$server->sql('CREATE EXTENSION pfs');
$server->sql(test_functions('pfs_test_stop'));

# What a process does for the first time: statements of each kind, errors, files, workers, resets.
my $session = $server->session;

$session->query("CREATE TABLE t AS SELECT i, repeat('x', 100) AS x FROM generate_series(1, 20000) i");
is($session->query('SELECT count(*) FROM t WHERE i > 10'), 19990, 'a query with workers');
is($session->query('PREPARE p(int) AS SELECT i FROM t WHERE i = $1; EXECUTE p(3)'), 3, 'a prepared statement');
$session->query('BEGIN; DECLARE c CURSOR FOR SELECT i FROM t; FETCH 3 FROM c; SAVEPOINT s; ROLLBACK TO s; COMMIT');
$session->query('DO $$ BEGIN PERFORM 1 / 0; EXCEPTION WHEN division_by_zero THEN NULL; END $$');
$session->send('SELECT 1 / 0')->result;
like($session->last_error, qr/division by zero/, 'an error');
$session->query("SET work_mem = '64kB'; SELECT count(*) FROM (SELECT DISTINCT x || i FROM t) s; COPY t TO '/dev/null'");
$session->query('CREATE INDEX ON t (i)');
$session->query('VACUUM ANALYZE t');
$session->query('CHECKPOINT');
$session->query("UPDATE pfs.setup_instruments SET timed = 'NO' WHERE name LIKE 'wait/%'; SELECT pg_sleep(0.01)");
$session->query("UPDATE pfs.setup_instruments SET enabled = 'NO' WHERE name LIKE 'memory/%'");
$session->query("SELECT pfs.reset('events_waits_summary_global_by_event_name'); SELECT count(*) FROM pfs.events_statements_history_long");
$server->session->query('SELECT 1') foreach 1 .. 3;
$server->sql('DELETE FROM t');
ok($server->poll("SELECT autovacuum_count > 0 FROM pg_stat_all_tables WHERE relname = 't'"), 'an autovacuum worker was there');
$server->sql(q{SELECT pg_switch_wal()});
unlike($server->log_text, qr/terminated by signal/, 'no process was ended by a signal');
# Every process has the page so.
my @all = split /\n/, $server->sql(q{SELECT pid FROM pg_stat_activity});

cmp_ok(scalar(@all), '>=', 5, 'there are some processes');
# Of one that ends meanwhile not all pages are read, or none; then it is not listed any more.
my $bare = join(', ', grep { !protected($_) } @all);

is($server->sql("SELECT string_agg(pid::text, ' ') FROM pg_stat_activity WHERE pid = ANY ('{$bare}')"), '', 'each of them was protected');

# It would be.
$server->mark_log;
$server->session->send('SELECT write_fixed()');
ok($server->wait_log(qr/terminated by signal 11/), 'one that writes is');
done_testing();
