# Which processes have a record, from when to when, and what it says of them.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/lib";
use PfsServer;
use Test::More;
use Time::HiRes qw(sleep);

my $server = PfsServer->new('main', conf => <<'EOT');
max_connections = 100
max_worker_processes = 8
autovacuum_naptime = 1s
archive_mode = on
archive_command = 'true'
logging_collector = on
track_commit_timestamp = on
EOT
$server->start;
$server->sql('CREATE EXTENSION pfs');

# ---- background processes ----

my @background = qw(checkpointer background_writer walwriter autovacuum_launcher archiver worker/logical_replication_launcher);

push @background, 'io_worker' if PfsServer::version() >= 18;
foreach my $name (@background)
{
	ok($server->poll("SELECT count(*) > 0 FROM pfs.threads WHERE name = 'thread/$name'"), "thread/$name has a record");
	# It can have its record before it has an entry in pg_stat_activity.
	ok($server->poll(<<"EOT", 'BACKGROUND|t|t|t|Daemon|t'), "thread/$name: in the background, of nobody");
SELECT DISTINCT type, processlist_id IS NULL, processlist_user IS NULL, parent_thread_id IS NULL, processlist_command, pid IS NOT NULL
  FROM pfs.threads LEFT JOIN pg_stat_activity ON pid = thread_os_id WHERE name = 'thread/$name'
EOT
}
is($server->sql(q{SELECT count(*) FROM pfs.threads WHERE name LIKE '%logger%' OR name LIKE '%postmaster%'}), 0,
	'the logger and the postmaster have none');
ok($server->poll(q{SELECT count(*) > 0 FROM pfs.events_waits_current JOIN pfs.threads USING (thread_id)
	WHERE name = 'thread/checkpointer' AND event_name = 'wait/activity/CheckpointerMain'}), 'the checkpointer waits for work');
$server->sql('CREATE TABLE t AS SELECT g AS n FROM generate_series(1, 50000) g');
$server->sql('CHECKPOINT');
ok($server->sql(q{SELECT count(*) > 0 FROM pfs.events_waits_history_long JOIN pfs.threads USING (thread_id)
	WHERE name = 'thread/checkpointer' AND event_name IN ('wait/io/file/DataFileWrite', 'wait/io/file/DataFileSync')}) eq 't',
	'its writes are its own');
$server->sql('SELECT pg_switch_wal()');
ok($server->poll(q{SELECT count(*) > 0 FROM pfs.events_waits_history_long JOIN pfs.threads USING (thread_id)
	WHERE name = 'thread/archiver' AND event_name LIKE 'wait/synch/ipc/%'}), 'the archiver waits for its program');
is($server->sql(q{SELECT string_agg(DISTINCT t.name, ', ') FROM pfs.threads t
	WHERE type = 'BACKGROUND' AND NOT EXISTS (SELECT FROM pfs.setup_threads s WHERE s.name = t.name OR t.name LIKE s.name || '/%')}),
	'', 'each is of a kind that setup_threads lists');

# ---- sessions ----

my $s = $server->session(name => 'somebody');
is($server->sql('SELECT name, type, processlist_id = thread_os_id, processlist_user, processlist_host, processlist_db, processlist_command,'
	  . ' parent_thread_id IS NULL, connection_type, application_name, instrumented, history FROM pfs.threads WHERE thread_os_id = ' . $s->pid),
	'thread/client_backend|FOREGROUND|t|postgres|[local]|postgres|Sleep|t|Socket|somebody|YES|YES', 'a session');
is($s->query('SELECT pfs.thread_id() = pfs.thread_id(pg_backend_pid())'), 't', 'which knows its number');
is($server->sql('SELECT pfs.thread_id(' . $s->pid . ') = ' . $s->query('SELECT pfs.thread_id()')), 't', 'as others do');
is($server->sql('SELECT pfs.thread_id(1) IS NULL'), 't', 'a process that is none of the server has none');
$s->query('BEGIN');
ok($server->poll('SELECT processlist_command FROM pfs.threads WHERE thread_os_id = ' . $s->pid, 'Sleep in transaction'), 'in a transaction');
ok($server->poll('SELECT event_name FROM pfs.events_waits_current WHERE thread_id = ' . $s->thread_id, 'idle/transaction'), 'it is idle there');
$s->query('COMMIT');
ok($server->poll('SELECT event_name FROM pfs.events_waits_current WHERE thread_id = ' . $s->thread_id, 'idle'), 'and outside afterwards');
$s->send('SELECT pg_sleep(600)');
ok($server->poll('SELECT processlist_command, processlist_state, processlist_info FROM pfs.threads WHERE thread_os_id = ' . $s->pid,
		'Query|wait/timeout/PgSleep|SELECT pg_sleep(600)'), 'in a query');
$server->sql('SELECT pg_cancel_backend(' . $s->pid . ')');
$s->result;
# The two are not read at the same moment, and a session of the test before may just be ending.
ok($server->poll(q{SELECT coalesce(string_agg(format('%s %s', coalesce(t.name, 'no thread'), coalesce(a.backend_type, 'no activity')), ', '), 'none')
	FROM pfs.threads t FULL JOIN pg_stat_activity a ON a.pid = t.thread_os_id
	WHERE (t.thread_id IS NULL OR a.pid IS NULL) AND coalesce(a.backend_type, '') NOT IN ('autovacuum worker', 'parallel worker')}, 'none'),
	'threads and pg_stat_activity list the same processes');

# ---- parallel workers ----

$server->sql('ALTER TABLE t SET (parallel_workers = 2); CREATE FUNCTION slow(n int) RETURNS bool LANGUAGE plpgsql PARALLEL SAFE AS'
	  . q{ 'BEGIN IF n % 10 = 0 THEN PERFORM pg_sleep(0.02); END IF; RETURN true; END'});
$s->query('SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0; SET max_parallel_workers_per_gather = 2;');
$s->send('SELECT count(*) FROM t WHERE slow(n)');
my $leader = $s->thread_id;
ok($server->poll("SELECT count(*) FROM pfs.threads WHERE parent_thread_id = $leader", 2), 'two workers have the leader as parent');
# A worker knows its leader before it has a role.
ok($server->poll("SELECT DISTINCT name, type, processlist_id IS NULL, processlist_user FROM pfs.threads WHERE parent_thread_id = $leader",
		'thread/worker/parallel_worker|FOREGROUND|t|postgres'), 'in the foreground, with its role');
is($server->sql("SELECT count(*), count(processlist_info) FROM pfs.threads WHERE parent_thread_id = $leader"), '2|0',
	'without a text, which could be one that its leader has nested');
# A worker joins its leader before it has an entry in pg_stat_activity.
ok($server->poll(q{SELECT count(*) FROM pfs.threads w JOIN pg_stat_activity a ON a.pid = w.thread_os_id
	JOIN pfs.threads l ON l.thread_id = w.parent_thread_id WHERE a.leader_pid = l.thread_os_id}, 2), 'as pg_stat_activity says');
my $workers = $server->sql("SELECT string_agg(thread_id::text, ', ') FROM pfs.threads WHERE parent_thread_id = $leader");
$server->poll("SELECT count(DISTINCT thread_id) FROM pfs.events_waits_history WHERE thread_id IN ($workers) AND event_name = 'wait/timeout/PgSleep'", 2);
$server->sql('SELECT pg_cancel_backend(' . $s->pid . ')');
$s->result;
ok($server->poll("SELECT count(*) FROM pfs.threads WHERE thread_id IN ($workers)", 0), 'they go with the query');
cmp_ok($server->sql("SELECT count(DISTINCT thread_id) FROM pfs.events_waits_history_long WHERE thread_id IN ($workers)"
	  . " AND event_name = 'wait/timeout/PgSleep'"), '==', 2, 'their events are theirs');
$s->query('SELECT count(*) FROM t');
is($server->sql("SELECT count(*) FROM pfs.threads WHERE parent_thread_id = $leader AND thread_id IN ($workers)"), 0, 'the next query has others');

# ---- autovacuum workers, walsenders ----

$server->sql(q{CREATE TABLE dead (n int) WITH (autovacuum_vacuum_cost_delay = 20, autovacuum_vacuum_cost_limit = 1,
	autovacuum_vacuum_threshold = 1, autovacuum_vacuum_scale_factor = 0); INSERT INTO dead SELECT generate_series(1, 20000); DELETE FROM dead});
ok($server->poll(q{SELECT count(*) > 0 FROM pfs.threads t JOIN pg_stat_activity a ON a.pid = t.thread_os_id
	WHERE t.name = 'thread/autovacuum_worker' AND t.type = 'BACKGROUND' AND a.backend_type = 'autovacuum worker'}), 'an autovacuum worker');
ok($server->poll(q{SELECT count(*) > 0 FROM pfs.events_waits_current JOIN pfs.threads USING (thread_id)
	WHERE name = 'thread/autovacuum_worker' AND event_name = 'wait/timeout/VacuumDelay'}), 'with its delays');
$server->sql('DROP TABLE dead');

my $receiver = IPC::Run::start([ PfsServer::bindir() . '/pg_receivewal', '-d', $server->connstr, '-D', $server->{dir}, '--no-loop' ],
	'<', '/dev/null', '>&', "$server->{dir}/receivewal.out");
ok($server->poll(q{SELECT name, type, processlist_command, processlist_id = thread_os_id, processlist_user FROM pfs.threads WHERE name = 'thread/walsender'},
		'thread/walsender|FOREGROUND|Replication|t|postgres'), 'a walsender');
$receiver->kill_kill;
ok($server->poll(q{SELECT count(*) FROM pfs.threads WHERE name = 'thread/walsender'}, 0), 'gone with its receiver');

# ---- numbers are never used again ----

my @numbers;

foreach my $round (1 .. 15)
{
	push @numbers, $server->psql('SELECT pfs.thread_id()');
}
@numbers = grep { $_ ne '' && $_ ne '0' } @numbers;
is(join(' ', sort { $a <=> $b } @numbers), join(' ', @numbers), 'later threads have higher numbers');
my %seen;
is(scalar(grep { $seen{$_}++ } @numbers), 0, 'none is used twice');
cmp_ok($numbers[0], '>', $leader, 'nor those of before');

# ---- a burst of connections, and its memory given back ----

my $container = q{FROM pfs.containers WHERE name = 'thread_instances'};
my @before = split /\|/, $server->sql("SELECT records_used, pages_resident, bytes_resident, pages_reclaimed $container");
my $load = $server->pgbench_start("SELECT 1;\n\\sleep 200 ms\n", '-c', 60, '-j', 2, '-T', 60);

# Of the others some that were just ending may have gone.
ok($server->poll("SELECT records_used >= 60 + (SELECT count(*) FROM pfs.threads WHERE application_name IS DISTINCT FROM 'pgbench') $container"),
	'60 more sessions, 60 more records');
my @during = split /\|/, $server->sql("SELECT records_used, pages_resident, bytes_resident, pages_reclaimed, records_lost $container");
cmp_ok($during[1], '>', $before[1] + 5, 'they take more pages');
cmp_ok($during[2], '>', $before[2], 'and more memory');
is($during[4], 0, 'none was lost');
$load->{handle}->kill_kill;
$load->{over} = 1;
ok($server->poll("SELECT records_used <= $before[0] + 1 $container"), 'they go');
# A session that ends gives its record back before the page.
my $bytes = $before[2] + 3 * ($during[2] - $before[2]) / ($during[1] - $before[1]);
ok($server->poll("SELECT pages_resident BETWEEN 1 AND $before[1] + 2 $container"), 'their pages go back to the system');
ok($server->poll("SELECT bytes_resident BETWEEN 1 AND $bytes $container"), 'with their memory');
ok($server->poll("SELECT pages_reclaimed > $before[3] + 3 $container"), 'pages_reclaimed tells');
cmp_ok($server->sql("SELECT records_high_water $container"), '>=', $during[0], 'the high water mark remembers');
# The same again from those pages.
$server->pgbench("SELECT count(*) FROM pfs.events_waits_history WHERE thread_id = pfs.thread_id();\n", '-c', 60, '-j', 2, '-t', 3);
is($server->sql("SELECT records_lost $container"), 0, 'and the next burst finds room');

done_testing();
