# The file that survives a restart, when it is not what the server has written: each byte changed, by a
# plain program that reads as the server does, and some of them with a real start.  PFS_SAVE_STARTS: how many.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/lib";
use PfsServer;
use Test::More;

my $starts = $ENV{PFS_SAVE_STARTS} // 6;
my $server = PfsServer->new('main', conf => <<'EOT');
autovacuum = off
pfs.save_interval = 0
pfs.instruments = 'wait/io/table/handler=ON'
pfs.digests_size = 20
EOT
my $file = "$server->{data}/pg_stat_tmp/pfs.save";
my $shown = q{SELECT coalesce(sum(count_star), 0) FROM pfs.events_statements_summary_by_digest WHERE database_name = 'work'};

sub content
{
	my ($path) = @_;

	open my $in, '<:raw', $path or die "$path: $!";
	local $/;
	return scalar(<$in>);
}

sub write_file
{
	my ($path, $bytes) = @_;

	open my $out, '>:raw', $path or die "$path: $!";
	print $out $bytes;
	close $out or die "$path: $!";
	chmod 0600, $path;
}

$server->start;
$server->sql('CREATE EXTENSION pfs');
$server->sql('CREATE DATABASE work');
$server->sql('TRUNCATE pfs.events_statements_summary_by_digest');
$server->psql("SELECT 1; SELECT 1, 2; SELECT 'ä'; SELECT pg_sleep(0.01)", db => 'work');
# The client has its last answer before the statement has ended.
ok($server->poll($shown, 4), 'there is something to keep');
$server->stop;
my $good = content($file);

# ---- a plain program ----

SKIP:
{
	my $tree = $ENV{PFS_TOP} // "$FindBin::RealBin/../..";
	my $pg_config = $server->bindir . '/pg_config';
	my $program = PfsServer::folder() . '/save_flip';

	skip 'the source is not here', 2 unless -f "$tree/src/record/load/pfs_save_bytes.c";
	chomp(my $lib = run_ok($pg_config, '--pkglibdir'));
	chomp(my $headers = run_ok($pg_config, '--includedir-server'));
	run_ok(split(' ', $ENV{CC} // 'gcc'), '-std=gnu11', '-O1', '-D_GNU_SOURCE', '-DPGDLLEXPORT=',
		(map { "-I$tree/src$_" } '', map { "/$_" } qw(compat container record/setup record/event record/statement record/load)),
		"-I$headers", '-o', $program, "$FindBin::RealBin/lib/save_flip.c",
		"$tree/src/record/load/pfs_save_bytes.c", "$tree/src/record/load/pfs_save_digest_bytes.c", "$tree/src/record/load/pfs_save_load_bytes.c",
		"$tree/src/record/load/pfs_load_code.c",
		"$lib/libpgcommon.a", "$lib/libpgport.a", '-lm');
	my ($files, $digests) = run_ok($program, $file, PfsServer::version()) =~ /^(\d+) files, (\d+) digests$/m;

	is($files, 4 * length $good, 'each byte that is changed is noticed, each length that is not whole');
	cmp_ok($digests, '>=', 4, 'of a file with digests');
}

# ---- real starts ----

# Starts the server on these bytes, which it puts aside with one line that says so.
sub put_aside
{
	my ($bytes, $why, $name) = @_;

	unlink glob "$file*";
	write_file($file, $bytes);
	$server->mark_log;
	$server->start;
	is($server->sql($shown), 0, "$name: nothing is shown");
	is(scalar(() = $server->log_text =~ /pfs: file "pg_stat_tmp\/pfs\.save" is not read: $why/g), 1, "$name: one line says so")
	  or diag($server->log_text);
	is_deeply([ map { s/.*\///r } glob "$file*" ], ['pfs.save.bad'], "$name: it is put aside");
	is(content("$file.bad"), $bytes, "$name: as it was") if -f "$file.bad";
	# Without a save, so that the next start sees only what it is given.
	$server->stop('immediate');
}

for my $i (0 .. $starts - 1)
{
	my $at = $i == 0 ? 0 : $i == 1 ? 12 : int(($i - 1) * (length($good) - 1) / ($starts > 2 ? $starts - 2 : 1));
	my $bytes = $good;

	substr($bytes, $at, 1) ^= chr(1 << ($i % 8));
	put_aside($bytes, qr/it is damaged|another version of pfs wrote it/, "byte $at of " . length($good));
}
put_aside('', qr/it is damaged/, 'an empty file');
put_aside(substr($good, 0, length($good) - 1), qr/it is damaged/, 'a file that is cut off');
put_aside($good . "\0", qr/it is damaged/, 'a file that goes on');

# A section of another version, whose checksum is right.
sub crc32c
{
	my ($bytes) = @_;
	my $crc = 0xFFFFFFFF;

	foreach my $byte (unpack 'C*', $bytes)
	{
		$crc ^= $byte;
		$crc = $crc >> 1 ^ ($crc & 1 ? 0x82F63B78 : 0) foreach 1 .. 8;
	}
	return $crc ^ 0xFFFFFFFF;
}

my $head_size = 48;
my $section_size = 32;
my ($section_length, $section_version, $section_crc) = unpack 'x16 Q L L', substr($good, $head_size, $section_size);
my $section_bytes = substr($good, $head_size + $section_size, $section_length);
my $later = $good;

is(crc32c($section_bytes . substr($good, $head_size, $section_size - 4)), $section_crc, "the first section's checksum");
substr($later, $head_size + 24, 4) = pack 'L', $section_version + 1;
substr($later, $head_size + 28, 4) = pack 'L', crc32c($section_bytes . substr($later, $head_size, $section_size - 4));
put_aside($later, qr/another version of pfs wrote a part of it/, 'a section of another version');

# The head says whose it is, and its checksum is right: so another cluster's own file.
my $other = PfsServer->new('other', initdb => ['--no-instructions'], conf => 'pfs.save_interval = 0');
$other->start;
$other->stop;
put_aside(content("$other->{data}/pg_stat_tmp/pfs.save"), qr/another server, or another major version of PostgreSQL, wrote it/, 'of another server');

# One that has killed its reader.
unlink glob "$file*";
write_file("$file.reading", $good);
$server->mark_log;
$server->start;
like($server->log_text, qr/is not read: a start did not survive reading it/, 'a file that has killed its reader is not read again');
is($server->sql($shown), 0, 'and not shown');
$server->stop('immediate');

# What is no file.
unlink glob "$file*";
mkdir $file or die "$file: $!";
$server->start;
is($server->sql($shown), 0, 'a folder of this name keeps nobody from starting');
$server->stop('immediate');
rmdir $_ foreach glob "$file*";

# What was put aside stays, until something is truncated: of that no file has anything.
unlink glob "$file*";
write_file($file, substr($good, 0, length($good) - 1));
$server->start;
$server->stop;
is_deeply([ map { s/.*\///r } glob "$file*" ], [ 'pfs.save', 'pfs.save.bad' ], 'a clean stop leaves what was put aside');
$server->start;
$server->sql('TRUNCATE pfs.events_statements_summary_by_digest');
$server->stop;
is_deeply([ map { s/.*\///r } glob "$file*" ], ['pfs.save'], 'but not behind a TRUNCATE');

# The whole of it, still.
unlink glob "$file*";
write_file($file, $good);
$server->start;
is($server->sql($shown), 4, 'the good one is read');

done_testing();
