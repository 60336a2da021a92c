# A column and a table that are added by the edits which CONTRIBUTING.md names, in a copy of
# the tree: tools/sql writes the rest, and a server that is built from it has them.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/lib";
use File::Copy ();
use PfsReleases qw(difference);
use PfsServer;
use Test::More;

my $top = $ENV{PFS_TOP} // "$FindBin::RealBin/../..";
plan skip_all => 'the tree is not here' unless -d "$top/src/fdw/tables";
plan skip_all => 'there is no compiler' if system('cc --version >/dev/null 2>&1') != 0;

# With what is built there already, so that make compiles what the edits touch.
my $tree = PfsServer::folder() . '/tree';
mkdir $tree or die "$tree: $!";
PfsServer::run_ok('cp', '-a', (map { "$top/$_" } qw(Makefile pfs.control src sql tools docs)), $tree);

sub edit
{
	my ($file, $change) = @_;

	open my $in, '<', "$tree/$file" or die "$file: $!";
	local $/;
	local $_ = <$in>;
	close $in;
	my $before = $_;
	$change->();
	die "nothing to change in $file" if $_ eq $before;
	# A file of the copy can belong to somebody else.
	unlink "$tree/$file";
	open my $out, '>', "$tree/$file" or die "$file: $!";
	print $out $_;
	close $out;
}

sub text_of
{
	open my $in, '<', "$tree/$_[0]" or die "$_[0]: $!";
	local $/;
	return scalar <$in>;
}

# What a tool prints, its errors included, and whether it succeeded.
sub tool
{
	my $out = `cd '$tree' && $_[0] 2>&1`;

	return ($? == 0, $out);
}

my ($good, $out) = tool('tools/sql --check');
ok($good, 'what is checked in is what the lists say') or diag($out);

# ---- a column in the middle of a list that many tables contain ----

edit('src/fdw/tables/pfs_timer_wait.h', sub { s{^(?=\tX\(t, count_timed,)}{\tX(t, spread_timer_wait, numeric, picoseconds, pfs_timer_wait_get(totals, PFS_TIMER_WAIT_MAX), "Longest \\"less\\" the shortest; it's a test.") \\\n}m });
($good, $out) = tool('tools/sql');
ok(!$good, 'a column among released ones is refused');
like($out, qr/needs \.since = PFS_SINCE_1_1/, 'it says what is missing');
edit('src/fdw/tables/pfs_timer_wait.h', sub { s/(it's a test\.")\)/$1, .since = PFS_SINCE_1_1)/ });

# ---- a table: a file, and a line in the list ----

edit('src/fdw/tables/pfs_tables.h', sub { s/^\tX\(pfs_table_threads\) \\\n/$&\tX(pfs_table_examples) \\\n/m });
open my $file, '>', "$tree/src/fdw/tables/pfs_table_examples.c" or die $!;
print $file <<'EOT';
/*
 * pfs_table_examples.c
 *	  examples: two rows.
 */
#include "postgres.h"

#include "pfs_tables.h"
#include "pfs_value.h"

typedef struct ExampleRow
{
	int			number;
} ExampleRow;

#define EXAMPLES_COLUMNS(X, t) \
	X(t, number, integer, none, Int32GetDatum(row->number), "1 or 2.") \
	X(t, word, text, none, row->number == 1 ? pfs_null(isnull) : CStringGetTextDatum("two"), "Its word.", .width = 4)

PFS_COLUMNS(examples, ExampleRow, EXAMPLES_COLUMNS)

static double
examples_estimate(void)
{
	return 2;
}

static void
examples_copy(PfsScan *scan)
{
	for (int i = 1; i <= 2; i++)
		((ExampleRow *) pfs_scan_add(scan))->number = i;
}

const PfsTable pfs_table_examples = {
	PFS_TABLE("examples", examples, "own", "one example", "refused", "Examples; there are two."),
	.row_size = sizeof(ExampleRow),
	.estimate = examples_estimate,
	.copy = examples_copy,
};
EOT
close $file;

# ---- an improved comment ----

edit('src/fdw/tables/pfs_table_threads.c', sub { s/"Database of the session\."/"The session's database."/ });

# ---- what is generated ----

($good, $out) = tool('tools/sql --check');
ok(!$good, 'the check fails while the script is older than the lists');
like($out, qr/^sql\/\S+ is older than the lists.*^docs\/tables\.md is older/ms, 'and names the files');
unlink "$tree/docs/tables.md", my @scripts = glob "$tree/sql/pfs--*--*.sql";
File::Copy::cp("$top/sql/" . s{.*/}{}r, $_) foreach @scripts;
($good, $out) = tool('tools/sql && tools/sql --check');
ok($good, 'tools/sql writes them') or diag($out);
like(text_of('docs/tables.md'), qr/^## pfs\.examples\n\nExamples; there are two\.\n\nA row is one example\. TRUNCATE: refused\. Source: `pfs` itself\. Since 1\.1\.\n/m, 'a table in docs/tables.md');
like(text_of('docs/tables.md'), qr/^- `spread_timer_wait` \(numeric, picoseconds, since 1\.1\): Longest "less" the shortest; it's a test\.$/m, 'and a column');

# ---- the server ----

($good, $out) = tool("env -u MAKEFLAGS make -s -j2 PG_CONFIG=pg_config COPT=-O0 pfs.so");
ok($good, 'it builds') or BAIL_OUT($out);
my $installation = PfsReleases->new;
$installation->use_tree($tree);
my $server = PfsServer->new('main', postgres => $installation->postgres, conf => "fsync = off\nautovacuum = off\n");
$server->start;
$server->sql("CREATE DATABASE $_") foreach qw(updated fresh);
my $updated = $server->session(db => 'updated');
$installation->release('1.0');
$updated->query('CREATE EXTENSION pfs');
$updated->query('CREATE TABLE released AS SELECT oid AS relation, relnatts FROM pg_class');
$installation->release;
$updated->query('ALTER EXTENSION pfs UPDATE');
my $fresh = $server->session(db => 'fresh');
$fresh->query('CREATE EXTENSION pfs');

is($fresh->query('SELECT number, word FROM pfs.examples ORDER BY number'), "1|\n2|two", 'the table is read');
is($fresh->query(q{SELECT has_table_privilege('pg_monitor', 'pfs.examples', 'SELECT'), has_table_privilege('pg_monitor', 'pfs.examples', 'TRUNCATE')}),
	't|f', 'by those who may');
is($fresh->query(q{SELECT a_row_is, truncate_effect FROM pfs.tables WHERE table_name = 'examples'}), 'one example|refused', 'pfs.tables lists it');
my $sums = 'pfs.events_waits_summary_global_by_event_name';
is($fresh->query("SELECT count(*) FILTER (WHERE spread_timer_wait > 0) > 0, count(*) FILTER (WHERE spread_timer_wait <> max_timer_wait) FROM $sums"),
	't|0', 'the column has values, and the others still have theirs');
my ($tables, $behind) = split /\|/, $updated->query(q{SELECT count(*), count(*) FILTER (WHERE attnum > relnatts)
	FROM pg_attribute a JOIN released ON relation = attrelid WHERE attname = 'spread_timer_wait'});
cmp_ok($tables, '>', 20, 'all tables that contain the list have it');
is($behind, $tables, 'behind all columns of the version before');

my $everything = q{SELECT c.relname, attnum, attname, format_type(atttypid, atttypmod), col_description(c.oid, attnum), obj_description(c.oid, 'pg_class'), relacl
	FROM pg_class c JOIN pg_attribute ON attrelid = c.oid WHERE relnamespace = 'pfs'::regnamespace AND attnum > 0 ORDER BY 1, 2};
is(difference($updated->query($everything), $fresh->query($everything)), '', 'an updated database has the same as a new one');
like($fresh->query($everything), qr/\|Longest "less" the shortest; it's a test\.\|.*\|The session's database\.\|/s, 'with the comments');

$fresh->query('CREATE SCHEMA imported; IMPORT FOREIGN SCHEMA pfs FROM SERVER pfs_server INTO imported');
my $columns = q{SELECT relname, attnum, attname, atttypid::regtype FROM pg_class c JOIN pg_attribute ON attrelid = c.oid
	WHERE relkind = 'f' AND attnum > 0 AND relnamespace = '%s'::regnamespace ORDER BY 1, 2};
is(difference($fresh->query(sprintf $columns, 'imported'), $fresh->query(sprintf $columns, 'pfs')), '', 'IMPORT FOREIGN SCHEMA makes the same');

done_testing();
