# Loads, sessions that come and go, switches, timers, TRUNCATE, resets and
# readers, all at the same time: nobody sees a wrong row, nobody stops.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/lib";
use PfsServer;
use Test::More;
use Time::HiRes qw(sleep time);

my $seconds = 8;
my $server = PfsServer->new('main', conf => <<'EOT');
max_connections = 60
shared_buffers = 2MB
autovacuum_naptime = 1s
deadlock_timeout = 100ms
max_parallel_workers_per_gather = 2
pfs.events_waits_history_long_size = 2000
pfs.max_file_instances = 300
EOT
$server->start;
$server->sql('CREATE EXTENSION pfs');
$server->pgbench(undef, '-i', '-q', '-s', 2);

my @loads = (
	$server->pgbench_start(undef, '-c', 6, '-j', 1, '-T', $seconds),
	$server->pgbench_start(undef, '-S', '-C', '-c', 3, '-j', 1, '-T', $seconds),
	# Files that come and go, parallel workers, temporary files.
	$server->pgbench_start(<<'EOT', '-c', 2, '-j', 1, '-T', $seconds));
SET work_mem = '64kB';
CREATE TEMP TABLE IF NOT EXISTS mine (n int);
INSERT INTO mine SELECT generate_series(1, 1000);
SELECT count(*) FROM (SELECT * FROM pgbench_accounts ORDER BY filler, aid OFFSET 5) s;
DROP TABLE mine;
EOT

# Each does one of these, in an order of its own.
my @doers = map { $server->session } 1 .. 3;
my @deeds = (
	q{UPDATE pfs.setup_instruments SET enabled = CASE WHEN random() < 0.5 THEN 'yes' ELSE 'no' END WHERE name LIKE 'wait/%'},
	q{UPDATE pfs.setup_instruments SET enabled = 'YES', timed = 'YES'},
	q{UPDATE pfs.setup_instruments SET timed = 'NO' WHERE random() < 0.3},
	q{PERFORM pfs.set_timer('wait', (ARRAY['CYCLE', 'NANOSECOND', 'MICROSECOND', 'MILLISECOND', 'TICK'])[1 + floor(random() * 5)::int])},
	q{PERFORM pfs.set_timer('idle', (ARRAY['NANOSECOND', 'TICK'])[1 + floor(random() * 2)::int])},
	q{PERFORM pfs.set_consumers('events_waits%', CASE WHEN random() < 0.4 THEN 'NO' ELSE 'YES' END)},
	q{PERFORM pfs.set_consumers('%', 'YES')},
	q{UPDATE pfs.threads SET instrumented = CASE WHEN random() < 0.3 THEN 'no' ELSE 'yes' END, history = CASE WHEN random() < 0.3 THEN 'no' ELSE 'yes' END},
	q{PERFORM pfs.reset('events_waits_history'), pfs.reset('events_waits_history_long')},
	q{PERFORM pfs.reset('containers')},
	q{PERFORM count(*) FROM pfs.events_waits_history_long JOIN pfs.threads USING (thread_id)},
	q{PERFORM count(*) FROM pfs.processlist});
my $deeds = join('', map { "WHEN $_ THEN $deeds[$_];\n" } 0 .. $#deeds);

foreach my $doer (@doers)
{
	# A machine whose counter is not constant has no CYCLE: another timer then.
	$doer->send(<<"EOT");
DO \$\$
DECLARE
	until timestamptz := clock_timestamp() + interval '$seconds s';
BEGIN
	WHILE clock_timestamp() < until LOOP
		BEGIN
			CASE floor(random() * ${\scalar(@deeds)})::int
$deeds
			END CASE;
		EXCEPTION WHEN invalid_parameter_value THEN
			NULL;
		END;
		COMMIT;
	END LOOP;
END \$\$
EOT
}

# The timers differ in how far they are behind: up to some hundredths of a second.
my $wrong = <<'EOT';
SELECT count(*) FILTER (WHERE timer_start < 0 OR timer_wait < 0 OR timer_wait > 600e12 OR timer_end > pfs.timer_now() + 0.05e12),
       count(*) FILTER (WHERE timer_wait IS DISTINCT FROM CASE event_name
           WHEN 'wait/io/table/handler' THEN least(timer_wait, timer_end - timer_start + 1000) ELSE timer_end - timer_start END),
       count(*) FILTER (WHERE end_event_id < event_id OR (running AND (end_event_id IS NOT NULL OR timer_end IS NOT NULL)) OR (NOT running AND end_event_id IS NULL)),
       count(*) FILTER (WHERE event_name IS NULL OR event_name NOT LIKE 'wait/%' AND event_name NOT LIKE 'idle%'),
       count(*) FILTER (WHERE object_type = 'FILE' AND operation IN ('read', 'write') AND number_of_bytes > 67108864),
       count(*) FILTER (WHERE event_name = 'wait/io/file/DataFileRead' AND object_name !~ '^(base|global|pg_tblspc|…)'),
       count(*) FILTER (WHERE event_name LIKE 'wait/lock/%' AND operation NOT LIKE '%Lock'),
       count(*) FILTER (WHERE thread_id IS NULL OR thread_id < 1 OR event_id < 1 OR nesting_event_id >= event_id),
       count(*) - count(DISTINCT (source_table, thread_id, event_id))
  FROM (SELECT *, true AS running, 1 AS source_table FROM pfs.events_waits_current
        UNION ALL SELECT *, false, 2 FROM pfs.events_waits_history
        UNION ALL SELECT *, false, 3 FROM pfs.events_waits_history_long) e
EOT
my ($looks, @bad) = (0);
my $end = time() + $seconds;

while (time() < $end)
{
	my $answer = $server->sql($wrong);

	push @bad, $answer if $answer ne '0|0|0|0|0|0|0|0|0';
	$looks++;
	$server->sql('TRUNCATE pfs.events_waits_history') if $looks % 5 == 0;
	$server->sql('TRUNCATE pfs.events_waits_history_long, pfs.status') if $looks % 7 == 0;
}
cmp_ok($looks, '>', 3, 'readers looked');
is(join("\n", @bad), '', "no wrong row in $looks looks");
foreach my $doer (@doers)
{
	$doer->result;
	is($doer->last_error, '', 'a session that switches met no error');
}
unlike($server->pgbench_end($_), qr/aborted/, 'a load met no error') foreach @loads;
unlike($server->log_text, qr/PANIC|terminated by signal/, 'nothing crashed');

# What autovacuum does would push the events that are counted here out of the long history.
$server->sql('ALTER SYSTEM SET autovacuum = off');
$server->sql('SELECT pg_reload_conf()');
ok($server->poll(q{SELECT count(CASE backend_type WHEN 'autovacuum launcher' THEN true WHEN 'autovacuum worker' THEN pg_terminate_backend(pid) END)
	FROM pg_stat_activity}, 0), 'autovacuum has ended');

# Everything on again: exact as ever.
$server->sql(q{SELECT pfs.set_instruments('%', 'YES', 'YES'), pfs.set_consumers('%', 'YES'), pfs.set_timer('wait', 'NANOSECOND'), pfs.set_timer('idle', 'NANOSECOND')});
$server->sql(q{UPDATE pfs.threads SET instrumented = 'YES', history = 'YES'});
my $s = $server->session;
my $id = $s->thread_id;
$s->query(q{SELECT count(pg_stat_file('PG_VERSION')) FROM generate_series(1, 1000)});
is($server->sql("SELECT count(*), count(timer_wait) FROM pfs.events_waits_history_long WHERE thread_id = $id AND event_name = 'wait/io/file/FileStat'"),
	'1000|1000', 'afterwards a session records exactly');
# The two are not read at the same moment, and sessions of the load may just be ending.
ok($server->poll(q{SELECT count(*) FROM pfs.threads t FULL JOIN pg_stat_activity a ON a.pid = t.thread_os_id
	WHERE t.thread_id IS NULL OR a.pid IS NULL AND t.name NOT LIKE '%worker%'}, 0), 'threads are those that there are');

done_testing();
