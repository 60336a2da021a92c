# PfsCopy.pm
#	  A copy of the server's program with some bytes changed, for tests of what pfs
#	  finds in a program that was built in another way.
#
#	my $copy = PfsCopy->new("$server->{dir}/copy");
#	$copy->change_function('LWLockAcquire', "\x55\x48\x89\xe5", "\xc8\x00\x00\x00");
#	$copy->change_text("SomeFunction\0", "NoneFunction\0");
#	$copy->change_size('SomeVariable', 8);
#	$copy->start($server);
package PfsCopy;

use strict;
use warnings;

use File::Path qw(make_path);
use PfsServer ();

# It lies at a place from which it finds the server's files.
sub new
{
	my ($class, $dir) = @_;
	my $bindir = PfsServer::bindir();
	(my $parent = $bindir) =~ s{/[^/]*$}{};
	chomp(my $share = `pg_config --sharedir`);

	make_path("$dir$bindir", $dir . ($share =~ s{/[^/]*$}{}r));
	symlink "$parent/lib", "$dir$parent/lib" or die "symlink: $!";
	symlink $share, "$dir$share" or die "symlink: $!";
	# Another build looks for it beside its own folder (replace_server() of scripts/lib.sh).
	symlink "$parent/share", "$dir$parent/share" if -l "$parent/share/postgresql";
	PfsServer::run_ok('cp', "$bindir/postgres", "$dir$bindir/postgres");
	return bless { path => "$dir$bindir/postgres" }, $class;
}

sub path { return $_[0]->{path}; }

# Where an exported function begins in the file.
sub _offset_of
{
	my ($self, $function) = @_;
	my ($address) = PfsServer::run_ok('nm', '-D', $self->{path}) =~ /^([0-9a-f]+) T \Q$function\E$/m;

	foreach (split /\n/, PfsServer::run_ok('readelf', '-lW', $self->{path}))
	{
		# type, offset, virtual address, physical address, size in the file
		next unless /^\s+LOAD\s+0x([0-9a-f]+) 0x([0-9a-f]+) 0x[0-9a-f]+ 0x([0-9a-f]+) /;
		return hex($address) - hex($2) + hex($1) if hex($address) >= hex($2) && hex($address) < hex($2) + hex($3);
	}
	die "no $function in $self->{path}";
}

sub _write
{
	my ($self, $offset, $bytes) = @_;

	my $new = "$self->{path}.new";

	# A process of a server that was stopped may still execute the old one.
	PfsServer::run_ok('cp', '-p', $self->{path}, $new);
	open my $file, '+<:raw', $new or die "$new: $!";
	seek $file, $offset, 0;
	print $file $bytes;
	close $file;
	rename $new, $self->{path} or die "$new: $!";
}

# Replace bytes near the begin of a function by as many others.
sub change_function
{
	my ($self, $function, $from, $to) = @_;
	my $offset = $self->_offset_of($function);

	open my $file, '<:raw', $self->{path} or die "$self->{path}: $!";
	seek $file, $offset, 0;
	read $file, my $code, 96;
	close $file;
	my $at = index($code, $from);

	die "$function does not begin so" if $at < 0;
	$self->_write($offset + $at, $to);
}

# Replace the first text of the file that is this one by another of its length.
sub change_text
{
	my ($self, $from, $to) = @_;

	open my $file, '<:raw', $self->{path} or die "$self->{path}: $!";
	local $/;
	my $at = index(<$file>, $from);

	close $file;
	die "no such text: $from" if $at < 0;
	$self->_write($at, $to);
}

# Say of an exported variable that it has another size.
sub change_size
{
	my ($self, $variable, $size) = @_;
	my ($number) = PfsServer::run_ok('readelf', '-W', '--dyn-syms', $self->{path}) =~ /^\s*(\d+):.* \Q$variable\E$/m;
	my ($offset) = PfsServer::run_ok('readelf', '-SW', $self->{path}) =~ /\s\.dynsym\s+\S+\s+\S+\s+([0-9a-f]+)\s/;

	# st_size is the last word of a symbol's 24 bytes
	$self->_write(hex($offset) + $number * 24 + 16, pack('Q<', $size));
}

# Start a server of the tests with it.
sub start
{
	my ($self, $server) = @_;

	PfsServer::run_ok(PfsServer::bindir() . '/pg_ctl', '-D', $server->{data}, '-l', $server->{logfile}, '-w', '-p', $self->{path}, 'start');
	$server->{running} = 1;
}

1;
