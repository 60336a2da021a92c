# A session that has had more events than 32 bits count: what is nested in nothing, or in something that began
# very long ago, is in the histories like any other.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/lib";
use PfsServer;
use Test::More;

my $stop = test_module('pfs_test_stop');
my $server = PfsServer->new('main', preload => "$stop, pfs", conf => 'autovacuum = off');
$server->start;
$server->sql('CREATE EXTENSION pfs');
$server->sql(test_functions('pfs_test_stop'));

# Where a thread's record has the number of its last event.
my $last_event_id = 8;

my $session = $server->session;
my $thread = $session->thread_id;

sub total
{
	my ($event) = @_;

	return $server->sql("SELECT count_star FROM pfs.events_waits_summary_by_thread_by_event_name WHERE thread_id = $thread AND event_name = '$event'");
}

# A hundred statements, most of which find the session idle (the next one may have come when it looks): what the
# totals count of their waits is in the long history, which holds all of it.
sub check
{
	my ($when) = @_;
	my %before;
	my $from;

	$session->query('SELECT 1');
	$server->poll_idle($thread);
	$from = $server->sql("SELECT max(event_id) FROM pfs.events_waits_history WHERE thread_id = $thread");
	%before = map { $_ => total($_) } 'idle', 'wait/io/socket/ClientWrite';
	$session->query("SELECT $_") for 1 .. 100;
	$server->poll_idle($thread);
	for my $event (sort keys %before)
	{
		my $counted = total($event) - $before{$event};

		cmp_ok($counted, '>=', $event eq 'idle' ? 1 : 100, "$when: $event is counted");
		is($server->sql("SELECT count(*) FROM pfs.events_waits_history_long WHERE thread_id = $thread AND event_name = '$event' AND event_id > $from"),
			$counted, '... and all of it is in the history');
	}
	return $from;
}

check('a young session');
$session->query("SELECT raise_word('pfs_my_thread', $last_event_id, 1::bigint << 32)");
cmp_ok(check('an old one'), '>', 2**32, 'its events have numbers above 32 bits');

# In a statement that began before, all waits are too far from it.
$session->query("SELECT raise_word('pfs_my_thread', $last_event_id, 1::bigint << 32), pg_stat_file('PG_VERSION'), pg_sleep(0.01)");
$server->poll_idle($thread);
is( $server->sql(<<"EOT"), 't', 'what is nested in an event of very long ago names it');
SELECT bool_and(w.nesting_event_id = s.event_id) AND count(*) >= 2
FROM pfs.events_waits_history_long w, pfs.events_statements_history s
WHERE w.thread_id = $thread AND s.thread_id = $thread AND s.sql_text ~ 'pg_sleep'
	AND w.event_name IN ('wait/io/file/FileStat', 'wait/activity/PgSleep', 'idle/PgSleep', 'wait/timeout/PgSleep', 'wait/io/socket/ClientWrite')
	AND w.event_id > s.event_id + (1::bigint << 32) AND w.timer_start < s.timer_end
EOT

done_testing();
