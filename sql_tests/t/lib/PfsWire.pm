# PfsWire.pm
#	  A client that speaks the protocol's messages one by one, for what no psql of all
#	  versions sends.
#
#	my $c = PfsWire->new($server, user => 'postgres');	# from => '127.0.0.2': by TCP, from there
#	$c->send(Parse => 'name', 'SELECT 1');		# Bind, Execute, Close, Sync the same
#	$c->send('Sync');
#	$c->send_at_once([ Bind => 'name' ], ['Execute'], ['Sync']);
#	my @types = $c->until_ready;				# letters of the answers
#	$c->end;
package PfsWire;

use strict;
use warnings;
use IO::Socket::INET ();
use IO::Socket::UNIX ();

sub new
{
	my ($class, $server, %options) = @_;
	my $socket = defined $options{from}
	  ? IO::Socket::INET->new(PeerAddr => '127.0.0.1', PeerPort => $server->{port}, LocalAddr => $options{from}, Proto => 'tcp')
	  : IO::Socket::UNIX->new(Peer => "$server->{host}/.s.PGSQL.$server->{port}");

	die "no connection: $!" unless $socket;
	my $self = bless { socket => $socket }, $class;
	my $body = pack('N', 196608) . join('', map { "$_\0" } user => $options{user} // 'postgres', database => $options{database} // 'postgres') . "\0";

	$socket->syswrite(pack('N', length($body) + 4) . $body);
	$self->until_ready;
	return $self;
}

my %messages = (
	# name, text
	Parse => sub { 'P', "$_[0]\0$_[1]\0" . pack('n', 0) },
	# name of the statement, values of its parameters
	Bind => sub { my ($name, @values) = @_; 'B', "\0$name\0" . pack('n2', 0, scalar(@values)) . join('', map { pack('N', length($_)) . $_ } @values) . pack('n', 0) },
	# rows, 0: all
	Execute => sub { 'E', "\0" . pack('N', $_[0] // 0) },
	# the same with the name of a portal in front
	BindAs => sub { my ($portal, $name) = @_; 'B', "$portal\0$name\0" . pack('n3', 0, 0, 0) },
	ExecuteOf => sub { 'E', "$_[0]\0" . pack('N', $_[1] // 0) },
	Close => sub { 'C', "S$_[0]\0" },
	Sync => sub { 'S', '' },
	Query => sub { 'Q', "$_[0]\0" },
	Terminate => sub { 'X', '' },
);

sub send
{
	my ($self, @message) = @_;

	$self->send_at_once(\@message);
}

# Several messages in one write: the server does not wait between them.
sub send_at_once
{
	my ($self, @messages) = @_;
	my $bytes = '';

	foreach my $message (@messages)
	{
		my ($kind, @arguments) = @$message;
		my ($letter, $body) = $messages{$kind}->(@arguments);

		$bytes .= $letter . pack('N', length($body) + 4) . $body;
	}
	$self->{socket}->syswrite($bytes);
}

sub _read
{
	my ($self, $bytes) = @_;
	my $text = '';

	while (length($text) < $bytes)
	{
		my $n = $self->{socket}->sysread($text, $bytes - length($text), length($text));

		die 'the connection has ended' unless $n;
	}
	return $text;
}

# Letters of the answers up to ReadyForQuery; the fields of an error in {error}, the values of the last row in {row}.
sub until_ready
{
	my ($self) = @_;
	my @letters;

	delete $self->{error};
	while (1)
	{
		my ($letter, $length) = unpack('aN', $self->_read(5));
		my $body = $self->_read($length - 4);

		push @letters, $letter;
		$self->{error} = $body if $letter eq 'E';
		$self->{row} = [ unpack('x2 (N/a)*', $body) ] if $letter eq 'D';
		($self->{pid}) = unpack('N', $body) if $letter eq 'K';
		return @letters if $letter eq 'Z';
	}
}

# A statement, and its answers.
sub query
{
	my ($self, $sql) = @_;

	$self->send(Query => $sql);
	return $self->until_ready;
}

# The server ends the session a moment later.
sub end
{
	my ($self) = @_;

	$self->send('Terminate');
	$self->{socket}->close;
}

sub pid { return $_[0]->{pid}; }

1;
