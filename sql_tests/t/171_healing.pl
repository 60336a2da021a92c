# What an error leaves undone in the middle of a write section is put right; children that
# are no processes of the server's write nothing; and a process finds its end without taking
# room from others.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/lib";
use PfsServer;
use Test::More;

my $module = test_module('pfs_test');
my $stop = test_module('pfs_test_stop');
my $server = PfsServer->new('main', preload => "$stop, $module, pfs", conf => <<'EOT');
autovacuum = off
pfs.lwlock_events = all
pfs.instruments = 'memory/%=ON'
EOT
$server->start;
$server->sql('CREATE EXTENSION pfs');
$server->sql(test_functions('pfs_test'));
$server->sql(test_functions('pfs_test_stop'));

sub status
{
	my ($name) = @_;

	return $server->sql("SELECT variable_value FROM pfs.status WHERE variable_name = 'pfs_$name'");
}

# ---- a word that is odd ----

my $s = $server->session;
my $pid = $s->pid;
my $thread = $server->sql("SELECT thread_id FROM pfs.threads WHERE processlist_id = $pid");

# What the session's last statements were.
my $history = "SELECT string_agg(sql_text, ' ' ORDER BY event_id) FROM pfs.events_statements_history WHERE thread_id = $thread AND sql_text ~ '^SELECT .(before|after)'";

$s->query(q{SELECT 'before'});
is(status('sequence_words_repaired'), '0', 'nothing to repair yet');
$s->query(q{SELECT raise_word('pfs_my_thread', 0, 1)});
ok($server->poll("SELECT variable_value FROM pfs.status WHERE variable_name = 'pfs_sequence_words_repaired'", '1'), 'it is repaired where the session is idle');
$s->query(q{SELECT 1});
$s->query(q{SELECT 'after'});
ok($server->poll($history, q{SELECT 'before' SELECT 'after'}), "a session whose word was odd is seen again");
is(status('sequence_words_repaired'), '1', 'and counted');
$s->query(q{SELECT 'after', 2});
ok($server->poll($history, q{SELECT 'before' SELECT 'after' SELECT 'after', 2}), 'from then on');
ok($server->poll("SELECT string_agg(event_name, ',') FROM pfs.events_waits_current WHERE thread_id = $thread", 'idle'), 'and is idle');
is($server->sql("SELECT count(*) FROM pfs.memory_summary_by_thread_by_event_name WHERE thread_id = $thread AND current_count_used > 0") > 0, 1, 'its memory is counted');
is(status('sequence_words_repaired'), '1', 'nothing more was to be done');

# ---- children ----

# What the session's record says that nothing but its own doing changes.
my $numbers = <<"EOT";
SELECT (SELECT sum(count_star) FROM pfs.events_waits_summary_by_thread_by_event_name WHERE thread_id = $thread AND event_name ~ 'wait/io/file'),
	(SELECT sum(open_count) FROM pfs.file_instances WHERE file_name = 'PG_VERSION')
EOT
$server->poll("SELECT event_name FROM pfs.events_waits_current WHERE thread_id = $thread", 'idle');
$s->query(q{SELECT fork_busy('_exit')});
my $before = $server->sql($numbers);
foreach my $how ('_exit', 'exit')
{
	is($s->query("SELECT fork_busy('$how')"), '3', "a child ends by $how()");
	is($server->sql($numbers), $before, 'its files are not in the numbers of its parent');
	is($s->query(q{SELECT 'after', 3}), 'after|3', 'which works on');
	is($server->sql("SELECT count(*) FROM pfs.threads WHERE processlist_id = $pid"), '1', 'and has its thread');
}
SKIP:
{
	skip 'no detours on this processor', 3
	  if $server->sql(q{SELECT count(*) FROM pfs.probes WHERE mechanism = 'detour' AND status = 'active'}) == 0;
	# Somebody has to have slept for it: else it has no row.
	my ($a, $b) = map { $server->session } 1, 2;
	$a->send(q{SELECT hold('pfs_test', 'exclusive')});
	# It naps between two looks whether it should release it.
	ok($server->poll("SELECT count(*) FROM pfs.events_waits_current WHERE thread_id = @{[ $a->thread_id ]} AND event_name = 'wait/timeout/OtherSleep'", '1'), 'a lock is held');
	$b->send(q{SELECT lwlock('pfs_test', 'shared', 0)});
	ok($server->poll(q{SELECT count(*) FROM pfs.events_waits_current WHERE event_name ~ 'pfs_test$'}, '1'), 'and waited for');
	$server->sql('SELECT release_hold()');
	$_->result foreach $a, $b;
	$s->send(q{SELECT hold_forking('pfs_test')});
	ok($server->poll("SELECT count(*) FROM pfs.lwlock_instances WHERE shared_locked_by_thread_ids @> ARRAY[$thread]::bigint[] AND name ~ 'pfs_test\$'", '1'),
		'what a child releases is still held by its parent');
	$server->sql('SELECT release_hold()');
	$s->result;
}
$s->close;
ok($server->poll("SELECT count(*) FROM pfs.threads WHERE processlist_id = $pid", '0'), 'the parent ends as ever');
$server->stop;

# ---- the list of what is called at the end ----

# Can a session be made whose process registers so many callbacks before its first event?
sub connects
{
	my ($callbacks) = @_;

	$server->mark_log;
	$server->conf("pfs_test.exit_callbacks = $callbacks");
	run_ok(PfsServer::bindir() . '/pg_ctl', '-D', $server->{data}, 'reload');
	$server->wait_log(qr/parameter "pfs_test.exit_callbacks" changed to "$callbacks"/);
	my ($code, $out) = $server->psql('SELECT pg_backend_pid()');
	return $code == 0 ? $out : 0;
}

$server->conf("log_min_messages = debug3\npfs.enabled = off\nautovacuum = off\nmax_logical_replication_workers = 0\npfs_test.exit_callbacks = 30");
$server->start;
my $most = 20;
$most-- until $most == 0 || connects($most);
cmp_ok($most, '>', 5, "the server itself leaves room for $most callbacks");
$server->conf('pfs_test.exit_callbacks = 0');
$server->stop;
$server->conf('pfs.enabled = on');
$server->start;
isnt(connects($most), 0, 'as many can be registered with pfs');
is(connects($most + 1), 0, 'and not one more');
isnt(connects(0), 0, 'without any');
ok($server->poll('SELECT count(*) FROM pfs.threads WHERE processlist_id IS NOT NULL AND processlist_id NOT IN (SELECT pid FROM pg_stat_activity) AND name = ' . "'thread/client_backend'", '0'), 'no thread is left over');
ok($server->poll("SELECT sum(current_connections) FROM pfs.accounts WHERE user_name = 'postgres'", '1'), 'nor a connection');
cmp_ok($server->sql("SELECT sum(total_connections) FROM pfs.accounts WHERE user_name = 'postgres'"), '>=', 3, 'though each was counted');
done_testing();
