# Times of accesses to rows, against those of another library that measures around the same
# methods of the server: reads that are delayed, and locks that are waited for.  The waits are
# inside of the runs, and the runs are as long as the other library says, within 2 percent.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/lib";
use PfsServer;
use Test::More;

my $rows = 1000;
my $server = PfsServer->new('main', preload => test_module('pfs_test_access') . ',pfs', conf => <<'EOT');
shared_buffers = 128
autovacuum = off
jit = off
max_parallel_workers_per_gather = 0
pfs.instruments = 'wait/io/table/handler=ON'
EOT
# The reader itself makes the calls, one for each page.
$server->conf('io_method = sync') if PfsServer::version() >= 18;
$server->conf('io_combine_limit = 1') if PfsServer::version() >= 17;
$server->start(env => { PFS_TEST_ACCESS => 'chain', LD_PRELOAD => slow_reads() });
$server->sql('CREATE EXTENSION pfs');
$server->sql(test_functions('pfs_test_access'));
is($server->sql(q{SELECT status, detail <> '' FROM pfs.probes WHERE target = 'heap'}), 'active|t', 'the other library is called inside of ours');

# A page for each row, so that nearly each is read: there are many more pages than buffers.
$server->sql(<<"EOT");
CREATE TABLE big (id int PRIMARY KEY, filler text);
ALTER TABLE big ALTER filler SET STORAGE plain;
INSERT INTO big SELECT g, repeat('x', 5000) FROM generate_series(1, $rows) g;
VACUUM big;
CREATE TABLE small (id int PRIMARY KEY, n int);
INSERT INTO small VALUES (1, 0);
EOT

my $s = $server->session;
my $thread = $s->thread_id;

# What a table's rows have taken since then, by us and by the other library, in microseconds.
# It is what the session does meanwhile.
sub both
{
	my ($what, $work) = @_;

	$server->sql('TRUNCATE pfs.table_io_waits_summary_by_table');
	$s->query('SELECT access_time()');
	$work->();
	my $theirs = $s->query('SELECT access_time()');

	return ($server->sql("SELECT $what / 1e6 FROM pfs.table_io_waits_summary_by_table WHERE object_name IN ('big', 'small') AND count_star > 0"), $theirs);
}

# The same, compared; the other library's readings are inside of ours.
sub agree
{
	my ($name, $what, $work) = @_;

	as_long_as(sub { return reverse both($what, $work) }, 0.02, "$name, the other library and pfs");
}

# The runs of a table, how long they were, and the waits inside of them.
my $inside = q{SELECT sum(r.timer_wait) / 1e6, sum(w.waits), sum(w.waited) / 1e6 FROM pfs.events_waits_history_long r,
	LATERAL (SELECT count(*) AS waits, sum(w.timer_wait) AS waited FROM pfs.events_waits_history_long w
		WHERE w.thread_id = r.thread_id AND w.nesting_event_id = r.event_id AND w.event_name LIKE '%s') w
	WHERE r.event_name = 'wait/io/table/handler' AND r.object_name = '%s' AND r.thread_id = %d};

# ---- reads that take their time ----

foreach my $case ([ 'sequential scan', 'SET enable_seqscan = on', '' ],
	[ 'index scan', 'SET enable_seqscan = off; SET enable_bitmapscan = off', 'WHERE id > 0' ])
{
	my ($name, $plan, $where) = @$case;
	my $query = "SELECT count(filler) FROM big $where";

	$s->query($plan);
	$s->query($query);
	$server->sql(q{SELECT pfs.reset('events_waits_history_long')});
	my ($ours, $theirs) = both('sum_timer_fetch', sub { is($s->query($query), $rows, "$name: all rows") });
	my ($length, $waits, $waited) = split /\|/, $server->sql(sprintf($inside, 'wait/io/file/%', 'big', $thread));

	cmp_ok($waits, '>', 0.8 * $rows, "$name: it waits for pages");
	between($waited, 200 * $waits, $length, "$name: its runs contain these waits");
	near($length, $ours, 0.0001, "$name: the table has the time of its runs");
	agree($name, 'sum_timer_fetch', sub { $s->query($query) });
}

# ---- a row behind a lock ----

$s->query('RESET ALL');
my $holder = $server->session;
my $locked = sub {
	$holder->query('BEGIN; UPDATE small SET n = n + 1');
	$s->send('SELECT n FROM small WHERE id = 1 FOR NO KEY UPDATE');
	# One that is in the lock's queue only may not have begun to wait.
	$server->poll_lasts($thread, 'wait/lock/%', 0.2);
	$holder->query('COMMIT');
	$s->result;
};

$server->sql(q{SELECT pfs.reset('events_waits_history_long')});
$locked->();
my ($length, $waits, $waited) = split /\|/, $server->sql(sprintf($inside, 'wait/lock/%', 'small', $thread));

is($waits, 1, 'one wait for a lock, inside of an access to a row');
between($waited, 200_000, $length, 'the accesses contain it');
is($server->sql(qq{SELECT r.operation FROM pfs.events_waits_history_long w JOIN pfs.events_waits_history_long r ON r.thread_id = w.thread_id
	AND r.event_id = w.nesting_event_id WHERE w.thread_id = $thread AND w.event_name = 'wait/lock/transactionid'}), 'lock', '... that which locks the row');
# The holder fetches and updates, and locks nothing by itself.
agree('row behind a lock', '(sum_timer_read - sum_timer_fetch)', $locked);

done_testing();
