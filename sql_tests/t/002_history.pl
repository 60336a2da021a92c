# What the histories keep and for how long: the last N of each living thread,
# the last M of the server by end, exactly.
#
# One instrument is on, and a session fires it exactly n times: one
# pg_stat_file() is one stat().  Event numbers count from 1 in each thread, so
# they say which events a table has.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/lib";
use PfsServer;
use Test::More;

my $server = PfsServer->new('main', conf => <<'EOT');
pfs.instruments = '%=OFF, wait/io/file/FileStat=ON'
autovacuum = off
EOT
$server->start;
$server->sql('CREATE EXTENSION pfs');
look_away();

# The session that reads looks for its functions in the file system: not counted.
sub look_away
{
	$server->sql("UPDATE pfs.threads SET instrumented = 'NO' WHERE thread_id = pfs.thread_id();"
		  . ' TRUNCATE pfs.events_waits_history, pfs.events_waits_history_long');
}

sub fire
{
	my ($session, $n) = @_;

	$session->query("SELECT count(pg_stat_file('PG_VERSION')) FROM generate_series(1, $n)");
}

# Events of a thread in a table: how many, and their numbers from .. to.
sub events
{
	my ($table, $thread) = @_;

	return $server->sql("SELECT count(*), min(event_id), max(event_id) FROM pfs.events_waits_$table WHERE thread_id = $thread");
}

sub total
{
	my ($table) = @_;

	return $server->sql("SELECT count(*) FROM pfs.events_waits_$table");
}

my $a = $server->session;
my $b = $server->session;
my $ta = $a->thread_id;
my $tb = $b->thread_id;

is(total('history_long'), 0, 'nothing but the one instrument records');

# ---- 5 and 500 ----

fire($a, 5);
fire($b, 500);
is($server->sql(<<"EOT"), "wait/io/file/FileStat|stat|f", 'the events are what the test takes them for');
SELECT DISTINCT event_name, operation, timer_wait IS NULL FROM pfs.events_waits_history WHERE thread_id IN ($ta, $tb)
EOT
is(events('history', $ta), '5|1|5', 'A, 5 events: 5 in its history');
is(events('history', $tb), '10|491|500', 'B, 500 events: the last 10 in its history');
is(events('history_long', $ta), '5|1|5', 'A: 5 in the long history');
is(events('history_long', $tb), '500|1|500', 'B: all 500 in the long history');

# ---- 300 and 30,000, one to a hundred ----

for (1 .. 295)
{
	fire($a, 1);
	fire($b, 100);
}
is(events('history', $ta), '10|291|300', 'A, 300 events: the last 10 in its history');
is(events('history', $tb), '10|29991|30000', 'B, 30,000 events: the last 10 in its history');
is(total('history_long'), 10000, 'the long history has 10,000 rows');
# The last of 99 rounds of 101 events, and one of B's from the round before.
is(events('history_long', $ta), '99|202|300', 'A has one in a hundred of them, its newest');
is(events('history_long', $tb), '9901|20100|30000', 'B has the others, its newest');
is($server->sql('SELECT count(DISTINCT (thread_id, event_id)) FROM pfs.events_waits_history_long'), 10000, 'none twice');
is($server->sql(<<"EOT"), 0, 'what A has in the long history is newer than the oldest of B there');
SELECT count(*) FROM pfs.events_waits_history_long
 WHERE thread_id = $ta AND timer_end < (SELECT min(timer_end) FROM pfs.events_waits_history_long WHERE thread_id = $tb)
EOT

# ---- A goes ----

$a->close;
ok($server->poll("SELECT count(*) FROM pfs.threads WHERE thread_id = $ta", 0), 'A is gone');
is(events('history', $ta), '0||', 'with its thread goes its history');
is(events('history_long', $ta), '99|202|300', 'but not its rows in the long history');
# Its record gets another owner: that changes nothing.
my $c = $server->session;
my $tc = $c->thread_id;
cmp_ok($tc, '>', $tb, 'the next thread has a new number');
fire($c, 7);
is(events('history', $tc), '7|1|7', 'and a history of its own');
is(events('history', $ta), '0||', 'A stays gone');
# The seven oldest make room, of which the second was A's.
is(events('history_long', $ta), '98|203|300', 'its rows stay until they are the oldest');
is(events('history_long', $tb), '9895|20106|30000', 'as everybody else\'s');

# ---- TRUNCATE, and a thread without history ----

$server->sql('TRUNCATE pfs.events_waits_history');
is(total('history'), 0, 'TRUNCATE empties history');
is(total('history_long'), 10000, 'and only that');
fire($b, 3);
is(events('history', $tb), '3|30001|30003', 'which goes on with the next event');
$server->sql('TRUNCATE pfs.events_waits_history_long');
is(total('history_long'), 0, 'TRUNCATE empties history_long');
is(events('history', $tb), '3|30001|30003', 'and only that');
fire($b, 2);
is(events('history_long', $tb), '2|30004|30005', 'which goes on with the next event');
$server->sql("UPDATE pfs.threads SET history = 'NO' WHERE thread_id = $tb");
fire($b, 20);
is(events('history', $tb), '5|30001|30005', "history = 'NO': nothing comes into history");
is(events('history_long', $tb), '2|30004|30005', 'nor into the long one');
$server->sql("UPDATE pfs.threads SET history = 'YES' WHERE thread_id = $tb");
fire($b, 1);
is(events('history_long', $tb), '3|30004|30026', 'back: its events had taken numbers');
is($server->sql(q{SELECT pfs.reset('events_waits_history'), pfs.reset('pfs.events_waits_history_long')}), '6|3', 'reset says how many went');
is(total('history') + total('history_long'), 0, 'both are empty');

# ---- a thread goes on in a block that another one has left ----

my $left = $server->session;
my $tl = $left->thread_id;
fire($left, 5);
$left->close;
ok($server->poll("SELECT count(*) FROM pfs.threads WHERE thread_id = $tl", 0), 'a thread is gone');
my $next = $server->session;
fire($next, 1);
is($server->sql("SELECT count(*), (SELECT records_used FROM pfs.containers WHERE name = 'events_waits_history_long') FROM pfs.events_waits_history_long"), '6|6',
	'containers counts what is in such a block once');
is(events('history', $next->thread_id), '1|1|1', 'of which one is of the thread');
$server->sql('TRUNCATE pfs.events_waits_history_long');

# ---- all at once: rings of several threads, the newest by end ----

my @busy = map { $server->session } 1 .. 4;
my @ids = map { $_->thread_id } @busy;
my $script = "SELECT count(pg_stat_file('PG_VERSION')) FROM generate_series(1, %d)";

# The third stops early, so that others displace what it left.
$busy[$_]->send(sprintf($script, $_ == 2 ? 1000 : 15000 + 5000 * $_)) foreach 0 .. 3;
until ($busy[3]->is_done && $busy[0]->is_done && $busy[1]->is_done)
{
	# Readers meanwhile see whole rows, none twice, never more than fit.
	is($server->sql(<<"EOT"), 't|0|0', 'while they run') or last;
SELECT count(*) <= 10000, count(*) - count(DISTINCT (thread_id, event_id)),
       count(*) FILTER (WHERE event_name <> 'wait/io/file/FileStat' OR operation <> 'stat' OR end_event_id <> event_id
                        OR timer_wait <> timer_end - timer_start OR timer_wait < 0 OR thread_id NOT IN (@{[join ', ', @ids]}))
  FROM pfs.events_waits_history_long
EOT
}
$_->result foreach @busy;
is(total('history_long'), 10000, 'four threads at once: 10,000 rows');
# Each has its newest without a gap, or none.
is($server->sql(<<"EOT"), 0, 'of each thread its newest, without a gap');
SELECT count(*) FROM (SELECT thread_id, count(*) AS n, min(event_id) AS low, max(event_id) AS high
                        FROM pfs.events_waits_history_long GROUP BY thread_id) l
  JOIN (SELECT thread_id, max(event_id) AS last FROM pfs.events_waits_history GROUP BY thread_id) h USING (thread_id)
 WHERE l.high <> h.last OR l.n <> l.high - l.low + 1
EOT
# Whatever is in a thread's own history and not in the long one ended before.
is($server->sql(<<'EOT'), 0, 'none is missing that is newer than one that is there');
SELECT count(*) FROM pfs.events_waits_history h
 WHERE NOT EXISTS (SELECT FROM pfs.events_waits_history_long l WHERE (l.thread_id, l.event_id) = (h.thread_id, h.event_id))
   AND h.timer_end > (SELECT min(timer_end) FROM pfs.events_waits_history_long)
EOT
is($server->sql(q{SELECT variable_value FROM pfs.status WHERE variable_name = 'pfs_events_waits_history_long_lost'}), 0, 'nothing was lost');
$server->stop;

# ---- other sizes ----

foreach my $case ([ 1, 1 ], [ 2, 2 ], [ 3, 0 ], [ 0, 3 ], [ 0, 0 ], [ 1024, 20 ])
{
	my ($size, $long) = @$case;

	$server->conf("pfs.events_waits_history_size = $size\npfs.events_waits_history_long_size = $long");
	$server->start;
	look_away();
	my ($x, $y) = ($server->session, $server->session);
	my ($tx, $ty) = ($x->thread_id, $y->thread_id);
	my $shown = sub {
		my ($n, $last) = @_;
		return $n == 0 ? '0||' : join('|', $n, $last - $n + 1, $last);
	};
	my $sizes = "sizes $size and $long";

	fire($x, 5);
	fire($y, 500);
	is(events('history', $tx), $shown->($size < 5 ? $size : 5, 5), "$sizes: the last of X");
	is(events('history', $ty), $shown->($size < 500 ? $size : 500, 500), "$sizes: the last of Y");
	is(events('history_long', $ty), $shown->($long, 500), "$sizes: the last of all, which are Y's");
	is(total('history_long'), $long, "$sizes: rows of the long history");
	fire($x, 1);
	is(events('history_long', $tx), $shown->($long > 0 ? 1 : 0, 6), "$sizes: one of X displaces one of Y");
	is(total('history_long'), $long, "$sizes: as many rows as before");
	is($server->sql(q{SELECT count(*) FROM pfs.status WHERE variable_name LIKE '%lost' AND variable_value <> '0'}), 0,
		"$sizes: nothing counts as lost");
	$server->sql('TRUNCATE pfs.events_waits_history, pfs.events_waits_history_long');
	is(total('history') + total('history_long'), 0, "$sizes: empty after TRUNCATE");
	fire($y, 4);
	is(events('history', $ty), $shown->($size < 4 ? $size : 4, 504), "$sizes: history goes on");
	is(events('history_long', $ty), $shown->($long < 4 ? $long : 4, 504), "$sizes: history_long goes on");
	$server->stop;
}

done_testing();
