# Memory of accounts, users, hosts and the server: estimates that always enclose
# the truth, whoever comes, goes or truncates; a leak is found while it runs.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/lib";
use PfsServer;
use Test::More;
use Time::HiRes qw(time);

my $seconds = $ENV{PFS_RESET_SECONDS} // 10;
my $module = test_module('pfs_test_memory');
my $server = PfsServer->new('main', tcp => 1, preload => "pfs,$module", conf => <<'EOT2');
autovacuum = off
max_connections = 60
pfs.instruments = 'memory/%=OFF, memory/context/pfs test%=ON'
EOT2
$server->start;
$server->sql('CREATE EXTENSION pfs');
$server->sql(test_functions('pfs_test_memory'));
$server->sql("CREATE ROLE u$_ LOGIN SUPERUSER") foreach 1 .. 3;

my @levels = qw(thread account user host global);
my %table = map { $_ => "memory_summary_by_${_}_by_event_name" } @levels;
$table{global} = 'memory_summary_global_by_event_name';
my $set = 'memory/context/pfs test AllocSet';
my $random = 'memory/context/pfs test random';

# Low, present and high bytes of a row.
sub marks
{
	my ($level, $event, $where) = @_;

	return $server->sql("SELECT low_number_of_bytes_used, current_number_of_bytes_used, high_number_of_bytes_used"
		  . " FROM pfs.$table{$level} WHERE event_name = '$event'" . (defined $where ? " AND $where" : ''));
}

# ---- the example of the manual: 1 to 2 MB and 10 to 12 MB are 11 to 14 MB ----

# In units of 1,000,000 bytes, which a chunk of its own block has to the byte.
my $mb = 1_000_000;

{
	my @s = map { $server->session(user => 'u1') } 1 .. 2;
	my @low = (1, 10);

	foreach my $i (0, 1)
	{
		is($s[$i]->query("SELECT context(0, 'AllocSet', NULL), alloc(0, 0, $low[$i] * $mb, 0)"), "pfs test AllocSet|" . $low[$i] * $mb, 'to the byte');
	}
	$server->sql('TRUNCATE pfs.memory_summary_global_by_event_name');
	foreach my $i (0, 1)
	{
		my $more = $i + 1;

		# Never at a time.
		$s[$i]->query("SELECT alloc(0, 1, $more * $mb, 0)");
		$s[$i]->query('SELECT free(0, 1)');
		is(marks('thread', $set, 'thread_id = ' . $s[$i]->thread_id), join('|', map { $_ * $mb } $low[$i], $low[$i], $low[$i] + $more), 'a thread');
	}
	is(marks($_, $set, $_ eq 'global' ? undef : $_ eq 'host' ? "host = '[local]'" : "user_name = 'u1'"), join('|', map { $_ * $mb } 11, 11, 14),
		"1 to 2 and 10 to 12 are 11 to 14, by $_")
	  foreach qw(account user host global);

	# The threads' marks alone begin anew: those above stay.
	$server->sql("TRUNCATE pfs.$table{thread}");
	is(marks('thread', $set, 'thread_id = ' . $s[$_]->thread_id), join('|', ($low[$_] * $mb) x 3), 'a thread begins anew') foreach 0, 1;
	is(marks($_, $set, $_ eq 'global' ? undef : $_ eq 'host' ? "host = '[local]'" : "user_name = 'u1'"), join('|', map { $_ * $mb } 11, 11, 14), "but not its $_")
	  foreach qw(account user host global);
	$s[0]->query("SELECT alloc(0, 1, $mb, 0), free(0, 1)");
	is(marks('account', $set, "user_name = 'u1'"), join('|', map { $_ * $mb } 11, 11, 14), 'a mark below those that were there moves none above');
	$s[1]->query("SELECT alloc(0, 1, $mb, 0), free(0, 1)");
	is(marks('account', $set, "user_name = 'u1'"), join('|', map { $_ * $mb } 11, 11, 14), 'nor does the other\'s');
	# Of 3 that were left to the account each has used 1.
	$s[0]->query("SELECT alloc(0, 1, 5 * $mb, 0), free(0, 1)");
	is(marks('account', $set, "user_name = 'u1'"), join('|', map { $_ * $mb } 11, 11, 17), 'a higher one moves it by what is more than they were');
	$s[0]->close;
	$server->poll("SELECT count(*) FROM pfs.threads WHERE processlist_user = 'u1'", 1);
	is(marks('account', $set, "user_name = 'u1'"), join('|', map { $_ * $mb } 10, 10, 17), 'the end of one is a low-water mark');
	$s[1]->query('SELECT delete(0)');
	is(marks('account', $set, "user_name = 'u1'"), join('|', map { $_ * $mb } 0, 0, 17), 'then there is nothing');
	$s[1]->close;
}

# ---- marks do not wander, however often those below begin anew ----

{
	my @s = map { $server->session(user => 'u1') } 1 .. 2;

	$s[0]->query("SELECT context(0, 'AllocSet', NULL), alloc(0, 0, 20 * $mb, 0)");
	$s[1]->query("SELECT context(0, 'AllocSet', NULL)");
	$server->sql('TRUNCATE pfs.memory_summary_global_by_event_name');
	foreach my $round (1 .. 3)
	{
		$s[1]->query("SELECT alloc(0, 0, 5 * $mb, 0)");
		$server->sql("TRUNCATE pfs.$table{thread}");
		$s[1]->query('SELECT free(0, 0)');
		is(marks($_, $set, $_ eq 'global' ? undef : $_ eq 'host' ? "host = '[local]'" : "user_name = 'u1'"), join('|', map { $_ * $mb } 20, 20, 25),
			"round $round: the same marks by $_")
		  foreach qw(account user host global);
	}
	$_->close foreach @s;
	$server->poll("SELECT count(*) FROM pfs.threads WHERE processlist_user = 'u1'", 0);
}

# ---- each truncation makes a new baseline, at each level ----

foreach my $level (@levels, 'accounts', 'users', 'hosts')
{
	my $s = $server->session(user => 'u2');
	my %emptied = (
		thread => 'thread', account => 'thread account', user => 'thread account user', host => 'thread account host',
		global => 'thread account user host global', accounts => 'thread account', users => 'thread account user', hosts => 'thread account host');
	my %where = (thread => 'thread_id = ' . $s->thread_id, account => "user_name = 'u2'", user => "user_name = 'u2'", host => "host = '[local]'");

	$server->sql('TRUNCATE pfs.memory_summary_global_by_event_name');
	$s->query("SELECT context(0, 'AllocSet', NULL), alloc(0, 0, $mb, 0), alloc(0, 1, $mb, 0), alloc(0, 2, $mb, 0), free(0, 0)");
	my $all = sub {
		my ($l) = @_;

		return $server->sql("SELECT count_alloc, count_free, sum_number_of_bytes_alloc, sum_number_of_bytes_free, low_count_used, current_count_used, high_count_used,"
			  . " low_number_of_bytes_used, current_number_of_bytes_used, high_number_of_bytes_used FROM pfs.$table{$l} WHERE event_name = '$set'"
			  . (defined $where{$l} ? " AND $where{$l}" : ''));
	};
	my $before = join('|', 3, 1, 3 * $mb, $mb, 0, 2, 3, 0, 2 * $mb, 3 * $mb);
	my $after = join('|', 2, 0, 2 * $mb, 0, 2, 2, 2, (2 * $mb) x 3);

	is($all->($_), $before, "before a truncation: $_") foreach @levels;
	$server->sql('TRUNCATE pfs.' . ($table{$level} // $level));
	foreach my $l (@levels)
	{
		is($all->($l), $emptied{$level} =~ /\b$l\b/ ? $after : $before, "TRUNCATE of $level: $l" . ($emptied{$level} =~ /\b$l\b/ ? ' has a new baseline' : ''));
	}
	# The same when the thread has moved its numbers.
	$s->query("SELECT alloc(0, 3, $mb, 0), free(0, 3)");
	$after = join('|', 3, 1, 3 * $mb, $mb, 2, 2, 3, 2 * $mb, 2 * $mb, 3 * $mb);
	$before = join('|', 4, 2, 4 * $mb, 2 * $mb, 0, 2, 3, 0, 2 * $mb, 3 * $mb);
	foreach my $l (@levels)
	{
		is($all->($l), $emptied{$level} =~ /\b$l\b/ ? $after : $before, "TRUNCATE of $level, awake again: $l");
	}
	$s->close;
	$server->poll("SELECT count(*) FROM pfs.threads WHERE processlist_user = 'u2'", 0);
	is($server->sql("SELECT low_count_used, current_count_used, current_number_of_bytes_used FROM pfs.$table{global} WHERE event_name = '$set'"), '0|0|0', 'its end leaves nothing');
}

# ---- sessions one after the other ----

{
	$server->sql('TRUNCATE pfs.memory_summary_global_by_event_name');
	for (1 .. 50)
	{
		my ($status, $out, $err) = $server->psql("SELECT context(0, 'AllocSet', NULL), alloc(0, 0, $mb, 0)", user => 'u3');

		die $err if $status != 0;
	}
	$server->poll("SELECT count(*) FROM pfs.threads WHERE processlist_user = 'u3'", 0);
	foreach my $level (qw(account user host global))
	{
		my $where = { account => "user_name = 'u3'", user => "user_name = 'u3'", host => "host = '[local]'" }->{$level};
		my ($low, $current, $high) = split /\|/, marks($level, $set, $where);

		is("$low $current", '0 0', "after 50 sessions: nothing in use by $level");
		# Two can overlap for a moment: one is told to go, the next comes.
		between($high, $mb, 3 * $mb, 'and never was more than theirs');
	}
	is($server->sql("SELECT count_alloc, count_free FROM pfs.$table{account} WHERE user_name = 'u3' AND event_name = '$set'"), '50|50', 'each was counted');
}

# ---- the truth beside, under load ----

# Groups: 0 all, 1 host [local], 2 host 127.0.0.1, 3 u1, 4 u2, 5 u1 at [local], 6 u1 at 127.0.0.1
my @loads = (['', 'u1', '{0,1,3,5}', 8], ['127.0.0.1', 'u1', '{0,2,3,6}', 2], ['', 'u2', '{0,1,4}', 2]);
my @checks = (
	[0, 'global', undef], [1, 'host', "host = '[local]'"], [2, 'host', "host = '127.0.0.1'"], [3, 'user', "user_name = 'u1'"], [4, 'user', "user_name = 'u2'"],
	[5, 'account', "user_name = 'u1' AND host = '[local]'"], [6, 'account', "user_name = 'u1' AND host = '127.0.0.1'"]);

sub pgbenches
{
	my ($steps, @more) = @_;

	return map {
		my ($host, $user, $groups, $n) = @$_;

		$server->pgbench_start("SELECT random_steps($steps, '$groups', 5000);\n", '-c', $n, '-j', 1, '-T', $seconds, '-U', $user, ($host ? ('-h', $host) : ()), @more)
	} @loads;
}

# A session that ends loses its application_name before it leaves its thread.
sub load_ends { return $server->poll("SELECT count(*) FROM pfs.threads WHERE name = 'thread/client_backend'", 1); }

my $anew = 0;

foreach my $mode ('that stay', 'that come and go', 'that stay, with truncations')
{
	my $inexact = $server->inexact;
	my @more = $mode eq 'that come and go' ? ('-C') : ();
	my @running = pgbenches(100, @more);
	my ($looks, $low, $high) = (0, 0, 0);
	my @truncations = qw(thread account thread user thread host global);
	my $complaints = 0;

	$server->sql('TRUNCATE pfs.memory_summary_global_by_event_name');
	$server->sql('SELECT truth(-1)');
	# A busy machine has to be under load more than once for enough looks.
	while ((grep { $server->pgbench_running($_) } @running) || ($looks <= 50 && @running < 20 * @loads && push @running, pgbenches(100, @more)))
	{
		foreach my $check (@checks)
		{
			my ($group, $level, $where) = @$check;
			# The truth first: marks only move away from it.
			my @truth = split /,/, $server->sql("SELECT trim(truth($group)::text, '{}')");
			my $row = $server->sql("SELECT low_count_used, high_count_used, low_number_of_bytes_used, high_number_of_bytes_used, current_count_used, current_number_of_bytes_used"
				  . " FROM pfs.$table{$level} WHERE event_name = '$random'" . (defined $where ? " AND $where" : ''));
			my @marks = split /\|/, $row;

			next unless @marks;
			$looks++;
			my $bad = 0;
			$low++, $bad++ if $marks[0] > $truth[0] || $marks[2] > $truth[3];
			$high++, $bad++ if $marks[1] < $truth[2] || $marks[3] < $truth[5];
			$low++, $bad++ if $marks[0] > $marks[4] || $marks[2] > $marks[5] || $marks[4] < 0 || $marks[5] < 0;
			diag("$mode: $level " . ($where // '') . ": marks $row, truth @truth") if $bad && $complaints++ < 5;
		}
		if ($mode =~ /truncations/)
		{
			my $level = $truncations[ int(rand @truncations) ];

			$server->sql("TRUNCATE pfs.$table{$level}");
			$server->sql('SELECT truth(-1)');
		}
	}
	$server->pgbench_end($_) foreach @running;
	load_ends();
	redo if $server->inexact != $inexact && $anew++ < 5;
	cmp_ok($looks, '>', 50, "sessions $mode: looked at the marks");
	is($low, 0, 'never was less in use than LOW');
	is($high, 0, 'nor more than HIGH');
	is($server->sql("SELECT trim((truth(0))[2]::text) || ' ' || (truth(0))[5]"), '0 0', 'all have gone');
	is($server->sql("SELECT coalesce(sum(current_count_used), 0), coalesce(sum(current_number_of_bytes_used), 0) FROM pfs.$table{$_} WHERE event_name = '$random'"), '0|0', "by $_ too")
	  foreach @levels;
}

# ---- truncations under load: nothing is lost ----

foreach my $with ('thread account user host', 'host user account thread', 'global', 'global account thread user host')
{
	my $inexact = $server->inexact;

	$server->sql("SELECT pfs.reset('$table{global}')");
	my $total = sub { return $server->sql("SELECT coalesce(sum(count_alloc + count_free), 0) FROM pfs.$table{global} WHERE event_name = '$random'"); };
	my $current = sub { return $server->sql("SELECT coalesce(sum(current_count_used), 0) FROM pfs.$table{global} WHERE event_name = '$random'"); };
	my $before = $server->sql('SELECT (truth(0))[7]');

	is($total->(), 0, 'nothing is left of before');
	my @more = $with =~ /global account/ ? ('-C') : ();
	my @running = pgbenches(100, @more);
	my ($left, $resets, $wrong) = (0, 0, 0);
	my @order = split ' ', $with;

	while ((grep { $server->pgbench_running($_) } @running) || ($resets < @order && @running < 20 * @loads && push @running, pgbenches(100, @more)))
	{
		my $level = $order[ $resets++ % @order ];
		my $n = $server->sql("SELECT pfs.reset('$table{$level}')");

		$left += $n if $level eq 'global';
		$wrong++ if $n < 0;
		foreach my $l (@levels)
		{
			$wrong += $server->sql("SELECT count(*) FROM pfs.$table{$l} WHERE event_name LIKE 'memory/context/%' AND (count_alloc < count_free OR sum_number_of_bytes_alloc < sum_number_of_bytes_free"
				  . ' OR low_count_used > current_count_used OR high_count_used < current_count_used OR low_number_of_bytes_used > current_number_of_bytes_used'
				  . ' OR high_number_of_bytes_used < current_number_of_bytes_used OR low_count_used < 0 OR low_number_of_bytes_used < 0)');
		}
	}
	$server->pgbench_end($_) foreach @running;
	load_ends();
	my $made = $server->sql('SELECT (truth(0))[7]') - $before;

	redo if $server->inexact != $inexact && $anew++ < 5;

	cmp_ok($resets, '>=', @order, "resets of $with under load");
	is($left + $total->(), $made, 'the server has every allocation and free, or a reset returned it');
	is($current->(), 0, 'nothing is in use');
	is($wrong, 0, 'and no number was wrong in between');
}

# ---- who leaks? ----

{
	my $leak = $server->session(user => 'u3', name => 'leaky');
	my $other = $server->session(user => 'u2');

	$server->sql("UPDATE pfs.setup_instruments SET enabled = 'YES' WHERE name LIKE 'memory/%'");
	$other->query('SELECT count(*) FROM pg_class');
	$leak->query("SELECT context(0, 'AllocSet', NULL)");
	$leak->send("SELECT count(alloc(0, n % 1000, 100000, 0)), count(pg_sleep(0.001)) FROM generate_series(1, 1000000) n");
	# It runs on, and holds more and more.
	my $by_thread = "SELECT t.application_name || ' ' || m.event_name FROM pfs.memory_summary_by_thread_by_event_name m JOIN pfs.threads t USING (thread_id)"
	  . ' ORDER BY current_number_of_bytes_used DESC LIMIT 1';
	my $by_user = 'SELECT user_name || $$ $$ || event_name FROM pfs.memory_summary_by_user_by_event_name ORDER BY current_number_of_bytes_used DESC LIMIT 1';

	ok($server->poll($by_thread, "leaky $set"), 'a leak is found by thread while it runs');
	ok($server->poll($by_user, "u3 $set"), 'and by user');
	my $bytes = 'SELECT current_memory FROM pfs.threads WHERE thread_id = ' . $leak->thread_id;
	my $then = $server->sql($bytes);

	ok($server->poll("SELECT ($bytes) > $then + 1000000"), 'it grows');
	$server->sql('SELECT pg_cancel_backend(' . $leak->pid . ')');
	$leak->result;
	cmp_ok($server->sql($bytes), '>', $then, 'what is lost stays lost');
	$leak->query('SELECT delete(0)');
	cmp_ok($server->sql($bytes), '<', $then, 'until its context goes');
	$_->close foreach $leak, $other;
	$server->sql("UPDATE pfs.setup_instruments SET enabled = 'NO' WHERE name LIKE 'memory/%'");
}

# ---- sessions that only come and go ----

# Much of what they take they take before they have an account.
{
	my $cache = 'memory/context/CacheMemoryContext';
	my $highs = sub {
		return $server->sql(join ' UNION ALL ', map { "SELECT sum(high_number_of_bytes_used) FROM pfs.$table{$_} WHERE event_name = '$cache'"
				  . ($_ eq 'global' ? '' : $_ eq 'host' ? " AND host = '[local]'" : " AND user_name = 'u2'") } qw(account user host global));
	};
	my $pass = sub {
		$server->psql('SELECT 1', user => 'u2') for 1 .. shift;
		$server->poll("SELECT count(*) FROM pfs.threads WHERE processlist_user = 'u2'", 0);
	};

	$server->sql("UPDATE pfs.setup_instruments SET enabled = 'YES' WHERE name LIKE 'memory/%'");
	$pass->(2);
	my @had = split /\n/, $highs->();
	$pass->(20);
	my @has = split /\n/, $highs->();
	cmp_ok($had[0], '>', 100_000, 'a login takes memory of caches');
	cmp_ok($has[$_], '<=', 1.1 * $had[$_], 'twenty logins, one after the other, raise no mark: ' . (qw(account user host global))[$_]) foreach 0 .. 3;
	$server->sql("UPDATE pfs.setup_instruments SET enabled = 'NO' WHERE name LIKE 'memory/%'");
}

# ---- no room for accounts, users, hosts ----

foreach my $sizes ('accounts 0', 'users 0', 'hosts 0', 'accounts 0 users 0 hosts 0', 'accounts 1 users 1 hosts 1')
{
	my %size = split ' ', $sizes;

	$server->stop;
	$server->conf("pfs.${_}_size = " . ($size{$_} // -1)) foreach qw(accounts users hosts);
	$server->start;
	my $stays = $server->session(user => 'u1');

	$stays->query("SELECT context(0, 'AllocSet', NULL), alloc(0, 0, 10 * $mb, 0)");
	for (1 .. 5)
	{
		my ($status, $out, $err) = $server->psql("SELECT context(0, 'AllocSet', NULL), alloc(0, 0, $mb, 0), alloc(0, 1, $mb, 0), free(0, 0)", user => 'u2');

		die $err if $status != 0;
	}
	$server->poll("SELECT count(*) FROM pfs.threads WHERE processlist_user = 'u2'", 0);
	my ($alloc, $free, $low, $current, $high) = split /\|/, $server->sql('SELECT count_alloc, count_free, low_number_of_bytes_used, current_number_of_bytes_used, high_number_of_bytes_used'
		  . " FROM pfs.$table{global} WHERE event_name = '$set'");

	is("$alloc $free $low $current", "11 10 0 " . 10 * $mb, "$sizes: the server has all");
	between($high, 12 * $mb, 16 * $mb, 'and its high-water mark has not grown with each');
	foreach my $level (qw(account user host))
	{
		is($server->sql("SELECT count(*) FROM pfs.$table{$level} WHERE event_name = '$set'"), 0, "$level has no room")
		  if ($size{"${level}s"} // 1) == 0;
	}
	if (!defined $size{users} && !defined $size{accounts})
	{
		is($server->sql("SELECT count_alloc, count_free FROM pfs.$table{user} WHERE event_name = '$set' AND user_name = 'u2'"), '10|10', 'a user has theirs');
	}
	$stays->close;
}

done_testing();
