# PfsReports.pm
#	  Runs the program pfs against servers of the tests, and reads its reports and snapshots.
#
#	needs_program();								# else the test is skipped
#	my ($status, $out, $err) = program($server, 'snapshot', $file);
#	my $report = report($server, $older, $newer);	# of JSON
#	my ($row) = rows($report, 'statements', query_id => 42);
package PfsReports;

use strict;
use warnings;

use Exporter 'import';
use IPC::Run ();
use JSON::PP ();
use PfsServer;
use Test::More;

our @EXPORT = qw(needs_program program program_start program_end report rows slurp spew);

# The program is installed where its libraries were found.
sub needs_program
{
	plan(skip_all => 'the program pfs is not installed: its libraries are missing') unless -x PfsServer::bindir() . '/pfs';
}

# One run: (exit status, output, errors); 128 and its number for a signal, as a shell has it.  A hash in the
# first place has options: env, user, in.
sub program { return program_end(program_start(@_)); }

# Starts one run in the background.
sub program_start
{
	my $options = ref $_[0] eq 'HASH' ? shift : {};
	my ($server, @words) = @_;
	my %run = (out => '', err => '');

	local %ENV = (
		%ENV,
		PGHOST => $server->{host},
		PGPORT => $server->{port},
		PGUSER => $options->{user} // 'postgres',
		PGDATABASE => 'postgres',
		%{ $options->{env} // {} });
	$run{handle} = IPC::Run::start([ PfsServer::bindir() . '/pfs', @words ], '<', \($options->{in} // ''), '>', \$run{out}, '2>', \$run{err},
		IPC::Run::timeout($PfsServer::timeout));
	return \%run;
}

# Waits for its end.
sub program_end
{
	my ($run) = @_;

	$run->{handle}->finish;
	return ($? & 127 ? 128 + ($? & 127) : $? >> 8, $run->{out}, $run->{err});
}

# A report as data: of whatever the arguments say.  Numbers beyond 64 bits keep their digits.
sub report
{
	my ($server, @words) = @_;
	my ($status, $out, $err) = program($server, 'report', '--format', 'json', '--rows', 100000, @words);

	is($status, 0, "report @words") or diag($err);
	return JSON::PP->new->utf8->allow_bignum->decode($out);
}

# The rows of a section, or those whose columns are so.
sub rows
{
	my ($report, $id, %wanted) = @_;
	my ($section) = grep { $_->{id} eq $id } @{ $report->{sections} };

	return grep
	{
		my $row = $_;
		!grep { !defined $row->{$_} || "$row->{$_}" ne $wanted{$_} } keys %wanted
	} @{ $section->{rows} };
}

sub slurp
{
	my ($file) = @_;

	open my $handle, '<:raw', $file or die "$file: $!";
	local $/;
	return scalar <$handle>;
}

sub spew
{
	my ($file, $text) = @_;

	open my $handle, '>:raw', $file or die "$file: $!";
	print $handle $text;
	close $handle or die "$file: $!";
}

1;
