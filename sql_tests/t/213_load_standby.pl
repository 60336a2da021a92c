# A standby has a load history of its own: it begins with nothing, records while it follows, and goes on after its promotion.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/lib";
use PfsServer;
use Test::More;

my $server = PfsServer->new('main', conf => "pfs.save_interval = 0\n");

# A statement waits in a session of its own for so long; until the history has it in this resolution.
my $waits = q{FROM pfs.load_history WHERE resolution = '1 s' AND event_name = 'wait/timeout/PgSleep' AND type = 'FOREGROUND'};

sub is_recorded
{
	my ($of, $name) = @_;
	my $since = $of->sql('SELECT clock_timestamp()');
	my $session = $of->session;
	my $thread = $session->thread_id;

	$session->send('SELECT pg_sleep(1.5)');
	$session->result;
	# The wait begins some time behind the function; where somebody sets the latch, another one follows.
	my ($n, $time) = split /\|/, $of->sql("SELECT count(*), sum(timer_wait) FROM pfs.events_waits_history_long WHERE thread_id = $thread AND event_name = 'wait/timeout/PgSleep'");
	$session->close;
	return ok($n > 0 && $of->poll("SELECT sum(count_star) = $n AND abs(sum(sum_timer_wait) - $time) <= count(*) + $n $waits AND period_end > '$since'"), $name);
}

$server->start;
$server->sql('CREATE EXTENSION pfs');
is_recorded($server, 'the primary records');
is($server->sql("SELECT count(*) > 0 FROM pfs.load_history"), 't', 'and has a history');
# What it has is in its file, too.
$server->restart;
cmp_ok($server->sql("SELECT count(*) $waits"), '>', 0, 'also over a restart');
my $began = $server->sql('SELECT clock_timestamp()');

my $backup = PfsServer::folder() . '/backup';
run_ok($server->bindir . '/pg_basebackup', '-D', $backup, '-d', $server->connstr, '-c', 'fast', '-R', '-X', 'stream', '--no-sync');
is_deeply([ glob "$backup/pg_stat_tmp/*" ], [], 'the backup has no file of it');
my $standby = PfsServer->new('standby', from => $backup, conf => "hot_standby = on\n");
$standby->start;
is($standby->sql('SELECT pg_is_in_recovery()'), 't', 'a standby');
is($standby->sql("SELECT count(*) FROM pfs.load_history WHERE period_start < '$began'"), 0, 'begins with an empty history');
ok($standby->poll(q{SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'pfs recorder'}, 1), 'it has its recorder');
is_recorded($standby, 'which records');
is($server->sql("SELECT count(*) $waits AND period_start >= '$began'"), 0, 'and the primary knows nothing of it');

# ---- promotion ----

my $before = $standby->sql('SELECT max(period_end) FROM pfs.load_history');
my $pid = $standby->sql(q{SELECT pid FROM pg_stat_activity WHERE backend_type = 'pfs recorder'});
$standby->promote;
ok($standby->poll('SELECT pg_is_in_recovery()', 'f'), 'it is promoted');
is_recorded($standby, 'and records');
is($standby->sql(q{SELECT pid FROM pg_stat_activity WHERE backend_type = 'pfs recorder'}), $pid, 'by the same process');
is($standby->sql("SELECT count(DISTINCT period_start) > 0 FROM pfs.load_history WHERE resolution = '1 s' AND period_end <= '$before'"), 't',
	'what it had before is there');
is($standby->sql(q{SELECT bool_and(period_end = next) FROM (SELECT DISTINCT period_end, min(period_start) OVER (ORDER BY period_start
	RANGE BETWEEN '1 us' FOLLOWING AND UNBOUNDED FOLLOWING) AS next FROM pfs.load_history WHERE resolution = '1 s') p WHERE next IS NOT NULL}),
	't', 'without a hole');
is($standby->sql("SELECT variable_value FROM pfs.status WHERE variable_name = 'pfs_load_history_lost'"), 0, 'nothing was missed');
my $some = $standby->sql("SELECT sum(count_star) $waits");
$standby->restart;
is($standby->sql("SELECT sum(count_star) $waits"), $some, 'it survives a restart there');

done_testing();
