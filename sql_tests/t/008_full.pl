# Containers with room for one, and for none, under a load: the server works on,
# losses are counted, and no row is ever wrong.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/lib";
use PfsServer;
use Test::More;

my $server = PfsServer->new('main', conf => <<'EOT');
max_connections = 40
shared_buffers = 1MB
autovacuum_naptime = 1s
EOT
$server->start;
$server->sql('CREATE EXTENSION pfs');
$server->pgbench(undef, '-i', '-q', '-s', 2);

# Every table can be read, also while everything changes.
my @tables = split /\n/, $server->sql(q{SELECT relname FROM pg_class WHERE relnamespace = 'pfs'::regnamespace AND relkind IN ('f', 'v')});
my $events = q{(SELECT * FROM pfs.events_waits_current UNION ALL SELECT * FROM pfs.events_waits_history UNION ALL SELECT * FROM pfs.events_waits_history_long)};

# What no row may be.  The close of a stream that has something left to write has no time: the write before it does.
my $wrong = <<"EOT";
SELECT count(*) FILTER (WHERE timer_start < 0 OR timer_wait < 0 OR timer_wait > 600e12 OR timer_end > pfs.timer_now() + 1e9),
       count(*) FILTER (WHERE timer_wait IS DISTINCT FROM CASE event_name
           WHEN 'wait/io/table/handler' THEN least(timer_wait, timer_end - timer_start + 1000) ELSE timer_end - timer_start END),
       count(*) FILTER (WHERE (end_event_id IS NULL) <> (timer_end IS NULL) AND NOT (event_name LIKE 'wait/io/file/%Close' AND timer_start IS NULL)
           OR end_event_id < event_id),
       count(*) FILTER (WHERE NOT EXISTS (SELECT FROM pfs.setup_instruments WHERE name = event_name)),
       count(*) FILTER (WHERE object_type = 'FILE' AND operation IN ('read', 'write') AND number_of_bytes > 1048576 * 64),
       count(*) FILTER (WHERE event_name = 'wait/io/file/DataFileRead' AND object_name !~ '^(base|global|pg_tblspc|…)'),
       count(*) FILTER (WHERE event_name ILIKE 'wait/io/file/WAL%' AND object_name !~ '^(pg_wal|…)')
  FROM $events e
EOT

sub load_and_look
{
	my ($what, $seconds) = @_;
	my $log = $server->mark_log;
	my $load = $server->pgbench_start(undef, '-c', 8, '-j', 1, '-C', '-T', $seconds);
	my ($looks, @bad) = (0);

	while ($server->pgbench_running($load))
	{
		my $answer = $server->sql($wrong);

		push @bad, $answer if $answer ne '0|0|0|0|0|0|0';
		$server->sql("SELECT count(*) FROM pfs.$tables[$looks % @tables]");
		$looks++;
	}
	unlike($server->pgbench_end($load), qr/aborted|error/i, "$what: the load meets no error");
	is(join("\n", @bad), '', "$what: no wrong row in $looks looks");
	unlike($server->log_text, qr/PANIC|terminated by signal|ERROR/, "$what: nothing in the log");
}

# By name of the container: records_lost, and the same in status.  Sessions that are
# just ending can lose more between the two looks.
sub lost
{
	my ($container) = @_;
	my $answer;

	foreach (1 .. 20)
	{
		$answer = $server->sql("SELECT records_lost, variable_value = records_lost::text FROM pfs.containers,"
			  . " pfs.status WHERE name = '$container' AND variable_name = 'pfs_${container}_lost'");
		last if $answer =~ /\|t$/;
		select(undef, undef, undef, 0.1);
	}
	return $answer;
}

sub used
{
	my ($container) = @_;

	return $server->sql("SELECT records_max, records_used <= records_max FROM pfs.containers WHERE name = '$container'");
}

sub with_settings
{
	my ($text) = @_;

	$server->stop;
	$server->conf($text);
	$server->start;
	# This session lasts: what there is one of is never left to one of those that come and go.
	$server->sql('SELECT 1');
}

# ---- the usual sizes: sessions come and go, and nothing is lost ----

load_and_look('usual sizes', 3);
is($server->sql(q{SELECT string_agg(name, ', ') FROM pfs.containers WHERE records_lost <> 0}), '', 'usual sizes: nothing is lost');

# ---- one of everything ----

with_settings(<<'EOT');
pfs.max_thread_instances = 1
pfs.max_file_instances = 1
pfs.events_waits_history_size = 1
pfs.events_waits_history_long_size = 1
EOT
load_and_look('one of each', 3);
is($server->sql('SELECT count(*) <= 1 FROM pfs.threads'), 't', 'one thread at most');
is(used('thread_instances'), '1|t', 'as containers says');
like(lost('thread_instances'), qr/^[1-9]\d*\|t$/, 'the others are counted as lost');
foreach my $table ('objects_summary_global_by_type', 'table_io_waits_summary_by_table', 'table_io_waits_summary_by_index_usage', 'table_io_waits_summary_by_digest')
{
	my (undef, $out, $refused) = $server->psql("SELECT pfs.thread_id() IS NULL; TRUNCATE pfs.$table");

	is($out, 't', 'a session that is no thread');
	like($refused, qr/has no place in pfs\.threads/, "... resets no rows of tables, as it could not keep what another table shows: $table");
}
like(used('file_instances'), qr/^1\|t$/, 'one file');
is($server->sql('SELECT count(*) <= 1 FROM pfs.events_waits_history'), 't', 'history: one row at most');
is($server->sql('SELECT count(*) <= 1 FROM pfs.events_waits_history_long'), 't', 'history_long: one row at most');
$server->sql('TRUNCATE pfs.containers');
between($server->sql(q{SELECT records_lost FROM pfs.containers WHERE name = 'thread_instances'}), 0, 20, 'TRUNCATE of containers: losses count anew');

# ---- all threads and accounts, but room for one group of their counters ----

with_settings(<<'EOT');
pfs.max_thread_instances = -1
pfs.max_file_instances = -1
pfs.account_counters_size = 1
EOT
load_and_look('one group of counters', 2);
is(used('account_counters'), '1|t', 'one group of counters');
like(lost('account_counters'), qr/^[1-9]\d*\|t$/, 'what had no room is counted');
is($server->sql(q{SELECT count(*) >= 1 FROM pfs.accounts}), 't', 'accounts are there');
cmp_ok($server->sql(q{SELECT sum(count_star) FROM pfs.events_statements_summary_global_by_event_name}), '>',
	$server->sql(q{SELECT coalesce(sum(count_star), 0) FROM pfs.events_statements_summary_by_account_by_event_name}),
	'the server has what its accounts could not keep');

# The same of threads.
with_settings(<<'EOT');
pfs.account_counters_size = -1
pfs.thread_counters_size = 1
pfs.thread_waits_size = 1
EOT
load_and_look('one group of counters of threads', 2);
foreach my $of ('thread_counters', 'thread_waits')
{
	is(used($of), '1|t', "one record of $of");
	like(lost($of), qr/^[1-9]\d*\|t$/, 'what had no room is counted');
}
$server->sql('TRUNCATE pfs.events_statements_summary_global_by_event_name, pfs.events_errors_summary_global_by_error');
my $one = $server->session;

$one->query('CREATE TEMP TABLE two (a int)');
$one->query(q{DO $$BEGIN PERFORM 1 / 0; EXCEPTION WHEN division_by_zero THEN END$$});
# A statement ends a moment after its client has the result.
ok($server->poll(q{SELECT string_agg(count_star::text, ' ' ORDER BY event_name) FROM pfs.events_statements_summary_global_by_event_name
   WHERE event_name IN ('statement/sql/create_table', 'statement/sql/do')}, '1 1'), 'the server has what threads could not keep');
ok($server->poll(q{SELECT sum_error_raised || ' ' || sum_error_handled FROM pfs.events_errors_summary_global_by_error WHERE sql_state = '22012'}, '1 1'),
	'errors, too') if $server->has_frame_pointers;

# Waits, timed and not, with their histogram.  A time that a process can lose its processor for would be over before
# pg_sleep() waits.
$server->sql(q{SELECT pfs.set_instruments('wait/%', 'NO'), pfs.set_instruments('wait/timeout/PgSleep', 'YES')});
$server->sql('TRUNCATE pfs.events_waits_summary_global_by_event_name, pfs.events_waits_histogram_global');
$one->query('SELECT pg_sleep(0.1)') foreach 1 .. 3;
$server->sql(q{SELECT pfs.set_instruments('wait/timeout/PgSleep', 'YES', 'NO')});
$one->query('SELECT pg_sleep(0.1)') foreach 1 .. 2;
my $naps = q{SELECT count_star - count_timed >= 2, count_timed = (SELECT sum(count_bucket) FROM pfs.events_waits_histogram_global WHERE event_name = 'wait/timeout/PgSleep'),
   count_timed >= 3
   FROM pfs.events_waits_summary_global_by_event_name WHERE event_name = 'wait/timeout/PgSleep'};

is($server->sql($naps), 't|t|t', 'and waits, with their histogram');
is($server->sql('SELECT count(*) FROM pfs.events_waits_summary_by_thread_by_event_name WHERE thread_id = ' . $one->thread_id), 0, 'their thread has none');

# Their histogram is the server's at once, and a reset takes what never was in a thread.  All of it in one
# session, as a statement ends a moment after its client has the result; that of the other session has ended.
my $control = $server->sql('SELECT pfs.thread_id()');

for (1 .. 1000)
{
	last if $one->query("SELECT count(*) FROM pfs.events_statements_current WHERE thread_id = $control") eq '0';
}
$one->query(q{SELECT pfs.set_instruments('wait/timeout/PgSleep', 'YES', 'YES'), pfs.set_instruments('wait/%', 'YES')});
$one->query('TRUNCATE pfs.events_statements_summary_global_by_event_name, pfs.events_statements_histogram_global');
$one->query("SELECT $_") foreach 1 .. 20;
is($one->query(q{SELECT sum(count_timed) = (SELECT sum(count_bucket) FROM pfs.events_statements_histogram_global), sum(count_timed) >= 20
   FROM pfs.events_statements_summary_global_by_event_name}), 't|t', 'the histogram has each of them');
my $counted = $one->query('SELECT sum(count_star) FROM pfs.events_statements_summary_global_by_event_name');

is($one->query(q{SELECT pfs.reset('events_statements_summary_global_by_event_name')}), $counted + 1, 'a reset returns all, with the one that counted them');

# The largest memory of its statements, too.
$server->sql(q{SELECT pfs.set_instruments('memory/%', 'YES')});
$one->query(q{CREATE TEMP TABLE three AS SELECT length(repeat('x', 3000000 + n)) FROM generate_series(1, 1) n});
ok($server->poll(q{SELECT max_total_memory > 3000000 FROM pfs.events_statements_summary_global_by_event_name
   WHERE event_name = 'statement/sql/create_table_as'}), 'and the largest memory of its statements');
$server->sql(q{SELECT pfs.set_instruments('memory/%', 'NO')});

# ---- all threads, but no room for their files ----

with_settings(<<'EOT');
pfs.thread_counters_size = -1
pfs.thread_waits_size = -1
pfs.max_file_instances = 1
pfs.events_waits_history_size = -1
pfs.events_waits_history_long_size = -1
EOT
load_and_look('one file', 2);
like(lost('file_instances'), qr/^[1-9]\d*\|t$/, 'files: losses are counted');
is($server->sql('SELECT count(DISTINCT object_name) <= 1 FROM pfs.events_waits_history_long WHERE object_type = ' . "'FILE'"), 't',
	'at most one file has its name');
is($server->sql(q{SELECT count(*) > 100 FROM pfs.events_waits_history_long WHERE event_name LIKE 'wait/io/file/%' AND object_name IS NULL}), 't',
	'the events of the others are there without');

# ---- threads for some ----

# For those that last, of which 18 has more, and for four sessions: ours and three more.
my $some = $server->sql(q{SELECT count(*) FROM pg_stat_activity WHERE backend_type NOT IN ('client backend', 'autovacuum worker')}) + 4;

with_settings(<<"EOT");
pfs.max_thread_instances = $some
pfs.max_file_instances = -1
EOT
load_and_look('some threads', 2);
is($server->sql("SELECT count(*) <= $some FROM pfs.threads"), 't', "$some at most");
like(lost('thread_instances'), qr/^[1-9]\d*\|t$/, 'losses are counted');
# With every other session gone there is room again; an autovacuum worker can take some of it.
my @sessions = map { $server->session } 1 .. 9;
$_->close foreach @sessions;
ok($server->poll(q{SELECT records_used + 2 <= records_max FROM pfs.containers WHERE name = 'thread_instances'}), 'sessions that end make room');
my $s = $server->session;
$s->query('SELECT pg_sleep(0.001)');
is($server->sql('SELECT count(*) FROM pfs.threads WHERE thread_os_id = ' . $s->pid), 1, 'for the next one');

# ---- few instruments: those of PostgreSQL have their places, others none ----

with_settings(<<'EOT');
pfs.max_thread_instances = -1
pfs.max_instruments = 896
EOT
is(lost('instruments'), '0|t', 'the fewest there can be are enough for all that PostgreSQL itself has');
is($server->sql(q{SELECT count(*) <= 896 FROM pfs.setup_instruments}), 't', '896 instruments at most');
load_and_look('few instruments', 1);
like(used('instruments'), qr/^896\|t$/, 'as containers says');

# ---- none of anything: off, and nothing counts as lost ----

with_settings(<<'EOT');
pfs.max_instruments = -1
pfs.max_thread_instances = 0
pfs.max_file_instances = 0
pfs.account_counters_size = 0
pfs.thread_counters_size = 0
pfs.thread_waits_size = 0
pfs.events_waits_history_size = 0
pfs.events_waits_history_long_size = 0
EOT
load_and_look('none', 2);
is($server->sql("SELECT count(*) FROM pfs.$_"), 0, "none: $_ is empty")
  foreach qw(threads events_waits_current events_waits_history events_waits_history_long);
is($server->sql(q{SELECT string_agg(name, ', ') FROM pfs.containers WHERE records_lost <> 0}), '', 'none: no loss is counted');
is($server->sql(q{SELECT string_agg(variable_name, ', ') FROM pfs.status WHERE variable_name LIKE '%lost' AND variable_value <> '0'}), '',
	'nor in status');
is($server->sql('SELECT pfs.thread_id() IS NULL'), 't', 'none: no thread has a number');

# Threads, but no files.
with_settings('pfs.max_thread_instances = -1');
load_and_look('no files', 2);
is($server->sql(q{SELECT string_agg(name, ', ') FROM pfs.containers WHERE records_lost <> 0}), '', 'no files: no loss is counted');
$s = $server->session;
my $id = $s->thread_id;
$s->send('SELECT pg_sleep(600)');
ok($server->poll("SELECT count(*) FROM pfs.events_waits_current WHERE thread_id = $id AND event_name = 'wait/timeout/PgSleep'", 1),
	'running events are seen without histories');
$server->sql('SELECT pg_cancel_backend(' . $s->pid . ')');
$s->result;

done_testing();
