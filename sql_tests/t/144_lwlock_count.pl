# Every acquisition is counted: the numbers by tranche are those of a debugger that
# counts the calls of the server's functions.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/lib";
use PfsServer;
use Test::More;
use Time::HiRes qw(usleep);

my $module = test_module('pfs_test');
plan skip_all => 'no gdb' if system('gdb --version >/dev/null 2>&1') != 0;
my $server = PfsServer->new('main', conf => <<'EOT');
autovacuum = off
pfs.lwlock_events = all
EOT
$server->start;
plan skip_all => 'no detours on this processor'
  if $server->sql('CREATE EXTENSION pfs; SELECT count(*) FROM pfs.probes WHERE detail = ' . "'detours exist for x86-64 only'") > 0;
$server->needs_detours;

$server->sql(test_functions('pfs_test'));

# Counts calls by the tranche of the lock, until the process is about to sleep.  A signal that
# comes while gdb steps off a breakpoint makes it stop there once more, and a timer of the
# session's idle time can be running: alarm(0) ends it.  What that timer has begun is counted,
# too: the process goes on only when our numbers have been read.
my $script = "$server->{dir}/count.py";
open my $file, '>', $script or die "$script: $!";
print $file <<'EOT';
import gdb, os, struct, time
gdb.execute('set pagination off')
gdb.execute('set confirm off')
gdb.execute('call (unsigned int) alarm(0)')
counts = {}
class Call(gdb.Breakpoint):
    def stop(self):
        lock = int(gdb.parse_and_eval('$rdi'))
        tranche = struct.unpack('<H', bytes(gdb.selected_inferior().read_memory(lock, 2)))[0]
        counts[tranche] = counts.get(tranche, 0) + 1
        return False
def address(name):
    return int(gdb.parse_and_eval('(long) &' + name)) & (1 << 64) - 1
for name in ('LWLockAcquire', 'LWLockConditionalAcquire', 'LWLockAcquireOrWait'):
    Call('*%d' % address(name))
end = gdb.Breakpoint('*%d' % address('pg_sleep'))
print('ready', flush=True)
for look in range(2000):
    if os.path.exists(os.environ['COUNT_FROM']):
        break
    time.sleep(0.05)
gdb.execute('continue')
end.delete()
for tranche in counts:
    print('counted %d %d' % (tranche, counts[tranche]), flush=True)
print('done', flush=True)
gdb.execute('detach')
gdb.execute('quit')
EOT
close $file;

my $log = "$server->{dir}/gdb.log";

# Wait until the debugger has said this.
sub said
{
	my ($word) = @_;

	foreach (1 .. 1200)
	{
		open my $in, '<', $log or die "$log: $!";
		my $text = join '', <$in>;

		return $text if $text =~ /^$word$/m;
		return undef if waitpid(-1, 1) > 0 && $word ne 'done';
		usleep(100_000);
	}
	return undef;
}

sub counts
{
	my ($thread) = @_;

	return map { split /\|/ } split /\n/, $server->sql("SELECT event_name, count_star FROM pfs.events_waits_summary_by_thread_by_event_name"
		  . " WHERE thread_id = $thread AND event_name LIKE 'wait/synch/lwlock/%' AND count_star > 0");
}

my $s = $server->session;
my $thread = $s->thread_id;
my $pid = $s->pid;

$s->query('CREATE TABLE t AS SELECT g FROM generate_series(1, 500) g');
my $from = "$server->{dir}/count_from";
my $debugger = fork() // die "fork: $!";
if ($debugger == 0)
{
	open STDOUT, '>', $log;
	open STDERR, '>&', \*STDOUT;
	open STDIN, '<', '/dev/null';
	$ENV{COUNT_FROM} = $from;
	exec 'gdb', '-q', '-nx', '-batch', '-p', $pid, '-x', $script;
}
usleep(100_000) until -e $log;
if (!defined said('ready'))
{
	kill 'KILL', $debugger;
	plan skip_all => 'gdb may not look into the server here';
}
my %before = counts($thread);
open $file, '>', $from or die "$from: $!";
close $file;
# One message: between two the session would be idle, and its timer would run.
$s->send('BEGIN\; CREATE TABLE u AS SELECT g, g::text AS x FROM generate_series(1, 200) g\; CREATE INDEX ON u (g)\; UPDATE u SET g = g + 1\; COMMIT\;'
	  . " SELECT count(*) FROM t, u WHERE t.g = u.g\\; DO \$\$ BEGIN PERFORM 1 / 0; EXCEPTION WHEN OTHERS THEN NULL; END \$\$\\; SELECT pg_sleep(1000)");
my $text = said('done');
ok(defined $text, 'the debugger has counted') or BAIL_OUT(do { local (@ARGV, $/) = $log; <> });
# It sleeps, and takes no lock any more.
ok($server->poll("SELECT count(*) FROM pfs.events_waits_current WHERE thread_id = $thread AND event_name = 'wait/timeout/PgSleep'", 1), 'the session sleeps');
my %after = counts($thread);
my %counted_by_id = $text =~ /^counted (\d+) (\d+)$/mg;
my %counted = map { ('wait/synch/lwlock/' . $server->sql("SELECT tranche($_)")) => $counted_by_id{$_} } keys %counted_by_id;
my %difference = map { $_ => $after{$_} - ($before{$_} // 0) } grep { $after{$_} != ($before{$_} // 0) } keys %after;
my $calls = 0;

$calls += $_ foreach values %counted;
cmp_ok($calls, '>', 500, "calls: $calls, of " . keys(%counted) . ' tranches');
is_deeply(\%difference, \%counted, 'all acquisitions are counted, by tranche');
$server->sql("SELECT pg_cancel_backend($pid)");
$s->result;
waitpid $debugger, 0;

done_testing();
