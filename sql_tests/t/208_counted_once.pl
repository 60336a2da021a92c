# A statement is counted once, in a place that its digest's table and those of its thread both add up.  Each is
# truncated by itself; sessions end; places are given to other digests; and each table has what came behind its own
# truncation.  What happens is drawn at random, and a model says what each table has to have.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/lib";
use PfsModel;
use PfsServer;
use Test::More;

my $steps = 220;
my $shapes = 24;                                      # more than a process has places for

my $server = PfsServer->new('main', conf => "autovacuum = off\ncompute_query_id = on");
$server->start;
$server->sql('CREATE EXTENSION pfs; CREATE ROLE counted LOGIN');

my %summaries = map { $_ => "pfs.events_statements_summary_by_${_}_by_event_name" } qw(thread account user host);

my %total = (account => 0, user => 0);
my (%digest, %histogram);                             # by shape

my $model = PfsModel->new($server, idle => sub { $server->poll_idle($_[0]) }, forget => \&forget_all);

sub forget_all
{
	$server->sql('TRUNCATE pfs.events_statements_summary_global_by_event_name, pfs.events_statements_summary_by_digest');
	$_->{count} = 0 for $model->each_thread;
	%total = (account => 0, user => 0);
	%digest = %histogram = ();
}

sub text_of { return 'SELECT ' . join(', ', (1) x $_[0]); }

sub run
{
	my ($thread, $shape, $n) = @_;
	my $of = $model->of_thread($thread);

	$of->{session}->query(text_of($shape)) for 1 .. $n;
	$server->poll_idle($thread);
	$of->{count} += $n;
	$total{$_} += $n for keys %total;
	$digest{$shape} += $n;
	$histogram{$shape} += $n;
}

sub truncate_level
{
	my ($level) = @_;

	$server->sql($level eq 'global' ? 'TRUNCATE pfs.events_statements_summary_global_by_event_name' : "TRUNCATE $summaries{$level}");
	for my $emptied (@{ $PfsModel::emptied{$level} })
	{
		if ($emptied eq 'thread') { $_->{count} = 0 for $model->each_thread; }
		else { $total{$emptied} = 0; }
	}
}

sub check
{
	my ($when) = @_;
	my $select = "event_name = 'statement/sql/select' AND count_star > 0";
	my @wrong;
	my %rows;

	for my $thread ($model->threads)
	{
		my $expected = $model->of_thread($thread)->{count};
		my $found = $server->sql("SELECT coalesce(sum(count_star), 0) FROM $summaries{thread} WHERE thread_id = $thread AND $select");

		push @wrong, "thread: $found, not $expected" if $found != $expected;
	}
	for my $level (qw(account user))
	{
		my $found = $server->sql("SELECT coalesce(sum(count_star), 0) FROM $summaries{$level} WHERE user_name = 'counted' AND $select");

		push @wrong, "$level: $found, not $total{$level}" if $found != $total{$level};
	}
	for my $row (split /\n/, $server->sql(<<'EOT'))
SELECT length(d.digest_text) - length(replace(d.digest_text, '$', '')), d.count_star, coalesce(h.n, 0)
FROM pfs.events_statements_summary_by_digest d
LEFT JOIN (SELECT query_id, user_name, sum(count_bucket) AS n FROM pfs.events_statements_histogram_by_digest GROUP BY 1, 2) h
	USING (query_id, user_name)
WHERE d.user_name = 'counted' AND d.digest_text ~ '^SELECT \$'
EOT
	{
		my ($shape, $count, $in_histogram) = split /\|/, $row;

		$rows{$shape} = [ $count, $in_histogram ];
	}
	for my $shape (1 .. $shapes)
	{
		my $expected = join ' ', $digest{$shape} // 0, $histogram{$shape} // 0;
		my $found = join ' ', @{ $rows{$shape} // [ 0, 0 ] };

		push @wrong, "digest of $shape columns: $found, not $expected" if $found ne $expected;
	}
	is("@wrong", '', $when) or return 0;
	return 1;
}

$model->begin_session for 1 .. 3;
$model->go(
	$steps,
	\&check,
	[   60,
		sub {
			my $n = rand(20) < 1 ? 300 : 1 + int(rand(5)); # 300 do not fit a bucket of 8 bits

			run(PfsModel::any($model->threads), 1 + int(rand($shapes)), $n);
			return "$n statements";
		}
	],
	[   25,
		sub {
			my $level = PfsModel::any(sort keys %PfsModel::emptied);

			truncate_level($level);
			return "TRUNCATE by $level";
		}
	],
	[   5,
		sub {
			$server->sql('TRUNCATE pfs.events_statements_summary_by_digest');
			%digest = %histogram = ();
			return 'TRUNCATE of digests';
		}
	],
	[   5,
		sub {
			$server->sql('TRUNCATE pfs.events_statements_histogram_by_digest');
			%histogram = ();
			return 'TRUNCATE of their histograms';
		}
	]);

# The shortest and the longest time of each are of its own period, too.
forget_all();
my ($thread) = $model->threads;
my $session = $model->of_thread($thread)->{session};
my $times = sub {
	my ($table, $where) = @_;

	return $server->sql("SELECT max_timer_wait > 200000000000, min_timer_wait > 200000000000, count_star FROM pfs.$table WHERE $where");
};
my $of_thread = "thread_id = $thread AND event_name = 'statement/sql/select'";
my $of_digest = "user_name = 'counted' AND digest_text ~ 'pg_sleep'";

for my $seconds ('0.3', '0.0')
{
	$session->query("SELECT pg_sleep($seconds)");
	$server->poll_idle($thread);
	is($times->('events_statements_summary_by_thread_by_event_name', $of_thread), $seconds > 0 ? 't|t|1' : 'f|f|1', 'times of a thread');
	$server->sql("TRUNCATE $summaries{thread}");
}
is($times->('events_statements_summary_by_digest', $of_digest), 't|f|2', '... and of its digest, which was not truncated');
$session->query('SELECT pg_sleep(0.3)');
$server->poll_idle($thread);
$server->sql('TRUNCATE pfs.events_statements_summary_by_digest');
$session->query('SELECT pg_sleep(0.0)');
$server->poll_idle($thread);
is($times->('events_statements_summary_by_digest', $of_digest), 'f|f|1', 'times of a digest');
is($times->('events_statements_summary_by_thread_by_event_name', $of_thread), 't|f|2', '... and of the thread, which was not truncated');

done_testing();
