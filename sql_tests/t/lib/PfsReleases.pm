# PfsReleases.pm
#	  An installation of the server in which CREATE EXTENSION finds pfs as an older
#	  release has installed it.
#
# The scripts of a release are installed for ever, but its control file is replaced by
# that of the next one.  PostgreSQL finds its folders relative to its own program, so a
# copy of this program, with links to everything else, gets a control file of its own.
# The control file is read by each CREATE EXTENSION and ALTER EXTENSION: no restart is
# needed between releases.  The library is that of this tree, or of the one that use_tree() names.
#
#	my $installation = PfsReleases->new;
#	my $server = PfsServer->new('main', postgres => $installation->postgres);
#	$installation->release('1.0');			# what CREATE EXTENSION finds from now on
#	$installation->release;					# this tree again
#	$installation->present;					# its version
#	$installation->use_tree($dir);			# another tree instead of this one
#	is(difference($rows, $other_rows), '', 'two databases have the same');
package PfsReleases;

use strict;
use warnings;

use Exporter 'import';
use File::Copy ();
use File::Path qw(make_path);
use PfsServer;

our @EXPORT_OK = qw(difference);

# The control files of the releases, as they were.
my %control = (
	'1.0' => <<'EOT',
# pfs extension
comment = 'exact waits of a live server, readable and switchable by SQL'
default_version = '1.0'
module_pathname = '$libdir/pfs'
relocatable = false
superuser = true
EOT
	'1.1' => <<'EOT');
# pfs extension
comment = 'exact waits of a live server, readable and switchable by SQL'
default_version = '1.1'
module_pathname = '$libdir/pfs'
schema = pg_catalog
relocatable = false
superuser = true
EOT

# Makes the copy; it has this tree's release.  A test that has several gives them names.
sub new
{
	my ($class, $name) = @_;
	my $self = bless {}, $class;
	my %from;

	foreach my $dir (qw(bindir sharedir pkglibdir))
	{
		chomp($from{$dir} = `pg_config --$dir`);
		$self->{$dir} = PfsServer::folder() . '/installation' . ($name // '') . $from{$dir};
	}
	make_path($self->{bindir}, "$self->{sharedir}/extension", $self->{pkglibdir} =~ s{/[^/]+$}{}r);
	File::Copy::cp("$from{bindir}/postgres", $self->postgres) or die "postgres: $!";
	_link($from{pkglibdir}, $self->{pkglibdir});
	_link($_, "$self->{sharedir}/" . s{.*/}{}r) foreach grep { !m{/extension$} } glob "$from{sharedir}/*";
	_link($_, "$self->{sharedir}/extension/" . s{.*/}{}r) foreach glob "$from{sharedir}/extension/*";
	# Another build looks for them beside its own folder (replace_server() of scripts/lib.sh).
	if (-l "$from{bindir}/../share/postgresql")
	{
		make_path("$self->{bindir}/../share");
		_link($self->{sharedir}, "$self->{bindir}/../share/postgresql");
	}
	$self->{current} = "$from{sharedir}/extension/pfs.control";
	return $self;
}

sub _link
{
	symlink $_[0], $_[1] or die "$_[1]: $!";
}

# Let it have the library and the scripts of another tree, in which they are built.
sub use_tree
{
	my ($self, $tree) = @_;
	my $real = readlink $self->{pkglibdir};

	unlink $self->{pkglibdir};
	foreach my $dir (grep { -d "$real$_" } '', '/postgresql')
	{
		make_path("$self->{pkglibdir}$dir");
		_link($_, "$self->{pkglibdir}$dir/" . s{.*/}{}r) foreach grep { !m{/(?:pfs\.so|postgresql)$} } glob "$real$dir/*";
		_link("$tree/pfs.so", "$self->{pkglibdir}$dir/pfs.so");
	}
	unlink glob "$self->{sharedir}/extension/pfs--*.sql";
	_link($_, "$self->{sharedir}/extension/" . s{.*/}{}r) foreach glob "$tree/sql/pfs--*.sql";
	$self->{current} = "$tree/pfs.control";
	return $self->release;
}

sub postgres
{
	my ($self) = @_;

	return "$self->{bindir}/postgres";
}

# Choose the release that is installed; without a name that of this tree.
sub release
{
	my ($self, $release) = @_;
	my $path = "$self->{sharedir}/extension/pfs.control";

	unlink $path;
	return _link($self->{current}, $path) unless defined $release;
	open my $file, '>', $path or die "$path: $!";
	print $file $control{$release} // die "no release $release";
	close $file;
}

# The version of this tree, or of the one that use_tree() has named.
sub present
{
	my ($self) = @_;

	open my $file, '<', $self->{current} or die "$self->{current}: $!";
	local $/;
	return <$file> =~ /^default_version = '(.*)'$/m ? $1 : die "$self->{current}: no version";
}

# The lines that only one of two results has.
sub difference
{
	my %count;

	$count{$_}++ foreach split /\n/, $_[0];
	$count{$_}-- foreach split /\n/, $_[1];
	return join("\n", map { ($count{$_} > 0 ? '+' : '-') . $_ } grep { $count{$_} } sort keys %count);
}

1;
