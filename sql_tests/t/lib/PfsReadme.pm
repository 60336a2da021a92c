# PfsReadme.pm
#	  The queries that README.md recommends, for tests of what they return.
package PfsReadme;

use strict;
use warnings;
use FindBin;

# The SQL block of README.md that matches.
sub query
{
	my ($regex) = @_;

	open my $file, '<', "$FindBin::RealBin/../../README.md" or die "README.md: $!";
	local $/;
	my @found = grep { $_ =~ $regex } <$file> =~ /^```sql\n(.*?)^```/msg;

	die scalar(@found) . " queries of README.md match $regex" if @found != 1;
	return $found[0];
}

1;
