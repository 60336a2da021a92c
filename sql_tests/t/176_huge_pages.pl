# Shared memory in huge pages.  Who gives one back to the system gives up its reservation, too:
# the next process that touches it dies where there is none left.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/lib";
use PfsServer;
use Test::More;

# Sizes in kB, counts of pages.
sub huge_pages
{
	open my $file, '<', '/proc/meminfo' or die "meminfo: $!";
	my %has = map { /^(\w+):\s+(\d+)/ ? ($1 => $2) : () } <$file>;

	return \%has;
}

my $has = huge_pages();
my $mb = ($has->{HugePages_Free} // 0) * ($has->{Hugepagesize} // 0) / 1024;

plan skip_all => 'there are no huge pages for a server (vm.nr_hugepages)' if $mb < 512;

my $server = PfsServer->new('main', conf => "shared_buffers = 16MB\nmax_connections = 80\n");

foreach my $setting ('on', 'try')
{
	$server->conf("huge_pages = $setting");
	my $before = huge_pages();

	$server->start;
	$server->sql('CREATE EXTENSION pfs') if $setting eq 'on';
	my $with = huge_pages();
	my $needed = $server->sql('SHOW shared_memory_size_in_huge_pages');

	is($before->{HugePages_Free} - $with->{HugePages_Free} + $with->{HugePages_Rsvd} - $before->{HugePages_Rsvd}, $needed,
		"$setting: all pages are the server's, touched or reserved");
	is($server->sql(q{SELECT status, detail FROM pfs.probes WHERE probe_name = 'reclaim'}),
		"off|shared memory lies in huge pages, which are the server's for good", 'probes says that none goes back');
	unlike($server->log_text, qr/pfs: the system does not take shared memory back/, 'as nothing is wrong, the log does not');

	# Records that come and go.
	for (1 .. 3)
	{
		my @sessions = map { $server->session } 1 .. 15;

		$_->query('SELECT count(*) FROM pg_class') foreach @sessions;
	}
	is($server->sql('SELECT sum(pages_reclaimed) FROM pfs.containers'), 0, 'and none does');
	my $after = huge_pages();

	is($before->{HugePages_Free} - $after->{HugePages_Free} + $after->{HugePages_Rsvd} - $before->{HugePages_Rsvd}, $needed,
		'under a load, too');
	$server->stop;
}

done_testing();
