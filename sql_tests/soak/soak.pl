# A server under everything that can happen to it, for some minutes, with a
# standby: loads, DDL, vacuum, storms of connections, resets, switches, readers of every
# table, sessions that are cancelled and terminated, processes that are killed.  The
# invariants of SoakChecks.pm are checked whenever all is quiet, and at the end.
#
#	perl soak.pl MINUTES SEED [SETTING...]
#
# A round is a stretch of load and the checks behind it:
#	exact     counters that nobody disturbs, and nobody resets: each number of theirs is exact at
#	          all levels, also of those that are terminated, within what was under way
#	levels    the numbers of levels below the server are reset: those of the server are exact
#	returned  all levels are reset: what resets returned and what is left is exact
#	crash     processes are killed: after each restart the server counts from zero, exactly
#	wild      everything is switched and truncated: no number is known, no row is wrong
#
# Prints what must be true, what it does, each check that fails, and a verdict.  SIGINT and
# SIGTERM end it.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/../t/lib", $FindBin::RealBin;
use List::Util qw(first shuffle);
use PfsServer;
use POSIX ();
use SoakChecks;
use SoakClient;
use SoakWorkers;
use Time::HiRes qw(sleep time);

my ($minutes, $seed, @settings) = @ARGV;
my $began = time();
my $end = $began + 60 * $minutes;
my $controller = $$;
my ($passed, $failed) = (0, 0);
my (%verdict, @failures);	# {invariant} = [passed, failed]
my %known;	# checks that are known to fail: {name} = { why, counts => [passed, failed] }
my (%did, %workers, @standby_counts, $njobs);
my $folder = PfsServer::folder();

$| = 1;
$SIG{INT} = sub { exit 130 };
$SIG{TERM} = $SIG{HUP} = sub { exit 143 };
# Before PfsServer's, which ends the servers.
END
{
	if (defined $controller && $$ == $controller)
	{
		my $status = $?;

		kill 'KILL', keys %workers;
		waitpid($_, 0) foreach keys %workers;
		$? = $status;
	}
}

srand($seed);

sub say_it { printf("%6.1f s  %s\n", time() - $began, $_[0]); }
sub pick { return $_[ int rand @_ ]; }
sub chance { return rand() < $_[0]; }

my $where = '';

# Where something is wrong, what the servers said that is not an answer to a session; whoever
# wants the whole logs keeps the folder.
{
	no warnings 'redefine';
	*PfsServer::show_log = sub {
		my ($server) = @_;

		$server->{log_offset} = 0;
		my @lines = grep { /(?:PANIC|TRAP): |WARNING: (?!.*no transaction)|terminated by signal|\bpfs\b(?![._])/ } split /\n/, $server->log_text;

		splice @lines, 0, @lines - 40 if @lines > 40;
		print join("\n    ", "the log of the $server->{name} ends, of what may matter:", @lines), "\n";
	};
}

SoakChecks::reports_to(sub {
		my ($invariant, $name, $wrong, $why) = @_;

		if (defined $why)
		{
			$known{$name} //= { why => $why, counts => [ 0, 0 ] };
			$known{$name}{counts}[ $wrong ne '' ]++;
			say_it("known to fail: $where: $name: $wrong") if $wrong ne '';
			return;
		}
		$verdict{$invariant}[ $wrong ne '' ]++;
		if ($wrong eq '')
		{
			$passed++;
			return;
		}
		$failed++;
		push @failures, sprintf('%.1f s, %s: %s: %s', time() - $began, $where, $name, $wrong);
		say_it("FAILED: $where: $name: $wrong");
	});

# Each invariant was checked, and how often it did not hold.
sub verdict
{
	print "\nverdict:\n";
	foreach my $invariant (map { $_->[0] } @SoakChecks::invariants)
	{
		my ($good, $bad) = map { $_ // 0 } @{ $verdict{$invariant} // [] }[ 0, 1 ];

		# A run that has not looked has not shown anything.
		$failed++, $bad++, push @failures, "$invariant was never checked" unless $good + $bad;
		printf("  %-8s %-6s %d of %d checks\n", $invariant, $bad ? 'FAILED' : 'holds', $bad || $good, $good + $bad);
	}
	foreach my $name (sort keys %known)
	{
		my ($good, $bad) = @{ $known{$name}{counts} };

		printf("  known to fail: %s: %d of %d checks (%s)\n", $name, $bad, $good + $bad, $known{$name}{why});
	}
	print "what failed, in the order in which it happened:\n", map { "  $_\n" } @failures if @failures;
	printf("%s after %.1f minutes, seed %d\n", $failed ? 'DEFECTS FOUND' : 'no defect found', (time() - $began) / 60, $seed);
	printf("%d passed, %d failed\n", $passed, $failed);
}

# ---- servers and our sessions ----

my $conf = join("\n", <<'EOT', @settings);
max_connections = 80
# Behind a crash only what was counted since then is known exactly.
pfs.save_interval = 0
shared_buffers = 8MB
max_wal_size = 128MB
checkpoint_timeout = 30s
max_prepared_transactions = 10
max_replication_slots = 4
max_slot_wal_keep_size = 4GB
wal_receiver_status_interval = 1s
hot_standby_feedback = on
max_standby_streaming_delay = 2s
autovacuum_naptime = 1s
autovacuum_vacuum_threshold = 20
autovacuum_vacuum_scale_factor = 0.01
deadlock_timeout = 100ms
log_min_messages = warning
log_line_prefix = '%m [%p] %e %b '
EOT

my $primary = PfsServer->new('primary', tcp => 1, conf => $conf);
# Processes that we have killed, by server, and of how many of them the log has been read.
my ($standby, %kills, %seen);

# A session of ours that nobody disturbs, made anew after a crash.
sub control
{
	my ($server) = @_;
	my $until = time() + $SoakClient::patience;

	while (1)
	{
		my $c = $server->{soak};

		return $c if defined $c && eval { $c->value('SELECT 1') };
		delete $server->{soak};
		$server->{soak} = eval { SoakClient->new(host => $server->{host}, port => $server->{port}, name => 'controller') };
		sleep(0.2) unless defined $server->{soak};
		die "server $server->{name} does not come back: $@" if time() > $until;
	}
}

sub start_time { return control($_[0])->value(q{SELECT variable_value FROM pfs.status WHERE variable_name = 'pfs_start_time'}); }

sub job
{
	my ($server, $kind, %more) = @_;
	my $report = "$folder/report" . ++$njobs;
	# A forked child draws from here, too.
	my $pid = SoakWorkers::start({ kind => $kind, host => $server->{host}, tcp => '127.0.0.1', port => $server->{port}, bindir => PfsServer::bindir(),
			number => $njobs % 7 + 1, seed => ($seed * 1000003 + $njobs) % 2**31, report => $report, %more });

	$workers{$pid} = { report => $report, kind => $kind, server => $server };
	return $pid;
}

# Stop these, and read what they did: {epoch}{user}{key} = [low, high].  The epoch is the start time
# of the server that has these numbers, or empty: that is not known.
sub finish
{
	my (@pids) = @_;
	my %counts;
	local $SoakChecks::about = 'rows';

	kill 'TERM', @pids;
	foreach my $pid (@pids)
	{
		my $until = time() + $SoakClient::patience + 30;

		until (waitpid($pid, POSIX::WNOHANG()) == $pid)
		{
			if (time() > $until)
			{
				SoakChecks::check("a worker ($workers{$pid}{kind}) ends", 'it does not');
				kill 'KILL', $pid;
				$until = time() + 60;
			}
			sleep(0.02);
		}
		my $worker = delete $workers{$pid};
		my $failures = @failures;

		if (open my $file, '<', $worker->{report})
		{
			while (<$file>)
			{
				chomp;
				my ($what, @rest) = split /\t/;

				if ($what eq 'count')
				{
					my ($epoch, $user, $key, $low, $high) = @rest;

					$counts{$epoch}{$user}{$key}[0] += $low;
					$counts{$epoch}{$user}{$key}[1] += $high;
				}
				$did{ $rest[0] } += $rest[1] if $what eq 'did';
				SoakChecks::check("a worker ($worker->{kind})", $rest[0]) if $what eq 'fail';
				SoakChecks::check("a worker ($worker->{kind}) meets only errors that can be", "$rest[1] x $rest[0]") if $what eq 'unplanned';
			}
			unlink $worker->{report};
		}
		else
		{
			SoakChecks::check("a worker ($worker->{kind}) reports", 'it does not');
		}
		SoakChecks::check("a worker ($worker->{kind}) has met nothing wrong", '') if @failures == $failures;
	}
	return \%counts;
}

# ---- disturbances ----

# End or cancel a session, or a background process that comes back by itself.  A session that logs in
# may be a counter's, and has no name yet.
sub disturb
{
	my ($server) = @_;
	my $r = control($server)->query(q{SELECT pid, backend_type FROM pg_stat_activity WHERE application_name <> 'controller' AND coalesce(usename, '') !~ '^u'
		AND (usename IS NOT NULL OR backend_type <> 'client backend')
		AND backend_type IN ('client backend', 'client backend', 'parallel worker', 'autovacuum worker', 'autovacuum launcher', 'walwriter', 'background writer', 'walsender', 'walreceiver')});
	my @sessions = grep { $_->[1] eq 'client backend' || $_->[1] eq 'parallel worker' } @{ $r->{rows} };
	my @others = grep { $_->[1] ne 'client backend' } @{ $r->{rows} };
	my $victim = @others && (chance(0.15) || !@sessions) ? pick(@others) : @sessions ? pick(@sessions) : return;

	if (chance(0.3) && $victim->[1] !~ /^(walsender|background writer|walwriter|walreceiver)$/)
	{
		$did{cancelled} += kill 'INT', $victim->[0];
	}
	else
	{
		$did{terminated} += kill 'TERM', $victim->[0];
	}
}

# The server's children.
sub children
{
	my ($server) = @_;
	my $parent = $server->postmaster_pid;
	my @children;

	foreach my $stat (glob '/proc/[0-9]*/stat')
	{
		open my $file, '<', $stat or next;
		my $line = <$file> // '';

		push @children, $1 if $line =~ /^(\d+) \(.*\) \S (\d+) / && $2 == $parent;
	}
	return @children;
}

# Is this process alive, and stopped?  One that is ending does not stop any more, and no signal
# changes how it ends.
sub stopped
{
	my ($pid) = @_;
	my $until = time() + 10;

	kill 'STOP', $pid;
	while (time() < $until && open my $file, '<', "/proc/$pid/stat")
	{
		my ($state) = (<$file> // '') =~ /^\d+ \(.*\) (\S) / or return 0;

		return $state eq 'T' if $state =~ /^[TZX]$/;
		sleep(0.01);
	}
	kill 'CONT', $pid;
	return 0;
}

# Kill one of the processes that take the server through a crash restart, and wait for it.
sub kill_one
{
	my ($server) = @_;
	local $SoakChecks::about = 'server';
	my $before = start_time($server);
	my $r = control($server)->query(q{SELECT pid FROM pg_stat_activity WHERE backend_type NOT IN ('startup')});
	my %known = map { $_->[0] => 1 } @{ $r->{rows} };
	my @victims = grep { $known{$_} } children($server);

	my $victim = first { stopped($_) } shuffle(@victims);

	return unless $victim;
	kill 'KILL', $victim;
	$did{killed}++;
	$kills{ $server->{name} }++;
	delete $server->{soak};
	my $until = time() + $SoakClient::patience;

	sleep(0.1) until eval { start_time($server) ne $before } || time() > $until;
	SoakChecks::check('the server restarts after a crash', start_time($server) ne $before ? '' : 'it does not');
}

# ---- rounds ----

my @users = qw(u1 u2 u3);

sub crew
{
	my ($server, $kind) = @_;
	my @crew;

	push @crew, job($server, 'count', user => $_, left_alone => 1) foreach @users, 'u1';
	push @crew, job($server, 'count', user => $_) foreach qw(m1 m2);
	push @crew, job($server, 'pgbench', arguments => []), job($server, 'pgbench', arguments => [ '-S', '-C' ]);
	push @crew, job($server, 'ddl'), job($server, 'ddl'), job($server, 'vacuum'), job($server, 'zoo'), job($server, 'zoo');
	push @crew, job($server, 'storm'), job($server, 'storm');
	push @crew, job($server, 'reader', user => 'postgres'), job($server, 'reader', user => 'm4', pause => 0.01);
	push @crew, job($server, 'switcher', with => $kind) foreach $kind eq 'wild' ? (1 .. 3) : 1;
	return @crew;
}

# All that can be switched is on, and all numbers are zero.
#
# An event counts for where it belonged when it began.  Background processes may wait for minutes,
# in a wait that began while thread_instrumentation was off, and would count it for the server
# only.  They are waked, and the numbers set to zero when each has begun another wait.  A walsender
# has one statement for as long as it lives, which is not shown if it began while
# events_statements_current was off: it ends, and comes again.
sub fresh
{
	my ($server) = @_;
	local $SoakChecks::about = 'server';
	my $c = control($server);

	$c->query($_) foreach q{TRUNCATE pfs.setup_actors}, q{INSERT INTO pfs.setup_actors DEFAULT VALUES},
	  q{TRUNCATE pfs.setup_objects}, q{INSERT INTO pfs.setup_objects (object_type) SELECT unnest('{TABLE, FUNCTION, PROCEDURE, TRIGGER}'::text[])},
	  q{SELECT pfs.set_consumers('%', 'YES'), pfs.set_instruments('%', 'YES', 'YES'), pfs.set_threads('%', 'YES', 'YES')},
	  q{SELECT pfs.set_timer(n, 'NANOSECOND') FROM pfs.setup_timers t (n, x)},
	  q{UPDATE pfs.threads SET instrumented = 'YES', history = 'YES'};
	$c->query('SELECT pg_terminate_backend(pid, 30000) FROM pg_stat_replication');
	# Clocks that are a little apart do not matter.
	sleep(0.1);
	my $since = $c->value('SELECT pfs.timer_now()');

	SoakChecks::soon('each process begins another wait', sub {
			$c->query('SELECT pg_reload_conf()');
			sleep(0.05);
			return SoakChecks::rows($c, qq{SELECT thread_os_id, t.name, event_name, timer_start, $since FROM pfs.threads t LEFT JOIN pfs.events_waits_current w USING (thread_id)
				WHERE thread_os_id <> pg_backend_pid() AND (w.timer_start < $since OR w.timer_start IS NULL)});
		});
	$c->query($_) foreach 'TRUNCATE pfs.users, pfs.hosts, pfs.accounts, pfs.status', q{SELECT pfs.reset()},
	  # What that counted itself has moved from level to level.
	  (map { "SELECT pfs.reset('${_}_summary_global_by_event_name')" } qw(events_stages events_transactions events_waits memory events_statements)),
	  q{SELECT pfs.reset('events_errors_summary_global_by_error')}, 'ALTER SYSTEM SET autovacuum = on', 'SELECT pg_reload_conf()';
}

# Nobody is there but us.
sub quiet
{
	my ($server) = @_;
	local $SoakChecks::about = 'server';
	my $c = control($server);

	if ($c->value('SELECT pg_is_in_recovery()') eq 'f')
	{
		$c->query('ALTER SYSTEM SET autovacuum = off');
		$c->query('SELECT pg_reload_conf()');
	}
	SoakChecks::soon('all sessions end', sub {
			return SoakChecks::rows($c, q{SELECT pid, backend_type, usename, state, query FROM pg_stat_activity
				WHERE application_name <> 'controller' AND backend_type IN ('client backend', 'parallel worker', 'autovacuum worker')});
		});
}

my %quiet;	# what a quiet server had, by process or container

# Memory of processes and containers does not grow from quiet to quiet.
sub growth
{
	my ($server) = @_;
	local $SoakChecks::about = 'memory';
	my $c = control($server);
	my $started = start_time($server);
	my $r = $c->query(q{SELECT pid, backend_type FROM pg_stat_activity WHERE backend_type IN ('checkpointer', 'walwriter', 'background writer', 'startup', 'logical replication launcher')});

	foreach my $row (@{ $r->{rows} })
	{
		my $kb = SoakChecks::private_kb($row->[0]) // next;
		my $first = $quiet{"$server->{name} $row->[0]"} //= $kb;

		SoakChecks::check("memory of $row->[1]", $kb <= $first + 8192 ? '' : "$first kB have become $kb kB");
	}
	# Used by what is there; a full server has used pages before.
	$r = $c->query(q{SELECT name, bytes_resident FROM pfs.containers WHERE name IN ('thread_instances', 'socket_instances', 'accounts', 'users', 'hosts', 'setup_actors')});
	foreach my $row (@{ $r->{rows} })
	{
		my $first = $quiet{"$started $row->[0]"} //= $row->[1];

		SoakChecks::check("bytes of $row->[0]", $row->[1] <= 3 * $first + 4_000_000 ? '' : "$first have become $row->[1]");
	}
}

# What the server has counted since its start for these users: {user}{key} = [low, high].  What some
# server has counted, this one may have.
sub of_now
{
	my ($server, $counts, $users) = @_;
	my %now = map { $_ => {} } grep { /$users/ } qw(u1 u2 u3 m1 m2);

	foreach my $epoch (start_time($server), '')
	{
		SoakChecks::add_numbers($now{$_}, $counts->{$epoch}{$_} // {}) foreach keys %now;
	}
	return \%now;
}

sub round
{
	my ($server, $kind, $seconds) = @_;
	my $until = time() + $seconds;
	my %lingering;
	my $keeper;
	my $crashes = $kills{ $server->{name} } // 0;

	$where = "$server->{name}, $kind";
	$SoakChecks::patience = 30;
	my $c = control($server);

	fresh($server);
	my $rows = SoakChecks::rows_counted($c);

	if ($kind eq 'returned')
	{
		# Nothing but what the counters count; what is under way ends yet.
		$c->query($_) foreach q{SELECT pfs.set_instruments('wait/%', 'NO'), pfs.set_instruments('idle%', 'NO'), pfs.set_instruments('statement/%', 'NO')},
		  q{SELECT pfs.set_instruments('wait/io/file/SLRUStat', 'YES'), pfs.set_instruments('statement/sql/unlisten', 'YES')};
		$lingering{$_} = $c->value("SELECT count(*) FROM pfs.events_${_}_current") foreach qw(waits statements);
		$c->query("SELECT pfs.reset('events_${_}_summary_global_by_event_name')") foreach qw(waits statements);
	}
	my @crew = crew($server, { exact => 'others', levels => 'others levels', crash => 'others', wild => 'wild', returned => '' }->{$kind});

	$keeper = job($server, 'keeper', user => 'u0') if $kind eq 'returned';
	while (time() < $until)
	{
		sleep(0.05 + rand(0.4));
		# Sessions come back at once, so that there is always a load.
		if ($kind eq 'crash' && chance(0.08)) { kill_one($server); }
		else { eval { disturb($server) }; }
		if (defined $standby && $standby->{running} && $standby ne $server && chance(0.2))
		{
			# Recovery may cancel the question that comes first; then nobody is killed.
			if (chance(0.02)) { eval { kill_one($standby); 1 } or $@ =~ /^error: 40/ or die $@; }
			else { eval { disturb($standby) }; }
		}
	}
	kill_one($server) if $kind eq 'crash' && ($kills{ $server->{name} } // 0) == $crashes;
	# A stretch of load that can be counted after the last crash.
	sleep(3) if $kind eq 'crash';

	my @times = (time());
	my $counts = finish(@crew, $keeper // ());

	push @times, time();
	quiet($server);
	push @times, time();
	$c = control($server);
	my $known = of_now($server, $counts, $kind eq 'crash' ? '^u' : '.');

	if ($kind eq 'exact' || $kind eq 'crash')
	{
		SoakChecks::counted($c, $known);
		$c->query(q{SELECT pfs.set_instruments('%', 'YES', 'YES')});
		SoakChecks::levels($c, logins_fail => $kind eq 'crash');
	}
	# What the switches of these rounds leave alone.
	SoakChecks::tables($c, $rows) if $kind =~ /exact|levels/;
	SoakChecks::counted_globally($c, $known) if $kind eq 'levels';
	SoakChecks::returned($c, $known, { map { $_ => $counts->{left}{u0}{"left $_"}[0] } qw(waits statements) }, \%lingering) if $kind eq 'returned';
	SoakChecks::always($c, $server);
	growth($server);
	# Nothing but what we have done.
	my $want = ($kills{ $server->{name} } // 0) - ($seen{ $server->{name} } // 0);
	my $crashed = () = $server->log_text =~ /terminated by signal 9/g;

	$seen{ $server->{name} } = $kills{ $server->{name} };
	local $SoakChecks::about = 'server';
	SoakChecks::check('only crashes of ours', $crashed == $want ? '' : "$crashed processes were killed, $want by us");
	look_at_log($server);
	my $n = 0;

	$n += $_->{select}[0] // 0 foreach values %$known;
	say_it(sprintf('%s, %s: %d checks passed, %d failed so far; counted to %d; ended in %.0f + %.0f s, checked in %.0f s%s', $server->{name}, $kind, $passed, $failed, $n,
			$times[1] - $times[0], $times[2] - $times[1], time() - $times[2],
			$want ? ", crash restarts: $want" : ''));
	$SoakChecks::about = 'counts';
	SoakChecks::check('the round was long enough to count something', $n > 0 ? '' : 'no') unless $kind eq 'wild';
}

# Internal errors and crashes that nobody has planned, and what pfs complains of.
sub look_at_log
{
	my ($server) = @_;
	my $races = qr/tuple concurrently|cache lookup failed|could not open relation with OID|relation \d+ deleted/;
	my @lines = grep { /PANIC: |TRAP: |terminated by signal (?!9\b)/ || /(WARNING|ERROR|FATAL): / && (/\] (XX|58)/ || /\bpfs\b(?![._])/) && !/$races|"nowhere"/ } split /\n/, $server->log_text;

	$server->mark_log;
	SoakChecks::check('the log has no internal error and no complaint of pfs', join(' // ', @lines > 5 ? @lines[0 .. 4] : @lines));
}

# ---- the standby ----

sub make_standby
{
	my $backup = "$folder/backup";

	PfsServer::run_ok(PfsServer::bindir() . '/pg_basebackup', '-d', $primary->connstr, '-D', $backup, '-R', '-c', 'fast', '--no-sync', '-C', '-S', 'standby');
	$standby = PfsServer->new('standby', tcp => 1, from => $backup);
	$standby->start;
	push @standby_counts, job($standby, 'count', user => $_, left_alone => 1, standby => 1) foreach @users;
	push @standby_counts, job($standby, 'count', user => 'm1'), job($standby, 'pgbench', arguments => [ '-S', '-C' ]),
	  job($standby, 'reader', user => 'postgres', pause => 0.02), job($standby, 'storm');
}

sub promote
{
	my $c = control($primary);
	local $SoakChecks::about = 'standby';

	$where = 'standby';
	# It may be behind by all that its sessions have kept it from.
	$SoakChecks::patience = $SoakClient::patience;
	my $lsn = $c->value('SELECT pg_current_wal_flush_lsn()');

	SoakChecks::soon('the standby follows', sub {
			return (eval { control($standby)->value("SELECT pg_last_wal_replay_lsn() >= '$lsn'") } // 'f') eq 't' ? '' : 'it does not';
		});
	$SoakChecks::patience = 30;
	my $sum = 'SELECT sum(abalance) || count(*)::text FROM pgbench_accounts';

	SoakChecks::check('it has the same rows', control($standby)->value($sum) eq $c->value($sum) ? '' : 'others');
	my $started = start_time($standby);

	$standby->promote;
	SoakChecks::check('promotion is no start', start_time($standby) eq $started ? '' : 'it was one');
	sleep(2);
	my $counts = finish(@standby_counts);

	quiet($standby);
	$c = control($standby);
	SoakChecks::counted($c, of_now($standby, $counts, '^u'));
	# A conflict with recovery can end a session that logs in.
	SoakChecks::levels($c, logins_fail => 1);
	SoakChecks::always($c, $standby);
	say_it("standby, promoted: $passed checks passed, $failed failed so far");
}

# ---- all of it ----

print "Load, with sessions that are cancelled, ended and killed. Whenever all is quiet, this must be true:\n", map { sprintf("  %-8s %s\n", @$_) } @SoakChecks::invariants;

$primary->start;
control($primary)->query($_)
  foreach 'CREATE EXTENSION pfs', (map { "CREATE ROLE $_ LOGIN SUPERUSER" } 'u0', @users, qw(m1 m2 m3)), 'CREATE ROLE m4 LOGIN IN ROLE pg_monitor',
  'GRANT USAGE ON SCHEMA pfs TO m4';
$primary->pgbench(undef, '-i', '-q', '-s', 2);
make_standby();

my @kinds = qw(exact crash levels wild returned);
my $seconds = 60 * $minutes / 6;

$seconds = 60 if $seconds > 60;
$seconds = 10 if $seconds < 10;
my @next;

while (time() < $end)
{
	@next = sort { rand() <=> 0.5 } @kinds unless @next;
	round($primary, shift @next, $seconds);
	$did{rounds}++;
}
promote();
round($standby, 'exact', $seconds / 2);

say_it(join(', ', map { "$did{$_} $_" } grep { $did{$_} } qw(rounds sessions statements pgbenches reads switches resets cancelled terminated killed)));
verdict();
exit($failed > 0 || $passed == 0);
