# What a server can be set up with besides: shared memory of System V, little of /dev/shm, and
# databases whose texts ICU compares and folds.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/lib";
use PfsServer;
use Test::More;

# ---- memory ----

# Bytes that the postmaster has mapped of files in /dev/shm.
sub posix_memory
{
	my ($server) = @_;
	my $bytes = 0;

	open my $maps, '<', '/proc/' . $server->postmaster_pid . '/maps' or die $!;
	while (<$maps>)
	{
		$bytes += hex($2) - hex($1) if m{^([0-9a-f]+)-([0-9a-f]+) .* /dev/shm/};
	}
	return $bytes;
}

my $server = PfsServer->new('main', conf => <<'EOT');
autovacuum = off
max_parallel_workers_per_gather = 2
parallel_setup_cost = 0
parallel_tuple_cost = 0
min_parallel_table_scan_size = 0
EOT
my $parallel = q{SELECT count(*) FROM many};
my $works = q{SELECT count(*) > 0 FROM pfs.threads t JOIN pfs.events_statements_history USING (thread_id) WHERE t.type = 'FOREGROUND'};

$server->start;
$server->sql('CREATE EXTENSION pfs; CREATE TABLE many AS SELECT generate_series(1, 20000) AS n; ANALYZE many');

my $with = posix_memory($server);
my $segment = $server->sql("SELECT sum(bytes_reserved) FROM pfs.containers");

# What pfs has lies in the server's segment, which is not a file there.
cmp_ok($segment, '>', 20 << 20, 'pfs has more than 20 MB');
cmp_ok($with, '<', 4 << 20, 'of which none is in /dev/shm');
$server->stop;
$server->conf("shared_preload_libraries = ''");
$server->start;
is(posix_memory($server), $with, 'as much is there without pfs');
$server->stop;

# Its key is left over by a postmaster that was killed, and found by the next one.
$server->conf("shared_preload_libraries = 'pfs'\nshared_memory_type = sysv\ndynamic_shared_memory_type = sysv");
$server->start;
is($server->sql('SHOW shared_memory_type'), 'sysv', 'a server with shared memory of System V');
is($server->sql($parallel), 20000, 'parallel workers');
is($server->sql($works), 't', 'pfs records');
cmp_ok($server->sql(q{SELECT count(*) FROM pfs.events_waits_history_long}), '>', 0, 'waits, too');
my $pid = $server->postmaster_pid;
kill 'KILL', $pid;
$server->lost_sessions;
# Its children end by themselves, and only then is the memory nobody's.
my $tries = 0;

select undef, undef, undef, 0.1 until $server->start(fail_ok => 1) || ++$tries > 300;
is($server->sql($works), 't', 'and behind a postmaster that was killed');
$server->stop;
$server->conf("shared_memory_type = mmap\ndynamic_shared_memory_type = posix");
$server->start;

# ---- ICU ----

SKIP:
{
	skip 'this server is built without ICU', 6 if $server->sql("SELECT count(*) FROM pg_collation WHERE collprovider = 'i'") == 0;

	# Turkish has another lower case of I; with ignored punctuation and case two names can be equal.
	$server->sql($_) foreach "CREATE DATABASE tr TEMPLATE template0 ENCODING UTF8 LOCALE_PROVIDER icu ICU_LOCALE 'tr'",
	  "CREATE DATABASE shifted TEMPLATE template0 ENCODING UTF8 LOCALE_PROVIDER icu ICU_LOCALE 'und-u-ka-shifted-ks-level1'";
	foreach my $database (qw(tr shifted))
	{
		my ($status, $out, $err) = $server->psql(<<'EOT', db => $database);
CREATE EXTENSION pfs;
UPDATE pfs.setup_instruments SET enabled = 'NO' WHERE name LIKE 'wait/io/file/%';
SELECT count(*) FILTER (WHERE enabled = 'NO') = count(*), count(*) > 20 FROM pfs.setup_instruments WHERE name LIKE 'wait/io/file/%';
SELECT pfs.set_instruments('wait/io/file/%', 'YES', 'YES') > 20;
SELECT count(*) FROM pfs.setup_instruments WHERE name LIKE 'wait/io/file/%' AND enabled = 'NO';
EOT
		is("$status|$out|$err", "0|t|t\nt\n0|", "switches in database $database");

		# Names are bytes there, too: a list in which each name is once, in whatever order.
		my $names = 'SELECT count(*) = count(DISTINCT name COLLATE "C"), count(*) FROM pfs.setup_instruments';

		is(($server->psql($names, db => $database))[1], $server->sql($names), 'all instruments are there');
		my @failed = grep { ($server->psql("SELECT count(*) FROM $_", db => $database))[0] != 0 }
		  split /\n/, $server->sql(q{SELECT oid::regclass FROM pg_class WHERE relnamespace::regnamespace::text IN ('pfs', 'pfs_sys') AND relkind IN ('f', 'v')});
		is("@failed", '', 'every table and view is read');
	}
}

done_testing();
