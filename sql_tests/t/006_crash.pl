# Processes that end badly: killed, FATAL, cancelled in the middle of a scan.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/lib";
use PfsServer;
use Test::More;
use Time::HiRes qw(sleep time);

my $server = PfsServer->new('main', conf => <<'EOT');
restart_after_crash = on
autovacuum = off
max_connections = 60
pfs.events_waits_history_long_size = 200000
EOT
$server->start;
$server->sql('CREATE EXTENSION pfs');
$server->sql('CREATE TABLE t AS SELECT g AS id, 0 AS n FROM generate_series(1, 1000) g');

my $start_time = q{SELECT variable_value FROM pfs.status WHERE variable_name = 'pfs_start_time'};
my $load = "\\set id random(1, 1000)\nUPDATE t SET n = n + 1 WHERE id = :id;\n";

# ---- query cancel in a scan ----

my $s = $server->session;

$s->query(q{SELECT count(pg_stat_file('PG_VERSION')) FROM generate_series(1, 220000)});
is($server->sql('SELECT count(*) FROM pfs.events_waits_history_long'), 200000, 'a long history is full');
my $cancelled = 0;

foreach my $ms (1, 2, 5, 10, 20, 50)
{
	# Local: a RESET of its own would be subject to the timeout too.  As COMMIT is,
	# hence the ROLLBACK.
	$s->send("BEGIN; SET LOCAL statement_timeout = $ms; SELECT count(*) FROM pfs.events_waits_history_long; COMMIT; ROLLBACK")->result;
	$cancelled++ if $s->last_error =~ /ERROR:  57014/;
}
cmp_ok($cancelled, '>=', 1, 'a scan of it can be cancelled');
is($s->query('SELECT count(*) FROM pfs.events_waits_history_long'), 200000, 'and works afterwards');
$s->send('SELECT count(*) FROM pfs.events_waits_history_long a, pfs.events_waits_history_long b, pfs.events_waits_history_long c');
$server->poll('SELECT state FROM pg_stat_activity WHERE pid = ' . $s->pid, 'active');
$server->sql('SELECT pg_cancel_backend(' . $s->pid . ')');
$s->result;
like($s->last_error, qr/57014/, 'so can a join of it with itself');
# A reader that is killed off leaves nothing behind that another one waits for.
my $reader = $server->session;
my $reader_id = $reader->thread_id;
$reader->send('SELECT count(*) FROM pfs.events_waits_history_long a, pfs.events_waits_history_long b');
$server->poll('SELECT state FROM pg_stat_activity WHERE pid = ' . $reader->pid, 'active');
$server->sql('SELECT pg_terminate_backend(' . $reader->pid . ')');
$reader->result;
like($reader->last_error, qr/57P01/, 'a reader is terminated');
ok($server->poll("SELECT count(*) FROM pfs.threads WHERE thread_id = $reader_id", 0), 'its thread is gone');
is($server->sql('SELECT count(*) FROM pfs.events_waits_history_long'), 200000, 'others read on');

# ---- FATAL ----

my $idle;

# One that loses its processor before it is idle is idle for a shorter time, or not at all: then another one.
for (1 .. 5)
{
	my $dying = $server->session;
	my $dying_id = $dying->thread_id;

	$dying->query(q{SET idle_in_transaction_session_timeout = '100ms'; BEGIN});
	ok($server->poll("SELECT count(*) FROM pfs.threads WHERE thread_id = $dying_id", 0), 'a session that ends with FATAL is gone');
	is($server->sql("SELECT count(*) FROM pfs.events_waits_current WHERE thread_id = $dying_id"), 0, 'with its running events');
	$idle = ($server->sql("SELECT timer_wait FROM pfs.events_waits_history_long WHERE thread_id = $dying_id"
		  . " AND event_name = 'idle/transaction' ORDER BY event_id DESC LIMIT 1") || 0) / 1e12;
	last if $idle >= 0.09;
}
between($idle, 0.09, 60, 'its last idle time is known');
my $threads = $server->sql('SELECT max(thread_id) FROM pfs.threads');
my ($status, $out, $err) = $server->psql('SELECT 1', db => 'nowhere');
is($status, 2, 'a session that fails at its start');
ok($server->poll("SELECT count(*) FROM pfs.threads WHERE thread_id > $threads", 0), 'leaves no thread');
# Ends without a word, in the middle of a query or between.
my @lost = map { $server->session } 1 .. 5;
my $lost = join(', ', map { $_->thread_id } @lost);
$lost[$_]->send('SELECT pg_sleep(0.2)') foreach 0 .. 2;
$_->kill foreach @lost;
ok($server->poll("SELECT count(*) FROM pfs.threads WHERE thread_id IN ($lost)", 0), 'clients that vanish leave no threads');

# ---- SIGKILL of a backend in the middle of a load ----

my $before = $server->sql($start_time);
$server->sql("UPDATE pfs.setup_instruments SET enabled = 'NO' WHERE name = 'wait/timeout/PgSleep'");
my $old_threads = $server->sql('SELECT max(thread_id) FROM pfs.threads');
# Besides these pgbench has had a connection that ran nothing, whose process may just be ending.
my $busy = q{FROM pg_stat_activity WHERE application_name = 'pgbench' AND query LIKE 'UPDATE%'};
foreach my $round (1 .. 3)
{
	my $pgbench = $server->pgbench_start($load, '-c', 6, '-j', 1, '-T', 60);

	$server->poll("SELECT count(*) >= 6 $busy");
	sleep(0.1 * $round);
	my @victims = split /\n/, $server->sql("SELECT pid $busy");
	my $started = $server->sql($start_time);

	$server->mark_log;
	is(kill('KILL', $victims[$round]), 1, "round $round: a backend is killed");
	$server->pgbench_end($pgbench, fail_ok => 1);
	$server->lost_sessions;
	ok($server->poll_connect("SELECT ($start_time) <> '$started'", 't'), 'the server has new processes, pfs a new start time');
	like($server->log_text, qr/was terminated by signal 9/, 'because of that');
	unlike($server->log_text, qr/PANIC|terminated by signal (?!9\b)|could not (map|create) shared memory/, 'and nothing else happened');
	# From zero: nothing is older than the new start.
	is($server->sql(<<'EOT'), 'f|0|0|0', 'everything counts from zero');
SELECT max(timer_end) > pfs.timer_now(), count(*) FILTER (WHERE timer_start < 0),
       count(*) FILTER (WHERE pfs.timer_to_timestamp(timer_start) < (SELECT variable_value::timestamptz FROM pfs.status WHERE variable_name = 'pfs_start_time') - interval '0.1 s'),
       (SELECT count(*) FROM pfs.status WHERE variable_name LIKE '%lost' AND variable_value <> '0')
  FROM pfs.events_waits_history_long
EOT
	is($server->sql("SELECT enabled FROM pfs.setup_instruments WHERE name = 'wait/timeout/PgSleep'"), 'YES', 'run-time set-up is gone');
	cmp_ok($server->sql('SELECT max(thread_id) FROM pfs.threads'), '<', 40, 'threads count from 1');
}
cmp_ok($server->sql('SELECT extract(epoch FROM (' . $start_time . ")::timestamptz - '$before')"), '>', 0, 'the start time moved on');

# Works as after any start: all probes, exact events, other sessions.
is($server->sql(q{SELECT count(*) FROM pfs.probes WHERE status = 'active'}) > 20, 1, 'probes are active');
my $again = $server->session;
my $again_id = $again->thread_id;
my $n = $server->sql("SELECT count(*) FROM pfs.events_waits_history_long WHERE thread_id = $again_id");
$again->query(q{SELECT count(pg_stat_file('PG_VERSION')) FROM generate_series(1, 1000)});
is($server->sql("SELECT count(*) FROM pfs.events_waits_history_long WHERE thread_id = $again_id AND event_name = 'wait/io/file/FileStat'"),
	1000, 'events are recorded exactly');
$server->pgbench($load, '-c', 4, '-t', 100);
is($server->sql(q{SELECT count(DISTINCT thread_id) >= 4 FROM pfs.events_waits_history_long WHERE event_name = 'idle'}), 't', 'of all sessions');

# An auxiliary process is killed: the same.
my $started = $server->sql($start_time);
my $walwriter = $server->sql(q{SELECT thread_os_id FROM pfs.threads WHERE name = 'thread/walwriter'});
kill 'KILL', $walwriter;
$server->lost_sessions;
ok($server->poll_connect("SELECT ($start_time) <> '$started'", 't'), 'the walwriter is killed: a new start, too');
ok($server->poll(q{SELECT count(*) FROM pfs.threads WHERE name IN ('thread/walwriter', 'thread/checkpointer', 'thread/background_writer')}, 3),
	'background processes are seen again');

# An immediate stop leaves nothing that hinders the next start.
my $last = $server->pgbench_start($load, '-c', 4, '-j', 1, '-T', 60);
$server->poll(q{SELECT count(*) >= 4 FROM pfs.threads WHERE application_name = 'pgbench'});
$server->stop('immediate');
$server->pgbench_end($last, fail_ok => 1);
$server->start;
is($server->sql('SELECT count(*) > 0 FROM pfs.events_waits_history_long'), 't', 'after an immediate stop in the middle of a load it starts and records');

done_testing();
