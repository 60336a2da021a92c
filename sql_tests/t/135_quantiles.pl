# Histograms and quantiles of statements against exact ones, computed from the recorded
# times of 100,000 of them: by digest, and of the whole server.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/lib";
use PfsServer;
use Test::More;

my $statements = 100000;
my $server = PfsServer->new('main', conf => <<'EOT');
autovacuum = off
jit = off
compute_query_id = on
pfs.max_sql_text_length = 64
pfs.events_statements_history_long_size = 120000
EOT
$server->start;
$server->sql('CREATE EXTENSION pfs');

# The reader's own statements are not to be counted.
my $reader = $server->session;
$server->sql("SELECT pfs.set_thread(" . $reader->thread_id . ", 'NO')");
$reader->query("SELECT pfs.set_thread(" . $server->{control}->thread_id . ", 'NO')");
# A statement ends behind its answer, perhaps between the resets of two tables.
$reader->query('DO $$ BEGIN WHILE EXISTS (SELECT FROM pfs.events_statements_current WHERE thread_id = '
	  . $server->{control}->thread_id . ') LOOP PERFORM pg_sleep(0.01); END LOOP; END $$');
$reader->query('SELECT pfs.reset()');

# Of one shape, and of lengths from some microseconds to some thousand of them.  Few are long, so that the quantiles lie far
# apart, also where nothing delays a statement.
$server->pgbench(<<'EOT', '-c', 2, '-t', $statements / 2 / 10000);
DO $$ BEGIN FOR i IN 1 .. 10000 LOOP PERFORM count(*) FROM generate_series(1, least(8 * (1 - random()) ^ -0.8, 20000)::int); END LOOP; END $$;
EOT
$server->poll_ended('pgbench');

# What is asked here takes the lengths from a table of their own: they are many.
$reader->query(<<'EOT');
CREATE TEMP TABLE recorded AS SELECT query_id, timer_wait FROM pfs.events_statements_history_long;
CREATE TEMP TABLE digest AS SELECT * FROM pfs.events_statements_summary_by_digest WHERE digest_text LIKE 'SELECT count(*) FROM generate_series(%';
CREATE TEMP TABLE one AS SELECT timer_wait FROM recorded JOIN digest USING (query_id);
CREATE TEMP TABLE ranges AS SELECT h.* FROM pfs.events_statements_histogram_by_digest h JOIN digest USING (database_name, user_name, query_id);
CREATE TEMP TABLE ranges_of_all AS SELECT * FROM pfs.events_statements_histogram_global;
ANALYZE
EOT
is($reader->query('SELECT count(*), count(timer_wait), count(DISTINCT timer_wait) > 1000 FROM one'), "$statements|$statements|t", 'all statements are recorded, of many lengths');
is($reader->query('SELECT count(*), sum(count_star) FROM digest'), "1|$statements", 'and have one shape');
is($reader->query('SELECT abs(sum_timer_wait - (SELECT sum(timer_wait) FROM one)) <= count_star FROM digest'), 't', 'the sum is that of the lengths');
cmp_ok($reader->query('SELECT count(*) FROM ranges'), '>', 12, 'they fall into many ranges');

# A recorded length is the difference of two rounded times: it may be 1 ps beside the one
# that was counted, of which the next is hundreds away.  So each range is known exactly.
foreach my $histogram ([ 'by digest', 'ranges', 'one' ], [ 'of the server', 'ranges_of_all', 'recorded' ])
{
	my ($name, $ranges, $lengths) = @$histogram;

	is($reader->query("SELECT sum(count_bucket) = (SELECT count(*) FROM $lengths), max(count_bucket_and_lower) = (SELECT count(*) FROM $lengths), max(bucket_quantile) FROM $ranges"),
		't|t|1', "$name: the histogram has each of them once");
	is($reader->query("SELECT bucket_number, count_bucket, n FROM $ranges FULL JOIN (SELECT bucket_number, count(*) AS n FROM $lengths LEFT JOIN $ranges
		ON timer_wait + 1 >= bucket_timer_low AND timer_wait + 1 < coalesce(bucket_timer_high, 'infinity') GROUP BY 1) l USING (bucket_number)
		WHERE count_bucket IS DISTINCT FROM n"), '', "$name: each range has those that lie in it");
	is($reader->query("SELECT bucket_number, count_bucket_and_lower, bucket_quantile FROM (SELECT *, sum(count_bucket) OVER (ORDER BY bucket_number) AS so_far, sum(count_bucket) OVER () AS total FROM $ranges) r
		WHERE count_bucket_and_lower <> so_far OR abs(bucket_quantile - so_far / total) > 1e-12"), '', "$name: and those below");
	is($reader->query("SELECT bucket_number FROM $ranges WHERE bucket_timer_high > bucket_timer_low * 1.19"), '', "$name: no range is wider than it says");
}

my $exact = <<'EOT';
	WITH exact AS (SELECT q, (SELECT percentile_disc(q) WITHIN GROUP (ORDER BY timer_wait) FROM one) AS value, CASE q WHEN 0.95 THEN quantile_95 WHEN 0.99 THEN quantile_99 ELSE quantile_999 END AS shown,
		max_timer_wait FROM digest, unnest(ARRAY[0.95, 0.99, 0.999]::float8[]) q)
EOT

is($reader->query("$exact SELECT q, value, shown FROM exact WHERE shown NOT BETWEEN value - 1 AND value * 1.19 + 1"), '', 'quantiles are at most 19 % above the exact ones, and never below');
is($reader->query("$exact SELECT q, value, shown, bucket_timer_high FROM exact LEFT JOIN ranges ON value + 1 >= bucket_timer_low AND value + 1 < bucket_timer_high
	WHERE shown IS DISTINCT FROM least(bucket_timer_high, max_timer_wait)"), '', 'they are the upper bounds of the ranges in which those lie');
is($reader->query("$exact SELECT count(DISTINCT shown), min(shown) > 0 FROM exact"), '3|t', 'and three different ones');

done_testing();
