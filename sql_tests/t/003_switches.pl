# What one session switches, all running sessions notice with their next event:
# instruments, consumers, threads, timers.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/lib";
use PfsServer;
use Test::More;
use Time::HiRes qw(sleep time);

my $server = PfsServer->new('main', conf => 'autovacuum = off');
$server->start;
$server->sql('CREATE EXTENSION pfs');

# Two sessions that make file calls and sleep, on and on.
my @workers = map { $server->session(name => "worker$_") } 1, 2;
my ($w1, $w2) = map { $_->thread_id } @workers;
my $all = "$w1, $w2";

# Their names say how far they are, whatever is switched off.
$_->send(<<'EOT') foreach @workers;
DO $$ DECLARE round int := 0; BEGIN LOOP
	round := round + 1;
	PERFORM set_config('application_name', 'worker ' || round, false);
	PERFORM pg_stat_file('PG_VERSION');
	PERFORM pg_read_binary_file('PG_VERSION');
	PERFORM pg_sleep(0.001);
END LOOP; END $$
EOT

my $file = "event_name LIKE 'wait/io/file/%'";
my $nap = "event_name = 'wait/timeout/PgSleep'";

sub now
{
	return $server->sql('SELECT pfs.timer_now()');
}

# Wait until the sessions have begun and ended that many sleeps since then.
sub naps_since
{
	my ($since, $n, $threads) = @_;

	foreach my $thread (split /, /, $threads // $all)
	{
		$server->poll("SELECT count(*) >= $n FROM pfs.events_waits_history_long"
			  . " WHERE thread_id = $thread AND $nap AND timer_start > $since")
		  or die "thread $thread does not go on";
	}
}

# Wait until each of the sessions has begun another round: what it does from then on it has decided after our call.
sub next_round
{
	foreach my $worker (@workers)
	{
		my $name = 'SELECT application_name FROM pg_stat_activity WHERE pid = ' . $worker->pid;
		my $was = $server->sql($name);

		$server->poll("SELECT ($name) <> '$was'") or die 'a worker does not go on';
	}
}

sub count
{
	my ($condition, $table) = @_;

	return $server->sql("SELECT count(*) FROM pfs.events_waits_" . ($table // 'history_long') . " WHERE $condition");
}

my $t = now();
naps_since($t, 5);
cmp_ok(count("thread_id = $w1 AND $file AND timer_start > $t"), '>', 4, 'one worker makes file calls');
cmp_ok(count("thread_id = $w2 AND $file AND timer_start > $t"), '>', 4, 'so does the other');

# ---- instruments ----

foreach my $case ([ 'no', 'yes' ], [ 'NO', 'YES' ], [ 'nO', 'yEs' ])
{
	my ($off, $on) = @$case;

	is($server->sql("WITH u AS (UPDATE pfs.setup_instruments SET enabled = '$off' WHERE name ILIKE '%/FILE/%' RETURNING enabled)"
		  . ' SELECT count(*) > 50, min(enabled), max(enabled) FROM u'), 't|NO|NO', "'$off' is taken and reads NO");
	# What was decided before the switch may begin yet.
	next_round();
	$t = now();
	naps_since($t, 10);
	# What had begun before is finished; nothing begins after.
	is(count("$file AND timer_start > $t"), 0, "'$off': no session has a file event any more");
	is(count("$file AND (timer_start > $t OR thread_id IN ($all))", 'current'), 0, 'and none is running');
	$server->sql("UPDATE pfs.setup_instruments SET enabled = '$on' WHERE name ILIKE '%/FILE/%'");
	$t = now();
	naps_since($t, 5);
	cmp_ok(count("thread_id = $_ AND $file AND timer_start > $t"), '>=', 5, "'$on': back at once") foreach $w1, $w2;
}
is($server->sql("SELECT count(*) FROM pfs.setup_instruments WHERE enabled <> 'YES' AND name NOT LIKE ALL (ARRAY['memory/%', 'stage/sql/%', 'wait/io/table/%'])"), 0, 'all are on again');

# An event that had begun is finished and kept.
my $sleeper = $server->session;
my $ts = $sleeper->thread_id;

# It sleeps until everything has been looked at.
sub wake
{
	$server->sql('SELECT pg_cancel_backend(' . $sleeper->pid . ')');
	$sleeper->result;
}

$sleeper->send('SELECT pg_sleep(600)');
$server->poll("SELECT count(*) FROM pfs.events_waits_current WHERE thread_id = $ts AND $nap", 1);
$server->sql("UPDATE pfs.setup_instruments SET enabled = 'NO' WHERE name = 'wait/timeout/PgSleep'");
is(count("thread_id = $ts AND $nap", 'current'), 1, 'switched off in the middle: still shown');
$server->poll_lasts($ts, 'wait/timeout/PgSleep', 0.49);
wake();
between($server->sql("SELECT max(timer_wait) FROM pfs.events_waits_history WHERE thread_id = $ts AND $nap"), 0.49e12, 60e12,
	'and recorded at its end with its time');
$sleeper->query('SELECT pg_sleep(0.01)');
is(count("thread_id = $ts AND $nap", 'history'), 1, 'the next one is not');
$server->sql("UPDATE pfs.setup_instruments SET enabled = 'YES' WHERE name = 'wait/timeout/PgSleep'");

# ---- timed ----

$server->sql("UPDATE pfs.setup_instruments SET timed = 'NO' WHERE name = 'wait/timeout/PgSleep'");
# A session has sent its result a moment before it is idle.
sub is_idle
{
	return $server->poll("SELECT count(*) FROM pfs.events_waits_current WHERE thread_id = $ts AND event_name LIKE 'idle%'", 1);
}

is_idle();
my $id = $server->sql("SELECT max(event_id) FROM pfs.events_waits_current WHERE thread_id = $ts");
# A time that a process can lose its processor for would be over before pg_sleep() waits.
$sleeper->query('SELECT pg_sleep(0.1)') for 1 .. 3;
# By statement: a latch that is set meanwhile makes two waits of one sleep.
is($server->sql("SELECT count(DISTINCT nesting_event_id), count(timer_start), count(timer_end), count(timer_wait), count(*) - count(end_event_id)"
	  . " FROM pfs.events_waits_history WHERE thread_id = $ts AND $nap AND event_id > $id"), '3|0|0|0|0', "timed = 'NO': three events without times");
$sleeper->send('SELECT pg_sleep(600)');
ok($server->poll("SELECT count(*) FROM pfs.events_waits_current WHERE thread_id = $ts AND $nap AND timer_start IS NULL", 1),
	'a running one has none either');
$id = $server->sql("SELECT event_id FROM pfs.events_waits_current WHERE thread_id = $ts AND $nap");
$server->sql("UPDATE pfs.setup_instruments SET timed = 'YES' WHERE name = 'wait/timeout/PgSleep'");
wake();
is($server->sql("SELECT timer_wait IS NULL FROM pfs.events_waits_history WHERE thread_id = $ts AND event_id = $id"),
	't', 'and stays untimed when the switch is back before its end');
# The sort key that untimed events have keeps them in their place.
is($server->sql(<<"EOT"), 0, 'timed and untimed events of a thread follow each other in the long history');
SELECT count(*) FROM (SELECT event_id, timer_end, max(timer_end) OVER (ORDER BY event_id) AS so_far
                        FROM pfs.events_waits_history_long WHERE thread_id = $ts AND nesting_event_id IS NULL) e
 WHERE timer_end < so_far
EOT

# ---- consumers ----

sub consumer
{
	my ($name, $value) = @_;

	$server->sql("UPDATE pfs.setup_consumers SET enabled = '$value' WHERE name = '$name'");
}

# Which tables get new events of the workers?
sub sees
{
	my ($expected, $name, $threads) = @_;
	my @tables = qw(current history history_long);
	my %seen;

	$threads //= $all;
	# What was decided before the switch may begin yet, until the next round.
	next_round();
	my $since = now();
	# With everything off no table tells that they went on.
	next_round();
	# What is expected may take longer, if a session has to wait for a processor.
	for (my $until = time() + 1.5; time() < $until || (time() < $until + 60 && grep { !$seen{$_} } split ' ', $expected);)
	{
		last if 3 == grep { $_ } values %seen;
		foreach my $table (@tables)
		{
			$seen{$table} ||= count("thread_id IN ($threads) AND timer_start > $since", $table) > 0;
		}
	}
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	return is(join(' ', grep { $seen{$_} } @tables), $expected, $name);
}

sees('current history history_long', 'all consumers on: events in all tables');
consumer('events_waits_history_long', 'no');
sees('current history', 'events_waits_history_long off: none there');
my $kept = "SELECT count(*), sum(timer_end) FROM pfs.events_waits_history_long WHERE thread_id IN ($all)";
my $frozen = $server->sql($kept);
sees('current history', 'nor later');
is($server->sql($kept), $frozen, 'what is there stays: frozen, not emptied');
consumer('events_waits_history', 'no');
sees('current', 'events_waits_history off, too: running events only');
consumer('events_waits_history_long', 'yes');
sees('current history_long', 'the two are independent');
consumer('events_waits_history', 'yes');
foreach my $name (qw(events_waits_current thread_instrumentation global_instrumentation))
{
	consumer($name, 'no');
	sees('', "$name off: no events at all");
	is($server->sql("SELECT string_agg(enabled, '') FROM pfs.setup_consumers WHERE name LIKE 'events_waits_history%'"),
		'YESYES', 'those below keep their own switches');
	consumer($name, 'yes');
	sees('current history history_long', "$name on again: all are back");
}
$server->sql(q{SELECT pfs.set_consumers('%', 'NO')});
sees('', "set_consumers('%', 'NO'): nothing");
is($server->sql(q{SELECT pfs.set_consumers('events_waits_history_long', 'YES')}), 1, 'one of them on');
sees('current history_long', 'switches on those above it, too');
$server->sql(q{SELECT pfs.set_consumers('%', 'YES')});

# An event that a consumer being off keeps from the tables uses no number.
$sleeper->query('SELECT pg_sleep(0.001)');
is_idle();
my $before = $server->sql("SELECT max(event_id) FROM pfs.events_waits_current WHERE thread_id = $ts");
$server->sql(q{SELECT pfs.set_consumers('events_%_current', 'no')});
$sleeper->query('SELECT pg_sleep(0.001)') for 1 .. 20;
$server->sql(q{SELECT pfs.set_consumers('events_%_current', 'yes')});
$sleeper->query('SELECT pg_sleep(0.1)');
between($server->sql("SELECT max(event_id) FROM pfs.events_waits_history WHERE thread_id = $ts") - $before, 1, 40,
	'events without consumer use no numbers');

# ---- threads ----

$server->sql("UPDATE pfs.threads SET instrumented = 'no' WHERE thread_id = $w1");
sees('', "instrumented = 'no': nothing of this thread", $w1);
sees('current history history_long', 'everything of the other', $w2);
$server->sql("UPDATE pfs.threads SET instrumented = 'Yes', history = 'No' WHERE thread_id = $w1");
sees('current', "history = 'No': its running events only", $w1);
sees('current history history_long', 'everything of the other', $w2);
is($server->sql("SELECT pfs.set_thread($w1, NULL, 'YES')"), 1, 'set_thread');
sees('current history history_long', 'everything again', $w1);
is($server->sql("SELECT pfs.set_thread(1000000, 'YES')"), 0, 'set_thread of a thread that does not exist');

# A row that goes between its reading and the end of the statement is passed over.
my $leaver = $server->session;
my $tl = $leaver->thread_id;
my $holder = $server->session;
my $updater = $server->session;
$holder->query('SELECT pg_advisory_lock(1)');
$updater->send("UPDATE pfs.threads SET history = 'NO' WHERE thread_id IN ($tl, $w2)"
	  . " AND (SELECT pg_advisory_lock(1)) IS NOT NULL RETURNING thread_id = $tl, history");
$server->poll("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted", 1);
$leaver->close;
$server->poll("SELECT count(*) FROM pfs.threads WHERE thread_id = $tl", 0);
# Whoever takes its record must not get its switches.
my @heirs = map { $server->session } 1 .. 3;
$holder->query('SELECT pg_advisory_unlock(1)');
$updater->result;
is($updater->last_error, '', 'a thread ended during the UPDATE: no error');
is($server->sql("SELECT history FROM pfs.threads WHERE thread_id = $w2"), 'NO', 'the other row is changed');
is($server->sql('SELECT count(*) FROM pfs.threads WHERE thread_id IN (' . join(', ', map { $_->thread_id } @heirs) . ") AND history = 'NO'"),
	0, 'nobody else is');
$server->sql("SELECT pfs.set_thread($w2, 'YES', 'YES')");

# ---- timers ----

sub newest_nap
{
	my ($columns) = @_;

	return $server->sql("SELECT $columns FROM pfs.events_waits_history WHERE thread_id = $ts AND $nap ORDER BY event_id DESC LIMIT 1");
}

my @timers = split /\n/, $server->sql('SELECT timer_name FROM pfs.performance_timers WHERE timer_frequency IS NOT NULL');
my %step = (CYCLE => 0, NANOSECOND => 0, MICROSECOND => 0.000002, MILLISECOND => 0.012, TICK => 0.022);

is(scalar(grep { defined $step{$_} } @timers), scalar(@timers), 'the timers are those five');
cmp_ok(scalar(@timers), '>=', 4, 'most of them work here');
my $last_start = 0;

foreach my $timer (@timers)
{
	is($server->sql("WITH u AS (UPDATE pfs.setup_timers SET timer_name = '$timer' WHERE name = 'wait' RETURNING 1) SELECT count(*) FROM u"),
		1, "timer $timer");
	my ($began, $ended, $slept, $start);
	my $least = 0.2 - 2 * $step{$timer} - 0.0005;

	# One that loses its processor before it sleeps sleeps less, or not at all: then once more.
	for (1 .. 5)
	{
		my $from = newest_nap('event_id') || 0;
		# The outside witness is the server's clock, just before and just after.
		($began, $ended) = split /\n/,
		  $sleeper->query('SELECT extract(epoch FROM clock_timestamp()); SELECT pg_sleep(0.2) \g /dev/null' . "\n"
			  . 'SELECT extract(epoch FROM clock_timestamp())');
		($slept, $start) = map { $_ / 1e12 } split /\|/,
		  $server->sql("SELECT coalesce(sum(timer_wait), 0), coalesce(min(timer_start), 0) FROM pfs.events_waits_history WHERE thread_id = $ts AND $nap AND event_id > $from");
		last if $slept >= $least;
	}
	between($slept, $least, $ended - $began + $step{$timer}, "$timer: a sleep of 0.2 s is one");
	between(newest_nap("extract(epoch FROM pfs.timer_to_timestamp(timer_start))") - $began, -0.15, $ended - $began + 0.15,
		"$timer: at the right time");
	between($start - $last_start, 0.17, 600, "$timer: after the one before, on the same scale");
	$last_start = $start;
	between($server->sql('SELECT pfs.timer_now() - ' . newest_nap('timer_end')) / 1e12, -0.15, 60, "$timer: timer_now is just after");
}
# The timer changes while an event runs: it ends with its own.
foreach my $change ([ 'CYCLE', 'TICK' ], [ 'TICK', 'NANOSECOND' ], [ 'MILLISECOND', 'CYCLE' ])
{
	my ($first, $second) = @$change;

	next if grep { my $name = $_; !grep { $_ eq $name } @timers } $first, $second;
	my $from = newest_nap('event_id');
	$server->sql("SELECT pfs.set_timer('wait', '$first')");
	my $time = time();
	$sleeper->send('SELECT pg_sleep(600)');
	$server->poll("SELECT count(*) FROM pfs.events_waits_current WHERE thread_id = $ts AND $nap", 1);
	$server->sql("SELECT pfs.set_timer('wait', '$second')");
	between($server->sql("SELECT max(pfs.timer_now() - timer_start) FROM pfs.events_waits_current WHERE thread_id = $ts AND $nap") / 1e12,
		-0.15, time() - $time + 0.15, "$first to $second: its time so far is right");
	# By the second timer, which may be ahead of the first.
	$server->poll_lasts($ts, 'wait/timeout/PgSleep', 0.3 + 0.15);
	wake();
	# A latch that is set meanwhile makes two waits of one sleep.
	between($server->sql("SELECT sum(timer_wait) FROM pfs.events_waits_history WHERE thread_id = $ts AND $nap AND event_id > $from") / 1e12,
		0.27, time() - $time + 0.15, "$first to $second in the middle: the time is right");
}

# Untimed events have only a sort key; it must be on the scale of their timer.
$server->sql("SELECT pfs.set_timer('wait', '$timers[0]')");
$sleeper->query('SELECT pg_sleep(0.001)');
$server->sql(q{SELECT pfs.set_timer('wait', 'TICK'), pfs.set_instruments('%', NULL, 'NO')});
$sleeper->query('SELECT pg_sleep(0.001)') for 1 .. 5;
$server->sql("SELECT pfs.set_timer('wait', '$timers[0]'), pfs.set_instruments('%', NULL, 'YES')");
# More than fit: then the untimed ones are old, and gone.
$sleeper->query(q{SELECT count(pg_stat_file('PG_VERSION')) FROM generate_series(1, 12000)});
is(count("timer_start IS NULL AND thread_id IN ($all, $ts)"), 0, 'untimed events expire, also after a change of timers');

$server->sql(q{SELECT pg_cancel_backend(thread_os_id) FROM pfs.threads WHERE application_name LIKE 'worker%'});
$_->result foreach @workers;
is(join(', ', grep { !/57014/ } map { $_->last_error } @workers), '', 'the workers had no errors');

# A statement begins while statements have no events, waits for a lock before it is parsed, and is parsed when they
# have: it has no number, so it is none.
my ($holder, $late) = map { $server->session } 1 .. 2;
my $tl = $late->thread_id;

$holder->query('CREATE TABLE held (i int); BEGIN; LOCK held');
consumer(events_statements_current => 'NO');
$late->send('SELECT * FROM held');
ok($server->poll('SELECT count(*) FROM pg_locks WHERE NOT granted', 1), 'a statement waits while the consumer is off');
consumer(events_statements_current => 'YES');
$holder->query('COMMIT');
$late->result;
$late->query('SELECT 1 AS next');
ok($server->poll("SELECT count(*) FROM pfs.events_statements_history WHERE thread_id = $tl AND sql_text = 'SELECT 1 AS next'", 1), 'the next one is an event');
is($server->sql("SELECT count(*) FROM pfs.events_statements_history_long WHERE thread_id = $tl AND sql_text = 'SELECT * FROM held' OR event_id < 1"), 0,
	'that one is none');

done_testing();
