# The cycle counter is used only while the kernel offers it as a clock source.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/lib";
use PfsServer;
use Test::More;

test_module('pfs_test_stop');
my $server = PfsServer->new('main');
$server->start;
$server->sql('CREATE EXTENSION pfs');
$server->sql(test_functions('pfs_test_stop'));
my $sources = "$server->{dir}/sources";
mkdir $sources;

# Is the counter trusted with such a list?  undef: without one.
sub is_trusted
{
	my ($list) = @_;

	unlink "$sources/available_clocksource";
	if (defined $list)
	{
		open my $file, '>', "$sources/available_clocksource" or die "$sources: $!";
		print $file $list;
		close $file;
	}
	return $server->sql("SELECT CASE WHEN clock_source('$sources') THEN 'yes' ELSE 'no' END");
}

is(is_trusted("tsc hpet acpi_pm \n"), 'yes', 'a machine that uses it');
is(is_trusted("kvm-clock tsc acpi_pm \n"), 'yes', 'a guest with a clock of its own');
is(is_trusted("tsc\n"), 'yes', 'nothing else');
is(is_trusted("hpet acpi_pm \n"), 'no', 'the kernel has marked it unstable');
is(is_trusted("kvm-clock acpi_pm \n"), 'no', 'the same in a guest');
is(is_trusted("hyperv_clocksource_tsc_page acpi_pm \n"), 'no', 'a source that is called alike');
is(is_trusted(''), 'yes', 'an empty list says nothing');
is(is_trusted(undef), 'yes', 'nor does none');

# What the server does is what the machine's own list says.
my $offered = $server->sql("SELECT timer_frequency IS NOT NULL FROM pfs.performance_timers WHERE timer_name = 'CYCLE'");
my $trusted = $server->sql("SELECT clock_source('/sys/devices/system/clocksource/clocksource0')");
my $complaint = 'the kernel does not trust';
if ($offered eq 't')
{
	is($trusted, 't', 'CYCLE is offered where the kernel trusts it') if `uname -m` =~ /x86_64/;
	ok(index($server->log_text, $complaint) < 0, 'and the log is silent');
}
else
{
	is($server->sql('SELECT DISTINCT timer_name FROM pfs.setup_timers'), 'NANOSECOND', 'NANOSECOND is the default without it');
	ok(index($server->log_text, 'timers use NANOSECOND') >= 0, 'the log says so');
}
done_testing();
