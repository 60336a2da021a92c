# Totals by thread, account, user, host and server: they agree to the last event,
# whoever connects, leaves, or truncates, and whatever container is missing.
#
# One instrument is on; each pg_stat_file('pg_xact/0000') is one event of it, and
# nothing else in a server makes any.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/lib";
use PfsServer;
use Test::More;
use Time::HiRes qw(sleep time);

my $seconds = $ENV{PFS_RESET_SECONDS} // 10;
my $event = 'wait/io/file/SLRUStat';
my $server = PfsServer->new('main', tcp => 1, conf => <<"EOT");
autovacuum = off
max_connections = 100
pfs.instruments = '%=OFF, $event=ON'
EOT
$server->start;
$server->sql('CREATE EXTENSION pfs');
$server->sql("CREATE ROLE u$_ LOGIN SUPERUSER") foreach 1 .. 3;

my @levels = qw(thread account user host);
my %table = (
	thread => 'events_waits_summary_by_thread_by_event_name',
	account => 'events_waits_summary_by_account_by_event_name',
	user => 'events_waits_summary_by_user_by_event_name',
	host => 'events_waits_summary_by_host_by_event_name',
	global => 'events_waits_summary_global_by_event_name');

sub events
{
	my ($session, $n) = @_;

	return $session->query("SELECT count(pg_stat_file('pg_xact/0000')) FROM generate_series(1, $n)");
}

sub total
{
	my ($level) = @_;

	return $server->sql("SELECT coalesce(sum(count_star), 0) FROM pfs.$table{$level} WHERE event_name = '$event'");
}

# "key=count ..." of a level.
sub rows
{
	my ($level, $key) = @_;

	return $server->sql("SELECT coalesce(string_agg(concat_ws('\@', $key) || '=' || count_star, ' ' ORDER BY concat_ws('\@', $key) COLLATE \"C\"), '')"
		  . " FROM pfs.$table{$level} WHERE event_name = '$event'");
}

# Has a process given up its processor for a call?
sub sleeps
{
	my ($pid) = @_;
	my $until = time() + 60;

	while (time() < $until)
	{
		open my $file, '<', "/proc/$pid/stat" or return 0;
		return 1 if <$file> =~ /^\d+ \(.*\) S /;
		sleep(0.01);
	}
	return 0;
}

sub lost
{
	return $server->sql("SELECT variable_value FROM pfs.status WHERE variable_name = 'pfs_$_[0]_lost'");
}

# ---- three users on two addresses, with containers of all sizes ----

# Counts of sessions: powers of two, so that each sum says who is in it.
my @who = map { my $user = $_; map { { user => "u$user", host => $_ } } ('', '127.0.0.1') } 1 .. 3;
$who[$_]{n} = 100 * 2**$_ foreach 0 .. 5;
my %by = (account => {}, user => {}, host => {});

foreach my $who (@who)
{
	my $host = $who->{host} || '[local]';

	$by{account}{"$who->{user}\@$host"} += $who->{n};
	$by{user}{ $who->{user} } += $who->{n};
	$by{host}{$host} += $who->{n};
}

sub expected
{
	my ($level) = @_;

	return join(' ', map { "$_=$by{$level}{$_}" } sort keys %{ $by{$level} });
}

my $all = 6300;
foreach my $sizes ('', 'accounts 0', 'accounts 1', 'users 0', 'users 1', 'hosts 0', 'hosts 1', 'accounts 0 users 0 hosts 0', 'accounts 1 users 1 hosts 1',
	'accounts 0 hosts 0')
{
	my %size = split ' ', $sizes;
	my $name = $sizes || 'enough room';

	$server->stop;
	$server->conf("pfs.${_}_size = " . ($size{$_} // -1)) foreach qw(accounts users hosts);
	$server->start;
	my @sessions = map { $server->session(user => $_->{user}, ($_->{host} ? (host => $_->{host}) : ())) } @who;

	events($sessions[$_], $who[$_]{n}) foreach 0 .. 5;
	is($server->sql("SELECT string_agg(count_star::text, ' ' ORDER BY count_star) FROM pfs.$table{thread} WHERE event_name = '$event'"),
		join(' ', map { $_->{n} } @who), "$name: each thread has its own");
	foreach my $after (0, 1)
	{
		if ($after)
		{
			$_->close foreach @sessions;
			$server->poll("SELECT count(*) FROM pfs.threads WHERE processlist_user LIKE 'u_'", 0);
			is(total('thread'), 0, 'the threads have gone');
		}
		foreach my $level (qw(account user host))
		{
			my $key = { account => 'user_name, host', user => 'user_name', host => 'host' }->{$level};
			my $rows = rows($level, $key);
			my $size = $size{"${level}s"};

			if (!defined $size)
			{
				is($rows, expected($level), "$level has them all");
				is(lost("${level}s"), 0, 'and has lost none');
			}
			elsif ($size == 0)
			{
				is($rows, '', "$level is off");
				is(lost("${level}s"), 0, 'which is no loss');
			}
			else
			{
				# The one place is that of the background processes.
				is($rows, ($level eq 'account' ? '(others)@' : '') . "(others)=$all", "$level has no room: all others have them");
				cmp_ok(lost("${level}s"), '>', 0, 'and says so');
			}
		}
		is(total('global'), $all, 'the server has all of them');
	}
	is($server->sql("SELECT sum(count_bucket) FROM pfs.events_waits_histogram_global WHERE event_name = '$event'"), $all, 'so has the histogram');
	if (!$sizes)
	{
		is($server->sql(q{SELECT string_agg(concat_ws(' ', user_name, host, current_connections, total_connections), ', '
		   ORDER BY user_name, host COLLATE "C") FROM pfs.accounts WHERE user_name LIKE 'u_'}),
			join(', ', map { ("u$_ 127.0.0.1 0 1", "u$_ [local] 0 1") } 1 .. 3), 'accounts remember them');
		is($server->sql(q{SELECT string_agg(concat_ws(' ', user_name, current_connections, total_connections), ', ' ORDER BY user_name)
		   FROM pfs.users WHERE user_name LIKE 'u_'}), 'u1 0 2, u2 0 2, u3 0 2', 'so do users');
		is($server->sql(q{SELECT current_connections FROM pfs.hosts WHERE host = '127.0.0.1'}), 0, 'and hosts');
		is($server->sql(q{SELECT count(*) FROM pfs.accounts WHERE user_name IS NULL AND host IS NULL AND current_connections >= 3}), 1,
			'background processes share a row');

		# Accounts without a connection go; what was counted stays above them.
		my $stays = $server->session(user => 'u1');

		events($stays, 7);
		$server->sql('TRUNCATE pfs.accounts');
		is($server->sql(q{SELECT string_agg(concat_ws(' ', user_name, host, current_connections, total_connections), ', ')
		   FROM pfs.accounts WHERE user_name LIKE 'u_'}), 'u1 [local] 1 1', 'TRUNCATE accounts leaves those with a connection');
		is(rows('account', 'user_name, host'), '', 'accounts start from zero');
		$by{user}{u1} += 7;
		$by{host}{'[local]'} += 7;
		is(rows('user', 'user_name'), expected('user'), 'users have it all');
		is(rows('host', 'host'), expected('host'), 'and hosts');
		is(total('global'), $all + 7, 'and the server');
		$server->sql('TRUNCATE pfs.users');
		is($server->sql(q{SELECT string_agg(concat_ws(' ', user_name, current_connections, total_connections), ', ') FROM pfs.users WHERE user_name LIKE 'u_'}),
			'u1 1 1', 'TRUNCATE users leaves those with a connection');
		is(rows('user', 'user_name'), '', 'users start from zero');
		is(rows('host', 'host'), expected('host'), 'hosts do not');
		events($stays, 3);
		is(rows('user', 'user_name'), 'u1=3', 'and count again');
		$server->sql('TRUNCATE pfs.hosts');
		is($server->sql(q{SELECT string_agg(host, ', ') FROM pfs.hosts WHERE host IS NOT NULL}), '[local]', 'TRUNCATE hosts leaves those with a connection');
		is(rows('host', 'host'), '', 'hosts start from zero');
		is(total('global'), $all + 10, 'the server has what they had');
		$stays->close;
		$by{user}{u1} -= 7;
		$by{host}{'[local]'} -= 7;
	}
}
$server->stop;
$server->conf("pfs.${_}_size = -1") foreach qw(accounts users hosts);

# ---- accounts, users and hosts, but no room for their counters, or for those of one ----

# The groups of counters that are in use.
sub groups
{
	return $server->sql("SELECT records_used FROM pfs.containers WHERE name = 'account_counters'");
}

foreach my $size (0, 1)
{
	$server->conf("pfs.account_counters_size = $size");
	$server->start;
	my @sessions = map { $server->session(user => $_->{user}, ($_->{host} ? (host => $_->{host}) : ())) } @who;

	events($sessions[$_], $who[$_]{n}) foreach 0 .. 5;
	is(rows('account', 'user_name, host'), expected('account'), "room for the counters of $size: accounts show what living threads have");
	$_->close foreach @sessions;
	$server->poll("SELECT count(*) FROM pfs.threads WHERE processlist_user LIKE 'u_'", 0);
	my $row = rows('account', 'user_name, host');

	like($row, $size == 0 ? qr/^$/ : qr/^[^ ]+$/, "of those that have ended, what $size has");
	ok($row eq '' || grep({ $_ eq $row } split(' ', expected('account'))), 'with all of its events');
	is(total($_), $row =~ /=(\d+)/ ? $1 : 0, "as $_ have") foreach qw(user host);
	is(total('global'), $all, 'the server has what they all had');
	is(groups(), $size, 'groups of counters in use');
	cmp_ok(lost('account_counters'), $size == 0 ? '==' : '>=', $size == 0 ? 0 : 15, 'what had no room is counted, at three levels');
	is(lost($_), 0, "$_ themselves have room") foreach qw(accounts users hosts);

	# An account that goes gives its counters back, and the next one has room.
	$server->sql('TRUNCATE pfs.accounts');
	is(groups(), 0, 'accounts that are removed give them back');
	$server->sql('TRUNCATE pfs.users, pfs.hosts');
	is(total('global'), $all, 'and nothing is lost for the server');
	my $next = $server->session(user => 'u3');

	events($next, 8);
	$next->close;
	$server->poll("SELECT count(*) FROM pfs.threads WHERE processlist_user = 'u3'", 0);
	is(rows('account', 'user_name, host'), $size == 0 ? '' : 'u3@[local]=8', 'the next one has their room');
	is(total('global'), $all + 8, 'and the server');
	$server->stop;
}

# Room for the counters of six accounts and a few more, not for those of three users and two
# hosts besides: TRUNCATE moves what an account has into the room of those before it.
$server->conf('pfs.account_counters_size = 9');
$server->start;
{
	my @sessions = map { $server->session(user => $_->{user}, ($_->{host} ? (host => $_->{host}) : ())) } @who;

	events($sessions[$_], $who[$_]{n}) foreach 0 .. 5;
	$_->close foreach @sessions;
}
$server->poll("SELECT count(*) FROM pfs.threads WHERE processlist_user LIKE 'u_'", 0);
is(rows('account', 'user_name, host'), expected('account'), 'room for the counters of all accounts: accounts have them');
is(groups(), 6, 'in a group each');
$server->sql('TRUNCATE pfs.accounts');
is(rows('account', 'user_name, host'), '', 'TRUNCATE accounts removes them');
is(rows('user', 'user_name'), expected('user'), 'users have it all');
is(rows('host', 'host'), expected('host'), 'and hosts');
is(groups(), 5, 'in the groups that accounts gave back');
is(lost('account_counters'), 0, 'which were enough');
$server->stop;
$server->conf('pfs.account_counters_size = -1');
$server->start;

# ---- an idle session across resets ----

foreach my $case (
	# resets while it is idle; where its 100 events are afterwards (with 1 more)
	['thread', 'account user host global'],
	['account', 'user host global'],
	['user', 'host global'],
	['host', 'user global'],
	['user host', 'global'],
	['host user', 'global'],
	['account user', 'host global'],
	['thread account', 'user host global'],
	['global', ''])
{
	my ($resets, $where) = @$case;

	$server->sql("SELECT pfs.reset('$table{global}')");
	my $idle = $server->session(user => 'u2');

	events($idle, 100);
	foreach my $level (split ' ', $resets)
	{
		my $before = total($level);

		is($server->sql("SELECT pfs.reset('$table{$level}')"), $before, "reset of $resets: returns what the table of $level had");
	}
	foreach my $when (0, 1)
	{
		events($idle, 1) if $when;
		foreach my $level (@levels, 'global')
		{
			my $n = ((grep { $_ eq $level } split ' ', $where) ? 100 : 0) + $when;

			is(total($level), $n, 'reset of ' . $resets . ($when ? ', awake again' : ', still idle') . ": $level");
		}
	}
	$idle->close;
	$server->poll("SELECT count(*) FROM pfs.threads WHERE processlist_user = 'u2'", 0);
	is(total('global'), $where =~ /global/ ? 101 : 1, 'nothing comes or goes with its end');
}

# ---- resets under full load ----

my $anew = 0;

# What pgbench says that its sessions did; they are connected when it starts.
my $each = 50;
my $script = "SELECT count(pg_stat_file('pg_xact/0000')) FROM generate_series(1, $each);\n";

sub load_events
{
	my ($out) = @_;
	my ($n) = $out =~ /number of transactions actually processed: (\d+)/;

	return $n * $each;
}

foreach my $with ('thread account user host', 'host user account thread', 'global', 'global account thread')
{
	my $inexact = $server->inexact;

	$server->sql("SELECT pfs.reset('$table{global}')");
	my $left = 0;
	my $resets = 0;
	my $wrong = 0;
	my $last = 0;
	my @order = split ' ', $with;
	my @loads;

	# A busy machine has to be under load more than once for enough resets.
	while ((grep { $server->pgbench_running($_) } @loads)
		|| ($resets <= 10 && @loads < 20 && push @loads, $server->pgbench_start($script, '-c', 8, '-j', 1, '-T', $seconds, ($with eq 'global account thread' ? '-C' : ()))))
	{
		my $level = $order[ $resets++ % @order ];
		my $n = $server->sql("SELECT pfs.reset('$table{$level}')");

		$left += $n if $level eq 'global';
		$wrong++ if $n < 0;
		# The whole of what was ever counted never gets less.
		my $now = $left + total('global');

		$wrong++ if $now < $last;
		$last = $now;
		$wrong += $server->sql("SELECT count(*) FROM pfs.$table{$_} WHERE count_star < 0 OR sum_timer_wait < 0 OR count_timed > count_star") foreach @levels;
	}
	my $made = 0;

	$made += load_events($server->pgbench_end($_)) foreach @loads;
	redo if $server->inexact != $inexact && $anew++ < 5;
	cmp_ok($resets, '>', 10, "resets of $with under load");
	is($left + total('global'), $made, 'the server has every event, or a reset returned it');
	is($wrong, 0, 'and no number was wrong in between');
}

# ---- a storm of connections ----

$server->sql("SELECT pfs.reset('$table{global}')");
my $storms = $ENV{PFS_CONNECTIONS} // 1500;
my $before = $server->sql("SELECT total_connections FROM pfs.accounts WHERE user_name = 'postgres' AND host = '[local]'");
my $load = $server->pgbench_start("SELECT pg_stat_file('pg_xact/0000');\n", '-c', 32, '-j', 1, '-C', '-t', int($storms / 32) + 1);
my $seen = 0;
my $wrong = 0;
my $inexact = $server->inexact;

while ($server->pgbench_running($load))
{
	my $now = total('global');

	$wrong++ if $now < $seen || total('account') < $now;
	$seen = $now;
}
$server->pgbench_end($load);
my $connections = 32 * (int($storms / 32) + 1);

cmp_ok($wrong, '<=', $server->inexact - $inexact, 'while sessions come and go, totals only grow');
# A session that ends loses its application_name first.
ok($server->poll(q{SELECT count(*) FROM pfs.threads WHERE name = 'thread/client_backend'}, 1), 'the last one has gone');
is(total('global'), $connections, "$connections sessions: the server has all");
is(total('account'), $connections, 'so has the account');
# pgbench connects once more, to look around.
between($server->sql("SELECT total_connections - $before FROM pfs.accounts WHERE user_name = 'postgres' AND host = '[local]'"),
	$connections, $connections + 2, 'which has counted them');
is($server->sql("SELECT current_connections FROM pfs.accounts WHERE user_name = 'postgres' AND host = '[local]'"), 1, 'one is left');
is($server->sql(q{SELECT count(*) FROM pfs.containers WHERE name IN ('thread_instances', 'thread_waits') AND records_high_water > 100}), 0,
	'records were used again');

# ---- connections, while accounts are truncated ----

$load = $server->pgbench_start("SELECT 1;\n", '-c', 8, '-j', 1, '-C', '-U', 'u3', '-t', 30);
my ($rows, $above, $twice) = (0, 0, 0);
while ($server->pgbench_running($load))
{
	$rows += $server->sql(q{SELECT pfs.reset('accounts')});
	$above += $server->sql('SELECT count(*) FROM pfs.accounts WHERE current_connections > total_connections');
	# Of all that have come since, at least those that are there now are counted, and none twice.
	$twice += $server->sql(q{SELECT count(*) FROM pfs.accounts WHERE user_name = 'u3' AND total_connections > 250});
}
$server->pgbench_end($load);
cmp_ok($rows, '<=', 250, 'a row that leaves has had a connection');
is("$above $twice", '0 0', 'no row has more connections now than in all, or more than there were');
ok($server->poll(q{SELECT count(*) FROM pfs.threads WHERE name = 'thread/client_backend'}, 1), 'they have gone');
$server->sql(q{SELECT pfs.reset('accounts')});
is($server->sql('SELECT count(*) FROM pfs.accounts WHERE current_connections <> total_connections'), 0, 'behind TRUNCATE those that are there are all');
is($server->sql(q{SELECT count(*) FROM pfs.accounts WHERE user_name = 'u3'}), 0, 'and the others have no row');

# ---- thread_instrumentation off: the server alone counts ----

$server->sql("SELECT pfs.reset('$table{global}')");
$server->sql("SELECT pfs.set_consumers('thread_instrumentation', 'NO')");
my $s = $server->session(user => 'u3');
events($s, 50);
is(total($_), 0, "thread_instrumentation is off: not by $_") foreach @levels;
is(total('global'), 50, 'but for the server');

# A wait belongs to where it belonged when it began: so the levels of a background process
# that waits for long differ by one, once, after a switch.
$server->sql("SELECT pfs.set_instruments('wait/timeout/PgSleep', 'YES')");
$s->send('SELECT pg_sleep(1000)');
ok($server->poll('SELECT wait_event FROM pg_stat_activity WHERE pid = ' . $s->pid, 'PgSleep'), 'a wait begins');
ok(sleeps($s->pid), 'and its call');
$server->sql("SELECT pfs.set_consumers('thread_instrumentation', 'YES')");
$server->sql("SELECT pfs.reset('$table{global}')");
$server->sql('SELECT pg_cancel_backend(' . $s->pid . ')');
$s->result;
$event = 'wait/timeout/PgSleep';
ok($server->poll("SELECT sum(count_star) FROM pfs.$table{global} WHERE event_name = '$event'", 1), 'it ends when thread_instrumentation is on, and counts for the server');
is(total($_), 0, "and not by $_") foreach @levels;
# A time that a process can lose its processor for would be over before pg_sleep() waits.
$s->query('SELECT pg_sleep(0.1)');
# A clock that has not come far enough makes it sleep once more.
my $naps = total('thread');
cmp_ok($naps, '>', 0, 'the next one counts for its thread');
is(total($_), $_ eq 'global' ? $naps + 1 : $naps, "and everywhere else ($_)") foreach @levels, 'global';
$event = 'wait/io/file/SLRUStat';
$server->sql("SELECT pfs.set_instruments('wait/timeout/PgSleep', 'NO')");

# So does a statement: one that began while events_statements_current was off is not shown, and counted.
my $select = q{FROM pfs.events_statements_summary_global_by_event_name WHERE event_name = 'statement/sql/select'};
$server->sql("SELECT pfs.set_consumers('events_statements_current', 'NO'), pfs.set_instruments('statement/%', 'YES')");
$s->send('SELECT pg_sleep(1000)');
ok($server->poll('SELECT wait_event FROM pg_stat_activity WHERE pid = ' . $s->pid, 'PgSleep'), 'a statement begins');
$server->sql("SELECT pfs.set_consumers('events_statements_current', 'YES')");
$server->sql("SELECT pfs.set_instruments('statement/%', 'NO')");
$server->sql("SELECT pfs.reset('events_statements_summary_global_by_event_name')");
is($server->sql('SELECT count(*) FROM pfs.events_statements_current WHERE thread_id = ' . $s->thread_id), 0, 'it is not shown');
$server->sql('SELECT pg_cancel_backend(' . $s->pid . ')');
$s->result;
ok($server->poll("SELECT count_star $select", 1), 'and counted when it ends');
$server->sql("UPDATE pfs.setup_instruments SET timed = 'NO' WHERE name = '$event'");
events($s, 5);
is($server->sql("SELECT count_star, count_timed, sum_timer_wait, min_timer_wait, avg_timer_wait, max_timer_wait FROM pfs.$table{user} WHERE event_name = '$event'"),
	'5|0|0|0|0|0', 'untimed events are counted');
$server->sql("UPDATE pfs.setup_instruments SET timed = 'YES' WHERE name = '$event'");
$server->sql(q{UPDATE pfs.setup_timers SET timer_name = 'NANOSECOND' WHERE name = 'wait'});
events($s, 5);
is($server->sql("SELECT count_star, count_timed, sum_timer_wait > 0, min_timer_wait <= avg_timer_wait, avg_timer_wait <= max_timer_wait FROM pfs.$table{user} WHERE event_name = '$event'"),
	'10|5|t|t|t', 'another timer\'s are converted');

# ---- who is known only at the end ----

# Sessions that end before anything has asked who they are: no wait is wanted.
$server->sql("SELECT pfs.set_instruments('%', 'NO'), pfs.set_instruments('memory/context/%', 'YES')");
$server->sql('CREATE ROLE u4 LOGIN SUPERUSER');
foreach (1 .. 10)
{
	my ($status, $out, $err) = $server->psql('SELECT 1', user => 'u4', db => 'nowhere');

	like($err, qr/database "nowhere" does not exist/, 'a login that fails') if $_ == 1;
	is(($server->psql('\q', user => 'u4'))[0], 0, 'a session that ends without a statement') if $_ <= 4;
}
ok($server->poll(q{SELECT total_connections || ' ' || current_connections FROM pfs.accounts WHERE user_name = 'u4'}, '4 0'), 'sessions, and no failed logins, are connections of their account');
is($server->sql(q{SELECT sum(count_alloc) > 0, sum(current_count_used) FROM pfs.memory_summary_by_account_by_event_name WHERE user_name = 'u4'}), 't|0',
	'and their memory is, which they have given back');

done_testing();
