# A history of many periods is read in little memory: what is beyond work_mem goes to a temporary file.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/lib";
use PfsServer;
use Test::More;

# 20,000 periods, of twenty rows on average.
my $server = PfsServer->new('main', preload => 'pfs,' . test_module('pfs_test_load'), conf => <<'EOT');
fsync = off
pfs.save = off
pfs.load_history_interval = 0
pfs.load_history_seconds = 20000
EOT
$server->start;
$server->sql('CREATE EXTENSION pfs');
$server->sql(test_functions('pfs_test_load'));
my $writer = $server->session;
$writer->query('SELECT load_run(0, 20000)');
$writer->close;

my $rows = $server->sql('SELECT count(*) FROM pfs.load_history');
cmp_ok($rows, '>', 250_000, 'there is something to read');

# What a scan has in memory while it returns rows: its rows and its buffered file, and the names and texts below.
my $memory = q{SELECT coalesce(sum(total_bytes), 0) FROM pg_backend_memory_contexts
	WHERE name IN ('pfs scan', 'pfs row', 'pfs load names', 'pfs load statements', 'pfs load texts')};
my $all = q{SELECT count(*), sum(count_star), sum(sum_timer_wait), min(period_start), max(period_end), count(DISTINCT period_start) FROM pfs.load_history};
my $reader = $server->session;

sub memory_of_a_scan
{
	my ($query) = @_;

	$reader->query('BEGIN');
	$reader->query("DECLARE c CURSOR FOR $query");
	$reader->query('FETCH 1 FROM c');
	my $at_first = $reader->query($memory);
	$reader->query("MOVE FORWARD 200000 FROM c");
	my $later = $reader->query($memory);
	$reader->query('COMMIT');
	return $at_first > $later ? $at_first : $later;
}

$reader->query("SET work_mem = '1GB'");
my $whole = $reader->query($all);
cmp_ok(memory_of_a_scan('SELECT * FROM pfs.load_history'), '>', 100 * $rows, 'with enough work_mem all rows are in memory');
$reader->query("SET work_mem = '1MB'");
is($reader->query($all), $whole, 'with little work_mem they are the same');
cmp_ok(memory_of_a_scan('SELECT * FROM pfs.load_history'), '<', 4 * 1024 * 1024, 'and are not in memory');
is($server->sql("SELECT count(*) FROM pg_ls_tmpdir()"), 0, 'no temporary file is left');

# So is what says which periods tell of a time.
my $periods = q{SELECT count(*), sum(length) FROM pfs_sys.load_periods('2001-01-01', '2001-01-02')};
my $of_periods = $reader->query($periods);
like($of_periods, qr/^20000\|/, 'all periods tell of the time');
$reader->query("SET work_mem = '64kB'");
is($reader->query($periods), $of_periods, 'with a file, too');
$reader->query("SET work_mem = '1MB'");

# Read again for each row of another table, and backwards in the middle.
$reader->query('SET enable_material = off; SET enable_hashjoin = off; SET enable_mergejoin = off');
is($reader->query(q{SELECT n, count(*), sum(sum_timer_wait) FROM generate_series(1, 3) n LEFT JOIN pfs.load_history ON count_star >= n - n GROUP BY n ORDER BY n}),
	join("\n", map { join '|', $_, (split /\|/, $whole)[ 0, 2 ] } 1 .. 3), 'a scan that is repeated has the same rows each time');

# The file belongs to the cursor: a subtransaction that was the first to fetch from it takes nothing away, and what is
# held behind the transaction has all rows.
my $fetched = q{DO $$DECLARE c refcursor := 'c'; n bigint := 1; r record; BEGIN LOOP FETCH c INTO r; EXIT WHEN NOT FOUND; n := n + 1; END LOOP; PERFORM set_config('x.n', n::text, false); END$$};
for my $end ('ROLLBACK TO s', 'RELEASE s')
{
	$reader->query('BEGIN');
	$reader->query('DECLARE c CURSOR FOR SELECT * FROM pfs.load_history');
	$reader->query('SAVEPOINT s');
	$reader->query('FETCH 1 FROM c');
	$reader->query($end);
	$reader->query($fetched);
	is($reader->query(q{SELECT current_setting('x.n')}), $rows, "all rows after $end");
	$reader->query('COMMIT');
}
$reader->query('BEGIN');
$reader->query('DECLARE c CURSOR WITH HOLD FOR SELECT * FROM pfs.load_history');
$reader->query('FETCH 1 FROM c');
$reader->query('COMMIT');
$reader->query($fetched);
is($reader->query(q{SELECT current_setting('x.n')}), $rows, 'all rows of a cursor that is held');
$reader->query('CLOSE c');

# A scan that ends early, or with an error, leaves nothing either.
is($reader->query('SELECT count(*) FROM (SELECT * FROM pfs.load_history LIMIT 10) l'), 10, 'some of them');
$server->fails('SELECT 1 / (count_star - count_star) FROM pfs.load_history', '22012', qr/division by zero/, 'an error in the middle');
is($server->sql("SELECT count(*) FROM pg_ls_tmpdir()"), 0, 'no temporary file is left behind these');

done_testing();
