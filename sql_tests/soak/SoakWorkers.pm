# SoakWorkers.pm
#	  What the processes of the soak do to a server: each is a process of its own with
#	  a random sequence of its own, and goes on through whatever is done to its backend.
#
# Counters (count) know what they did, and say so: numbers that pfs must have, to the
# last event.  What was under way when a backend was cancelled or ended may have
# been counted or not, so each number is a low and a high one; they are the same for
# counters that nobody disturbs.  Numbers go by the start time of the server that has them.
#
# The others make the load, read, and switch.  Whoever meets an error that nobody has
# planned reports it.
package SoakWorkers;

use strict;
use warnings;
use POSIX ();
use SoakClient;
use Time::HiRes qw(sleep time);

# Planned by whoever disturbs: cancelled, ended, crash, no connections, starting up, full; and
# what sessions do to each other: deadlocks, lock timeouts, conflicts; what then follows.
my $disturbed = qr/^(57014|57P01|57P02|57P03|53300|08\w\w\w|40P01|40001|55P03|25P02)$/;

my ($stop, $me, %did, %counts, @failures, %unplanned);

# Fork one.  $job: kind, server (host, tcp, port), seed, report (a path), and what the kind needs.
sub start
{
	my ($job) = @_;
	my $pid = fork;

	die "fork: $!" unless defined $pid;
	return $pid if $pid;
	$stop = 0;
	$me = $job;
	$SIG{TERM} = sub { $stop = 1; };
	$SIG{INT} = 'IGNORE';		# the controller ends all
	srand($job->{seed});
	eval { SoakWorkers->can($job->{kind})->(); 1 } or push @failures, "$job->{kind}: $@";
	report();
	POSIX::_exit(0);
}

sub report
{
	open my $file, '>', "$me->{report}.new" or POSIX::_exit(1);
	foreach my $epoch (sort keys %counts)
	{
		print $file join("\t", 'count', $epoch, $me->{user}, $_, $counts{$epoch}{$_}[0], $counts{$epoch}{$_}[1]), "\n"
		  foreach sort keys %{ $counts{$epoch} };
	}
	foreach my $failure (@failures)
	{
		(my $line = $failure) =~ s/\s+/ /g;
		print $file "fail\t$line\n";
	}
	my @unplanned = sort keys %unplanned;

	splice @unplanned, 5 if @unplanned > 5;
	print $file "unplanned\t$_\t$unplanned{$_}\n" foreach @unplanned;
	print $file "did\t$_\t$did{$_}\n" foreach sort keys %did;
	close $file;
	rename "$me->{report}.new", $me->{report};
}

sub pick { return $_[ int rand @_ ]; }
sub chance { return rand() < $_[0]; }

sub connect_to
{
	my (%more) = @_;

	return SoakClient->new(host => (defined $me->{tcp} && chance(0.3) ? $me->{tcp} : $me->{host}), port => $me->{port},
		name => "soak $me->{kind}", %more);
}

# A session until $work says that it is over, or it breaks; then another one.  Of each that the
# server lets in but ends before it is ready, $more{ended_at_login} is told.
sub sessions
{
	my ($work, %more) = @_;

	until ($stop)
	{
		my $c = eval { connect_to(%more) };

		if (defined $c)
		{
			$did{sessions}++;
			eval { $work->($c); 1 } or $@ =~ /^gone/ or push @failures, "$me->{kind}: $@";
			$c->close(chance(0.2));
		}
		elsif ($@ !~ /^gone/)
		{
			push @failures, "$me->{kind}: $@";
		}
		else
		{
			$more{ended_at_login}->() if $@ =~ /^gone: let in/ && defined $more{ended_at_login};
			sleep(0.1 + rand(0.2));
		}
		last if @failures > 5;
	}
}

# A statement of the load.  $planned: more errors that may happen.
sub try_sql
{
	my ($c, $sql, $planned) = @_;
	my $r = $c->query($sql);

	$did{statements}++;
	if (defined $r->{error} && $r->{error} !~ $disturbed && !(defined $planned && "$r->{error} $r->{message}" =~ $planned))
	{
		$unplanned{ "$r->{error} $r->{message}: " . substr($sql =~ s/\s+/ /gr, 0, 200) }++;
	}
	return $r;
}

# ---- counters ----

# The start time of the server that the session is of; none while no server has said it.
my $epoch = '';

# Transactions of a session, as far as that is known from what was sent, or none.
my $transactions;

sub add
{
	my ($key, $low, $high) = @_;

	if ($key eq 'transaction' && defined $transactions)
	{
		$transactions->[0] += $low;
		$transactions->[1] += $high;
		return;
	}
	$counts{$epoch}{$key}[0] += $low;
	$counts{$epoch}{$key}[1] += $high;
}

# What may have happened, or not.
sub perhaps
{
	my (%makes) = @_;

	add($_, 0, $makes{$_}) foreach keys %makes;
}

# A counter got another answer than it had asked for.  One that is left alone gets none, except
# on a standby, where recovery may have to cancel a statement.
sub other_answer
{
	my ($r) = @_;
	my $planned = !$me->{left_alone} ? $disturbed : $me->{standby} ? qr/^40(001|P01)$/ : qr/(?!)/;
	my $error = $r->{error} // 'no error';

	push @failures, "a counter met $error " . ($r->{message} // '') if $error !~ $planned;
}

# One message, which makes these numbers if nothing disturbs it.
#	expect($c, sub { ... }, $error, key => n, ...)
sub expect
{
	my ($act, $error, %makes) = @_;
	my $r;

	$did{statements}++;
	if (!eval { $r = $act->(); 1 })
	{
		perhaps(%makes);
		die $@;
	}
	if (($r->{error} // '') eq $error)
	{
		add($_, $makes{$_}, $makes{$_}) foreach keys %makes;
		return 1;
	}
	perhaps(%makes);
	other_answer($r);
	return 0;
}

# The number of a session's transaction, which are counted from one to the next.
# A lock that another process waits for while pg_locks is read can be there twice, as on a standby.
my $lxid = q{(SELECT max(split_part(virtualtransaction, '/', 2)) FROM pg_locks WHERE pid = pg_backend_pid() AND locktype = 'virtualxid')};

# Every event of the instrument SLRUStat is one of ours, and so is every UNLISTEN.
sub count
{
	my $stat = "pg_stat_file('pg_xact/0000')";
	my @acts = (
		sub { my ($c) = @_; my $k = 1 + int rand 50;
			expect(sub { $c->query("SELECT count($stat) FROM generate_series(1, $k)") }, '', select => 1, wait => $k, transaction => 1, shape => 1) },
		sub { my ($c) = @_;
			expect(sub { $c->query('UNLISTEN soak') }, '', unlisten => 1, transaction => 1) },
		sub { my ($c) = @_;
			expect(sub { $c->query('SELECT 1/0') }, '22012', select => 1, error => 1, transaction => 1) },
		sub { my ($c) = @_; my $k = 1 + int rand 10;
			expect(sub { $c->pipeline('p', $k) }, '', select => $k, wait => $k, transaction => 1, executed => $k) },
		sub { my ($c) = @_; my $k = 1 + int rand 5;
			expect(sub { $c->query("SELECT count($stat) FROM generate_series(1, $k); UNLISTEN soak; UNLISTEN soak") }, '',
				select => 1, unlisten => 2, wait => $k, transaction => 1, shape => 1) },
		sub { my ($c) = @_; my $k = 1 + int rand 5;
			expect(sub { $c->query('BEGIN') }, '', begin => 1, transaction => 1) or return;
			for (1 .. $k)
			{
				expect(sub { $c->query('SAVEPOINT s') }, '', savepoint => 1) or return;
				expect(sub { $c->query("SELECT count($stat) FROM generate_series(1, 3)") }, '', select => 1, wait => 3, shape => 1) or return;
				expect(sub { $c->query(pick('ROLLBACK TO s', 'ROLLBACK TO s; ROLLBACK TO s')) }, '') or return;
			}
			expect(sub { $c->query('COMMIT') }, '', commit => 1) },
		sub { my ($c) = @_;
			expect(sub { $c->query('BEGIN; SELECT 1/0; COMMIT') }, '22012', begin => 1, select => 1, error => 1, transaction => 1) or return;
			expect(sub { $c->query('UNLISTEN soak') }, '25P02', failed => 1);
			expect(sub { $c->query('COMMIT') }, '', over => 1) },
		sub { my ($c) = @_; my $k = 1 + int rand 5;
			expect(sub { $c->query("DO \$\$ BEGIN FOR i IN 1 .. $k LOOP PERFORM $stat FROM generate_series(1, 2); END LOOP;"
				. ' BEGIN PERFORM 1/0; EXCEPTION WHEN division_by_zero THEN NULL; END; END $$') }, '',
				do => 1, select => $k + 1, wait => 2 * $k, error => 1, handled => 1, transaction => 1) });

	my $ended_at_login = sub {
		$epoch = '';
		perhaps(connection => 1, transaction => 1);
	};

	sessions(sub {
			my ($c) = @_;
			# Itself a statement of the server that answers.
			my $r = eval { $c->query("SELECT variable_value, $lxid FROM pfs.status WHERE variable_name = 'pfs_start_time'") };
			my $why_not = $@;

			$epoch = '';
			if (!defined $r || defined $r->{error})
			{
				perhaps(connection => 1, select => 1, transaction => 3);
				die $why_not unless defined $r;
				other_answer($r);
				return;
			}
			$epoch = $r->{rows}[0][0];
			add('connection', 1, 1);
			add('select', 1, 1);
			# The session's own start is a transaction, too, if it waits for something; so is
			# catching up, if somebody has been busy since.
			add('transaction', 1, 3);
			$transactions = [ 0, 0 ];
			my $went_on = eval {
				if (expect(sub { $c->prepare('p', "SELECT $stat") }, '', transaction => 1, parse => 1))
				{
					for (1 .. pick(1, 20, 200, 100000))
					{
						last if $stop;
						if (!pick(@acts)->($c))
						{
							# Cancelled, perhaps inside a transaction; if not, this is one.
							$c->query('ROLLBACK');
							perhaps(over => 1, transaction => 1);
						}
						sleep(rand(0.02)) if chance(0.2);
					}
				}
				1;
			};
			my $why = $@;

			count_transactions($c, $r->{rows}[0][1], $went_on);
			die $why unless $went_on;
		}, user => $me->{user}, ended_at_login => $ended_at_login);
}

# All transactions of a session since the one that had the number $first.  The server knows more
# of them than were sent: a session that is idle for so long that it misses thousands of
# invalidations has a transaction to catch up.  So it is asked, and goes at once.
sub count_transactions
{
	my ($c, $first, $went_on) = @_;
	my ($low, $high) = @$transactions;
	my $r = $went_on ? eval { $c->last_query("SELECT $lxid") } : undef;

	$transactions = undef;
	if (!defined $r || defined $r->{error})
	{
		other_answer($r) if defined $r;
		# This one, and one to catch up.
		add('select', 0, 1);
		add('transaction', $low, $high + 2);
		return;
	}
	my $n = $r->{rows}[0][0] - $first;

	add('select', 1, 1);
	push @failures, "a session had $n transactions, at least " . ($low + 1) . ' are known' if $n < $low + 1;
	# One that was cancelled may have ended before anybody noticed it.
	add('transaction', $n - ($high - $low), $n);
}

# ---- loads ----

# pgbench of the server's own; ends and begins again, with as many sessions as it likes.
sub pgbench
{
	until ($stop)
	{
		my $pid = fork;

		last unless defined $pid;
		if ($pid == 0)
		{
			$SIG{TERM} = $SIG{INT} = 'DEFAULT';
			open STDIN, '<', '/dev/null';
			open STDOUT, '>', '/dev/null';
			open STDERR, '>', '/dev/null';
			$ENV{PGOPTIONS} = '-c synchronous_commit=' . pick('on', 'off', 'off');
			exec("$me->{bindir}/pgbench", '-h', $me->{host}, '-p', $me->{port}, '-U', 'postgres', '-n', '-T', 2 + int rand 6, '-j', 1, '-c', 1 + int rand 4,
				'-M', pick('simple', 'extended', 'prepared'), @{ $me->{arguments} }, 'postgres') or POSIX::_exit(1);
		}
		until (waitpid($pid, POSIX::WNOHANG()) == $pid)
		{
			kill 'TERM', $pid if $stop;
			sleep(0.05);
		}
		$did{pgbenches}++ if $? == 0;
		sleep(0.3) if $? != 0;
	}
}

# Relations, databases, roles, two-phase transactions that come and go.
my $in_ddl = qr/^(42P01|42P07|42704|42710|42P04|42703|55006|2BP01|3D000|55000|22012|42883|42723|2D000|0A000)\b|^XX000 (tuple concurrently|cache lookup failed|could not open relation with OID|relation \d+ deleted)|^23505 duplicate key value violates unique constraint "pg_/;

sub ddl
{
	my $t = "t$me->{number}";
	my @acts = (
		"CREATE TABLE $t AS SELECT g AS i, repeat('x', 200) AS v FROM generate_series(1, 500) g",
		"CREATE INDEX ON $t (i); CREATE INDEX ON $t (v)",
		"CREATE INDEX CONCURRENTLY ON $t (i)",
		"ALTER TABLE $t ADD COLUMN w int DEFAULT 5; ALTER TABLE $t ALTER w TYPE bigint; ALTER TABLE $t DROP COLUMN w",
		"UPDATE $t SET v = repeat('y', 300) WHERE i % 3 = 0",
		"TRUNCATE $t", "VACUUM FULL $t", "CLUSTER $t USING ${t}_i_idx", "REINDEX TABLE $t", "ANALYZE $t", "DROP TABLE $t", "DROP TABLE $t",
		"CREATE TEMP TABLE passing ON COMMIT DROP AS SELECT 1 AS a",
		"CREATE TEMP TABLE mine AS SELECT g FROM generate_series(1, 2000) g; SELECT count(*) FROM mine; DROP TABLE mine",
		"BEGIN; CREATE TABLE gone AS SELECT g FROM generate_series(1, 1000) g; ROLLBACK",
		"CREATE MATERIALIZED VIEW m$t AS SELECT * FROM pgbench_tellers; REFRESH MATERIALIZED VIEW m$t; DROP MATERIALIZED VIEW m$t",
		"CREATE OR REPLACE FUNCTION f$t(n int) RETURNS int LANGUAGE sql AS 'SELECT n + 1'; SELECT f$t(3)",
		"BEGIN; UPDATE pgbench_tellers SET tbalance = 0 WHERE tid = $me->{number}; PREPARE TRANSACTION '$t'",
		"COMMIT PREPARED '$t'", "ROLLBACK PREPARED '$t'", "COMMIT PREPARED '$t'", "ROLLBACK PREPARED '$t'",
		"CREATE ROLE r$t PASSWORD 'secret'; DROP ROLE r$t",
		"ALTER ROLE r$t SET work_mem = '1MB'");

	push @acts, "CREATE DATABASE d$t TEMPLATE template0", "DROP DATABASE d$t" if $me->{number} == 1;
	sessions(sub {
			my ($c) = @_;

			$c->query("SET lock_timeout = '2s'; SET statement_timeout = '20s'");
			for (1 .. 50)
			{
				last if $stop;
				try_sql($c, 'ROLLBACK') if defined try_sql($c, pick(@acts), $in_ddl)->{error};
			}
		});
	# A prepared transaction outlives its session, and would hold its locks for ever.
	eval { connect_to()->query("ROLLBACK PREPARED '$t'"); };
}

# The server's own housekeeping.
sub vacuum
{
	my @tables = map { "pgbench_$_" } qw(accounts branches tellers history);

	sessions(sub {
			my ($c) = @_;

			$c->query("SET lock_timeout = '2s'; SET statement_timeout = '30s'");
			until ($stop)
			{
				try_sql($c, pick(
						'VACUUM ' . pick(@tables), 'VACUUM (FREEZE, ANALYZE) ' . pick(@tables), 'VACUUM (PARALLEL 2) pgbench_accounts', 'CHECKPOINT',
						'SELECT pg_switch_wal()', 'ANALYZE', "CREATE INDEX ON pgbench_history (aid); DROP INDEX pgbench_history_aid_idx",
						'DELETE FROM pgbench_history', 'SELECT pg_log_backend_memory_contexts(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()'),
					$in_ddl);
				sleep(rand(1));
			}
		});
}

# Sessions that last for one statement, over both kinds of sockets.
sub storm
{
	sessions(sub {
			my ($c) = @_;

			try_sql($c, pick('SELECT 1', 'SELECT count(*) FROM pg_class', 'SET search_path = x', 'SELECT 1 FROM nowhere', 'LISTEN a; NOTIFY a'), qr/^(42P01|25006)/) if chance(0.8);
		}, user => pick('postgres', 'm3'));
}

# One of each kind that a session can meet.
sub zoo
{
	my $big = 'SELECT count(*), max(length(filler)) FROM (SELECT * FROM pgbench_accounts ORDER BY filler, abalance, aid OFFSET 5) s';
	my @acts = (
		"SET work_mem = '64kB'; $big", 'SET work_mem = DEFAULT',
		"SET max_parallel_workers_per_gather = 2; SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0; $big",
		'SET max_parallel_workers_per_gather = 0',
		"EXPLAIN (ANALYZE, BUFFERS) $big",
		"BEGIN; DECLARE c CURSOR FOR SELECT * FROM pgbench_accounts; FETCH 10 FROM c; MOVE 100 IN c; CLOSE c; COMMIT",
		"BEGIN; DECLARE c CURSOR WITH HOLD FOR SELECT aid FROM pgbench_accounts LIMIT 500; COMMIT; FETCH ALL FROM c; CLOSE c",
		'BEGIN; SAVEPOINT a; SELECT 1/0; ROLLBACK TO a; COMMIT', 'ROLLBACK',
		'DO $$ BEGIN FOR i IN 1 .. 20 LOOP BEGIN EXECUTE format($q$ SELECT %s/%s $q$, i, i % 3); EXCEPTION WHEN OTHERS THEN NULL; END; END LOOP; END $$',
		'DO $$ BEGIN FOR i IN 1 .. 5 LOOP INSERT INTO pgbench_history (tid) VALUES (i); COMMIT; INSERT INTO pgbench_history (tid) VALUES (i); ROLLBACK; END LOOP; END $$',
		'DO $$ BEGIN RAISE WARNING $q$ a warning $q$; RAISE EXCEPTION USING ERRCODE = $q$ZZ0$q$ || (random() * 99)::int; EXCEPTION WHEN OTHERS THEN NULL; END $$',
		'SELECT pg_sleep(random() * 0.2)', "SET statement_timeout = '30ms'; SELECT pg_sleep(1)", 'SET statement_timeout = 0',
		"SELECT pg_advisory_xact_lock(1 + (random() * 3)::int), pg_advisory_xact_lock(1 + (random() * 3)::int)",
		'LISTEN soak_channel', "NOTIFY soak_channel, 'x'", 'SELECT pg_notify(\'soak_channel\', repeat(\'x\', 1000))',
		'BEGIN; UPDATE pgbench_branches SET bbalance = 0 WHERE bid = 1; SELECT pg_sleep(random() * 0.05); UPDATE pgbench_tellers SET tbalance = 1 WHERE tid = 1; COMMIT',
		'BEGIN; UPDATE pgbench_tellers SET tbalance = 1 WHERE tid = 1; SELECT pg_sleep(random() * 0.05); UPDATE pgbench_branches SET bbalance = 0 WHERE bid = 1; COMMIT',
		'BEGIN ISOLATION LEVEL SERIALIZABLE; SELECT sum(bbalance) FROM pgbench_branches; UPDATE pgbench_branches SET bbalance = bbalance + 1 WHERE bid = 1; COMMIT',
		'COPY (SELECT * FROM pgbench_tellers) TO STDOUT', 'COPY pgbench_history FROM STDIN', 'COPY (SELECT generate_series(1, 20000)) TO STDOUT',
		"SELECT repeat('x', 2000000)", 'SELECT * FROM pgbench_accounts LIMIT 3000', "SELECT length(repeat(md5(random()::text), 200000))",
		'PREPARE q AS SELECT 1', 'EXECUTE q', 'EXECUTE q', 'DEALLOCATE ALL', 'DISCARD ALL', 'SELECT syntax error', 'SELECT pg_backend_pid(); SELECT; ;',
		'SELECT lo_unlink(lo_create(0))', 'SELECT count(*) FROM pg_ls_waldir()', 'SELECT pg_stat_file(\'nowhere\')', 'SELECT count(*) FROM pg_locks', 'SELECT * FROM pg_stat_activity',
		"SELECT set_config('application_name', 'soak ' || repeat('n', (random() * 60)::int), false)", "LOCK pgbench_history",
		# A string whose second statement waits in its analysis, and whom it waits for.
		'BEGIN; LOCK pgbench_history; SELECT pg_sleep(random() * 0.1); COMMIT', 'SELECT 1 AS before; SELECT count(*) FROM pgbench_history; SELECT 2 AS behind');

	sessions(sub {
			my ($c) = @_;

			for (1 .. pick(3, 30, 300))
			{
				last if $stop;
				if (chance(0.1))
				{
					my $name = 's' . int rand 40;

					$c->prepare($name, pick('SELECT 1', 'SELECT count(*) FROM pgbench_tellers', 'UPDATE pgbench_tellers SET tbalance = 2 WHERE tid = 3', 'SELECT 1/0'));
					$c->pipeline($name, 1 + int rand 20);
					$c->unprepare($name) if chance(0.5);
					next;
				}
				# Shapes that nobody has seen.
				try_sql($c, 'SELECT ' . join(', ', map { pick('tid', 'bid', 'tbalance') . ' AS ' . pick('a' .. 'z') . int rand 9 } 1 .. 1 + int rand 3) . ' FROM pgbench_tellers WHERE tid = 1'), next
				  if chance(0.15);
				# All these are ours: what matters is that the session goes on.
				try_sql($c, pick(@acts), qr/^(?!XX|58|53[^3])|"nowhere"/);
			}
		}, user => pick('postgres', 'm3'));
}

# ---- readers, and those who switch ----

# Every table, every column; no number may be negative, no event impossible.
my $impossible = <<'EOT';
timer_start < 0 OR timer_wait < 0 OR timer_end > pfs.timer_now() + 5e12
OR timer_wait IS DISTINCT FROM CASE event_name WHEN 'wait/io/table/handler' THEN least(timer_wait, timer_end - timer_start + 1000)
	ELSE timer_end - timer_start END
OR end_event_id < event_id OR event_name IS NULL OR thread_id < 1 OR event_id < 1 OR nesting_event_id >= event_id
OR event_name !~ %s
EOT
my %names = (waits => '^(wait/|idle)', stages => '^stage/', statements => '^statement/', transactions => '^transaction$');
my @events = map { my $family = $_; map { [ "events_${family}_$_", sprintf($impossible, "'$names{$family}'") ] } qw(current history history_long) } sort keys %names;

sub reader
{
	my @tables;

	sessions(sub {
			my ($c) = @_;

			if (!@tables)
			{
				my $r = $c->query(<<'EOT');
SELECT relname, string_agg(CASE WHEN atttypid IN ('int'::regtype, 'bigint'::regtype, 'numeric'::regtype, 'float8'::regtype) AND attname NOT IN ('socket_id', 'port', 'query_id', 'plan_id', 'server_plan_id')
                                THEN quote_ident(attname) || ' < 0' END, ' OR '),
       CASE WHEN bool_or(attname = 'count_timed') THEN ' OR count_timed > ' || CASE WHEN bool_or(attname = 'count_star') THEN 'count_star' ELSE 'count_calls' END ELSE '' END
  FROM pg_class JOIN pg_attribute ON attrelid = pg_class.oid WHERE relnamespace = 'pfs'::regnamespace AND relkind IN ('f', 'v') AND attnum > 0 AND NOT attisdropped
 GROUP BY 1 ORDER BY 1
EOT
				@tables = @{ $r->{rows} } unless defined $r->{error};
			}
			until ($stop || !@tables)
			{
				my ($table, $negative, $timed) = @{ pick(@tables) };
				my $wrong = ($negative // 'false') . $timed;
				my $what;

				if (chance(0.3))
				{
					($table, $wrong) = @{ pick(@events) };
				}
				elsif (chance(0.3))
				{
					$what = "SELECT * FROM pfs.$table";
				}
				elsif (chance(0.1))
				{
					$what = 'SELECT 0 FROM pfs.events_waits_history_long JOIN pfs.threads USING (thread_id) LIMIT 1';
				}
				my $r = try_sql($c, $what // "SELECT count(*) FILTER (WHERE $wrong) FROM pfs.$table");

				$did{reads}++ unless defined $r->{error};
				next if defined $r->{error} || defined $what || !$r->{rows}[0][0];
				# What it is, if it still is so.
				my $row = $c->query("SELECT t FROM pfs.$table t WHERE $wrong LIMIT 1");

				push @failures, "a wrong row of $table: " . substr($row->{rows}[0][0] // 'gone meanwhile', 0, 600);
				sleep($me->{pause}) if $me->{pause};
			}
		}, user => $me->{user});
}

my $families = '(waits|stages|statements|transactions)';

# What leaves the numbers of counters alone.
my @gentle = (
	q{UPDATE pfs.setup_instruments SET enabled = CASE WHEN random() < 0.5 THEN 'yes' ELSE 'no' END WHERE name LIKE 'memory/context/%'},
	q{UPDATE pfs.setup_instruments SET enabled = 'YES' WHERE name LIKE 'memory/context/%'},
	(map { "SELECT pfs.set_timer('$_', (ARRAY['NANOSECOND', 'MICROSECOND', 'MILLISECOND', 'TICK'])[1 + floor(random() * 4)::int])" } qw(idle wait stage statement transaction)),
	q{SELECT pfs.set_consumers('%history%', CASE WHEN random() < 0.4 THEN 'NO' ELSE 'YES' END)},
	q{SELECT pfs.set_consumers('events_statements_cpu', CASE WHEN random() < 0.4 THEN 'NO' ELSE 'YES' END)},
	q{UPDATE pfs.threads SET history = CASE WHEN random() < 0.3 THEN 'no' ELSE 'yes' END},
	'TRUNCATE pfs.memory_summary_global_by_event_name',
	(map { my $f = $_; map { "TRUNCATE pfs.events_${f}_$_" } qw(history history_long current) } qw(waits stages statements transactions)),
	(map { "TRUNCATE pfs.$_" } qw(prepared_statements_instances file_summary_by_event_name file_summary_by_instance socket_summary_by_event_name
		socket_summary_by_instance events_waits_summary_by_digest events_statements_histogram_by_digest)),
	q{SELECT pfs.reset('events_stages_summary_global_by_event_name')},
	q{SELECT pfs.setup_sql(), pfs.timer_to_timestamp(pfs.timer_now()), pfs.reset_time('accounts')});
# Instruments that counters do not go by.
my @others = map { my $pattern = $_; map { "SELECT pfs.set_instruments('$pattern', '$_', '" . ($_ eq 'NO' ? 'NO' : 'YES') . "')" } 'NO', 'YES', 'YES' }
  ('wait/synch/%', 'wait/lock/%', 'wait/io/socket/%', 'wait/timeout/%', 'wait/activity/%', 'stage/%', 'idle%', 'wait/io/file/Data%', 'wait/io/file/WAL%');
# What moves numbers from level to level, and keeps those of the whole server.  What a session
# has counted while it logs in has no account to move to yet, so it moves to the server.
my @levels = map { my $f = $_; map { my $l = $_; map { sprintf($_, "pfs.$f" . sprintf($l, $f =~ /errors/ ? 'error' : 'event_name')) } 'TRUNCATE %s', "SELECT pfs.reset('%s')" }
	qw(_summary_by_thread_by_%s _summary_by_account_by_%s _summary_by_user_by_%s _summary_by_host_by_%s) } qw(events_waits events_statements events_transactions events_errors events_stages);
push @levels, map { ("TRUNCATE pfs.$_", "SELECT pfs.reset('$_')") } qw(accounts users hosts memory_summary_by_thread_by_event_name
	memory_summary_by_account_by_event_name memory_summary_by_user_by_event_name memory_summary_by_host_by_event_name);
# What nobody can count through.
my @wild = (
	q{UPDATE pfs.setup_instruments SET enabled = CASE WHEN random() < 0.5 THEN 'yes' ELSE 'no' END, timed = CASE WHEN random() < 0.5 THEN 'yes' ELSE 'no' END},
	q{UPDATE pfs.setup_instruments SET enabled = 'YES', timed = 'YES'},
	q{UPDATE pfs.setup_instruments SET timed = 'NO' WHERE random() < 0.3},
	q{UPDATE pfs.setup_consumers SET enabled = CASE WHEN random() < 0.4 THEN 'NO' ELSE 'YES' END},
	q{SELECT pfs.set_consumers('%', 'YES')}, q{SELECT pfs.set_consumers('%', 'YES')},
	q{UPDATE pfs.threads SET instrumented = CASE WHEN random() < 0.3 THEN 'no' ELSE 'yes' END, history = CASE WHEN random() < 0.3 THEN 'no' ELSE 'yes' END},
	q{UPDATE pfs.setup_threads SET enabled = CASE WHEN random() < 0.3 THEN 'no' ELSE 'yes' END},
	q{SELECT pfs.set_actor('%', 'm' || floor(random() * 200)::int, '%', 'NO', 'NO')}, q{SELECT pfs.drop_actor('%', 'm' || floor(random() * 200)::int)},
	q{INSERT INTO pfs.setup_actors (host, user_name) VALUES ('127.0.0.1', 'm' || floor(random() * 200)::int)}, q{DELETE FROM pfs.setup_actors WHERE user_name LIKE 'm1%'},
	q{SELECT pfs.set_object('TABLE', '%', '%', 'm' || floor(random() * 200)::int, 'NO')}, q{SELECT pfs.drop_object('TABLE', '%', '%', 'm' || floor(random() * 200)::int)},
	q{INSERT INTO pfs.setup_objects (object_type, object_name) VALUES ('FUNCTION', 'm' || floor(random() * 200)::int)},
	q{UPDATE pfs.setup_objects SET timed = CASE WHEN random() < 0.3 THEN 'no' ELSE 'yes' END}, q{DELETE FROM pfs.setup_objects WHERE object_name LIKE 'm1%'},
	q{SELECT pfs.reset()}, q{TRUNCATE pfs.status}, q{TRUNCATE pfs.containers}, q{SELECT pfs.reset('containers')});

sub switcher
{
	my @acts = @gentle;

	sessions(sub {
			my ($c) = @_;

			push @acts, @others if @acts == @gentle && $me->{with} =~ /others/;
			push @acts, @levels if $me->{with} =~ /levels/;
			if ($me->{with} =~ /wild/)
			{
				my $r = $c->query("SELECT table_name FROM pfs.tables WHERE truncate_effect !~ 'refused' AND table_name <> 'setup_actors'");

				push @acts, @wild, @levels, map { "TRUNCATE pfs.$_->[0]" } @{ $r->{rows} };
			}
			until ($stop)
			{
				try_sql($c, pick(@acts), $me->{with} =~ /wild/ ? qr/^(53400|23505)/ : undef);
				$did{switches}++;
				sleep(rand($me->{pause} // 0.2));
			}
		});
}

# Resets of all levels, and how many events left the server with those of the whole.
sub keeper
{
	my %left = (waits => 0, statements => 0);

	sessions(sub {
			my ($c) = @_;

			until ($stop)
			{
				my $family = pick(sort keys %left);
				my $level = pick(qw(global by_thread by_account by_user by_host));

				my $n = $c->value("SELECT pfs.reset('events_${family}_summary_${level}_by_event_name')");

				$left{$family} += $n if $level eq 'global';
				$did{resets}++;
				push @failures, "a reset returned $n" if $n < 0;
				sleep(rand(0.1));
			}
		}, user => 'u0');
	$epoch = 'left';
	add("left $_", $left{$_}, $left{$_}) foreach keys %left;
}

1;
