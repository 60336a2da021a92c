# Memory of one session, to the byte: what it allocates and frees in contexts of
# its own, by each kind and each way to free, whatever is switched in between.
#
# A model in Perl does the same as the session; rows must be equal after each step.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/lib";
use PfsServer;
use Test::More;

my $module = test_module('pfs_test_memory');
my $server = PfsServer->new('main', preload => "pfs,$module", conf => <<'EOT2');
autovacuum = off
pfs.instruments = 'memory/%=OFF, memory/context/pfs test%=ON'
EOT2
$server->start;
$server->needs_memory;
$server->sql('CREATE EXTENSION pfs');
is($server->sql(q{SELECT count(*) FROM pfs.memory_summary_global_by_event_name WHERE event_name = 'memory/shared/Buffer Blocks'}), 1,
	'an area of shared memory is found by its name, also by the first who asks');
$server->sql(test_functions('pfs_test_memory'));

my @kinds = ('AllocSet', 'Generation', 'Slab', PfsServer::version() >= 17 ? 'Bump' : ());
my $columns = 'count_alloc, count_free, sum_number_of_bytes_alloc, sum_number_of_bytes_free, low_count_used, current_count_used,'
  . ' high_count_used, low_number_of_bytes_used, current_number_of_bytes_used, high_number_of_bytes_used';

# ---- a session, and the model of its memory of one name ----

# The truth about one context i and the numbers of its name.
sub watch
{
	my ($session, $kind) = @_;

	return { s => $session, kind => $kind, on => 1, live => {}, n => { map { $_ => 0 } qw(ca cf ba bf lc cc hc lb cb hb) } };
}

sub model_add
{
	my ($w, $bytes) = @_;
	my $n = $w->{n};

	$n->{ca}++;
	$n->{ba} += $bytes;
	$n->{cc}++;
	$n->{cb} += $bytes;
	$n->{hc} = $n->{cc} if $n->{hc} < $n->{cc};
	$n->{hb} = $n->{cb} if $n->{hb} < $n->{cb};
}

sub model_remove
{
	my ($w, $count, $bytes) = @_;
	my $n = $w->{n};

	$n->{cf} += $count;
	$n->{bf} += $bytes;
	$n->{cc} -= $count;
	$n->{cb} -= $bytes;
	$n->{lc} = $n->{cc} if $n->{lc} > $n->{cc};
	$n->{lb} = $n->{cb} if $n->{lb} > $n->{cb};
}

# TRUNCATE: what is in use is where all begins.
sub model_rebase
{
	my ($w) = @_;
	my $n = $w->{n};

	@$n{qw(ca cf)} = ($n->{cc}, 0);
	@$n{qw(ba bf)} = ($n->{cb}, 0);
	@$n{qw(lc hc)} = ($n->{cc}, $n->{cc});
	@$n{qw(lb hb)} = ($n->{cb}, $n->{cb});
}

sub make { my ($w) = @_; $w->{name} = 'memory/context/' . $w->{s}->query("SELECT context(0, '$w->{kind}', NULL)"); }

sub alloc
{
	my ($w, $slot, $size, $expected) = @_;
	my $bytes = $w->{s}->query("SELECT alloc(0, $slot, $size, 0)");

	die "$w->{kind}: a chunk of $size has $bytes" if defined $expected && $bytes != $expected;
	$w->{live}{$slot} = { bytes => $bytes, counted => $w->{on} };
	model_add($w, $bytes) if $w->{on};
}

sub give_back
{
	my ($w, $slot) = @_;
	my $chunk = delete $w->{live}{$slot};

	$w->{s}->query("SELECT free(0, $slot)");
	model_remove($w, 1, $chunk->{bytes}) if $chunk->{counted};
}

sub resize
{
	my ($w, $slot, $size) = @_;
	my $chunk = $w->{live}{$slot};
	my $moved = $w->{s}->query("SELECT realloc(0, $slot, $size)") eq 't';
	my $bytes = $w->{s}->query("SELECT bytes(0, '{$slot}')");
	my $n = $w->{n};

	if ($chunk->{counted} && $w->{on} && !$moved)
	{
		# In its place: there never were two.
		my $more = $bytes - $chunk->{bytes};

		$n->{ca}++;
		$n->{cf}++;
		$n->{ba} += $bytes;
		$n->{bf} += $chunk->{bytes};
		$n->{cb} += $more;
		$n->{hb} = $n->{cb} if $n->{hb} < $n->{cb};
		$n->{lb} = $n->{cb} if $n->{lb} > $n->{cb};
	}
	else
	{
		model_add($w, $bytes) if $w->{on};
		model_remove($w, 1, $chunk->{bytes}) if $chunk->{counted};
	}
	$w->{live}{$slot} = { bytes => $bytes, counted => $w->{on} };
	return $moved;
}

sub empty
{
	my ($w, $how) = @_;
	my @counted = grep { $_->{counted} } values %{ $w->{live} };
	my $bytes = 0;

	$bytes += $_->{bytes} foreach @counted;
	$w->{s}->query("SELECT $how(0)");
	$w->{live} = {};
	model_remove($w, scalar(@counted), $bytes) if @counted;
}

sub model_row { my ($w) = @_; return join('|', @{ $w->{n} }{qw(ca cf ba bf lc cc hc lb cb hb)}); }

sub row
{
	my ($w) = @_;
	my $got = $server->sql("SELECT $columns FROM pfs.memory_summary_by_thread_by_event_name WHERE thread_id = "
		  . $w->{s}->thread_id . " AND event_name = '$w->{name}'");

	return $got eq '' ? join('|', (0) x 10) : $got;
}

sub check
{
	my ($w, $what) = @_;

	local $Test::Builder::Level = $Test::Builder::Level + 1;
	return is(row($w), model_row($w), "$w->{kind}: $what");
}

# ---- one session, three chunks ----

sub maxalign { return int(($_[0] + 7) / 8) * 8; }

foreach my $kind (@kinds)
{
	my $s = $server->session;
	my $w = watch($s, $kind);
	my @sizes = $kind eq 'Slab' ? (1000, 1000, 1000) : (1000, 2000, 4000);
	my @spaces = $kind eq 'AllocSet' ? (1024, 2048, 4096) : map { maxalign($_) } @sizes;
	my $all = $spaces[0] + $spaces[1] + $spaces[2];

	make($w);
	is(row($w), '0|0|0|0|0|0|0|0|0|0', "$kind: a new context has nothing");
	alloc($w, $_, $sizes[$_], $spaces[$_]) foreach 0 .. 2;
	is(row($w), "3|0|$all|0|0|3|3|0|$all|$all", "$kind: three chunks");
	check($w, 'as the model has them');
	if ($kind ne 'Bump')
	{
		give_back($w, 1);
		is(row($w), join('|', 3, 1, $all, $spaces[1], 0, 2, 3, 0, $all - $spaces[1], $all), "$kind: one is freed");
		give_back($w, $_) foreach 0, 2;
		is(row($w), "3|3|$all|$all|0|0|3|0|0|$all", "$kind: all are");
	}
	else
	{
		empty($w, 'reset');
		is(row($w), "3|3|$all|$all|0|0|3|0|0|$all", "$kind: all are, by reset");
	}
	alloc($w, $_, $sizes[$_], $spaces[$_]) foreach 0 .. 2;
	empty($w, 'reset');
	check($w, 'three more, by reset');
	empty($w, 'reset');
	check($w, 'a reset of nothing');
	if ($kind ne 'Slab')
	{
		alloc($w, $_, $_) foreach 100, 0, 1;
		check($w, 'chunks of nothing and of next to nothing');
		empty($w, 'reset');
		check($w, 'and of those, too');
	}
	alloc($w, $_, $sizes[0], $spaces[0]) foreach 0 .. 199;
	check($w, 'two hundred, of several blocks');
	empty($w, 'delete');
	check($w, 'by delete');
	make($w);
	alloc($w, 0, $sizes[0]);
	alloc($w, 1, $sizes[1]);
	$server->sql("TRUNCATE pfs.memory_summary_by_thread_by_event_name");
	model_rebase($w);
	check($w, 'truncated');
	is($server->sql("SELECT current_count_used FROM pfs.memory_summary_global_by_event_name WHERE event_name = '$w->{name}'"), 2,
		"$kind: the server's are where they were");
	alloc($w, 2, $sizes[2]);
	check($w, 'one more raises the high-water marks');
	if ($kind ne 'Bump')
	{
		give_back($w, $_) foreach 2, 0;
		check($w, 'and two less lower the low-water marks');
	}
	empty($w, 'delete');
	check($w, 'all gone');
	make($w);
	if ($kind eq 'AllocSet' || $kind eq 'Generation')
	{
		my $moved = 0;
		my $stayed = 0;

		alloc($w, 0, 1000);
		alloc($w, 1, 100);
		foreach my $size (1020, 1000, 4000, 8000, 100, 20000, 40000, 300000, 30000, 9000, 9001, 10, 16)
		{
			resize($w, 0, $size) ? $moved++ : $stayed++;
			check($w, "repalloc to $size");
		}
		cmp_ok($moved, '>', 2, "$kind: some have moved");
		cmp_ok($stayed, '>', 2, "$kind: some have stayed");
	}
	elsif ($kind eq 'Slab')
	{
		alloc($w, 0, 1000);
		is(resize($w, 0, 1000), '', "$kind: cannot grow");
		check($w, 'but is told to');
	}
	if ($kind ne 'Bump' && PfsServer::version() >= 16)
	{
		my ($slot, $space) = $kind eq 'Slab' ? () : $kind eq 'AllocSet' ? (5, 2048) : (5, 1000 + 64);

		if (defined $slot)
		{
			$s->query("SELECT alloc(0, $slot, 1000, 64)");
			model_add($w, $space);
			check($w, 'an aligned chunk');
			$s->query("SELECT free(0, $slot)");
			model_remove($w, 1, $space);
			check($w, 'is freed');
		}
	}
	alloc($w, 9, 1000);

	# ---- its end ----
	my $current = $server->sql("SELECT current_memory FROM pfs.threads WHERE thread_id = " . $s->thread_id);
	is($current, $w->{n}{cb}, "$kind: the thread's memory is that of its only context");
	cmp_ok($server->sql("SELECT high_memory FROM pfs.threads WHERE thread_id = " . $s->thread_id), '>=', $w->{n}{hb}, "$kind: and was at most this");
	$s->close;
	$server->poll('SELECT count(*) FROM pfs.threads WHERE processlist_id = ' . $s->pid, 0);
	foreach my $level (qw(account user host global))
	{
		my $table = $level eq 'global' ? 'global_by' : "by_${level}_by";

		is($server->sql("SELECT current_count_used, current_number_of_bytes_used, count_alloc = count_free, sum_number_of_bytes_alloc = sum_number_of_bytes_free,"
				  . " count_alloc > 0, low_count_used, high_number_of_bytes_used >= $w->{n}{hb}"
				  . " FROM pfs.memory_summary_${table}_event_name WHERE event_name = '$w->{name}'"),
			'0|0|t|t|t|0|t', "$kind: nothing is left of the session by $level");
	}
}
is($server->sql("SELECT count(*) FROM pfs.memory_summary_global_by_event_name WHERE event_name LIKE 'memory/context/pfs test %'"),
	scalar(@kinds), 'each kind has its instrument');
is($server->sql("SELECT count(*) FROM pfs.memory_summary_global_by_event_name WHERE event_name LIKE 'memory/context/%' AND event_name NOT LIKE '%pfs test%'"),
	0, 'nothing else was counted');
is($server->sql("SELECT string_agg(enabled || coalesce(timed, '-'), ',') FROM pfs.setup_instruments WHERE name LIKE 'memory/context/pfs test %'"),
	join(',', ('YES-') x @kinds), 'they were registered as pfs.instruments says');

# ---- the matrix of switches ----

my %switch = (
	instrument => sub { my ($w, $on) = @_; $server->sql("UPDATE pfs.setup_instruments SET enabled = '" . ($on ? 'YES' : 'NO') . "' WHERE name = '$w->{name}'"); },
	thread => sub { my ($w, $on) = @_; $server->sql("UPDATE pfs.threads SET instrumented = '" . ($on ? 'YES' : 'NO') . "' WHERE thread_id = " . $w->{s}->thread_id); },
	global => sub { my ($w, $on) = @_; $server->sql("UPDATE pfs.setup_consumers SET enabled = '" . ($on ? 'YES' : 'NO') . "' WHERE name = 'global_instrumentation'"); },
	consumer => sub { my ($w, $on) = @_; $server->sql("UPDATE pfs.setup_consumers SET enabled = '" . ($on ? 'YES' : 'NO') . "' WHERE name = 'thread_instrumentation'"); });

sub flip
{
	my ($w, $which, $on) = @_;

	$switch{$which}->($w, $on);
	$w->{on} = $on;
}

my $wrong = 0;
my $combinations = 0;

foreach my $kind (@kinds)
{
	my $s = $server->session;
	my $w = watch($s, $kind);

	make($w);
	empty($w, 'delete');
	foreach my $which (sort keys %switch)
	{
		foreach my $first (0, 1)
		{
			foreach my $flips (1, 2, 3)
			{
				foreach my $how (qw(free realloc reset delete))
				{
					next if $kind eq 'Bump' && ($how eq 'free' || $how eq 'realloc');
					my $what = "$which is " . ($first ? 'on' : 'off') . ", flipped $flips times, $how";
					my $slot = 0;
					my $good = 1;
					my $see = sub {
						my ($where) = @_;
						my ($got, $want) = (row($w), model_row($w));

						return if $got eq $want || !$good;
						$good = 0;
						diag("$kind: $what: $where\n     got: $got\nexpected: $want");
					};

					flip($w, $which, $first);
					make($w);
					alloc($w, $slot++, 1000) foreach 1 .. 3;
					$see->('allocated');
					foreach my $flip (1 .. $flips)
					{
						flip($w, $which, ($first + $flip) % 2);
						$see->("flip $flip");
						alloc($w, $slot++, $kind eq 'Slab' ? 1000 : 500 * $flip) foreach 1 .. 2;
						$see->("allocated behind flip $flip");
					}
					if ($how eq 'free' || $how eq 'realloc')
					{
						foreach my $i (0, 3, 1, 4, 2, 5 .. $slot - 1)
						{
							if ($how eq 'realloc')
							{
								resize($w, $i, $kind eq 'Slab' ? 1000 : 3000);
								$see->("realloc of $i");
								next if $i == 4;
							}
							give_back($w, $i);
							$see->("free of $i");
						}
						alloc($w, 20, 1000);
						$see->('once more');
					}
					empty($w, 'reset') if $how ne 'delete';
					$see->('reset');
					alloc($w, 21, 1000) if $how eq 'reset';
					$see->('allocated behind the reset');
					empty($w, 'delete');
					$see->('deleted');
					flip($w, $which, 1);
					# Each is its own test.
					@{ $w->{n} }{qw(ca cf ba bf lc cc hc lb cb hb)} = split /\|/, row($w) unless $good;
					$combinations++;
					$wrong++ unless $good;
				}
			}
		}
	}
	is($w->{n}{cc}, 0, "$kind: the model ends with nothing");
	$s->close;
}
is($wrong, 0, "$combinations combinations of switches and frees");

# ---- switched by the session itself, in the middle ----

{
	my $s = $server->session;
	my $w = watch($s, 'AllocSet');

	make($w);
	alloc($w, 0, 1000);
	$s->query("UPDATE pfs.setup_instruments SET enabled = 'NO' WHERE name = '$w->{name}'");
	$w->{on} = 0;
	alloc($w, 1, 1000);
	check($w, 'off for the session that switched');
	$s->query("UPDATE pfs.setup_instruments SET enabled = 'YES' WHERE name = '$w->{name}'");
	$w->{on} = 1;
	alloc($w, 2, 1000);
	check($w, 'and on again');
	# No wait of this session lies between the switch and the statement.
	foreach my $on (0, 1)
	{
		my $text = $on ? 'YES' : 'NO';

		$s->query("UPDATE pfs.setup_instruments SET enabled = '$text' WHERE name = '$w->{name}' \\; SELECT alloc(0, " . (3 + $on) . ", 1000, 0)");
		model_add($w, 1024) if $on;
		$w->{live}{ 3 + $on } = { bytes => 1024, counted => $on };
	}
	check($w, 'in one message');
	empty($w, 'delete');
	check($w, 'deleted');
	$s->close;
}

# ---- run time: all instruments, in sessions that run ----

{
	my $s = $server->session;
	my $event = 'memory/context/CacheMemoryContext';
	my $sum = 'SELECT count(*) > 0 FROM pfs.memory_summary_by_thread_by_event_name WHERE current_number_of_bytes_used > 0'
	  . " AND event_name NOT LIKE '%pfs test%' AND thread_id = " . $s->thread_id;

	is($server->sql($sum), 'f', 'off: nothing');
	$server->sql("UPDATE pfs.setup_instruments SET enabled = 'YES' WHERE name LIKE 'memory/%'");
	$s->query('CREATE TABLE t AS SELECT 1 AS a');
	is($server->sql($sum), 't', 'UPDATE reaches sessions that run');
	is($server->sql("SELECT count(*) FROM pfs.memory_summary_by_thread_by_event_name WHERE current_number_of_bytes_used < 0 OR current_count_used < 0"
			  . ' OR low_count_used < 0 OR high_count_used < current_count_used OR low_number_of_bytes_used > current_number_of_bytes_used'), 0, 'no number is wrong');
	is($server->sql("SELECT (SELECT current_memory FROM pfs.threads WHERE thread_id = m.thread_id) = sum(current_number_of_bytes_used)"
			  . ' FROM pfs.memory_summary_by_thread_by_event_name m WHERE thread_id = ' . $s->thread_id . ' GROUP BY thread_id'), 't', 'the thread has the sum');
	$server->sql("UPDATE pfs.setup_instruments SET enabled = 'NO' WHERE name LIKE 'memory/%'");
	$s->query('SELECT count(*) FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid');
	my $count = 'SELECT sum(count_alloc) FROM pfs.memory_summary_by_thread_by_event_name WHERE thread_id = ' . $s->thread_id;
	my $before = $server->sql($count);

	$s->query('SELECT count(*) FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid');
	is($server->sql($count), $before, 'off again: nothing more is counted');
	is($server->sql("SELECT count(*) FROM pfs.memory_summary_by_thread_by_event_name WHERE current_number_of_bytes_used < 0 OR current_count_used < 0"), 0,
		'what is freed was counted');
	$s->close;
}

# ---- contexts whose names are data ----

{
	my $s = $server->session;
	my $instruments = "SELECT count(*) FROM pfs.setup_instruments WHERE name LIKE 'memory/context/%'";
	my $before = $server->sql($instruments);

	$server->sql("SELECT pfs.set_instruments('memory/context/data%', 'YES', NULL); SELECT pfs.set_instruments('memory/context/other', 'YES', NULL)");
	for my $n (1 .. 200)
	{
		$s->query("SELECT context(1, 'AllocSet', 'data $n'), alloc(1, 0, 100, 0)");
		$s->query('SELECT delete(1)') if $n != 200;
	}
	my $added = $server->sql($instruments) - $before;

	between($added, 1, 64, '200 names make at most 64 instruments');
	is($server->sql("SELECT sum(count_alloc), sum(count_free), sum(current_count_used), max(high_number_of_bytes_used)"
			  . " FROM pfs.memory_summary_by_thread_by_event_name WHERE (event_name LIKE '%/data%' OR event_name LIKE '%/other') AND thread_id = " . $s->thread_id),
		'200|199|1|128', 'all of them are counted');
	is($server->sql("SELECT count_alloc FROM pfs.memory_summary_by_thread_by_event_name WHERE event_name = 'memory/context/other' AND thread_id = " . $s->thread_id),
		200 - $added, 'the rest under one');
	is($server->sql("SELECT count(*) FROM pfs.setup_instruments WHERE name = 'memory/context/data 1'"), 1, 'the first has its own');
	$s->query("SELECT delete(1)");
	$s->query("SELECT context(1, 'AllocSet', 'data/of a path'), delete(1), context(1, 'AllocSet', repeat('long', 100)), delete(1)");
	is($server->sql("SELECT max(length(name)) <= 128, count(*) FILTER (WHERE name LIKE 'memory/context/%/%') FROM pfs.setup_instruments WHERE name LIKE 'memory/context/%'"), 't|0',
		'names are no paths, and end somewhere');
	$s->close;
}

# ---- parallel workers ----

{
	my $s = $server->session;
	my $force = PfsServer::version() >= 16 ? 'debug_parallel_query' : 'force_parallel_mode';

	$server->sql("UPDATE pfs.setup_instruments SET enabled = 'YES' WHERE name LIKE 'memory/%'");
	$s->query("CREATE TABLE p AS SELECT g AS a, repeat('x', 100) AS b FROM generate_series(1, 20000) g");
	$s->query("SET max_parallel_workers_per_gather = 2; SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0; SET $force = on");
	$server->sql('TRUNCATE pfs.memory_summary_global_by_event_name');
	like($s->query('EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) SELECT count(*) FROM (SELECT a, b FROM p ORDER BY b, a OFFSET 1) x'), qr/Workers Launched: [12]/, 'there were workers');
	ok($server->poll(q{SELECT count(*) FROM pfs.threads WHERE name LIKE '%parallel%'}, 0), 'they have gone');
	is($server->sql("SELECT count(*) FROM pfs.memory_summary_by_account_by_event_name WHERE current_count_used < 0 OR current_number_of_bytes_used < 0"), 0, 'and left nothing that is wrong');
	$s->close;
	is($server->sql("SELECT count(*) FROM pfs.memory_summary_global_by_event_name WHERE current_count_used < 0 OR current_number_of_bytes_used < 0"
			  . ' OR low_number_of_bytes_used < 0 OR low_number_of_bytes_used > current_number_of_bytes_used OR high_number_of_bytes_used < current_number_of_bytes_used'),
		0, 'nowhere');
	$server->sql("UPDATE pfs.setup_instruments SET enabled = 'NO' WHERE name LIKE 'memory/%'");
}

# ---- on since the start; a session is killed ----

$server->stop;
$server->conf("pfs.instruments = 'memory/%=ON'");
$server->start;
{
	my $s = $server->session;

	is($server->sql('SELECT current_memory > 100000 AND high_memory >= current_memory FROM pfs.threads WHERE thread_id = ' . $s->thread_id), 't', 'on since its start');
	$server->sql('CREATE TABLE c AS SELECT 1 AS a; CHECKPOINT');
	is($server->sql(q{SELECT sum(count_alloc) > 0, bool_and(current_count_used >= 0) FROM pfs.memory_summary_by_thread_by_event_name m JOIN pfs.threads t USING (thread_id)
	   WHERE t.name LIKE '%checkpointer%'}), 't|t', 'background processes too');
	$s->query("SELECT context(0, 'AllocSet', NULL), alloc(0, 0, 10000000, 0)");
	my $start_time = q{SELECT variable_value FROM pfs.status WHERE variable_name = 'pfs_start_time'};
	my $started = $server->sql($start_time);

	kill 'KILL', $s->pid;
	$server->lost_sessions;
	ok($server->poll_connect("SELECT ($start_time) <> '$started'"), 'a session is killed: the server starts anew');
	is($server->sql("SELECT coalesce(sum(current_number_of_bytes_used), 0) FROM pfs.memory_summary_global_by_event_name WHERE event_name LIKE '%pfs test%'"), 0,
		'without its memory');
	is($server->sql("SELECT variable_value FROM pfs.status WHERE variable_name = 'pfs_memory_contexts_lost'"), 0, 'nothing was lost')
	  if $server->sql("SELECT count(*) FROM pfs.status WHERE variable_name = 'pfs_memory_contexts_lost'");
}

# ---- nothing is counted ----

$server->stop;
$server->conf("pfs.instruments = 'memory/%=OFF'");
$server->start;
is($server->sql('SELECT count(*) FROM pfs.threads WHERE current_memory IS NOT NULL OR high_memory IS NOT NULL'), 0, 'off: threads have no memory');
is($server->sql("SELECT count(*) FROM pfs.memory_summary_global_by_event_name WHERE event_name LIKE 'memory/context/%'"), 0, 'nor contexts');
is($server->sql("SELECT count(*) > 10 FROM pfs.memory_summary_global_by_event_name WHERE event_name LIKE 'memory/pfs/%' AND current_number_of_bytes_used > 0"), 't',
	'but pfs has');

# ---- somebody has been there before ----

$server->stop;
$server->conf("shared_preload_libraries = '$module,pfs'");
$server->conf("pfs.instruments = 'memory/%=ON'");
$server->mark_log;
$server->start(env => { PFS_TEST_REPLACE_METHODS => 1 });
like($server->log_text, qr/LOG:  pfs: memory instruments are unavailable: another library has replaced the methods of a memory context/, 'methods that are not the server\'s: a line in the log');
is($server->sql("SELECT count(*) > 0, bool_and(status = 'unavailable'), bool_and(detail ~ 'another library') FROM pfs.probes WHERE probe_name ~ '^method_table/(AllocSet|Generation|Slab|Bump)'"), 't|t|t', 'and in probes');
is($server->sql("SELECT count(*) FROM pfs.memory_summary_global_by_event_name WHERE event_name LIKE 'memory/context/%'"), 0, 'nothing is counted');
is($server->sql("SELECT bool_and(documentation ~ '^Unavailable') FROM pfs.setup_instruments WHERE name LIKE 'memory/context/%'"), 't', 'instruments say why');
is($server->sql('SELECT count(*) FROM pfs.threads WHERE current_memory IS NOT NULL'), 0, 'of no thread');
is($server->sql("SELECT count(*) > 0 FROM pfs.events_waits_summary_global_by_event_name WHERE count_star > 0"), 't', 'waits are');

done_testing();
