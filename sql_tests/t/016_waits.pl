# Waits of the other families, each made on purpose: LWLocks, spinlocks, buffer
# pins, clients, programs, extensions, idleness.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/lib";
use PfsServer;
use Test::More;
use Time::HiRes qw(sleep time);

my $module = test_module('pfs_test');
my $server = PfsServer->new('main', preload => "pfs, $module", conf => <<'EOT');
autovacuum = off
max_worker_processes = 12
pfs.instruments = 'wait/synch/lwlock/pfs_test_late=COUNTED, wait/extension/PfsTestOff=OFF'
EOT
$server->start;
$server->sql('CREATE EXTENSION pfs');
$server->sql(test_functions('pfs_test'));

my $a = $server->session(name => 'a');
my $b = $server->session(name => 'b');
my $ta = $a->thread_id;
my $tb = $b->thread_id;

# Events of b so far; those of a name since then.
my $mark;
sub mark { $mark = $server->sql("SELECT coalesce(max(event_id), 0) FROM pfs.events_waits_history WHERE thread_id = $tb"); }

sub of_b
{
	my ($name, $columns) = @_;

	return $server->sql("SELECT $columns FROM pfs.events_waits_history_long WHERE thread_id = $tb AND event_name = '$name' AND event_id > $mark");
}

sub running
{
	my ($thread, $name) = @_;

	return $server->poll("SELECT count(*) FROM pfs.events_waits_current WHERE thread_id = $thread AND event_name LIKE '$name'", 1);
}

# How long a session's statement took by its own clock: the outside witness.
sub timed
{
	my ($session, $sql) = @_;

	return $session->query("SELECT clock_timestamp() AS began \\gset\n$sql \\g /dev/null\n"
		  . "SELECT extract(epoch FROM clock_timestamp() - :'began')");
}

# ---- an LWLock of another extension ----

my $tranche = 'wait/synch/lwlock/pfs_test';

is($server->sql("SELECT count(*) FROM pfs.setup_instruments WHERE name = '$tranche'"), 0, 'a tranche that nobody waited for is not listed');
mark();
$a->send(q{SELECT hold('pfs_test', 'exclusive')});
ok(running($ta, 'wait/timeout/OtherSleep'), 'the lock is held');
$b->send(q{SELECT clock_timestamp() AS began \gset} . "\n" . q{SELECT lwlock('pfs_test', 'shared', 0) \g /dev/null}
	  . "\nSELECT extract(epoch FROM clock_timestamp() - :'began')");
ok(running($tb, $tranche), 'the wait is shown while it lasts');
is($server->sql("SELECT object_type, operation, spins, timer_end IS NULL FROM pfs.events_waits_current WHERE thread_id = $tb"),
	'LWLOCK|shared_lock|1|t', 'what it waits for');
is($server->sql('SELECT wait_event_type, wait_event FROM pg_stat_activity WHERE pid = ' . $b->pid),
	$server->sql("SELECT wait_event_type, wait_event FROM pfs.setup_instruments WHERE name = '$tranche'"), 'PostgreSQL has the same words for it');
ok($server->poll_lasts($tb, $tranche, 0.2), 'the wait lasts');
$server->sql('SELECT release_hold()');
my $took = $b->result;
$a->result;
is(of_b($tranche, 'count(*)'), 1, 'one event');
between(of_b($tranche, 'max(timer_wait)') / 1e12, 0.2, $took, "no longer than the call, which took $took s");
is(of_b($tranche, 'object_type, operation, spins'), 'LWLOCK|shared_lock|1', 'with its lock mode and one sleep');
like($server->sql("SELECT source FROM pfs.events_waits_history_long WHERE thread_id = $tb AND event_name = '$tranche'") || 'NULL',
	qr/^(?!LWLockAcquire|PGSemaphoreLock)/, 'its source is none of the wrappers');

# Two that want it: the second sleeps until the first has had it, in turn.
mark();
my $c = $server->session;
$a->send(q{SELECT hold('pfs_test', 'exclusive')});
ok(running($ta, 'wait/timeout/OtherSleep'), 'the lock is held again');
$_->send(q{SELECT lwlock('pfs_test', 'exclusive', 0.1)}) foreach $b, $c;
ok(running($_->thread_id, $tranche), 'a session waits for it') foreach $b, $c;
$server->sql('SELECT release_hold()');
$_->result foreach $a, $b, $c;
# Another process can wait for one of the server's, for a moment.
ok($server->poll("SELECT count(*) FROM pfs.events_waits_current WHERE event_name LIKE 'wait/synch/lwlock/%'", 0), 'nobody waits any more');
cmp_ok($server->sql("SELECT count(*) FROM pfs.events_waits_history_long WHERE event_name = '$tranche' AND operation = 'exclusive_lock'"),
	'>=', 1, 'those who waited have an event');

# A tranche whose name the waiting process does not know.
$a->send(q{SELECT hold('late', 'exclusive')});
ok(running($ta, 'wait/timeout/OtherSleep'), 'a lock of that tranche is held');
$b->send(q{SELECT lwlock('late', 'exclusive', 0)});
ok(running($tb, 'wait/synch/lwlock/%'), 'and waited for');
$server->sql('SELECT release_hold()');
$_->result foreach $a, $b;
SKIP:
{
	skip 'every process knows the names of all tranches', 1 if PfsServer::version() >= 19;
	like($server->sql("SELECT DISTINCT event_name FROM pfs.events_waits_history WHERE thread_id = $tb AND event_name LIKE 'wait/synch/lwlock/%'") || '',
		qr{^wait/synch/lwlock/extension:\d+$}m, 'a tranche without a name has a number');
}
is($c->query('SELECT register() IS NULL; SELECT enabled, timed FROM pfs.setup_instruments WHERE name = ' . "'wait/synch/lwlock/pfs_test_late'"),
	"f\nYES|NO", 'until a process that knows it looks; its start-up setting applies then');
is($server->sql("SELECT DISTINCT event_name FROM pfs.events_waits_history WHERE thread_id = $tb AND event_name LIKE 'wait/synch/lwlock/%late'"),
	'wait/synch/lwlock/pfs_test_late', 'also to events of before');
is($server->sql(q{SELECT wait_event_type, wait_event FROM pfs.setup_instruments WHERE name = 'wait/synch/lwlock/pfs_test_late'}),
	'LWLock|pfs_test_late', 'and to the words of pg_stat_activity');
is($server->sql(q{SELECT count(*) FROM pfs.setup_instruments WHERE name LIKE '%extension:%'}), 0, 'and no other name is left');

# ---- a spinlock ----

mark();
my $spin = 'wait/synch/spinlock/SpinDelay';

# Its holder says nothing to others: it may not have it yet, or no longer.
$took = 0;
for (1 .. 20)
{
	$a->send('SELECT spinlock(0.3)');
	sleep(0.02) until $a->is_done || $server->sql("SELECT processlist_command FROM pfs.threads WHERE thread_id = $ta") eq 'Query';
	$took += timed($b, 'SELECT spinlock(0)');
	$a->result;
	# Where the server was built without frame pointers they can be sleeps.
	last if of_b($spin, 'count(*)') + of_b('wait/timeout/OtherSleep', 'count(*)') > 0;
}
SKIP:
{
	skip 'before 16 spin delays are told from sleeps by their callers, and the server was built without frame pointers', 4
	  if PfsServer::version() < 16 && !$server->has_frame_pointers;
	cmp_ok(of_b($spin, 'count(*)'), '>', 0, 'a spinlock that is held makes delays');
	is(of_b($spin, 'count(*) FILTER (WHERE spins IS DISTINCT FROM 1)'), 0, 'each event is one');
	between(of_b($spin, 'sum(timer_wait)') / 1e12, 0.001, $took, 'they add up to no more than the calls');
	is(of_b('wait/timeout/OtherSleep', 'count(*)'), 0, 'and are not taken for sleeps');
}

# ---- a buffer pin ----

my $pin = PfsServer::version() >= 19 ? 'wait/synch/buffer/BufferCleanup' : 'wait/synch/bufferpin/BufferPin';

$a->query('CREATE TABLE pinned AS SELECT 1 AS n; INSERT INTO pinned VALUES (2); DELETE FROM pinned WHERE n = 1');
$a->query('BEGIN; DECLARE c CURSOR FOR SELECT * FROM pinned; FETCH 1 FROM c');
mark();
$b->send('VACUUM (FREEZE, DISABLE_PAGE_SKIPPING) pinned');
ok(running($tb, $pin), 'VACUUM waits for a buffer that a cursor has pinned');
# Whatever wakes it up, it goes on waiting.
$server->sql('SELECT pg_log_backend_memory_contexts(' . $b->pid . ')') for 1 .. 3;
ok($server->poll_lasts($tb, $pin, 0.3), 'it goes on');
$a->query('COMMIT');
$b->result;
between(of_b($pin, 'sum(timer_wait)') / 1e12, 0.3, 60, 'for as long as the cursor was open');
is($server->sql("SELECT count(*) FROM pfs.events_waits_current WHERE event_name = '$pin'"), 0, 'and no longer');

# ---- a lock wait that is woken up many times ----

$a->query('BEGIN; LOCK TABLE pinned');
mark();
$b->send('SELECT count(*) FROM pinned');
ok(running($tb, 'wait/lock/relation'), 'a lock wait');
for (1 .. 10)
{
	$server->sql('SELECT pg_log_backend_memory_contexts(' . $b->pid . ')');
	sleep(0.02);
}
ok($server->poll_lasts($tb, 'wait/lock/relation', 0.2), 'it goes on');
$a->query('COMMIT');
$b->result;
is(of_b('wait/lock/relation', 'count(*)'), 1, 'signals that wake it up do not cut it into pieces');
between(of_b('wait/lock/relation', 'max(timer_wait)') / 1e12, 0.2, 60, 'it is as long as it was');

# ---- idleness ----

$b->query('SELECT 1');
ok(running($tb, 'idle'), 'a session is idle');
my $idle = $server->sql("SELECT event_id FROM pfs.events_waits_current WHERE thread_id = $tb AND event_name = 'idle'");
$server->mark_log;
for (1 .. 5)
{
	$server->sql('SELECT pg_log_backend_memory_contexts(' . $b->pid . ')');
	sleep(0.02);
}
$server->wait_log(qr/Grand total/);
is($server->sql("SELECT event_id FROM pfs.events_waits_current WHERE thread_id = $tb AND event_name = 'idle'"), $idle,
	'signals that it handles do not end its idle time');
ok($server->poll_lasts($tb, 'idle', 0.2), 'it goes on');
$b->query('SELECT 1');
between($server->sql("SELECT timer_wait FROM pfs.events_waits_history_long WHERE thread_id = $tb AND event_id = $idle") / 1e12, 0.2, 600,
	'the next command does: it is one event of all that time');
is($server->sql("SELECT nesting_event_id IS NULL FROM pfs.events_waits_history_long WHERE thread_id = $tb AND event_id = $idle"), 't',
	'idle is within nothing');
is($server->sql(<<"EOT"), 0, 'idle times follow each other: between two there is a command');
SELECT count(*) FROM (SELECT timer_start - lag(timer_end) OVER (ORDER BY event_id) AS gap FROM pfs.events_waits_history_long
                       WHERE thread_id = $tb AND event_name LIKE 'idle%') e WHERE gap < 0
EOT

# ---- a client that is slow, in the middle of a command ----

# Data for COPY that does not come.
$b->query('CREATE TABLE copied (n int)');
mark();
$b->{in} .= "COPY copied FROM STDIN;\n1\n";
$b->{handle}->pump_nb while $b->{in} ne '';
ok(running($tb, 'wait/io/socket/ClientRead'), 'COPY waits for its client by a socket event, not by an idle one');
is($server->sql("SELECT object_type, operation FROM pfs.events_waits_current WHERE thread_id = $tb"), 'SOCKET|wait', 'on its socket');
ok($server->poll_lasts($tb, 'wait/io/socket/ClientRead', 0.2), 'for long');
$b->{in} .= "2\n\\.\n";
$b->query('SELECT 1');
between(of_b('wait/io/socket/ClientRead', 'max(timer_wait)') / 1e12, 0.2, 60, 'as long as it had to');
is(of_b('wait/io/socket/ClientRead', q{count(*) FILTER (WHERE operation = 'recv' AND number_of_bytes > 0) > 0}), 't', 'then it received bytes');
is($server->sql('SELECT count(*) FROM copied'), 2, 'which are the rows');

# A client that does not take what it asked for, which waits until the client is stopped.
my $stopped = $server->session;
my $tstopped = $stopped->thread_id;
my $client = $stopped->{handle}{KIDS}[0]{PID};
$a->query('SELECT pg_advisory_lock(9)');
$stopped->send(q{SELECT repeat('x', 1000) FROM (SELECT pg_advisory_xact_lock(9)) s, generate_series(1, 5000) \g /dev/null});
running($tstopped, 'wait/lock/advisory');
kill 'STOP', $client;
$a->query('SELECT pg_advisory_unlock(9)');
ok(running($tstopped, 'wait/io/socket/ClientWrite'), 'a session waits for a client that does not read');
ok($server->poll_lasts($tstopped, 'wait/io/socket/ClientWrite', 0.2), 'for long');
kill 'CONT', $client;
$stopped->result;
is($stopped->last_error, '', 'which gets everything later');
cmp_ok($server->sql("SELECT max(timer_wait) FROM pfs.events_waits_history_long WHERE thread_id = $tstopped"
	  . " AND event_name = 'wait/io/socket/ClientWrite' AND operation = 'wait'") / 1e12, '>=', 0.19, 'the wait is there with its time');
is($server->sql("SELECT sum(number_of_bytes) > 1000000 FROM pfs.events_waits_history_long WHERE thread_id = $tstopped"
	  . " AND event_name = 'wait/io/socket/ClientWrite' AND operation = 'send'"), 't', 'so are the calls with their bytes');

# ---- programs ----

mark();
$b->query(q{COPY (SELECT 1) TO PROGRAM 'cat >/dev/null; sleep 0.3'});
between(of_b('wait/synch/ipc/ChildProcess', 'max(timer_wait)') / 1e12, 0.29, 60, 'a program that COPY waits for');

# ---- events and processes of extensions ----

mark();
my $custom = PfsServer::version() >= 17 ? 'wait/extension/PfsTestOn' : 'wait/extension/Extension';

$b->send(q{SELECT wait('PfsTestOn', 600)});
ok($server->poll("SELECT count(*) FROM pfs.events_waits_current WHERE thread_id = $tb AND event_name LIKE 'wait/extension/%'", 1), 'a wait of an extension');
$server->poll_lasts($tb, 'wait/extension/%', 0.3);
$server->sql('SELECT pg_cancel_backend(' . $b->pid . ')');
$b->result;
between(of_b($custom, 'max(timer_wait)') / 1e12, 0.29, 60, "as $custom");
SKIP:
{
	skip 'no custom wait events', 3 if PfsServer::version() < 17;
	is($server->sql("SELECT wait_event_type, wait_event FROM pfs.setup_instruments WHERE name = '$custom'"), 'Extension|PfsTestOn', 'with the words of pg_stat_activity');
	$b->query(q{SELECT wait('PfsTestOff', 0.001)});
	is($server->sql(q{SELECT enabled FROM pfs.setup_instruments WHERE name = 'wait/extension/PfsTestOff'}), 'NO', 'one that was switched off at the start');
	mark();
	$b->query(q{SELECT wait('PfsTestOff', 0.001)});
	is(of_b('wait/extension/PfsTestOff', 'count(*)'), 0, 'has no events, once its name is known');
}
my $worker = $b->query(qq{SELECT worker('$module', 'test worker')});
ok($server->poll("SELECT name, type FROM pfs.threads WHERE thread_os_id = $worker", 'thread/worker/test_worker|BACKGROUND'),
	'a background worker has its own name');
ok($server->poll("SELECT event_name FROM pfs.events_waits_current JOIN pfs.threads USING (thread_id) WHERE thread_os_id = $worker",
		'wait/extension/Extension'), 'and its waits');
kill 'TERM', $worker;
ok($server->poll("SELECT count(*) FROM pfs.threads WHERE thread_os_id = $worker", 0), 'until it ends');

# A child that the server does not know must not write its parent's record.
mark();
is($b->query('SELECT fork(50)'), 3, 'a fork of an extension');
is(of_b('wait/timeout/OtherSleep', 'count(*)'), 0, 'whose sleeps are nobody\'s');
# A time that a process can lose its processor for would be over before pg_sleep() waits.
$b->query('SELECT pg_sleep(0.1)');
# By statement: a latch that somebody else sets ends a wait of pg_sleep() early, and there is another one.
is(of_b('wait/timeout/PgSleep', 'count(DISTINCT nesting_event_id)'), 1, 'the session goes on');

# ---- the long history alone: what is in a session's own stays there ----

my $own = "SELECT count(*), string_agg(event_id::text, ',' ORDER BY event_id) FROM pfs.events_waits_history WHERE thread_id = $tb";
$b->query('SELECT pg_sleep(0.1)') foreach 1 .. 10;
$server->sql("UPDATE pfs.setup_consumers SET enabled = 'NO' WHERE name = 'events_waits_history'");
# The wait for this query began before.
$b->query('SELECT 1');
my $had = $server->sql($own);
like($had, qr/^10\|/, 'ten waits');
mark();
$b->query('SELECT pg_sleep(0.1)') foreach 1 .. 3;
is(of_b('wait/timeout/PgSleep', 'count(DISTINCT nesting_event_id)'), 3, 'later ones are in the long history');
is($server->sql($own), $had, 'and not among the ten');
$server->sql("UPDATE pfs.setup_consumers SET enabled = 'YES' WHERE name = 'events_waits_history'");

# ---- the same words as PostgreSQL, for everybody at once ----

my @others = map { $server->session } 1 .. 5;
$a->query('BEGIN; LOCK TABLE pinned; SELECT pg_advisory_lock(5)');
$others[0]->send('SELECT count(*) FROM pinned');
$others[1]->send('SELECT pg_advisory_lock(5)');
$others[2]->send('SELECT pg_sleep(600)');
$others[3]->query('BEGIN');
$others[4]->send(q{SELECT wait('PfsTestOn', 600)});
$server->poll('SELECT count(*) FROM pg_locks WHERE NOT granted', 2);
ok($server->poll(<<'EOT', 0), 'what every process waits for is what pg_stat_activity says') or diag($server->sql(<<'EOD'));
SELECT count(*) FROM pg_stat_activity a LEFT JOIN pfs.threads t ON t.thread_os_id = a.pid
  LEFT JOIN LATERAL (SELECT event_name FROM pfs.events_waits_current e WHERE e.thread_id = t.thread_id ORDER BY event_id DESC LIMIT 1) e ON true
  LEFT JOIN pfs.setup_instruments i ON i.name = e.event_name
 WHERE a.pid <> pg_backend_pid() AND a.backend_type <> 'pfs recorder' AND (a.wait_event_type, a.wait_event) IS DISTINCT FROM (i.wait_event_type, i.wait_event)
EOT
SELECT a.pid, a.backend_type, a.wait_event_type, a.wait_event, e.event_name FROM pg_stat_activity a LEFT JOIN pfs.threads t ON t.thread_os_id = a.pid
  LEFT JOIN pfs.events_waits_current e USING (thread_id)
EOD
ok($server->poll('SELECT count(DISTINCT wait_event) >= 8 FROM pg_stat_activity'), 'they wait for different things');
$a->query('COMMIT');
$server->sql('SELECT pg_cancel_backend(' . $_->pid . ')') foreach @others;

done_testing();
