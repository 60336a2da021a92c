# Bytes of buffered stdio: what the events of a file have read or written is what is in the file.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/lib";
use PfsServer;
use Test::More;

my $server = PfsServer->new('main', conf => <<'EOT');
autovacuum = off
wal_level = replica
archive_mode = on
archive_command = '/bin/false'
pfs.events_waits_history_long_size = 100000
EOT
$server->start;
$server->sql(<<'EOT');
CREATE EXTENSION pfs;
CREATE TABLE t AS SELECT g AS a, repeat('x', 30) AS filler FROM generate_series(1, 3000) g;
CREATE TABLE back (LIKE t);
EOT

my $session = $server->session;
my $thread = $session->thread_id;

# Events of the session on a file with an operation: how many, their bytes, those of the smallest but the last.
sub events
{
	my ($name, $operation) = @_;

	return $server->sql(<<"EOT");
SELECT count(*), coalesce(sum(number_of_bytes), 0), count(*) FILTER (WHERE number_of_bytes IS NULL)
FROM pfs.events_waits_history_long WHERE thread_id = $thread AND operation = '$operation' AND object_name = '$name'
EOT
}

sub summary
{
	my ($name, $what) = @_;

	return $server->sql("SELECT coalesce(sum($what), 0) FROM pfs.file_summary_by_instance WHERE file_name = '$name'");
}

# What a session does with a file: the bytes that were written, in the events and in the sums.
sub writes
{
	my ($about, $name, $sql) = @_;

	unlink "$server->{data}/$name";
	$server->poll_idle($thread);
	$server->sql('TRUNCATE pfs.events_waits_history_long; TRUNCATE pfs.file_summary_by_instance');
	$session->send($sql)->result;
	$server->poll_idle($thread);
	my $size = -s "$server->{data}/$name";
	my ($n, $bytes, $unknown) = split /\|/, events($name, 'write');

	is($bytes, $size, "$about: $size bytes in $n events");
	is($unknown, 0, '  each with its bytes');
	is($server->sql("SELECT count(*) FROM pfs.events_waits_history_long WHERE thread_id = $thread AND operation = 'write' AND object_name = '$name' AND number_of_bytes = 0"), 0,
		'  and none without any');
	is(summary($name, 'sum_number_of_bytes_write'), $size, '  and the same bytes in the sums');
	is(summary($name, 'count_write'), $n, '  of as many calls');
	return $n;
}

sub reads
{
	my ($about, $name, $sql, $operation) = @_;
	my $size = -s "$server->{data}/$name";

	$server->poll_idle($thread);
	$server->sql('TRUNCATE pfs.events_waits_history_long; TRUNCATE pfs.file_summary_by_instance');
	$session->send($sql)->result;
	$server->poll_idle($thread);
	my ($n, $bytes) = split /\|/, events($name, 'read');

	is($bytes, $size, "$about: $size bytes in $n events");
	is(summary($name, 'sum_number_of_bytes_read'), $size, '  and in the sums');
}

my $data = $server->{data};

cmp_ok(writes('COPY TO', 'copied', "COPY t TO '$data/copied'"), '>=', 10, 'buffer by buffer');
is(events('copied', 'close'), '1|0|1', 'it is closed once');
is($server->sql("SELECT count(timer_wait) FROM pfs.events_waits_history_long WHERE thread_id = $thread AND operation = 'close' AND object_name = 'copied'"), 0,
	'in the time of the write that closing made');
reads('COPY FROM', 'copied', "COPY back FROM '$data/copied'");
writes('binary COPY', 'copied', "COPY t TO '$data/copied' (FORMAT binary)");
reads('binary COPY FROM', 'copied', "COPY back FROM '$data/copied' (FORMAT binary)");
writes('less than a buffer', 'copied', "COPY (SELECT 1) TO '$data/copied'");
is(events('copied', 'close'), '1|0|1', 'it is closed once');
writes('nothing', 'copied', "COPY (SELECT 1 WHERE false) TO '$data/copied'");
is($server->sql("SELECT count(timer_wait) FROM pfs.events_waits_history_long WHERE thread_id = $thread AND operation = 'close' AND object_name = 'copied'"), 1,
	'closing alone has its time');
foreach my $bytes (511, 600, 2000, 4095, 4096, 4097, 8191, 8192, 10000, 70000)
{
	writes("rows of $bytes bytes", 'copied', "COPY (SELECT repeat('x', $bytes - 1) FROM generate_series(1, 5)) TO '$data/copied'");
}
writes('rows of all lengths', 'copied', "COPY (SELECT repeat('x', g * 37 % 9000) FROM generate_series(1, 400) g) TO '$data/copied'");
reads('rows of all lengths', 'copied', "CREATE TEMP TABLE lengths (t text); COPY lengths FROM '$data/copied'");

# Lines, by fgets(); a line longer than a buffer is read in parts.
open my $hba, '>>', "$data/pg_hba.conf" or die;
print $hba '# ' . 'x' x $_ . "\n" foreach 100, 5000, 20000, 10;
print $hba "# $_\n" foreach 1 .. 1000;
close $hba;
reads('lines of pg_hba.conf', 'pg_hba.conf', 'SELECT count(*) FROM pg_hba_file_rules');

# Parts of a file, behind fseeko().
$server->poll_idle($thread);
$server->sql('TRUNCATE pfs.events_waits_history_long');
is(length($session->query("SELECT pg_read_file('copied', 100000, 9000)")), 9000, 'a part of a file');
$server->poll_idle($thread);
cmp_ok((split /\|/, events('copied', 'read'))[1], '>=', 9000, 'its bytes are read');
is((split /\|/, events('copied', 'write'))[0], 0, 'and nothing is written');

# fprintf() and fflush(): the history file of a backup.
$session->query(q{SELECT pg_backup_start('test', true)});
$server->poll_idle($thread);
$server->sql('TRUNCATE pfs.events_waits_history_long');
$session->query('SELECT lsn FROM pg_backup_stop(false)');
$server->poll_idle($thread);
my ($history) = map { s{.*/}{}r } glob("$data/pg_wal/*.backup");
cmp_ok(-s "$data/pg_wal/$history", '>', 100, 'there is a history file');
is((split /\|/, events("pg_wal/$history", 'write'))[1], -s "$data/pg_wal/$history", 'a file that is printed and flushed');

# What an exported snapshot writes, another session reads.
my $other = $server->session;
$session->query('BEGIN ISOLATION LEVEL REPEATABLE READ');
$server->sql('TRUNCATE pfs.events_waits_history_long');
my $snapshot = $session->query('SELECT pg_export_snapshot()');
my $size = -s "$data/pg_snapshots/$snapshot";
is($server->sql("SELECT sum(number_of_bytes) FROM pfs.events_waits_history_long WHERE thread_id = $thread AND operation = 'write' AND object_name LIKE 'pg_snapshots/%'"),
	$size, 'a snapshot');
$other->query("BEGIN ISOLATION LEVEL REPEATABLE READ; SET TRANSACTION SNAPSHOT '$snapshot'; COMMIT");
$server->poll_idle($other->thread_id);
is($server->sql("SELECT sum(number_of_bytes) FROM pfs.events_waits_history_long WHERE thread_id = @{[ $other->thread_id ]} AND operation = 'read' AND object_name LIKE 'pg_snapshots/%'"),
	$size, 'and reading it');
$session->query('COMMIT');

# A call that fails has no bytes; the session goes on.
SKIP:
{
	skip 'no full device', 2 unless -c '/dev/full';
	$session->send(q{COPY t TO '/dev/full'})->result;
	like($session->last_error, qr/could not write|No space left/, 'a full device is an error, as ever');
	is($session->query('SELECT 1'), 1, 'and the session goes on');
}

done_testing();
