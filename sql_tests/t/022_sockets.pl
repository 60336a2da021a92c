# Sockets: who is connected, what goes through the connections, and that resets
# lose and double nothing, whatever the sessions do meanwhile.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/lib";
use PfsServer;
use Test::More;
use Time::HiRes qw(sleep);

my $v6 = IO::Socket->can('new') && eval { require IO::Socket::IP; IO::Socket::IP->new(Listen => 1, LocalHost => '::1', Type => 1) } ? 1 : 0;
my $server = PfsServer->new('main', tcp => 1, conf => <<"EOT");
autovacuum = off
listen_addresses = '127.0.0.1@{[$v6 ? ', ::1' : '']}'
hot_standby = on
wal_receiver_status_interval = 1s
EOT

my $port = $server->{port};

$server->start;
$server->sql('CREATE EXTENSION pfs; CREATE TABLE lines (n int)');

# The client has the answer a moment before the server has counted sending it.
sub idle
{
	my ($session) = @_;
	my $id = $session->thread_id;

	return $server->poll("SELECT state FROM pfs.socket_instances WHERE thread_id = $id", 'IDLE');
}

sub summed
{
	my ($session, $column, $event) = @_;
	my $id = $session->thread_id;

	idle($session);
	return $server->sql(qq{SELECT sum($column) FROM pfs.socket_summary_by_instance s
		JOIN pfs.socket_instances USING (object_instance_begin)
		WHERE thread_id = $id AND s.event_name = 'wait/io/socket/$event'});
}

# ---- who is connected ----

my %sessions = (unix => $server->session, tcp => $server->session(name => 'x host=127.0.0.1'));

$sessions{tcp6} = $server->session(name => 'x host=::1') if $v6;
foreach my $kind (sort keys %sessions)
{
	my $s = $sessions{$kind};
	my $id = $s->thread_id;

	idle($s);
	is($server->sql(qq{SELECT i.event_name, i.object_instance_begin <> 0, i.socket_id > 2, i.ip IS NOT DISTINCT FROM a.client_addr,
			i.port IS NOT DISTINCT FROM nullif(a.client_port, -1), i.ip IS NULL, i.state
		FROM pfs.socket_instances i JOIN pfs.threads t USING (thread_id) JOIN pg_stat_activity a ON a.pid = t.thread_os_id
		WHERE thread_id = $id}),
		'wait/io/socket/ClientRead|t|t|t|t|' . ($kind eq 'unix' ? 't' : 'f') . '|IDLE', "$kind: the session's socket, and whose it is");
	is($s->query('SELECT state FROM pfs.socket_instances WHERE thread_id = pfs.thread_id()'), 'ACTIVE', "$kind: active while it reads this");
}
is($server->sql('SELECT count(*), count(DISTINCT object_instance_begin), count(DISTINCT thread_id) FROM pfs.socket_instances'),
	join('|', (1 + keys %sessions) x 3), 'one row for each session, none for others');

# Whether a session is idle does not depend on what is recorded of it.
{
	my $s = $sessions{unix};

	$server->sql("SELECT pfs.set_instruments('idle%', 'NO')");
	$s->query('SELECT 1');
	is(idle($s), 1, 'idle, and its idle time is not recorded');
	is($server->sql('SELECT count(*) FROM pfs.events_waits_current WHERE thread_id = ' . $s->thread_id), 0, 'which is so');
	$s->query('BEGIN');
	is(idle($s), 1, 'the same inside a transaction');
	$s->query('COMMIT');
	$server->sql("SELECT pfs.set_instruments('%', 'NO')");
	is($s->query('SELECT state FROM pfs.socket_instances WHERE thread_id = pfs.thread_id()'), 'ACTIVE', 'active, and nothing is recorded');
	is(idle($s), 1, 'and idle again');
	$server->sql("SELECT pfs.set_instruments('%', 'YES')");
}
$server->sql('SELECT pfs.reset()');

# ---- what goes through ----

foreach my $kind (sort keys %sessions)
{
	my $s = $sessions{$kind};
	my @written = (summed($s, 'sum_number_of_bytes_write', 'ClientWrite'));
	my @sends = (summed($s, 'count_write', 'ClientWrite'));

	foreach my $size (1000, 3500)
	{
		$s->query("SELECT repeat('x', $size)");
		push @written, summed($s, 'sum_number_of_bytes_write', 'ClientWrite');
		push @sends, summed($s, 'count_write', 'ClientWrite');
	}
	is($written[2] - $written[1] - ($written[1] - $written[0]), 2500, "$kind: the bytes of a longer result, exactly");
	is("@sends", join(' ', map { $sends[0] + $_ } 0 .. 2), "$kind: one call each");

	my @read = (summed($s, 'sum_number_of_bytes_read', 'ClientRead'));
	my $calls = summed($s, 'count_read', 'ClientRead');

	foreach my $size (100, 700)
	{
		$s->query('SELECT 1 /* ' . 'x' x $size . ' */');
		push @read, summed($s, 'sum_number_of_bytes_read', 'ClientRead');
	}
	is($read[2] - $read[1] - ($read[1] - $read[0]), 600, "$kind: the bytes of a longer statement, exactly");
	is(summed($s, 'count_read', 'ClientRead'), $calls, "$kind: the call that ends the idle wait is none");
}

# A session that waits for its client inside a statement is not idle.
my $s = $sessions{tcp};
my $id = $s->thread_id;
my $waits = summed($s, 'count_misc', 'ClientRead');

$s->{in} .= "COPY lines FROM STDIN;\n";
$s->{handle}->pump_nb;
ok($server->poll(qq{SELECT count(*) FROM pfs.events_waits_current e JOIN pfs.socket_instances i USING (thread_id, object_instance_begin)
	WHERE thread_id = $id AND e.event_name = 'wait/io/socket/ClientRead' AND object_type = 'SOCKET' AND object_name IS NULL
	AND operation = 'wait' AND state = 'ACTIVE'}, 1), 'a wait for the data of COPY: for this socket, and active');
$s->{in} .= "1\n\\.\n";
$s->query('SELECT 1');
cmp_ok(summed($s, 'count_misc', 'ClientRead'), '>', $waits, 'it counts as misc');
is($server->sql(qq{SELECT count(*) FROM pfs.events_waits_history_long e
	WHERE thread_id = $id AND object_type = 'SOCKET' AND object_instance_begin IS DISTINCT FROM
	(SELECT object_instance_begin FROM pfs.socket_instances WHERE thread_id = $id)}), 0, 'all its socket events name the socket');
is($server->sql(q{SELECT count(*) FROM pfs.socket_summary_by_instance WHERE count_star <> count_read + count_write + count_misc
	OR sum_timer_wait - sum_timer_read - sum_timer_write - sum_timer_misc NOT BETWEEN 0 AND 2 OR count_timed > count_star
	OR min_timer_write > avg_timer_write OR avg_timer_write > max_timer_write}), 0, 'the parts add up');

# ---- a session ends ----

my $before = $server->sql(q{SELECT sum_number_of_bytes_write FROM pfs.socket_summary_by_event_name WHERE event_name = 'wait/io/socket/ClientWrite'});

$s->close;
ok($server->poll("SELECT count(*) FROM pfs.socket_instances WHERE thread_id = $id", 0), 'a session that has ended has no row');
my $after = $server->sql(q{SELECT sum_number_of_bytes_write FROM pfs.socket_summary_by_event_name WHERE event_name = 'wait/io/socket/ClientWrite'});

between($after, $before, $before + 100_000, 'its numbers stay in the sum of all');

# ---- an idle session across resets ----

$s = $sessions{unix};
$s->query("SELECT repeat('y', 50000)");
idle($s);
foreach my $table (qw(by_event_name by_instance by_event_name by_instance))
{
	$server->sql("SELECT pfs.reset('socket_summary_$table')");
	is(summed($s, 'count_star + sum_number_of_bytes_read + sum_number_of_bytes_write', 'ClientWrite'), 0, "reset $table: an idle session's row is there, at zero");
}
is($server->sql(q{SELECT sum(sum_number_of_bytes_write) < 20000 FROM pfs.socket_summary_by_event_name}), 't', 'what it sent is not in the sum');
$s->query('SELECT 1');
is(summed($s, 'count_star', 'ClientWrite'), 1, 'it begins from zero');
is($server->sql(q{SELECT sum(sum_number_of_bytes_write) < 20000 FROM pfs.socket_summary_by_event_name}), 't', 'and brings nothing back');
$server->sql('TRUNCATE pfs.socket_summary_by_instance');
is(summed($s, 'count_star', 'ClientWrite'), 0, 'TRUNCATE does the same');
is($server->sql(q{SELECT sum(count_star), pfs.reset('socket_summary_by_instance') FROM pfs.socket_summary_by_instance}) =~ /^(\d+)\|\1$/, 1,
	'reset by instance returns how many events it moved');
my $then = $server->sql('SELECT clock_timestamp()');
is($server->sql(q{SELECT (SELECT sum(count_star) FROM pfs.socket_summary_by_event_name), pfs.reset('socket_summary_by_event_name')}) =~ /^(\d+)\|\1$/, 1,
	'reset by event name: how many vanished');
is($server->sql(qq{SELECT bool_and(pfs.reset_time('socket_summary_by_' || t) BETWEEN '$then' AND clock_timestamp())
	FROM unnest(ARRAY['instance', 'event_name']) t}), 't', 'both tables know when');

# ---- rights ----

$server->sql('CREATE ROLE reader LOGIN; GRANT USAGE ON SCHEMA pfs TO reader; GRANT SELECT ON ALL TABLES IN SCHEMA pfs TO reader; CREATE ROLE other LOGIN');
my $own = $server->session(user => 'reader host=127.0.0.1');

is($own->query('SELECT ip FROM pfs.socket_instances WHERE port IS NOT NULL'), '127.0.0.1', 'without pg_read_all_stats only the own address can be seen');
is($own->query('SELECT count(*) > 1 FROM pfs.socket_instances'), 't', 'but every row');
$own->close;

# ---- a standby ----

my $backup = PfsServer::folder() . '/backup';

PfsServer::run_ok(PfsServer::bindir() . '/pg_basebackup', '-d', $server->connstr . ' host=127.0.0.1', '-D', $backup, '-R', '-c', 'fast', '--no-sync');
my $standby = PfsServer->new('standby', from => $backup, conf => "listen_addresses = ''");

$standby->start;
ok($standby->poll(qq{SELECT count(*) FROM pfs.socket_instances i JOIN pfs.threads USING (thread_id)
	WHERE name = 'thread/walreceiver' AND i.event_name ILIKE 'wait/io/socket/LibPQWalReceiverReceive' AND ip = '127.0.0.1' AND port = $port
	AND socket_id IS NULL AND state = 'ACTIVE'}, 1), 'the standby: its receiver of WAL is connected to the primary');
ok($standby->poll(q{SELECT count(*) FROM pfs.socket_summary_by_instance WHERE event_name ILIKE 'wait/io/socket/LibPQWalReceiverReceive' AND count_misc > 0
	AND count_star = count_misc}, 1), 'and has waited for it');
ok($server->poll(q{SELECT count(*) FROM pfs.socket_instances i JOIN pfs.threads t USING (thread_id) JOIN pg_stat_replication r ON r.pid = t.thread_os_id
	WHERE name = 'thread/walsender' AND i.event_name = 'wait/io/socket/ClientRead' AND ip = client_addr AND port = client_port AND i.state = 'ACTIVE'}, 1),
	'the primary: its walsender is connected to the standby');
$server->sql('INSERT INTO lines SELECT generate_series(1, 10000)');
ok($server->poll(q{SELECT sum(sum_number_of_bytes_write) > 500000 FROM pfs.socket_summary_by_instance s JOIN pfs.socket_instances USING (object_instance_begin)
	JOIN pfs.threads USING (thread_id) WHERE name = 'thread/walsender'}), 'and sends it WAL');
$standby->stop;

# ---- room for one, for none ----

foreach my $size (1, 0)
{
	$server->stop;
	$server->conf("pfs.max_socket_instances = $size");
	$server->start;
	my @some = map { $server->session } 1 .. 3;

	$_->query("SELECT repeat('z', 10000)") foreach @some;
	is($server->sql('SELECT count(*) FROM pfs.socket_instances'), $size, "$size: as many instances");
	like($server->sql(q{SELECT records_used, records_lost FROM pfs.containers WHERE name = 'socket_instances'}),
		$size ? qr/^1\|[1-9]/ : qr/^0\|0$/, "$size: as containers says" . ($size ? '' : ', and no loss is counted'));
	ok($server->poll(q{SELECT sum(sum_number_of_bytes_write) > 30000, sum(sum_number_of_bytes_read) > 50, sum(count_write) > 6
		FROM pfs.socket_summary_by_event_name}, 't|t|t'), "$size: all calls are in the sum of all");
	$server->sql("SELECT pfs.reset('socket_summary_by_event_name')");
	is($server->sql('SELECT sum(count_star) < 10 FROM pfs.socket_summary_by_event_name'), 't', "$size: until a reset");
}

# ---- resets under load: no event is lost or counted twice ----

# Only sockets are on, and the long history, which has room for all, is the
# witness: so the load is a number of statements, not of seconds.
$server->stop;
$server->conf(<<'EOT');
pfs.max_socket_instances = 5
pfs.instruments = '%=OFF, wait/io/socket/%=ON'
pfs.events_waits_history_long_size = 400000
EOT
$server->start;
$server->sql('SELECT 1');
my @loads = ($server->pgbench_start('SELECT 1;', '-c', '4', '-j', '1', '-t', '5000'),
	$server->pgbench_start("SELECT repeat('x', 5000);", '-C', '-c', '3', '-j', '1', '-t', '200'));
my $gone = 0;
my $resets = 0;

while (grep { $server->pgbench_running($_) } @loads)
{
	$server->sql(q{SELECT pfs.reset('socket_summary_by_instance')}) if $resets % 2;
	$gone += $server->sql(q{SELECT pfs.reset('socket_summary_by_event_name')});
	$resets++;
}
$server->pgbench_end($_) foreach @loads;
# Sessions that still end would be between the two counts.
ok($server->poll(q{SELECT count(*) FROM pfs.threads WHERE name = 'thread/client_backend'}, 1), 'the load is over');
my ($seen, $left, $inexact) = split /\|/, $server->sql(q{SELECT (SELECT count(*) FROM pfs.events_waits_history_long),
	(SELECT sum(count_star) FROM pfs.socket_summary_by_event_name),
	(SELECT variable_value FROM pfs.status WHERE variable_name = 'pfs_resets_inexact')});

between($seen, 100, 399_999, 'the long history has them all');
cmp_ok($resets, '>', 3, "$resets resets");
# A reset that has waited for half a second for sessions without a processor loses the event that each of them was adding.
between($gone + $left, $seen - 7 * $inexact, $seen, 'what resets returned, and the rest, are all events that there were');

done_testing();
