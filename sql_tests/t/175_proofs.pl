# What the postmaster finds out about the ways in which the server calls pfs.  Each is made
# to fail once: the server starts, pfs.probes says what is missing and why, and so does the log.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/lib";
use PfsCopy;
use PfsServer;
use PfsTree;
use Test::More;

my $module = test_module('pfs_test_front');
# A plan's text is made in a subtransaction, whose callback would be seen.
my $server = PfsServer->new('main', preload => "pfs,$module", conf => <<'EOT');
autovacuum = off
shared_buffers = 1MB
pfs.lwlock_events = all
pfs.max_plan_text_length = 0
EOT
my $caught = q{DO $$ BEGIN PERFORM 1/0; EXCEPTION WHEN division_by_zero THEN END $$};

sub unavailable
{
	my ($where) = @_;

	return $server->sql("SELECT string_agg(probe_name || ': ' || detail, chr(10) ORDER BY probe_name) FROM pfs.probes WHERE status = 'unavailable'" . ($where // ''));
}

sub raised
{
	return $server->sql(q{SELECT sum_error_raised, sum_error_handled FROM pfs.events_errors_summary_global_by_error WHERE sql_state = '22012'});
}

# What pfs said in the log, but for the machine's cycle counter: that line is about no probe.
sub lines
{
	return join "\n", grep { !/cycle counter/ } $server->log_text =~ /LOG:  (pfs: .*)/g;
}

# What says that the server does not list the LWLocks that a process holds, as none does from 19 on.
my $lists_nothing = 'detour/ForEachLWLockHeldByMe: this server has no such function: of the locks that a process held before its first event,'
  . ' those of buffers and extensions are unknown';
my @lists_nothing = PfsServer::version() >= 19 ? $lists_nothing : ();

# ---- nothing is wrong ----

# An error that ended the postmaster would, too.
$server->start(args => '-c exit_on_error=on');
$server->sql('CREATE EXTENSION pfs');
$server->needs_frame_pointers;
is(lines(), $server->is_lto ? 'pfs: detours are unavailable, pfs.lwlock_events is taken as "waits"' : '', 'a healthy server: no line in the log');
like(unavailable(), qr/^detour\/LWLockAcquire: (?:the server was optimized across files|a call inside the server)/m, 'unless it was optimized across files') if $server->is_lto;
my $x86_64 = $server->sql(q{SELECT count(*) FROM pfs.probes WHERE detail = 'detours exist for x86-64 only'}) == 0;
is(unavailable(q{ AND mechanism IS DISTINCT FROM 'detour'}), '', 'nothing is unavailable');
is($server->sql(q{SELECT string_agg(probe_name, ' ' ORDER BY probe_name) FROM pfs.probes WHERE status = 'active' AND probe_name !~ '/'}),
	'raise reclaim server_version source', 'what is no function has a row');
is($server->sql(q{SELECT count(*) FROM pfs.probes WHERE mechanism = 'got' AND status <> 'active'}), 0, 'the server calls what has a row');
is($server->sql(q{SELECT count(*) FROM pfs.probes WHERE probe_name IN ('method_table/Bump', 'detour/LWLockDisown')}),
	(PfsServer::version() >= 17) + (PfsServer::version() == 18), 'what a version does not have has no row');
# The proofs leave nothing in the numbers.
is($server->sql('SELECT count(*) FROM pfs.events_errors_summary_global_by_error WHERE sum_error_raised > 0'), 0, 'no error was counted');
is($server->sql(q{SELECT count(*) FROM pfs.file_instances WHERE file_name = '/dev/null'}), 0, 'nor a file');

$server->restart;
ok($server->poll(q{SELECT count(*) = 0 FROM pfs.probes WHERE mechanism = 'hook' AND target ~ 'planner|parse|ExecutorRun' AND status <> 'active'}),
	'hooks that this very statement called are active');
is($server->sql(q{SELECT status, detail FROM pfs.probes WHERE target = 'RegisterSubXactCallback'}), 'off|no call was seen so far', 'one that nobody called is not');
$server->sql($caught);
is($server->sql(q{SELECT status, detail FROM pfs.probes WHERE target = 'RegisterSubXactCallback'}), 'active|', 'until somebody does');
is(raised(), '1|1', 'a caught error is counted');
is($server->sql(q{SELECT string_agg(DISTINCT mechanism, ' ' ORDER BY mechanism) FROM pfs.probes}), 'detour got hook method_table', 'every mechanism has rows');

# ---- another stack ----

my $session = $server->session;

$server->sql(test_functions('pfs_test_front'));
$session->send('SELECT elsewhere()')->result;
is($session->last_error, '', 'a call from another stack ends well');
is($server->sql(q{SELECT count(*), count(source) FROM pfs.events_waits_history_long WHERE event_name = 'wait/timeout/OtherSleep' AND thread_id = } . $session->thread_id),
	'1|0', 'and is an event without a source');
$session->close;

SKIP:
{
	skip 'the mechanisms are taken apart on x86-64 only', 1 unless $x86_64;
	# Of other builds the slots are writable anyway, and lead at first into the stubs that unmake.c overwrites.
	skip 'the server is not linked with -z now', 1 if PfsServer::run_ok('readelf', '-d', PfsServer::bindir() . '/postgres') !~ /\bNOW\b/;
	(my $file = "$FindBin::RealBin/lib/unmake.c");
	open my $source, '<', $file or die "$file: $!";
	my $unmake = compile('unmake', do { local $/; <$source> });

	# ---- what is written does not stay ----

	$server->stop;
	$server->mark_log;
	ok($server->start(env => { LD_PRELOAD => $unmake, FORGET => 1 }, fail_ok => 1), 'pages that do not change: the server starts');
	like(unavailable(), qr/^got\/close: the system lets its slot be written and keeps the old content$/m, 'a slot');
	like(unavailable(), qr/^method_table\/AllocSet: an allocation and a free went past a table of memory-context methods$/m, 'a table of methods');
	like(unavailable(), qr/^method_table\/heap: a call of the server went past the methods of tables$/m, 'methods of tables');
	like(unavailable(), qr/^detour\/LWLockAcquire: a call went past it$/m, 'a detour');
	like(lines(), qr/^pfs: \d+ of \d+ probes are unavailable$/m, 'a line about slots');
	like(lines(), qr/^pfs: memory instruments are unavailable: an allocation/m, 'one about methods');
	like(lines(), qr/^pfs: detours are unavailable/m, 'one about detours');
	like(lines(), qr/^pfs: tables and indexes cannot be watched: a call/m, 'one about tables');
	cmp_ok(scalar(split /\n/, lines()), '<=', 5, 'and not many more');
	is($server->sql(q{SELECT string_agg(DISTINCT left(documentation, 12), ' ') FROM pfs.setup_instruments WHERE name ~ '^(memory/context/CacheM|wait/io/file/WALSync|wait/io/file/WalSync)'}),
		'Incomplete o Unavailable:', 'documentation says so');
	$server->pgbench(undef, '-i', '-q', '-s', 1);

	# ---- calls that go past the slots ----

	$server->stop;
	$server->mark_log;
	ok($server->start(env => { LD_PRELOAD => $unmake, BYPASS => 'open close fopen fclose nanosleep select __longjmp_chk' }, fail_ok => 1),
		'calls past the slots: the server starts');
	is($server->sql(q{SELECT count(*) > 30, bool_and(status = 'unavailable'), string_agg(DISTINCT detail, '') FROM pfs.probes WHERE probe_name ~ '^got/'}),
		't|t|calls of the server go past its slot', 'then no slot of this kind is believed');
	like(lines(), qr/^pfs: only errors that are logged count: the jump of an error passes no slot$/m, 'nor are raises');
	$server->sql($caught);
	is(($server->psql('SELECT 1/0'))[0] != 0 ? raised() : '', '1|0', 'an error counts once, when it is logged');

	# ---- all kinds of things ----

	$server->stop;
	$server->mark_log;
	ok($server->start(env => { LD_PRELOAD => $unmake, BYPASS => 'fclose', RETHROW => 1, KEEP => 1, PFS_TEST_FRONT => 1 }, fail_ok => 1),
		'several at once: the server starts');
	is(unavailable(), join("\n", @lists_nothing, 'got/fclose: calls of the server go past its slot',
			'hook/planner_hook: pfs_test_front is in front of it and has not called it so far',
			'raise: the jump of an error does not come from errfinish()',
			'reclaim: the system says that it took shared memory back and keeps its bytes'), 'each says why');
	like($server->sql(q{SELECT status, detail FROM pfs.probes WHERE target = 'post_parse_analyze_hook'}), qr/^active\|pfs_test_front is in front of it$/,
		'a library in front that calls on is named');
	is(lines(), join("\n", 'pfs: the system does not take shared memory back: the system says that it took shared memory back and keeps its bytes',
			'pfs: only errors that are logged count: the jump of an error does not come from errfinish()',
			'pfs: 1 of ' . $server->sql(q{SELECT count(*) FROM pfs.probes WHERE probe_name ~ '^got/'}) . ' probes are unavailable'), 'a line for each');
	$server->sql($caught);
	is(($server->psql('SELECT 1/0'))[0] != 0 ? raised() : '', '1|0', 'an error counts once, when it is logged');
	like($server->sql(q{SELECT documentation FROM pfs.setup_instruments WHERE name = 'error'}), qr/^Incomplete/, 'documentation says so');
	# Records whose pages cannot be given back are used again, and are clean.
	$server->pgbench('SELECT 1;', '-C', '-c', 4, '-t', 20);
	is($server->sql(q{SELECT sum(pages_reclaimed) FROM pfs.containers}), 0, 'no page is given back');

	# ---- another build ----

	# ProcSleep has another way to write "mov %rsp,%rbp", in which pfs sees no frame pointer; and the server has a
	# function less, as minor releases before it came.
	$server->stop;
	my $copy = PfsCopy->new("$server->{dir}/copy");

	$copy->change_function('ProcSleep', "\x48\x89\xe5", "\x48\x8b\xec");
	$copy->change_text("\0ForEachLWLockHeldByMe\0", "\0NotEachLWLockHeldByMe\0") unless @lists_nothing;
	$server->mark_log;
	$copy->start($server);
	is(unavailable(), join("\n",
			$lists_nothing,
			'raise: the server was built without frame pointers', 'source: the server was built without frame pointers'), 'another build: probes says what is missing');
	is(lines(), 'pfs: the source of waits stays unknown, and only errors that are logged count: the server was built without frame pointers', 'in one line of the log');
	is($server->sql('SELECT count(*) > 100, count(source) FROM pfs.events_waits_history_long'), 't|0', 'events have no source');
	$server->sql($caught);
	is(($server->psql('SELECT 1/0'))[0] != 0 ? raised() : '', '1|0', 'an error counts once, when it is logged');

	# ---- another minor version ----

	my $built = $server->sql('SHOW server_version_num');
	my $runs = $built + 1;
	my $name = sub { int($_[0] / 10000) . '.' . $_[0] % 10000 };

	$server->stop;
	# The setting's value, lowest and highest one.
	$copy->change_text(pack('l<3', ($built) x 3), pack('l<3', ($runs) x 3));
	$server->mark_log;
	$copy->start($server);
	is($server->sql(q{SELECT status, detail FROM pfs.probes WHERE probe_name = 'server_version'}),
		'active|pfs was built for ' . $name->($built) . ', the server is ' . $name->($runs) . '; what can be looked at is laid out alike', 'another minor version: probes says so');
	$server->stop;
	$copy->change_size('pgWalUsage', 8);
	$server->mark_log;
	$copy->start($server);
	is($server->sql(q{SELECT status, detail FROM pfs.probes WHERE probe_name = 'server_version'}),
		'unavailable|counters of buffers or WAL are laid out in another way than in the version that pfs was built for', 'one with other counters: what is wrong');
	like(lines(), qr/^pfs: numbers can be wrong: counters of buffers or WAL/m, 'in the log, too');

	# ---- no place for pfs ----

	my $anew = compile('anew', "void SubPostmasterMain(void) {}\n");

	foreach my $case ([ { LD_PRELOAD => $unmake, KERNEL => 'Other' }, 'the kernel is not Linux' ],
		[ { LD_PRELOAD => $anew }, 'the server does not fork its processes but starts them anew (EXEC_BACKEND)' ])
	{
		my ($env, $reason) = @$case;

		$server->stop;
		$server->mark_log;
		ok($server->start(env => $env, fail_ok => 1), 'no place for pfs: the server starts');
		is(lines(), "pfs: cannot work here, the server runs without it: $reason", 'one line says why');
		is($server->sql('SELECT probe_name, status, detail FROM pfs.probes'), "platform|unavailable|$reason", 'and probes');
		is($server->sql('SELECT count(*) FROM pfs.threads'), 0, 'nothing is recorded');
	}
}

# ---- where pfs is not even built ----

SKIP:
{
	my $tree = PfsTree->new;
	skip 'there is no tree, or no compiler', 3 unless defined $tree;
	$tree->tool('rm -f src/probe/*.o');
	my ($good, $out) = $tree->tool(q{env -u MAKEFLAGS make -s -k PG_CONFIG=pg_config COPT='-DEXEC_BACKEND -U__linux__' pfs.so});

	ok(!$good, 'a server that does not fork its processes, on another system: pfs is not built');
	is(join("\n", $out =~ /\berror: (.*)/g), '#error "pfs needs processes that are forked: it does not work with EXEC_BACKEND"', 'the only error says why');
	is(join(' ', glob($tree->path . '/src/probe/*.o')), '', 'and it comes before all others');
}

done_testing();
