# A long queue for one lock, in blocking_tree.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/lib";
use PfsServer;
use Test::More;

my $waiters = 40;
my $server = PfsServer->new('main', conf => "autovacuum = off\nmax_connections = 60\nmax_prepared_transactions = 3");

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
my $of_prepared = 'FROM pfs.blocking_tree WHERE blocking_pid = 0 ORDER BY waiting_pid, blocking_gid';
my @command = (q{p|postgres|ROLLBACK PREPARED 'p';|}) x 2;
is($server->sql("SELECT blocking_gid, blocking_user, terminate_command, blocking_thread_id $of_prepared"), join("\n", @command), 'it is named, with its owner and what ends it');
is($server->sql('SELECT count(*) FROM pfs.blocking_tree WHERE blocking_pid <> 0 AND (blocking_gid IS NOT NULL OR terminate_command NOT LIKE \'SELECT pg_terminate_backend(%\')'), 0,
	'and no session is');
$server->sql("COMMIT PREPARED 'p'");
ok($server->poll($waits, 0), 'ends with it');

# Of several, each whose lock conflicts, and no other: whatever its name has in it, and also behind a restart.
$server->sql("CREATE TABLE u (i int PRIMARY KEY); INSERT INTO u VALUES (1); CREATE ROLE other LOGIN; GRANT ALL ON u TO other");
$server->sql("BEGIN; LOCK TABLE u IN SHARE MODE; PREPARE TRANSACTION 'it''s \\1'");
$server->sql("BEGIN; LOCK TABLE u IN ACCESS SHARE MODE; PREPARE TRANSACTION 'harmless'");
$server->session(user => 'other')->query("BEGIN; SAVEPOINT s; LOCK TABLE u IN SHARE MODE; RELEASE s; PREPARE TRANSACTION 'others'");
foreach my $when ('', ', behind a restart')
{
	my $waiter = $server->session;

	$waiter->send('BEGIN; LOCK TABLE u IN ROW EXCLUSIVE MODE; COMMIT');
	ok($server->poll($waits, 1), "one waits for two$when");
	is($server->sql("SELECT blocking_gid, blocking_user $of_prepared"), "it's \\1|postgres\nothers|other", "both are named$when");
	is($server->sql("SELECT count(*), count(DISTINCT terminate_command) $of_prepared" =~ s/ ORDER BY.*//r), '2|2', "each with a command of its own$when");
	is($server->sql("SELECT blocking_gid, blocking_account, blocking_lock_type, sql_kill_blocking_query, sql_kill_blocking_connection FROM pfs_sys.schema_table_lock_waits WHERE blocking_gid = 'others'"),
		"others|other|ShareLock||ROLLBACK PREPARED 'others';", "the view for people says the same$when");
	is($server->sql('SELECT bool_and(blocking_trx_id::text = p.transaction::text) FROM pfs_sys.lock_waits JOIN pg_prepared_xacts p ON gid = blocking_gid'), 't', "with its transaction id$when");
	$server->sql('SELECT pg_terminate_backend(' . $waiter->pid . ')');
	$server->poll($waits, 0) or die 'who was ended waits';
	$waiter->kill;
	$server->restart unless $when;
}
my @ends = split /\n/, $server->sql("SELECT 'ROLLBACK PREPARED ' || quote_literal(gid) FROM pg_prepared_xacts ORDER BY gid");
$server->sql($_) foreach @ends;

# What is waited for that is no relation.
my ($owner, $row, $advisory) = map { $server->session } 1 .. 3;
$owner->query('BEGIN; UPDATE u SET i = 2; SELECT pg_advisory_lock(77)');
my $xid = $owner->query('SELECT pg_current_xact_id()');
$row->send('UPDATE u SET i = 3');
$advisory->send('SELECT pg_advisory_lock(77)');
ok($server->poll("SELECT count(*) FROM pfs.events_waits_current WHERE event_name IN ('wait/lock/transactionid', 'wait/lock/advisory')", 2), 'one waits for a transaction, one for an advisory lock');
like($server->sql('SELECT locked_table, locked_table_schema, locked_table_name, locked_type, locked_object FROM pfs_sys.lock_waits ORDER BY locked_type DESC'),
	qr{^\|\|\|TRANSACTIONID\|$xid\n\|\|\|ADVISORY\|\d+/0/77/1$}, 'they have no table');
$owner->query('COMMIT; SELECT pg_advisory_unlock_all()');
$_->result foreach $row, $advisory;

done_testing();
