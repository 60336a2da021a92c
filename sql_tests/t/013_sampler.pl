# A sampler in SQL: twenty times a second what every session waits for goes into
# a table.  Its shares agree with those of the exact times.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/lib";
use PfsServer;
use Test::More;

my $seconds = $ENV{PFS_SAMPLER_SECONDS} // 12;
my $server = PfsServer->new('main', conf => <<'EOT');
pfs.events_waits_history_long_size = 300000
autovacuum = off
EOT
$server->start;
$server->sql('CREATE EXTENSION pfs');
$server->sql(<<'EOT');
CREATE UNLOGGED TABLE ash (at timestamptz, thread_id bigint, event_name text, so_far numeric);
CREATE TABLE hot AS SELECT g AS id, 0 AS n FROM generate_series(1, 2) g;
EOT

# Waits of some kinds, each with a share that can be told from the others'.
my $load = $server->pgbench_start(<<'EOT', '-c', 6, '-j', 1, '-T', $seconds + 8);
\set id random(1, 2)
\set ms random(1, 20)
BEGIN;
UPDATE hot SET n = n + 1 WHERE id = :id;
SELECT pg_sleep(:ms / 1000.0);
\sleep :ms ms
END;
\sleep 10 ms
EOT
# Besides these pgbench has had a connection that ran nothing, whose process may just be ending.
$server->poll(q{SELECT count(*) = 6 AND bool_and(query <> '') AND (SELECT count(*) FROM pfs.threads WHERE application_name = 'pgbench') = 6
	FROM pg_stat_activity WHERE application_name = 'pgbench'});

my $sampler = $server->session(name => 'sampler');
my $since = $server->sql('SELECT pfs.timer_now()');

$sampler->send(<<"EOT");
DO \$\$
DECLARE
	until timestamptz := clock_timestamp() + interval '$seconds s';
BEGIN
	WHILE clock_timestamp() < until LOOP
		INSERT INTO ash
		SELECT clock_timestamp(), t.thread_id, w.event_name, pfs.timer_now() - w.timer_start
		  FROM pfs.threads t LEFT JOIN pfs.events_waits_current w ON w.thread_id = t.thread_id AND w.nesting_event_type IS DISTINCT FROM 'WAIT'
		 WHERE t.application_name = 'pgbench';
		COMMIT;
		PERFORM pg_sleep(0.05);
	END LOOP;
END \$\$
EOT
$sampler->result;
is($sampler->last_error, '', 'the sampler had no error');
my $until = $server->sql('SELECT pfs.timer_now()');

# Before the sessions end: who they are is needed for the join.  What runs comes first: it may end before the history
# is read, and is in both then.
$server->sql(<<"EOT");
CREATE TABLE exact AS
SELECT DISTINCT ON (thread_id, event_id) thread_id, event_name, timer_start, timer_end FROM
	(SELECT thread_id, event_id, event_name, timer_start, pfs.timer_now() AS timer_end FROM pfs.events_waits_current WHERE nesting_event_type IS DISTINCT FROM 'WAIT'
	 UNION ALL
	 SELECT thread_id, event_id, event_name, timer_start, timer_end FROM pfs.events_waits_history_long WHERE nesting_event_type IS DISTINCT FROM 'WAIT') e
 WHERE timer_end > $since AND timer_start < $until AND thread_id IN (SELECT thread_id FROM ash)
EOT
$server->pgbench_end($load);

my ($samples, $times, $threads) = split /\|/,
  $server->sql('SELECT count(*), count(DISTINCT at), count(DISTINCT thread_id) FROM ash');
cmp_ok($times, '>', $seconds * 8, 'many samples were taken');
is($threads, 6, 'of all sessions');
is($server->sql("SELECT min(timer_start) < $since FROM pfs.events_waits_history_long"), 't', 'the long history covers the time');
is($server->sql('SELECT count(*) FROM ash WHERE so_far < 0'), 0, 'no wait began after it was seen');

# The states of six sessions at n moments.  Between moments 50 ms apart, waits of
# some 10 ms are all but independent; sessions are not (one lock), so count the
# moments only: 4 standard deviations of a share p are 4 * sqrt(p (1 - p) / n).
# While the sampler has lost its processor it sees nothing, and whoever has lost his, too,
# goes on with what he did: that share of the time can be anything.
my $unseen = $server->sql(<<"EOT");
SELECT round(sum(greatest(gap - 0.1, 0)) / (($until - $since) / 1e12), 4) FROM
	(SELECT extract(epoch FROM at - lag(at) OVER (ORDER BY at)) AS gap FROM
		(SELECT at FROM ash UNION ALL SELECT pfs.timer_to_timestamp($since) UNION ALL SELECT pfs.timer_to_timestamp($until)) m) g
EOT
foreach my $line (split /\n/, $server->sql(<<"EOT"))
WITH sampled AS (SELECT coalesce(event_name, 'none') AS event_name, count(*) / $samples.0 AS share FROM ash GROUP BY 1),
     timed AS (SELECT event_name, sum(least(timer_end, $until) - greatest(timer_start, $since)) / (6.0 * ($until - $since)) AS share
                 FROM exact GROUP BY 1)
SELECT event_name, round(coalesce(sampled.share, 0), 4), round(coalesce(timed.share, 0), 4)
  FROM sampled FULL JOIN timed USING (event_name)
 WHERE event_name <> 'none' AND greatest(sampled.share, timed.share) > 0.02 ORDER BY 3 DESC
EOT
{
	my ($name, $sampled, $timed) = split /\|/, $line;
	my $tolerance = 0.005 + $unseen + 4 * sqrt($timed * (1 - $timed) / $times);

	between($sampled, $timed - $tolerance, $timed + $tolerance, "$name: $timed of the time, $sampled of the samples");
}
my @names = split /\n/, $server->sql('SELECT DISTINCT event_name FROM exact');
foreach my $name ('idle', 'idle/transaction', 'wait/timeout/PgSleep', 'wait/lock/transactionid')
{
	ok((grep { $_ eq $name } @names) == 1, "$name is among the waits");
}
# Nobody waits longer than there is time.
is($server->sql("SELECT count(*) FROM (SELECT sum(least(timer_end, $until) - greatest(timer_start, $since)) AS waited FROM exact"
	  . " GROUP BY thread_id) e WHERE waited > 1.0001 * ($until - $since)"), 0, 'the waits of a session add up to no more than the time');

done_testing();
