# PfsNumbers.pm
#	  Numeric tests that say what they saw; PfsServer.pm hands them on.
package PfsNumbers;

use strict;
use warnings;

use Exporter 'import';
use Test::More;

our @EXPORT = qw(between near as_long_as);

sub between
{
	my ($got, $low, $high, $name) = @_;

	local $Test::Builder::Level = $Test::Builder::Level + 1;
	my $ok = defined $got && $got =~ /^-?[\d.]+(e[-+]?\d+)?$/ && $got >= $low && $got <= $high;

	ok($ok, $name);
	diag('got ' . ($got // 'undef') . ", expected $low .. $high") unless $ok;
	return $ok;
}

sub near
{
	my ($got, $expected, $fraction, $name) = @_;

	local $Test::Builder::Level = $Test::Builder::Level + 1;
	return between($got, $expected * (1 - $fraction), $expected * (1 + $fraction), $name);
}

# One stretch of time by our clock and by a witness whose readings enclose ours:
# never longer, and as long within a fraction.  A process can lose its processor
# between the two, so $measure, which gives both, may run again: one close pair.
sub as_long_as
{
	my ($measure, $fraction, $name) = @_;
	my ($inside, $close, @seen) = (1, 0);

	local $Test::Builder::Level = $Test::Builder::Level + 1;
	for (1 .. 6)
	{
		my ($ours, $witness) = $measure->();

		push @seen, sprintf('%.3f and %.3f', $ours, $witness);
		# The witness's digits end at a microsecond per reading.
		$inside &&= $ours <= $witness * 1.002;
		$close = $ours >= $witness * (1 - $fraction);
		last if $close;
	}
	return ok($inside && $close, "$name: " . join(', ', @seen));
}

1;
