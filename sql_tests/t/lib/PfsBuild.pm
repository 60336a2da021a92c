# PfsBuild.pm
#	  What a build of the server shows and does not show: methods of PfsServer, apart from
#	  it because they ask the server how it was built, and end tests that need another build.
package PfsBuild;

use strict;
use warnings;

use Test::More;

# Was the server built with frame pointers?  The server itself says so, not pfs.
sub has_frame_pointers
{
	my ($self) = @_;

	return $self->sql(q{SELECT setting ~ 'no-omit-frame-pointer' FROM pg_config WHERE name = 'CFLAGS'}) eq 't';
}

# Was it optimized across files?  Then functions that others call need not have a name any more.
sub is_lto
{
	my ($self) = @_;

	return $self->sql(q{SELECT setting ~ '-flto' FROM pg_config WHERE name = 'CFLAGS'}) eq 't';
}

# Bytes of a page.
sub block_size
{
	my ($self) = @_;

	return $self->sql('SHOW block_size');
}

# Ends a test that is about what only such servers show.
sub needs_frame_pointers
{
	my ($self) = @_;

	plan(skip_all => 'the server was built without frame pointers') unless $self->has_frame_pointers;
}

# Ends a test of detours where another build begins its functions in a way that they cannot
# be moved, or has copies of them; one that is built as Debian's must have them.
sub needs_detours
{
	my ($self) = @_;
	my $reason = $self->sql(q{SELECT string_agg(DISTINCT detail, ', ') FROM pfs.probes
		WHERE mechanism = 'detour' AND status = 'unavailable' AND target <> 'LockBufferInternal'
		AND detail <> 'another detour could not be set'});

	plan(skip_all => "another build of the server: $reason") if $reason ne '' && (!$self->has_frame_pointers || $self->is_lto);
}

# Ends a test of memory where the server's program has a fixed address: its tables of
# methods lie beside its code, where pfs does not write.
sub needs_memory
{
	my ($self) = @_;

	open my $file, '<:raw', PfsServer::bindir() . '/postgres' or die "postgres: $!";
	read $file, my $header, 18;
	plan(skip_all => 'the server is not position-independent: memory is not counted') if unpack('x16 v', $header) == 2;
}

1;
