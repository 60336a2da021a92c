# What the server's binary calls in the C library and in liburing: each function
# has a probe, or stands here with a reason why not.  A new version of
# PostgreSQL that imports another one fails this test until somebody has looked.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/lib";
use PfsServer;
use Test::More;

# Can block or touch a file, and has no probe.
my %without_probe = (
	'descriptors only: nothing is read or written' => 'dup dup2 fcntl fileno isatty lseek pipe socket socketpair epoll_create epoll_create1
		epoll_ctl eventfd signalfd timerfd_create shm_open fstat __fxstat ioctl',
	'sockets: set up, not waited for' => 'bind listen getsockname getpeername getsockopt setsockopt shutdown',
	'the postmaster only, which has no thread record' => 'accept accept4 vfork setsid daemon',
	'one look at an inode or a link, where the file is opened, renamed or removed next' => 'access faccessat chmod fchmod chown fchown
		utime utimes utimensat futimens readlink realpath __realpath_chk symlink getcwd chdir statvfs fstatvfs umask',
	'folders: read in small pieces from what opendir() has fetched' => 'opendir fdopendir readdir closedir rewinddir scandir dirfd',
	'buffered: no file is read or written' => 'clearerr feof ferror ftell ftello ungetc setvbuf setbuf fdopen',
	'standard output and error, which are no files of the server' => 'puts putchar printf vprintf __printf_chk __vprintf_chk perror',
	'names: the C library waits by calls of its own' => 'getaddrinfo freeaddrinfo getnameinfo getifaddrs freeifaddrs gethostbyname getgrnam getgrgid getpwnam
		getpwuid getpwuid_r gai_strerror',
	'the system log: the C library writes by calls of its own' => 'openlog closelog syslog vsyslog __syslog_chk __vsyslog_chk',
	'libraries: the dynamic linker reads by calls of its own' => 'dlopen dlclose dlsym dlerror dladdr dl_iterate_phdr',
	'does not block' => 'sem_post sem_trywait sem_init sem_destroy sem_open sem_close sem_unlink kill raise setitimer semctl semget',
	'memory: no wait event, and no file of the server' => 'mmap munmap mprotect msync madvise mlock shmat shmctl shmdt shmget shm_unlink',
	'io_uring: set-up, and a look that does not wait' => 'io_uring_queue_init io_uring_queue_init_mem io_uring_queue_init_params io_uring_queue_exit
		io_uring_peek_batch_cqe',
	'where memory lies' => 'numa_available numa_max_node numa_move_pages get_mempolicy move_pages',
	'control flow' => 'longjmp __sigsetjmp _setjmp',
	'the end of the process' => 'exit _exit abort',
);

# Can do neither.
my @harmless = (
	qr/^(?:malloc|calloc|realloc|reallocarray|free|aligned_alloc|posix_memalign|malloc_trim|malloc_usable_size)$/,
	# texts, characters, numbers
	qr/^(?:__)?(?:mem|str|stp|wcs|mbs|wmem)\w+$/,
	qr/^__\w*(?:snprintf|sprintf|explicit_bzero|asprintf)_chk$/,
	qr/^(?:v?snprintf|v?sprintf|sscanf|__isoc(?:99|23)_sscanf|__isoc23_strto\w+|ato[ifl]|strto\w+|qsort|bsearch|bcmp|explicit_bzero|abs|div|ldiv)$/,
	qr/^(?:is|to)w?(?:alnum|alpha|digit|graph|lower|print|punct|space|upper|xdigit|cntrl|ctype)(?:_l)?$/,
	qr/^__ctype_\w+_loc$/,
	qr/^(?:rand|srand|random|srandom|drand48|erand48|arc4random\w*)$/,
	# mathematics
	qr/^a?(?:cos|sin|tan)h?f?2?$/,
	qr/^(?:sincos|atan2|cbrt|ceil|floor|trunc|rint|round|fabs|fmod|ldexp|frexp|modf|exp|exp2|expm1|log|log2|log10|log1p|pow|sqrt|hypot|erf|erfc|[lt]gamma)f?$/,
	# language and time
	qr/^(?:setlocale|newlocale|freelocale|uselocale|duplocale|localeconv|nl_langinfo(?:_l)?|d?c?n?gettext|dc?n?gettext|(?:bind_)?textdomain(?:_codeset)?|bindtextdomain|dcngettext|iconv\w*)$/,
	qr/^(?:time|localtime(?:_r)?|gmtime(?:_r)?|mktime|timegm|gettimeofday|clock_gettime|clock_getres|clock|times|difftime|tzset)$/,
	# about oneself
	qr/^(?:get|set)(?:p|pp|u|eu|g|eg)id$|^getsid$|^getpgrp$|^setpgid$/,
	qr/^(?:getenv|setenv|unsetenv|putenv|getopt(?:_long)?|opt\w+|getrlimit|setrlimit|getrusage|sysconf|getpagesize|prctl|uname|getauxval|gnu_get_libc_version|sched_yield|sched_getaffinity)$/,
	qr/^(?:sig(?:action|addset|delset|emptyset|fillset|procmask|setmask|pending|ismember|nal)|pthread_sigmask)$/,
	qr/^backtrace\w*$/,
	# of the compiler and the linker
	qr/^__(?:assert_fail|cxa_\w+|errno_location|fdelt_chk|stack_chk_fail|libc_start_main|tls_get_addr|gmon_start__|register_atfork)$/,
);

my $server = PfsServer->new('main');
$server->start;
$server->sql('CREATE EXTENSION pfs');
my %probe = map { split /\|/, $_, 2 } split /\n/,
  $server->sql(q{SELECT target, status FROM pfs.probes WHERE mechanism = 'got' AND probe_name LIKE 'got/%'});
cmp_ok(scalar(keys %probe), '>', 30, 'pfs.probes lists its functions');

my %reason;

foreach my $why (keys %without_probe)
{
	$reason{$_} = $why foreach split ' ', $without_probe{$why};
}

# The lists contradict neither each other nor the probes.
is(join(' ', grep { my $name = $_; grep { $name =~ $_ } @harmless } keys %reason), '', 'nothing is harmless and has a reason');
is(join(' ', grep { defined $probe{$_} } keys %reason), '', 'nothing has a probe and a reason why not');
is(join(' ', grep { my $name = $_; grep { $name =~ $_ } @harmless } keys %probe), '', 'nothing harmless has a probe');

# Functions, and no variables: "12: 0000000000000000     0 FUNC    GLOBAL DEFAULT  UND pread64@GLIBC_2.2.5 (2)".
# Functions of other libraries have other versions or none.
my %imported;

foreach (split /\n/, PfsServer::run_ok('readelf', '-W', '--dyn-syms', PfsServer::bindir() . '/postgres'))
{
	$imported{$1} = 1 if / (?:FUNC|IFUNC|NOTYPE) .* UND (\w+)@+(?:GLIBC|LIBURING|liburing|libnuma)/;
}
cmp_ok(scalar(keys %imported), '>', 200, 'the binary imports functions');

my @unknown = grep
{
	my $name = $_;
	!defined $probe{$name} && !defined $reason{$name} && !grep { $name =~ $_ } @harmless
} sort keys %imported;

is(join(' ', @unknown), '', 'every function that it imports has a probe, a reason, or is harmless');
is(join(' ', grep { defined $probe{$_} && $probe{$_} ne 'active' } sort keys %imported), '', 'every probe of one is active');
is(join(' ', grep { $probe{$_} eq 'active' && !$imported{$_} } sort keys %probe), '', 'no probe is active that is none');
# Those without which there would be nothing to see.
is(join(' ', grep { ($probe{$_} // '') ne 'active' } qw(sem_wait epoll_wait pwrite fsync fdatasync open close unlink rename recv send waitpid)),
	'', 'the main ones are active');
ok((grep { ($probe{$_} // '') eq 'active' } qw(pread preadv)) > 0, 'and one that reads');
ok((grep { ($probe{$_} // '') eq 'active' } qw(select nanosleep)) > 0, 'and one that sleeps');

done_testing();
