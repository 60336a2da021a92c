# Waits that follow each other closely, sort keys without a clock, and objects
# that must not pile up.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/lib";
use PfsServer;
use Test::More;

my $server = PfsServer->new('main', conf => <<'EOT');
autovacuum = off
pfs.events_waits_history_long_size = 100
EOT
$server->start;
$server->sql('CREATE EXTENSION pfs; CREATE TABLE t (i int)');

my $a = $server->session(name => 'a');
my $b = $server->session(name => 'b');
my $tb = $b->thread_id;

# ---- lock waits ended by errors, with no other event in between ----

$a->query('BEGIN; LOCK TABLE t');
my ($last, $waits);

# A process that loses its processor in front of its wait waits less, or not at all: then once more.
for (1 .. 5)
{
	$last = $server->sql("SELECT coalesce(max(event_id), 0) FROM pfs.events_waits_history WHERE thread_id = $tb");
	$b->query(<<'EOT');
SET lock_timeout = '100ms';
DO $$
BEGIN
	FOR i IN 1..3 LOOP
		BEGIN
			LOCK TABLE t;
		EXCEPTION WHEN lock_not_available THEN
			NULL;
		END;
	END LOOP;
END $$
EOT
	$waits = $server->sql("SELECT count(*), bool_and(timer_wait BETWEEN 0.09e12 AND 60e12)"
		  . " FROM pfs.events_waits_history WHERE thread_id = $tb AND event_id > $last AND event_name = 'wait/lock/relation'");
	last if $waits eq '3|t';
}
is($waits, '3|t', 'three lock waits ended by their timeouts are three events');

# ---- one that an error ended, with nothing else switched on ----

$server->sql("SELECT pfs.set_instruments('%', 'NO'), pfs.set_instruments('wait/lock/%', 'YES')");
# Longer than a process loses its processor for.
$b->query(q{SET lock_timeout = '1500ms'; BEGIN});
$b->send('LOCK TABLE t');
$b->result;
ok($server->poll("SELECT count(*) FROM pfs.events_waits_current WHERE thread_id = $tb", 0),
	'a lock wait that an error ended is not shown while the session is idle');
is($server->sql("SELECT count(*) FROM pfs.events_waits_history_long WHERE thread_id = $tb AND event_id > $last AND event_name = 'wait/lock/relation'"),
	4, 'but in the histories');
$a->query('ROLLBACK');
$b->query('ROLLBACK');
$server->sql("SELECT pfs.set_instruments('%', 'YES')");

# ---- everything counted, nothing timed: the newest events are the newest ----

my $young = $server->session(name => 'young');
my $ty = $young->thread_id;
$server->sql("SELECT pfs.set_instruments('%', 'NO', 'NO'), pfs.set_instruments('wait/timeout/PgSleep', 'YES')");
$server->sql("SELECT pfs.reset('events_waits_history_long')");
$young->query('SELECT count(pg_sleep(0.0001)) FROM generate_series(1, 100)');
$b->query('SELECT count(pg_sleep(0.0001)) FROM generate_series(1, 1000)');
is($server->sql("SELECT count(*), count(*) FILTER (WHERE thread_id = $ty), count(timer_start) FROM pfs.events_waits_history_long"),
	'100|0|0', 'untimed events of an older thread push those of a younger one out');
$server->sql("SELECT pfs.set_instruments('%', 'YES', 'YES')");

# ---- patterns are remembered once ----

is( $server->sql(<<'EOT'), 300, 'two patterns in turn can be set for ever');
SELECT count(pfs.set_instruments(CASE WHEN i % 2 = 0 THEN 'wait/io/file/%' ELSE 'idle%' END, 'YES'))
FROM generate_series(1, 300) i
EOT

# ---- nothing that comes and goes leaves a file instance behind ----

sub file_instances
{
	return $server->sql("SELECT records_used FROM pfs.containers WHERE name = 'file_instances'");
}

$server->sql('CREATE TABLE big AS SELECT generate_series(1, 200000) i; ANALYZE big');
my $churn = $server->session(name => 'churn');
$churn->query("SET work_mem = '64kB'; SET max_parallel_workers_per_gather = 2; SET parallel_setup_cost = 0;"
	  . " SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0");
my $work = 'SELECT count(*) FROM (SELECT i FROM big ORDER BY -i OFFSET 10) s';
# The records of removed files are kept for a while, a bounded number of them, which the
# first runs fill; a run with fewer workers removes fewer files.  If each run left one, it
# would never end.
my ($before, $now) = (0, file_instances());
for (my $runs = 0; $runs < 600 && $now > $before + 20; $runs += 60)
{
	$before = $now;
	$churn->query($work) for (1 .. 60);
	$now = file_instances();
}
cmp_ok($now, '<=', $before + 20, 'sorts on disk and parallel workers leave no instances');
is($server->sql("SELECT count(*) FROM pfs.events_waits_history_long WHERE object_name LIKE '/dev/shm/%'"),
	0, 'shared memory segments have none');
is($server->sql("SELECT records_lost FROM pfs.containers WHERE name = 'file_instances'"), 0, 'none were lost');

done_testing();
