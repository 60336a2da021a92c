# The load history beside an observer that looks at pg_stat_activity every 10 ms: second by second both say the same, within what so
# many looks can tell, and over the whole time the history has what the summaries have counted.  PFS_LOAD_SECONDS: how long.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/lib";
use PfsLoad;
use PfsServer;
use Test::More;
use Time::HiRes qw(sleep);

my $seconds = $ENV{PFS_LOAD_SECONDS} // 12;
my $blocked_for = int($seconds * 3 / 4);
my $clients = 4;

$PfsServer::timeout += $seconds;

# Who waits for the lock does nothing else, not even look for deadlocks.
my $server = PfsServer->new('main', conf => <<'EOT');
autovacuum = off
max_parallel_workers_per_gather = 0
deadlock_timeout = 1h
EOT
$server->start;
$server->sql('CREATE EXTENSION pfs');
$server->sql('CREATE ROLE app LOGIN SUPERUSER');
$server->sql('CREATE TABLE blocked (i int); CREATE UNLOGGED TABLE looks (at timestamptz, wait_event_type text, n int)');
$server->sql(<<'EOT');
CREATE FUNCTION burn(seconds double precision) RETURNS void LANGUAGE plpgsql AS $$
DECLARE till timestamptz := clock_timestamp() + seconds * interval '1 s';
BEGIN WHILE clock_timestamp() < till LOOP END LOOP; END $$;
CREATE PROCEDURE observe() LANGUAGE plpgsql AS $$
DECLARE now timestamptz;
BEGIN
	WHILE EXISTS (SELECT FROM pg_stat_activity WHERE application_name = 'asks') LOOP
		PERFORM pg_stat_clear_snapshot();
		now := clock_timestamp();
		-- One that is not active and does not wait for its client is at the begin or the end of a statement.
		INSERT INTO looks SELECT now, CASE WHEN state = 'active' THEN coalesce(wait_event_type, 'CPU') WHEN pid IS NOT NULL THEN 'unsure' END, count(pid)
		  FROM (SELECT 1) one LEFT JOIN pg_stat_activity ON usename = 'app' AND (state = 'active' OR wait_event IS DISTINCT FROM 'ClientRead') GROUP BY 2;
		COMMIT;
		PERFORM pg_sleep(0.01);
	END LOOP;
END $$;
EOT
run_ok(PfsServer::bindir() . '/pgbench', '-i', '-q', '-h', $server->{host}, '-p', $server->{port}, '-U', 'app', 'postgres');
my $not_instrumented = "UPDATE pfs.threads SET instrumented = 'NO', history = 'NO' WHERE thread_id = pfs.thread_id()";
$server->sql("$not_instrumented; SET application_name = 'asks'");

my %summary = (
	# What each type has counted, outside of statements or inside.
	(map { ($_->[0] => "SELECT coalesce(sum(sum_timer_wait), 0) FROM pfs.events_waits_summary_global_by_event_name WHERE event_name LIKE '$_->[1]%'") }
		  [ 'Lock', 'wait/lock/' ], [ 'LWLock', 'wait/synch/lwlock/' ], [ 'IO', 'wait/io/file/' ], [ 'BufferPin', 'wait/synch/bufferpin/' ]),
	statements => 'SELECT coalesce(sum(sum_timer_wait), 0) FROM pfs.events_statements_summary_by_digest',
);

# The end of a period behind which nothing has happened, not in the background either, and what the summaries have then.
sub quiet
{
	my ($before, $end, $after);

	for (1 .. 30)
	{
		($before, $end, $after) = (counted(), load_idle($server), counted());
		last if join(' ', map { $before->{$_} } sort keys %summary) eq join(' ', map { $after->{$_} } sort keys %summary);
	}
	return ($end, %$after);
}

sub counted { return { map { $_ => $server->sql($summary{$_}) } keys %summary }; }

my ($begin, %before) = quiet();

# ---- the load ----

my $observer = $server->session;
$observer->query($not_instrumented);
$observer->send('CALL observe()');
$server->poll('SELECT count(*) > 0 FROM looks');
my ($holder, $waiter, @burners) = map { $server->session(user => 'app') } 1 .. 4;
$holder->query('BEGIN; LOCK TABLE blocked');
$waiter->send('SELECT count(*) FROM blocked');
my $burn_since = $server->sql('SELECT clock_timestamp()');
$_->send("SELECT burn($seconds)") foreach @burners;
my $pgbench = $server->pgbench_start(undef, '-U', 'app', '-c', $clients, '-R', 100, '-T', $seconds);
my $number = q{SELECT count(*) FROM pfs.events_waits_current WHERE event_name = 'wait/lock/relation' AND pfs.timer_now() - timer_start >= %s * 1e12};
$server->poll(sprintf($number, 0), 1);
$server->poll("SELECT count(*) FROM pg_stat_activity WHERE usename = 'app' AND state = 'active' AND query LIKE 'SELECT burn%'", 2);
my $waits_since = $server->sql('SELECT clock_timestamp()');
$server->poll(sprintf($number, $blocked_for), 1);
my $waits_till = $server->sql('SELECT clock_timestamp()');
# Until the observer is done with the looks before that.
$server->poll("SELECT count(*) > 0 FROM looks WHERE at > '$waits_till'");
$holder->query('COMMIT');
$_->result foreach $waiter, @burners;
$server->pgbench_end($pgbench);
$_->close foreach $holder, $waiter, @burners;
$server->sql("SET application_name = 'asked'");
$observer->result;
my ($end, %after) = quiet();

# ---- sums ----

$server->sql("CREATE TABLE rows AS SELECT * FROM pfs.load_history WHERE resolution = '1 s' AND period_start >= '$begin' AND period_end <= '$end'");
foreach my $what (sort keys %summary)
{
	my $of = $what eq 'statements' ? "type = 'FOREGROUND' AND wait_event_type <> 'Idle in transaction'" : "wait_event_type = '$what'";
	my ($sum, $n, $difference) = split /\|/, $server->sql("SELECT coalesce(sum(sum_timer_wait), 0), count(*), $after{$what} - $before{$what} FROM rows WHERE $of");

	ok(abs($sum - $difference) <= $n + 40, "$what: the history's sum is the summaries' difference") or diag("$sum in $n rows, and $difference");
	note("$what: $sum ps in $n rows, the summaries have $difference");
}

# ---- each second ----

# Looks come late where the processors are busy; what happened between two of them is not known.  A session that is
# in a state for half of the time is seen in it n/2 +- sqrt(n)/2 times of n.
$server->sql(<<"EOT");
CREATE TABLE seconds AS
WITH periods AS (
	SELECT DISTINCT period_start AS b, period_end AS e, extract(epoch FROM period_end - period_start) AS length FROM rows
), looks_at AS (
	SELECT at, at - lag(at) OVER (ORDER BY at) AS gap FROM (SELECT DISTINCT at FROM looks) l
), looked AS (
	SELECT b, e, length, count(*) AS n, greatest(max(extract(epoch FROM gap)), extract(epoch FROM e - max(at))) AS gap
	FROM periods JOIN looks_at ON at > b AND at <= e GROUP BY 1, 2, 3
), types AS (SELECT * FROM (VALUES ('Lock'), ('CPU'), ('all')) t (type))
SELECT looked.*, type,
	(SELECT coalesce(sum(l.n), 0) FROM looks l WHERE at > b AND at <= e AND (l.wait_event_type = type OR type = 'all' AND l.wait_event_type <> 'unsure'))::float / looked.n AS seen,
	(SELECT coalesce(sum(l.n), 0) FROM looks l WHERE at > b AND at <= e AND l.wait_event_type = 'unsure')::float / looked.n AS unsure,
	(SELECT coalesce(sum(active_sessions), 0) FROM rows WHERE period_start = b AND rows.type = 'FOREGROUND'
		AND (wait_event_type = types.type OR types.type = 'all' AND wait_event_type <> 'Idle in transaction')) AS recorded
FROM looked CROSS JOIN types
EOT
# Of these the states are known: the one that waits, and the two that burn.
my $sure = "b >= '$waits_since' AND e <= '$waits_till'";
is($server->sql("SELECT count(DISTINCT period_start) > 1 AND count(DISTINCT period_start) = count(DISTINCT period_start) FILTER (WHERE event_name = 'wait/lock/relation')"
	  . " AND EXISTS (SELECT FROM seconds WHERE type = 'Lock' AND $sure) FROM rows WHERE period_start >= '$waits_since' AND period_end <= '$waits_till'"), 't',
	'there are seconds of the lock, all that there are');
is($server->sql("SELECT count(*) FROM rows WHERE event_name = 'wait/lock/relation' AND period_start >= '$waits_since' AND period_end <= '$waits_till'"
	  . " AND abs(active_sessions - 1) > 0.001"), 0, 'one session waits for it, in each of them the whole second');
is($server->sql("SELECT count(*) FROM seconds WHERE type = 'Lock' AND $sure AND seen < 1"), 0, 'which each look has seen');
# A wait that has ended when the recorder reads it, a moment behind the end of the second, counts there as a whole, and its
# statement may not; a process that is in the middle of something then is read a second later.  What one second has too
# much its neighbour lacks, so that both together are right.
sub beside
{
	my ($number, $where) = @_;

	return "(SELECT *, lag(x, 1, 0::float) OVER w AS last, lead(x, 1, 0::float) OVER w AS next FROM (SELECT *, $number * length::float AS x FROM seconds WHERE $where) s"
	  . ' WINDOW w AS (PARTITION BY type ORDER BY b)) s';
}
is($server->sql('SELECT count(*) FROM ' . beside('(recorded - 1.95)', "type = 'CPU'") . " WHERE $sure AND e <= '$burn_since'::timestamptz + interval '$seconds s'"
	  . ' AND x + greatest(last, next, 0) < 0'), 0, 'two sessions are on the processor all the time');
# The four others are seen by chance.
my $chance = "4 * sqrt($clients * 0.25 / n) + unsure + $clients * greatest(gap - 0.02, 0) / length";
my $compared = beside('(seen - recorded)', "n > 10 AND b > '$begin'");
my $is_beyond = "least(abs(x), abs(x + last), abs(x + next)) > ($chance) * length";
my ($beyond, $of, $worst) = split /\|/, $server->sql("SELECT count(*) FILTER (WHERE $is_beyond), count(*), max(abs(seen - recorded)) FROM $compared");
is($beyond, 0, 'what is recorded of each second is what was seen') or diag($server->sql("SELECT string_agg(concat_ws(' ', b, n, gap, type, seen, unsure, recorded), '; ') FROM $compared WHERE $is_beyond"));
note("$of seconds and types, at most $worst sessions apart");
note($server->sql("SELECT type, round(avg(seen)::numeric, 3) AS seen, round(avg(recorded)::numeric, 3) AS recorded, round(avg(n)) AS looks, count(*) FROM seconds GROUP BY 1"));
is($server->sql("SELECT variable_value FROM pfs.status WHERE variable_name = 'pfs_load_history_lost'"), 0, 'every period was recorded');
done_testing();
