# Accounts, users and hosts are full: the one that was used longest ago gives its place to a new name,
# and its numbers to the row of all others.  No number is lost or counted twice, whoever comes, goes,
# reads, truncates, is stopped or killed meanwhile.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/lib";
use PfsServer;
use PfsWire;
use Test::More;
use Time::HiRes qw(sleep time);

my $roles = $ENV{PFS_ROLES} // 1000;
my $hosts = 200;
my $seconds = $ENV{PFS_RESET_SECONDS} // 5;

test_module('pfs_test_stop');
my $server = PfsServer->new('main', tcp => 1, conf => <<'EOT');
autovacuum = off
max_connections = 20
restart_after_crash = on
compute_query_id = on
pfs.instruments = '%=ON'
EOT
open my $hba, '>>', "$server->{data}/pg_hba.conf" or die "pg_hba.conf: $!";
print $hba "host all all 127.0.0.0/8 trust\n";
close $hba;
$server->start;
$server->sql('CREATE EXTENSION pfs');

# A short session: a statement, an error, a wait, memory.
sub visit
{
	my ($user, %options) = @_;
	my $c = PfsWire->new($server, user => $user, %options);

	$c->query($_) foreach 'SELECT 1', 'SELECT 1 / 0', q{SELECT count(pg_stat_file('pg_xact/0000')) FROM generate_series(1, 5)};
	$c->end;
}

# All sessions have ended, but the control session and those that are meant to stay.
sub quiet
{
	my ($stay) = @_;

	return $server->poll(q{SELECT count(*) FROM pfs.threads WHERE name = 'thread/client_backend'}, 1 + ($stay // 0));
}

# Numbers by which each family's levels are compared.  Sums of times are not among them: each row's is rounded.
my @families = map { [ "events_${_}_summary", 'event_name', 'count_star', 'sum(count_timed), min(min_timer_wait), max(max_timer_wait)' ] } qw(waits stages transactions);
push @families, [ 'events_statements_summary', 'event_name', 'count_star', 'sum(count_timed), max(max_timer_wait), sum(sum_rows_sent), sum(sum_errors), max(max_total_memory)' ];
push @families, [ 'events_errors_summary', 'error_name, sql_state, severity', 'sum_error_raised', 'sum(sum_error_handled), max(last_seen), min(first_seen)' ];
push @families, [ 'memory_summary', 'event_name', 'count_alloc', 'sum(sum_number_of_bytes_alloc)' ];

# Which tables have another sum than the server; while nothing is counted.
sub differences
{
	my @queries;

	foreach my $family (@families)
	{
		my ($stem, $key, $count, $sums) = @$family;
		my $by = $stem =~ /errors/ ? 'error' : 'event_name';
		my $where = $stem =~ /memory/ ? "AND event_name LIKE 'memory/context/%'" : '';
		my $global = "SELECT $key, sum($count), $sums FROM pfs.${stem}_global_by_$by WHERE $count > 0 $where GROUP BY $key";

		foreach my $level (qw(account user host))
		{
			my $table = "${stem}_by_${level}_by_$by";
			my $here = "SELECT $key, sum($count), $sums FROM pfs.$table WHERE $count > 0 GROUP BY $key";

			push @queries, "SELECT '$table' AS name FROM (($here EXCEPT $global) UNION ALL ($global EXCEPT $here)) t";
		}
	}
	return "SELECT coalesce(string_agg(DISTINCT name, ' '), '') FROM (" . join(' UNION ALL ', @queries) . ') t';
}

sub levels_agree
{
	my ($what) = @_;

	$server->sql(q{SELECT pfs.set_instruments('%', 'NO')});
	ok($server->poll(differences(), ''), "$what: the rows of each level add up to the server's, in all families");
	$server->sql(q{SELECT pfs.set_instruments('%', 'YES')});
}

sub connections
{
	return $server->sql('SELECT ' . join(" || ' ' || ", map { "(SELECT sum(total_connections) FROM pfs.$_)" } qw(accounts users hosts)));
}

sub lost
{
	return $server->sql("SELECT records_lost FROM pfs.containers WHERE name = '$_[0]'");
}

# ---- roles that come, and go for good ----

$server->sql('CREATE ROLE stays LOGIN SUPERUSER');
my $stays = PfsWire->new($server, user => 'stays');
$stays->query('SELECT 1');
$server->poll(q{SELECT count(*) FROM pfs.accounts WHERE user_name = 'stays'}, 1);
levels_agree('before');
my ($before) = split ' ', connections();

foreach my $n (1 .. $roles)
{
	$server->sql("CREATE ROLE r$n LOGIN SUPERUSER");
	visit("r$n");
	# Those of which the oldest is looked at end one by one.
	quiet(1) if $n > $roles - 100;
	$server->sql("DROP ROLE r$n");
}
ok(quiet(1), "$roles roles have come and gone");
is($server->sql("SELECT user_name || ' ' || total_connections FROM pfs.$_ WHERE user_name = 'r$roles'"), "r$roles 1", "the last one has its row in $_") foreach qw(accounts users);
foreach my $level (qw(account user))
{
	is($server->sql("SELECT sum(count_star) FROM pfs.events_statements_summary_by_${level}_by_event_name WHERE user_name = 'r$roles' AND event_name = 'statement/sql/select'"), 3,
		"and in summaries by $level");
	is($server->sql("SELECT sum_error_raised FROM pfs.events_errors_summary_by_${level}_by_error WHERE user_name = 'r$roles' AND sql_state = '22012'"), 1, 'also of errors')
	  if $server->has_frame_pointers;
	is($server->sql("SELECT count(*) FROM pfs.memory_summary_by_${level}_by_event_name WHERE user_name = '(others)' AND current_count_used <> 0"), 0,
		"all others by $level use no memory");
	cmp_ok($server->sql("SELECT sum(count_star) FROM pfs.events_statements_summary_by_${level}_by_event_name WHERE user_name = '(others)' AND event_name = 'statement/sql/select'"),
		'>', 3 * ($roles - 60), "all others by $level have what those before had");
}
my $kept = $server->sql(q{SELECT count(*) FROM pfs.users WHERE user_name ~ '^r[0-9]'});
is($server->sql(q{SELECT string_agg(substr(user_name, 2), ' ' ORDER BY substr(user_name, 2)::int) FROM pfs.users WHERE user_name ~ '^r[0-9]'}),
	join(' ', $roles - $kept + 1 .. $roles), "the $kept newest are kept");
is($server->sql(q{SELECT current_connections || ' ' || total_connections FROM pfs.accounts WHERE user_name = 'stays'}), '1 1', 'who stays connected keeps its row');
is(connections(), join(' ', ($before + $roles) x 3), 'connections are counted on');
is(lost($_), $roles - $kept, "$_: who gave a place away is counted") foreach qw(accounts users);
is(lost('hosts'), 0, 'there is room for hosts');
is($server->sql(q{SELECT count(*) FROM pfs.accounts WHERE user_name IS NULL AND host IS NULL AND current_connections > 0}), 1, 'background processes have their own row');
levels_agree('roles');

# ---- addresses ----

visit('postgres', from => '127.0.' . ($_ >> 7) . '.' . (2 + $_ % 128)) foreach 1 .. $hosts;
ok(quiet(1), "$hosts addresses have come and gone");
my $last = '127.0.' . ($hosts >> 7) . '.' . (2 + $hosts % 128);
is($server->sql("SELECT total_connections FROM pfs.$_ WHERE host = '$last'"), 1, "the last one has its row in $_") foreach qw(accounts hosts);
is($server->sql("SELECT sum(count_star) FROM pfs.events_statements_summary_by_host_by_event_name WHERE host = '$last' AND event_name = 'statement/sql/select'"), 3, 'and in summaries');
cmp_ok(lost('hosts'), '>', 100, 'others gave their places away');
is(connections(), join(' ', ($before + $roles + $hosts) x 3), 'connections are counted on');
levels_agree('addresses');
$stays->query('SELECT 1');
is($server->sql(q{SELECT current_connections || ' ' || total_connections FROM pfs.accounts WHERE user_name = 'stays'}), '1 1', 'who stays connected keeps its row');

# Each row that is left can be truncated, all others, too.
foreach my $level (qw(account user host))
{
	my $table = "events_statements_summary_by_${level}_by_event_name";
	my $total = $server->sql('SELECT sum(count_star) FROM pfs.events_statements_summary_global_by_event_name');

	$server->sql("TRUNCATE pfs.$table");
	is($server->sql("SELECT count(*) FROM pfs.$table WHERE " . ($level eq 'host' ? 'host' : 'user_name') . " = '(others)'"), 0, "TRUNCATE by $level: all others");
	cmp_ok($server->sql('SELECT sum(count_star) FROM pfs.events_statements_summary_global_by_event_name'), '>=', $total, 'the server has it all');
}
$server->sql('TRUNCATE pfs.accounts, pfs.users, pfs.hosts');
is($server->sql(q{SELECT count(*) FROM pfs.users WHERE user_name ~ '^r[0-9]' OR user_name = '(others)'}), 0, 'TRUNCATE removes rows without a connection, all others, too');
$stays->end;

# ---- who goes, and where to: few places ----

my $event = 'wait/io/file/SLRUStat';
$server->stop;
$server->conf(<<"EOT");
pfs.instruments = '%=OFF, $event=ON'
pfs.accounts_size = 5
pfs.users_size = 5
pfs.hosts_size = 5
EOT
$server->start;
$server->sql("CREATE ROLE $_ LOGIN SUPERUSER") foreach qw(a b c d e), '"(others)"';

sub events
{
	my ($c, $n) = @_;

	$c->query("SELECT count(pg_stat_file('pg_xact/0000')) FROM generate_series(1, $n)");
}

sub session_of
{
	my ($user, $n, %options) = @_;
	my $c = PfsWire->new($server, user => $user, %options);

	events($c, $n);
	return $c;
}

sub by
{
	my ($level) = @_;
	my $key = { account => 'user_name, host', user => 'user_name', host => 'host' }->{$level};

	return $server->sql("SELECT coalesce(string_agg(concat_ws('\@', $key) || '=' || count_star, ' ' ORDER BY concat_ws('\@', $key) COLLATE \"C\"), '')"
		  . " FROM pfs.events_waits_summary_by_${level}_by_event_name WHERE event_name = '$event'");
}

# The places are the background's, postgres's, and three more.
foreach (1, 2)
{
	foreach my $user (['a', 1], ['b', 10], ['c', 100], ['a', 1])
	{
		session_of(@$user)->end;
		quiet();
	}
}
is(by('user'), 'a=4 b=20 c=200', 'three users');
session_of('d', 1000)->end;
quiet();
is(by('user'), '(others)=20 a=4 c=200 d=1000', 'the one that was used longest ago goes');
is(by('account'), '(others)@(others)=20 a@[local]=4 c@[local]=200 d@[local]=1000', 'and its account');
is(by('host'), '[local]=1224', 'its host has its numbers');
session_of('b', 10)->end;
quiet();
is(by('user'), '(others)=220 a=4 b=10 d=1000', 'it can come again');
my @open;

# One by one, besides so many that stay.
sub end_in_turn
{
	my ($stay) = @_;

	while (my $c = shift @open)
	{
		$c->end;
		quiet(@open + $stay);
	}
}

@open = map { session_of($_->[0], $_->[1]) } ['a', 1], ['b', 10], ['d', 1000];
my $e = session_of('e', 10000);
is(by('user'), '(others)=10220 a=5 b=20 d=2000', 'while all places are in use, who comes counts for all others');
is($server->sql(q{SELECT current_connections || ' ' || total_connections FROM pfs.accounts WHERE user_name = '(others)'}), '1 5', 'as a connection, too');
end_in_turn(1);
session_of('e', 10000)->end;
quiet(1);
is(by('user'), '(others)=10225 b=20 d=2000 e=10000', 'then it has its own');
$e->end;
quiet();
is(by('account'), '(others)@(others)=10225 b@[local]=20 d@[local]=2000 e@[local]=10000', 'its first session stays with all others');
session_of('(others)', 100000)->end;
quiet();
is(by('user'), '(others)=110225 b=20 d=2000 e=10000', 'a role of that name shares their row');
is($server->sql("SELECT sum(count_star) FROM pfs.events_waits_summary_global_by_event_name WHERE event_name = '$event'"), 122245, 'nothing was lost');

# There is room for accounts, but not for their users: they have the right ones when there is.
$server->stop;
$server->conf('pfs.accounts_size = 20');
$server->start;
$server->sql('SELECT 1');
@open = map { session_of($_->[0], $_->[1]) } ['a', 1], ['b', 10], ['c', 100];
session_of('d', 1000)->end;
quiet(3);
is(by('user'), '(others)=1000 a=1 b=10 c=100', 'no room for a user');
is(by('account'), 'a@[local]=1 b@[local]=10 c@[local]=100 d@[local]=1000', 'its account has room');
end_in_turn(0);
session_of('d', 1000)->end;
quiet();
is(by('user'), '(others)=1 b=10 c=100 d=2000', 'it has what its account had, when there is room');
is(by('account'), '(others)@(others)=1 b@[local]=10 c@[local]=100 d@[local]=2000', 'with the account of who gave the place away');

# ---- under load ----

$server->stop;
$server->conf('pfs.accounts_size = 5');
$server->start;

# Children that connect as many roles from many addresses until they are told to end; each says how many events
# and connections it made.
my $each = 10;

sub visitors
{
	my ($n, $end) = @_;
	my @pipes;

	foreach my $child (1 .. $n)
	{
		my $pid = open(my $pipe, '-|') // die "fork: $!";

		if ($pid == 0)
		{
			my ($connections, $random) = (0, $child);

			while (time() < $end)
			{
				$random = ($random * 1103515245 + 12345) % 2**31;
				my $user = (qw(a b c d e postgres))[ ($random >> 8) % 6 ];
				my @from = ($random >> 16) % 2 ? (from => '127.0.0.' . (2 + ($random >> 17) % 9)) : ();
				my $c = session_of($user, $each, @from);

				$c->end;
				$connections++;
			}
			syswrite STDOUT, "$connections\n";
			POSIX::_exit(0);
		}
		push @pipes, $pipe;
	}
	return @pipes;
}

sub global
{
	return $server->sql("SELECT coalesce(sum(count_star), 0) FROM pfs.events_waits_summary_global_by_event_name WHERE event_name = '$event'");
}

my $anew = 0;

foreach my $resets ('', 'thread account user host', 'accounts users hosts', 'global account')
{
	my $inexact = $server->inexact;

	$server->sql('SELECT pfs.reset()');
	$server->sql("SELECT pfs.reset('$_')") foreach qw(accounts users hosts);
	my $start = global();
	my ($connected) = split ' ', connections();
	my ($returned, $wrong, $rounds) = (0, 0, 0);
	my %last = map { $_ => 0 } qw(account user host global connections);
	my @pipes = visitors(3, time() + $seconds);
	my @order = split ' ', $resets;
	my $until = time() + $seconds;

	while (time() < $until)
	{
		if (@order)
		{
			my $of = $order[ $rounds % @order ];
			my $table = $of =~ /s$/ ? $of : $of eq 'global' ? 'events_waits_summary_global_by_event_name' : "events_waits_summary_by_${of}_by_event_name";
			my $n = $server->sql("SELECT pfs.reset('$table')");

			$returned += $n if $of eq 'global';
			$wrong++ if $n < 0;
		}
		my $now = $returned + global();

		$wrong++ if $now < $last{global};
		$last{global} = $now;
		foreach my $level (qw(account user host))
		{
			my $n = $server->sql("SELECT coalesce(sum(count_star), 0) FROM pfs.events_waits_summary_by_${level}_by_event_name WHERE event_name = '$event'");

			$wrong++ if !@order && $n < $last{$level};
			$last{$level} = $n;
		}
		my ($sum) = split ' ', connections();

		$wrong++ if $resets !~ /accounts/ && $sum < $last{connections};
		$last{connections} = $sum;
		$rounds++;
	}
	my $made = 0;

	$made += readline($_) foreach @pipes;
	close $_ foreach @pipes;
	quiet();
	redo if $server->inexact != $inexact && $anew++ < 5;
	my $what = $resets eq '' ? 'readers' : "resets of $resets";

	cmp_ok($rounds, '>', 3, "$what, while sessions come and go");
	is($wrong, 0, 'no number was wrong in between');
	is($returned + global() - $start, $made * $each, "the server has every event of $made sessions, or a reset returned it");
	if (!@order)
	{
		is($server->sql("SELECT sum(count_star) FROM pfs.events_waits_summary_by_${_}_by_event_name WHERE event_name = '$event'"), $made * $each, "by $_, too")
		  foreach qw(account user host);
	}
	is(connections(), join(' ', ($connected + $made) x 3), 'and every connection') if $resets !~ /accounts/;
	is($server->sql(q{SELECT count(*) FROM pfs.accounts WHERE current_connections > 0 AND user_name IS NOT NULL}), 1, 'one session is left');
}

# A reader that is cancelled, and one that is terminated, forbid eviction no more.
foreach my $how ('cancel', 'terminate')
{
	my $reader = $server->session;

	$reader->send(join(' UNION ALL ', ('SELECT count(*) FROM pfs.memory_summary_by_account_by_event_name') x 200));
	$server->sql("SELECT pg_${how}_backend(" . $reader->pid . ')');
	$reader->result;
	$reader->close;
}
quiet();
my $lost = lost('users');
session_of($_, 1)->end foreach qw(a b c d e a b);
quiet();
cmp_ok(lost('users'), '>', $lost, 'evictions go on behind readers that were cut off');

# ---- stopped and killed in the middle ----

# Until a process is stopped.
sub is_stopped
{
	my ($pid) = @_;

	foreach (1 .. 3000)
	{
		return 1 if do { open my $stat, '<', "/proc/$pid/stat"; (<$stat> // '') =~ /\) T/ };
		sleep(0.02);
	}
	return 0;
}

sub stopped_reader
{
	my $reader = $server->session;

	$reader->query(q{SELECT stop_at('pfs_summary_read.c:read_level')});
	$reader->send('SELECT count(*) >= 0 FROM pfs.events_waits_summary_by_user_by_event_name');
	is_stopped($reader->pid);
	return $reader;
}

SKIP:
{
	skip 'no breakpoints on this processor', 14 unless `uname -m` =~ /^(x86_64|aarch64)$/;

	# While a reader is at work nobody is evicted: a session has its row behind that, or, if it has ended, none.
	$server->sql(test_functions('pfs_test_stop'));
	$server->sql("SELECT pfs.reset('$_')") foreach 'accounts', 'users', 'hosts', 'events_waits_summary_global_by_event_name';
	foreach my $user (qw(a b c))
	{
		session_of($user, 1)->end;
		quiet();
	}
	my $reader = stopped_reader();
	my $waits = session_of('d', 10);

	is(by('user'), 'a=1 b=1 c=1', 'nobody is evicted while a reader is at work');
	session_of('e', 100)->end;
	quiet(2);
	is(by('user'), '(others)=100 a=1 b=1 c=1', 'who ends meanwhile counts for all others');
	$waits->query('SET ' . (PfsServer::version() >= 16 ? 'debug_parallel_query' : 'force_parallel_mode') . ' = on');
	events($waits, 1000);
	ok($server->poll(q{SELECT count(*) FROM pfs.threads WHERE name = 'thread/parallel_worker'}, 0), 'a parallel worker of a session without a row ends');
	is(by('user'), '(others)=1100 a=1 b=1 c=1', 'which counts for all others, too');
	$waits->query('RESET ALL');
	kill 'CONT', $reader->pid;
	is($reader->result, 't', 'the reader goes on');
	events($waits, 10);
	is(by('user'), '(others)=1101 b=1 c=1 d=20', 'then the session has its row');
	$waits->end;
	$reader->close;
	quiet();

	# A process that stops while it makes its user's record: another session of the user does not wait for that.
	$reader = stopped_reader();
	$waits = session_of('e', 1);
	$waits->query(q{SELECT stop_at('pfs_pages_publish')});
	kill 'CONT', $reader->pid;
	$reader->result;
	$reader->close;
	quiet(1);
	$server->sql("SELECT pfs.reset('$_')") foreach qw(accounts users hosts);
	$waits->send(Query => 'SELECT 1');
	ok(is_stopped($waits->{pid}), 'a process stops while it makes a record');
	my $second = session_of('e', 10);

	is(by('user'), '(others)=10', 'another session of the same user counts for all others at once');
	$second->end;
	quiet(1);
	kill 'CONT', $waits->{pid};
	$waits->until_ready;
	events($waits, 100);
	is(by('user'), 'e=110', 'the process goes on, and its user has what its account has counted');
	$waits->end;
	quiet();
	$server->sql("SELECT pfs.reset('$_')") foreach qw(accounts users hosts);

	$server->sql('CREATE ROLE stops LOGIN SUPERUSER');
	$server->sql(q{ALTER ROLE stops SET session_preload_libraries = '} . ($ENV{PG_LIBDIR} // '') . q{/pfs_test_stop'});
	$server->sql(q{ALTER ROLE stops SET pfs_test.stop_at = 'pfs_account_evict.c:flush_to_others'});

	foreach my $how ('go on', 'be killed')
	{
		$server->sql('SELECT pfs.reset()');
		foreach my $user (qw(a b c))
		{
			session_of($user, 10)->end;
			quiet();
		}
		my $counted = global();
		my $pid = open(my $pipe, '-|') // die "fork: $!";

		if ($pid == 0)
		{
			eval { session_of('stops', 1)->end };
			POSIX::_exit(0);
		}
		my $backend = '';

		foreach (1 .. 3000)
		{
			$backend = $server->sql(q{SELECT coalesce(max(pid)::text, '') FROM pg_stat_activity WHERE usename = 'stops'});
			last if $backend ne '' && do { open my $stat, '<', "/proc/$backend/stat"; (<$stat> // '') =~ /\) T/ };
			sleep(0.02);
		}
		ok($backend ne '', "a process stops while it evicts, to $how");
		my $inexact = $server->inexact;

		$server->sql("SELECT count(*) FROM pfs.$_") foreach qw(accounts events_waits_summary_by_user_by_event_name);
		cmp_ok($server->inexact, '>', $inexact, 'readers go on, and say that they did not wait any longer');
		is(global(), $counted - 10, 'what it is moving is missing meanwhile');
		session_of('e', 1)->end;
		if ($how eq 'go on')
		{
			kill 'CONT', $backend;
			close $pipe;
			quiet();
			is(by($_) =~ s/\S*?=(\d+) ?/$1+/gr =~ s/\+$//r =~ s/^(.*)$/eval $1/er, $counted + 2, "it goes on: by $_ all is there") foreach qw(account user host);
		}
		else
		{
			kill 'KILL', $backend;
			close $pipe;
			$server->lost_sessions;
			ok($server->poll_connect('SELECT 1', '1'), 'the server begins anew');
			foreach my $user (qw(a b c d e))
			{
				session_of($user, 10)->end;
				quiet();
			}
			is(by('user'), '(others)=20 c=10 d=10 e=10', 'and evicts again');
		}
	}
}
is($server->sql(q{SELECT variable_value FROM pfs.status WHERE variable_name = 'pfs_sequence_words_repaired'}), '0', 'there was nothing to repair');
done_testing();
