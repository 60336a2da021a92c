# Files that older versions of pfs have saved, read by this one: all that they had is there.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/lib";
use PfsSaved;
use PfsServer;
use Test::More;

# Of each released version that saved anything there is one: those from which a script updates.
SKIP:
{
	my $top = $ENV{PFS_TOP} // "$FindBin::RealBin/../..";
	my @released = grep { $_ ne '1.0' } map { m{/pfs--([0-9.]+)--[0-9.]+\.sql$} } glob "$top/sql/pfs--*--*.sql";

	skip 'no other version is released', 1 unless @released;
	my %kept = map { $_ => 1 } PfsSaved::versions();

	is(join(' ', grep { !$kept{$_} } @released), '', 'there is a file of each released version (scripts/saved-file makes it)');
}

# A reader that adds nothing to what the file has.
my $server = PfsServer->new('main', conf => $PfsSaved::quiet);

$server->start;
PfsSaved::make_owners($server);

foreach my $version (PfsSaved::versions())
{
	$server->stop;
	PfsSaved::put($server, PfsSaved::move(PfsSaved::kept($version), $server));
	$server->mark_log;
	$server->start;
	is(PfsSaved::difference(PfsSaved::expected($version), PfsSaved::shown($server)), '', "$version: all that it had");
	unlike($server->log_text, qr/pfs: /, "$version: and the log says nothing");

	# What this version makes of it.
	$server->restart;
	is(PfsSaved::difference(PfsSaved::expected($version), PfsSaved::shown($server)), '', "$version: and again, as this version saves it");
}

done_testing();
