# Detours that cannot be set: the server starts all the same, goes by
# pfs.lwlock_events = waits, and says why.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/lib";
use PfsCopy;
use PfsServer;
use Test::More;

my $server = PfsServer->new('main', conf => <<'EOT');
autovacuum = off
shared_buffers = 1MB
pfs.lwlock_events = all
EOT
$server->start;
$server->sql('CREATE EXTENSION pfs');
$server->needs_detours;
plan skip_all => 'no detours on this processor'
  if $server->sql(q{SELECT count(*) FROM pfs.probes WHERE detail = 'detours exist for x86-64 only'}) > 0;
$server->pgbench(undef, '-i', '-q', '-s', 1);

my $active = PfsServer::version() >= 18 ? 8 : 7;
my $detours = q{SELECT count(*) FROM pfs.probes WHERE mechanism = 'detour' AND status = 'active'};

# Pages that can be written and executed.
sub both
{
	open my $maps, '<', '/proc/' . $server->postmaster_pid . '/maps' or die "maps: $!";
	return scalar(grep { /^\S+ .wx/ } <$maps>);
}

sub works
{
	my ($name, $reason) = @_;
	my @lines = $server->log_text =~ /(LOG:  pfs: detours are unavailable, .*"waits")/g;

	is(scalar(@lines), 1, "$name: one line in the log");
	is($server->sql($detours), 0, "$name: no detour");
	like($server->sql(q{SELECT target || ': ' || detail FROM pfs.probes WHERE mechanism = 'detour' AND status = 'unavailable'}), $reason, "$name: probes says why");
	is($server->sql(q{SELECT count(*) FROM pfs.probes WHERE mechanism = 'detour' AND detail IS NULL}), 0, "$name: of each");
	is(both(), 0, "$name: no page is writable and executable");
	$server->pgbench(undef, '-c', 4, '-t', 50);
	is($server->sql(q{SELECT count(*) FROM pfs.lwlock_instances}), 0, "$name: no instance");
	is($server->sql(q{SELECT sum(count_star) = sum(count_timed) AND sum(count_star) < 10000 FROM pfs.events_waits_summary_global_by_event_name WHERE event_name LIKE 'wait/synch/lwlock/%'}),
		't', "$name: the events are sleeps");
	is($server->sql(q{SELECT count(*) FROM pfs.probes WHERE mechanism = 'got' AND status = 'active'}) > 30 ? 1 : 0, 1, "$name: the other probes work");
}

is($server->sql($detours), $active, 'all detours are set');
unlike($server->log_text, qr/LOG:  pfs: detours/, 'no word of it in the log');
is(both(), 0, 'no page is writable and executable');
$server->pgbench(undef, '-c', 4, '-t', 50);
is($server->sql(q{SELECT count(*) FROM pfs.events_waits_history_long WHERE event_name LIKE 'wait/synch/lwlock/%' AND object_instance_begin IS NULL}), 0,
	'every event has its lock');
is($server->sql(q{SELECT count(*) FROM pfs.events_waits_history_long WHERE event_name LIKE 'wait/synch/lwlock/%' AND source IS NOT NULL}) > 100 ? 1 : 0, 1, 'and its source') if $server->has_frame_pointers;

# ---- the system refuses ----

# Refuses mprotect() for pages to be executed: everywhere, or in the main program only; or for pages of the
# main program's text to be written; all of them, or from one on, or up to another one.
my $refuse = compile('refuse', <<'EOT');
#include <errno.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

struct range { uintptr_t start, end; };

static int
main_text(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct range *range = arg;

	for (int i = 0; i < info->dlpi_phnum; i++)
	{
		if (info->dlpi_phdr[i].p_type == PT_LOAD && (info->dlpi_phdr[i].p_flags & PF_X))
		{
			range->start = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
			range->end = range->start + info->dlpi_phdr[i].p_memsz;
		}
	}
	return 1;
}

int
mprotect(void *address, size_t len, int protection)
{
	static int	calls = 0;
	const char *what = getenv("REFUSE");
	const char *from = getenv("REFUSE_FROM");
	const char *to = getenv("REFUSE_TO");
	struct range range;
	int			in_text;
	int			refused;

	dl_iterate_phdr(main_text, &range);
	in_text = (uintptr_t) address >= range.start && (uintptr_t) address < range.end;
	refused = (strcmp(what, "exec") == 0 && (protection & PROT_EXEC)) ||
		(strcmp(what, "text exec") == 0 && in_text && (protection & PROT_EXEC)) ||
		(strcmp(what, "text write") == 0 && in_text && (protection & PROT_WRITE));
	if (refused)
		calls++;
	if (refused && calls > (from == NULL ? 0 : atoi(from)) && (to == NULL || calls <= atoi(to)))
	{
		errno = EACCES;
		return -1;
	}
	return syscall(SYS_mprotect, address, len, protection);
}
EOT

# The jump that the others do without is written first.
my $alone = PfsServer::version() >= 19 ? 1 : 0;

foreach my $case (
	[ 'exec', 0, qr/LWLockAcquire: the system does not let new code be executed: Permission denied/ ],
	[ 'exec', 1, qr/LWLockAcquire: the system does not let its text be changed: Permission denied/ ],
	[ 'text write', 0, qr/LWLockAcquire: the system does not let its text be changed: Permission denied/ ],
	[ 'text write', 3 + $alone, qr/LWLockAcquireOrWait: another detour.*LWLockWaitForVar: the system does not let its text be changed: Permission denied/s ],
	[ 'text exec', 0, qr/LWLockAcquire: the system does not let its text be changed: Permission denied/ ],
	[ 'text exec', 3 + $alone, qr/LWLockWaitForVar: the system does not let its text be changed: Permission denied/ ])
{
	my ($what, $from, $reason) = @$case;

	$server->stop;
	$server->mark_log;
	ok($server->start(env => { LD_PRELOAD => $refuse, REFUSE => $what, REFUSE_FROM => $from }, fail_ok => 1), "refused, $what after $from: the server starts");
	works("refused, $what after $from", $reason);
}

SKIP:
{
	skip 'there is no such jump', 8 unless $alone;
	foreach my $what ('text write', 'text exec')
	{
		$server->stop;
		$server->mark_log;
		$server->start(env => { LD_PRELOAD => $refuse, REFUSE => $what, REFUSE_TO => 1 });
		is($server->sql($detours), $active - 1, "refused once, $what: the other detours are set");
		is($server->sql(q{SELECT target, detail FROM pfs.probes WHERE mechanism = 'detour' AND status = 'unavailable' AND target LIKE 'LockBuffer%'}),
			'LockBufferInternal|the system does not let its text be changed: Permission denied', 'probes says which is not');
		like($server->log_text, qr/LOG:  pfs: the detour of LockBufferInternal\(\) is unavailable/, 'and so does the log');
		$server->pgbench(undef, '-c', 4, '-t', 50);
		is($server->sql(q{SELECT count(*) > 1000 FROM pfs.events_waits_history_long WHERE event_name LIKE 'wait/synch/lwlock/%'}), 't', 'acquisitions are events');
	}
}

# ---- the text is not the file's ----

# Another way to write the same instruction, mov %rsp,%rbp.
my $change = compile('change', <<'EOT');
#include <dlfcn.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

__attribute__((constructor)) static void
change(void)
{
	unsigned char *code = dlsym(RTLD_DEFAULT, "LWLockRelease");
	unsigned char *page = (unsigned char *) ((unsigned long) code & ~4095UL);

	for (int i = 0; code != NULL && i < 32; i++)
	{
		if (memcmp(code + i, "\x48\x89\xe5", 3) != 0)
			continue;
		mprotect(page, 8192, PROT_READ | PROT_WRITE);
		memcpy(code + i, "\x48\x8b\xec", 3);
		mprotect(page, 8192, PROT_READ | PROT_EXEC);
		return;
	}
}
EOT

# What is changed here and next is how functions with frame pointers begin.
my $pointers = $server->has_frame_pointers;

$server->stop;
SKIP:
{
	skip 'the server was built without frame pointers', 1 unless $pointers;
	$server->mark_log;
	ok($server->start(env => { LD_PRELOAD => $change }, fail_ok => 1), 'changed text: the server starts');
	works('changed text', qr/LWLockRelease: its text in memory is not that of the server's file/);
	$server->stop;
}

# ---- an unknown prologue ----

my $bindir = PfsServer::bindir();
SKIP:
{
	skip 'the server was built without frame pointers', 1 unless $pointers;
	my $copy = PfsCopy->new("$server->{dir}/copy");

	# LWLockAcquire begins in another way: "enter" for "push %rbp; mov %rsp,%rbp".
	$copy->change_function('LWLockAcquire', "\x55\x48\x89\xe5", "\xc8\x00\x00\x00");
	$server->mark_log;
	$copy->start($server);
	is(readlink('/proc/' . $server->postmaster_pid . '/exe'), $copy->path, 'unknown prologue: the server starts');
	works('unknown prologue', qr/LWLockAcquire: it begins with instructions that pfs does not know/);
	$server->stop;
}

# ---- afterwards ----

$server->start;
is($server->sql($detours), $active, 'without all that: the detours are set');
# After a crash the postmaster lays memory out anew; the detours stay.
my $s = $server->session;
my $pid = $s->pid;

$s->send('SELECT pg_sleep(60)');
kill 'KILL', $pid;
$server->wait_log(qr/all server processes terminated; reinitializing/);
$server->lost_sessions;
ok($server->poll_connect('SELECT count(*) > 0 FROM pfs.events_waits_history_long WHERE event_name LIKE ' . "'wait/synch/lwlock/%' AND object_instance_begin IS NOT NULL"),
	'after a crash every acquisition is an event again');

# Without a postmaster the detours are there and record nothing.
$server->stop;
like(PfsServer::run_ok('sh', '-c', "echo 'SELECT count(*) > 0 AS works FROM pg_class' | '$bindir/postgres' --single -D '$server->{data}' postgres 2>&1"),
	qr/works = "t"/, 'a server of one process works');

done_testing();
