# SoakChecks.pm
#	  What must be true of a server when nobody but us is there: the soak's invariants.
#
# Each check belongs to one of @invariants, and is a name and what is wrong; nothing is right.
# Background processes go on, so what they change is asked for until it is right, or $patience
# seconds long.
package SoakChecks;

use strict;
use warnings;
use Time::HiRes qw(sleep time);

# What takes longer than this is wrong; once something is wrong, nobody waits as long again.
our $patience = 30;

# What must be true, and how it is told to whoever runs the soak.
our @invariants = (
	[ counts => 'what sessions have counted themselves, pfs has counted: statements, transactions, waits, errors, shapes, connections' ],
	[ tables => 'rows by table and by index are those of the server\'s own statistics' ],
	[ levels => 'the sums over accounts, users and hosts are those of the server, name by name, and so are the histograms' ],
	[ records => 'threads, connections, files, sockets, prepared statements, held LWLocks are those that there are; all other records are free' ],
	[ losses => 'nothing is counted as lost unless a container was full' ],
	[ memory => 'sessions that have gone use none, background processes and containers have not grown' ],
	[ rows => 'no reader has met an impossible row, no worker an error that its statement cannot have' ],
	[ server => 'no crash that was not ours, each restart succeeds, all sessions end, no internal error or complaint of pfs is in the log' ],
	[ standby => 'it follows, has the same rows, and its counts survive its promotion' ]);

# The one that checks are about.
our $about;

my ($report);

# $report: called as report(invariant, name, wrong, why), wrong is '' where all is well; why: the check is known to fail,
# and for which reason.
sub reports_to { ($report) = @_; }

sub check
{
	my ($name, $wrong, $why) = @_;

	die "$name: a check of what?" unless defined $about && grep { $_->[0] eq $about } @invariants;
	$report->($about, $name, $wrong // '', $why);
}

# A check that has the right value already, while the server has not: the verdict says how often it failed, and
# that is no defect.  The TAP tests have the same function, and a test of the same; whoever mends it writes check().
sub known_to_fail
{
	my ($name, $why, $wrong) = @_;

	check($name, $wrong, $why);
}

# Until the function returns nothing.
sub soon
{
	my ($name, $wrong) = @_;
	my $end = time() + $patience;
	my $last;

	while (1)
	{
		$last = $wrong->() // '';
		last if $last eq '' || time() > $end;
		sleep(0.2);
	}
	$patience = 2 if $last ne '';
	check($name, $last);
}

# Rows that should not be there, as text, the first few.
sub rows
{
	my ($c, $sql) = @_;
	my $r = $c->query($sql);

	return "$r->{error} $r->{message}: $sql" if defined $r->{error};
	my @rows = map { join('|', map { $_ // 'NULL' } @$_) } @{ $r->{rows} };
	my $more = @rows > 5 ? ' ... (' . scalar(@rows) . ')' : '';

	return join('; ', @rows[0 .. ($#rows > 4 ? 4 : $#rows)]) . $more;
}

# ---- numbers that counters know ----

my %stored = (
	select => ["events_statements_summary_by_%s_by_event_name", "event_name = 'statement/sql/select'"],
	unlisten => ["events_statements_summary_by_%s_by_event_name", "event_name = 'statement/sql/unlisten'"],
	savepoint => ["events_statements_summary_by_%s_by_event_name", "event_name = 'statement/sql/savepoint'"],
	begin => ["events_statements_summary_by_%s_by_event_name", "event_name = 'statement/sql/begin'"],
	do => ["events_statements_summary_by_%s_by_event_name", "event_name = 'statement/sql/do'"],
	parse => ["events_statements_summary_by_%s_by_event_name", "event_name = 'statement/com/parse'"],
	transaction => ["events_transactions_summary_by_%s_by_event_name", 'true'],
	wait => ["events_waits_summary_by_%s_by_event_name", "event_name = 'wait/io/file/SLRUStat'"],
	error => ["events_errors_summary_by_%s_by_error", "sql_state = '22012'", 'sum_error_raised'],
	handled => ["events_errors_summary_by_%s_by_error", "sql_state = '22012'", 'sum_error_handled'],
);

# {key} = [low, high], both.
sub add_numbers
{
	my ($to, $numbers) = @_;

	foreach my $key (keys %$numbers)
	{
		$to->{$key}[$_] += $numbers->{$key}[$_] foreach 0, 1;
	}
}

# $counts: {user}{key} = [low, high].  By user and by account, as both must agree.
sub counted
{
	my ($c, $counts) = @_;
	local $about = 'counts';

	foreach my $user (sort keys %$counts)
	{
		my $k = $counts->{$user};

		foreach my $key (sort keys %stored)
		{
			my ($table, $where, $column) = @{ $stored{$key} };
			my ($low, $high) = @{ $k->{$key} // [0, 0] };

			foreach my $level (qw(user account))
			{
				my $n = 0;
				# A session that has just ended is about to count its last.
				soon("$key of $user by $level: $low" . ($low == $high ? '' : " to $high"), sub {
						$n = $c->value("SELECT coalesce(sum(" . ($column // 'count_star') . '), 0) FROM pfs.' . sprintf($table, $level) . " WHERE user_name = '$user' AND $where");
						return $n >= $low && $n <= $high ? '' : "pfs has $n";
					});
			}
		}
		my ($low, $high) = @{ $k->{shape} // [0, 0] };
		my $n = $c->value(q{SELECT coalesce(sum(count_star), 0) FROM pfs.events_statements_summary_by_digest WHERE user_name = '} . $user
			  . q{' AND digest_text LIKE 'SELECT count(pg_stat_file($1)) FROM generate_series($2, $3)%'});
		my $lost = $c->value(q{SELECT variable_value FROM pfs.status WHERE variable_name = 'pfs_digests_lost'});

		check("digest of $user: $low" . ($low == $high ? '' : " to $high"), ($n >= $low || $lost > 0) && $n <= $high ? '' : "pfs has $n, $lost digests made way");
		($low, $high) = @{ $k->{connection} // [0, 0] };
		$n = $c->value("SELECT coalesce(sum(total_connections), 0) FROM pfs.users WHERE user_name = '$user'");
		check("connections of $user: $low" . ($low == $high ? '' : " to $high"), $n >= $low && $n <= $high ? '' : "pfs has $n");
	}
}

# The same for the whole server, where levels were reset meanwhile.
sub counted_globally
{
	my ($c, $counts) = @_;
	local $about = 'counts';
	my %sum;

	add_numbers(\%sum, $_) foreach values %$counts;
	foreach my $case (['wait', 'events_waits_summary_global_by_event_name', 'count_star'], ['unlisten', 'events_statements_summary_global_by_event_name', 'count_star'])
	{
		my ($key, $table, $column) = @$case;
		my ($low, $high) = @{ $sum{$key} // [0, 0] };

		soon("$key of the server: $low" . ($low == $high ? '' : " to $high"), sub {
				my $n = $c->value("SELECT sum($column) FROM pfs.$table WHERE $stored{$key}[1]");

				return $n >= $low && $n <= $high ? '' : "pfs has $n";
			});
	}
}

# Events that resets returned, and those that are still there.
sub returned
{
	my ($c, $counts, $left, $lingering) = @_;
	local $about = 'counts';
	my %sum;

	add_numbers(\%sum, $_) foreach values %$counts;
	foreach my $case (['wait', 'waits'], ['unlisten', 'statements'])
	{
		my ($key, $family) = @$case;
		my ($low, $high) = @{ $sum{$key} // [0, 0] };

		$high += $lingering->{$family};
		soon("$key, returned by resets and left: $low to $high", sub {
				my $n = $left->{$family} + $c->value("SELECT sum(count_star) FROM pfs.events_${family}_summary_global_by_event_name");

				return $n >= $low && $n <= $high ? '' : "pfs has $n";
			});
	}
}

# ---- rows of tables and indexes ----

# What pfs and the server have counted of tables and indexes of ours, by OID and what: [ours, theirs].
sub rows_counted
{
	my ($c) = @_;
	my %n;
	my $r = $c->query(<<'EOT');
SELECT 1, s.relid, c.what, c.n FROM pg_stat_user_tables s,
	LATERAL (VALUES ('seq', seq_tup_read), ('fetch', seq_tup_read + coalesce(idx_tup_fetch, 0)), ('insert', n_tup_ins), ('update', n_tup_upd),
		('delete', n_tup_del)) c (what, n) WHERE schemaname = 'public'
UNION ALL SELECT 1, indexrelid, 'found', idx_tup_read FROM pg_stat_user_indexes WHERE schemaname = 'public'
UNION ALL SELECT 0, to_regclass(format('public.%I', object_name)), c.what, c.n FROM pfs.table_io_waits_summary_by_table,
	LATERAL (VALUES ('fetch', count_fetch), ('insert', count_insert), ('update', count_update), ('delete', count_delete)) c (what, n)
	WHERE database_name = current_database() AND object_schema = 'public'
UNION ALL SELECT 0, to_regclass(format('public.%I', coalesce(index_name, object_name))),
	CASE WHEN index_name IS NULL THEN 'seq' ELSE 'found' END, count_fetch FROM pfs.table_io_waits_summary_by_index_usage
	WHERE database_name = current_database() AND object_schema = 'public'
EOT

	die "$r->{error} $r->{message}" if defined $r->{error};
	$n{"$_->[1] $_->[2]"}[ $_->[0] ] += $_->[3] foreach grep { defined $_->[1] } @{ $r->{rows} };
	return \%n;
}

# The tables of pgbench and their indexes are there all the time.
sub tables
{
	my ($c, $before) = @_;
	local $about = 'tables';
	my $lost = $c->value(q{SELECT sum(variable_value::bigint) FROM pfs.status WHERE variable_name IN ('pfs_table_instances_lost', 'pfs_index_stat_lost')});
	my %pgbench = map { $_->[0] => $_->[1] } @{ $c->query(q{SELECT oid, relname FROM pg_class WHERE relname LIKE 'pgbench%' AND relkind IN ('r', 'i')})->{rows} };
	my $compared;

	return if $lost > 0;
	soon('prepared transactions are over', sub { rows($c, 'SELECT gid FROM pg_prepared_xacts') });
	soon('rows of tables and indexes', sub {
			my $now = rows_counted($c);
			my @wrong;

			$compared = 0;
			foreach my $key (sort keys %$now)
			{
				my ($oid, $what) = split / /, $key;
				my ($ours, $theirs) = map { ($now->{$key}[$_] // 0) - ($before->{$key}[$_] // 0) } 0, 1;

				next unless defined $pgbench{$oid};
				$compared += $theirs;
				push @wrong, "$pgbench{$oid} $what: pfs has $ours, the server $theirs" if $ours != $theirs;
			}
			return join('; ', @wrong > 5 ? @wrong[0 .. 4] : @wrong);
		});
	check('there were rows', $compared > 1000 ? '' : "only $compared");
}

# ---- levels ----

# The sums over accounts, users and hosts are those of the server, name by name.  What
# background processes and we ourselves add meanwhile lies between two looks.  A login that
# fails is nobody's, so where sessions are ended while they log in (logins_fail), the server
# can have more.
sub levels
{
	my ($c, %options) = @_;
	local $about = 'levels';

	foreach my $case (['events_waits', 'event_name', 'count_star'], ['events_stages', 'event_name', 'count_star'], ['events_statements', 'event_name', 'count_star'],
		['events_transactions', 'event_name', 'count_star'], ['events_errors', 'error', 'sum_error_raised'], ['memory', 'event_name', 'count_alloc'])
	{
		my ($family, $by, $column) = @$case;
		my $name = $by eq 'error' ? 'concat(sql_state, severity)' : $by;
		my $look = sub {
			my ($level) = @_;
			my $r = $c->query("SELECT $name, sum($column) FROM pfs.${family}_summary_${level}_by_$by GROUP BY 1 HAVING sum($column) > 0");

			return map { $_->[0] => $_->[1] } @{ $r->{rows} };
		};
		soon("$family: levels agree", sub {
				my %first = $look->('global');
				my %level = map { $_ => { $look->("by_$_") } } qw(account user host);
				my %last = $look->('global');
				my @wrong;

				foreach my $n (sort keys %last)
				{
					next if $n =~ m{^memory/(pfs|shared)/};
					foreach my $l (sort keys %level)
					{
						my $has = $level{$l}{$n} // 0;

						my $least = $options{logins_fail} ? 0 : $first{$n} // 0;

						push @wrong, "$n by $l: $has, server: $least to $last{$n}" if $has < $least || $has > $last{$n};
					}
				}
				foreach my $l (sort keys %level)
				{
					push @wrong, map { "$_ by $l: the server has none" } grep { !exists $last{$_} } sort keys %{ $level{$l} };
				}
				return join('; ', @wrong > 5 ? @wrong[0 .. 4] : @wrong);
			});
	}
	# No statement of ours ends between the two sides of one query.
	soon('histogram of statements', sub {
			return rows($c, q{SELECT 'histogram', h.n, 'summary', s.n FROM (SELECT sum(count_bucket) AS n FROM pfs.events_statements_histogram_global) h,
				(SELECT sum(count_timed) AS n FROM pfs.events_statements_summary_global_by_event_name) s WHERE h.n <> s.n});
		});
	soon('histograms of waits', sub {
			return rows($c, q{SELECT event_name, h.n, s.n FROM (SELECT event_name, sum(count_bucket) AS n FROM pfs.events_waits_histogram_global GROUP BY 1) h
				FULL JOIN (SELECT event_name, count_timed AS n FROM pfs.events_waits_summary_global_by_event_name WHERE count_timed > 0) s USING (event_name)
				WHERE h.n IS DISTINCT FROM s.n AND event_name = 'wait/io/file/SLRUStat'});
		});
}

# ---- whatever was done before ----

sub always
{
	my ($c, $server) = @_;
	local $about = 'records';
	my $data = $server->{data};

	soon('threads are the processes that there are', sub {
			return rows($c, q{SELECT a.pid, a.backend_type, t.thread_os_id, t.name FROM pfs.threads t FULL JOIN pg_stat_activity a ON a.pid = t.thread_os_id
				WHERE t.thread_id IS NULL OR a.pid IS NULL AND t.name !~ 'worker'});
		});
	soon('no thread of a process that is gone', sub {
			my $r = $c->query('SELECT thread_os_id, name FROM pfs.threads');

			return join('; ', map { "@$_" } grep { !-d "/proc/$_->[0]" } @{ $r->{rows} });
		});
	foreach my $table (
		(map { ("events_${_}_current", "events_${_}_history", "events_${_}_summary_by_thread_by_event_name") } qw(waits stages statements transactions)),
		qw(events_errors_summary_by_thread_by_error memory_summary_by_thread_by_event_name socket_instances prepared_statements_instances))
	{
		soon("$table: no thread that is gone", sub {
				return rows($c, "SELECT DISTINCT x.thread_id FROM pfs.$table x LEFT JOIN pfs.threads t USING (thread_id) WHERE t.thread_id IS NULL");
			});
	}
	soon('no LWLock held by nobody', sub {
			return rows($c, q{SELECT name, object_instance_begin, exclusive_locked_by_thread_id, shared_locked_by_count, shared_locked_by_thread_ids FROM pfs.lwlock_instances l
				WHERE exclusive_locked_by_thread_id IS NOT NULL AND NOT EXISTS (SELECT FROM pfs.threads t WHERE t.thread_id = l.exclusive_locked_by_thread_id)
				   OR shared_locked_by_count > 0});
		});
	soon('records of threads, sockets, prepared statements are free again', sub {
			return rows($c, q{SELECT name, records_used, n FROM pfs.containers JOIN (VALUES ('thread_instances', (SELECT count(*) FROM pfs.threads)),
				('socket_instances', (SELECT count(*) FROM pfs.socket_instances)), ('prepared_statements_instances', (SELECT count(*) FROM pfs.prepared_statements_instances)),
				('setup_actors', (SELECT count(*) FROM pfs.setup_actors)), ('setup_objects', (SELECT count(*) FROM pfs.setup_objects))) v (name, n) USING (name) WHERE records_used <> n});
		});
	soon('prepared statements: only those of living sessions', sub {
			return rows($c, q{SELECT thread_id, statement_name FROM pfs.prepared_statements_instances});
		});
	$about = 'memory';
	soon('memory: nothing is left of sessions that have gone', sub {
			return rows($c, q{SELECT user_name, event_name, current_count_used, current_number_of_bytes_used FROM pfs.memory_summary_by_user_by_event_name
				WHERE user_name NOT IN (SELECT processlist_user FROM pfs.threads WHERE processlist_user IS NOT NULL) AND (current_count_used <> 0 OR current_number_of_bytes_used <> 0)
				UNION ALL SELECT host, event_name, current_count_used, current_number_of_bytes_used FROM pfs.memory_summary_by_host_by_event_name
				WHERE host = '127.0.0.1' AND (current_count_used <> 0 OR current_number_of_bytes_used <> 0)
				UNION ALL SELECT user_name || '@' || host, event_name, current_count_used, current_number_of_bytes_used FROM pfs.memory_summary_by_account_by_event_name
				WHERE (user_name, host) NOT IN (SELECT processlist_user, processlist_host FROM pfs.threads WHERE processlist_user IS NOT NULL AND processlist_host IS NOT NULL)
				  AND (current_count_used <> 0 OR current_number_of_bytes_used <> 0)});
		});
	$about = 'records';
	soon('connections are those that there are', sub {
			return rows($c, q{SELECT user_name, current_connections, n FROM pfs.users u FULL JOIN (SELECT usename, count(*) AS n FROM pg_stat_activity WHERE backend_type IN ('client backend', 'walsender')
				GROUP BY 1) a ON a.usename = u.user_name WHERE user_name IS NOT NULL AND coalesce(current_connections, 0) <> coalesce(n, 0)});
		});
	# Of what was dropped the files go at the next checkpoint but one.
	$c->query('CHECKPOINT');
	$c->query('CHECKPOINT');
	soon('files are those that there are', sub {
			my $r = $c->query("SELECT file_name FROM pfs.file_instances WHERE file_name !~ '…'");
			my @gone = grep { !-e (m{^/} ? $_ : "$data/$_") } map { $_->[0] } @{ $r->{rows} };

			return join('; ', @gone > 5 ? @gone[0 .. 4] : @gone);
		});
	soon('records of files are free again', sub {
			# Those that were removed are kept for a while.
			return rows($c, q{SELECT records_used, n FROM pfs.containers, (SELECT count(*) AS n FROM pfs.file_instances) f WHERE name = 'file_instances' AND records_used > n + 300});
		});
	$about = 'losses';
	check('no counter of losses without a cause', rows($c, q{SELECT variable_name, variable_value, records_high_water, records_max FROM pfs.status
		LEFT JOIN pfs.containers ON variable_name = 'pfs_' || name || '_lost' WHERE variable_name ~ '_lost$' AND variable_value::numeric <> 0
		AND variable_name NOT IN ('pfs_signal_handler_events_lost', 'pfs_events_waits_current_lost') AND (records_max IS NULL OR records_high_water < records_max)}));
	$about = 'rows';
	check('no impossible time', join('; ', grep { $_ ne '' } map {
				my $table = $_;

				rows($c, "SELECT '$table', count_star, count_timed, min_timer_wait, avg_timer_wait, max_timer_wait FROM pfs.$table
					WHERE count_timed > count_star OR count_timed > 0 AND NOT (min_timer_wait <= avg_timer_wait AND avg_timer_wait <= max_timer_wait)");
			} map { my $f = $_; map { "events_${f}_summary_$_" } qw(global_by_event_name by_user_by_event_name by_host_by_event_name) } qw(waits stages statements transactions)));
	# Both are measured by timers that are switched meanwhile, some of which are coarse.
	check('no statement waits for locks longer than it takes', rows($c, 'SELECT lock_time, timer_wait, left(sql_text, 60) FROM pfs.events_statements_history_long WHERE lock_time > timer_wait + 2e10
			UNION ALL SELECT sum_lock_time, sum_timer_wait, left(digest_text, 60) FROM pfs.events_statements_summary_by_digest
			WHERE count_timed = count_star AND sum_lock_time > sum_timer_wait + 2e10 + count_star * 2e9'));
}

# ---- memory ----

# What a process has of its own, in kB: for background processes and sessions that last.
sub private_kb
{
	my ($pid) = @_;

	open my $file, '<', "/proc/$pid/status" or return undef;
	while (<$file>)
	{
		return $1 if /^RssAnon:\s+(\d+) kB/;
	}
	return undef;
}

1;
