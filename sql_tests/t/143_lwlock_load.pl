# Every acquisition an event, under a load with errors, ends of sessions, parallel
# workers and killed processes: the server works, and what is left behind is right.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/lib";
use PfsServer;
use Test::More;
use Time::HiRes qw(sleep);

my $server = PfsServer->new('main', conf => <<'EOT');
max_connections = 40
shared_buffers = 1MB
autovacuum_naptime = 1s
max_parallel_workers_per_gather = 2
parallel_setup_cost = 0
parallel_tuple_cost = 0
min_parallel_table_scan_size = 0
statement_timeout = 120s
pfs.lwlock_events = all
EOT
$server->start;
plan skip_all => 'no detours on this processor'
  if $server->sql('CREATE EXTENSION pfs; SELECT count(*) FROM pfs.probes WHERE detail = ' . "'detours exist for x86-64 only'") > 0;
$server->needs_detours;
$server->pgbench(undef, '-i', '-q', '-s', 2);

# Updates of few rows, errors that are caught and that are not, parallel hash joins, temporary tables, vacuum.
my $script = <<'EOT';
\set kind random(1, 8)
\set row random(1, 4)
\if :kind <= 4
UPDATE pgbench_accounts SET abalance = abalance + 1 WHERE aid = :row;
\elif :kind = 5
SELECT count(*) FROM pgbench_accounts a JOIN pgbench_accounts b USING (aid) WHERE a.bid = 1 AND b.aid < 5000;
\elif :kind = 6
DO $$ BEGIN FOR i IN 1 .. 3 LOOP BEGIN UPDATE pgbench_tellers SET tbalance = 1 / 0; EXCEPTION WHEN division_by_zero THEN NULL; END; END LOOP; END $$;
\elif :kind = 7
CREATE TEMPORARY TABLE t AS SELECT g FROM generate_series(1, 200) g; DROP TABLE t;
\else
VACUUM pgbench_branches;
\endif
EOT

# What no row may be.
my $wrong = <<'EOT';
SELECT count(*) FILTER (WHERE timer_wait < 0 OR timer_wait > 600e12),
       count(*) FILTER (WHERE object_instance_begin IS NULL OR object_type <> 'LWLOCK'),
       count(*) FILTER (WHERE operation NOT IN ('shared_lock', 'exclusive_lock', 'try_shared_lock', 'try_exclusive_lock')),
       count(*) FILTER (WHERE flags IS NOT NULL AND flags <> 1),
       count(*) FILTER (WHERE operation LIKE 'try%' AND spins > 0),
       count(*) FILTER (WHERE nesting_event_type NOT IN ('WAIT', 'STAGE', 'STATEMENT', 'TRANSACTION'))
  FROM (SELECT * FROM pfs.events_waits_current UNION ALL SELECT * FROM pfs.events_waits_history UNION ALL SELECT * FROM pfs.events_waits_history_long) e
 WHERE event_name LIKE 'wait/synch/lwlock/%'
EOT

# A lock has one holder, or some who share it, and all of them live.
my $holders = <<'EOT';
SELECT count(*) FILTER (WHERE exclusive_locked_by_thread_id IS NOT NULL AND shared_locked_by_count > 0),
       count(*) FILTER (WHERE shared_locked_by_count <> cardinality(shared_locked_by_thread_ids))
  FROM pfs.lwlock_instances
EOT

sub look_while
{
	my ($load, $name) = @_;
	my ($looks, @bad) = (0);

	while ($server->pgbench_running($load))
	{
		my $rows = $server->sql($wrong);
		my $locks = $server->sql($holders);

		push @bad, "$rows $locks" if $rows ne '0|0|0|0|0|0' || $locks ne '0|0';
		$server->sql('SELECT count(*) FROM pfs.lwlock_objects');
		$looks++;
	}
	is(join("\n", @bad), '', "$name: no wrong row in $looks looks");
}

# Only sessions that read are left: nobody holds a lock for longer than a moment.
sub no_holder
{
	return $server->poll('SELECT count(*) FROM pfs.lwlock_instances WHERE exclusive_locked_by_thread_id IS NOT NULL OR shared_locked_by_count > 0', 0);
}

foreach my $churn (0, 1)
{
	my $name = $churn ? 'sessions that come and go' : 'sessions that stay';

	$server->mark_log;
	my $load = $server->pgbench_start($script, '-c', 8, '-j', 1, '-T', 6, $churn ? '-C' : ());

	look_while($load, $name);
	unlike($server->pgbench_end($load), qr/aborted|error:/i, "$name: the load meets no error");
	unlike($server->log_text, qr/PANIC|terminated by signal|not held|too many LWLocks/, "$name: nothing in the log");
	ok(no_holder(), "$name: all locks are free");
	is($server->sql(q{SELECT string_agg(name, ', ') FROM pfs.containers WHERE records_lost <> 0 AND name NOT LIKE 'events%'}), '', "$name: nothing is lost");
}
# Of all levels together no acquisition is missing: the server's number is that of its parts.
is($server->sql(q{SELECT count(*) FROM pfs.events_waits_summary_by_instance i JOIN pfs.events_waits_summary_global_by_event_name g USING (event_name)
	WHERE i.event_name LIKE 'wait/synch/lwlock/%' AND i.count_star > g.count_star}), 0, 'no lock was slept for more often than its tranche was taken');

# ---- processes that are killed ----

foreach my $round (1 .. 3)
{
	my $load = $server->pgbench_start($script, '-c', 8, '-j', 1, '-T', 60);

	ok($server->poll(q{SELECT count(*) > 4 FROM pg_stat_activity WHERE application_name = 'pgbench' AND query <> ''}), "round $round: a load");
	my $victim = $server->sql(q{SELECT pid FROM pg_stat_activity WHERE application_name = 'pgbench' AND backend_type = 'client backend' ORDER BY random() LIMIT 1});

	$server->mark_log;
	kill 'KILL', $victim;
	$server->wait_log(qr/all server processes terminated; reinitializing/);
	$server->lost_sessions;
	$server->pgbench_end($load, fail_ok => 1);
	ok($server->poll_connect('SELECT count(*) > 0 FROM pfs.events_waits_history_long WHERE event_name LIKE ' . "'wait/synch/lwlock/%' AND object_instance_begin IS NOT NULL"),
		"round $round: the server is back, and sees acquisitions");
	ok(no_holder(), "round $round: nobody holds a lock");
}
is(() = $server->log_text =~ /terminated by signal (?!9)/g, 0, 'no process ended but those that were killed');

done_testing();
