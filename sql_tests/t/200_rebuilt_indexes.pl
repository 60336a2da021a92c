# Indexes that REINDEX CONCURRENTLY builds anew have other OIDs, and keep what was counted of them: by index, by
# statement, behind a restart, under a load, and where the command fails.  195_tables.pl compares with the server.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/lib";
use PfsServer;
use Test::More;
use Time::HiRes qw(sleep);

test_module('pfs_test_stop');
my $server = PfsServer->new('main', conf => <<'EOT');
autovacuum = off
max_connections = 30
pfs.instruments = 'wait/io/table/handler=ON'
enable_seqscan = off
enable_bitmapscan = off
EOT

$server->start;
$server->sql(<<'EOT');
CREATE EXTENSION pfs;
SELECT pfs.set_object('TABLE', '%', 'pg_toast', '%', 'YES');
CREATE SCHEMA r;
CREATE TABLE r.t (id int PRIMARY KEY, j int, k int UNIQUE, e int, p int, u int, v text, d int4range, EXCLUDE USING gist (d WITH &&));
ALTER TABLE r.t ALTER v SET STORAGE external;
CREATE INDEX t_j ON r.t (j);
CREATE INDEX t_unused ON r.t (u);
CREATE INDEX t_expression ON r.t ((e + 1));
CREATE INDEX t_partial ON r.t (p) WHERE p > 5;
CREATE TABLE r.parts (id int, j int) PARTITION BY RANGE (id);
CREATE TABLE r.parts_1 PARTITION OF r.parts FOR VALUES FROM (0) TO (100);
CREATE TABLE r.parts_2 PARTITION OF r.parts FOR VALUES FROM (100) TO (200);
CREATE INDEX parts_j ON r.parts (j);
CREATE INDEX parts_expression ON r.parts ((id + j));
INSERT INTO r.t SELECT g, g, g, g, g, g, CASE g WHEN 7 THEN repeat('v', 100000) ELSE 'v' END, int4range(g * 10, g * 10 + 5) FROM generate_series(1, 190) g;
INSERT INTO r.parts SELECT g, g FROM generate_series(1, 199) g;
VACUUM ANALYZE;
SELECT pfs.reset('table_io_waits_summary_by_index_usage');
EOT

# Statements that use each index: all but one.
my @uses = ('SELECT id FROM r.t WHERE id = 7', 'SELECT v FROM r.t WHERE j = 8', 'SELECT v FROM r.t WHERE k = 9', 'SELECT v FROM r.t WHERE e + 1 = 10',
	'SELECT v FROM r.t WHERE p = 11 AND p > 5', "SELECT v FROM r.t WHERE d && '[121,122)'", q{SELECT length(v || '') FROM r.t WHERE id = 7},
	'SELECT id FROM r.parts WHERE j BETWEEN 95 AND 105', 'SELECT j FROM r.parts WHERE id + j BETWEEN 190 AND 210');
my $s = $server->session;

sub use_indexes
{
	foreach my $use (@uses)
	{
		$s->query($use) foreach 1 .. 3;
	}
	$server->poll_idle($s->thread_id);	# the last one is its statement's then, too
}

my $where = q{WHERE database_name = current_database() AND index_name IS NOT NULL AND object_schema <> 'pg_catalog'};
my %queries = (
	'by index' => "SELECT object_schema, object_name, index_name, count_star, count_timed, count_fetch, count_insert, sum_timer_wait
		FROM pfs.table_io_waits_summary_by_index_usage $where AND count_star > 0 ORDER BY 1, 2, 3",
	'by statement' => "SELECT query_id, object_schema, object_name, index_name, count_star, count_timed, count_fetch, count_insert, sum_timer_wait
		FROM pfs.table_io_waits_summary_by_digest $where ORDER BY 1, 2, 3, 4",
	'unused' => q{SELECT index_name FROM pfs_sys.schema_unused_indexes WHERE object_schema = 'r' ORDER BY 1},
	'records' => q{SELECT records_used FROM pfs.containers WHERE name = 'index_stat'});

# What a session's last query said that was no warning.
sub error_of { return join "\n", grep { !/WARNING|NOTICE|^LOCATION|^HINT/ } split /\n/, $_[0]->last_error; }

sub counts { return map { $_ => $server->sql($queries{$_}) } @_; }

sub oids { return $server->sql(q{SELECT string_agg(indexrelid::text, ' ' ORDER BY indexrelid) FROM pg_index WHERE indrelid::regclass::text ~ '^r\\.|toast'
	OR indexrelid::regclass::text ~ '^r\\.'}); }

# ---- each form of the command, and a restart ----

use_indexes();
# What these queries themselves read of TOAST tables of catalogs is in the records, too, also for the texts of their plans,
# which the second execution makes.
counts(sort keys %queries) foreach 1 .. 2;
my %before = counts(sort keys %queries);

like($before{'by index'}, qr/^r\|t\|t_j\|.*^r\|t\|t_partial\|/ms, 'indexes were used');
is(scalar(grep { /^r\|/ } split /\n/, $before{'by index'}), 6 + 4, 'each index of the table and of the partitions');
like($before{'by index'}, qr/^pg_toast\|\w+\|\w+\|\d/m, '... and of TOAST tables');
is($before{unused}, 't_unused', 'and one was not');

my @commands = ('INDEX CONCURRENTLY r.t_j', 'INDEX CONCURRENTLY r.t_expression', 'TABLE CONCURRENTLY r.t', 'INDEX CONCURRENTLY r.parts_j', 'TABLE CONCURRENTLY r.parts',
	'SCHEMA CONCURRENTLY r', 'DATABASE CONCURRENTLY postgres');

foreach my $command (@commands)
{
	my $oids = oids();

	$s->query("REINDEX $command");
	is(error_of($s), '', "REINDEX $command");
	isnt(oids(), $oids, '... makes new indexes');
	is_deeply({ counts(sort keys %queries) }, \%before, '... that keep what was counted');
}
# Here the indexes stay what they are.
sub of_some_indexes
{
	my %counts = counts('by index');

	return join "\n", grep { /^r\|t\|t_j\||^r\|parts_1/ } map { s/t_other/t_j/r } split /\n/, $counts{'by index'};
}

foreach my $command ('REINDEX INDEX r.t_j', 'REINDEX TABLE r.t', 'CLUSTER r.t USING t_pkey', 'VACUUM FULL r.parts', 'ALTER INDEX r.t_j RENAME TO t_other',
	'ALTER INDEX r.t_other RENAME TO t_j', 'ALTER TABLE r.parts DETACH PARTITION r.parts_1', 'ALTER TABLE r.parts ATTACH PARTITION r.parts_1 FOR VALUES FROM (0) TO (100)',
	'ALTER TABLE r.t SET UNLOGGED', 'ALTER TABLE r.t SET LOGGED', 'ALTER TABLE r.t ADD CONSTRAINT t_j UNIQUE USING INDEX t_jj')
{
	my $sql = $command =~ /t_jj/ ? "CREATE UNIQUE INDEX t_jj ON r.t (j, id); ALTER INDEX r.t_j RENAME TO t_jo; $command; ALTER TABLE r.t DROP CONSTRAINT t_j; ALTER INDEX r.t_jo RENAME TO t_j"
	  : $command;
	my $of_some = of_some_indexes();

	$s->query($sql);
	is(error_of($s), '', $command);
	is(of_some_indexes(), $of_some, '... leaves the indexes what was counted of them');
}
use_indexes();
my %more = counts('by index', 'unused');
like($more{'by index'}, qr/^r\|t\|t_j\|6\|/m, 'what is counted afterwards is added');
is($more{unused}, 't_unused', 'an index that was used is not unused');

sub by_statement
{
	return $server->sql("SELECT index_name, sum(count_star), sum(count_fetch) FROM pfs.table_io_waits_summary_by_digest $where AND object_schema = 'r' GROUP BY 1 ORDER BY 1");
}

my $kept = by_statement();

like($kept, qr/^t_j\|6\|6$/m, 'rows by statement');
foreach my $command (@commands)
{
	my $by_index = $server->sql(q{SELECT count(*) FROM pfs.table_io_waits_summary_by_index_usage WHERE index_name = 't_j'});

	$s->close;
	$server->stop;
	$server->start;
	$s = $server->session;
	is(by_statement(), $kept, 'rows by statement outlive a restart');
	$s->query("REINDEX $command");
	is(by_statement(), $kept, "... and REINDEX $command behind it");
	is($server->sql(q{SELECT count(*) FROM pfs.table_io_waits_summary_by_index_usage WHERE index_name = 't_j'}), $by_index, '... and each index has one row');
}

# ---- a command that fails, or is seen while it goes on ----

# What there is of t_j and the indexes that are made for it: fetched and inserted.
sub of_t_j
{
	return $server->sql(q{SELECT string_agg(concat_ws(' ', index_name, count_fetch, count_insert), ', ' ORDER BY index_name COLLATE "C")
		FROM pfs.table_io_waits_summary_by_index_usage WHERE index_name LIKE 't\_j%' AND count_star > 0});
}

my $next = 1000;

# One row is read, and five are inserted.
sub work
{
	my ($session) = @_;

	$session->query('SELECT v FROM r.t WHERE j = 8');
	$session->query("INSERT INTO r.t (id, j) VALUES ($next, $next)"), $next++ foreach 1 .. 5;
}

my $worker = $server->session;

foreach my $end ('pg_cancel_backend', 'pg_terminate_backend')
{
	foreach my $phase ('before', 'behind')
	{
		my ($blocker, $builder) = ($server->session, $server->session);

		$server->sql('SELECT pfs.reset(\'table_io_waits_summary_by_index_usage\')');
		work($worker);
		is(of_t_j(), 't_j 1 5', 'before the command');
		# The new index gets entries while the command waits for an old snapshot; it has the name while it waits for readers of the table.
		$blocker->query($phase eq 'before' ? 'BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1' : 'BEGIN; LOCK TABLE r.t IN ACCESS SHARE MODE');
		$builder->send('REINDEX INDEX CONCURRENTLY r.t_j');
		my $waits = $phase eq 'before' ? 'waiting for old snapshots' : 'waiting for readers before marking dead';
		ok($server->poll("SELECT count(*) FROM pg_stat_progress_create_index p JOIN pg_locks l USING (pid) WHERE phase = '$waits' AND NOT granted", 1), $waits);
		is(of_t_j(), 't_j 1 5', '... the index has its name');
		work($worker);
		is(of_t_j(), 't_j 2 15', '... and entries of both are its own');
		is($server->sql("SELECT $end(" . $builder->pid . ')'), 't', $end);
		if ($end eq 'pg_terminate_backend')
		{
			ok($server->poll('SELECT count(*) FROM pg_stat_activity WHERE pid = ' . $builder->pid, 0), 'it ends');
			$builder->kill;
		}
		else
		{
			$builder->result;
			like($builder->last_error, qr/57014/, 'it fails');
			$builder->close;
		}
		$blocker->query('COMMIT');
		$blocker->close;
		is(of_t_j(), 't_j 2 15', '... and nothing is lost');
		work($worker);
		my $left = $phase eq 'before' ? 't_j_ccnew' : 't_j_ccold';
		is(of_t_j(), "t_j 3 20, $left 0 5", 'what it leaves is an index of its own');
		$server->sql("DROP INDEX r.$left");
		work($worker);
		is(of_t_j(), 't_j 4 25', 'which can be dropped');
		$server->sql('REINDEX INDEX CONCURRENTLY r.t_j');
		work($worker);
		is(of_t_j(), 't_j 5 30', 'and the command be repeated');
	}
}

# The instrument is switched on in the middle: both OIDs are of one index from the first row on.
$server->sql(q{SELECT pfs.set_instruments('wait/io/table/handler', 'NO')});
$server->sql('CREATE INDEX t_j2 ON r.t (j) WHERE j > 1');
my ($blocker, $builder) = ($server->session, $server->session);

$blocker->query('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1');
$builder->send('REINDEX INDEX CONCURRENTLY r.t_j2');
ok($server->poll(q{SELECT count(*) FROM pg_stat_progress_create_index p JOIN pg_locks l USING (pid) WHERE phase = 'waiting for old snapshots' AND NOT granted}, 1), 'it waits');
$server->sql(q{SELECT pfs.set_instruments('wait/io/table/handler', 'YES')});
work($worker);
my $inserted = $server->sql(q{SELECT count_insert FROM pfs.table_io_waits_summary_by_index_usage WHERE index_name = 't_j2'});

is($inserted, 10, 'entries of both');
$blocker->query('COMMIT');
$builder->result;
is($builder->last_error, '', 'it succeeds');
is($server->sql(q{SELECT count_insert FROM pfs.table_io_waits_summary_by_index_usage WHERE index_name = 't_j2'}), 10, '... and has them all');
$_->close foreach $blocker, $builder;
$server->sql('DROP INDEX r.t_j2');
is($server->sql(q{SELECT count(*) FROM pfs.table_io_waits_summary_by_index_usage WHERE index_name LIKE 't\_j2%'}), 0, 'a dropped index has no row');

# ---- two processes that see the index for the first time at once, by one OID each ----

sub state_of
{
	my ($pid) = @_;

	open my $stat, '<', "/proc/$pid/stat" or return '';
	return <$stat> =~ /\) (\S)/ ? $1 : '';
}

SKIP:
{
	skip 'no breakpoints on this processor', 7 unless `uname -m` =~ /^(x86_64|aarch64)$/;
	my ($reader, $builder) = ($server->session, $server->session);
	my $first = $server->session;
	my $pid = $first->pid;

	$server->sql(test_functions('pfs_test_stop'));
	$first->query(q{SELECT stop_at('pfs_rebuilds_lay_out')});
	$server->sql('CREATE INDEX t_both ON r.t ((u + 1)) WHERE u > 0');
	$reader->query('BEGIN; LOCK TABLE r.t IN ACCESS SHARE MODE');
	$builder->send('REINDEX INDEX CONCURRENTLY r.t_both');
	ok($server->poll(q{SELECT count(*) FROM pg_stat_progress_create_index p JOIN pg_locks l USING (pid) WHERE phase ~ 'marking dead' AND NOT granted}, 1), 'both have exchanged their names');
	# It has looked for the old index under both OIDs, and is about to make its record.  Nothing else is seen for the first time.
	$first->query('INSERT INTO r.t (id, u) VALUES (-1, -1)');
	$first->send(q{SELECT stop_at('pfs_hash_insert')});
	$first->send("INSERT INTO r.t (id, u) VALUES ($next, $next)");
	$next++;
	foreach (1 .. 3000)
	{
		last if state_of($pid) eq 'T';
		PfsServer::pump($first->{handle}, 'pump_nb');
		sleep(0.02);
	}
	is(state_of($pid), 'T', 'a process has stopped');
	is($worker->query('SELECT u FROM r.t WHERE u + 1 = 8 AND u > 0'), 7, '... another one goes by the new index');
	kill 'CONT', $pid;
	$first->result;
	is($first->last_error, '', '... and goes on');
	$reader->query('COMMIT');
	$builder->result;
	is($builder->last_error, '', 'REINDEX');
	$server->poll_idle($_->thread_id) foreach $first, $worker;
	is($server->sql(q{SELECT count(*), sum(count_fetch), sum(count_insert) FROM pfs.table_io_waits_summary_by_index_usage WHERE index_name = 't_both'}), '1|1|2', 'one row has all');
	is($server->sql(q{SELECT count(*), sum(count_fetch), sum(count_insert) FROM pfs.table_io_waits_summary_by_digest WHERE index_name = 't_both'}), '2|1|2', '... and by statement');
	$_->close foreach $reader, $builder, $first;
	$server->sql('DROP INDEX r.t_both');
}

# ---- under a load ----

$server->sql(q{SELECT pfs.reset('table_io_waits_summary_by_index_usage')});
$server->sql('CREATE SEQUENCE r.next START 100000');
my $clients = 3;
my $runs = 400;
my $load = $server->pgbench_start(<<'EOT', '-t', $runs, '-c', $clients, '-M', 'prepared');
\set x random(1, 190)
SELECT v FROM r.t WHERE j = :x;
INSERT INTO r.t (id, j) SELECT n, n FROM nextval('r.next') n;
SELECT v FROM r.t WHERE e + 1 = :x + 1;
EOT
my ($rebuilds, $last, $wrong) = (0, 0, '');
my $watcher = $server->session;

while ($server->pgbench_running($load) || $rebuilds < 2)
{
	$s->send('REINDEX TABLE CONCURRENTLY r.t');
	do
	{
		my $inexact = $server->inexact;
		my $fetched = $watcher->query(q{SELECT count_fetch FROM pfs.table_io_waits_summary_by_index_usage WHERE index_name = 't_j'});

		# A reading that did not wait for a process without a processor may be of two moments.
		if ($server->inexact == $inexact)
		{
			$wrong .= "$last, then $fetched; " if $fetched !~ /^\d*$/ || ($fetched || 0) < $last;
			$last = $fetched || 0;
		}
	} while (!$s->is_done);
	$s->result;
	is(error_of($s), '', 'REINDEX TABLE CONCURRENTLY under a load');
	$rebuilds++;
}
$server->pgbench_end($load);
ok($server->poll_ended('pgbench'), 'all of the load is counted');
is($wrong, '', 'a reader always sees one row, which never has less than before');
foreach my $index ('t_j', 't_expression')
{
	is($server->sql("SELECT count_fetch, count_insert >= $clients * $runs FROM pfs.table_io_waits_summary_by_index_usage WHERE index_name = '$index'"),
		$clients * $runs . '|t', "$index: no row is lost, and none is counted twice");
	is($server->sql("SELECT sum(count_fetch), bool_and(count_fetch = 0 OR object_name = 't') FROM pfs.table_io_waits_summary_by_digest WHERE index_name = '$index'"),
		$clients * $runs . '|t', '... nor by statement');
}
is($server->sql(q{SELECT sum(i.count_insert) - (SELECT sum(d.count_insert) FROM pfs.table_io_waits_summary_by_digest d WHERE d.index_name LIKE 't\_%')
	FROM pfs.table_io_waits_summary_by_index_usage i WHERE i.index_name LIKE 't\_%'}), 0, 'entries by statement are those by index');
is($server->sql(q{SELECT index_name FROM pfs_sys.schema_unused_indexes WHERE object_schema = 'r' AND index_name IN ('t_j', 't_expression')}), '', 'nothing is unused');
is($server->sql(q{SELECT count(index_name) - count(DISTINCT index_name) FROM pfs.table_io_waits_summary_by_index_usage WHERE object_name = 't'}), 0, 'one row each');
unlike($server->log_text, qr/PANIC|terminated by signal/, 'nothing crashed');

done_testing();
