# The load history against every single event: the long histories have all of them, and the
# test puts them into periods by itself.
#
# The session that asks is not instrumented, so the server does nothing between the loads:
# what the history has from one idle moment to another is all that has happened.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/lib";
use PfsLoad;
use PfsServer;
use Test::More;
use Time::HiRes qw(sleep);

# Nobody needs the snapshots of running transactions that the server otherwise writes every 15 seconds: over the
# begin or the end of a span, perhaps.
my $server = PfsServer->new('main', conf => <<"EOT");
autovacuum = off
wal_level = minimal
max_wal_senders = 0
max_parallel_workers_per_gather = 0
pfs.events_waits_history_long_size = 400000
pfs.events_statements_history_long_size = 100000
EOT
$server->start;
$server->sql('CREATE EXTENSION pfs');
$server->sql('CREATE ROLE app LOGIN SUPERUSER');
$server->sql('CREATE TABLE queue (id int PRIMARY KEY, n int); INSERT INTO queue SELECT i, 0 FROM generate_series(1, 100) i');
$server->sql(<<'EOT');
CREATE FUNCTION inner_sleep(double precision) RETURNS void LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep($1); END $$;
CREATE FUNCTION outer_sleep(double precision) RETURNS void LANGUAGE plpgsql AS $$
BEGIN PERFORM inner_sleep($1); PERFORM pg_sleep($1); UPDATE queue SET n = n + 1 WHERE id > 50; END $$;
CREATE FUNCTION burn(seconds double precision) RETURNS void LANGUAGE plpgsql AS $$
DECLARE till timestamptz := clock_timestamp() + seconds * interval '1 s';
BEGIN WHILE clock_timestamp() < till LOOP END LOOP; END $$;
EOT
$server->sql("UPDATE pfs.threads SET instrumented = 'NO', history = 'NO' WHERE thread_id = pfs.thread_id()");

# ---- waits over several periods, of all kinds, known digests ----

my $begin = load_idle($server);
my @sessions = map { $server->session(user => 'app') } 1 .. 8;

$sessions[0]->query('BEGIN; UPDATE queue SET n = n + 1 WHERE id = 1');
$sessions[1]->send('UPDATE queue SET n = n - 1 WHERE id = 1');
$sessions[2]->send('SELECT pg_sleep(3.3)');
$sessions[3]->send('SELECT outer_sleep(1.2)');
$sessions[4]->send('SELECT burn(2.5)');
$sessions[5]->send('BEGIN; DECLARE c CURSOR FOR SELECT pg_sleep(0.4), i FROM generate_series(1, 4) i; FETCH 1 FROM c; SELECT pg_sleep(1.1); FETCH 1 FROM c; COMMIT');
$sessions[6]->send('SELECT 1; SELECT 1 / 0; SELECT nothing; SELEC; SELECT pg_sleep(0.2)');
# Waits for its relation before anybody knows its query identifier.
$sessions[2]->result;
my $blocked = $server->session(user => 'app');
$sessions[7]->query('BEGIN; CREATE TABLE other (i int); LOCK TABLE pg_description IN ACCESS EXCLUSIVE MODE');
$blocked->send('SELECT count(objoid) FROM pg_description');
$server->poll("SELECT count(*) FROM pg_stat_activity WHERE usename = 'app' AND wait_event_type = 'Lock' AND wait_event = 'relation'", 1);
my $since = $server->sql('SELECT clock_timestamp()');
$server->poll("SELECT count(DISTINCT period_start) >= 2 FROM pfs.load_history WHERE resolution <= '1 s' AND period_start > '$since'");
$sessions[7]->query('ROLLBACK');
$blocked->result;
$blocked->close;
$sessions[0]->query('COMMIT');
$_->result foreach @sessions;
$_->close foreach @sessions;
load_settle($server);
my $end = load_idle($server);
load_events($server, 'quiet', $begin, $end);
load_no_losses($server, 'quiet');
load_compare_all($server, 'quiet');

# Each statement's waits belong to it.
foreach my $q (split /\n/, $server->sql("SELECT DISTINCT query_id FROM quiet WHERE kind = 'wait' AND inside AND query_id IS NOT NULL"
		  . " AND event_name ~ '^wait/(lock|timeout)/' AND timer_wait > 1e11"))
{
	load_compare($server, 'quiet', "query_id = $q AND event_name ~ '^wait/(lock|timeout)/'",
		"kind = 'wait' AND query_id = $q AND event_name ~ '^wait/(lock|timeout)/'", 'timer_wait', "the waits of statement $q")
	  unless $server->sql("SELECT bool_or(sql_text LIKE '%pg_description%') FROM pfs.events_statements_history_long WHERE query_id = $q") eq 't';
}

# What is recorded until the end of a period is what the waits have until then, by what the readings of clocks can be apart
# here.  But one that is over when it is read counts as a whole, and it is read before the next period ends.  A small part
# may be among the others of its period.
my $slack = "'0.4 s'::interval";
is($server->sql(<<"EOT"), '', 'each period has its part of the waits');
WITH periods AS (
	SELECT e, lead(e, 1, e) OVER (ORDER BY e) AS next FROM (SELECT DISTINCT period_end AS e FROM quiet_rows) p
), waits AS (
	SELECT event_name, pfs.timer_to_timestamp(timer_start) AS s, pfs.timer_to_timestamp(timer_end) AS e FROM quiet
	WHERE event_name ~ '^wait/(lock|timeout)/' AND inside
), sums AS (
	SELECT p.e, event_name,
		sum(greatest(extract(epoch FROM least(w.e, p.e - $slack) - w.s), 0)) AS least,
		sum(greatest(extract(epoch FROM CASE WHEN w.e <= p.next + $slack THEN w.e ELSE p.e + $slack END - w.s), 0)) AS most
	FROM periods p CROSS JOIN waits w GROUP BY 1, 2
), recorded AS (
	SELECT sums.*, (SELECT coalesce(sum(sum_timer_wait), 0) / 1e12 FROM quiet_rows r
			WHERE type = 'FOREGROUND' AND r.event_name = sums.event_name AND period_end <= e) AS named,
		(SELECT coalesce(sum(sum_timer_wait), 0) / 1e12 FROM quiet_rows r
			WHERE type = 'FOREGROUND' AND r.event_name IS NULL AND sums.event_name LIKE 'wait/' || lower(wait_event_type) || '/%' AND period_end <= e) AS others
	FROM sums
)
SELECT * FROM recorded WHERE named + others < least - 0.001 OR named > most + 0.001
EOT
is($server->sql("SELECT count(DISTINCT period_start) >= 2 FROM quiet_rows WHERE wait_event_type = 'Lock' AND query_id IS NULL AND sum_timer_wait > 0"),
	't', 'a statement that waits before it is known has rows without a query_id');
is($server->sql("SELECT count(*) FROM quiet_rows WHERE active_sessions > 12"), 0, 'no period has a wait that was in earlier ones');
is($server->sql("SELECT bool_and(period_end = next) FROM (SELECT DISTINCT period_end, min(period_start) OVER (ORDER BY period_start"
		  . " RANGE BETWEEN '1 us' FOLLOWING AND UNBOUNDED FOLLOWING) AS next FROM quiet_rows) p WHERE next IS NOT NULL"),
	't', 'periods follow one another');

# ---- sessions that come, wait, are terminated, and resets of everything ----

$server->sql("UPDATE pfs.setup_instruments SET enabled = 'NO' WHERE name = 'statement/sql/analyze'");
$begin = load_idle($server);
my @ended;
for my $round (1 .. 3)
{
	@sessions = map { $server->session(user => 'app') } 1 .. 6;
	$sessions[0]->send('SELECT outer_sleep(0.7)');
	$sessions[1]->send('SELECT pg_sleep(1.7)');
	$sessions[2]->send(join '; ', map { "SELECT 1 AS a$_" } 1 .. 150);
	$sessions[3]->query('BEGIN; UPDATE queue SET n = n + 1 WHERE id = 2');
	$sessions[4]->send('UPDATE queue SET n = n - 1 WHERE id = 2');
	# What statements that are none, or are not collected, wait for is outside of statements.
	$sessions[2]->result;
	$sessions[2]->query('CREATE TEMP TABLE leaves AS SELECT 1 AS i; ANALYZE queue');
	$sessions[5]->send('SELECT pg_sleep(60)');
	$server->poll("SELECT count(*) FROM pg_stat_activity WHERE usename = 'app' AND wait_event = 'PgSleep' AND query LIKE '%60%'", 1);
	$server->sql("TRUNCATE pfs.events_waits_summary_by_digest") if $round == 1;
	$server->sql("TRUNCATE pfs.events_statements_summary_by_digest") if $round == 2;
	$server->sql("TRUNCATE pfs.events_waits_summary_global_by_event_name; TRUNCATE pfs.accounts") if $round == 3;
	$sessions[1]->result;
	$server->sql("SELECT pg_terminate_backend($sessions[5]{pid}), pg_terminate_backend($sessions[3]{pid})");
	$sessions[$_]->result foreach 0, 3, 4, 5;
	$_->close foreach @sessions;
}
load_settle($server);
$end = load_idle($server);
load_events($server, 'storm', $begin, $end);
load_no_losses($server, 'storm');
load_compare_all($server, 'storm');
is($server->sql("SELECT variable_value FROM pfs.status WHERE variable_name = 'pfs_load_history_lost'"), 0, 'every period was recorded');
done_testing();
