#!/usr/bin/perl
#
# Read lackey's traces of sessions, for bench/touched.
#
# usage: bench/touched.pl WHERE COMMANDS TRANSACTIONS TRACE...
#
#	WHERE     where things lie: lines "binary RANGE OFFSET", "segment RANGE", "marker OFFSET",
#	          with pfs also "library RANGE OFFSET" and "area OFFSET SIZE" (in the segment);
#	          for the list of owners "part NAME ADDRESS SIZE PAGE_SIZE RECORD_SIZE", between
#	          tabs, and "variable OFFSET SIZE NAME"
#	COMMANDS  that make one transaction; the function at the marker is called at the end of each
#
# Prints means of one of the last 50 transactions: instructions; lines and pages of data,
# lines of code; lines and pages of pfs's own data.  Then lines that more than one session
# has written in these 50: of the segment, of pfs's part of it, and of the latter how many
# one transaction writes.  Then lines by owner, if the places of parts or variables are known.

use strict;
use warnings;
no warnings qw(portable);	# addresses are of 64 bits

my ($where, $commands, $transactions, @traces) = @ARGV;
die "usage: bench/touched.pl WHERE COMMANDS TRANSACTIONS TRACE...\n" unless @traces > 1;
my $counted = 50;

# Ranges of addresses.
my (@segment, @library, @parts, @variables, $binary, $own_part, $marker);
open(my $in, '<', $where) or die "$where: $!\n";
while (<$in>)
{
	chomp;
	my ($kind, @words) = split(/^part\t/ ? qr/\t/ : ' ');
	my ($from, $to) = ($words[0] // '') =~ /^([0-9a-f]+)-([0-9a-f]+)$/ ? (hex $1, hex $2) : ();
	$binary = $from - hex $words[1] if $kind eq 'binary';
	@segment = ($from, $to) if $kind eq 'segment';
	push @library, [ $from, $to ] if $kind eq 'library';
	$own_part = [ $segment[0] + $words[0], $segment[0] + $words[0] + $words[1] ] if $kind eq 'area';
	$marker = hex $words[0] if $kind eq 'marker';
	push @parts, [ @words[ 1, 2, 0, 3, 4 ] ] if $kind eq 'part';
	push @variables, [ hex $words[0], hex $words[1], $words[2] ] if $kind eq 'variable';
}
close($in);
die "$where: no binary, segment or marker\n" unless defined $binary && @segment && defined $marker;
my @own = (@library, defined $own_part ? $own_part : ());

my %is_own;	# by line
# Is any of the line pfs's own: of the library, or of its part of the segment?
sub own
{
	my $line = shift;
	return $is_own{$line} //= (grep { $line << 6 < $_->[1] && ($line + 1) << 6 > $_->[0] } @own) ? 1 : 0;
}

# For each session its last transactions: instructions, data lines with 1 for read and 3 for
# written, and the number of code lines.
my @sessions;
foreach my $trace (@traces)
{
	# Commands end here; what comes before the ones that count is only skipped.
	my $end = sprintf 'I  %08x,', $binary + $marker;
	open(my $found, '-|', 'grep', '-abF', $end, $trace) or die "grep: $!\n";
	my @ends = map { /^(\d+):/ } <$found>;
	close($found);
	die "$trace has " . @ends . " commands, not $transactions times $commands\n"
	  unless @ends == $transactions * $commands && $transactions > $counted;
	open(my $t, '<', $trace) or die "$trace: $!\n";
	seek($t, $ends[ -$counted * $commands - 1 ], 0);
	<$t>;
	my ($command, $n) = (0, 0);
	my (%data, %code, @done);
	while (@done < $counted && defined($_ = <$t>))
	{
		if (/^I  ([0-9a-f]+),/)
		{
			$n++;
			$code{ hex($1) >> 6 } = 1;
			next if index($_, $end) != 0 || ++$command % $commands != 0;
			push @done, [ $n, {%data}, scalar keys %code ];
			$n = 0;
			%data = %code = ();
		}
		elsif (/^ ([LSM]) ([0-9a-f]+),([0-9]+)/)
		{
			my ($address, $flag) = (hex $2, $1 eq 'L' ? 1 : 3);
			foreach my $line ($address >> 6 .. ($address + $3 - 1) >> 6)
			{
				$data{$line} = ($data{$line} // 0) | $flag;
			}
		}
	}
	close($t);
	push @sessions, \@done;
}

# How many sessions write a line.
my %writers;
foreach my $session (@sessions)
{
	my %written;
	foreach my $transaction (@$session)
	{
		$written{$_} = 1 foreach grep { $transaction->[1]{$_} & 2 } keys %{ $transaction->[1] };
	}
	$writers{$_}++ foreach keys %written;
}

my @both = grep { $writers{$_} > 1 && $_ << 6 >= $segment[0] && $_ << 6 < $segment[1] } keys %writers;
my %both = map { $_ => 1 } @both;
my @own_both = grep { own($_) } @both;

# Sums over all transactions; for each line of pfs's own how many touch it, write it, and
# write it when another session does as well; and each page's lines, for every transaction.
my ($number, @sum, %lines, @own_pages) = (0, (0) x 7);
foreach my $transaction (map { @$_ } @sessions)
{
	my ($instructions, $data, $code) = @$transaction;
	my (%pages, %own_pages);
	$number++;
	foreach my $line (keys %$data)
	{
		my $write = $data->{$line} & 2 ? 1 : 0;
		$pages{ $line >> 6 } = 1;
		next unless own($line);
		push @{ $own_pages{ $line >> 6 } }, $line;
		$sum[4]++;
		$sum[6]++ if $write && $both{$line};
		$lines{$line}[0]++;
		$lines{$line}[1] += $write;
		$lines{$line}[2] += $write && $both{$line} ? 1 : 0;
	}
	$sum[0] += $instructions;
	$sum[1] += keys %$data;
	$sum[2] += keys %pages;
	$sum[3] += $code;
	$sum[5] += keys %own_pages;
	push @own_pages, values %own_pages;
}
my @mean = map { $_ / $number } @sum;
printf "%.0f %.1f %.1f %.1f %.1f %.1f %d %d %.2f\n", @mean[ 0 .. 5 ], scalar @both, scalar @own_both, $mean[6];
exit unless @parts || @variables;

# The owner of a line, by the address where it begins.
sub owner
{
	my $address = shift;
	foreach (@parts)
	{
		my ($from, $size, $name, $page, $record) = @$_;
		next unless $address + 63 >= $from && $address < $from + $size;
		my $offset = $address > $from ? $address - $from : 0;
		return $record > 0 ? sprintf('%s, record +%d', $name, $offset % $page % $record) : sprintf('%s +%d', $name, $offset);
	}
	return sprintf 'shared memory +%d', $address - $own_part->[0] if $address >= $own_part->[0] && $address < $own_part->[1];
	my $offset = $address - $library[0][0];
	my @names = map { $_->[2] } grep { $offset + 64 > $_->[0] && $offset < $_->[0] + ($_->[1] || 1) } @variables;
	return @names ? 'library: ' . join(' ', @names) : 'library: constants and addresses of the server';
}

# First by area, then those lines that half of the transactions touch, or two sessions write, each for
# itself.  A page is the owner's who has most of its lines.
sub show
{
	my ($least, $name_of) = @_;
	my (%by_name, %name);
	foreach my $line (keys %lines)
	{
		my $sum = $by_name{ $name{$line} = $name_of->(owner($line << 6)) } //= [ 0, 0, 0, 0 ];
		$sum->[$_] += ($lines{$line}[$_] // 0) / $number foreach 0 .. 2;
	}
	foreach my $page (@own_pages)
	{
		my %of;
		$of{ $name{$_} }++ foreach @$page;
		my ($most) = sort { $of{$b} <=> $of{$a} || $a cmp $b } keys %of;
		$by_name{$most}[3] += 1 / $number;
	}
	printf "  %8s %8s %8s %8s  %s\n", qw(lines written shared pages owner);
	printf "  %8.2f %8.2f %8.2f %8.2f  %s\n", @{ $by_name{$_} }, $_
	  foreach sort { $by_name{$b}[0] <=> $by_name{$a}[0] || $a cmp $b } grep { $by_name{$_}[0] >= $least || $by_name{$_}[2] > 0 } keys %by_name;
}
show(0, sub { $_[0] =~ s/^library\K:.*|,? (?:record )?\+\d+$//r });
show(0.5, sub { $_[0] });
