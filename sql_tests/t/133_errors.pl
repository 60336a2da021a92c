# Errors that one session of psql cannot show: every SQLSTATE by its name, those that
# end a session, background and parallel workers, more states than there is room for, and
# exact counts under load, compared with the server's log.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/lib";
use PfsServer;
use Test::More;

my $seconds = $ENV{PFS_RESET_SECONDS} // 5;
my $server = PfsServer->new('main', conf => <<'EOT');
autovacuum = off
autovacuum_naptime = 1s
log_line_prefix = '%m [%p] (%e) '
log_min_messages = warning
EOT
$server->start;
$server->sql('CREATE EXTENSION pfs');
$server->needs_frame_pointers;
$server->sql('CREATE ROLE reader LOGIN');

my $global = 'events_errors_summary_global_by_error';

sub counts
{
	my ($state, $severity) = @_;

	return $server->sql("SELECT coalesce(sum(sum_error_raised), 0), coalesce(sum(sum_error_handled), 0) FROM pfs.$global WHERE sql_state = '$state' AND severity = '"
		  . ($severity // 'ERROR') . "'");
}

sub reset_all
{
	$server->sql("SELECT pfs.reset('$global')");
	$server->mark_log;
}

# Lines of the log since then: the second witness.
sub logged
{
	my ($state, $severity) = @_;
	my $word = $severity // 'ERROR';

	return scalar(() = $server->log_text =~ /\(\Q$state\E\) \Q$word\E: /g);
}

# ---- names: each state of the server's own list ----

chomp(my $share = `pg_config --sharedir`);
my $list = "$share/errcodes.txt";

SKIP:
{
	skip 'this server has no list of its errors', 4 unless open my $file, '<', $list;
	my (%name, @states);

	while (<$file>)
	{
		my ($state, $kind, undef, $name) = split ' ';

		next unless length($name // '') && $state =~ /^[0-9A-Z]{5}$/ && $kind =~ /^[EW]$/;
		push @states, $state unless defined $name{$state};
		$name{$state} //= $name;
	}
	cmp_ok(scalar(@states), '>', 200, 'the server has a list of its errors');
	my $s = $server->session;
	my $t = $s->thread_id;

	# "RAISE assert_failure" and "query_canceled" are not caught by OTHERS.
	$s->query("SET client_min_messages = error; DO \$\$ DECLARE s text; BEGIN FOREACH s IN ARRAY '{" . join(',', @states) . "}'::text[] LOOP
		BEGIN RAISE EXCEPTION USING ERRCODE = s; EXCEPTION WHEN OTHERS OR query_canceled OR assert_failure THEN NULL; END; END LOOP; END \$\$");
	my %shown = map { split / /, $_, 2 } split /\n/, $server->sql("SELECT sql_state || ' ' || coalesce(error_name, '') FROM pfs.events_errors_summary_by_thread_by_error
		WHERE thread_id = $t AND severity = 'ERROR'");

	is(join(' ', grep { ($shown{$_} // '') ne $name{$_} } sort @states), '', 'each has its name');
	is(join(' ', grep { !defined $name{$_} } sort keys %shown), '', 'there are no others');
	$server->poll("SELECT count(*) FROM pfs.events_errors_summary_by_thread_by_error WHERE thread_id = $t AND sum_error_raised = 1 AND sum_error_handled = 1",
		scalar(@states));
	is($server->sql("SELECT count(*) FROM pfs.events_errors_summary_by_thread_by_error WHERE thread_id = $t AND sum_error_raised = 1 AND sum_error_handled = 1"), scalar(@states),
		'each was raised once and caught once');
	$s->close;
}

# ---- what ends a session ----

reset_all();
my ($status) = $server->psql('SELECT 1', db => 'nowhere');
isnt($status, 0, 'no such database');
($status) = $server->psql('SELECT 1', user => 'nobody');
isnt($status, 0, 'no such role');
my $victim = $server->session(user => 'reader');
$server->sql('SELECT pg_terminate_backend(' . $victim->pid . ')');
ok($server->poll("SELECT count(*) FROM pfs.$global WHERE severity = 'FATAL' AND sum_error_raised = 1 AND sum_error_handled = 0 AND sql_state IN ('3D000', '28000', '57P01')", 3),
	'FATAL ones count');
is($server->sql("SELECT string_agg(user_name || ' ' || sql_state, ' ' ORDER BY sql_state) FROM pfs.events_errors_summary_by_user_by_error WHERE severity = 'FATAL' AND sql_state IN ('28000', '57P01')"),
	'reader 57P01', 'for their user, if there is one');
# It is counted a moment before it is logged.
$server->wait_log(qr/\(57P01\) FATAL: /);
is(logged($_, 'FATAL'), 1, "$_ is in the log, too") foreach '3D000', '28000', '57P01';
$victim->kill;

# ---- cancelled, and at the commit ----

reset_all();
my $b = $server->session;

$b->send('SELECT pg_sleep(1000)');
$server->poll('SELECT wait_event FROM pg_stat_activity WHERE pid = ' . $b->pid, 'PgSleep');
$server->sql('SELECT pg_cancel_backend(' . $b->pid . ')');
$b->result;
is(counts('57014'), '1|0', 'a cancelled statement');
$server->sql('CREATE TABLE parent (i int PRIMARY KEY); CREATE TABLE child (i int REFERENCES parent DEFERRABLE INITIALLY DEFERRED)');
$b->send($_)->result foreach 'BEGIN', 'INSERT INTO child VALUES (1)', 'COMMIT';
is(counts('23503'), '1|0', 'a commit that fails');
is(logged('23503') . logged('57014'), '11', 'as the log says');
$b->send("BEGIN; SELECT 1/0; SELECT 1; SELECT 2; COMMIT")->result;
$b->send("BEGIN; SELECT 1/0")->result;
$b->send("SELECT $_")->result foreach 1 .. 3;
$b->send('ROLLBACK')->result;
is(counts('25P02') . ' ' . counts('22012'), logged('25P02') . '|0 ' . logged('22012') . '|0', 'commands of a transaction that has failed');
cmp_ok(logged('25P02'), '>=', 3, 'are errors');

# ---- parallel workers: once, in the leader ----

$server->sql('CREATE TABLE big AS SELECT g AS i FROM generate_series(1, 100000) g; ANALYZE big');
reset_all();
$b->query('SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0; SET max_parallel_workers_per_gather = 2; SET parallel_leader_participation = off');
like($b->query('EXPLAIN SELECT count(*) FROM big WHERE 1 / (i - 50000) > 2'), qr/Gather/, 'a parallel plan');
$b->send('SELECT count(*) FROM big WHERE 1 / (i - 50000) > 2')->result;
like($b->last_error, qr/22012/, 'a worker fails');
is(counts('22012'), '1|0', 'and its error counts once');
is($server->sql("SELECT count(*), sum(sum_error_raised) FROM pfs.events_errors_summary_by_thread_by_error WHERE sql_state = '22012' AND thread_id = " . $b->thread_id), '1|1', 'for the leader');

# ---- background processes: an autovacuum worker whose table has an index that fails ----

reset_all();
$server->sql("CREATE TABLE av (i int); CREATE FUNCTION bad(int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS \$\$ BEGIN
	BEGIN PERFORM 'x'::date; EXCEPTION WHEN invalid_datetime_format THEN NULL; END;
	RETURN 1; END \$\$;
	CREATE INDEX ON av (bad(i)); ALTER TABLE av SET (autovacuum_analyze_threshold = 1, autovacuum_analyze_scale_factor = 0)");
$server->sql('INSERT INTO av SELECT 1 FROM generate_series(1, 20)');
ok($server->poll("SELECT n_mod_since_analyze FROM pg_stat_user_tables WHERE relname = 'av'", 20), 'a table that is to be analyzed');
$server->sql("CREATE OR REPLACE FUNCTION bad(int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS \$\$ BEGIN
	BEGIN PERFORM 'x'::date; EXCEPTION WHEN invalid_datetime_format THEN NULL; END;
	RETURN 1 / (\$1 - \$1); END \$\$");
reset_all();
$server->sql('ALTER SYSTEM SET autovacuum = on; SELECT pg_reload_conf()');
ok($server->poll("SELECT count(*) > 0 FROM pfs.events_errors_summary_by_user_by_error WHERE user_name IS NULL AND sql_state = '22012'", 't'), 'an autovacuum worker has errors');
# Until the launcher is told, other workers can begin, which have no errors.
$server->sql("ALTER SYSTEM SET autovacuum = off; SELECT pg_reload_conf(); CREATE OR REPLACE FUNCTION bad(int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RETURN 1; END'");
ok($server->poll("SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'autovacuum worker'", 0), 'it has ended');
is(counts('22012'), logged('22012') . '|0', 'one that its command fails with is not handled, and the log has it');
is(counts('22007'), logged('22012') . '|' . logged('22012'), 'one that a block catches is');

# ---- exact under load ----

reset_all();
my $script = <<'EOT';
DO $$ BEGIN FOR i IN 1 .. 3 LOOP BEGIN PERFORM 1 / (i - i); EXCEPTION WHEN OTHERS THEN NULL; END; END LOOP; END $$;
EOT
my ($made, $taken) = (0, 0);
my $end = time() + $seconds;
my $rounds = 0;

while (time() < $end || $rounds == 0)
{
	my @loads = map { $server->pgbench_start($script, '-t', 60, '-c', 3, @$_) } ['-C'], [];
	my $i = 0;

	while (grep { $server->pgbench_running($_) } @loads)
	{
		my $level = qw(by_thread by_account by_host global)[$i++ % 4];
		my $left = $server->sql("SELECT pfs.reset('events_errors_summary_${level}_by_error')");

		$taken += $left if $level eq 'global';
	}
	$server->pgbench_end($_) foreach @loads;
	$made += 2 * 3 * 60 * 3;
	$rounds++;
}
ok($server->poll_ended('pgbench'), 'the load is over');
is($taken + $server->sql("SELECT coalesce(sum(sum_error_raised), 0) FROM pfs.$global WHERE sql_state = '22012'"), $made, "all $made errors are counted once, in $rounds rounds of resets");

reset_all();
$server->pgbench($script, '-t', 100, '-c', 4, '-C');
ok($server->poll("SELECT sum_error_raised, sum_error_handled FROM pfs.$global WHERE sql_state = '22012'", '1200|1200'), 'sessions that have ended leave what they raised and handled');

# ---- more states than there is room for ----

is($server->sql("SELECT count(*) FROM pfs.$global WHERE sql_state IS NULL"), 0, 'so far each has its row');
reset_all();
$b->query("DO \$\$ BEGIN FOR i IN 1 .. 500 LOOP BEGIN RAISE EXCEPTION USING ERRCODE = 'Z' || to_char(i, 'FM0000'); EXCEPTION WHEN OTHERS THEN NULL; END; END LOOP; END \$\$");
ok($server->poll("SELECT sum(sum_error_raised), sum(sum_error_handled) FROM pfs.$global WHERE sql_state LIKE 'Z%' OR sql_state IS NULL", '500|500'), 'those of extensions count');
my $others = $server->sql("SELECT sum_error_raised FROM pfs.$global WHERE sql_state IS NULL AND error_name IS NULL AND severity IS NULL");

cmp_ok($others, '>', 0, 'what finds no place is in the row of all others');
is($others + $server->sql("SELECT count(*) FROM pfs.$global WHERE sql_state LIKE 'Z%' AND error_name IS NULL AND sum_error_raised = 1"), 500, 'the others have rows of their own');
is($server->sql("SELECT variable_value FROM pfs.status WHERE variable_name = 'pfs_events_errors_summary_global_lost'"), $others, 'and status counts them');
$server->sql('TRUNCATE pfs.status');
is($server->sql("SELECT records_used = records_max, records_lost FROM pfs.containers WHERE name = 'events_errors_summary_global'"), 't|0', 'containers says how full it is');

# They compete with each other only: those that PostgreSQL defines have their places.
$b->query("DO \$\$ BEGIN BEGIN PERFORM 'x'::xml; EXCEPTION WHEN OTHERS THEN NULL; END;
	BEGIN RAISE EXCEPTION USING ERRCODE = '72000'; EXCEPTION WHEN OTHERS THEN NULL; END; RAISE WARNING USING ERRCODE = '72000'; END \$\$");
is($server->sql("SELECT string_agg(concat_ws(' ', error_name, severity, sum_error_raised), ', ' ORDER BY severity) FROM pfs.$global WHERE sql_state = '72000'"),
	'snapshot_too_old ERROR 1, snapshot_too_old WARNING 1', 'a state that was not met before the places were taken has its row');
is($server->sql("SELECT variable_value FROM pfs.status WHERE variable_name = 'pfs_events_errors_summary_global_lost'"), 0, 'and is not lost');

# A reset of the global table, and no other, gives the places back.
my $used = $server->sql("SELECT records_used FROM pfs.containers WHERE name = 'events_errors_summary_global'");

$server->sql("SELECT pfs.reset('events_errors_summary_${_}_by_error')") foreach qw(by_thread by_account by_host);
is($server->sql("SELECT records_used FROM pfs.containers WHERE name = 'events_errors_summary_global'"), $used, 'resets of other levels keep them');
reset_all();
cmp_ok($server->sql("SELECT records_used FROM pfs.containers WHERE name = 'events_errors_summary_global'"), '<=', $used - 100, 'one of the global table frees them');
$b->query("DO \$\$ BEGIN FOR i IN 1 .. 3 LOOP BEGIN RAISE EXCEPTION USING ERRCODE = 'Y000' || i; EXCEPTION WHEN OTHERS THEN NULL; END; END LOOP; PERFORM 1; END \$\$");
ok($server->poll("SELECT string_agg(concat_ws(' ', sql_state, sum_error_raised, sum_error_handled), ', ' ORDER BY sql_state) FROM pfs.$global WHERE sql_state LIKE 'Y%' OR sql_state LIKE 'Z%'",
	'Y0001 1 1, Y0002 1 1, Y0003 1 1'), 'others have rows then, and no row shows what it was before');

# ---- unknown states of several sessions while resets give the places away ----

reset_all();
($made, $taken) = (0, 0);
# Each session has 100 states of its own: they take each other's places all the time.
my $unknown = <<'EOT';
DO $$ BEGIN FOR i IN 1 .. 100 LOOP BEGIN RAISE EXCEPTION USING ERRCODE = 'X' || chr(65 + pg_backend_pid() % 26) || to_char(i, 'FM000'); EXCEPTION WHEN OTHERS THEN NULL; END; END LOOP; END $$;
EOT
{
	my @loads = map { $server->pgbench_start($unknown, '-t', 40, '-c', 3, @$_) } ['-C'], [];
	my $resets = 0;
	my $wrong = 0;

	while (grep { $server->pgbench_running($_) } @loads)
	{
		$taken += $server->sql("SELECT pfs.reset('$global')");
		# What is read between two resets: one row for each state, and none that nobody raises.
		$wrong += $server->sql("SELECT count(*) FROM (SELECT sql_state FROM pfs.$global WHERE severity = 'ERROR' GROUP BY 1
			HAVING count(*) > 1 OR sql_state !~ '^X[A-Z](0[0-9][0-9]|100)\$') w");
		$resets++;
	}
	$server->pgbench_end($_) foreach @loads;
	$made = 2 * 3 * 40 * 100;
	ok($server->poll_ended('pgbench'), 'the load is over');
	$taken += $server->sql("SELECT coalesce(sum(sum_error_raised), 0) FROM pfs.$global WHERE sql_state LIKE 'X%' OR sql_state IS NULL");
	is($taken, $made, "all $made errors of unknown states are counted once, in $resets resets");
	is($wrong, 0, 'each state has one row, and no row is of another state');
}
reset_all();
$b->query("DO \$\$ BEGIN FOR i IN 1 .. 120 LOOP BEGIN RAISE EXCEPTION USING ERRCODE = 'W' || to_char(i, 'FM0000'); EXCEPTION WHEN OTHERS THEN NULL; END; END LOOP; PERFORM 1; END \$\$");
ok($server->poll("SELECT count(*), min(sum_error_raised), max(sum_error_raised), max(sum_error_handled) FROM pfs.$global WHERE sql_state LIKE 'W%'", '120|1|1|1'), 'after all that the places are there');

done_testing();
