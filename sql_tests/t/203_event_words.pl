# Wait events of the server have the calls that it announces, and no others: numbers of WALSync against the
# server's own, and who has the calls that it does not announce.  tables_instruments has the words.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/lib";
use PfsServer;
use Test::More;

my $server = PfsServer->new('main', conf => <<'EOT');
fsync = on
wal_sync_method = fdatasync
autovacuum = off
max_wal_size = 64MB
min_wal_size = 64MB
EOT
$server->start;
$server->sql('CREATE EXTENSION pfs');

# The instrument of a wait event, whose letters differ between versions.
sub of_event
{
	my ($event) = @_;

	return "(SELECT coalesce(sum(count_star), 0) FROM pfs.events_waits_summary_global_by_event_name WHERE lower(event_name) = lower('wait/io/file/$event'))";
}

if (PfsServer::version() >= 17)
{
	is($server->sql(q{SELECT string_agg(i.name, ' ') FROM pfs.setup_instruments i JOIN pg_wait_events e ON lower(e.name) = lower(split_part(i.name, '/', 4))
		WHERE i.wait_event IS NULL AND i.name NOT LIKE 'wait/io/table/%'}), '', 'no other word is in the list of the server');
}

# ---- segments that are renamed, which durable_rename() makes two fsync() of ----

my $syncs = PfsServer::version() >= 18
  ? q{(SELECT sum(fsyncs) FROM pg_stat_io WHERE object = 'wal' AND context = 'normal')}
  : q{(SELECT wal_sync FROM pg_stat_wal)};

# After a crash both count from nothing.
$server->stop('immediate');
$server->start;
my $differ = "SELECT $syncs - @{[ of_event('WALSync') ]}";
my $renames = "SELECT @{[ of_event('WALRename') ]}";
my $n = 0;

$server->sql('CREATE TABLE t AS SELECT 0 AS a');
while ($server->sql($renames) < 4 && $n++ < 30)
{
	$server->sql('INSERT INTO t VALUES (0); SELECT pg_switch_wal()') foreach 1 .. 3;
	$server->sql('CHECKPOINT');
}
cmp_ok($server->sql($renames), '>=', 4, 'segments were renamed');
cmp_ok($server->sql("SELECT @{[ of_event('WALOtherSync') ]}"), '>=', 4, 'what durable_rename() syncs is not announced');
$server->sql('SELECT pg_stat_force_next_flush()');
ok($server->poll($differ, 0), 'WALSync are the syncs that the server counts');

# ---- files that copydir() copies ----

my $session = $server->session;
my $of_session = 'SELECT coalesce(sum(count_star), 0) FROM pfs.events_waits_summary_by_thread_by_event_name WHERE thread_id = '
  . $session->thread_id . ' AND event_name =';

$session->query('CREATE DATABASE copy STRATEGY file_copy');
is($server->sql("$of_session 'wait/io/file/DataFileSync'"), 0, 'syncs of copydir() are not of DataFileSync');
cmp_ok($server->sql("$of_session 'wait/io/file/DataFileOtherSync'"), '>', 0, 'but have a word of their own');

# ---- a sleep that the server does not announce ----

$session->query('SET commit_delay = 1000; SET commit_siblings = 0');
$session->query('INSERT INTO t VALUES (1)');
is($server->sql("$of_session 'wait/timeout/PgSleep'"), 0, 'commit_delay is no pg_sleep()');
# Later versions have a wait event for it.
is($server->sql($of_session =~ s/ =$//r . " IN ('wait/timeout/OtherSleep', 'wait/timeout/CommitDelay')"), 1, 'but a sleep');
is($server->sql(q{SELECT properties FROM pfs.setup_instruments WHERE name = 'wait/timeout/OtherSleep'}), '', 'that waits for a resource');

done_testing();
