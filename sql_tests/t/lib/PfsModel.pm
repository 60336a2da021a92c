# Sessions that count, a model of what each table has to have of that, and steps that are drawn at random.
#
#   my $model = PfsModel->new($server, idle => sub { ... }, forget => sub { ... });
#   $model->begin_session for 1 .. 3;
#   $model->go(160, \&check, [ 60, sub { ...; 'what was done' } ], [ 35, sub { ... } ]);
#
# Each session is of user `counted`; what belongs to it is a hash, by thread, in which is `session`.  idle: waits until
# a thread has counted all that it was told to do.  forget: empties all tables, and the model, as a session's own first
# statements are not its.

package PfsModel;

use strict;
use warnings;

# By which level a table is, and which levels a truncation of it empties.
our %emptied = (
	thread => ['thread'],
	account => [qw(thread account)],
	user => [qw(thread account user)],
	host => [qw(thread account)],
	global => [qw(thread account user global)]);

sub new
{
	my ($class, $server, %of) = @_;

	$of{seed} = $ENV{PFS_TEST_SEED} // time;
	Test::More::diag("seed $of{seed}");
	srand($of{seed});
	return bless { server => $server, sessions => {}, %of }, $class;
}

sub threads { return sort keys %{ $_[0]{sessions} }; }

sub of_thread { return $_[0]{sessions}{ $_[1] }; }

sub each_thread { return values %{ $_[0]{sessions} }; }

# One of them.
sub any
{
	my (@of) = @_;

	return $of[ rand @of ];
}

sub begin_session
{
	my ($self) = @_;
	my $session = $self->{server}->session(user => 'counted');
	my $thread = $session->thread_id;

	$self->{idle}->($thread);
	$self->{sessions}{$thread} = { session => $session };
	$self->{forget}->();
}

# What it has counted goes to the levels above it.
sub end_session
{
	my ($self) = @_;
	my $thread = any($self->threads);

	$self->of_thread($thread)->{session}->close;
	$self->{server}->poll("SELECT count(*) FROM pfs.threads WHERE thread_id = $thread", 0);
	delete $self->{sessions}{$thread};
	return 'a session ends' if $self->threads >= 2;
	$self->begin_session;
	return 'a session begins';
}

# So many steps: each is drawn by its share of 100, the rest ends a session.  The first one is checked now and then, the
# others each time; the first check that fails is the last one.
sub go
{
	my ($self, $steps, $check, @shares) = @_;

	for my $step (1 .. $steps)
	{
		my $draw = int(rand(100));
		my $i = 0;

		$draw -= $shares[ $i++ ][0] while $i < @shares && $draw >= $shares[$i][0];
		my $what = $i < @shares ? $shares[$i][1]->() : $self->end_session;

		last if ($step % 5 == 0 || $i > 0) && !$check->("step $step: $what");
	}
}

1;
