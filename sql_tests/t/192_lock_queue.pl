# A long queue for one lock, in blocking_tree.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/lib";
use PfsServer;
use Test::More;

my $waiters = 40;
my $server = PfsServer->new('main', conf => "autovacuum = off\nmax_connections = 60\nmax_prepared_transactions = 1");

$server->start;
$server->sql('CREATE EXTENSION pfs; CREATE TABLE t (i int)');
my $holder = $server->session;
$holder->query('BEGIN; LOCK TABLE t');
my @waiting;
my $waits = "SELECT count(*) FROM pfs.events_waits_current WHERE event_name = 'wait/lock/relation'";

foreach my $n (1 .. $waiters)
{
	my $s = $server->session;

	push @waiting, $s->thread_id;
	$s->send('BEGIN; LOCK TABLE t; COMMIT;');
	$server->poll($waits, $n) or die "waiter $n does not wait";
}

# Each waits for the holder and for all before it, so that paths double with each: a query that
# follows all of them does not come to an end.
is($server->sql('SELECT count(*) FROM pfs.blocking_tree'), $waiters * ($waiters + 1) / 2, 'each waits for all before it');
is($server->sql("SELECT string_agg(waiting_thread_id || ':' || depth, ' ' ORDER BY depth) FROM"
	  . ' (SELECT DISTINCT waiting_thread_id, depth FROM pfs.blocking_tree) b'),
	join(' ', map { "$waiting[$_]:" . ($_ + 1) } 0 .. $#waiting), 'depth is the place in the queue');
is($server->sql('SELECT count(DISTINCT waiting_thread_id) FROM pfs.blocking_tree WHERE blocking_pid = ' . $holder->pid),
	$waiters, 'all wait for who holds it');

$holder->query('COMMIT');
ok($server->poll($waits, 0), 'the queue ends');

# A deadlock, one of which waits for a third as well: a circle behind somebody who waits for nobody.
$server->sql('CREATE TABLE a (i int); CREATE TABLE b (i int)');
my ($first, $second, $third) = map { $server->session } 1 .. 3;

$third->query('BEGIN; LOCK TABLE b IN SHARE MODE');
$first->query("SET deadlock_timeout = '1h'; BEGIN; LOCK TABLE a");
$second->query("SET deadlock_timeout = '1h'; BEGIN; LOCK TABLE b IN SHARE MODE");
$first->send('LOCK TABLE b;');
$server->poll($waits, 1) or die 'the first does not wait';
$second->send('LOCK TABLE a;');
$server->poll($waits, 2) or die 'the second does not wait';
is($server->sql('SELECT count(*), bool_and(depth BETWEEN 1 AND 2) FROM pfs.blocking_tree'), '3|t', 'a circle: no depth is more than the number of waiters');
$server->sql('SELECT pg_terminate_backend(' . $_->pid . ')') foreach $first, $second;
ok($server->poll($waits, 0), 'it is over');

# Behind a prepared transaction, which is no thread.
my @behind = map { $server->session } 1 .. 2;

$server->sql("BEGIN; LOCK TABLE t; PREPARE TRANSACTION 'p'");
foreach my $n (1, 2)
{
	$behind[ $n - 1 ]->send('BEGIN; LOCK TABLE t; COMMIT;');
	$server->poll($waits, $n) or die "waiter $n does not wait";
}
is($server->sql("SELECT string_agg(waiting_pid || ' ' || blocking_pid || ' ' || depth, ', ' ORDER BY depth, blocking_pid) FROM pfs.blocking_tree"),
	join(', ', $behind[0]->pid . ' 0 1', $behind[1]->pid . ' 0 2', $behind[1]->pid . ' ' . $behind[0]->pid . ' 2'), 'a queue behind a prepared transaction');
$server->sql("COMMIT PREPARED 'p'");
ok($server->poll($waits, 0), 'ends with it');

done_testing();
