# PfsTree.pm
#	  A copy of the source tree, for tests that change it as somebody does who adds
#	  something: which files each addition touches, and what the tools and make say.
#
#	my $tree = PfsTree->new;					# undef: there is no tree, or no compiler
#	$tree->begin('table');						# what follows is one addition
#	$tree->edit('src/pfs.h', sub { s/x/y/ });	# the text is in $_
#	$tree->add('src/record/object/pfs_note.c', $text);
#	$tree->remove('src/record/object/pfs_note.c');	# a feature's own file: it is not one that is touched
#	is($tree->touched('table'), 2, 'so many files');
#	my ($good, $out) = $tree->tool('tools/sql --check');
#	($good, $out) = $tree->build;				# the library
#	($good, $out) = $tree->build_program;		# and client/pfs
package PfsTree;

use strict;
use warnings;

use FindBin;
use PfsServer;

# What is built is copied, too, so that make compiles only what the edits touch.
sub new
{
	my ($class) = @_;
	my $top = $ENV{PFS_TOP} // "$FindBin::RealBin/../..";

	return undef if !-d "$top/src/fdw/tables" || system('cc --version >/dev/null 2>&1') != 0;
	my $self = bless { top => $top, path => PfsServer::folder() . '/tree', touched => {} }, $class;

	mkdir $self->{path} or die "$self->{path}: $!";
	PfsServer::run_ok('cp', '-a', (map { "$top/$_" } qw(Makefile pfs.control CONTRIBUTING.md src client sql tools docs expected)), $self->{path});
	return $self;
}

sub path { return $_[0]->{path}; }

# The tree that was copied.
sub top { return $_[0]->{top}; }

# What is touched from now on belongs to the addition of this name.
sub begin
{
	my ($self, $addition) = @_;

	$self->{addition} = $addition;
}

sub _touch
{
	my ($self, $file) = @_;

	$self->{touched}{ $self->{addition} }{$file} = 1 if defined $self->{addition};
}

# How many files an addition has touched; in a list their names.
sub touched
{
	my ($self, $addition) = @_;

	return sort keys %{ $self->{touched}{$addition} };
}

sub text
{
	my ($self, $file) = @_;

	open my $in, '<', "$self->{path}/$file" or die "$file: $!";
	local $/;
	return scalar <$in>;
}

sub _write
{
	my ($self, $file, $text) = @_;

	# A file of the copy can belong to somebody else.
	unlink "$self->{path}/$file";
	open my $out, '>', "$self->{path}/$file" or die "$file: $!";
	print $out $text;
	close $out;
	$self->_touch($file);
}

# Change a file; one that stays as it was is an error of the test.
sub edit
{
	my ($self, $file, $change) = @_;
	local $_ = $self->text($file);
	my $before = $_;

	$change->();
	die "nothing to change in $file" if $_ eq $before;
	$self->_write($file, $_);
}

# Add a new file.
sub add
{
	my ($self, $file, $text) = @_;

	die "there is a $file" if -e "$self->{path}/$file";
	$self->_write($file, $text);
}

# Remove a file.
sub remove
{
	my ($self, $file) = @_;

	unlink "$self->{path}/$file" or die "$file: $!";
}

# What a tool prints, its errors included, and whether it succeeded.
sub tool
{
	my ($self, $command) = @_;
	my $out = `cd '$self->{path}' && $command 2>&1`;

	return ($? == 0, $out);
}

# The library; nobody measures it, so it is compiled fast.
sub build
{
	my ($self) = @_;

	return $self->tool('env -u MAKEFLAGS make -s -j2 PG_CONFIG=pg_config COPT=-O0 pfs.so');
}

# Libraries of the program that are missing here; nothing: it can be built.
sub program_lacks
{
	my ($self) = @_;
	my (undef, $out) = $self->tool('env -u MAKEFLAGS make -s -C client PG_CONFIG=pg_config missing');

	return $out;
}

# The program, in the same way.
sub build_program
{
	my ($self) = @_;

	return $self->tool('env -u MAKEFLAGS make -s -j2 -C client PG_CONFIG=pg_config CFLAGS=-O0 pfs');
}

1;
