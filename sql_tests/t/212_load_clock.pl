# The recorder when time does not pass as it expects: its process is stopped, or ended, and the wall clock is set.  What happens
# meanwhile is in a longer period, or in a hole that is counted, and no period is of a time that has not passed.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/lib";
use PfsServer;
use Test::More;

# A clock that can be set: what a file says is added to it, in seconds.
my $offset = PfsServer::folder() . '/offset';

sub set_clock
{
	my ($seconds) = @_;

	open my $file, -e $offset ? '+<:raw' : '>:raw', $offset or die "$offset: $!";
	syswrite $file, pack('q', $seconds);
	close $file;
}

set_clock(0);
my $clock = PfsServer::compile('clock', <<'EOT');
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>

int
gettimeofday(struct timeval *restrict tv, void *restrict tz)
{
	static int	(*real) (struct timeval *restrict, void *restrict);
	static volatile int64_t *offset;
	int			result;

	if (real == NULL)
	{
		real = dlsym(RTLD_NEXT, "gettimeofday");
		offset = mmap(NULL, 8, PROT_READ, MAP_SHARED, open(getenv("TEST_CLOCK"), O_RDONLY | O_CLOEXEC), 0);
	}
	result = real(tv, tz);
	tv->tv_sec += *offset;
	return result;
}
EOT

my $server = PfsServer->new('main', conf => "autovacuum = off\n");
$server->start(env => { LD_PRELOAD => $clock, TEST_CLOCK => $offset });
$server->sql('CREATE EXTENSION pfs');

my $recorder = q{SELECT pid FROM pg_stat_activity WHERE backend_type = 'pfs recorder'};
my $seconds = q{FROM pfs.load_history WHERE resolution = '1 s'};
my $sleep = q{SELECT coalesce(sum(sum_timer_wait), 0) FROM pfs.load_history WHERE resolution = '1 s' AND event_name = 'wait/timeout/PgSleep'};
my $all_of_it = q{SELECT sum_timer_wait FROM pfs.events_waits_summary_global_by_event_name WHERE event_name = 'wait/timeout/PgSleep'};

sub status { return $server->sql("SELECT variable_value FROM pfs.status WHERE variable_name = '$_[0]'"); }

sub now { return $server->sql('SELECT clock_timestamp()'); }

# Until two more periods are there.  Those before the clock was set back are later ones.
sub next_periods
{
	my $since = now();

	return $server->poll("SELECT count(DISTINCT period_start) >= 2 $seconds"
		  . " AND period_start BETWEEN '$since' AND '$since'::timestamptz + interval '20 min'");
}

# The history has all of the sleeps, but for a picosecond in each row.
sub has_all
{
	my ($name) = @_;
	my ($history, $summary, $rows) = split /\|/, $server->sql("SELECT ($sleep), ($all_of_it), (SELECT count(*) $seconds AND event_name = 'wait/timeout/PgSleep')");

	local $Test::Builder::Level = $Test::Builder::Level + 1;
	ok($rows > 0 && abs($history - $summary) <= $rows + 1, $name) or diag("history: $history in $rows rows, summary: $summary");
}

$server->poll("SELECT count(*) > 0 $seconds");
my $sleeper = $server->session;
my $pid = $server->sql($recorder);

# ---- stopped ----

my $late = status('pfs_load_history_late');
kill 'STOP', $pid;
my $stopped = now();
$sleeper->send('SELECT pg_sleep(3.2)');
$sleeper->result;
my $continued = now();
kill 'CONT', $pid;
next_periods();
is($server->sql("SELECT count(DISTINCT period_start) $seconds AND period_start <= '$stopped' AND period_end >= '$continued'"), 1,
	'a recorder that is stopped makes one longer period');
cmp_ok(status('pfs_load_history_late'), '>', $late, 'and says so');
is(status('pfs_load_history_lost'), 0, 'no period is missing');
# Which is the timer's; where the wall clock's is another one by more than 0.1 s, that is taken for one that was set.
is($server->sql("SELECT bool_and(abs(active_sessions * extract(epoch FROM period_end - period_start) - sum_timer_wait / 1e12) < 0.2) $seconds AND event_name = 'wait/timeout/PgSleep'"),
	't', 'active sessions are by the length of the period');
has_all('all that happened is in it');

# ---- ended ----

$server->sql("SELECT pg_terminate_backend($pid)");
ok($server->poll("SELECT coalesce(($recorder), 0) NOT IN (0, $pid)"), 'a recorder that was ended comes back');
next_periods();
my $missing = $server->sql("SELECT round(extract(epoch FROM max(hole))) FROM (SELECT period_start - lag(period_end) OVER (ORDER BY period_start) AS hole"
	  . " FROM (SELECT DISTINCT period_start, period_end $seconds) p) h");
my $lost = status('pfs_load_history_lost');
cmp_ok($lost, '>', 0, 'the periods that it has missed are counted');
cmp_ok(abs($lost - $missing), '<=', 1, 'as many as the hole is long') or diag("$lost lost, $missing missing");

# ---- the clock is set ----

foreach my $way (['forward', 7200], ['back', -3600])
{
	my $before = now();

	# The sleep is over all of it, and goes by the clock itself.
	$server->sql('TRUNCATE pfs.load_history; TRUNCATE pfs.events_waits_summary_global_by_event_name');
	next_periods();
	$sleeper->send('SELECT pg_sleep(60)');
	$server->poll("SELECT count(*) > 0 $seconds AND event_name = 'wait/timeout/PgSleep'");
	set_clock($way->[1]);
	ok(next_periods(), "a clock that is set $way->[0]: it goes on by the new time");
	is($server->sql("SELECT count(*) FROM pfs.load_history WHERE period_end - period_start > interval '20 min' OR period_end <= period_start"), 0,
		"$way->[0]: no period is of the time between");
	is($server->sql("SELECT count(*) $seconds AND active_sessions > 1.2 AND event_name = 'wait/timeout/PgSleep'"), 0, "$way->[0]: nor is one too full");
	$server->sql("SELECT pg_cancel_backend($sleeper->{pid})");
	$sleeper->result;
	next_periods();
	has_all("$way->[0]: all of the wait is there");
	set_clock(0);
	$server->poll("SELECT clock_timestamp() < '$before'::timestamptz + interval '30 min'");
}
is(status('pfs_load_history_lost'), $lost, 'no period is lost by a clock');
done_testing();
