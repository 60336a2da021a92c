# Probes that cannot be set, and calls of our own that leave errno behind.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/lib";
use PfsServer;
use Test::More;

my $server = PfsServer->new('main', conf => <<'EOT');
autovacuum = off
shared_buffers = 1MB
EOT
$server->start;
$server->sql('CREATE EXTENSION pfs');
$server->pgbench(undef, '-i', '-q', '-s', 1);
my $active = $server->sql(q{SELECT count(*) FROM pfs.probes WHERE mechanism = 'got' AND status = 'active'});
cmp_ok($active, '>', 30, 'probes are active');
is($server->sql(q{SELECT count(*) FROM pfs.probes WHERE status <> 'active' AND detail IS NULL}), 0, 'those that are not say why');
is($server->log_text =~ /LOG:  pfs: .*unavailable/ ? 1 : 0, 0, 'no word of it in the log on a healthy server');

# ---- the system lets nobody write to the server's slots ----

# Refuses to make pages of the main program writable, from the nth time on.
my $refuse = compile('refuse', <<'EOT');
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

struct range { uintptr_t start, end; };

static int
main_program(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct range *range = arg;

	range->start = info->dlpi_addr;
	for (int i = 0; i < info->dlpi_phnum; i++)
	{
		if (info->dlpi_phdr[i].p_type == PT_LOAD)
			range->end = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr + info->dlpi_phdr[i].p_memsz;
	}
	return 1;
}

int
mprotect(void *address, size_t len, int protection)
{
	static int	calls = 0;
	const char *from = getenv("REFUSE_FROM");
	struct range range;

	dl_iterate_phdr(main_program, &range);
	if ((protection & PROT_WRITE) && (uintptr_t) address >= range.start && (uintptr_t) address < range.end &&
		calls++ >= (from == NULL ? 0 : atoi(from)))
	{
		errno = EACCES;
		return -1;
	}
	return syscall(SYS_mprotect, address, len, protection);
}
EOT

foreach my $from (0, 5)
{
	$server->stop;
	$server->mark_log;
	ok($server->start(env => { LD_PRELOAD => $refuse, REFUSE_FROM => $from }, fail_ok => 1), "refused after $from slots: the server starts");
	my @lines = $server->log_text =~ /(LOG:  pfs: \d+ of \d+ probes are unavailable)/g;
	is(scalar(@lines), 1, 'with one line in the log');
	is($server->sql(q{SELECT count(*) FROM pfs.probes WHERE mechanism = 'got' AND status = 'active' AND target <> 'frame pointers'}) > 0 ? 1 : 0,
		$from > 0 ? 1 : 0, $from ? 'some probes are active' : 'no probe is active');
	my $unavailable = $server->sql(q{SELECT count(*) FROM pfs.probes WHERE status = 'unavailable' AND detail LIKE '%ermission denied%'});
	cmp_ok($unavailable, '>', 20, 'the others tell the reason');
	is($server->sql(q{SELECT target FROM pfs.probes WHERE status = 'unavailable' AND detail IS NULL}), '', 'each of them');
	# The server works, and so does what does not need these probes.
	$server->pgbench(undef, '-c', 4, '-t', 50);
	is($server->sql('SELECT count(*) > 200 FROM pfs.setup_instruments'), 't', 'instruments are listed');
	is(($server->psql("UPDATE pfs.setup_instruments SET enabled = 'NO' WHERE name = 'idle'"))[0], 0, 'and can be switched');
	is($server->sql('SELECT count(*) FROM pfs.events_waits_history_long'), 0, 'nothing is recorded') if $from == 0;
}
# An instrument whose probe is not there says so.
$server->stop;
$server->start(env => { LD_PRELOAD => $refuse, REFUSE_FROM => 0 });
like($server->sql(q{SELECT documentation FROM pfs.setup_instruments WHERE name = 'wait/io/file/DataFileRead'}), qr/unavailable/,
	'an instrument without its probe says so in documentation');
$server->restart;
is($server->sql(q{SELECT count(*) FROM pfs.probes WHERE mechanism = 'got' AND status = 'active'}), $active, 'without the refusal all are active again');
is($server->sql(q{SELECT count(*) FROM pfs.setup_instruments WHERE documentation LIKE '%unavailable%'}), 0, 'and no instrument says otherwise');

# ---- errno belongs to the server ----

# What pfs calls for itself within a call of the server leaves EINTR or EIO
# behind, successful or not.  An error that the server then reports would be
# that one, and a semaphore would be waited for twice.
my $clobber = compile('clobber', <<'EOT');
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static int
from_pfs(void *caller)
{
	Dl_info		info;
	const char *name;

	if (dladdr(caller, &info) == 0 || info.dli_fname == NULL)
		return 0;
	name = info.dli_fname;
	for (const char *p = name; *p; p++)
	{
		if (*p == '/')
			name = p + 1;
	}
	return name[0] == 'p' && name[1] == 'f' && name[2] == 's' && name[3] == '.';
}

static void
clobber(void *caller)
{
	static int	turn = 0;
	int			file;

	if (!from_pfs(caller))
		return;
	/* A byte for each time. */
	file = syscall(SYS_openat, AT_FDCWD, getenv("CLOBBERED"), O_WRONLY | O_APPEND | O_CREAT, 0600);
	syscall(SYS_write, file, "x", 1);
	syscall(SYS_close, file);
	errno = (turn++ & 1) ? EINTR : EIO;
}

#define CLOBBER() clobber(__builtin_return_address(0))

ssize_t
readlink(const char *path, char *buf, size_t size)
{
	ssize_t		result = syscall(SYS_readlinkat, -100, path, buf, size);

	CLOBBER();
	return result;
}

int
madvise(void *address, size_t len, int advice)
{
	int			result = syscall(SYS_madvise, address, len, advice);

	CLOBBER();
	return result;
}

long
sysconf(int name)
{
	static long (*next) (int);
	long		result;

	if (next == NULL)
		next = (long (*) (int)) dlsym(RTLD_NEXT, "sysconf");
	result = next(name);
	CLOBBER();
	return result;
}
EOT

my %env = (LD_PRELOAD => $clobber, CLOBBERED => "$server->{dir}/clobbered");

$server->stop;
$server->mark_log;
$server->start(env => \%env);
is($server->sql(q{SELECT count(*) FROM pfs.probes WHERE mechanism = 'got' AND status = 'active'}), $active, 'with errno clobbered: all probes are active');
# Calls that fail, on files that the process did not know yet.
foreach my $i (1 .. 5)
{
	my $s = $server->session;

	is($s->query("SELECT pg_stat_file('nothing$i', true) IS NULL, pg_read_file('nothing$i', 0, 1, true) IS NULL"), 't|t',
		'a missing file is a missing file');
	$s->send("SELECT pg_read_file('base')")->result;
	like($s->last_error, qr/Is a directory|not a regular file/, 'a folder is a folder');
	$s->send("COPY pg_class TO '$server->{data}/base'")->result;
	like($s->last_error, qr/Is a directory|is a directory/, 'also for writing');
	$s->send("COPY (SELECT 1) TO '/nowhere/at/all'")->result;
	like($s->last_error, qr/No such file or directory/, 'a path that leads nowhere');
	$s->close;
}
# Locks, semaphores, sockets, temporary files, checkpoints.
$server->pgbench(undef, '-c', 8, '-t', 200);
$server->sql("SET work_mem = '64kB'; SELECT count(*) FROM (SELECT * FROM pgbench_accounts ORDER BY abalance, filler, aid OFFSET 0) a");
$server->sql('CREATE TABLE moved AS SELECT * FROM pgbench_accounts; DROP TABLE moved; CHECKPOINT');
$server->sql(q{CREATE DATABASE copy TEMPLATE postgres; DROP DATABASE copy;});
$server->restart(env => \%env);
my @strange = grep { /Input\/output error|Interrupted system call|PANIC/ } split /\n/, $server->log_text;
is(join("\n", @strange), '', 'no error of ours in the log');
cmp_ok(-s $env{CLOBBERED} // 0, '>', 100, 'errno was clobbered many times');

done_testing();
