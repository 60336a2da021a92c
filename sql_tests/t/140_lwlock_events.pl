# Acquisitions of LWLocks, seen by detours: what is an event in each mode, who
# holds a lock, and what errors leave behind.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/lib";
use PfsServer;
use Test::More;

my $module = test_module('pfs_test');
# Each look at what another session does is hundreds of events: however long one waits for it, the long history has
# room for them besides what is looked for.  Sessions of pgbench that have ended can be there for a while.
my $server = PfsServer->new('main', preload => "pfs, $module", conf => <<'EOT');
autovacuum = off
max_connections = 25
pfs.lwlock_events = all
pfs.events_waits_history_long_size = 40000
EOT
$server->start;
plan skip_all => 'no detours on this processor'
  if $server->sql('CREATE EXTENSION pfs; SELECT count(*) FROM pfs.probes WHERE detail = ' . "'detours exist for x86-64 only'") > 0;
$server->needs_detours;
$server->sql(test_functions('pfs_test'));

my $lock = 'wait/synch/lwlock/pfs_test';
my $late = 'wait/synch/lwlock/pfs_test_late';
my ($a, $b, $c);
my ($ta, $tb, $tc);

sub sessions
{
	($a, $b, $c) = map { $server->session } 1 .. 3;
	($ta, $tb, $tc) = map { $_->thread_id } $a, $b, $c;
	$server->sql('SELECT register()');
}

# Has it the lock?  It naps while it holds it.
sub holding
{
	my ($thread) = @_;

	return $server->poll("SELECT count(*) FROM pfs.events_waits_current WHERE thread_id = $thread AND event_name = 'wait/timeout/OtherSleep'", 1);
}

# Those who wait for the lock now.
sub waiting { return "SELECT count(*) FROM pfs.events_waits_current WHERE event_name = '$lock' AND object_type = 'LWLOCK' AND spins >= 1"; }

# Finished events of a thread, from a moment on.
sub events
{
	my ($thread, $columns, $since, $name) = @_;
	my $which = $name // $lock;

	return $server->sql("SELECT $columns FROM pfs.events_waits_history_long WHERE thread_id = $thread AND event_name = '$which' AND timer_start >= $since");
}

sub now { return $server->sql('SELECT pfs.timer_now()'); }

# Nobody holds any lock that has an instance: all sessions are idle but ours, which reads.
sub no_holder
{
	return $server->poll('SELECT count(*) FROM pfs.lwlock_instances WHERE exclusive_locked_by_thread_id IS NOT NULL OR shared_locked_by_count > 0', 0);
}

sub count
{
	my ($thread, $name) = @_;

	return $server->sql("SELECT coalesce(sum(count_star), 0), coalesce(sum(count_timed), 0) FROM pfs.events_waits_summary_by_thread_by_event_name"
		  . " WHERE thread_id = $thread AND event_name = '$name'");
}

# ---- all: one lock, one holder, two who want it ----

sessions();
is($server->sql(q{SELECT count(*) FROM pfs.probes WHERE mechanism = 'detour' AND status = 'active'}),
	PfsServer::version() >= 18 ? 8 : 7, 'all: the detours are active');
is($server->sql("SELECT count(*) FROM pfs.lwlock_instances WHERE name = '$lock'"), 0, 'a lock that nobody waited for has no instance');
my $began = now();
$a->send("SELECT hold('pfs_test', 'exclusive')");
ok(holding($ta), 'the holder has its lock');
$_->send("SELECT lwlock('pfs_test', 'shared', 0)") foreach $b, $c;
ok($server->poll(waiting(), 2), 'two sessions sleep for it');
my $seen = now();
my $address = $server->sql("SELECT DISTINCT object_instance_begin FROM pfs.events_waits_current WHERE event_name = '$lock'");
like($address, qr/^\d+$/, 'both rows show one address');
is($server->sql("SELECT DISTINCT operation, spins, flags IS NULL, source FROM pfs.events_waits_current WHERE event_name = '$lock'"),
	'shared_lock|1|t|', 'what they wait for; an extension is no source');
is($server->sql("SELECT name, exclusive_locked_by_thread_id, shared_locked_by_count, shared_locked_by_thread_ids FROM pfs.lwlock_instances WHERE object_instance_begin = $address"),
	"$lock|$ta|0|{}", 'lwlock_instances names the holder');
is($server->sql("SELECT name, object_type, object_number, object_name FROM pfs.lwlock_objects WHERE object_instance_begin = $address"),
	"$lock|TRANCHE|0|pfs_test", 'lwlock_objects says which lock it is');
is($server->sql('SELECT waiting_thread_id, waiting_statement, object_type, object_name, lock_mode, blocking_thread_id, blocking_statement, depth, wait_time > 0'
	  . ' FROM pfs.blocking_tree ORDER BY waiting_thread_id'),
	join("\n", map { "$_|SELECT lwlock('pfs_test', 'shared', 0)|LWLOCK|pfs_test|shared_lock|$ta|SELECT hold('pfs_test', 'exclusive')|1|t" } $tb < $tc ? ($tb, $tc) : ($tc, $tb)),
	'blocking_tree says who waits for whom');
my $still = now();
$server->sql('SELECT release_hold()');
$_->result foreach $a, $b, $c;
foreach my $thread ($tb, $tc)
{
	is(events($thread, "count(*), bool_and(timer_start < $seen AND timer_end > $still), bool_and(spins >= 1), bool_and(object_instance_begin = $address), count(flags)", $began),
		'1|t|t|t|0', 'each waiter has one event, which lasted as long');
}
is(events($ta, 'count(*), max(spins), max(operation)', $began), '1|0|exclusive_lock', 'the holder has one without a sleep');
ok(no_holder(), 'nobody holds it any more');
is($server->sql("SELECT count_star, count_timed FROM pfs.events_waits_summary_by_instance WHERE object_instance_begin = $address"), '2|2',
	'its own numbers are those of who slept');

# Many may hold it together.
$_->send("SELECT hold('pfs_test', 'shared')") foreach $a, $b;
ok($server->poll("SELECT exclusive_locked_by_thread_id IS NULL AND shared_locked_by_count = 2 AND shared_locked_by_thread_ids @> ARRAY[$ta, $tb]::bigint[]"
	  . " FROM pfs.lwlock_instances WHERE object_instance_begin = $address"), 'two who hold it together');
$began = now();
is($c->query("SELECT try('pfs_test', 'exclusive')"), 'f', 'an attempt fails');
is($c->query("SELECT try('pfs_test', 'shared')"), 't', 'another does not');
is(events($tc, "string_agg(operation || coalesce(flags, 0) || spins, ' ' ORDER BY event_id)", $began), 'try_exclusive_lock10 try_shared_lock00',
	'the one that failed says so in flags');
$server->sql('SELECT release_hold()');
$_->result foreach $a, $b;
ok(no_holder(), 'all locks are released');

# ---- what runs is shown to itself, while its own acquisitions are recorded ----

sub sees_itself
{
	my ($mode) = @_;
	my $s = $server->session;

	$s->query('BEGIN; SELECT pg_current_xact_id()');
	is($s->query('SELECT trx_id = pg_current_xact_id() FROM pfs.events_transactions_current WHERE thread_id = pfs.thread_id()'), 't',
		"$mode: a transaction sees itself");
	is($s->query('SELECT count(*) FROM pfs.events_statements_current WHERE thread_id = pfs.thread_id()'), 1, "$mode: and its statement");
	$s->query('COMMIT');
	$s->close;
}
sees_itself('all');

# ---- all: every acquisition is counted, and timed ----

is($b->query('SELECT register()'), '', 'the array has a name');
my ($stars, $timed) = split /\|/, count($tb, $late);
$b->query('SELECT take(5000, 3)');
is(count($tb, $late), ($stars + 15000) . '|' . ($timed + 15000), 'all: 15,000 acquisitions are 15,000 events');
is($server->sql("SELECT count(*) FROM pfs.events_waits_history WHERE thread_id = $tb AND event_name = '$late' AND nesting_event_type = 'WAIT'"), 0,
	'none of them in another');
$server->sql("UPDATE pfs.setup_instruments SET timed = 'NO' WHERE name = '$late'");
$b->query('SELECT take(10, 1)');
is(count($tb, $late), ($stars + 15010) . '|' . ($timed + 15000), 'untimed ones are counted');
$server->sql("UPDATE pfs.setup_instruments SET enabled = 'NO' WHERE name = '$late'");
$b->query('SELECT take(10, 1)');
is(count($tb, $late), ($stars + 15010) . '|' . ($timed + 15000), 'those of an instrument that is off are not');
$server->sql("UPDATE pfs.setup_instruments SET enabled = 'YES', timed = 'YES' WHERE name = '$late'");
$server->sql("UPDATE pfs.setup_timers SET timer_name = 'NANOSECOND' WHERE name = 'wait'");
$began = now();
$b->query('SELECT take(10, 1)');
is(count($tb, $late), ($stars + 15020) . '|' . ($timed + 15010), 'another timer');
is($server->sql("SELECT count(*) FROM pfs.events_waits_history WHERE thread_id = $tb AND (timer_wait < 0 OR timer_wait > pfs.timer_now() - $began)"), 0, 'with its own times');
$server->sql("UPDATE pfs.setup_timers SET timer_name = 'CYCLE' WHERE name = 'wait'") if
  $server->sql("SELECT timer_frequency IS NOT NULL FROM pfs.performance_timers WHERE timer_name = 'CYCLE'") eq 't';

# Whatever is unusual goes another way than the rest, to the same numbers.
$server->sql(q{SELECT pfs.reset('events_waits_summary_by_thread_by_event_name')});
$b->query('SELECT take(100, 2)');
is(count($tb, $late), '200|200', 'after TRUNCATE they count from zero');
my $total = 200;
foreach my $consumer ('events_waits_history_long', 'events_waits_history', 'events_waits_current', 'thread_instrumentation')
{
	$server->sql("UPDATE pfs.setup_consumers SET enabled = 'NO' WHERE name = '$consumer'");
	$b->query('SELECT take(50, 1)');
	$total += 50 if $consumer ne 'thread_instrumentation';
	is(count($tb, $late), "$total|$total", "without $consumer");
	$server->sql("UPDATE pfs.setup_consumers SET enabled = 'YES' WHERE name = '$consumer'");
}
# Several sessions share the groups of the long history, each with a part of one.
$began = now();
foreach my $n (7, 37, 1, 16, 50)
{
	$_->query("SELECT take($n, 3)") foreach $b, $c;
}
is(events($_, 'count(*), count(DISTINCT event_id), max(event_id) - min(event_id) >= 332', $began, $late), '333|333|t',
	'the long history has each event once') foreach $tb, $tc;
$server->poll_idle($tb);
is($server->sql("SELECT count(*) || ' ' || array_agg(event_id ORDER BY timer_end)::text FROM pfs.events_waits_history WHERE thread_id = $tb"),
	$server->sql("SELECT count(*) || ' ' || array_agg(event_id ORDER BY timer_end)::text FROM (SELECT * FROM pfs.events_waits_history_long"
	  . " WHERE thread_id = $tb ORDER BY timer_end DESC NULLS LAST LIMIT 10) l"), 'the history has the newest of all kinds of waits');
$server->sql(q{SELECT pfs.reset('events_waits_history'), pfs.reset('events_waits_history_long')});
is($server->sql("SELECT count(*) FROM pfs.events_waits_history WHERE thread_id = $tb"), 0, 'TRUNCATE empties the history');
is(events($tb, 'count(*)', $began, $late), 0, 'and the long one, with what is batched');
$b->query('SELECT take(45, 1)');
is(events($tb, 'count(*)', $began, $late), 45, 'what comes later is in it');
my $d = $server->session;
my $td = $d->thread_id;
$d->query('SELECT take(15, 3)');
$d->close;
ok($server->poll("SELECT count(*) FROM pfs.threads WHERE thread_id = $td", 0), 'a session ends');
is(events($td, 'count(*), count(DISTINCT event_id), count(*) FILTER (WHERE nesting_event_type IS NULL)', $began, $late), '45|45|0',
	'and leaves all of its events');

# ---- all: errors, and the end of a process ----

# What was taken is released by unwinding; the events after that are in nothing.
foreach my $case ([ 3, 'left with locks' ], [ 250, 'too many LWLocks taken' ])
{
	my ($locks, $message) = @$case;

	$b->send("SELECT fail($locks, 'error')")->result;
	like($b->last_error, qr/$message/, "$locks locks, then: $message");
	$server->poll_idle($tb);
	is($server->sql("SELECT count(*) FROM pfs.events_waits_current WHERE thread_id = $tb AND event_name NOT LIKE 'idle%'"), 0, 'no event is left running');
	$began = now();
	$b->query('SELECT take(1, 2)');
	is(events($tb, q{count(*), count(*) FILTER (WHERE nesting_event_type = 'WAIT')}, $began, $late), '2|0', 'nor anything for the next ones to be in');
}
$b->send("DO \$\$ BEGIN FOR i IN 1 .. 20 LOOP BEGIN PERFORM fail(5, 'error'); EXCEPTION WHEN OTHERS THEN NULL; END; END LOOP; END \$\$")->result;
is($b->last_error, '', 'errors that are caught');
$began = now();
$b->query('SELECT take(1, 3)');
is(events($tb, q{count(*), count(*) FILTER (WHERE nesting_event_type = 'WAIT')}, $began, $late), '3|0', 'leave nothing either');
# A lock of the array gets an instance, then a session ends that holds it.
$a->send('SELECT provoke(5)');
$b->send('SELECT chase(5)');
$_->result foreach $a, $b;
is($server->sql("SELECT count(*) FROM pfs.lwlock_instances WHERE name = '$late'"), 5, 'five locks of the array have instances');
ok(no_holder(), 'which nobody holds');
$c->send("SELECT fail(5, 'fatal')")->result;
like($c->last_error, qr/left with locks/, 'a session ends and holds them');
ok($server->poll("SELECT count(*) FROM pfs.threads WHERE thread_id = $tc", 0), 'it has gone');
ok(no_holder(), 'and its locks are free');

# ---- all: the numbers by instance ----

is($server->sql("SELECT count(*), min(count_star), max(count_star) FROM pfs.events_waits_summary_by_instance WHERE event_name = '$late'"), '5|1|1',
	'one sleep for each lock of the array');
my $left = $server->sql(q{SELECT sum(count_star) FROM pfs.events_waits_summary_by_instance WHERE event_name LIKE 'wait/synch/lwlock/%'});
cmp_ok($left, '>=', 7, 'with the others');
my $global = $server->sql("SELECT count_star FROM pfs.events_waits_summary_global_by_event_name WHERE event_name = '$late'");
cmp_ok($server->sql(q{SELECT pfs.reset('events_waits_summary_by_instance')}), '>=', $left, 'TRUNCATE by instance takes them');
is($server->sql("SELECT count(*), sum(count_star) FROM pfs.events_waits_summary_by_instance WHERE event_name = '$late'"), '5|0', 'the rows stay, at zero');
is($server->sql("SELECT count_star FROM pfs.events_waits_summary_global_by_event_name WHERE event_name = '$late'"), $global, 'the event name keeps what it has counted');

# A buffer, as the server's own functions lock it.
$server->pgbench(undef, '-i', '-q', '-s', 1);
my $load = $server->pgbench_start("UPDATE pgbench_branches SET bbalance = bbalance + 1 WHERE bid = 1;\n", '-c', 16, '-j', 1, '-T', 180);
my $hot = $server->poll(q{SELECT count(*) > 0 FROM pfs.lwlock_objects WHERE object_type = 'BUFFER' AND object_schema = 'public'
	AND object_name LIKE 'pgbench_branches%' AND fork = 'main' AND block_number >= 0}) if PfsServer::version() < 19;
SKIP:
{
	skip 'content locks of buffers are no LWLocks', 1 if PfsServer::version() >= 19;
	ok($hot, 'a hot row: lwlock_objects names the table');
}
ok($server->poll(q{SELECT count(*) > 0 FROM pfs.lwlock_objects WHERE object_type = 'LOCK MANAGER' AND object_number BETWEEN 0 AND 15}),
	'and the partition of the lock manager');
$load->{handle}->kill_kill;
$load->{over} = 1;
is($server->sql(q{SELECT count(*) FROM pfs.lwlock_objects o WHERE object_type = 'BUFFER' AND name <> 'wait/synch/lwlock/BufferContent'
	OR object_type = 'LOCK MANAGER' AND name <> 'wait/synch/lwlock/LockManager' OR object_type = 'WAL INSERT' AND name <> 'wait/synch/lwlock/WALInsert'}),
	0, 'kinds and names agree');
# The addresses of all buffers, and some that are none.
is($server->sql(q{SELECT count(*) FROM pfs.lwlock_instances i, generate_series(-64, 64) d, pfs.lwlock_object(i.object_instance_begin + d * 4) o WHERE o.object_type IS NULL}) > 0 ? 1 : 0,
	1, 'addresses that are no lock');
is($server->sql(q{SELECT count(o.object_type) FROM (VALUES (0), (1), (-1), (9223372036854775807), (140000000000000), (4096)) a (address), pfs.lwlock_object(address) o}),
	0, 'and some that are no memory');

# ---- contended ----

$server->stop;
$server->conf('pfs.lwlock_events = contended');
$server->start;
sessions();
$_->query('SELECT register()') foreach $a, $b, $c;
is($server->sql(q{SELECT string_agg(target, ' ' ORDER BY target) FROM pfs.probes WHERE mechanism = 'detour' AND status = 'active'}),
	'LWLockAcquire LWLockAcquireOrWait LWLockConditionalAcquire LWLockReleaseAll LWLockWaitForVar'
	  . (PfsServer::version() >= 19 ? ' LockBufferInternal' : ''), 'contended: releases are not watched');
is($server->sql(q{SELECT DISTINCT status, detail FROM pfs.probes WHERE target = 'LWLockRelease' AND mechanism = 'detour'}),
	'off|not needed with pfs.lwlock_events = contended', 'as probes says');
sees_itself('contended');
$began = now();
($stars, $timed) = split /\|/, count($tb, $late);
$b->query('SELECT take(5000, 3)');
is(count($tb, $late), ($stars + 15000) . "|$timed", 'contended: 15,000 acquisitions that did not sleep are counted, not timed');
is(events($tb, 'count(*)', $began, $late), 0, 'and are no events');
$b->query("SELECT try('pfs_test', 'shared')");
is(count($tb, $lock), '1|0', 'an attempt counts, too');
$a->send("SELECT hold('pfs_test', 'exclusive')");
ok(holding($ta), 'the holder has its lock');
$_->send("SELECT lwlock('pfs_test', 'exclusive', 0)") foreach $b, $c;
ok($server->poll(waiting(), 2), 'two sessions sleep for a lock');
$seen = now();
$address = $server->sql("SELECT DISTINCT object_instance_begin FROM pfs.events_waits_current WHERE event_name = '$lock'");
is($server->sql("SELECT DISTINCT operation, spins FROM pfs.events_waits_current WHERE event_name = '$lock'"), 'exclusive_lock|1', 'as they show');
is($server->sql("SELECT name, exclusive_locked_by_thread_id, shared_locked_by_count, shared_locked_by_thread_ids FROM pfs.lwlock_instances WHERE object_instance_begin = $address"),
	"$lock|||", 'the lock is known, its holder is not');
$still = now();
$server->sql('SELECT release_hold()');
$_->result foreach $a, $b, $c;
foreach my $thread ($tb, $tc)
{
	is(events($thread, "count(*), bool_and(timer_start < $seen AND timer_end > $still), bool_and(spins >= 1), bool_and(object_instance_begin = $address)", $began),
		'1|t|t|t', 'each waiter has one event');
}
is(count($tb, $lock), '2|1', 'one of its two acquisitions slept');
is(events($ta, 'count(*)', $began), 0, 'the holder has none');
$b->send("SELECT fail(250, 'error')")->result;
like($b->last_error, qr/too many LWLocks taken/, 'an error in the middle of an acquisition');
# A time that a process can lose its processor for would be over before pg_sleep() waits.
$b->query('SELECT pg_sleep(0.1)');
# By statement: a latch that somebody else sets ends a wait of pg_sleep() early, and there is another one.
is($server->sql("SELECT count(DISTINCT nesting_event_id) FROM pfs.events_waits_history WHERE thread_id = $tb AND event_name = 'wait/timeout/PgSleep' AND nesting_event_type = 'STATEMENT'"), 1,
	'leaves nothing behind');

# A container that is full: waits go on to be events.
my ($max) = $server->sql(q{SELECT records_max FROM pfs.containers WHERE name = 'lwlock_instances'});
cmp_ok($max, '<', 2900, "there is room for $max locks");
($stars, $timed) = split /\|/, count($tb, $late);
$a->send('SELECT provoke(3000)');
$b->send('SELECT chase(3000)');
$_->result foreach $a, $b;
is(count($tb, $late), ($stars + 3000) . '|' . ($timed + 3000), 'a session sleeps for 3,000 locks, one after the other');
is($server->sql(q{SELECT records_used = records_max FROM pfs.containers WHERE name = 'lwlock_instances'}), 't', 'the container is full');
is($server->sql(q{SELECT c.records_lost > 0 AND c.records_lost::text = s.variable_value FROM pfs.containers c, pfs.status s
	WHERE c.name = 'lwlock_instances' AND s.variable_name = 'pfs_lwlock_instances_lost'}), 't', 'what it has no room for is counted');
is($server->sql("SELECT count(DISTINCT object_instance_begin) FROM pfs.events_waits_history_long WHERE thread_id = $tb AND event_name = '$late' AND spins > 0"), 3000,
	'their events have their addresses');
is($server->sql('SELECT count(*) = (SELECT count(*) FROM pfs.lwlock_instances) FROM pfs.lwlock_objects'), 't', 'every instance has an object, or no name for it');

# ---- waits ----

$server->stop;
$server->conf('pfs.lwlock_events = waits');
$server->start;
sessions();
is($server->sql(q{SELECT count(*) FROM pfs.probes WHERE mechanism = 'detour' AND status <> 'off'}), 0, 'waits: no detour');
$began = now();
$a->send("SELECT hold('pfs_test', 'exclusive')");
ok(holding($ta), 'somebody holds the lock');
$b->send("SELECT lwlock('pfs_test', 'shared', 0)");
ok($server->poll(waiting(), 1), 'another one sleeps for it');
is($server->sql("SELECT count(object_instance_begin) FROM pfs.events_waits_current WHERE event_name = '$lock'"), 0, 'for which one is not known');
$server->sql('SELECT release_hold()');
$_->result foreach $a, $b;
is(events($tb, 'count(*), count(object_instance_begin)', $began), '1|0', 'nor later');
is($server->sql('SELECT count(*) FROM pfs.lwlock_instances'), 0, 'waits: no instance');
is($server->sql(q{SELECT records_max, records_lost FROM pfs.containers WHERE name = 'lwlock_instances'}), '0|0', 'and no loss');

$server->fails(q{ALTER SYSTEM SET pfs.lwlock_events = 'some'}, '22023', qr/Available values: waits, contended, all/, 'a value that there is not');
$server->stop;
$server->conf("pfs.lwlock_events = 'some'");
$server->mark_log;
$server->start;
like($server->log_text, qr/WARNING:  .*pfs\.lwlock_events/, 'at the start: a warning');
is($server->sql(q{SELECT variable_value FROM pfs.status WHERE variable_name = 'pfs_settings_refused'}), 1, 'which status tells');
is($server->sql('SHOW pfs.lwlock_events'), 'waits', 'and the default');

done_testing();
