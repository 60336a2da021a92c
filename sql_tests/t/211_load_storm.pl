# Sessions that come, wait, end, are cut off and terminated, while digests are evicted and tables truncated: over all
# periods the load history has what every single event says.  PFS_LOAD_STORM: for how many seconds, PFS_LOAD_SESSIONS:
# how many at a time.
#
# The session that asks is not instrumented, so the server does nothing before and after.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/lib";
use PfsLoad;
use PfsServer;
use POSIX ();
use Test::More;
use Time::HiRes qw(sleep time);

my $seconds = $ENV{PFS_LOAD_STORM} // 10;
my $sessions = $ENV{PFS_LOAD_SESSIONS} // 12;
my $rate = $ENV{PFS_LOAD_RATE} // 8;		# sessions per second

# As in 210_load_oracle.pl, no snapshots of running transactions.
my $server = PfsServer->new('main', conf => <<"EOT");
autovacuum = off
wal_level = minimal
max_wal_senders = 0
max_connections = 100
max_parallel_workers_per_gather = 0
pfs.digests_size = 150
pfs.events_waits_history_long_size = 400000
pfs.events_statements_history_long_size = 100000
EOT
$server->start;
$server->sql('CREATE EXTENSION pfs');
$server->sql('CREATE ROLE app LOGIN SUPERUSER');
$server->sql('CREATE TABLE queue (id int PRIMARY KEY, n int); INSERT INTO queue SELECT i, 0 FROM generate_series(1, 100) i');
$server->sql(<<'EOT');
CREATE FUNCTION inner_sleep(double precision) RETURNS void LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep($1); END $$;
CREATE FUNCTION outer_sleep(double precision) RETURNS void LANGUAGE plpgsql AS $$
BEGIN PERFORM inner_sleep($1); PERFORM pg_sleep($1); UPDATE queue SET n = n + 1 WHERE id > 97; END $$;
EOT
$server->sql("UPDATE pfs.threads SET instrumented = 'NO', history = 'NO' WHERE thread_id = pfs.thread_id()");

# What a session does; it may be cut off anywhere.
my @scripts = (
	sub { 'SELECT 1' },
	sub { join('; ', map { 'SELECT ' . int(rand(1e6)) . ' AS a' . int(rand(400)) } 1 .. 40) },
	sub { 'SELECT pg_sleep(' . rand(2.5) . ')' },
	sub { 'SELECT outer_sleep(' . rand(1.2) . ')' },
	sub { 'BEGIN; UPDATE queue SET n = n + 1 WHERE id = ' . (1 + int(rand(3))) . '; SELECT pg_sleep(' . rand(1.5) . '); COMMIT' },
	sub { 'SET statement_timeout = 300; UPDATE queue SET n = n - 1 WHERE id = ' . (1 + int(rand(3))) . '; SELECT pg_sleep(1)' },
	sub { 'SELECT pg_terminate_backend(pg_backend_pid())' },
	sub { 'SELECT nothing; SELECT 1 / 0' },
	sub { 'BEGIN; LOCK TABLE queue IN ACCESS EXCLUSIVE MODE; SELECT pg_sleep(' . rand(1) . ')' },
	sub { 'CHECKPOINT' },
	sub { 'CREATE TEMP TABLE leaves AS SELECT 1 AS i' },
);

# A client after the other, each a psql of its own; some of them are killed.
sub client
{
	my ($seed, $till) = @_;

	srand($seed);
	while (time() < $till)
	{
		my $text = $scripts[ rand @scripts ]->();
		my $pid = fork() // die "fork: $!";

		if ($pid == 0)
		{
			open STDIN, '<', '/dev/null';
			open STDOUT, '>', '/dev/null';
			open STDERR, '>', '/dev/null';
			no warnings 'exec';
			exec PfsServer::bindir() . '/psql', '-X', '-q', '-d', $server->connstr . ' user=app', '-c', $text;
			POSIX::_exit(1);
		}
		if (rand() < 0.1)
		{
			sleep(rand(0.3));
			kill 'KILL', $pid;
		}
		waitpid $pid, 0;
		sleep(rand(2 * $sessions / $rate));
	}
	POSIX::_exit(0);
}

load_watch($server);
my $begin = load_idle($server);
my $till = time() + $seconds;
my @clients;
for my $i (1 .. $sessions)
{
	my $pid = fork() // die "fork: $!";

	client($i * 7919 + ($ENV{PFS_LOAD_SEED} // 0), $till) if $pid == 0;
	push @clients, $pid;
}
my $ended = 0;
my @truncate = map { "TRUNCATE pfs.$_" } qw(events_waits_summary_by_digest events_statements_summary_by_digest
  events_waits_summary_global_by_event_name accounts events_waits_summary_by_account_by_event_name events_statements_histogram_by_digest);
for (my $round = 0; time() < $till; $round++)
{
	$ended += $server->sql("SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE usename = 'app' AND random() < 0.2");
	$server->sql($truncate[ $round / 3 % @truncate ]) if $round % 3 == 0;
	load_collect($server) if $round % 5 == 0;
	sleep(0.3);
}
waitpid $_, 0 foreach @clients;
# Sessions whose clients were killed, and a checkpoint that somebody began who was terminated, go on for a while.
$server->poll("SELECT count(*) = 0 FROM pg_stat_activity WHERE usename = 'app'");
$server->sql('CHECKPOINT');
load_settle($server);
my $end = load_idle($server);
load_collect($server);
cmp_ok($ended, '>', 0, "$ended sessions were terminated");
load_events($server, 'storm', $begin, $end, watched => 1);
load_no_losses($server, 'storm') or diag('the long histories are too short for this');
load_compare_all($server, 'storm');
is($server->sql("SELECT variable_value FROM pfs.status WHERE variable_name = 'pfs_load_history_lost'"), 0, 'every period was recorded');
diag($server->sql("SELECT string_agg(s, ', ') FROM (SELECT kind || ' ' || count(*) AS s FROM storm GROUP BY kind) s"));
if ($ENV{PFS_LOAD_DEBUG})
{
	diag($server->sql(q{SELECT * FROM (SELECT type, event_name, sum(count_star) AS c, sum(sum_timer_wait) AS t, count(*) AS n FROM storm_rows WHERE event_name IS NOT NULL GROUP BY 1, 2) r
	FULL JOIN (SELECT CASE WHEN inside THEN 'FOREGROUND' ELSE 'BACKGROUND' END AS type, event_name, count(*) AS c, sum(timer_wait) AS t FROM storm WHERE kind = 'wait' GROUP BY 1, 2) e USING (type, event_name)
	WHERE abs(r.t - e.t) > r.n + e.c OR r.c <> e.c}));
}
done_testing();
