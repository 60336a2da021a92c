# setup_actors: which sessions are instrumented from their start.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/lib";
use IO::Select;
use IO::Socket::INET;
use IO::Socket::UNIX;
use PfsServer;
use Test::More;

my $server = PfsServer->new('main', tcp => 1, conf => <<"EOT");
autovacuum = off
hot_standby = on
listen_addresses = '127.0.0.1, ::1'
EOT
my $port = $server->{port};

# The first line of pg_hba.conf that matches counts.
my $hba = "$server->{data}/pg_hba.conf";

open my $in, '<', $hba or die "$hba: $!";
my @lines = <$in>;
close $in;
open my $out, '>', $hba or die "$hba: $!";
print $out "local all claimed password\nhost all all 127.0.0.0/8 trust\n", @lines;
close $out;
$server->start;
$server->sql('CREATE EXTENSION pfs');
$server->sql("CREATE ROLE $_ LOGIN PASSWORD 'secret'") foreach qw(alice bob claimed);
$server->sql('GRANT pg_monitor TO alice, bob');

my $local = $server->{host};
my %where = ('[local]' => $local, '127.0.0.1' => '127.0.0.1');

# A machine may have no IPv6.
{
	local $server->{host} = '::1';
	$where{'::1'} = '::1' if ($server->psql('SELECT 1'))[0] == 0;
}
ok(exists $where{'::1'} || !-s '/proc/net/if_inet6', 'there is IPv6, or none');

sub session
{
	my ($user, $host) = @_;

	local $server->{host} = $where{$host // '[local]'};
	return $server->session(user => $user);
}

sub switches
{
	my ($session) = @_;

	return $server->sql('SELECT instrumented, history FROM pfs.threads WHERE thread_os_id = ' . $session->pid);
}

# ---- the order ----

is($server->sql('SELECT * FROM pfs.setup_actors'), '%|%|%|YES|YES', 'one rule at the start');
my $before = session('alice');

is(switches($before), 'YES|YES', 'it lets everybody be instrumented');
$server->sql(<<'EOT');
INSERT INTO pfs.setup_actors (host, user_name, enabled, history) VALUES
	('[local]', '%', 'NO', 'YES'), ('%', 'alice', 'YES', 'NO'), ('127.0.0.1', 'alice', 'NO', 'NO')
EOT
my %expected = (
	'alice@[local]' => 'YES|NO', 'alice@127.0.0.1' => 'NO|NO', 'alice@::1' => 'YES|NO',
	'bob@[local]' => 'NO|YES', 'bob@127.0.0.1' => 'YES|YES', 'bob@::1' => 'YES|YES');
my %sessions;

foreach my $who (sort keys %expected)
{
	my ($user, $host) = split /@/, $who;

	next unless exists $where{$host};
	$sessions{$who} = session($user, $host);
	is(switches($sessions{$who}), $expected{$who}, "$who: $expected{$who}");
	is($server->sql('SELECT processlist_user, processlist_host FROM pfs.threads WHERE thread_os_id = ' . $sessions{$who}->pid),
		"$user|$host", 'and its thread says who it is');
}
is(switches($before), 'YES|YES', 'a running session stays as it is');

# What that means for its events: sleeps in the history, and a running idle wait,
# which begins a moment after the session has sent its result.
sub sleeps
{
	my ($session, $sleeps, $idle, $name) = @_;
	my $thread = $session->thread_id;

	# A time that a process can lose its processor for would be over before pg_sleep() waits.
	$session->query('SELECT pg_sleep(0.1)') for 1 .. 2;	# the history has ten waits
	# By statement: a latch that somebody else sets ends a wait of pg_sleep() early, and there is another one.
	is($server->sql("SELECT count(DISTINCT nesting_event_id) FROM pfs.events_waits_history WHERE thread_id = $thread AND event_name = 'wait/timeout/PgSleep'"),
		$sleeps, $name);
	ok($server->poll("SELECT count(*) FROM pfs.events_waits_current WHERE thread_id = $thread", $idle), 'running: ' . ($idle ? 'it is idle' : 'nothing'));
}

sleeps($sessions{'bob@127.0.0.1'}, 2, 1, 'YES, YES: its events are in the history');
sleeps($sessions{'alice@[local]'}, 0, 1, 'YES, NO: they are not in the history');
sleeps($sessions{'bob@[local]'}, 0, 0, 'NO, YES: there are none');
is($server->sql('SELECT count(*) FROM pfs.events_waits_history_long WHERE event_name ~ ' . "'^idle' AND thread_id IN ("
	  . join(', ', map { $_->thread_id } @sessions{ 'bob@[local]', 'alice@[local]', 'alice@127.0.0.1' }) . ')'), 0,
	'and nothing of those three is in the long history');

# A change of a rule is for the sessions to come.
$server->sql(q{UPDATE pfs.setup_actors SET enabled = 'YES' WHERE host = '[local]'});
is(switches($sessions{'bob@[local]'}), 'NO|YES', 'UPDATE of a rule: a running session stays as it is');
is(switches(session('bob')), 'YES|YES', 'a new one follows it');
$server->sql('UPDATE pfs.threads SET instrumented = ' . "'YES' WHERE thread_os_id = " . $sessions{'bob@[local]'}->pid);
sleeps($sessions{'bob@[local]'}, 2, 1, 'UPDATE of threads brings a session back');
$server->sql(q{DELETE FROM pfs.setup_actors WHERE user_name = '%'});
is(switches(session('bob')), 'NO|NO', 'no rule matches: not instrumented');
is(switches(session('alice')), 'YES|NO', 'another one does');
$server->sql('TRUNCATE pfs.setup_actors');
is(switches(session('alice')), 'NO|NO', 'no rule at all: not instrumented');
is($server->sql(q{SELECT count(*) FROM pfs.threads WHERE type = 'BACKGROUND' AND instrumented = 'NO' AND name <> 'thread/worker/pfs_recorder'}), 0, 'rules are not for background processes');

# localhost is this machine, however it is reached; a rule with the address goes before it.
$server->sql(<<'EOT');
INSERT INTO pfs.setup_actors (host, user_name, enabled, history) VALUES
	('localhost', '%', 'YES', 'NO'), ('127.0.0.1', '%', 'NO', 'YES'), ('%', 'bob', 'NO', 'NO'), ('localhost', 'claimed', 'YES', 'YES'), ('%', 'claimed', 'NO', 'NO')
EOT
%expected = ('alice@[local]' => 'YES|NO', 'alice@127.0.0.1' => 'NO|YES', 'alice@::1' => 'YES|NO', 'bob@[local]' => 'NO|NO', 'bob@127.0.0.1' => 'NO|NO',
	'claimed@127.0.0.1' => 'YES|YES', 'claimed@::1' => 'YES|YES');
foreach my $who (sort keys %expected)
{
	my ($user, $host) = split /@/, $who;

	is(switches(session($user, $host)), $expected{$who}, "localhost, $who: $expected{$who}") if exists $where{$host};
}
$server->sql(q{DELETE FROM pfs.setup_actors WHERE host = '127.0.0.1' OR user_name <> '%'});
is(switches(session('alice', '127.0.0.1')), 'YES|NO', 'localhost: 127.0.0.1 without a rule of its own');
{
	# A client can bind to any loopback address.
	my $socket = IO::Socket::INET->new(PeerAddr => '127.0.0.1', PeerPort => $port, LocalAddr => '127.3.2.1') or die "no connection: $!";
	my $message = pack('N', 196608) . "user\0bob\0database\0postgres\0\0";

	print $socket pack('N', length($message) + 4) . $message;
	$socket->flush;
	$server->poll("SELECT count(*) FROM pfs.threads WHERE processlist_host = '127.3.2.1' AND processlist_command = 'Sleep'", 1);
	is($server->sql("SELECT instrumented, history FROM pfs.threads WHERE processlist_host = '127.3.2.1'"), 'YES|NO', 'localhost: all of 127.0.0.0/8');
}
is($server->sql("SELECT host, enabled, history FROM pfs.setup_actors"), 'localhost|YES|NO', 'it is kept as written');
$server->sql('TRUNCATE pfs.setup_actors');

# ---- before authentication, and switched by somebody then ----

$server->sql(q{SELECT pfs.set_actor('%', '%'), pfs.set_actor('%', 'claimed', '%', 'NO', 'NO')});
foreach my $case ([ '', 'NO|NO' ], [ "instrumented = 'YES'", 'YES|NO' ], [ "history = 'YES'", 'NO|YES' ])
{
	my ($set, $expected) = @$case;
	my $socket = IO::Socket::UNIX->new(Type => SOCK_STREAM, Peer => "$local/.s.PGSQL.$port") or die "no connection: $!";
	my $message = pack('N', 196608) . "user\0claimed\0database\0postgres\0\0";
	my $thread = q{FROM pfs.threads WHERE name = 'thread/client_backend' AND processlist_user IS NULL};

	print $socket pack('N', length($message) + 4) . $message;
	$socket->flush;
	IO::Select->new($socket)->can_read($PfsServer::timeout) or die 'the server asks for no password';
	$server->poll("SELECT count(*) $thread", 1);
	is($server->sql("SELECT instrumented, history $thread"), 'YES|YES', 'before the password nobody is asked about');
	my $id = $server->sql("SELECT thread_id $thread");

	$server->sql("UPDATE pfs.threads SET $set WHERE thread_id = $id") if $set ne '';
	print $socket 'p' . pack('N', 11) . "secret\0";
	$socket->flush;
	ok($server->poll("SELECT count(*) FROM pfs.threads WHERE thread_id = $id AND processlist_user = 'claimed'", 1), 'the password is right');
	# It has its user before the rules are asked.
	ok($server->poll("SELECT instrumented, history FROM pfs.threads WHERE thread_id = $id", $expected),
		$set eq '' ? 'the rule decides' : "what somebody has set stays: $set");
	$socket->close;
	$server->poll("SELECT count(*) FROM pfs.threads WHERE thread_id = $id", 0);
}

# ---- parallel workers follow their leader ----

$server->sql(<<'EOT');
CREATE TABLE t (n int) WITH (parallel_workers = 2);
INSERT INTO t SELECT generate_series(1, 2000);
GRANT SELECT ON t TO PUBLIC;
CREATE FUNCTION slow(n int) RETURNS bool LANGUAGE plpgsql PARALLEL SAFE AS 'BEGIN PERFORM pg_sleep(0.1); RETURN true; END';
EOT
foreach my $case ([ 'NO', 'NO' ], [ 'YES', 'NO' ], [ 'YES', 'YES' ])
{
	my ($enabled, $history) = @$case;

	$server->sql("SELECT pfs.set_actor('%', 'bob', '%', '$enabled', '$history')");
	my $s = session('bob');
	my $leader = $s->thread_id;

	$s->query('SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0; SET max_parallel_workers_per_gather = 2;');
	$s->send('SELECT count(*) FROM t WHERE slow(n)');
	ok($server->poll("SELECT count(*) > 0 FROM pfs.threads WHERE parent_thread_id = $leader"), "$enabled, $history: there are workers");
	is($server->sql("SELECT DISTINCT instrumented, history FROM pfs.threads WHERE parent_thread_id = $leader"), "$enabled|$history",
		'they follow their leader');
	# It would take more than a minute: so the workers were still there.
	$server->sql('SELECT pg_cancel_backend(' . $s->pid . ')');
	$s->result;
	$s->close;
}

# ---- two sessions that insert at a time ----

# The first one has collected a row when the second one takes its key, or the last place.
sub race
{
	my ($theirs, $sqlstate, $name) = @_;
	my $s = session('postgres');
	my $pid = $s->pid;

	$server->sql('SELECT pg_advisory_lock(7)');
	$s->send("INSERT INTO pfs.setup_actors (host) SELECT h FROM (VALUES (1, 'race1'), (2, 'race2')) v (n, h)"
		  . ' WHERE n = 1 OR pg_advisory_xact_lock_shared(7) IS NOT NULL RETURNING host');
	ok($server->poll("SELECT count(*) FROM pg_locks WHERE pid = $pid AND NOT granted", 1), "$name: one is in the middle");
	$server->sql($theirs);
	$server->sql('SELECT pg_advisory_unlock(7)');
	is($s->result, '', 'it returns no row');
	like($s->last_error, qr/ERROR:  $sqlstate: /, "and fails with $sqlstate");
	is($server->sql(q{SELECT count(*) FROM pfs.setup_actors WHERE host = 'race2'}), 0, 'and inserts nothing');
	$s->close;
}

race(q{INSERT INTO pfs.setup_actors (host) VALUES ('race1')}, 23505, 'another one takes the key');
$server->sql(q{DELETE FROM pfs.setup_actors WHERE host LIKE 'race%'});
race(q{SELECT pfs.set_actor('race1', '%')}, 23505, 'the function takes the key');
$server->sql('TRUNCATE pfs.setup_actors');
race(q{INSERT INTO pfs.setup_actors (user_name) SELECT 'u' || n FROM generate_series(1, 127) n}, 53400, 'another one takes the room');
is($server->sql('SELECT count(*) FROM pfs.setup_actors'), 127, 'the other one has its rows');

# Rules come and go, and each new session follows a whole set of them.
$server->sql(q{TRUNCATE pfs.setup_actors; SELECT pfs.set_actor('%', '%', '%', 'YES', 'YES'), pfs.set_actor('%', 'bob', '%', 'NO', 'NO')});
my $churn = session('postgres');

$server->sql('SELECT pg_advisory_lock(8)');
$churn->send(<<'EOT');
DO $$ BEGIN LOOP
	DELETE FROM pfs.setup_actors;
	INSERT INTO pfs.setup_actors (user_name, enabled, history) VALUES ('bob', 'NO', 'NO'), ('%', 'YES', 'YES');
	DELETE FROM pfs.setup_actors;
	INSERT INTO pfs.setup_actors (user_name, enabled, history) VALUES ('%', 'YES', 'YES'), ('bob', 'NO', 'NO');
	EXIT WHEN pg_try_advisory_xact_lock(8);
END LOOP; END $$
EOT
my ($n, %seen) = (20);

foreach (1 .. $n)
{
	my ($status, $text) = $server->psql('SELECT instrumented || history FROM pfs.threads WHERE thread_id = pfs.thread_id()', user => 'bob');

	$seen{$text}++;
}
$server->sql('SELECT pg_advisory_unlock(8)');
$churn->result;
is(join(' ', sort keys %seen), 'NONO', "in $n sessions the rule for all never counts for who has his own");

# ---- RETURNING ----

SKIP:
{
	skip 'no RETURNING old', 3 if PfsServer::version() < 18;
	is($server->sql(q{UPDATE pfs.setup_actors SET enabled = 'yes' WHERE user_name = 'bob' RETURNING old.*, new.enabled, new.history}),
		'%|bob|%|NO|NO|YES|NO', 'UPDATE ... RETURNING old.*, new');
	is($server->sql(q{DELETE FROM pfs.setup_actors WHERE user_name = 'bob' RETURNING old.user_name, old.enabled, new.user_name}), 'bob|YES|',
		'DELETE ... RETURNING old, new');
	is($server->sql(q{INSERT INTO pfs.setup_actors (user_name) VALUES ('bob') RETURNING old.user_name, new.user_name, host}), '|bob|%',
		'INSERT ... RETURNING old, new');
}

# ---- a standby has its own rules ----

$server->sql(q{TRUNCATE pfs.setup_actors; INSERT INTO pfs.setup_actors DEFAULT VALUES});
my $backup = PfsServer::folder() . '/backup';

PfsServer::run_ok(PfsServer::bindir() . '/pg_basebackup', '-d', $server->connstr, '-D', $backup, '-R', '-c', 'fast', '--no-sync');
my $standby = PfsServer->new('standby', from => $backup, conf => "listen_addresses = ''");

$standby->start;
my $read_only = qr/in a read-only transaction/;

$standby->fails(q{INSERT INTO pfs.setup_actors (user_name) VALUES ('alice')}, '25006', $read_only, 'standby: no INSERT');
$standby->fails('DELETE FROM pfs.setup_actors', '25006', $read_only, 'no DELETE');
$standby->fails('TRUNCATE pfs.setup_actors', '25006', $read_only, 'no TRUNCATE');
is($standby->sql(q{SELECT pfs.set_actor('%', 'alice', '%', 'NO')}), 1, 'set_actor works');
is(($standby->psql('SELECT instrumented, history FROM pfs.threads WHERE thread_id = pfs.thread_id()', user => 'alice'))[1], 'NO|YES', 'and counts');
is(switches(session('alice')), 'YES|YES', 'on the standby only');
is($standby->sql(q{SELECT pfs.drop_actor('%', 'alice'), pfs.drop_actor('%', 'alice')}), '1|0', 'drop_actor works');
is(($standby->psql('SELECT instrumented, history FROM pfs.threads WHERE thread_id = pfs.thread_id()', user => 'alice'))[1], 'YES|YES', 'and counts');
is($standby->sql(q{SELECT pfs.reset('setup_actors')}), 1, 'so does reset');
# The sender of WAL is a session, too.
$server->sql(q{SELECT pfs.set_actor('%', 'postgres', '%', 'NO', 'YES')});
$standby->restart;
ok($server->poll(q{SELECT string_agg(instrumented || history, ' ') FROM pfs.threads WHERE name = 'thread/walsender'}, 'NOYES'), 'a walsender follows a rule');
$standby->stop;

# ---- after a restart, and with room for one rule, and for none ----

$server->restart;
is($server->sql('SELECT * FROM pfs.setup_actors'), '%|%|%|YES|YES', 'after a restart: one rule again');
$server->conf('pfs.setup_actors_size = 1');
$server->restart;
is($server->sql('SELECT * FROM pfs.setup_actors'), '%|%|%|YES|YES', 'size 1: the rule of the start');
$server->fails(q{INSERT INTO pfs.setup_actors (user_name) VALUES ('bob')}, '53400', qr/room for 1 .*HINT: .*pfs\.setup_actors_size/s, 'and no other');
$server->fails(q{SELECT pfs.set_actor('%', 'bob')}, '53400', qr/HINT: /, 'nor by the function');
is($server->sql(q{SELECT pfs.set_actor('%', '%', '%', 'NO', 'NO')}), 1, 'it can be changed');
is($server->sql(q{SELECT records_max, records_used, records_lost FROM pfs.containers WHERE name = 'setup_actors'}), '1|1|2', 'what was wanted is counted');
$server->sql(q{DELETE FROM pfs.setup_actors});
$server->sql(q{INSERT INTO pfs.setup_actors (user_name) VALUES ('bob')});
is(switches(session('bob')), 'YES|YES', 'or replaced');
is(switches(session('alice')), 'NO|NO', 'for others there is none then');
$server->conf('pfs.setup_actors_size = 0');
$server->restart;
is($server->sql('SELECT count(*) FROM pfs.setup_actors'), 0, 'size 0: no rule');
is(switches(session('bob')), 'NO|NO', 'no session is instrumented, as in MySQL');
$server->fails('INSERT INTO pfs.setup_actors DEFAULT VALUES', '53400', qr/HINT: .*pfs\.setup_actors_size/, 'none can be inserted');
$server->fails(q{SELECT pfs.set_actor('%', '%')}, '53400', qr/HINT: /, 'nor set');
is($server->sql(q{SELECT pfs.drop_actor('%', '%'), pfs.reset('setup_actors')}), '0|0', 'nor dropped');
is($server->sql(q{SELECT records_max, records_lost FROM pfs.containers WHERE name = 'setup_actors'}), '0|0', 'and nothing counts as lost');
my $s = session('bob');

$server->sql('UPDATE pfs.threads SET instrumented = ' . "'YES', history = 'YES' WHERE thread_os_id = " . $s->pid);
sleeps($s, 2, 1, 'UPDATE of threads works all the same');

done_testing();
