# An upgrade that brings a counter and takes one away, and the way back, in a copy of the tree: what the other version has saved
# is read, with all values but those of this counter.  Nothing of what saves is edited for it.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/lib";
use PfsReleases;
use PfsSaved;
use PfsServer;
use PfsTree;
use Test::More;

my $tree = PfsTree->new;
plan skip_all => 'there is no tree, or no compiler' unless defined $tree;
plan skip_all => 'the lists are the same for each version: 15 shows them' if PfsServer::version() > 15;

# ---- another version ----

# Warnings are counted no more, and something else is, at another place of the list.
my $list = 'src/record/statement/pfs_statement.h';
my $line = qr/^\tX\(PFS_N_WARNINGS, "warnings", PFS_UNIT_COUNT\) \\\n/m;

$tree->edit($list, sub {
	s/$line// or die 'no such counter';
	s/^(?=\tX\(PFS_N_PARALLEL_WORKERS,)/\tX(PFS_N_NOTES, "notes", PFS_UNIT_COUNT) \\\n/m or die 'no such counter';
});
foreach my $file (split /\n/, ($tree->tool(q{grep -rl --include='*.[ch]' '\bPFS_N_WARNINGS\b' src}))[1])
{
	unlike($file, qr/pfs_save/, "$file is none of those that save");
	$tree->edit($file, sub { s/\bPFS_N_WARNINGS\b/PFS_N_NOTES/g });
}
$tree->edit('src/fdw/tables/pfs_statement_counters.h', sub { s/PFS_STATEMENT_COUNTER\(of, WARNINGS\)/PFS_STATEMENT_COUNTER(of, NOTES)/ });
# A number of two bytes has eight, and two of eight sixteen.
$tree->edit('src/record/load/pfs_save_digest_bytes.h', sub {
	s/^\tuint64\t\tfrequency;/\tPfsTicks\tfrequency;/m or die 'no such field';
});
$tree->edit('src/record/load/pfs_save_load_bytes.h', sub {
	s/^\tuint16\t\tresolution;/\tuint64\t\tresolution;/m && s/^\tuint64\t\tlength;/\tPfsTicks\tlength;/m or die 'no such field';
});
my ($good, $out) = $tree->build;
ok($good, 'the other version is built') or BAIL_OUT($out);

my $this_version = PfsReleases->new;
my $other_version = PfsReleases->new('other');
$other_version->use_tree($tree->path);

# ---- a server that goes from one to the other, and back ----

my $server = PfsServer->new('main', postgres => $this_version->postgres, conf => $PfsSaved::quiet);

$server->start;
PfsSaved::make_owners($server);
$server->stop;
PfsSaved::put($server, PfsSaved::move(PfsSaved::kept((PfsSaved::versions())[-1]), $server));
$server->start;
my $whole = PfsSaved::shown($server);
my @warned = grep { $whole->{digests}{$_}{sum_warnings} > 0 } keys %{ $whole->{digests} };
cmp_ok(scalar @warned, '>', 0, 'there were warnings');

sub starts_as
{
	my ($version, $name) = @_;

	# A session that is still there would be told of the shutdown, which counts as an error of a statement.
	$server->poll(q{SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()}, 0);
	$server->stop;
	$server->{postgres} = $version->postgres;
	$server->mark_log;
	$server->start;
	unlike($server->log_text, qr/pfs: /, "$name: the log says nothing");
}

# The same without the counter.
$_->{sum_warnings} = 0 foreach values %{ $whole->{digests} };
starts_as($other_version, 'the other version');
is(PfsSaved::difference($whole, PfsSaved::shown($server)), '', 'it has all that this one has saved, but for the counter that it has not');
$server->psql(q{DO $$ BEGIN RAISE WARNING 'counted'; END $$}, db => 'work', user => 'clerk');
my $counted = q{SELECT sum(sum_warnings) FROM pfs.events_statements_summary_by_digest WHERE database_name = 'work'};
is($server->sql($counted), 1, 'its own counter begins at zero');

# What has been counted since is not compared.
sub without_new
{
	my ($shown) = @_;

	foreach my $table (qw(digests waits histograms))
	{
		delete $shown->{$table}{$_} foreach grep { /RAISE/ && $_ =~ /^work\tclerk/ } keys %{ $shown->{$table} };
	}
	return $shown;
}

$whole = without_new(PfsSaved::shown($server));
starts_as($this_version, 'this one again');
is(PfsSaved::difference($whole, without_new(PfsSaved::shown($server))), '', 'it has all that the other one has saved');
is($server->sql($counted), 0, 'but for the counter that it knows nothing of');
starts_as($other_version, 'the other one again');
is(PfsSaved::difference($whole, without_new(PfsSaved::shown($server))), '', 'and so again');

done_testing();
