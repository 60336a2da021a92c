# PfsSession.pm
#	  A session with a server: a psql of its own, which PfsServer->session starts.
package PfsSession;

use strict;
use warnings;

use IPC::Run ();

my $nmarks = 0;

# Options: db, user, name (application_name), options (PGOPTIONS), host (an
# address instead of the Unix socket).
sub new
{
	my ($class, $server, %options) = @_;
	my $self = bless { server => $server, in => '', out => '', err => '', pending => [] }, $class;
	my $connstr = $server->connstr($options{db});

	$connstr .= " user=$options{user}" if defined $options{user};
	$connstr .= " application_name=$options{name}" if defined $options{name};
	$connstr .= " host=$options{host}" if defined $options{host};
	local %ENV = %ENV;
	$ENV{PGOPTIONS} = $options{options} if defined $options{options};
	$self->{timer} = IPC::Run::timer($PfsServer::timeout);
	$self->{handle} = IPC::Run::start(
		[ PfsServer::bindir() . '/psql', '-X', '-q', '-A', '-t', '-v', 'VERBOSITY=verbose', '-v', 'SHOW_CONTEXT=never',
			'-d', $connstr ],
		'<', \$self->{in}, '>', \$self->{out}, '2>', \$self->{err}, $self->{timer});
	if ($options{bare})
	{
		return $self;			# not a word from us
	}
	$self->{pid} = $self->query('SELECT pg_backend_pid()');
	return $self;
}

sub pid { return $_[0]->{pid}; }

sub thread_id
{
	my ($self) = @_;

	return $self->{thread_id} //= $self->{server}->thread_of($self->{pid});
}

# Hand over statements and do not wait.
sub send
{
	my ($self, $sql) = @_;
	my $mark = '=== ' . ++$nmarks;

	$sql .= ';' unless $sql =~ /;\s*$/ || $sql =~ /\\[a-z][^\n]*$/;
	$self->{in} .= "$sql\n\\echo '$mark'\n\\warn '$mark'\n";
	push @{ $self->{pending} }, $mark;
	$self->{handle}->pump_nb;
	return $self;
}

# Has everything been done?  Does not wait.
sub is_done
{
	my ($self) = @_;
	my $mark = $self->{pending}[-1];

	PfsServer::pump($self->{handle}, 'pump_nb');
	return !defined $mark || ($self->{out} =~ /^\Q$mark\E\n/m && $self->{err} =~ /^\Q$mark\E\n/m) ? 1 : 0;
}

# Wait for what was sent; the output of all of it.  Errors are in last_error.
sub result
{
	my ($self) = @_;

	$self->{timer}->start($PfsServer::timeout);
	until ($self->is_done)
	{
		last unless PfsServer::pump($self->{handle}, 'pump');
		die 'no answer from psql; so far: ' . substr($self->{out}, -500) . substr($self->{err}, -500)
		  if $self->{timer}->is_expired;
	}
	$self->{gone} = 1 unless $self->{handle}->pumpable;
	my ($out, $err) = ($self->{out}, $self->{err});

	# psql's channels are its own: nothing is lost by emptying them here.
	$self->{out} = '';
	$self->{err} = '';
	$self->{pending} = [];
	s/^=== \d+\n//mg foreach $out, $err;
	chomp $out;
	$self->{last_error} = $err;
	return $out;
}

sub last_error { return $_[0]->{last_error} // ''; }

# Send, wait; dies if there was an error.
sub query
{
	my ($self, $sql) = @_;
	my $out = $self->send($sql)->result;

	die "in a session: $self->{last_error}$sql" if $self->{last_error} =~ /ERROR: |FATAL: |^psql: error/m;
	return $out;
}

# End the session in order.
sub close
{
	my ($self) = @_;

	return if $self->{closed}++;
	$self->{in} .= "\\q\n" if $self->{handle}->pumpable;
	eval { $self->{handle}->finish; };
	$self->{handle}->kill_kill if $@;
}

sub kill
{
	my ($self) = @_;

	return if $self->{closed}++;
	eval { $self->{handle}->kill_kill(grace => 1); };
}

1;
