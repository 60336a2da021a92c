# A save that cannot be written, or is not wanted: it costs itself and one line of the log, and nothing else.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/lib";
use PfsServer;
use Test::More;

my $server = PfsServer->new('main', conf => <<'EOT');
autovacuum = off
pfs.save_interval = 0
EOT
my $file = "$server->{data}/pg_stat_tmp/pfs.save";
my $folder = "$server->{data}/pg_stat_tmp";
my $calls = q{SELECT coalesce(sum(count_star), 0) FROM pfs.events_statements_summary_by_digest WHERE database_name = 'work'};
my $failed = qr/pfs: could not write file "pg_stat_tmp\/pfs\.save\.new"/;

sub failures { return scalar(() = $server->log_text =~ /$failed/g); }

sub status { return $server->sql("SELECT variable_value FROM pfs.status WHERE variable_name = '$_[0]'"); }

# A process may write files of so many bytes; undef: of any length.  What is longer fails as on a full disk, but for
# the errno.
sub limit
{
	my ($pid, $bytes) = @_;

	run_ok('prlimit', '--pid', $pid, '--fsize=' . ($bytes // 'unlimited') . ':unlimited');
}

$server->start;
$server->sql('CREATE EXTENSION pfs');
$server->sql(test_functions('pfs_test_save'));
$server->sql('CREATE DATABASE work');
# Enough for a file that is longer than the log.
$server->psql(join('', map { 'SELECT ' . join(', ', 1 .. $_) . ";\n" } 1 .. 200), db => 'work');

my $session = $server->session;

is($session->query('SELECT save()'), 't', 'a save works');
my $saved = status('pfs_saved_at');
my $size = -s $file;
cmp_ok($size, '>', 100_000, 'of some size');

# ---- no room ----

$server->mark_log;
limit($session->pid, 50_000);
is($session->query('SELECT save()'), 'f', 'a save without room fails') foreach 1 .. 3;
is(failures(), 1, 'and is logged once');
like($server->log_text, qr/\.new": File too large/, 'with the reason');
is_deeply([ map { s/.*\///r } glob "$folder/pfs*" ], ['pfs.save'], 'nothing of it is left');
is(-s $file, $size, 'the older file stays');
is(status('pfs_saved_at'), $saved, 'with its time');
limit($session->pid);
is($session->query('SELECT save()'), 't', 'with room it works again');
isnt(status('pfs_saved_at'), $saved, 'at another time');
limit($session->pid, 50_000);
is($session->query('SELECT save()'), 'f', 'the next one fails');
is(failures(), 2, 'and is logged');
limit($session->pid);

# Not writable, as a folder that is not there.
rename $folder, "$folder.away" or die $!;
my $other = $server->session;
is($other->query('SELECT save()'), 'f', 'nor without the folder');
like($server->log_text, qr/\.new": No such file or directory/, 'for that reason');
rename "$folder.away", $folder or die $!;
is($other->query('SELECT save()'), 't', 'when it is back it works');

# ---- no room at the stop ----

my $before = $server->sql($calls);

$server->psql('SELECT 1', db => 'work');
$server->mark_log;
# The log is the postmaster's, too.
limit($server->postmaster_pid, 90_000);
cmp_ok(-s $server->{logfile}, '<', 80_000, 'the log has room');
$server->stop;
is(failures(), 1, 'a save without room at the stop is logged');
# Said behind the end of the pid file, which is what the stop waits for.
ok($server->wait_log(qr/database system is shut down/), 'and the server stops as always');
$server->start;
is($server->sql($calls), $before, 'the start reads the save before');

# A full disk of its own: what is written goes to a device that is always full.  The file is made anew by each save, so the
# writing fails later.
my $full = PfsServer::compile('full', <<'EOT');
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

ssize_t
pwrite(int fd, const void *bytes, size_t n, off_t at)
{
	static ssize_t (*real)(int, const void *, size_t, off_t);
	char		link[64], path[4096];
	ssize_t		len;

	if (real == NULL)
		real = dlsym(RTLD_NEXT, "pwrite");
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	len = readlink(link, path, sizeof(path) - 1);
	if (len > 12 && memcmp(path + len - 12, "pfs.save.new", 12) == 0 && at > 1000)
	{
		errno = ENOSPC;
		return -1;
	}
	return real(fd, bytes, n, at);
}

ssize_t
pwrite64(int fd, const void *bytes, size_t n, off_t at)
{
	return pwrite(fd, bytes, n, at);
}
EOT

$server->stop;
$server->start(env => { LD_PRELOAD => $full });
$before = $server->sql($calls);
$server->mark_log;
$session = $server->session;
is($session->query('SELECT save()'), 'f', 'a save on a full disk fails');
like($server->log_text, qr/\.new": No space left on device/, 'for that reason');
$server->psql('SELECT 1', db => 'work');
$server->stop;
is(failures(), 2, 'so it does at the stop');
$server->start;
is($server->sql($calls), $before, 'and the older file is read');

# ---- off ----

$server->stop;
my $time = (stat $file)[9];
$server->conf('pfs.save = off');
utime 1, 1, $file;
$server->start;
is($server->sql($calls), 0, 'with pfs.save = off nothing is read');
is(status('pfs_saved_at'), '', 'nor has been saved');
is(status('pfs_totals_since'), status('pfs_start_time'), 'totals are since the start');
$server->stop;
is((stat $file)[9], 1, 'nor written');
$server->conf('pfs.save = on');
$server->start;
is($server->sql($calls), $before, 'on again, what was kept is there');

# Wrong values, as of any setting.
foreach my $wrong (['pfs.save', "'perhaps'"], ['pfs.save_interval', '-1'], ['pfs.save_interval', "'2 d'"], ['pfs.save_interval', "'soon'"])
{
	$server->fails("ALTER SYSTEM SET $wrong->[0] = $wrong->[1]", '22023', qr/$wrong->[0]|outside the valid range/, "$wrong->[0] = $wrong->[1] is refused");
}
$server->sql(q{ALTER SYSTEM SET pfs.save_interval = '7 min'});
$server->sql('SELECT pg_reload_conf()');
ok($server->poll('SHOW pfs.save_interval', '7min'), 'the interval is reloaded');
$server->fails('SET pfs.save = off', '55P02', qr/cannot be changed without restarting/, 'pfs.save needs a restart');

done_testing();
