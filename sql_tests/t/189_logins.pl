# A login counts in accounts, users and hosts when the session is there, and not before.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/lib";
use PfsServer;
use Test::More;

my $server = PfsServer->new('main', conf => "autovacuum = off\nmax_connections = 12");

$server->start;
$server->sql(<<'EOT');
CREATE EXTENSION pfs;
CREATE ROLE good LOGIN IN ROLE pg_monitor;
CREATE ROLE no_login;
CREATE ROLE no_more LOGIN CONNECTION LIMIT 0;
CREATE ROLE no_right LOGIN;
CREATE ROLE no_database LOGIN;
CREATE ROLE full_database LOGIN;
CREATE ROLE expired LOGIN PASSWORD 'x' VALID UNTIL '2000-01-01';
EOT
$server->sql($_) foreach 'CREATE DATABASE closed', 'REVOKE CONNECT ON DATABASE closed FROM public', 'CREATE DATABASE narrow CONNECTION LIMIT 0',
	'CREATE DATABASE shut ALLOW_CONNECTIONS false';

# Nobody but the session that asks.
sub connections
{
	return $server->sql(q{SELECT string_agg(user_name || ' ' || current_connections || ' ' || total_connections, ', ' ORDER BY user_name) FROM pfs.users WHERE user_name <> 'postgres'});
}

my $hosts = $server->sql(q{SELECT total_connections FROM pfs.hosts WHERE host = '[local]'});

foreach my $case ([ 'no_login', 'postgres', qr/not permitted to log in/ ], [ 'no_more', 'postgres', qr/too many connections for role/ ],
	[ 'no_right', 'closed', qr/permission denied for database/ ], [ 'no_database', 'there_is_none', qr/does not exist/ ],
	[ 'full_database', 'narrow', qr/too many connections for database/ ], [ 'good', 'shut', qr/not currently accepting connections/ ],
	[ 'nobody', 'postgres', qr/role "nobody" does not exist/ ])
{
	my ($user, $database, $regex) = @$case;
	my ($status, $out, $err) = $server->psql('SELECT 1', user => $user, db => $database);

	like($err, $regex, "$user: cannot log in");
	$server->poll(q{SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()}, 0);
	is(connections(), '', 'and is not counted');
	is($server->sql("SELECT count(*) FROM pfs.accounts WHERE user_name = '$user'"), 0, 'and has no account');
}
is($server->sql(q{SELECT total_connections FROM pfs.hosts WHERE host = '[local]'}), $hosts, 'nor did its host see one');

# All places are taken: the last of them are for superusers.
my @sessions = map { $server->session(user => 'good') } 1 .. 8;

like(($server->psql('SELECT 1', user => 'no_database'))[2], qr/remaining connection slots are reserved/, 'the server is full');
is(connections(), 'good 8 8', 'what counts is who is there');
$_->close foreach @sessions;
ok($server->poll(q{SELECT current_connections, total_connections FROM pfs.users WHERE user_name = 'good'}, '0|8'), 'and who was');

# The same when nothing is recorded, and for a walsender.
$server->sql(q{TRUNCATE pfs.accounts; SELECT pfs.set_instruments('%', 'NO')});
my $quiet = $server->session(user => 'good');

is($quiet->query('SELECT current_connections, total_connections FROM pfs.accounts WHERE user_name = ' . "'good'"), '1|1', 'a session counts for itself from its first statement, whatever is off');
$server->sql(q{SELECT pfs.set_instruments('%', 'YES'); ALTER ROLE good REPLICATION});
my $sender = $server->session(user => 'good', name => 'x replication=true', bare => 1);

ok($server->poll(q{SELECT current_connections FROM pfs.users WHERE user_name = 'good'}, 2), 'a walsender counts');

done_testing();
