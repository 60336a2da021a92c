# What survives a restart: digests with their numbers, texts, histograms and waits.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/lib";
use PfsServer;
use Test::More;

# Every kind of number, exactly; times to the clock's tick, which is the same after a start but for
# what its frequency is measured to.
my $summary = q{
SELECT database_name, user_name, query_id, digest_text, count_star, count_timed, sum_errors, sum_rows_affected,
       sum_rows_sent, sum_shared_blks_hit, sum_shared_blks_read, sum_wal_records, sum_wal_bytes, sum_rows_examined,
       sum_no_index_used, query_sample_text, first_seen, last_seen, query_sample_seen
  FROM pfs.events_statements_summary_by_digest%s ORDER BY database_name, user_name, query_id};
my $times = q{
SELECT query_id, sum_timer_wait, min_timer_wait, max_timer_wait, sum_plan_time, sum_exec_time, sum_lock_time,
       query_sample_timer_wait, quantile_95, quantile_999
  FROM pfs.events_statements_summary_by_digest%s ORDER BY database_name, user_name, query_id};
my $waits = q{
SELECT database_name, user_name, query_id, event_name, count_star, count_timed
  FROM pfs.events_waits_summary_by_digest%s ORDER BY database_name, user_name, query_id, event_name};
my $rows = q{
SELECT database_name, user_name, query_id, object_schema, object_name, index_name, count_star, count_timed, count_fetch, count_insert, count_update,
       count_delete, sum_timer_wait > 0
  FROM pfs.table_io_waits_summary_by_digest%s ORDER BY 1, 2, 3, 5, 6};
my $row_times = q{
SELECT sum_timer_wait
  FROM pfs.table_io_waits_summary_by_digest%s ORDER BY database_name, user_name, query_id, object_name, index_name};
my $histogram = q{
SELECT database_name, user_name, query_id, bucket_number, count_bucket
  FROM pfs.events_statements_histogram_by_digest%s ORDER BY database_name, user_name, query_id, bucket_number};

# Not what these queries themselves count.
my $server = PfsServer->new('main', conf => <<'EOT');
autovacuum = off
restart_after_crash = on
pfs.save_interval = 0
pfs.instruments = 'wait/io/table/handler=ON'
EOT
my $file = "$server->{data}/pg_stat_tmp/pfs.save";
my $set_up = <<'EOT';
CREATE EXTENSION pfs;
CREATE TABLE kept(table_name text, line int, row text);
EOT

# What the tables say of all statements but those of this test's own database.
sub shown
{
	my ($query) = @_;

	return $server->sql(sprintf($query, q{ WHERE database_name = 'work'}));
}

sub status { return $server->sql("SELECT variable_value FROM pfs.status WHERE variable_name = '$_[0]'"); }

sub since { return $server->sql("SELECT pfs.reset_time('$_[0]')"); }

# Same texts and numbers, times within one part in 10,000 or a microsecond.
sub same_times
{
	my ($before, $after, $name) = @_;
	my @before = split /[|\n]/, $before;
	my @after = split /[|\n]/, $after;
	my @wrong = grep { $before[$_] ne $after[$_] && abs($before[$_] - $after[$_]) > 1e6 + $before[$_] / 1e4 } 0 .. $#before;

	ok(@before > 5 && @before == @after && !@wrong, $name) or diag("before: $before\nafter: $after");
}

$server->start;
$server->sql($set_up);
$server->sql(test_functions('pfs_test_save'));
$server->sql('CREATE DATABASE work');
$server->sql('CREATE ROLE clerk SUPERUSER LOGIN');
is(status('pfs_saved_at'), '', 'nothing has been saved');
my $started = status('pfs_start_time');
is(status('pfs_totals_since'), $started, 'totals are since the start');

sub load
{
	my ($user) = @_;
	my ($status, $out, $err) = $server->psql(<<'EOT', db => 'work', user => $user);
CREATE TABLE IF NOT EXISTS t AS SELECT g AS id FROM generate_series(1, 1000) g;
CREATE TABLE IF NOT EXISTS empty (id int PRIMARY KEY);
SET enable_seqscan = off;
SELECT id FROM empty WHERE id = 1;
RESET enable_seqscan;
SELECT count(*) FROM t WHERE id > 17;
SELECT count(*) FROM t WHERE id > 18;
SELECT 'ö', 1 / (SELECT count(*) FROM t);
INSERT INTO t SELECT generate_series(1, 500);
SELECT pg_sleep(0.1);
SET client_min_messages = 'error';
DO $do$ BEGIN FOR i IN 1 .. 20 LOOP PERFORM id FROM t WHERE id = i; END LOOP; END $do$;
CHECKPOINT;
EOT
	is($status, 0, "a load of $user") or diag($err);
}

load($_) foreach ('postgres', 'clerk');
$server->psql('SELECT 1/0', db => 'work');
$server->psql(q{CREATE ROLE teller PASSWORD 'hocuspocus'}, db => 'work');
$server->psql('DROP ROLE teller', db => 'work');

# ---- clean stop ----

my %before = (summary => shown($summary), times => shown($times), waits => shown($waits), rows => shown($rows), row_times => shown($row_times), histogram => shown($histogram));

like($before{summary}, qr/work\|clerk\|.*pg_sleep/, 'there is something to keep');
like($before{rows}, qr/^work\|clerk\|.*\|500\|500\|0\|500\|0\|0\|t$/m, 'rows of tables');
like($before{rows}, qr/^work\|clerk\|[^|]*\|\|\d+\|\d+\|0\|0\|0\|0\|0\|0\|t$/m, 'also time that found none');
like($before{waits}, qr/PgSleep\|([1-9])\|\1$/m, 'and waits');
$server->stop;
is((stat $file)[2] & 0777, 0600, 'the file is its owner\'s alone');
{
	open my $in, '<:raw', $file or die "$file: $!";
	local $/;
	my $bytes = <$in>;

	like($bytes, qr/CREATE ROLE teller PASSWORD <hidden>/, 'it has texts');
	unlike($bytes, qr/hocuspocus/, 'without secrets');
}
is_deeply([ glob "$file*" ], [$file], 'nothing else is left in the folder');
$server->mark_log;
$server->start;
is(shown($summary), $before{summary}, 'digests go on');
same_times($before{times}, shown($times), 'with their times');
is(shown($waits), $before{waits}, 'with their waits');
is(shown($rows), $before{rows}, 'with their rows of tables');
same_times($before{row_times}, shown($row_times), 'and the times of these');
is(shown($histogram), $before{histogram}, 'with their histograms');
unlike($server->log_text, qr/pfs\.save/, 'and the log says nothing');
isnt(status('pfs_start_time'), $started, 'the start is another one');
is(status('pfs_totals_since'), $started, 'totals are since the first start');
is(since($_), $server->sql("SELECT '$started'::timestamptz"), "so is $_")
  foreach ('events_statements_summary_by_digest', 'events_waits_summary_by_digest', 'events_statements_histogram_by_digest');
is($server->sql("SELECT pfs.reset_time('events_waits_summary_global_by_event_name') = (SELECT variable_value::timestamptz FROM pfs.status WHERE variable_name = 'pfs_start_time')"),
	't', 'other tables begin anew');
is($server->sql("SELECT variable_value::timestamptz < now() FROM pfs.status WHERE variable_name = 'pfs_saved_at'"), 't', 'the time of the save');
ok(-f $file, 'the file stays');
is($server->sql("SELECT count(*) FROM pfs.status WHERE variable_name LIKE '%lost' AND variable_value <> '0'"), 0, 'nothing was lost');

# ---- counting goes on ----

my $sleeps = q{SELECT sum(count_star), sum(sum_timer_wait) FROM pfs.events_waits_summary_by_digest WHERE database_name = 'work' AND event_name = 'wait/timeout/PgSleep'};
my ($old_waits, $old_time) = split /\|/, $server->sql($sleeps);
load('clerk');
is($server->sql(<<'EOT'), '3|t|t', 'new statements are added to the digest of old ones');
SELECT sum(count_star), bool_and(last_seen > (SELECT variable_value::timestamptz FROM pfs.status WHERE variable_name = 'pfs_start_time') OR user_name <> 'clerk'),
       bool_and(first_seen < (SELECT variable_value::timestamptz FROM pfs.status WHERE variable_name = 'pfs_start_time'))
  FROM pfs.events_statements_summary_by_digest WHERE database_name = 'work' AND digest_text LIKE 'SELECT pg_sleep%'
EOT
# The long history has those since the start; each of the sums is rounded.
is($server->sql(<<"EOT"), 't|t|t', 'and new waits to their waits');
SELECT h.waits > 0, s.waits - $old_waits = h.waits, abs(s.time - $old_time - h.time) < 10 + h.waits
  FROM ($sleeps) s (waits, time), (SELECT count(*), sum(timer_wait) FROM pfs.events_waits_history_long WHERE event_name = 'wait/timeout/PgSleep') h (waits, time)
EOT
is($server->sql(<<'EOT'), 't', 'a new sample has its own time');
SELECT bool_and(query_sample_seen BETWEEN first_seen - interval '1 s' AND now() AND query_sample_seen <= last_seen + interval '1 s')
  FROM pfs.events_statements_summary_by_digest WHERE database_name = 'work'
EOT

# ---- the last save, after what is no clean stop ----

is($server->sql('SELECT save()'), 't', 'a save now');
%before = (summary => shown($summary), times => shown($times), waits => shown($waits), rows => shown($rows), row_times => shown($row_times), histogram => shown($histogram));

sub is_as_saved
{
	my ($name) = @_;

	is(shown($summary), $before{summary}, "digests are those of the save after $name");
	same_times($before{times}, shown($times), "times, after $name");
	is(shown($waits), $before{waits}, "waits, after $name");
	is(shown($rows), $before{rows}, "rows of tables, after $name");
	same_times($before{row_times}, shown($row_times), "times of rows, after $name");
	is(shown($histogram), $before{histogram}, "histograms, after $name");
}

load('postgres');
isnt(shown($summary), $before{summary}, 'more was counted');
$server->stop('immediate');
$server->start;
is_as_saved('an immediate stop');
load('postgres');
my $victim = $server->session;
my $at = status('pfs_start_time');
kill 'KILL', $victim->pid;
$server->lost_sessions;
ok($server->poll_connect("SELECT variable_value <> '$at' FROM pfs.status WHERE variable_name = 'pfs_start_time'"), 'a new start');
is_as_saved('kill -9 of a backend');
load('postgres');
my $pid = $server->postmaster_pid;
my @children = split ' ', PfsServer::text_of("/proc/$pid/task/$pid/children");
kill 'KILL', $pid;
$server->lost_sessions;
$server->{running} = 0;
# The lock file is its own until it has gone.  Each child has a session of its own; none may be left that has the shared memory.
for (my $i = 0; $i < 1000 && (-d "/proc/$pid" || grep { PfsServer::text_of("/proc/$_/status") =~ /^State:\s*[^ZX\s]/m } @children); $i++) { select undef, undef, undef, 0.1; }
$server->start;
is_as_saved('kill -9 of the postmaster');
is(status('pfs_totals_since'), $started, 'totals are since the first start');

# ---- TRUNCATE and reset ----

$server->sql('TRUNCATE pfs.events_statements_histogram_by_digest');
my $reset = since('events_statements_histogram_by_digest');
$server->restart;
is($server->sql("SELECT coalesce(sum(count_bucket), 0) FROM pfs.events_statements_histogram_by_digest WHERE database_name = 'work'"), 0, 'a truncated histogram stays so');
is(since('events_statements_histogram_by_digest'), $reset, 'and says when that was');
is(shown($summary), $before{summary}, 'digests stay');
$server->sql('TRUNCATE pfs.events_statements_summary_by_digest');
$server->restart;
is(shown($summary), '', 'truncated digests stay so');
is(shown($waits), '', 'with their waits');
isnt(status('pfs_totals_since'), $started, 'totals are since then');
is($server->sql("SELECT count(*) > 0 FROM pfs.events_statements_summary_by_digest WHERE first_seen < (SELECT variable_value::timestamptz FROM pfs.status WHERE variable_name = 'pfs_start_time')"),
	't', 'what came behind is kept');

done_testing();
