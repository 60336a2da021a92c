# pg_dump, restore, pg_upgrade: the extension's objects, those that build on
# them, and rights; into servers that do not load the library.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/lib";
use PfsReleases qw(difference);
use PfsServer;
use Test::More;

my $installation = PfsReleases->new;
my $server = PfsServer->new('main', postgres => $installation->postgres, conf => 'autovacuum = off');
$server->start;
$server->sql(<<'EOT');
CREATE ROLE dba;
CREATE DATABASE used;
CREATE DATABASE released;
EOT
# As release 1.0 has made it.
$installation->release('1.0');
my $released = $server->session(db => 'released');
$released->query('CREATE EXTENSION pfs; CREATE VIEW blocked AS SELECT * FROM pfs.blocking_tree');
is($released->query("SELECT extversion, extnamespace::regnamespace FROM pg_extension WHERE extname = 'pfs'"), '1.0|public', 'another database has release 1.0');
$installation->release;
my $there = $server->session(db => 'used');
$there->query(<<'EOT');
CREATE EXTENSION pfs;
CREATE VIEW top_waits AS SELECT event_name, sum(timer_wait) AS total FROM pfs.events_waits_history_long GROUP BY 1;
CREATE SCHEMA mine;
IMPORT FOREIGN SCHEMA pfs LIMIT TO (threads, events_waits_current) FROM SERVER pfs_server INTO mine;
CREATE FOREIGN TABLE mine.by_hand (thread_id bigint, event_name text) SERVER pfs_server OPTIONS ("table" 'events_waits_history');
CREATE TABLE saved AS SELECT * FROM pfs.setup_instruments;
GRANT UPDATE (enabled) ON pfs.setup_instruments TO dba;
GRANT EXECUTE ON FUNCTION pfs.reset(text) TO dba;
GRANT SELECT ON mine.threads TO dba;
EOT
my $saved = $there->query('SELECT count(*) FROM saved');

# Tables, columns, functions, rights: all that a dump must bring back.
my $objects = <<'EOT';
SELECT oid::regclass, relkind, relacl::text, (SELECT string_agg(attname || ' ' || atttypid::regtype || ' ' || coalesce(attacl::text, ''), ', ' ORDER BY attnum)
	FROM pg_attribute WHERE attrelid = c.oid AND attnum > 0)
  FROM pg_class c WHERE relnamespace IN ('pfs'::regnamespace, 'mine'::regnamespace) ORDER BY oid::regclass::text;
SELECT proname, pg_get_function_identity_arguments(oid), proacl::text FROM pg_proc WHERE pronamespace = 'pfs'::regnamespace ORDER BY 1, 2;
SELECT ftrelid::regclass, ftoptions FROM pg_foreign_table ORDER BY ftrelid::regclass::text;
SELECT extname, extversion, extnamespace::regnamespace FROM pg_extension ORDER BY 1;
EOT
my $before = $there->query($objects);

sub dump_of
{
	my ($from, $database) = @_;

	# Newer versions frame it by a random word.
	return PfsServer::run_ok(PfsServer::bindir() . '/pg_dump', '-d', $from->connstr($database)) =~ s/^\\(?:un)?restrict .*\n//mgr;
}

my $dump = dump_of($server, 'used');
unlike($dump, qr/COPY pfs\.|COPY mine\./, 'a dump has no rows of pfs');
like($dump, qr/COPY public\.saved/, 'but those of other tables');
unlike($dump, qr/CREATE FOREIGN TABLE pfs\./, 'the extension comes as a whole');

# ---- into a server without the library in shared_preload_libraries ----

my $plain = PfsServer->new('plain', preload => '');
$plain->start;
$plain->sql('CREATE ROLE dba');
$plain->sql('CREATE DATABASE used');
my ($status, $out, $err) = $plain->psql("\\set ON_ERROR_STOP on\n$dump", db => 'used');
is("$status$err", '0', 'it restores without preloading');
my $restored = $plain->session(db => 'used');
is(difference($restored->query($objects), $before), '', 'with the same objects and rights');
is($restored->query('SELECT count(*) FROM saved'), $saved, 'and the rows of other tables');
my ($code, undef, $errors) = $plain->psql('SELECT * FROM pfs.threads', db => 'used');
like($errors, qr/shared_preload_libraries = 'pfs'/, 'there pfs says what is missing');
is(difference(dump_of($plain, 'used'), $dump), '', 'a dump of it is the same again');
$restored->close;
# Now load it: the restored objects work.
$plain->conf("shared_preload_libraries = 'pfs'");
$plain->restart;
$restored = $plain->session(db => 'used');
is($restored->query('SELECT count(*) > 0 FROM mine.threads'), 't', 'loaded: the tables work');
is($restored->query('SELECT count(*) > 0 FROM top_waits'), 't', 'so do views on them');
is($restored->query('SELECT count(event_name) > 0 FROM mine.by_hand'), 't', 'and tables made by hand');
is($restored->query(q{SELECT has_column_privilege('dba', 'pfs.setup_instruments', 'enabled', 'UPDATE')}), 't', 'rights are there');
$plain->stop;

# ---- pg_upgrade, from this version to itself ----

$server->stop;
my $new = PfsServer->new('new', conf => 'autovacuum = off');
my $sockets = File::Temp::tempdir('pfs_u.XXXXXX', DIR => '/tmp', CLEANUP => 1);

chdir $new->{dir};
my $upgraded = IPC::Run::run([
		PfsServer::bindir() . '/pg_upgrade', '-U', 'postgres', '-b', PfsServer::bindir(), '-B', PfsServer::bindir(),
		'-d', $server->{data}, '-D', $new->{data}, '-p', 15432, '-P', 15433, '-s', $sockets ],
	'<', '/dev/null', '>&', \my $upgrade);
# pg_upgrade refuses a server of another minor release than its own.
my ($tool) = PfsServer::run_ok(PfsServer::bindir() . '/pg_upgrade', '--version') =~ /\) (\d\S*)/;
my ($program) = PfsServer::run_ok(PfsServer::bindir() . '/postgres', '--version') =~ /\) (\d\S*)/;
SKIP:
{
	skip "pg_upgrade is of $tool, the server is $program", 7 if $tool ne $program;
	ok($upgraded, 'pg_upgrade of a server that loads pfs, into one that does') or diag($upgrade);
	skip 'not upgraded', 6 unless $upgraded;
	$new->start;
	my $after = $new->session(db => 'used');
	is(difference($after->query($objects), $before), '', 'with the same objects and rights');
	is($after->query('SELECT count(*) > 0 FROM top_waits'), 't', 'which work');
	is($after->query('SELECT count(*) FROM saved'), $saved, 'with the rows of other tables');
	is($after->query(q{SELECT count(*) > 0 FROM pfs.events_waits_current}), 't', 'and pfs records');
	my $update = $new->session(db => 'released');
	is($update->query("SELECT extversion, extnamespace::regnamespace FROM pg_extension WHERE extname = 'pfs'"), '1.0|public', 'release 1.0 is upgraded as it is');
	is($update->query("ALTER EXTENSION pfs UPDATE; SELECT extversion, extnamespace::regnamespace, (SELECT count(*) FROM blocked) FROM pg_extension WHERE extname = 'pfs'"),
		$installation->present . '|pg_catalog|0', 'and then updated');
}

# ---- DROP EXTENSION ----

is(($plain->start && $plain->psql('DROP EXTENSION pfs CASCADE', db => 'used'))[0], 0, 'DROP EXTENSION');
is(($plain->psql(q{SELECT count(*) FROM pg_namespace WHERE nspname = 'pfs'}, db => 'used'))[1], 0, 'takes its schema with it');
is(($plain->psql('CREATE EXTENSION pfs; SELECT count(*) > 0 FROM pfs.threads', db => 'used'))[1], 't', 'and it can be made again');

done_testing();
