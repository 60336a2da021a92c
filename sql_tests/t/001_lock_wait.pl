# Waits for heavyweight locks: one event from the first to the last moment, with
# the lock as its object, whatever ends the wait.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/lib";
use PfsDocs;
use PfsServer;
use Test::More;
use Time::HiRes qw(sleep time);

my $deadlock_timeout = 0.4;
my $server = PfsServer->new('main', conf => <<"EOT");
deadlock_timeout = '${deadlock_timeout}s'
log_lock_waits = on
EOT
$server->start;
$server->sql('CREATE EXTENSION pfs');
$server->sql('CREATE TABLE queue (id int PRIMARY KEY, n int); INSERT INTO queue VALUES (1, 0), (2, 0)');

my $a = $server->session(name => 'a');
my $b = $server->session(name => 'b');
my $c = $server->session(name => 'c');
my $ta = $a->thread_id;
my $tc = $c->thread_id;

# Lock events of a thread in the given table, oldest first.
sub locks
{
	my ($table, $thread, $columns, $condition) = @_;

	return $server->sql("SELECT $columns FROM (SELECT * FROM pfs.events_waits_$table"
		  . " WHERE thread_id = $thread AND event_name LIKE 'wait/lock/%' ORDER BY event_id) e WHERE " . ($condition // 'true'));
}

sub is_waiting
{
	my ($thread) = @_;

	return $server->poll("SELECT count(*) FROM pfs.events_waits_current"
		  . " WHERE thread_id = $thread AND event_name LIKE 'wait/lock/%'", 1);
}

# ---- a row lock: B holds, A waits for B's transaction, C for A's turn ----

my $xid = $b->query('BEGIN; UPDATE queue SET n = n + 1 WHERE id = 1; SELECT pg_current_xact_id()');

$server->mark_log;
$a->send('UPDATE queue SET n = n + 1 WHERE id = 1');
ok(is_waiting($ta), 'a lock wait is shown while it lasts');
my $seen = $server->sql('SELECT clock_timestamp()');
$c->send('UPDATE queue SET n = n + 1 WHERE id = 1');
ok(is_waiting($tc), 'so is the second in the queue');

is(locks('current', $ta, 'event_name, object_type, object_schema IS NULL, object_name, operation'),
	"wait/lock/transactionid|TRANSACTIONID|t|$xid|ShareLock", 'object: the transaction that holds the row');
is(locks('current', $tc, 'event_name, object_type, object_schema, object_name, operation'),
	'wait/lock/tuple|TUPLE|public|queue|ExclusiveLock', 'object: the relation whose row it is');
is(locks('current', $ta, 'timer_start IS NULL, timer_end IS NULL, timer_wait IS NULL, end_event_id IS NULL'),
	'f|t|t|t', 'a running event has a start and no end');
is(locks('current', $ta, 'object_instance_begin <> 0, source IS NOT NULL'), $server->has_frame_pointers ? 't|t' : 't|f',
	'the lock has an address, the wait a source');

# The query of docs/cookbook.md for what each session waits for has one row for each, nested waits or not.
(my $waits_for = PfsDocs::query(qr/DISTINCT ON \(a\.pid\)/)) =~ s/( LIMIT \d+)?;\s*$//;
ok($server->poll("SELECT string_agg(rows || ' ' || event_name, ', ' ORDER BY array_position(ARRAY[" . join(', ', map { $_->pid } $a, $b, $c) . "], pid))"
	  . " FROM (SELECT pid, count(*) AS rows, min(event_name) AS event_name FROM ($waits_for) q GROUP BY pid) s WHERE pid IN ("
	  . join(', ', map { $_->pid } $a, $b, $c) . ')',
	'1 wait/lock/transactionid, 1 idle/transaction, 1 wait/lock/tuple'), 'one row for each session: what it waits for');
is($server->sql('SELECT count(*) FROM pg_stat_activity a JOIN pfs.setup_instruments i USING (wait_event_type, wait_event) WHERE a.pid = ' . $b->pid),
	3, 'by the words of pg_stat_activity it would be three');

my $so_far = locks('current', $ta, 'pfs.timer_now() - timer_start');
ok($server->poll_lasts($ta, 'wait/lock/%', $so_far / 1e12 + 0.2), 'the wait lasts');
between(locks('current', $ta, 'pfs.timer_now() - timer_start'), $so_far + 0.19e12, $so_far + 60e12, 'time so far grows');

my $event = locks('current', $ta, 'event_id');
# The witness's clock: since when PostgreSQL itself says that A waits.  A process can lose its processor between the
# two, but not beyond the moment when it was seen to wait.
is($server->sql("SELECT pfs.timer_to_timestamp(timer_start) BETWEEN waitstart - interval '0.5 s' AND '$seen'::timestamptz + interval '0.5 s'"
	  . " FROM pg_locks, pfs.events_waits_current WHERE pid = " . $a->pid . " AND NOT granted AND event_id = $event AND thread_id = $ta"),
	't', 'it began when pg_locks says that it did');

# Past the deadlock check, whose end ends the server's call but not the wait.
$server->wait_log(qr/still waiting for ShareLock on transaction $xid/);
ok($server->poll_lasts($ta, 'wait/lock/%', 1), 'the wait outlives the deadlock check');
is(locks('current', $ta, 'event_id'), $event, 'the same event goes on after the deadlock check');
is(locks('history', $ta, 'count(*)'), 0, 'and nothing of it is in the history');
$so_far = locks('current', $ta, 'pfs.timer_now() - timer_start') / 1e9;
$b->query('COMMIT');
$a->result;
is($a->last_error, '', 'A got its row');
is(locks('current', $ta, 'count(*)'), 0, 'gone from current when the lock is granted');
# If C was faster, A had to wait for C's transaction, too.
my $it = "object_name = '$xid'";
is(locks('history', $ta, 'event_id, event_name', $it), "$event|wait/lock/transactionid", 'one event in the history, not three');
is(locks('history', $ta, 'timer_wait = timer_end - timer_start, end_event_id >= event_id', $it), 't|t', 'with both ends');
is(locks('history_long', $ta, 'event_id', $it), $event, 'and one in the long history');

my ($logged) = $server->log_text =~ /acquired ShareLock on transaction $xid after ([\d.]+) ms/;
ok(defined $logged, 'PostgreSQL logged the wait, too');
my $measured = locks('history', $ta, 'timer_wait', $it) / 1e9;
# The server's own two readings enclose ours, and a process can lose its processor in between.
between($measured, $so_far, $logged * 1.002, 'both measured the same: ' . sprintf('%.1f and %.1f ms', $measured, $logged));
between($measured, 1000, 60000, 'a wait of a second is one of about 1e12');

$c->result;
# When C looks at the row again, it may be A's, not committed yet.
like(locks('history', $tc, q{string_agg(event_name || ' ' || object_name, ', ' ORDER BY event_id)}),
	qr{^wait/lock/tuple queue(, wait/lock/transactionid \d+)?$}, "C's wait for its turn is one event, too");

# ---- what nests in it ----

is($server->sql(<<"EOT"), 0, 'events inside the wait are within its times');
SELECT count(*) FROM pfs.events_waits_history_long i JOIN pfs.events_waits_history_long o
	ON o.thread_id = i.thread_id AND o.event_id = i.nesting_event_id
 WHERE o.event_name LIKE 'wait/lock/%'
   AND (i.timer_start < o.timer_start OR i.timer_end > o.timer_end OR i.event_id <= o.event_id OR i.event_id > o.end_event_id)
EOT

# ---- other kinds of locks ----

$b->query('BEGIN; LOCK TABLE queue IN ACCESS EXCLUSIVE MODE');
$a->send('SELECT count(*) FROM queue');
ok(is_waiting($ta), 'waits for a table');
is(locks('current', $ta, 'event_name, object_type, object_schema, object_name, operation'),
	'wait/lock/relation|RELATION|public|queue|AccessShareLock', 'object: the table');
# The name is looked up in the reader's database only.
$server->sql('CREATE DATABASE other');
my $there = $server->session(db => 'other');
$there->query('CREATE EXTENSION pfs');
is($there->query("SELECT object_schema, object_name = (SELECT relation::text FROM pg_locks WHERE pid = "
	  . $a->pid . " AND NOT granted) FROM pfs.events_waits_current WHERE thread_id = $ta"),
	'[postgres]|t', 'read from another database: that database and the OID');
$b->query('COMMIT');
$a->result;

$b->query('SELECT pg_advisory_lock(7, 8)');
$a->send('SELECT pg_advisory_lock_shared(7, 8)');
ok(is_waiting($ta), 'waits for an advisory lock');
like(locks('current', $ta, 'event_name, object_type, object_schema IS NULL, object_name, operation'),
	qr{^wait/lock/advisory\|ADVISORY\|t\|\d+/7/8.*\|ShareLock$}, 'object: the numbers of the key');
$b->query('SELECT pg_advisory_unlock(7, 8)');
$a->result;
$a->query('SELECT pg_advisory_unlock_all()');

$b->query('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM queue');
my $virtual = $server->sql("SELECT virtualxid FROM pg_locks WHERE locktype = 'virtualxid' AND pid = " . $b->pid);
$a->send('CREATE INDEX CONCURRENTLY ON queue (n)');
# It can wait for the one that looks, too, for a moment.
ok($server->poll("SELECT count(*) FROM pfs.events_waits_current WHERE thread_id = $ta AND event_name = 'wait/lock/virtualxid' AND object_name = '$virtual'", 1),
	'waits for a transaction without number');
is($server->sql("SELECT e.object_type, e.object_name = l.virtualxid, e.operation FROM pfs.events_waits_current e, pg_locks l"
	  . " WHERE thread_id = $ta AND event_name LIKE 'wait/lock/%' AND pid = " . $a->pid . " AND NOT granted"),
	'VIRTUALXID|t|ShareLock', 'object: that transaction');
$b->query('COMMIT');
$a->result;

# ---- waits that end without the lock ----

my $last = $server->sql("SELECT max(event_id) FROM pfs.events_waits_history WHERE thread_id = $ta");

$b->query('BEGIN; UPDATE queue SET n = n + 1 WHERE id = 1');
$a->send('UPDATE queue SET n = n + 1 WHERE id = 1');
ok(is_waiting($ta), 'waits again');
ok($server->poll_lasts($ta, 'wait/lock/%', 0.3), 'and waits on');
my $began = time();
$so_far = locks('current', $ta, 'pfs.timer_now() - timer_start') / 1e12;
is($server->sql('SELECT pg_cancel_backend(' . $a->pid . ')'), 't', 'cancelled');
$a->result;
my $latest = $so_far + time() - $began;
like($a->last_error, qr/57014/, 'A was cancelled');
is(locks('current', $ta, 'count(*)'), 0, 'cancelled: gone from current');
is(locks('history', $ta, "count(*) FILTER (WHERE event_id > $last)"), 1, 'and in the history');
between(locks('history', $ta, "max(timer_wait) FILTER (WHERE event_id > $last)") / 1e12, $so_far - 0.001, $latest + 0.01,
	'as long as it lasted');

# One that loses its processor in front of its wait waits less, or not at all: then once more.
for (1 .. 5)
{
	$last = $server->sql("SELECT max(event_id) FROM pfs.events_waits_history WHERE thread_id = $ta");
	$a->send("SET lock_timeout = '300ms'; UPDATE queue SET n = n + 1 WHERE id = 1; RESET lock_timeout")->result;
	last if (locks('history', $ta, "max(timer_wait) FILTER (WHERE event_id > $last)") || 0) >= 0.295e12;
}
like($a->last_error, qr/55P03/, 'A gave up');
is(locks('history', $ta, "count(*) FILTER (WHERE event_id > $last)"), 1, 'given up: one event in the history');
between(locks('history', $ta, "max(timer_wait) FILTER (WHERE event_id > $last)") / 1e12, 0.295, 0.295 + time() - $began,
	'of the length of lock_timeout');

# Past the deadlock check, so that the wait consists of more than one call.
$last = $server->sql("SELECT max(event_id) FROM pfs.events_waits_history WHERE thread_id = $ta");
$server->mark_log;
$a->send('UPDATE queue SET n = n + 1 WHERE id = 1');
$server->wait_log(qr/still waiting/);
$so_far = locks('current', $ta, 'pfs.timer_now() - timer_start') / 1e12;
is($server->sql('SELECT pg_terminate_backend(' . $a->pid . ')'), 't', 'terminated');
$a->result;
like($a->last_error, qr/57P01/, 'A was terminated');
ok($server->poll("SELECT count(*) FROM pfs.threads WHERE thread_id = $ta", 0), 'its thread is gone');
is(locks('current', $ta, 'count(*)'), 0, 'so are its running events');
is(locks('history', $ta, 'count(*)'), 0, 'and its history');
is(locks('history_long', $ta, "count(*) FILTER (WHERE event_id > $last)"), 1, 'its last wait is in the long history');
between(locks('history_long', $ta, "max(timer_wait) FILTER (WHERE event_id > $last)") / 1e12, $so_far - 0.001, $so_far + 60,
	'as long as it lasted');
$b->query('ROLLBACK');

# ---- a deadlock ----

my $d = $server->session(name => 'd');
my $td = $d->thread_id;
my $tb = $b->thread_id;

my (@victims, $waiting, @events, $waited);

# As above: once more if one of the two lost its processor in front of its wait.
for (1 .. 5)
{
	my %last = map { $_ => $server->sql("SELECT coalesce(max(event_id), 0) FROM pfs.events_waits_history WHERE thread_id = $_") } $tb, $td;

	$b->query('BEGIN; UPDATE queue SET n = n + 1 WHERE id = 1');
	$d->query('BEGIN; UPDATE queue SET n = n + 1 WHERE id = 2');
	$b->send('UPDATE queue SET n = n + 1 WHERE id = 2');
	is_waiting($tb);
	$d->send('UPDATE queue SET n = n + 1 WHERE id = 1');
	$_->result foreach $b, $d;
	@victims = grep { $_->last_error =~ /40P01/ } $b, $d;
	$waiting = locks('current', $tb, 'count(*)') + locks('current', $td, 'count(*)');
	@events = map { locks('history_long', $_, "count(*) FILTER (WHERE event_id > $last{$_})") } $tb, $td;
	# Who comes second finds the cycle when its own time is over.
	my $victim = ($victims[0] // $b)->thread_id;

	$waited = (locks('history_long', $victim, "max(timer_wait) FILTER (WHERE event_id > $last{$victim})") || 0) / 1e12;
	$_->send('ROLLBACK')->result foreach $b, $d;
	last if "@events" eq '1 1' && $waited >= $deadlock_timeout * 0.99;
}
is(scalar(@victims), 1, 'a deadlock has one victim');
is($waiting, 0, 'nobody waits any more');
is($events[0], 1, 'one event for the one');
is($events[1], 1, 'one for the other');
between($waited, $deadlock_timeout * 0.99, 60, 'the victim waited for deadlock_timeout');

# ---- no wait is left open anywhere ----

is($server->sql(q{SELECT count(*) FROM pfs.events_waits_current WHERE event_name LIKE 'wait/lock/%'}), 0, 'no lock wait is left');
is($server->sql(q{SELECT string_agg(variable_name, ', ') FROM pfs.status WHERE variable_name LIKE '%lost' AND variable_value <> '0'}),
	'', 'nothing was lost');

done_testing();
