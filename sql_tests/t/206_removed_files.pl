# Files that have gone: what they have counted stays in the totals of their kind, once.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/lib";
use PfsServer;
use Test::More;

my $server = PfsServer->new('main', conf => <<'EOT');
autovacuum = off
max_wal_size = 64MB
min_wal_size = 32MB
wal_recycle = off
EOT
$server->start;
$server->sql('CREATE EXTENSION pfs');

my $work = <<'EOT';
SET work_mem = '64kB';
CREATE TABLE kept AS SELECT g AS a FROM generate_series(1, 20000) g;
CREATE TABLE dropped AS SELECT g AS a FROM generate_series(1, 20000) g;
CREATE TEMP TABLE temporary AS SELECT g AS a FROM generate_series(1, 200000) g;
SELECT count(*) FROM (SELECT a FROM temporary ORDER BY -a) s;
CHECKPOINT;
SELECT pg_switch_wal();
EOT
my $removal = <<'EOT';
DROP TABLE dropped;
DROP TABLE temporary;
CHECKPOINT;
EOT
# Until there are no tombstones of those files any more.
my $churn = q{SELECT 'CREATE TEMP TABLE churn (a int); DROP TABLE churn' FROM generate_series(1, 400) \gexec};
my $columns = join(', ', map { "sum($_)" } qw(count_star count_timed count_read count_write count_misc sum_number_of_bytes_read sum_number_of_bytes_write));
my $kinds = "SELECT kind, $columns, max(max_timer_wait), max(max_timer_read), max(max_timer_write), max(max_timer_misc) FROM pfs.file_summary_by_relation GROUP BY 1 ORDER BY kind COLLATE \"C\"";
# Each row's times are whole picoseconds.
my $times = join(', ', map { "sum($_)" } qw(sum_timer_wait sum_timer_read sum_timer_write sum_timer_misc));
my $equal = "SELECT n = m AND abs(a[1] - b[1]) + abs(a[2] - b[2]) + abs(a[3] - b[3]) + abs(a[4] - b[4]) < 1e6
	FROM (SELECT ROW($columns)::text, ARRAY[$times] FROM pfs.file_summary_by_relation) k (n, a), (SELECT ROW($columns)::text, ARRAY[$times] FROM pfs.file_summary_by_event_name) e (m, b)";
my $times_of_kinds = "SELECT kind, $times FROM pfs.file_summary_by_relation GROUP BY 1 ORDER BY kind COLLATE \"C\"";
my $removed = q{SELECT kind FROM pfs.file_summary_by_relation WHERE object_name = '(removed files)' AND count_star > 0 ORDER BY kind COLLATE "C"};

# Do two readings of times differ by less than the picoseconds to which rows are rounded?
sub same_times
{
	my ($earlier, $later) = map { [ split /[|\n]/ ] } @_;

	return @$earlier == @$later && !grep { $earlier->[$_] =~ /^\d/ ? abs($earlier->[$_] - $later->[$_]) > 1e6 : $earlier->[$_] ne $later->[$_] } 0 .. $#$earlier;
}

sub files_are
{
	my ($on) = @_;

	$server->sql("SELECT pfs.set_instruments('wait/io/file/%', '$on')");
	# What was running when it was switched off is counted when it ends.
	$server->poll(q{SELECT count(*) FROM pfs.events_waits_current WHERE event_name LIKE 'wait/io/file/%'}, 0);
}

my $s = $server->session;

$s->query($work);
files_are('NO');
my $before = $server->sql($kinds);
my $times_before = $server->sql($times_of_kinds);
is($server->sql($equal), 't', 'all kinds together are all event names together');
like($before, qr/^WAL\|[1-9].*^other\|[1-9].*^relation\|[1-9].*^temporary\|[1-9]/ms, 'of each kind there is something');
my $wal_files = $server->sql(q{SELECT count(*) FROM pfs.file_instances WHERE file_name LIKE 'pg_wal/%'});
$s->query($removal);
is($server->sql($kinds), $before, 'removals change no kind');
is($server->sql(q{SELECT count(*) FROM pfs.file_summary_by_relation WHERE object_name IN ('dropped', 'temporary')}), 0, 'files that have gone have no row');
$server->psql($churn);
is($server->sql($kinds), $before, 'nor when their records are free');
for (1 .. 8)
{
	$s->query('INSERT INTO kept VALUES (0); SELECT pg_switch_wal()') foreach 1 .. 3;
	$s->query('CHECKPOINT');
}
is($server->sql(q{SELECT count(*) FROM pfs.file_instances f WHERE file_name LIKE 'pg_wal/0%' AND NOT EXISTS
	(SELECT FROM pg_ls_waldir() WHERE 'pg_wal/' || name = file_name)}), 0, 'segments have gone');
is($server->sql($kinds), $before, 'with what they have counted in their kind');
ok(same_times($times_before, $server->sql($times_of_kinds)), 'and its times');
like($server->sql($removed), qr/^WAL\n(.*\n)*relation\n(.*\n)*temporary$/m, 'one row for each kind has it');
is($server->sql(q{SELECT count(*) FROM (SELECT FROM pfs.file_summary_by_relation WHERE object_name = '(removed files)' GROUP BY kind HAVING count(*) > 1) s}), 0, 'and one only');
is($server->sql($equal), 't', 'and all are all event names');
is($server->sql(q{SELECT sum(count_star) FROM pfs.file_summary_by_kind WHERE file_name IS NOT NULL}), $server->sql('SELECT sum(count_star) FROM pfs.file_summary_by_instance'),
	'rows of files are those by instance');

# By names: what only files of one kind have.
is($server->sql(q{SELECT string_agg(DISTINCT event_name, ' ') FROM pfs.file_summary_by_kind WHERE count_star > 0 AND
	(kind, event_name) IN (('WAL', 'wait/io/file/DataFileRead'), ('temporary', 'wait/io/file/WALWrite'), ('relation', 'wait/io/file/TempFileUnlink'), ('SLRU', 'wait/io/file/FileStat'))}), '', 'names fit the kinds');
is($server->sql(q{SELECT bool_and(k.n = e.n) FROM (SELECT event_name, sum(count_star) AS n FROM pfs.file_summary_by_kind GROUP BY 1) k
	FULL JOIN (SELECT event_name, count_star AS n FROM pfs.file_summary_by_event_name) e USING (event_name)}), 't', 'each event name is the sum of its kinds');

# pfs_sys
is($server->sql(q{SELECT sum(total) FROM pfs_sys.x$io_global_by_file_by_latency}), $server->sql('SELECT sum(count_star) FROM pfs.file_summary_by_event_name'),
	'io_global_by_file_by_latency has them, too');
is($server->sql(q{SELECT sum(total) FROM pfs_sys.x$io_global_by_file_by_bytes}), $server->sql('SELECT sum(sum_number_of_bytes_read + sum_number_of_bytes_write) FROM pfs.file_summary_by_event_name'),
	'and io_global_by_file_by_bytes');

# ---- TRUNCATE ----

my $of_files = $server->sql('SELECT sum(count_star) FROM pfs.file_summary_by_instance');
is($server->sql(q{SELECT pfs.reset('file_summary_by_instance')}), $of_files, 'a reset by instance returns what files had');
is($server->sql($kinds), $before, 'kinds keep what it moves to the event names');
is($server->sql('SELECT sum(count_star) FROM pfs.file_summary_by_kind WHERE file_name IS NOT NULL'), 0, 'but no file has it');
my $all = $server->sql('SELECT sum(count_star) FROM pfs.file_summary_by_event_name');
is($server->sql(q{SELECT pfs.reset('file_summary_by_event_name')}), $all, 'a reset by event name returns all');
is($server->sql('SELECT sum(count_star) FROM pfs.file_summary_by_relation'), 0, 'and empties the kinds');

# ---- while files come and go ----

files_are('YES');
my @busy = map { $server->session } 1 .. 3;
my ($last, $went_back, $readings) = (0, 0, 0);

$_->send(q{SET work_mem = '64kB'; DO $$ BEGIN FOR i IN 1 .. 60 LOOP
	CREATE TEMP TABLE c AS SELECT g AS a FROM generate_series(1, 2000) g; PERFORM count(*) FROM (SELECT a FROM c ORDER BY -a) s; DROP TABLE c; END LOOP; END $$}) foreach @busy;
do
{
	my $inexact = $server->inexact;
	my $now = $server->sql(q{SELECT sum(count_star) FROM pfs.file_summary_by_kind}) || 0;

	# A reading that did not wait for a process without a processor may be of two moments.
	if ($server->inexact == $inexact)
	{
		$went_back++ if $now < $last;
		$last = $now;
		$readings++;
	}
} until (!grep { !$_->is_done } @busy);
$_->result foreach @busy;
is($went_back, 0, "sums of $readings readings never go back");
files_are('NO');
ok($server->poll($equal), 'and are all event names in the end');

done_testing();
