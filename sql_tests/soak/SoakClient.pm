# SoakClient.pm
#	  A client that speaks the protocol itself: hundreds of sessions without a psql
#	  each, over both kinds of sockets, with pipelines, and it survives its server.
#
#	my $c = SoakClient->new(host => ..., port => ..., user => ..., db => ..., name => ...);
#	my $r = $c->query('SELECT 1');			# {rows => [['1']], error => SQLSTATE, message => ...}
#	$c->pipeline('p', 3);					# Bind and Execute of statement p, three times, and one Sync
#
# What cannot go on dies with one of two words at its begin: "gone: ", the server has
# ended the connection or refuses one ("gone: let in, " if that was after it had authenticated
# the user and before it was ready); "hang: ", no answer within the time limit.
package SoakClient;

use strict;
use warnings;
use IO::Select ();
use IO::Socket::INET ();
use IO::Socket::UNIX ();

# Far beyond what a busy machine needs: whoever meets it has found a defect.
our $patience = 240;

sub new
{
	my ($class, %options) = @_;
	my $unix = $options{host} =~ m{^/};
	my $socket = $unix ? IO::Socket::UNIX->new(Peer => "$options{host}/.s.PGSQL.$options{port}")
	  : IO::Socket::INET->new(PeerAddr => $options{host}, PeerPort => $options{port}, Proto => 'tcp', Timeout => 30);

	die "gone: $!\n" unless defined $socket;
	binmode $socket;
	my $self = bless { socket => $socket, select => IO::Select->new($socket), in => '' }, $class;
	my %start = (user => $options{user} // 'postgres', database => $options{db} // 'postgres', application_name => $options{name} // 'soak');

	$start{options} = $options{options} if defined $options{options};
	my $body = pack('N', 196608) . join('', map { "$_\0$start{$_}\0" } sort keys %start) . "\0";

	$self->_write(pack('N', length($body) + 4) . $body);
	my $ready = eval {
		my $answer = $self->_answers;

		die "gone: $answer->{error} $answer->{message}\n" if defined $answer->{error};
		1;
	};

	die $self->{let_in} ? $@ =~ s/^gone: /gone: let in, /r : $@ unless $ready;
	return $self;
}

sub pid { return $_[0]->{pid}; }

sub _message
{
	my ($letter, $body) = @_;

	return $letter . pack('N', length($body) + 4) . $body;
}

sub _write
{
	my ($self, $bytes) = @_;

	local $SIG{PIPE} = 'IGNORE';
	while (length $bytes)
	{
		my $n = $self->{socket}->syswrite($bytes);

		next if !defined $n && $!{EINTR};
		die "gone: $!\n" unless $n;
		substr($bytes, 0, $n) = '';
	}
}

# Wait for so many bytes; what came beyond them stays for the next call.
sub _take
{
	my ($self, $bytes) = @_;

	while (length $self->{in} < $bytes)
	{
		my $ready = IO::Select->new($self->{socket})->can_read($patience);

		next if !$ready && $!{EINTR};
		die "hang: no answer within $patience s" . (defined $self->{last} ? ": $self->{last}" : '') . "\n" unless $ready;
		my $n = $self->{socket}->sysread($self->{in}, 65536, length $self->{in});

		next if !defined $n && $!{EINTR};
		die 'gone: ' . (defined $self->{fatal} ? $self->{fatal} : 'closed') . "\n" unless $n;
	}
	return substr($self->{in}, 0, $bytes, '');
}

# All answers up to ReadyForQuery.
sub _answers
{
	my ($self) = @_;
	my %answer = (rows => []);

	while (1)
	{
		my ($letter, $length) = unpack('aN', $self->_take(5));
		my $body = $self->_take($length - 4);

		if ($letter eq 'D')
		{
			my ($fields, $at, @row) = (unpack('n', $body), 2);

			for (1 .. $fields)
			{
				my $size = unpack('l>', substr($body, $at, 4));

				$at += 4;
				push @row, $size < 0 ? undef : substr($body, $at, $size);
				$at += $size if $size > 0;
			}
			push @{ $answer{rows} }, \@row if @{ $answer{rows} } < 100000;
		}
		elsif ($letter eq 'E')
		{
			my %field = map { substr($_, 0, 1) => substr($_, 1) } grep { length } split /\0/, $body;

			$answer{error} //= $field{C};
			$answer{message} //= $field{M};
			$self->{fatal} = "$field{C} $field{M}" if $field{S} =~ /FATAL|PANIC/;
		}
		elsif ($letter eq 'C')
		{
			$answer{done}++;
		}
		elsif ($letter eq 'R')
		{
			die "gone: not trusted\n" unless unpack('N', $body) == 0;
			$self->{let_in} = 1;
		}
		elsif ($letter eq 'K')
		{
			$self->{pid} = unpack('N', $body);
		}
		elsif ($letter eq 'Z')
		{
			return \%answer;
		}
		elsif ($letter eq 'G')
		{
			$self->_write(_message('f', "not now\0"));
		}
	}
}

sub query
{
	my ($self, $sql) = @_;

	$self->{last} = $sql;
	$self->_write(_message('Q', "$sql\0"));
	return $self->_answers;
}

# The session's last one: nothing happens to it between this and its end.
sub last_query
{
	my ($self, $sql) = @_;

	$self->{last} = $sql;
	$self->_write(_message('Q', "$sql\0") . _message('X', ''));
	return $self->_answers;
}

# The first column of the first row.
sub value
{
	my ($self, $sql) = @_;
	my $answer = $self->query($sql);

	die "error: $answer->{error} $answer->{message}: $sql\n" if defined $answer->{error};
	return $answer->{rows}[0][0];
}

# A named statement of the protocol.
sub prepare
{
	my ($self, $name, $sql) = @_;

	$self->{last} = "prepare $sql";
	$self->_write(_message('P', "$name\0$sql\0" . pack('n', 0)) . _message('S', ''));
	return $self->_answers;
}

sub pipeline
{
	my ($self, $name, $times) = @_;

	$self->{last} = "pipeline of $name";
	$self->_write((_message('B', "\0$name\0" . pack('n3', 0, 0, 0)) . _message('E', "\0" . pack('N', 0))) x $times . _message('S', ''));
	return $self->_answers;
}

sub unprepare
{
	my ($self, $name) = @_;

	$self->_write(_message('C', "S$name\0") . _message('S', ''));
	return $self->_answers;
}

# In order, or without a word.
sub close
{
	my ($self, $rude) = @_;

	eval { $self->_write(_message('X', '')) } unless $rude;
	CORE::close($self->{socket});
}

1;
