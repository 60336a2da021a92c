# Waits for the content lock of a buffer: an LWLock up to 18, a part of the buffer's header
# from 19 on.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/lib";
use PfsServer;
use Test::More;

my $module = test_module('pfs_test');
my $server = PfsServer->new('main', preload => "pfs, $module", conf => "autovacuum = off\n");
$server->start;
$server->sql('CREATE EXTENSION pfs; CREATE TABLE page AS SELECT 1 AS n');
$server->sql(test_functions('pfs_test'));

# Those of 19 know their page.
my $in_header = PfsServer::version() >= 19;
my $object = $in_header ? 'BUFFER' : 'LWLOCK';
my ($holder, $waiter) = map { $server->session } 1 .. 2;
my $thread = $waiter->thread_id;
my $path = $server->sql(q{SELECT pg_relation_filepath('page')});

# The wait of a statement for the page: its events, from its begin to its end.
sub wait_for_page
{
	my ($sql, $event, $operation, $while) = @_;

	$holder->send(q{SELECT hold_page('page'::regclass)});
	ok($server->poll('SELECT count(*) FROM pfs.events_waits_current WHERE thread_id = ' . $holder->thread_id . q{ AND event_name = 'wait/timeout/OtherSleep'}, 1),
		"$operation: the page is held");
	my $mark = $server->sql("SELECT coalesce(max(event_id), 0) FROM pfs.events_waits_history WHERE thread_id = $thread");
	$waiter->send($sql);
	ok($server->poll("SELECT count(*) FROM pfs.events_waits_current WHERE thread_id = $thread AND event_name = '$event'", 1), 'another session waits for it');
	is($server->sql("SELECT object_type, operation, spins FROM pfs.events_waits_current WHERE thread_id = $thread AND event_name = '$event'"),
		"$object|$operation|1", 'as its event shows');
	is($server->sql('SELECT wait_event_type, wait_event FROM pg_stat_activity WHERE pid = ' . $waiter->pid),
		$server->sql("SELECT wait_event_type, wait_event FROM pfs.setup_instruments WHERE name = '$event'"), 'PostgreSQL has the same words for it');
	$while->() if defined $while;
	ok($server->poll_lasts($thread, $event, 0.2), 'the wait lasts');
	$server->sql('SELECT release_hold()');
	$_->result foreach $holder, $waiter;
	$server->poll_idle($thread);
	return "thread_id = $thread AND event_name = '$event' AND event_id > $mark AND timer_wait > 100000000000";
}

my $event = $in_header ? 'wait/synch/buffer/BufferShared' : 'wait/synch/lwlock/BufferContent';
my $which = wait_for_page('SELECT n FROM page', $event, 'shared_lock', sub {
	$server->sql('SELECT wake(' . $waiter->pid . ')');
	ok($server->poll("SELECT spins FROM pfs.events_waits_current WHERE thread_id = $thread AND event_name = '$event'", 2),
		'it is woken up for nothing, and sleeps again');
	is($server->sql("SELECT o.object_type, filenode, fork, block_number FROM pfs.events_waits_current w, pfs.lwlock_object(w.object_instance_begin) o
		WHERE w.thread_id = $thread AND event_name = '$event'"), 'BUFFER|' . $server->sql(q{SELECT pg_relation_filenode('page')}) . '|main|0',
		'lwlock_object() knows the buffer') if $in_header;
});

is($server->sql("SELECT count(*), sum(spins) FROM pfs.events_waits_history_long WHERE $which"), '1|2', 'one event of two sleeps');
like($server->sql("SELECT source FROM pfs.events_waits_history_long WHERE $which") // '', qr/^(heap|Lock|log_|ReadBuffer)\w*\+0x|^$/, 'its source is who wants the page')
  if $server->sql(q{SELECT count(*) FROM pfs.events_waits_history_long WHERE source IS NOT NULL}) > 0 && !$server->is_lto;
is($server->sql("SELECT lock_time >= (SELECT timer_wait FROM pfs.events_waits_history_long WHERE $which) - 1000 AND lock_time <= timer_wait + 1000
	FROM pfs.events_statements_history WHERE thread_id = $thread AND sql_text = 'SELECT n FROM page'"), 't', "it is in the statement's lock_time");
is($server->sql("SELECT object_name, file_offset, object_instance_begin IS NOT NULL FROM pfs.events_waits_history_long WHERE $which"),
	$in_header ? "$path|0|t" : '||f', 'and its page is known where it can be');

# What it was woken up for nothing is handed back to its semaphore, for its next wait.
$waiter = $server->session;
$thread = $waiter->thread_id;
$which = wait_for_page('UPDATE page SET n = 2', $in_header ? 'wait/synch/buffer/BufferShared' : $event, 'shared_lock');
is($server->sql("SELECT count(*) FROM pfs.events_waits_history_long WHERE $which"), 1, 'a command that writes reads first');
is($server->sql(q{SELECT count(*) FROM pfs.events_waits_current WHERE event_name LIKE 'wait/synch/buffer%'}), 0, 'nobody waits any more');

SKIP:
{
	skip 'content locks are LWLocks', 2 unless $in_header;
	is($server->sql(q{SELECT status, coalesce(detail, '') FROM pfs.probes WHERE probe_name = 'stack/BufferDesc'}), 'active|', 'probes says that pages are found');
	is($server->sql(q{SELECT string_agg(name, ' ' ORDER BY name) FROM pfs.setup_instruments WHERE wait_event_type = 'Buffer'}),
		$server->sql(q{SELECT string_agg('wait/synch/buffer/' || name, ' ' ORDER BY name) FROM pg_wait_events WHERE type = 'Buffer'}), 'every event of the class has its instrument');
}

# ---- acquisitions that do not wait ----

SKIP:
{
	skip 'content locks are LWLocks', 1 unless $in_header;
	skip 'no detours on this processor', 1 if `uname -m` !~ /x86_64/;
	my $detour = q{SELECT status FROM pfs.probes WHERE probe_name = 'detour/LockBufferInternal'};

	# Each page of the table is locked once by each scan, when its rows are found.
	$server->sql('CREATE TABLE pages WITH (fillfactor = 10) AS SELECT n, repeat(\'x\', 100) AS t FROM generate_series(1, 200) n; VACUUM (FREEZE) pages');
	my $pages = $server->sql(q{SELECT pg_relation_size('pages') / 8192});
	my $count = "SELECT count_star, count_timed FROM pfs.events_waits_summary_by_thread_by_event_name WHERE event_name = '$event'";
	cmp_ok($pages, '>', 20, 'a table of some pages');
	foreach my $mode ('waits', 'contended', 'all')
	{
		$server->stop;
		$server->conf("pfs.lwlock_events = $mode");
		$server->start;
		if ($server->sql($detour) eq 'unavailable' && (!$server->has_frame_pointers || $server->is_lto))
		{
			pass("$mode: another build of the server has no detour");
			next;
		}
		is($server->sql($detour), $mode eq 'waits' ? 'off' : 'active', "$mode: the detour");
		my $reader = $server->session;
		my $its = ' AND thread_id = ' . $reader->thread_id;

		$reader->query('SELECT count(*) FROM pages');
		$reader->query('CREATE TEMP TABLE own AS SELECT n, repeat(\'x\', 100) AS t FROM generate_series(1, 1000) n; SELECT count(*) FROM own');
		my ($stars, $timed) = split /\|/, $server->sql($count . $its) || '0|0';
		my $mark = $server->sql('SELECT coalesce(max(event_id), 0) FROM pfs.events_waits_history_long WHERE true' . $its);
		$reader->query('SELECT count(*) FROM own');
		is($server->sql($count . $its) || '0|0', "$stars|$timed", "$mode: pages of a temporary table have no lock");
		$reader->query('SELECT count(*) FROM pages');
		my ($more_stars, $more_timed) = split /\|/, $server->sql($count . $its) || '0|0';

		# Pages of catalogs can be among them.
		is($more_stars >= $stars + $pages && $more_stars < $stars + $pages + 20 ? 1 : 0, $mode eq 'waits' ? 0 : 1,
			"$mode: " . ($mode eq 'waits' ? 'nothing' : "every acquisition of $pages pages") . ' is counted');
		is($more_timed - $timed, $mode eq 'all' ? $more_stars - $stars : 0, "$mode: and timed where it is an event");
		is($server->sql("SELECT count(*), count(DISTINCT file_offset), max(file_offset), max(spins), count(timer_wait), count(object_instance_begin)
			FROM pfs.events_waits_history_long WHERE event_name = '$event' AND event_id > $mark AND operation = 'shared_lock'
			AND object_name = pg_relation_filepath('pages') $its"),
			$mode eq 'all' ? "$pages|$pages|" . ($pages - 1) * 8192 . "|0|$pages|$pages" : '0|0|||0|0',
			"$mode: " . ($mode eq 'all' ? 'events have their page' : 'no events'));
		is($server->sql("SELECT lock_time FROM pfs.events_statements_history WHERE sql_text = 'SELECT count(*) FROM pages' $its ORDER BY event_id DESC LIMIT 1"), 0,
			"$mode: no lock_time");
	}
}

$server->stop;
done_testing();
