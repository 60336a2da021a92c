# pgbouncer in front: sessions of the server are its connections, which serve many clients in turn.
# What they did is counted, once, for whom the server knows; each statement has the name that its client gave.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/lib";
use PfsServer;
use Test::More;
use Time::HiRes qw(sleep);

my ($bouncer) = grep { -x && `$_ --version` =~ /^PgBouncer/ } ($ENV{PFS_CACHE} // '/var/cache/pfs-test') . '/pgbouncer/usr/sbin/pgbouncer', '/usr/sbin/pgbouncer';

plan skip_all => 'there is no pgbouncer' unless defined $bouncer;

my $server = PfsServer->new('main', tcp => 1, conf => <<'EOT');
autovacuum = off
pfs.events_statements_history_size = 100
EOT

$server->start;
$server->sql('CREATE EXTENSION pfs; CREATE TABLE t (n int); CREATE ROLE app LOGIN; GRANT ALL ON t TO app');

my $dir = PfsServer::folder();
my $port = PfsServer::free_port();

open my $file, '>', "$dir/users" or die $!;
print $file qq{"app" ""\n"postgres" ""\n};
close $file;
open $file, '>', "$dir/bouncer.ini" or die $!;
print $file <<"EOT";
[databases]
postgres = host=127.0.0.1 port=$server->{port}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = $port
unix_socket_dir =
auth_type = trust
auth_file = $dir/users
pool_mode = transaction
default_pool_size = 2
logfile = $dir/bouncer.log
pidfile = $dir/bouncer.pid
EOT
close $file;
my $process = IPC::Run::start([ $bouncer, '-q', "$dir/bouncer.ini" ], '<', '/dev/null', '>&', "$dir/bouncer.out");

# What the test ends with is not the status of this.
END { local $?; $process->kill_kill if defined $process; }

# A client of the bouncer, as sql() of a server.  One that cannot connect does not read, and a pipe would break.
sub client
{
	my ($sql, $name) = @_;
	my ($out, $err) = ('', '');

	IPC::Run::run([ PfsServer::bindir() . '/psql', '-X', '-q', '-A', '-t', '-v', 'ON_ERROR_STOP=1', '-d',
			"host=127.0.0.1 port=$port user=app dbname=postgres application_name=$name", '-c', $sql ], '<', '/dev/null', '>', \$out, '2>', \$err);
	chomp $out;
	return $? == 0 ? $out : $err;
}

my $up;

for (my $end = time() + $PfsServer::timeout; !$up && time() < $end;)
{
	$up = client('SELECT 1', 'first') eq '1';
	sleep(0.05) if !$up;
}
ok($up, 'the bouncer answers') or BAIL_OUT('no bouncer');

# Twelve clients, forty statements each, on two connections at most.
$server->sql(q{SELECT pfs.reset('events_statements_summary_by_digest'), pfs.reset('events_statements_summary_by_account_by_event_name')});
my @clients;

foreach my $n (1 .. 12)
{
	my $sql = join '', map { "INSERT INTO t VALUES ($_);\n" } 1 .. 40;

	push @clients, IPC::Run::start([ PfsServer::bindir() . '/psql', '-X', '-q', '-v', 'ON_ERROR_STOP=1', '-d',
			"host=127.0.0.1 port=$port user=app dbname=postgres application_name=client$n" ], '<', \$sql, '>&', "$dir/client$n.out");
}
is(scalar(grep { !$_->finish } @clients), 0, 'twelve clients are served');
is($server->sql('SELECT count(*) FROM t'), 480, 'and all they wrote is there');
ok($server->poll(q{SELECT sum(count_star) FROM pfs.events_statements_summary_by_digest WHERE digest_text LIKE 'INSERT INTO t %' AND user_name = 'app'}, 480),
	'each statement is counted once, for its role');
is($server->sql(q{SELECT sum(count_star) FROM pfs.events_statements_summary_by_account_by_event_name WHERE user_name = 'app' AND host = '127.0.0.1' AND event_name = 'statement/sql/insert'}),
	480, 'and account, whose host is the bouncer\'s');
cmp_ok($server->sql(q{SELECT count(*) FROM pfs.threads WHERE processlist_user = 'app'}), '<=', 2, 'sessions are the connections');

# The bouncer tells the server a client's name before its statement.
$server->sql('GRANT pg_monitor TO app');
is(client('SELECT application_name FROM pfs.threads WHERE thread_id = pfs.thread_id()', 'by_name'), 'by_name', 'a thread has the name of the client that it serves');

done_testing();
