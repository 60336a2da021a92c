# Asynchronous I/O (18): a read is charged to the process that makes the call;
# who waits for it has a wait for that process, not a second read.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/lib";
use PfsServer;
use Test::More;

plan skip_all => 'asynchronous I/O came with 18' if PfsServer::version() < 18;

my $server = PfsServer->new('main', conf => <<'EOT');
shared_buffers = 2MB
autovacuum = off
io_method = worker
max_parallel_workers_per_gather = 0
synchronize_seqscans = off
pfs.events_waits_history_long_size = 500000
EOT
# A worker that takes the session's processor would have read before the session could wait: here it lingers.
$server->start(env => { LD_PRELOAD => slow_reads() });
$server->sql('CREATE EXTENSION pfs');
$server->sql('CREATE TABLE big AS SELECT g AS id, repeat(chr(120), 500) AS filler FROM generate_series(1, 60000) g');
$server->sql('VACUUM (FREEZE) big');
my $block = $server->block_size;
my $pages = $server->sql('SELECT relpages FROM pg_class WHERE oid = \'big\'::regclass');

cmp_ok($pages * $block, '>', 24e6, 'the table is larger than the buffers');

# Events of a scan: of the session, and reads of the table by whoever made them.
sub scan
{
	my $s = $server->session;
	my $id = $s->thread_id;

	$server->sql('CHECKPOINT');
	$server->sql('TRUNCATE pfs.events_waits_history_long');
	$s->query('SELECT count(*), sum(length(filler)) FROM big');
	my %of;
	foreach my $line (split /\n/, $server->sql(<<"EOT"))
SELECT CASE t.thread_id WHEN $id THEN 'session' ELSE t.name END, h.event_name, count(*),
       coalesce(sum(h.number_of_bytes) FILTER (WHERE h.object_name LIKE 'big%' OR h.object_name LIKE '%/' || pg_relation_filenode('big')), 0)
  FROM pfs.events_waits_history_long h JOIN pfs.threads t USING (thread_id)
 GROUP BY 1, 2
EOT
	{
		my ($who, $event, $n, $bytes) = split /\|/, $line;
		$of{$who}{$event} = { n => $n, bytes => $bytes };
	}
	$s->close;
	return \%of;
}

sub bytes_read
{
	my ($of) = @_;
	my $bytes = 0;

	$bytes += $_->{'wait/io/file/DataFileRead'}{bytes} // 0 foreach values %$of;
	return $bytes;
}

my $of = scan();
cmp_ok($of->{'thread/io_worker'}{'wait/io/file/DataFileRead'}{n} // 0, '>', 0, 'worker: reads are the worker\'s');
cmp_ok($of->{session}{'wait/synch/ipc/AioIoCompletion'}{n} // 0, '>', 0, 'for which the session waited');
between(bytes_read($of) / $block, $pages * 0.9, $pages, 'no page was charged twice');
is($server->sql(q{SELECT count(*) FROM pfs.setup_instruments WHERE name LIKE 'wait/io/file/Aio%Completion'}), 0,
	'that wait is no file call');
is($server->sql(q{SELECT wait_event_type, wait_event FROM pfs.setup_instruments WHERE name = 'wait/synch/ipc/AioIoCompletion'}),
	'IO|AioIoCompletion', 'and has PostgreSQL\'s words beside');

$server->stop;
$server->conf('io_method = sync');
$server->start;
$of = scan();
is($of->{'thread/io_worker'}, undef, 'sync: there is no worker');
between(bytes_read($of) / $block, $pages * 0.9, $pages, 'every page is read by somebody');
is($of->{session}{'wait/synch/ipc/AioIoCompletion'}, undef, 'and nobody is waited for');

# Not every system allows it.
$server->stop;
$server->conf('io_method = io_uring');
SKIP:
{
	skip 'io_uring does not work here', 2 unless $server->start(fail_ok => 1);
	$of = scan();
	cmp_ok(($of->{session}{'wait/io/file/AioIoUringExecution'}{n} // 0) + ($of->{session}{'wait/io/file/AioIoUringSubmit'}{n} // 0),
		'>', 0, 'io_uring: the session\'s calls of the ring are events');
	cmp_ok(bytes_read($of) / $block, '<=', $pages, 'no page was charged twice');
	$server->stop;
}

done_testing();
