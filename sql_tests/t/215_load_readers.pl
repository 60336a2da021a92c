# The load history while it is written as fast as can be: readers see no torn period, and no
# sum that is not that of the period; TRUNCATE leaves nothing of what was before.  Rings of
# one period, and none.  Texts outlive their digests, the latest 4,096.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/lib";
use PfsServer;
use Test::More;

my $server = PfsServer->new('main', preload => 'pfs,' . test_module('pfs_test_load'), conf => <<'EOT');
pfs.load_history_interval = 0
pfs.load_history_seconds = 50
pfs.load_history_minutes = 1
pfs.load_history_ten_minutes = 0
pfs.digests_size = 6000
autovacuum = off
compute_query_id = on
EOT
$server->start;
$server->sql('CREATE EXTENSION pfs');
$server->sql(test_functions('pfs_test_load'));

# ---- readers against a writer ----

# Second k has k % 40 rows of k + 1, k + 2 and so on; a minute is 60 of these.
my $wrong = <<'EOT';
WITH periods AS (
	SELECT resolution, period_start, period_end, sum(sum_timer_wait) AS time, sum(count_star) AS count, count(*) AS rows,
		(extract(epoch FROM period_start) - 978307200)::bigint AS k
	FROM pfs.load_history GROUP BY 1, 2, 3
)
SELECT count(*), coalesce(string_agg(p::text, '; ') FILTER (WHERE time <> (
		SELECT sum(i % 40 * i + (i % 40) * (i % 40 + 1) / 2) FROM generate_series(k, k + extract(epoch FROM resolution)::int - 1) i)
	OR count <> (SELECT sum(i % 40) FROM generate_series(k, k + extract(epoch FROM resolution)::int - 1) i)
	OR period_end - period_start <> resolution OR rows > 34), '')
FROM periods p
EOT
my $writer = $server->session;
my @readers = map { $server->session } 1 .. 2;
my ($reads, $periods, $truncations, $first) = (0, 0, 0, 0);

# As often as it takes for something to be read beside it.
while ($reads < 60 || $truncations < 5)
{
	# Minutes begin at whole ones.
	$writer->send("SELECT load_run($first, 12000)");
	$first += 12000;
	until ($writer->is_done)
	{
		$_->send($wrong) foreach @readers;
		if ($reads % 7 == 3)
		{
			my $before = $server->sql(q{SELECT max(period_start) FROM pfs.load_history WHERE resolution = '1 s'});

			$server->sql('TRUNCATE pfs.load_history');
			$truncations++;
			my $left = $before eq '' ? 0 : $server->sql("SELECT count(*) FROM pfs.load_history WHERE resolution = '1 s' AND period_start <= '$before'");
			is($left, 0, "nothing is left of what was before TRUNCATE $truncations") if $left ne '0' || $truncations == 1;
		}
		foreach (@readers)
		{
			my ($n, $found) = split /\|/, $_->result, -1;

			# A minute in the middle of which a TRUNCATE was begins later, and is shorter.
			$found = join '; ', grep { !/^\(00:01:00/ } split /; /, $found if $truncations > 0;
			is($found, '', 'what a reader sees is whole') or $reads += 1000 if $found ne '';
			$periods += $n;
			$reads++;
		}
	}
	$writer->result;
}
# Behind the last TRUNCATE.
$writer->query("SELECT load_run($first, 12000)");
$first += 12000;
cmp_ok($periods, '>', $reads, "$reads readings of $periods periods in all, $truncations TRUNCATEs");
is($server->sql(q{SELECT count(DISTINCT period_start), (max(extract(epoch FROM period_end)) - 978307200)::bigint FROM pfs.load_history WHERE resolution = '1 s'}),
	"50|$first", 'the newest 50 seconds are there');
is($server->sql(q{SELECT count(DISTINCT period_start), (max(extract(epoch FROM period_end)) - 978307200)::bigint FROM pfs.load_history WHERE resolution = '1 min'}),
	"1|$first", 'the last minute');
is($server->sql(q{SELECT count(*) FROM pfs.load_history WHERE resolution = '10 min'}), 0, 'ten minutes are off');
is($server->sql(q{SELECT string_agg(name || ' ' || (bytes_reserved > 0), ', ' ORDER BY name) FROM pfs.containers WHERE name LIKE 'load_history%'}),
	'load_history_minutes true, load_history_seconds true, load_history_ten_minutes false', 'and have no memory');
is($server->sql(q{SELECT sum(records_lost) FROM pfs.containers WHERE name LIKE 'load%'}), 0, 'nothing went before its time');

# ---- sums of more rows than are kept apart: totals are exact ----

$writer->query('TRUNCATE pfs.load_history');
$writer->query("SELECT load_many('2002-01-01 00:00:00+00'::timestamptz + i * interval '1 s', 50000, i * 40000) FROM generate_series(0, 3) i; SELECT load_end()");
is($server->sql(q{SELECT resolution, sum(count_star), sum(sum_timer_wait), max(sum_timer_wait) FILTER (WHERE event_name IS NOT NULL) FROM pfs.load_history GROUP BY 1 ORDER BY 1}),
	"00:00:01|200000|5000100000|50000\n00:01:00|200000|5000100000|60000", 'totals are exact, and the largest are found');

# ---- texts ----

$server->sql(q{SELECT pfs.reset('events_statements_summary_by_digest')});
$server->sql(<<'EOT');
DO $$ BEGIN
	-- thirteen operators, by the number's bits
	FOR i IN 1 .. 4200 LOOP EXECUTE 'SELECT 0 ' || regexp_replace(translate(i::bit(13)::text, '01', '+-'), '(.)', ' \1 1', 'g'); END LOOP;
END $$
EOT
my $texts = $server->sql(<<'EOT');
CREATE TABLE named AS SELECT query_id, digest_text, row_number() OVER (ORDER BY query_id) - 1 AS n, d.oid AS db, r.oid AS role
FROM pfs.events_statements_summary_by_digest s JOIN pg_database d ON datname = database_name JOIN pg_roles r ON rolname = user_name
WHERE digest_text ~ '^SELECT \$1 +[-+] \$2 ';
SELECT count(*), count(DISTINCT digest_text) FROM named
EOT
is($texts, '4200|4200', 'digests with their texts');

# Names them, 32 in each period, one after the other; none follows on another, or the minute would name some of them again.
sub name_all
{
	my ($from, $to) = @_;
	$writer->query(q{SELECT load_keep('2003-01-01 00:00:00+00'::timestamptz + p * interval '1 s', '2003-01-01 00:00:01+00'::timestamptz + p * interval '1 s', 1000000000000, false,
	ARRAY(SELECT format('FOREGROUND|CPU|cpu|%s|%s|%s|1|1000|0', db, role, query_id) FROM named WHERE n / 32 = p)) FROM } . "generate_series($from, $to) p");
}
name_all(0, 131);
$server->sql(q{SELECT pfs.reset('events_statements_summary_by_digest')});
is($server->sql(q{SELECT count(*) FROM pfs.events_statements_summary_by_digest WHERE digest_text ~ '^SELECT \$1 +[-+] \$2 '}), 0, 'the digests are gone');
my $known = q{SELECT count(*), count(h.digest_text), bool_and(h.digest_text = named.digest_text) FROM pfs.load_history h JOIN named USING (query_id) WHERE resolution = '1 s'};
is($server->sql($known), '1576|1576|t', 'the texts of the newest 50 periods are known');
# Those of the first periods went when others came; they are named, and stay unknown.  Of the texts that one period
# names it does not matter which go first.
name_all(0, 49);
is($server->sql($known), '1600|1496|t', 'the oldest 104 texts are not');
is($server->sql(q{SELECT count(*) FROM pfs.load_history h JOIN named USING (query_id) WHERE resolution = '1 s' AND h.digest_text IS NULL AND n >= 128}), 0,
	'and no others');
my $plain = $server->session;
$server->sql('CREATE ROLE reader; GRANT USAGE ON SCHEMA pfs TO reader; GRANT SELECT ON pfs.load_history TO reader');
is($plain->query('SET ROLE reader; SELECT count(query_id), count(digest_text), count(user_name) > 0 FROM pfs.load_history'), '0|0|t', 'texts of others are hidden');

done_testing();
