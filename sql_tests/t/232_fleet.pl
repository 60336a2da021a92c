# Several servers in one database: scripts/fleet imports their tables by postgres_fdw and makes a view over each.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/lib";
use IPC::Run ();
use PfsServer;
use Test::More;

my $script = ($ENV{PFS_TOP} // "$FindBin::RealBin/../..") . '/scripts/fleet';
my %server = map { $_ => PfsServer->new($_, conf => "autovacuum = off\nmax_connections = 30\nmax_prepared_transactions = 2") } qw(one two three);

$server{$_}->start foreach sort keys %server;
my $hub = $server{one};
plan skip_all => 'there is no postgres_fdw' if $hub->sql("SELECT count(*) FROM pg_available_extensions WHERE name = 'postgres_fdw'") eq '0';
$server{$_}->sql('CREATE EXTENSION pfs; CREATE ROLE mon LOGIN IN ROLE pg_monitor') foreach sort keys %server;
my %times = (one => 1, two => 4, three => 9);
foreach my $name (sort keys %times)
{
	$server{$name}->psql("SELECT $_/0") foreach 1 .. $times{$name};
}

# What the script says for these servers: exit status, SQL, messages.
sub fleet
{
	my ($sql, $err) = ('', '');

	IPC::Run::run([ 'bash', $script, @_ ], '<', \undef, '>', \$sql, '2>', \$err);
	return ($? >> 8, $sql, $err);
}

my @fleet = map { "$_=" . ($server{$_}->connstr =~ s/user=postgres/user=mon/r) } sort keys %server;
my ($status, $sql, $err) = fleet(@fleet);
is($status, 0, 'the script prints SQL') or diag($err);
($status, undef, $err) = $hub->psql($sql);
is($status, 0, 'which makes the fleet') or diag($err);

is($hub->sql(q{SELECT server, sum_error_raised FROM fleet.events_errors_summary_global_by_error WHERE sql_state = '22012' ORDER BY 1}),
	"one|1\nthree|9\ntwo|4", 'one view has the rows of all servers');
my $tables = $hub->sql(q{SELECT count(*) FROM pg_class WHERE relnamespace = 'pfs'::regnamespace AND relkind IN ('f', 'v')});
is($hub->sql(q{SELECT count(*) FROM pg_views WHERE schemaname = 'fleet'}), $tables, "for each of $tables tables");
is($hub->sql(q{SELECT string_agg(v.attname, ',' ORDER BY v.attnum) = 'server,' || (SELECT string_agg(attname, ',' ORDER BY attnum) FROM pg_attribute WHERE attrelid = 'pfs.threads'::regclass AND attnum > 0)
	FROM pg_attribute v WHERE attrelid = 'fleet.threads'::regclass}), 't', 'with its columns');
foreach my $view (split /\n/, $hub->sql(q{SELECT viewname FROM pg_views WHERE schemaname = 'fleet' ORDER BY 1}))
{
	my ($code, undef, $said) = $hub->psql("SELECT count(v::text) FROM fleet.$view v");

	is($code, 0, "$view can be read") or diag($said);
}
is($hub->sql(q{SELECT count(DISTINCT server) FROM fleet.threads WHERE name = 'thread/checkpointer'}), 3, 'processes of all');

# Once more, with one less, and what cannot be.
$hub->sql('CREATE SCHEMA fleet_vehicles; CREATE TABLE fleet_vehicles.car (a int); CREATE SERVER fleet_cars FOREIGN DATA WRAPPER postgres_fdw');
($status, $sql) = fleet(@fleet[ 0, 1 ]);
is(($hub->psql($sql))[0], 0, 'it can be made again');
is($hub->sql(q{SELECT string_agg(DISTINCT server, ',' ORDER BY server) FROM fleet.status}), 'one,three', 'with the servers that there are now');
is($hub->sql(q{SELECT to_regclass('fleet_vehicles.car'), count(*) FROM pg_foreign_server WHERE srvname = 'fleet_cars'}), 'fleet_vehicles.car|1',
	'without what it has not made');
$hub->sql('CREATE DATABASE other');
$hub->psql('CREATE SCHEMA fleet; CREATE TABLE fleet.car (a int)', db => 'other');
(undef, undef, $err) = $hub->psql($sql, db => 'other');
like($err, qr/schema "fleet" already exists/, 'and not over what somebody else has made');
foreach ([ ['x'], qr/not NAME=CONNECTION/ ], [ ['a b=user=x'], qr/not NAME=CONNECTION/ ], [ ['a=host=x'], qr/name the role/ ],
	[ [ 'a=user=x', 'A=user=y' ], qr/two servers are called/ ], [ [], qr/usage/ ])
{
	my ($code, undef, $said) = fleet(@{ $_->[0] });

	is($code, 1, "refused: @{ $_->[0] }");
	like($said, $_->[1], 'with the reason');
}
$server{three}->stop;
(undef, undef, $err) = $hub->psql('SELECT count(*) FROM fleet.status');
like($err, qr/could not connect to server "fleet_three"/, 'a server that is down is named');

done_testing();
