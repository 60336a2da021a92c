# Clients: before and after authentication, over the network, with TLS, with
# pipelines.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/lib";
use IO::Select;
use IO::Socket::UNIX;
use PfsServer;
use Test::More;
use Time::HiRes qw(sleep);

my $server = PfsServer->new('main', tcp => 1, conf => 'autovacuum = off');
my $port = $server->{port};
my $tls = 0 == system("openssl req -new -x509 -days 30 -nodes -subj /CN=localhost -out $server->{data}/server.crt -keyout $server->{data}/server.key"
	  . ' >/dev/null 2>&1');

if ($tls)
{
	chmod 0600, "$server->{data}/server.key";
	$server->conf('ssl = on');
}
# The first line of pg_hba.conf that matches counts.
my $hba = "$server->{data}/pg_hba.conf";

open my $in, '<', $hba or die "$hba: $!";
my @lines = <$in>;
close $in;
open my $out, '>', $hba or die "$hba: $!";
print $out "local all claimed password\n", @lines;
close $out;
$server->start;
$server->sql('CREATE EXTENSION pfs');
$server->sql("CREATE ROLE claimed LOGIN PASSWORD 'secret'");

# ---- before authentication ----

my $socket = IO::Socket::UNIX->new(Type => SOCK_STREAM, Peer => "$server->{host}/.s.PGSQL.$port") or die "no connection: $!";
my $message = pack('N', 196608) . "user\0claimed\0database\0postgres\0application_name\0liar\0\0";

print $socket pack('N', length($message) + 4) . $message;
$socket->flush;
IO::Select->new($socket)->can_read($PfsServer::timeout) or die 'the server asks for no password';
my $unknown = q{FROM pfs.threads WHERE name = 'thread/client_backend' AND processlist_user IS NULL};
ok($server->poll("SELECT count(*) $unknown", 1), 'a session that has not said its password has no user');
ok($server->poll("SELECT event_name FROM pfs.events_waits_current JOIN pfs.threads USING (thread_id)"
	  . " WHERE name = 'thread/client_backend' AND processlist_user IS NULL", 'wait/io/socket/ClientRead'), 'it waits for its client, and is not idle');
my $id = $server->sql("SELECT thread_id $unknown");
ok($server->poll_lasts($id, 'wait/io/socket/ClientRead', 0.2), 'for long');
print $socket 'p' . pack('N', length("secret\0") + 4) . "secret\0";
$socket->flush;
ok($server->poll("SELECT processlist_user FROM pfs.threads WHERE thread_id = $id", 'claimed'), 'afterwards it has');
ok($server->poll("SELECT event_name FROM pfs.events_waits_current WHERE thread_id = $id", 'idle'), 'and is idle');
cmp_ok($server->sql("SELECT max(timer_wait) FROM pfs.events_waits_history_long WHERE thread_id = $id"
	  . " AND event_name = 'wait/io/socket/ClientRead' AND operation = 'wait'") / 1e12, '>=', 0.19, 'the time that it took is a wait for the client');
$socket->close;
ok($server->poll("SELECT count(*) FROM pfs.threads WHERE thread_id = $id", 0), 'gone with its client');
# A wrong password.
my ($status, undef, $err) = $server->psql('SELECT 1', user => 'claimed', env => { PGPASSWORD => 'wrong' });
is($status, 2, 'a wrong password');
ok($server->poll("SELECT count(*) $unknown", 0), 'leaves no thread');

# ---- over the network ----

my @cases = ([ 'TCP/IP', 'disable' ]);

push @cases, [ 'SSL/TLS', 'require' ] if $tls;
foreach my $case (@cases)
{
	my ($type, $mode) = @$case;
	my $host = $server->{host};

	$server->{host} = "127.0.0.1 sslmode=$mode";
	my $s = $server->session;
	$server->{host} = $host;
	my $thread = $s->thread_id;

	is($server->sql("SELECT connection_type, processlist_host FROM pfs.threads WHERE thread_id = $thread"), "$type|127.0.0.1", "$type: type and host");
	ok($server->poll("SELECT event_name FROM pfs.events_waits_current WHERE thread_id = $thread", 'idle'), "$type: idle");
	# A command that is there before the server looks for it has no idle time.
	my $first = $server->sql("SELECT event_id FROM pfs.events_waits_current WHERE thread_id = $thread");

	ok($server->poll_lasts($thread, 'idle', 0.2), "$type: for long");
	for (1 .. 20)
	{
		$s->query('SELECT 1');
		$server->poll("SELECT event_name FROM pfs.events_waits_current WHERE thread_id = $thread", 'idle');
	}
	ok($server->poll("SELECT event_name FROM pfs.events_waits_current WHERE thread_id = $thread", 'idle'), "$type: idle again");
	between($server->sql("SELECT count(*) FROM pfs.events_waits_history_long WHERE thread_id = $thread AND event_name = 'idle' AND event_id >= $first"),
		17, 20, "$type: one idle time before each of 20 commands");
	between($server->sql("SELECT timer_wait FROM pfs.events_waits_history_long WHERE thread_id = $thread AND event_id = $first") / 1e12, 0.2, 600,
		"$type: with the time that it took");
	is($server->sql("SELECT count(*) FROM pfs.events_waits_current WHERE thread_id = $thread"), 1, "$type: nothing else is running");
	# Bytes from the client within a command.
	$s->query('CREATE TABLE copied (t text)');
	$s->{in} .= "COPY copied FROM STDIN;\n" . ("x" x 1000 . "\n") x 500 . "\\.\n";
	$s->query('SELECT 1');
	is($server->sql('SELECT count(*) FROM copied'), 500, "$type: COPY");
	cmp_ok($server->sql("SELECT sum(number_of_bytes) FROM pfs.events_waits_history_long WHERE thread_id = $thread"
		  . " AND event_name = 'wait/io/socket/ClientRead' AND operation = 'recv'"), '>', 400000, "$type: its bytes came by socket events");
	$s->query('DROP TABLE copied');
	$s->close;
}
diag('no openssl program: TLS was not tested') unless $tls;

# ---- pipelines ----

# Five statements to a message, fifty messages: fifty idle times.  Pauses are longer than a session is usually
# late: a command that is there before it looks has none.
foreach my $mode ('extended', 'prepared')
{
	my $before = $server->sql('SELECT max(thread_id) FROM pfs.threads');

	$server->pgbench("\\startpipeline\n" . "SELECT 1;\n" x 5 . "\\endpipeline\n\\sleep 20 ms\n", '-c', 1, '-t', 50, '-M', $mode);
	my $last = $server->sql('SELECT max(thread_id) FROM pfs.events_waits_history_long');

	cmp_ok($last, '>', $before, "$mode: a new session");
	between($server->sql("SELECT count(*) FROM pfs.events_waits_history_long WHERE thread_id = $last AND event_name LIKE 'idle%'"), 40, 65,
		"$mode: no idle time between the statements of a pipeline");
}
# One by one they have one each.
$server->pgbench("SELECT 1;\n\\sleep 20 ms\n" x 5, '-c', 1, '-t', 10);
between($server->sql(q{SELECT count(*) FROM pfs.events_waits_history_long WHERE event_name LIKE 'idle%'
	AND thread_id = (SELECT max(thread_id) FROM pfs.events_waits_history_long)}), 40, 55, 'without a pipeline there is one before each');

done_testing();
