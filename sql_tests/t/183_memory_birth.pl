# A process that is born while memory counts is counted from its birth: what it holds,
# less what it inherited, is what is counted; of sessions, walsenders and parallel
# workers, and while switches and truncations come before a process has a thread.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/lib";
use IO::Socket::UNIX;
use PfsServer;
use Test::More;

my $module = test_module('pfs_test_memory');
my $server = PfsServer->new('main', preload => "$module,pfs", conf => <<'EOT2');
autovacuum = off
pfs.instruments = 'memory/%=ON'
EOT2
$server->start;
$server->sql('CREATE EXTENSION pfs');
$server->sql(test_functions('pfs_test_memory'));

# A server with assertions keeps in a chunk's header what was asked for.
my $checking = $server->sql('SHOW debug_assertions') eq 'on' ? 8 : 0;
my $header = (PfsServer::version() >= 16 ? 8 : 16) + $checking;

is($server->sql("SELECT status FROM pfs.probes WHERE probe_name = 'got/fork'"), 'active', 'the birth of processes is seen');

# ---- a session, context by context ----

# What runs now allocates now.
my $running = qr/^(ExecutorState|ExprContext|MessageContext|PortalContext|TopPortalContext|TopTransactionContext|printtup|pfs scan|pfs row|Table function arguments|tuplestore.*)$/;

sub of_session
{
	my ($s, $who) = @_;
	my $counted = "SELECT string_agg(event_name || '|' || current_count_used || '|' || current_number_of_bytes_used, chr(10))"
	  . ' FROM pfs.memory_summary_by_thread_by_event_name WHERE thread_id = pfs.thread_id()';
	my (%used, %overhead, %shown, %inherited, %before, %counted);

	# What the statement needs of the caches is there from the first time on.
	$s->query("SELECT contexts() || ($counted)");
	$s->query('SELECT sum(used_bytes) FROM pg_backend_memory_contexts');

	my %view = map { split /\|/ } split /\n/, $s->query('SELECT name, sum(used_bytes) FROM pg_backend_memory_contexts GROUP BY name');
	my ($lines, $numbers) = split /====/, $s->query("SELECT contexts() || '====' || ($counted)");
	my %again = map { my @f = split /\t/; ("$f[0] $f[1]" => $f[2]) } split /\n/, $s->query('SELECT contexts()');

	foreach my $line (split /\n/, $s->query('SELECT contexts_at_start()'))
	{
		my ($address, $name, $bytes) = split /\t/, $line;

		$before{"$address $name"} = $bytes;
	}
	foreach my $line (split /\n/, $lines)
	{
		my ($address, $name, $uses, $itself, $as_shown) = split /\t/, $line;

		# What has changed much since was read at another moment than the numbers.
		next if $name =~ $running || abs(($again{"$address $name"} // -1) - $uses) > 0.01 * $uses;
		$used{$name} += $uses;
		$overhead{$name} += $itself;
		$shown{$name}{$as_shown} = 1;
		$inherited{$name} += $before{"$address $name"} if exists $before{"$address $name"};
	}
	foreach my $line (split /\n/, $numbers)
	{
		my ($event, @n) = split /\|/, $line;

		$counted{ substr($event, length('memory/context/')) } = \@n;
	}

	my ($sum_used, $sum_counted, $in_view, $born, @less, @more) = (0, 0, 0, 0);

	foreach my $name (sort keys %used)
	{
		(my $event = $name) =~ tr{/}{_};
		my ($count, $bytes) = @{ $counted{$event} // [ 0, 0 ] };
		my $known = $bytes + $count * $header + $overhead{$name};
		my $wanted = $used{$name} - ($inherited{$name} // 0);

		$sum_used += $wanted;
		$sum_counted += $known;
		# The server's own view is of the same contexts.
		$in_view += $view{$_} // 0 foreach keys %{ $shown{$name} };
		note(sprintf('%-28s %8d used - %6d inherited, %8d known', $name, $used{$name}, $inherited{$name} // 0, $known));
		next if defined $inherited{$name};
		$born++;
		push @less, "$name: $known of $wanted" if $known < 0.95 * $wanted;
		push @more, "$name: $known of $wanted" if $known > 1.01 * $wanted;
	}
	cmp_ok($born, '>', 8, "$who: many contexts were made after its birth");
	is(join(', ', @less), '', "$who: each has what it uses");
	is(join(', ', @more), '', "$who: and not more");
	cmp_ok($sum_counted, '>=', 0.95 * $sum_used, "$who: in sum $sum_counted of $sum_used bytes");
	cmp_ok($sum_counted, '<=', 1.01 * $sum_used, "$who: not more than there is");
	cmp_ok($sum_used, '>', 0.7 * $in_view, "$who: which is most of what pg_backend_memory_contexts shows");
	ok(!defined $inherited{CacheMemoryContext} && ($counted{CacheMemoryContext}[1] // 0) > 200_000, "$who: CacheMemoryContext is its own");
	ok(defined $inherited{TopMemoryContext}, "$who: TopMemoryContext is not");
	is($server->sql('SELECT current_memory = (SELECT sum(current_number_of_bytes_used) FROM pfs.memory_summary_by_thread_by_event_name m WHERE m.thread_id = t.thread_id), high_memory >= current_memory
			FROM pfs.threads t WHERE thread_os_id = ' . $s->pid), 't|t', "$who: the thread has the sum");
}

my $invariants = join(' UNION ALL ', map {
		"SELECT count(*) AS n FROM pfs.memory_summary_${_}_event_name WHERE event_name LIKE 'memory/context/%' AND NOT (low_count_used >= 0 AND low_count_used <= current_count_used"
		  . ' AND current_count_used <= high_count_used AND low_number_of_bytes_used >= 0 AND low_number_of_bytes_used <= current_number_of_bytes_used'
		  . ' AND current_number_of_bytes_used <= high_number_of_bytes_used AND count_alloc - count_free = current_count_used'
		  . ' AND sum_number_of_bytes_alloc - sum_number_of_bytes_free = current_number_of_bytes_used)'
	  } qw(by_thread_by by_account_by by_user_by by_host_by global_by));

of_session($server->session, 'a session');
of_session($server->session(db => 'postgres replication=database'), 'a walsender');

# ---- kinds without a header that we know ----

{
	my $s = $server->session;
	my $event = "event_name = 'memory/context/Caller tuples' AND thread_id = pfs.thread_id()";

	$s->query("SET work_mem = '64MB'; BEGIN; DECLARE c CURSOR FOR SELECT g, repeat('x', 100) FROM generate_series(1, 20000) g ORDER BY md5(g::text)");
	$s->query('FETCH 1 FROM c');
	my ($count, $bytes) = split /\|/, $s->query("SELECT current_count_used, current_number_of_bytes_used FROM pfs.memory_summary_by_thread_by_event_name WHERE $event");
	my ($used, $blocks) = split /\|/, $s->query("SELECT used_bytes, total_nblocks FROM pg_backend_memory_contexts WHERE name = 'Caller tuples'");
	my $each = PfsServer::version() >= 17 ? $checking : PfsServer::version() >= 16 ? 8 + $checking : 24 + $checking;

	cmp_ok($count, '>=', 20000, 'the tuples of a sort');
	cmp_ok($bytes + $count * $each, '>=', 0.95 * $used, 'have what their context uses');
	cmp_ok($bytes + $count * $each, '<=', $used, 'and not more');
	$s->query('COMMIT');
	is($s->query("SELECT current_count_used, current_number_of_bytes_used FROM pfs.memory_summary_by_thread_by_event_name WHERE $event"), '0|0', 'and are gone');
	$s->close;
}

# ---- parallel workers ----

{
	my $s = $server->session;

	$server->sql(<<'EOT2');
CREATE TABLE few (a int);
INSERT INTO few SELECT generate_series(1, 10);
ALTER TABLE few SET (parallel_workers = 2);
ALTER FUNCTION held() PARALLEL SAFE;
CREATE FUNCTION say(a int) RETURNS int LANGUAGE plpgsql PARALLEL SAFE AS $$
BEGIN
	PERFORM held();
	RAISE LOG 'process % holds %', pg_backend_pid(), held();
	PERFORM pg_sleep(300);
	RETURN a;
END $$;
EOT2
	$s->query('SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0; SET parallel_leader_participation = off');
	$s->send('SELECT sum(say(a)) FROM few');
	# To the end of a line, which may be there in part.
	$server->wait_log(qr/holds \d+\n/);
	my %held = $server->log_text =~ /process (\d+) holds (\d+)\n/g;

	foreach my $pid (keys %held)
	{
		# Of sets only, as it says; and some chunks have come since.
		my ($bytes, $parent) = split /\|/, $server->sql("SELECT sum(current_number_of_bytes_used + $header * current_count_used), min(t.parent_thread_id)
			FROM pfs.memory_summary_by_thread_by_event_name m JOIN pfs.threads t USING (thread_id) WHERE t.thread_os_id = $pid");

		cmp_ok($bytes, '>=', 0.95 * $held{$pid}, "process $pid: $bytes of $held{$pid}");
		cmp_ok($bytes, '<=', 1.2 * $held{$pid}, 'and not much more');
		is($parent, $s->thread_id, 'a worker of the session');
	}
	is($server->sql("SELECT sum(n) FROM ($invariants) x"), 0, 'marks and sums agree');
	$server->sql('SELECT pg_cancel_backend(' . $s->pid . ')');
	eval { $s->result };
	$s->close;
}

# ---- all the others ----

# One that allocates between the two readings, as it ends for instance, has what it has a moment later.
ok($server->poll("SELECT coalesce(string_agg(name, ', '), '') FROM pfs.threads t WHERE coalesce(current_memory, 0) < 50000
		OR current_memory <> (SELECT sum(current_number_of_bytes_used) FROM pfs.memory_summary_by_thread_by_event_name m WHERE m.thread_id = t.thread_id AND m.thread_id <> pfs.thread_id())", ''),
	'every process has its memory');

# ---- truncated and switched before a process has a thread ----

# A connection that has sent nothing yet: its process waits for the first packet.  As a process that is
# born does not sleep before it has looked at the switches, it has done so when it sleeps.
sub knock
{
	my $before = join(' ', children());
	my $socket = IO::Socket::UNIX->new(Type => SOCK_STREAM, Peer => "$server->{host}/.s.PGSQL.$server->{port}") or die "connect: $!";
	my $pid;

	for (1 .. 3000)
	{
		($pid) = grep { " $before " !~ / $_ / } children();
		last if defined $pid && PfsServer::text_of("/proc/$pid/status") =~ /^State:\s*S/m;
		select(undef, undef, undef, 0.02);
	}
	return ($socket, $pid);
}

sub children
{
	my $postmaster = $server->postmaster_pid;

	return grep { PfsServer::text_of("/proc/$_/status") =~ /^PPid:\s*$postmaster$/m } map { m{(\d+)} } glob '/proc/[0-9]*';
}

# Asks to be let in.
sub ask
{
	my ($socket) = @_;
	my $packet = pack('N', 3 << 16) . join('', map { "$_\0" } 'user', 'postgres', 'database', 'postgres') . "\0";

	print $socket pack('N', 4 + length $packet) . $packet;
	$socket->flush;
}

# Reads up to the first prompt.
sub come_in
{
	my ($socket) = @_;
	my $got = '';

	while ($got !~ /Z\0\0\0\x05I$/s)
	{
		sysread($socket, $got, 8192, length $got) or die 'the server has hung up';
	}
}

my $of = "FROM pfs.memory_summary_by_thread_by_event_name m JOIN pfs.threads t USING (thread_id) WHERE t.thread_os_id";

foreach my $case ([ 'nothing', '', 't' ],
	[ 'a truncation', 'TRUNCATE pfs.memory_summary_global_by_event_name', 't' ],
	[ 'a switch', "UPDATE pfs.setup_instruments SET enabled = 'NO' WHERE name LIKE 'memory/context/%'", 'f' ],
	[ 'two switches', "UPDATE pfs.setup_instruments SET enabled = 'NO' WHERE name LIKE 'memory/context/%'; UPDATE pfs.setup_instruments SET enabled = 'YES' WHERE name LIKE 'memory/context/%'", 't' ],
	[ 'a consumer', "UPDATE pfs.setup_consumers SET enabled = 'NO' WHERE name = 'thread_instrumentation'", 'f' ])
{
	my ($what, $sql, $on) = @$case;
	my ($socket, $pid) = knock();

	is($server->sql("SELECT count(*) FROM pfs.threads WHERE thread_os_id = $pid"), 0, "$what: no thread yet");
	$server->sql($sql) if $sql ne '';
	ask($socket);
	come_in($socket);
	is($server->sql("SELECT sum(n) FROM ($invariants) x"), 0, "$what before the first packet: marks and sums agree");
	# The prompt comes before the event with which it knows its account, as it waits.
	$server->poll("SELECT wait_event = 'ClientRead' FROM pg_stat_activity WHERE pid = $pid");
	ok($server->poll("SELECT coalesce(sum(current_number_of_bytes_used), 0) > 200000 $of = $pid", $on), "$what: it is counted, or not");
	$server->sql("UPDATE pfs.setup_consumers SET enabled = 'YES'; UPDATE pfs.setup_instruments SET enabled = 'YES' WHERE name LIKE 'memory/context/%'");
	$socket->close;
	$server->poll("SELECT count(*) FROM pg_stat_activity WHERE pid = $pid", 0);
	is($server->sql("SELECT sum(n) FROM ($invariants) x"), 0, "$what: and when it has gone");
}

# One that never attaches takes its numbers with it.
{
	my $lost = "SELECT variable_value FROM pfs.status WHERE variable_name = 'pfs_memory_summary_global_lost'";
	my ($socket, $pid) = knock();

	is($server->sql($lost), 0, 'nothing was lost');
	$socket->close;
	for (1 .. 3000) { last unless grep { $_ == $pid } children(); select(undef, undef, undef, 0.02); }
	is(scalar(grep { $_ == $pid } children()), 0, 'a process that never had a thread has ended');
	is($server->sql("SELECT sum(n) FROM ($invariants) x"), 0, 'and left nothing');
}

# A login takes memory before it has an account, which uses up what others have left to it all
# the same; one that fails has none.
{
	my $s = $server->session;
	my $beyond = sub
	{
		my ($column) = @_;
		my $sums = join(', ', map { "(SELECT sum($column) FROM pfs.memory_summary_${_}_by_event_name WHERE event_name = 'memory/context/CacheMemoryContext')" } qw(global by_account));

		# This fills the caches.
		$s->query("SELECT $sums");

		my ($global, $accounts) = split /\|/, $s->query("SELECT $sums");

		return $global - $accounts;
	};

	$server->sql('TRUNCATE pfs.memory_summary_global_by_event_name');
	$server->psql('SELECT 1') for 1 .. 5;
	is($beyond->('high_number_of_bytes_used'), 0, "the server's mark is that of its accounts, however many have logged in");

	my $before = $beyond->('count_alloc');
	my $locker = $server->session;
	my ($socket, $pid) = knock();
	my $memory = "SELECT coalesce(current_memory, 0) FROM pfs.threads WHERE thread_os_id = $pid";

	# A login reads it when the role is known.
	$locker->query('BEGIN; LOCK pg_db_role_setting');
	ask($socket);
	ok($server->poll("SELECT count(*) FROM pg_locks WHERE pid = $pid AND NOT granted", 1), 'a login waits');
	is($s->query($memory), 0, 'the memory of a login that goes on is not shown');
	is($beyond->('count_alloc'), $before, 'nor counted for the server');
	$locker->query('COMMIT');
	come_in($socket);
	ok($server->poll("SELECT ($memory) > 200000"), 'all of it is there when it is let in');
	is($beyond->('count_alloc'), $before, 'and counts for its account');
	$socket->close;
	$locker->close;

	my ($status) = $server->psql('SELECT 1', db => 'nowhere');

	isnt($status, 0, 'a login fails');
	cmp_ok($beyond->('count_alloc'), '>', $before, 'what it has allocated counts for the server alone');
	is($server->sql("SELECT sum(n) FROM ($invariants) x"), 0, 'and is freed');
	$s->close;
}

# Sessions that are not to be instrumented.
{
	$server->sql('DELETE FROM pfs.setup_actors');
	my $s = $server->session;

	$s->query('SELECT count(*) FROM pg_class');
	is($server->sql('SELECT instrumented FROM pfs.threads WHERE thread_id = ' . $s->thread_id), 'NO', 'a session that is not instrumented');
	is($server->sql("SELECT sum(n) FROM ($invariants) x"), 0, 'marks and sums agree');
	$s->close;
}

# ---- a process that leaves shared memory ----

sub is_logger
{
	my ($pid) = @_;

	open my $file, '<', "/proc/$pid/cmdline" or return 0;
	local $/;
	return (<$file> // '') =~ /: (sys)?logger/;
}

$server->conf("logging_collector = on\nlog_directory = 'log'\nlog_filename = 'server.log'\nlog_rotation_size = 0\nlog_min_messages = log");
$server->restart;
{
	my $pids = sub { grep { is_logger($_) } children() };
	my $logger;

	# The server can be ready before this process has run for the first time, which gives it its name.
	for (1 .. 3000) { last if (($logger) = $pids->()); select(undef, undef, undef, 0.02); }
	ok(defined $logger, 'there is a syslogger');
	# More than it reads at once, and files that come and go.
	$server->sql("DO \$\$ BEGIN FOR i IN 1 .. 200 LOOP RAISE LOG '% %', i, repeat('y', 10000); END LOOP; PERFORM pg_rotate_logfile(); END \$\$");
	$server->sql("DO \$\$ BEGIN RAISE LOG 'the last of them'; END \$\$");
	ok($server->poll("SELECT pg_read_file('log/server.log') ~ 'the last of them'"), 'it writes what it gets');
	is(join(',', $pids->()), $logger, 'and lives');
	$server->sql("ALTER SYSTEM SET log_filename = 'other.log'; SELECT pg_reload_conf()");
	ok($server->poll("SELECT count(*) FROM pg_ls_dir('log') f WHERE f = 'other.log'", 1), 'it reads its settings again');
	is(join(',', $pids->()), $logger, 'and lives on');
}
$server->stop;

done_testing();
