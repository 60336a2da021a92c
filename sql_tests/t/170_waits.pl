# Nobody waits for long for a process that is stopped: at each of the places where a
# process can be in the middle of something one stops, and all tables are read, reset
# and truncated meanwhile.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/lib";
use PfsServer;
use Test::More;
use Time::HiRes qw(sleep time);

# What a statement may take that comes upon one: it waits half a second at most, and the
# rest is for a machine that has other things to do; more below, by what the machine takes.
my $bound = 10;

test_module('pfs_test_stop');
my $server = PfsServer->new('main', conf => <<'EOT');
autovacuum = off
pfs.digests_size = 100
pfs.max_file_instances = 400
pfs.instruments = 'memory/%=ON, wait/io/socket/%=COUNTED'
EOT
$server->start;
$server->sql('CREATE EXTENSION pfs');
$server->sql(test_functions('pfs_test_stop'));
plan skip_all => 'no breakpoints on this processor' unless `uname -m` =~ /^(x86_64|aarch64)$/;
$server->sql(<<'EOT');
CREATE FUNCTION read_all() RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
	name text;
	n bigint;
	total bigint = 0;
BEGIN
	FOR name IN SELECT table_name FROM pfs.tables LOOP
		EXECUTE format('SELECT count(*) FROM (SELECT t.*::text FROM pfs.%I t) t', name) INTO n;
		total = total + n;
	END LOOP;
	RETURN total;
END $$;
CREATE FUNCTION empty_all(command text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
	name text;
	done bigint = 0;
BEGIN
	FOR name IN SELECT relname FROM pg_class WHERE relnamespace = 'pfs'::regnamespace AND relkind = 'f' AND relname !~ '^setup_' ORDER BY 1 LOOP
		BEGIN
			EXECUTE format(command, name);
			done = done + 1;
		EXCEPTION WHEN wrong_object_type OR feature_not_supported OR object_not_in_prerequisite_state OR invalid_parameter_value THEN
		END;
	END LOOP;
	RETURN done;
END $$;
EOT
my @ends = time;
my $all = $server->sql('SELECT read_all() > 0');
push @ends, time;
is($all, 't', 'all tables can be read');
my $resets = $server->sql(q{SELECT empty_all('SELECT pfs.reset(%L)')});
push @ends, time;
my $truncates = $server->sql(q{SELECT empty_all('TRUNCATE pfs.%I')});
push @ends, time;
cmp_ok($resets, '>', 40, 'most can be reset');
is($truncates, $resets, 'and truncated');
$bound += 10 * (sort { $b <=> $a } map { $ends[$_] - $ends[ $_ - 1 ] } 1 .. $#ends)[0];
my $observer = $server->session;
$observer->query('SET statement_timeout = ' . int($bound * 1000));

sub state_of
{
	my ($pid) = @_;

	open my $stat, '<', "/proc/$pid/stat" or return '';
	return <$stat> =~ /\) (\S)/ ? $1 : '';
}

sub status
{
	my ($name) = @_;

	return $server->sql("SELECT variable_value FROM pfs.status WHERE variable_name = 'pfs_$name'");
}

# A session that stops there while it executes this; 'end': while it ends.  A statement that calls stop_at() itself
# stops in nothing that comes before it.
sub stopped
{
	my ($place, $sql) = @_;
	my $s = $server->session;
	my $pid = $s->pid;

	$s->query($_) foreach ref $sql ? @$sql[ 0 .. $#$sql - 1 ] : ();
	$sql = ref $sql ? $sql->[-1] : $sql;
	# This statement itself may come to the place.
	$s->send("SELECT stop_at('$place')") unless $sql =~ /\bstop_at\(/;
	$s->{closed} = 1 if $sql eq 'end';
	$sql eq 'end' ? ($s->{in} .= "\\q\n") : $s->send($sql);
	foreach (1 .. 3000)
	{
		last if state_of($pid) eq 'T';
		PfsServer::pump($s->{handle}, 'pump_nb');
		sleep(0.02);
	}
	is(state_of($pid), 'T', "$place: a process has stopped")
		or diag($observer->query("SELECT state, wait_event_type, wait_event, query FROM pg_stat_activity WHERE pid = $pid"));
	return ($s, $pid);
}

my @shapes = map { 'SELECT ' . join(', ', ('1') x $_) } 1 .. 140;

# Function of pfs.so, what leads there, what the process is in the middle of.  Those of one
# group are stopped at the same time.
my @groups = (
	[
		[ 'pfs_digest_evict.c:move_cb', [ "DO \$\$ BEGIN PERFORM 1; END \$\$", join('; ', @shapes) ], 'making room for a digest' ],
	],
	[
		[ 'pfs_digest_pending.c:merge_cb', join('; ', @shapes[ 0 .. 19 ]), 'adding to a digest what was pending' ],
	],
	[
		[ 'pfs_history_more_room', q{SELECT count(pg_stat_file('PG_VERSION')) FROM generate_series(1, 100)}, 'the end of a wait' ],
		# The second execution makes the text of its plan, in a subtransaction, which is no plain statement's.
		[ 'pfs_plain_ends', [ ('SELECT 1') x 3 ], 'the end of a statement' ],
		[ 'pfs_digest_count', 'LISTEN news', 'the end of a statement of another kind' ],
		[ 'pfs_memory_raise_high_water', q{SELECT length(repeat('x', 3000000))}, 'a high-water mark of memory' ],
		[ 'pfs_file_sums_free', q{SET work_mem = '64kB'; DO $$ BEGIN FOR i IN 1 .. 300 LOOP PERFORM count(*) FROM (SELECT g FROM generate_series(1, 3000) g ORDER BY g DESC) s; END LOOP; END $$},
			'freeing the sums of files' ],
		[ 'pfs_socket.c:count', 'SELECT 1', 'counting for a socket' ],
		[ 'pfs_block_clear', 'end', 'the end of a session' ],
	],
	[
		[ 'pfs_summary_touch', [ 'SELECT pg_sleep(0)', q{SELECT pg_sleep(0.1)} ], 'the first wait of an instrument' ],
		[ 'pfs_file_sum.c:add_cb', q{SELECT count(pg_read_binary_file('base/1/' || f, 0, 1)) FROM (SELECT f FROM pg_ls_dir('base/1') f WHERE f ~ '^[0-9]+$' LIMIT 60) t},
			'adding to a file what was pending' ],
		[ 'pfs_socket.c:detach', 'end', 'the end of a socket' ],
		[ 'pfs_prepared_add', [ 'PREPARE p AS SELECT 1', q{DO $$ BEGIN EXECUTE 'EXECUTE p'; END $$} ], 'an execution of a prepared statement' ],
		[ 'publish_switches', q{SELECT to_tsvector('english', 'a b')}, 'making an instrument' ],
		[ 'pfs_pages_publish', 'PREPARE p AS SELECT 1', 'making a record' ],
	],
);

# What waits for a process in there, and can be cancelled meanwhile; a reading first.
my %waits = (
	'pfs_digest_evict.c:move_cb' => [
		'SELECT count(*) FROM pfs.events_statements_summary_by_digest', "SELECT pfs.reset('events_statements_summary_by_digest')",
		'TRUNCATE pfs.events_statements_summary_by_digest',
		'TRUNCATE pfs.events_statements_histogram_by_digest, pfs.events_waits_summary_by_digest'
	],
	'pfs_digest_pending.c:merge_cb' => [
		'SELECT count(*) FROM pfs.events_waits_summary_by_digest', 'TRUNCATE pfs.events_statements_histogram_by_digest',
	],
	'pfs_file_sum.c:add_cb' => [
		'SELECT count(*) FROM pfs.file_summary_by_event_name', 'SELECT count(*) FROM pfs.file_summary_by_instance',
		"SELECT pfs.reset('file_summary_by_event_name')", 'TRUNCATE pfs.file_summary_by_instance'
	],
);
my $file_calls = 'SELECT coalesce(sum(count_star), 0) FROM pfs.file_summary_by_event_name';

# A process that is stopped while it reads a page holds up whoever needs that page, which is
# the server's doing: what they need is in shared buffers before.  The instrument is made
# once only.
foreach my $victim (map { @$_ } @groups)
{
	my ($place, $sql) = @$victim;

	next if $sql eq 'end' || $place eq 'publish_switches';
	my $s = $server->session;

	$s->query($_) foreach ref $sql ? @$sql : $sql;
	$s->query("SELECT count(*) FROM pg_ts_config, pg_ts_dict, pg_ts_template, pg_ts_parser, pg_ts_config_map WHERE cfgname = 'english'");
	$s->close;
}

foreach my $group (@groups)
{
	my @victims = map { [ stopped(@$_), @$_ ] } @$group;
	my $moving = $group->[0][0] =~ /move_cb|digest_pending/;
	my @statements = ('SELECT read_all() > 0', "SELECT empty_all('SELECT pfs.reset(%L)') = $resets");

	# It does the same as a reset.
	push @statements, "SELECT empty_all('TRUNCATE pfs.%I') = $truncates" if $moving;
	foreach my $statement (@statements)
	{
		my $start = time;
		my $out = $observer->send($statement)->result;

		is($out, 't', "$group->[0][2]: $statement ends") or diag($observer->{last_error});
		cmp_ok(time - $start, '<', $bound, 'in time');
	}

	# Each would wait for half a second.
	foreach my $waits (grep { defined } map { $waits{ $_->[0] } } @$group)
	{
		my $before = $server->inexact;
		my $counted = $observer->query($file_calls);

		foreach my $statement (@$waits)
		{
			my $canceller = $server->session;

			$canceller->query("SET statement_timeout = '100ms'");
			$canceller->send($statement)->result;
			like($canceller->{last_error}, qr/canceling statement due to statement timeout/, "$statement can be cancelled");
			$canceller->close;
		}
		cmp_ok($observer->query($file_calls), '>=', $counted, 'a reset that was cancelled has emptied nothing');
		$observer->query($waits->[0]);
		cmp_ok($server->inexact, '>', $before, 'who did not wait any longer has counted itself');
	}
	foreach my $victim (@victims)
	{
		my ($s, $pid, $function, $sql, $what) = @$victim;

		kill 'CONT', $pid;
		if ($sql eq 'end')
		{
			ok($server->poll("SELECT count(*) FROM pfs.threads WHERE processlist_id = $pid", '0'), "$what: goes on, and ends");
		}
		else
		{
			$s->result;
			is($s->query('SELECT 2'), '2', "$what: goes on");
			$s->close;
		}
	}
}

# What was pending moves again: no reading and no reset that was cancelled forbids it any more.
my ($flush) = grep { $_->[0] eq 'pfs_file_sum.c:add_cb' } map { @$_ } @groups;
my ($flusher, $flusher_pid) = stopped(@$flush);

kill 'CONT', $flusher_pid;
$flusher->result;
$flusher->close;

# What runs is seen although its process was in the middle of a write section: who reads it waits.  A reading that
# had to wait for longer than half a second, as this script or the process was late, says so, and is made again.
my ($not_waited, $seen);

foreach (1 .. 10)
{
	# The statement runs when it says where to stop: a block may be full by what came before it.
	my ($writing, $writing_pid) = stopped('pfs_history_more_room', <<'EOT');
SELECT 1 FROM (SELECT stop_at('pfs_history_more_room') OFFSET 0) s UNION ALL SELECT count(pg_stat_file('PG_VERSION')) FROM generate_series(1, 100) UNION ALL SELECT 1 FROM pg_sleep(100)
EOT

	$not_waited = $server->inexact;
	$observer->send(qq{SELECT (SELECT string_agg(sql_text, ' ') FROM pfs.events_statements_current WHERE thread_id = pfs.thread_id($writing_pid)) LIKE '%pg_sleep%'});
	sleep(0.1);
	kill 'CONT', $writing_pid;
	$seen = $observer->result;
	$server->sql("SELECT pg_cancel_backend($writing_pid)");
	$writing->result;
	$writing->close;
	last if $server->inexact == $not_waited;
}
is($seen, 't', 'a running statement is seen although its process was stopped while it wrote');
is($server->inexact, $not_waited, 'and the reading was exact');

# A new session waits for who changes the rules for new sessions, but not for long.
$server->sql(q{SELECT pfs.set_actor('%', 'nobody')});
my ($writer, $writer_pid) = stopped('pfs_pages_free', q{DELETE FROM pfs.setup_actors WHERE user_name = 'nobody'});
my $exact = status('reads_inexact');
my $start = time;
my $new = $server->session;

is($new->query('SELECT instrumented FROM pfs.threads WHERE thread_id = pfs.thread_id()'), 'YES', 'a session begins while a rule is removed');
cmp_ok(time - $start, '<', $bound, 'in time');
cmp_ok(status('reads_inexact'), '>', $exact, 'and has counted that it waited no longer');
kill 'CONT', $writer_pid;
$writer->result;
is($server->sql('SELECT user_name FROM pfs.setup_actors'), '%', 'the rule is removed');
$_->close foreach $writer, $new;

# Afterwards all is as ever: nothing is buffered, no process is in the middle of anything.
is(status('sequence_words_repaired'), '0', 'there was nothing to repair');
$server->sql('SELECT pfs.reset()');
my $s = $server->session;
$s->query($_) foreach @shapes;
ok($server->poll(q{SELECT count(*) > 90 AND bool_or(query_id IS NULL) FROM pfs.events_statements_summary_by_digest}, 't'), 'digests are evicted again');
# A process can lose its processor in the middle of something, but none is there for good.
my ($before, $after);

foreach (1 .. 5)
{
	$before = $server->inexact;
	$server->sql('SELECT read_all()');
	$after = $server->inexact;
	last if $after == $before;
}
is($after, $before, 'and all is exact again');
done_testing();
