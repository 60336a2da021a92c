# pfs top on a terminal of tmux: its screens and keys, resizing, what it asks before it does it, switches that
# it puts back, and a connection that is lost.

use strict;
use warnings;
use Encode qw(decode_utf8);
use FindBin;
use lib "$FindBin::RealBin/lib";
use PfsReports;
use PfsServer;
use Test::More;
use Time::HiRes qw(sleep time);

needs_program();
plan(skip_all => 'there is no tmux, or it has no terminal')
  if system('tmux -f /dev/null -S "' . PfsServer::folder() . '/terminal" new-session -d true >/dev/null 2>&1') != 0;
my $server = PfsServer->new('main', conf => "autovacuum = off\npfs.load_history_interval = 0\nmax_prepared_transactions = 1");
my $socket;
my $terminals = 0;

sub tmux
{
	my ($out, $err) = ('', '');

	IPC::Run::run([ 'tmux', '-f', '/dev/null', '-S', $socket, @_ ], '<', '/dev/null', '>', \$out, '2>', \$err, IPC::Run::timeout($PfsServer::timeout));
	return $out;
}

END { my $status = $?; tmux('kill-server') if defined $socket && -e $socket; $? = $status; }

# Starts it on a terminal of this size.
sub start_top
{
	my ($width, $height, @options) = @_;

	# A server of tmux that is about to end would take the new session with it.
	tmux('kill-server') if defined $socket;
	$socket = PfsServer::folder() . '/tmux' . ++$terminals;
	local %ENV = (%ENV, LC_ALL => 'C.UTF-8', PGHOST => $server->{host}, PGPORT => $server->{port}, PGUSER => 'postgres', PGDATABASE => 'postgres');
	tmux('new-session', '-d', '-x', $width, '-y', $height, "ulimit -c 0; " . PfsServer::bindir() . "/pfs top @options; echo ended with \$?; exec sleep 1000");
}

sub keys_are { tmux('send-keys', $_) foreach @_; }

# Waits until the screen is so.
sub shows
{
	my ($regex, $what) = @_;
	my $end = time() + $PfsServer::timeout;
	my $screen;

	do
	{
		$screen = tmux('capture-pane', '-p');
		if ($screen =~ $regex)
		{
			pass($what);
			return $screen;
		}
		sleep(0.2);
	} while (time() < $end);
	fail($what);
	diag($screen);
	return $screen;
}

# Process ids of the rows, from the top.
sub pids { return $_[0] =~ /^ *\\?(\d+) .*(?:holder|first|second)/mg; }

$server->start;
$server->sql(<<'EOT');
CREATE EXTENSION pfs;
CREATE TABLE item (i int PRIMARY KEY, v int);
CREATE INDEX item_v ON item (v);
INSERT INTO item SELECT g, g FROM generate_series(1, 1000) g;
EOT
my %s = map { $_ => $server->session(name => $_) } qw(holder first second);
my %pid = map { $_ => $s{$_}->pid } keys %s;
my $waits = "SELECT count(*) FROM pfs.events_waits_current WHERE event_name = 'wait/lock/relation'";

$s{holder}->query('BEGIN; LOCK TABLE item');
$s{first}->send('SELECT sum(v) FROM item');
$server->poll($waits, 1) or die 'the first does not wait';
$s{second}->send('UPDATE item SET v = 0 WHERE i = 7');
$server->poll($waits, 2) or die 'the second does not wait';

# ---- screens ----

start_top(80, 24, '--interval', '0.5');
my $screen = shows(qr{^Lock +wait/lock/relation +2\.00 .*^q quit}ms, 'begins with the load');
like($screen, qr/^\d+ sessions: 2 active, 2 waiting; 1 idle in transaction; oldest /m, 'says whether it is busy');
like($screen, qr/^1 load  2 sessions  3 locks  4 statements  5 waits  6 tables  7 files  8 memory/m, 'which screens there are');
like($screen, qr/^q quit .*\? help/m, 'and which keys');
is_deeply([ grep { length > 80 } split /\n/, decode_utf8($screen) ], [], 'on 80 columns');
keys_are('2');
shows(qr{^ *$pid{first} +postgres +first +lock/relation .*select sum}im, 'sessions');
keys_are('3');
shows(qr/^$pid{holder} +holder +idle in t .*\n \\$pid{first} +first +waits .*\n \\$pid{second} +second +waits /m, 'the lock tree');
keys_are('4');
shows(qr/^ +total +share +calls +average mostly +statement.*\n.*SELECT/m, 'statements');
keys_are('5');
shows(qr/^event +total +active +share +count/m, 'waits');
keys_are('6');
shows(qr{^The instrument wait/io/table/handler is off: no row is counted; i switches it on}m, 'tables and what they need');
keys_are('7');
shows(qr/^kind +name +total +reads +read writes +written/m, 'files');
keys_are('8');
$screen = shows(qr{^All of memory/context/% is off: no such context is counted; i switches it on.*^q quit}ms, 'memory and what it needs');
like($screen, qr/^ *$pid{holder} +\d+\.\d MiB +client_backend +postgres +holder/m, 'with the own memory of each process');
keys_are('Tab');
shows(qr/^ +total +share +calls +average +of +plan/m, 'Tab goes on');
keys_are('Tab');
shows(qr/^class +event/m, 'and round');
keys_are('BTab');
shows(qr/^ +total +share +calls +average +of +plan/m, 'and back');
keys_are('?');
shows(qr/^ Left, Right +sort by another column/m, 'help');
keys_are('x');
shows(qr/^ +total +share +calls +average +of +plan/m, 'until a key');
keys_are('x');
shows(qr/^This key does nothing here; \? shows those that do\./m, 'a key that does nothing says so');

# ---- more about a row ----

keys_are('4', 't');
shows(qr/^Since the last reset: statements by shape/m, 't: since the last reset');
keys_are('Enter');
shows(qr/^event +total +share +count +average.*^Since the last reset: what a statement waited for/ms, 'Enter: waits of a statement');
keys_are('Escape');
shows(qr/^ +total +share +calls/m, 'Escape: back');
keys_are('5');
shows(qr{^wait/}m, 'waits since the last reset');
keys_are('Enter');
shows(qr/^ +from +to +count +share bar.*\n.* \d+\.\d % #/m, 'Enter: the histogram of a wait');
keys_are('Escape', '2');
shows(qr/^ *$pid{holder} .*holder/m, 'sessions');
keys_are('Enter');
shows(qr/statement +statement\/sql\/\S+ /, 'Enter: events of a session');
keys_are('Escape', 't');

# ---- filter, sort ----

keys_are('/', 'second');
shows(qr/^Only rows with this text \(empty: all\): second_/m, 'a filter is typed');
keys_are('Enter');
$screen = shows(qr/FILTERED/, 'the head says so');
is_deeply([ pids($screen) ], [ $pid{second} ], 'only its row');
keys_are('/', 'Enter');
shows(qr/\bholder\b/, 'an empty one shows all');
keys_are(('Left') x 5);
my @sorted = sort { $a <=> $b } values %pid;
shows(qr/^ *$sorted[2] .*\n(?:.*\n)*? *$sorted[1] .*\n(?:.*\n)*? *$sorted[0] /m, 'sorted by pid');
keys_are('r');
shows(qr/^ *$sorted[0] .*\n(?:.*\n)*? *$sorted[1] .*\n(?:.*\n)*? *$sorted[2] /m, 'the other way round');

keys_are('r');
shows(qr/^ *$sorted[2] .*\n(?:.*\n)*? *$sorted[1] .*\n(?:.*\n)*? *$sorted[0] /m, 'and back');
keys_are('Enter');
shows(qr/^At this moment: the last events of a session/m, 'more about a row');
keys_are('r', 'Escape');
shows(qr/^ *$sorted[2] .*\n(?:.*\n)*? *$sorted[1] .*\n(?:.*\n)*? *$sorted[0] /m, 'the order of the rows behind it stays');
keys_are('r');
shows(qr/^ *$sorted[0] .*\n(?:.*\n)*? *$sorted[1] .*\n(?:.*\n)*? *$sorted[2] /m, 'until the key is pressed there');

# ---- pause, interval ----

keys_are('d', '1000', 'BSpace', 'BSpace', 'BSpace', 'Enter');
shows(qr/every 1 s/, 'd: another interval');
keys_are('d', 'many', 'Enter');
shows(qr/^"many" is not a number of seconds from 0\.5 to 3600/m, 'a wrong one');
keys_are('p');
shows(qr/^pfs top  \d\d:\d\d:\d\d \S+  PAUSED  /m, 'p');
keys_are('p');

# ---- size ----

tmux('resize-window', '-x', 140, '-y', 40);
shows(qr/^ +pid user +database .*\bmemory statement/m, 'wider: more columns');
tmux('resize-window', '-x', 40, '-y', 8);
shows(qr/^ +pid user/m, 'small');
tmux('resize-window', '-x', 10, '-y', 3);
tmux('resize-window', '-x', 80, '-y', 24);
shows(qr/^ +pid user +applic.*\n(?:.*\n)+q quit /m, 'tiny and back');

# ---- cancel ----

keys_are('/', 'first', 'Enter');
shows(qr/FILTERED.*\n(?:.*\n)*? *$pid{first} /, 'one session');
keys_are('c');
shows(qr/^Cancel the statement of $pid{first} \(SELECT sum/m, 'cancel asks first');
keys_are('n');
shows(qr/^Nothing was done\./m, 'no');
is($server->sql($waits), 2, 'nothing was done');
keys_are('c');
shows(qr/^Cancel the statement of $pid{first} /m, 'it asks again');
keys_are('y');
shows(qr/^$pid{first} was told to cancel its statement\./m, 'yes');
$s{first}->result;
like($s{first}->last_error, qr/canceling statement due to user request/, 'it was cancelled');
keys_are('/', 'second', 'Enter');
shows(qr/FILTERED.*\n(?:.*\n)*? *$pid{second} /, 'another one');
keys_are('k');
shows(qr/^Terminate the session $pid{second} /m, 'terminate asks first');
keys_are('y');
ok($server->poll("SELECT count(*) FROM pg_stat_activity WHERE pid = $pid{second}", 0), 'it is gone');
keys_are('/', 'Enter', '4', 'c');
shows(qr/^Mark a session first/m, 'on a screen without sessions');

# ---- what is no session ----

$s{holder}->query("PREPARE TRANSACTION 'prepared'");
$s{first}->send('SELECT sum(v) FROM item');
$server->poll($waits, 1) or die 'nobody waits for the prepared transaction';
keys_are('3');
shows(qr/^prepared .*prepared .* PREPARE TRANSA.*\n \\$pid{first} /m, 'a prepared transaction in the lock tree');
keys_are('k');
shows(qr/^A prepared transaction has no session; ROLLBACK PREPARED 'prepared'; ends it\./m, 'cannot be terminated');
$server->sql("ROLLBACK PREPARED 'prepared'");
$s{first}->result;
keys_are('2');
shows(qr/^ *$pid{first} /m, 'sessions');
keys_are('/', 'first', 'Enter', 'k');
shows(qr/^Terminate the session $pid{first} /m, 'one of them');
$s{first}->close;
ok($server->poll("SELECT count(*) FROM pg_stat_activity WHERE pid = $pid{first}", 0), 'that ends meanwhile');
# For a moment longer it can still be told to end.
for (my $end = time() + $PfsServer::timeout; -d "/proc/$pid{first}" && time() < $end; sleep(0.05)) { }
keys_are('y');
shows(qr/^$pid{first} is no session, or has ended\./m, 'cannot be terminated, either');
keys_are('/', 'Enter');

# ---- switches ----

my $enabled = "SELECT enabled FROM pfs.setup_instruments WHERE name = 'wait/io/table/handler'";

keys_are('6', 'i');
shows(qr{^Switch on wait/io/table/handler for all sessions}m, 'i asks first');
keys_are('n');
shows(qr/^Nothing was done\./m, 'no');
is($server->sql($enabled), 'NO', 'it is off');
keys_are('i');
shows(qr{^Switch on wait/io/table/handler}m, 'asks again');
keys_are('y');
ok($server->poll($enabled, 'YES'), 'it is on');
$server->sql('SET enable_seqscan = off; SELECT v FROM item WHERE i = 7; RESET enable_seqscan');
shows(qr/^public +item +item_v +not known .*^It is not known which indexes nobody uses: rows of tables were not/ms, 'an index that was not used lately');
$server->sql("SELECT pfs.reset('table_io_waits_summary_by_index_usage')");
$server->sql('SET enable_seqscan = off; SELECT v FROM item WHERE i = 7; RESET enable_seqscan');
shows(qr/^public +item +item_v +unused /m, 'the unused index');
keys_are('q');
shows(qr/ended with 0/, 'q ends it');
is($server->sql($enabled), 'NO', 'and switches it off');
start_top(80, 24);
shows(qr/^class/m, 'once more');
keys_are('6', 'i', 'y');
ok($server->poll($enabled, 'YES'), 'it is on');
# The shell's only child is the program.
my ($shell) = tmux('display-message', '-p', '#{pane_pid}') =~ /(\d+)/;
my ($child) = split ' ', slurp("/proc/$shell/task/$shell/children");

kill 'TERM', $child;
shows(qr/ended with 143/, 'SIGTERM ends it');
is($server->sql($enabled), 'NO', 'and switches it off');

# The same while the server does not answer a query, which ends the connection.
my $lock = $server->session;
start_top(80, 24);
shows(qr/^class/m, 'once more');
keys_are('6', 'i', 'y');
ok($server->poll($enabled, 'YES'), 'it is on');
$lock->query('BEGIN; TRUNCATE pfs.table_io_waits_summary_by_index_usage');
ok($server->poll("SELECT count(*) FROM pg_locks JOIN pg_stat_activity USING (pid) WHERE NOT granted AND application_name = 'pfs top'", 1), 'its query waits');
($shell) = tmux('display-message', '-p', '#{pane_pid}') =~ /(\d+)/;
($child) = split ' ', slurp("/proc/$shell/task/$shell/children");
kill 'TERM', $child;
shows(qr/ended with 143/, 'SIGTERM in a query ends it');
$lock->close;
is($server->sql($enabled), 'NO', 'and switches it off, too');

# A signal that leaves no time for that leaves the terminal as it was.
start_top(80, 24);
shows(qr/^class/m, 'once more');
is(tmux('display-message', '-p', '#{alternate_on}'), "1\n", 'it has the screen for itself');
($shell) = tmux('display-message', '-p', '#{pane_pid}') =~ /(\d+)/;
($child) = split ' ', slurp("/proc/$shell/task/$shell/children");
kill 'QUIT', $child;
shows(qr/ended with 131/, 'SIGQUIT ends it at once');
is(tmux('display-message', '-p', '#{alternate_on}'), "0\n", 'and the terminal is as it was');

# So does one while a password is asked for: the terminal shows again what is typed.
start_top(80, 24, '--password; stty -a');
shows(qr/^Password/m, 'it asks for a password');
($shell) = tmux('display-message', '-p', '#{pane_pid}') =~ /(\d+)/;
($child) = split ' ', slurp("/proc/$shell/task/$shell/children");
like(PfsServer::run_ok('stty', '-a', '-F', tmux('display-message', '-p', '#{pane_tty}') =~ s/\n//r), qr/ -echo /, 'without showing it');
kill 'INT', $child;
$screen = shows(qr/ended with 0/, 'SIGINT ends it');
like($screen, qr/^pfs: interrupted$/m, 'which it says');
like($screen, qr/ echo /, 'and what is typed is shown again');

# ---- what is not recorded ----

start_top(80, 24, '--interval', '0.5');
shows(qr/^class/m, 'once more');
$server->sql("SELECT pfs.set_consumers('global_instrumentation', 'NO')");
$screen = shows(qr/^pfs top  \S+ \S+  RECORDING IS OFF .*^RECORDING IS OFF: the consumer global_instrumentation is off, and what is show.*^q quit/ms,
	'the head says that recording is off, and the screen');
like($screen, qr/^SELECT pfs\.set_consumers\('global_instrumentation', 'YES'\) records again/m, 'and how it goes on');
like($screen, qr/who waits is not known/, 'and not that nobody waits');
unlike($screen, qr/busy/, 'nor that it is not busy');
$server->sql("SELECT pfs.set_consumers('global_instrumentation', 'YES'), pfs.set_consumers('statements_digest', 'NO')");
shows(qr/not known, the consumer statements_digest is off/, 'without digests the head knows no load');
keys_are('4');
shows(qr/There is no row\..*^The consumer statements_digest is off: no statement is counted;/ms, 'nor are there statements');
$server->sql("SELECT pfs.set_consumers('statements_digest', 'YES'), pfs.set_instruments('wait/lock/%', 'NO')");
keys_are('3');
shows(qr{^All of wait/lock/% is off: who waits for these locks is not seen;}m, 'the lock tree without its instruments');
$server->sql("SELECT pfs.set_instruments('wait/lock/%', 'YES')");
$screen = shows(qr/^  Nobody waits for a lock.*^q quit/ms, 'and with them');
unlike($screen, qr/ off/, 'when nothing is said of switches');
keys_are('q');
shows(qr/ended with 0/, 'q');

# ---- the connection ----

# A password that was not needed at the start cannot be asked for.
my $hba = "$server->{data}/pg_hba.conf";
my $trusting = slurp($hba);

$server->sql('CREATE ROLE asked LOGIN IN ROLE pg_monitor');
start_top(250, 24, '--interval', '0.5', '--username', 'asked');
shows(qr/^class/m, 'a role without a password');
spew($hba, "local all asked scram-sha-256\n$trusting");
$server->sql('SELECT pg_reload_conf()');
for (my $end = time() + $PfsServer::timeout; time() < $end; sleep(0.2))
{
	last if (program({ user => 'asked' }, $server, 'doctor', '--no-password'))[1] =~ /no password supplied/;
}
is($server->sql("SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE usename = 'asked' AND application_name = 'pfs top'"), 1, 'when it has to have one, and its session is terminated');
shows(qr/no connection, trying again: .*no password supplied/, 'it says so');
spew($hba, $trusting);
$server->sql('SELECT pg_reload_conf()');
shows(qr/^The connection was lost; it is there again, by a new session\./m, 'and goes on when none is needed');
keys_are('q');
shows(qr/ended with 0/, 'q');
my $mine = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'pfs top'";

ok($server->poll($mine, 0), 'and so does its session');
start_top(80, 24, '--interval', '0.5');
shows(qr/^class/m, 'once more');
is($server->sql("SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE application_name = 'pfs top'"), 1, 'its session is terminated');
shows(qr/^The connection was lost; it is there again, by a new session\./m, 'it connects again and says so');
ok($server->poll($mine, 1), 'it is there');
$s{holder}->close;
$server->stop;
shows(qr/NO CONNECTION/, 'without a server it says so');
$server->start;
shows(qr/^The connection was lost; it is there again/m, 'and goes on with the next one');
keys_are('q');
shows(qr/ended with 0/, 'q');

# ---- the past ----

start_top(80, 24);
shows(qr/^class/m, 'once more');
keys_are('g');
shows(qr/^This server keeps no load history/m, 'without a load history there is no past');
keys_are('q');
$server->conf("pfs.load_history_interval = '1s'");
$server->restart;
# All the time: it is in whatever time is shown.
my $sleeper = $server->session;
$sleeper->send('SELECT pg_sleep(1000)');
ok($server->poll("SELECT count(*) > 2 FROM pfs.load_history WHERE event_name = 'wait/timeout/PgSleep' AND resolution = '1 s'", 't'), 'there is a past');
start_top(80, 24);
shows(qr/^Of the last [\d.]+ s/m, 'the present');
keys_are('g', '1 s', 'Enter');
$screen = shows(qr/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d, \d.* long: /m, 'g: an interval before now');
like($screen, qr{wait/timeout/PgSleep}, 'and what there was');
keys_are('End');
shows(qr/^Of the last [\d.]+ s/m, 'the present again');
keys_are('g', '2001-01-31 14:05', 'Enter');
shows(qr/load history has nothing of this time/, 'a time of which it has nothing');
unlike(slurp($server->{logfile}), qr/ERROR:  invalid input/, 'what is right leaves no error in the log');
# Each refresh finds that anew, and leaves what follows in its place.
foreach my $wrong ('yesteryear', 'infinity', '1 hour or so')
{
	keys_are('g', $wrong, 'Enter');
	shows(qr/^"$wrong" is no time: 14:05, /m, "no time: $wrong");
}
# While it is paused, what is said of a time stays.
$sleeper->kill;
$server->stop;
shows(qr/NO CONNECTION/, 'without a server');
keys_are('p', 'g', '1 s', 'Enter');
shows(qr/^no connection, trying again/m, 'it is not the time that is wrong');
keys_are('q');

# ---- no terminal ----

my ($status, undef, $err) = program($server, 'top');

is($status, 2, 'no terminal');
like($err, qr/^pfs: pfs top needs a terminal; "pfs load", /, 'says what there is instead');
is((program($server, 'top', '--interval', '0.1'))[0], 2, 'a wrong interval');

done_testing();
