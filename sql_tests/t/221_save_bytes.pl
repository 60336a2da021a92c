# The file that survives a restart, when it is not what the server has written: each byte changed, by a
# plain program that reads as the server does, and some of them with a real start.  Damage costs the section that it
# is in; what this version does not know is passed over.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/lib";
use PfsSaved;
use PfsServer;
use Test::More;

my $server = PfsServer->new('main', conf => <<'EOT');
autovacuum = off
fsync = off
compute_query_id = on
pfs.save_interval = 0
pfs.instruments = 'wait/io/table/handler=ON'
pfs.digests_size = 20
pfs.plan_nodes = 'all'
pfs.load_history_seconds = 3
pfs.load_history_minutes = 1
pfs.load_history_ten_minutes = 1
EOT
my $file = PfsSaved::path($server);
my $shown = q{SELECT coalesce(sum(count_star), 0) FROM pfs.events_statements_summary_by_digest WHERE database_name = 'work'};

$server->start;
$server->sql('CREATE EXTENSION pfs');
$server->sql('CREATE DATABASE work');
$server->psql('CREATE TABLE t (i int)', db => 'work');
$server->sql('TRUNCATE pfs.events_statements_summary_by_digest');
$server->psql("SELECT 1; SELECT 1, 2; INSERT INTO t VALUES (1); SELECT pg_sleep(0.01)", db => 'work');
# The client has its last answer before the statement has ended.
ok($server->poll($shown, 4), 'there is something to keep');
ok($server->poll(q{SELECT count(*) > 0 FROM pfs.load_history WHERE digest_text IS NOT NULL}, 't'), 'and a load');
$server->stop;
my $good = PfsSaved::content($server);
# Readers add nothing.
$server->conf('pfs.load_history_interval = 0');

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
		(map { "-I$tree/src$_" } '', map { "/$_" } qw(compat container record/setup record/event record/node record/statement record/read record/load)),
		"-I$headers", '-o', $program, "$FindBin::RealBin/lib/save_flip.c",
		(map { "$tree/src/record/load/pfs_$_.c" } qw(save_bytes save_record save_digest_bytes save_load_bytes)),
		"$lib/libpgcommon.a", "$lib/libpgport.a", '-lm');
	# It computes, and waits for nothing: on a busy machine it may take long.
	local $PfsServer::timeout = 10 * $PfsServer::timeout;
	my ($files, $sections, $digests) = run_ok($program, $file, PfsServer::version()) =~ /^(\d+) files, (\d+) sections, (\d+) digests$/m;

	is($files, 4 * length $good, 'each byte that is changed is noticed, each length that is not whole, and costs one section');
	cmp_ok($digests, '>=', 4, 'of a file with digests');
}

# ---- real starts: nothing is used ----

# Starts the server on these bytes, which it puts aside with one line that says so.
sub put_aside
{
	my ($bytes, $why, $name) = @_;

	PfsSaved::put($server, $bytes);
	$server->mark_log;
	$server->start;
	is($server->sql($shown), 0, "$name: nothing is shown");
	is(scalar(() = $server->log_text =~ /pfs: file "pg_stat_tmp\/pfs\.save" is not read: $why/g), 1, "$name: one line says so")
	  or diag($server->log_text);
	is_deeply([ map { s/.*\///r } glob "$file*" ], ['pfs.save.bad'], "$name: it is put aside");
	is(PfsServer::text_of("$file.bad"), $bytes, "$name: as it was") if -f "$file.bad";
	# Without a save, so that the next start sees only what it is given.
	$server->stop('immediate');
}

sub with_byte_changed
{
	my ($at) = @_;
	my $bytes = $good;

	substr($bytes, $at, 1) ^= chr(1 << ($at % 8));
	return $bytes;
}

put_aside(with_byte_changed($_), qr/it is damaged|another version of pfs wrote it/, "byte $_ of the head") foreach 0, 12, 44;
put_aside('', qr/it is damaged/, 'an empty file');
put_aside(substr($good, 0, $PfsSaved::head_size - 1), qr/it is damaged/, 'half a head');
my $later = $good;
substr($later, 8, 4) = pack 'L', 1 + unpack 'L', substr($later, 8, 4);
put_aside(PfsSaved::head_right($later), qr/another version of pfs wrote it/, 'a head of a later format');

# The head says whose it is, and its checksum is right: so another cluster's own file.
my $other = PfsServer->new('other', initdb => ['--no-instructions'], conf => 'pfs.save_interval = 0');
$other->start;
$other->stop;
put_aside(PfsSaved::content($other), qr/another server, or another major version of PostgreSQL, wrote it/, 'of another server');

# ---- real starts: all but something is used ----

my @sections = PfsSaved::sections($good);

is(join(' ', map { $_->{name} } @sections), 'digests digest_waits digest_rows load_history load_texts plan_nodes', 'the sections');

# What is there of each section, and since when it counts, where it says so.
my %counts = (
	digests => $shown,
	digest_waits => q{SELECT coalesce(sum(count_star), 0) FROM pfs.events_waits_summary_by_digest WHERE database_name = 'work' AND event_name = 'wait/timeout/PgSleep'},
	digest_rows => q{SELECT coalesce(sum(count_insert), 0) FROM pfs.table_io_waits_summary_by_digest WHERE database_name = 'work'},
	load_history => q{SELECT count(*) FROM pfs.load_history},
	load_texts => q{SELECT count(DISTINCT digest_text) FROM pfs.load_history},
	plan_nodes => q{SELECT coalesce(sum(count_measured), 0) FROM pfs.plan_nodes_summary_by_plan WHERE database_name = 'work' AND node_type = 'Output'},
);
my %resets = (
	digests => 'events_statements_summary_by_digest', digest_waits => 'events_waits_summary_by_digest',
	digest_rows => 'table_io_waits_summary_by_digest', load_history => 'load_history', plan_nodes => 'plan_nodes_summary_by_plan',
);

# The query_id of a text says which one it is, so a load history without its texts has some that digests know.
sub state_of
{
	my %state = map { $_ => $server->sql($counts{$_}) } keys %counts;

	$state{"$_ since"} = $server->sql("SELECT pfs.reset_time('$resets{$_}')") foreach keys %resets;
	return \%state;
}

my %whole;

# Starts the server on these bytes, of which it uses all but the named section; says why, if it says anything.
sub used_without
{
	my ($bytes, $missing, $why, $name) = @_;

	PfsSaved::put($server, $bytes);
	$server->mark_log;
	$server->start;
	my $start = $server->sql("SELECT variable_value::timestamptz FROM pfs.status WHERE variable_name = 'pfs_start_time'");
	my $state = state_of();
	my %expected = %whole;

	if (defined $missing)
	{
		$expected{$missing} = 0;
		$expected{"$missing since"} = $start if defined $resets{$missing};
		$expected{load_texts} = 0 if $missing eq 'load_history';
		# The digests have the texts, too.
		delete $_->{load_texts} foreach $missing eq 'load_texts' ? ($state, \%expected) : ();
	}
	is_deeply($state, \%expected, "$name: the rest is there") or diag(explain($state));
	my @lines = $server->log_text =~ /pfs: (.*not read: .*|.*bytes than.*)/g;

	if (defined $why)
	{
		is(scalar @lines, 1, "$name: one line says why") or diag($server->log_text);
		like($lines[0], $why, "$name: which");
		is_deeply([ map { s/.*\///r } glob "$file*" ], [ 'pfs.save', 'pfs.save.bad' ], "$name: and it is kept");
		is(PfsServer::text_of("$file.bad"), $bytes, "$name: as it was");
	}
	else
	{
		unlike($server->log_text, qr/pfs: /, "$name: no line in the log");
		is_deeply([ map { s/.*\///r } glob "$file*" ], ['pfs.save'], "$name: nothing is put aside");
	}
	$server->stop('immediate');
}

PfsSaved::put($server, $good);
$server->start;
%whole = %{ state_of() };
$server->stop('immediate');
is(join(' ', map { "$_ $whole{$_}" } 'digests', 'digest_waits', 'digest_rows', 'plan_nodes'), 'digests 4 digest_waits 1 digest_rows 1 plan_nodes 4', 'the whole file');
cmp_ok($whole{$_}, '>', 0, "its $_") foreach 'load_history', 'load_texts';

foreach my $section (@sections)
{
	my $name = $section->{name};

	used_without(with_byte_changed($section->{at} + $PfsSaved::section_size + int($section->{length} / 2)), $name,
		qr/^section "$name" of file "[^"]*" is not read: its checksum is wrong$/, "a byte of $name");
}
# The heads of the others have been read by the plain program.
used_without(with_byte_changed($sections[1]{at} + 20), 'digest_waits', qr/^a section of file "[^"]*" is not read: the head of a section is damaged$/,
	'a byte of the head of a section');

my @whole = map { PfsSaved::section($_->{name}, $_->{bytes}) } @sections;

# Bytes that are nonsense, with the right checksum.
used_without(PfsSaved::file_of($good, PfsSaved::section('digests', "\x11"), @whole[ 1 .. 5 ]), 'digests',
	qr/^section "digests" of file "[^"]*" is not read: its list of fields cannot be read$/, 'a section without its fields');
used_without(PfsSaved::file_of($good, @whole[ 0 .. 1 ], PfsSaved::section('digest_rows', $sections[2]{bytes} . "\x01"), @whole[ 3 .. 5 ]), 'digest_rows',
	qr/^section "digest_rows" of file "[^"]*" is not read: field "database" of a record "rows" is damaged$/, 'half a record');

# Without the last section, which the head says to be there.
used_without(substr($good, 0, $sections[5]{at}), 'plan_nodes', qr/^file "[^"]*" has fewer bytes than the \d+ that it should have$/, 'a file that is cut off');
used_without($good . "\0", undef, qr/^file "[^"]*" has more bytes than the \d+ that it should have$/, 'a file that goes on');

# ---- what a later version writes ----

used_without(PfsSaved::file_of($good, $whole[0], PfsSaved::section('callers', 'anything'), @whole[ 1 .. 5 ]), undef, undef, 'a section that is not known');
used_without(PfsSaved::file_of($good, @whole[ 5, 4, 3, 2, 1, 0 ]), undef, undef, 'sections in another order');

# One that has killed its reader.
PfsSaved::put($server, $good);
rename $file, "$file.reading" or die "$file: $!";
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
PfsSaved::put($server, substr($good, 0, 20));
$server->start;
$server->stop;
is_deeply([ map { s/.*\///r } glob "$file*" ], [ 'pfs.save', 'pfs.save.bad' ], 'a clean stop leaves what was put aside');
$server->start;
$server->sql('TRUNCATE pfs.events_statements_summary_by_digest');
$server->stop;
is_deeply([ map { s/.*\///r } glob "$file*" ], ['pfs.save'], 'but not behind a TRUNCATE');

# The whole of it, still.
PfsSaved::put($server, $good);
$server->start;
is($server->sql($shown), 4, 'the good one is read');

done_testing();
