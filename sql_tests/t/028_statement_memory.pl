# The most memory that a session has in use during a statement, to the byte: of
# statements inside others, cursors that outlive theirs, failed ones, whatever is
# switched in between; and the same in summaries and digests.
#
# Only contexts of the test's own module are counted, so that a model in Perl knows
# what each statement has; at the end everything is.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/lib";
use List::Util qw(max);
use PfsServer;
use Test::More;

my $module = test_module('pfs_test_memory');
my $server = PfsServer->new('main', preload => "pfs,$module", conf => <<'EOT2');
autovacuum = off
compute_query_id = on
pfs.instruments = 'memory/%=OFF, memory/context/pfs test%=ON'
pfs.events_statements_history_long_size = 20000
pfs.digests_size = 200
EOT2
$server->start;
$server->sql(test_functions('pfs_test_memory'));
$server->sql(<<"EOT2");
CREATE EXTENSION pfs;
CREATE TABLE program (id int, step int, what text);
CREATE FUNCTION run(n int) RETURNS void LANGUAGE plpgsql AS \$\$
DECLARE w text; caught bool;
BEGIN
	FOR w IN SELECT what FROM program WHERE id = n ORDER BY step LOOP
		BEGIN
			EXECUTE w;
		EXCEPTION WHEN division_by_zero THEN
			caught := true;
		END;
	END LOOP;
END \$\$;
EOT2

# A chunk with a block of its own: to the byte.
my $mb = 1_000_000;

my $marker = 0;

# Run a statement; gives its event's column, when it is over.
sub of_statement
{
	my ($s, $sql, $column) = @_;
	my $tag = 'n' . ++$marker;

	$s->send("$sql /* $tag */")->result;
	return of_tag($s, $tag, $column);
}

# The result reaches the client before the statement is over.
sub of_tag
{
	my ($s, $tag, $column) = @_;

	$server->poll_idle($s->thread_id);
	return $server->sql("SELECT coalesce(($column)::text, 'NULL') FROM pfs.events_statements_history_long WHERE thread_id = "
		  . $s->thread_id . " AND sql_text LIKE '%/* $tag */%' AND nesting_event_level = 0");
}

sub peak { return of_statement(@_, 'max_total_memory'); }

sub high { my ($s) = @_; return $server->sql('SELECT high_memory FROM pfs.threads WHERE thread_id = ' . $s->thread_id); }

# ---- one session at top level ----

{
	my $s = $server->session;

	is(peak($s, "SELECT context(0, 'AllocSet', NULL)"), 0, 'nothing was allocated: 0 bytes');
	is(peak($s, "SELECT alloc(0, 0, 2 * $mb, 0), free(0, 0)"), 2 * $mb, 'allocated and freed');
	is(peak($s, 'SELECT 1'), 0, 'the next one has its own');
	is(high($s), 2 * $mb, 'the thread still knows');
	is(peak($s, "SELECT alloc(0, 0, $mb, 0)"), $mb, 'allocated and kept');
	is(peak($s, 'SELECT 1'), $mb, 'what is in use at the begin was in use');
	is(peak($s, "SELECT free(0, 0)"), $mb, 'and is when it is freed');
	is(peak($s, 'SELECT 1'), 0, 'then no more');
	is(peak($s, "SELECT alloc(0, 0, $mb, 0), alloc(0, 1, 3 * $mb, 0), free(0, 1), alloc(0, 2, $mb, 0), free(0, 0), free(0, 2)"), 4 * $mb, 'the peak is neither sum nor end');
	is(peak($s, "SELECT alloc(0, 0, $mb, 0), realloc(0, 0, 5 * $mb), realloc(0, 0, $mb)") >= 5 * $mb, 1, 'a chunk that grew for a while');
	is(peak($s, "SELECT alloc(0, 1, 2 * $mb, 0), reset(0)"), 3 * $mb, 'what a reset frees');
	is(peak($s, 'SELECT 1'), 0, 'was freed');
	is(peak($s, "SELECT alloc(0, 0, $mb, 0), alloc(0, 1, $mb / (random() * 0)::int, 0)"), $mb, 'a statement that fails');
	is(peak($s, "SELECT alloc(0, 0, 'no', 0)"), $mb, 'one that fails before it runs');
	is(peak($s, "SELECT reset(0)"), $mb, 'what was in use then');
	is(peak($s, "CREATE TEMP TABLE tt AS SELECT alloc(0, 0, 7 * $mb, 0), reset(0)::text"), 7 * $mb, 'a utility statement');
	cmp_ok(high($s), '>=', 7 * $mb, 'the most of all is the thread\'s');

	# Several in one string.
	$s->query("SELECT alloc(0, 0, 3 * $mb, 0), reset(0) /* three */\\; SELECT 0 /* zero */\\; SELECT alloc(0, 0, $mb, 0), reset(0) /* one */");
	is(join(',', map { of_tag($s, $_, 'max_total_memory') } qw(three zero one)), join(',', 3 * $mb, 0, $mb), 'statements of one string are apart');
	$s->close;
}

# The extended protocol, with statements that are prepared.
{
	foreach my $mode (qw(extended prepared))
	{
		$server->sql('TRUNCATE pfs.events_statements_history_long');
		$server->pgbench("SELECT context(0, 'AllocSet', NULL);\n\\startpipeline\nSELECT alloc(0, 0, 2 * $mb, 0), reset(0);\nSELECT 'small';\n\\endpipeline\nSELECT delete(0);\n", '-M', $mode, '-t', 5);
		$server->poll_ended('pgbench');
		is($server->sql("SELECT left(sql_text, 12), count(*), min(max_total_memory), max(max_total_memory) FROM pfs.events_statements_history_long
			WHERE sql_text ~ '^SELECT (alloc|.small)' AND event_name = 'statement/sql/select' GROUP BY 1 ORDER BY 1"),
			"SELECT 'smal|5|0|0\nSELECT alloc|5|" . join('|', (2 * $mb) x 2), "$mode: a pipeline");
	}
}

# ---- statements in statements: random programs ----

my (%slots, %expected, %parent, @program, $programs, $in_use, $model_high);

# Statements that begin at this moment or are open: all see what is in use.
sub see
{
	my ($open) = @_;

	$expected{$_} = max($expected{$_} // 0, $in_use) foreach @$open;
	$model_high = max($model_high, $in_use);
}

# Make up a program, and say what its statements will have.
sub program
{
	my ($depth, $open) = @_;
	my $id = ++$programs;

	foreach my $step (1 .. 2 + int(rand(4)))
	{
		my $tag = 'n' . ++$marker;
		my @now = (@$open, $tag);
		my $kind = int(rand(8));
		my $slot = int(rand(8));

		$parent{$tag} = $id;
		see(\@now);
		if ($kind < 3 && $depth < 4)
		{
			push @program, [ $id, $step, 'SELECT run(' . program($depth + 1, \@now) . ") /* $tag */" ];
		}
		elsif ($kind == 3)
		{
			push @program, [ $id, $step, "SELECT 1 / (random() * 0)::int /* $tag */" ];
		}
		elsif (exists $slots{$slot})
		{
			push @program, [ $id, $step, "SELECT free(0, $slot) /* $tag */" ];
			$in_use -= delete $slots{$slot};
		}
		else
		{
			my $size = $mb + 1000 * int(rand(1000));

			push @program, [ $id, $step, "SELECT alloc(0, $slot, $size, 0)" . ($kind > 5 ? ", free(0, $slot)" : '') . " /* $tag */" ];
			$in_use += $size;
			see(\@now);
			if ($kind > 5) { $in_use -= $size; }
			else { $slots{$slot} = $size; }
		}
	}
	return $id;
}

{
	my $s = $server->session;
	my $nested = 0;

	$s->query("SELECT context(0, 'AllocSet', NULL)");
	($in_use, $model_high) = (0, 0);
	srand(4711);
	foreach my $round (1 .. 50)
	{
		my $tag = 'n' . ++$marker;
		my $id;

		(@program, %expected, %parent) = ();
		see([$tag]);
		$id = program(1, [$tag]);
		$server->sql('TRUNCATE program; INSERT INTO program VALUES ' . join(', ', map { "($_->[0], $_->[1], \$_\$$_->[2]\$_\$)" } @program));
		$server->sql('TRUNCATE pfs.events_statements_history_long');
		is(of_statement($s, "SELECT run($id) /* $tag */", 'max_total_memory'), $expected{$tag}, "program $round: at top level");
		my %got = map { split /\|/ } split /\n/, $server->sql("SELECT substring(sql_text FROM '/\\* (n[0-9]+) \\*/'), max_total_memory FROM pfs.events_statements_history_long
			WHERE thread_id = " . $s->thread_id . " AND sql_text ~ 'SELECT .*/\\* n' AND nesting_event_level > 0");
		my @wrong = grep { ($got{$_} // 'none') ne $expected{$_} } grep { $_ ne $tag } keys %expected;

		is(join(', ', map { "$_: " . ($got{$_} // 'none') . " for $expected{$_}" } @wrong), '', "program $round: its " . (keys(%expected) - 1) . ' statements');
		$nested += keys %got;

		# The loop's own query: open as long as the statements that it runs.
		is($server->sql("SELECT count(*) FROM pfs.events_statements_history_long q JOIN pfs.events_statements_history_long r
			ON r.thread_id = q.thread_id AND r.event_id = q.nesting_event_id
			WHERE q.thread_id = " . $s->thread_id . " AND q.sql_text LIKE 'SELECT what FROM program%' AND q.max_total_memory IS DISTINCT FROM r.max_total_memory"),
			0, "program $round: a query that is open all the time has what its caller has");
		is(high($s), $model_high, "program $round: the most of all");
	}
	cmp_ok($nested, '>', 400, 'there were many');
	$s->close;
}

# ---- a cursor that outlives its statement ----

{
	my $s = $server->session;

	$s->query("SELECT context(0, 'AllocSet', NULL)");
	$s->query('BEGIN');
	is(peak($s, "DECLARE c CURSOR FOR SELECT alloc(0, 0, $mb, 0), free(0, 0) FROM generate_series(1, 10)"), 0, 'a cursor is declared');
	is(peak($s, 'FETCH 1 FROM c'), $mb, 'FETCH runs it');
	is(peak($s, "SELECT alloc(0, 1, 6 * $mb, 0), free(0, 1)"), 6 * $mb, 'another statement meanwhile');
	is(peak($s, 'SELECT 1'), 0, 'a small one');
	is(peak($s, 'FETCH 1 FROM c'), $mb, 'FETCH again');
	is(peak($s, 'CLOSE c'), 0, 'it is closed');
	$s->query('COMMIT');
	is($server->sql("SELECT max(max_total_memory) FROM pfs.events_statements_history_long WHERE nesting_event_level > 0 AND thread_id = " . $s->thread_id),
		6 * $mb, 'the query had all that in its time');
	is(peak($s, 'SELECT 2'), 0, 'nothing is left of it');

	# Opened and run inside of a statement that ends before it.
	$server->sql(<<'EOT2');
CREATE FUNCTION opened() RETURNS refcursor LANGUAGE plpgsql AS $$
DECLARE c refcursor; i bigint;
BEGIN
	OPEN c FOR SELECT alloc(0, 0, 6000000, 0), free(0, 0), alloc(0, 1, 1000000, 0), free(0, 1) FROM generate_series(1, 10);
	FETCH c INTO i;
	RETURN c;
END $$;
EOT2
	$server->sql('TRUNCATE pfs.events_statements_history_long');
	$s->query('BEGIN');
	is(peak($s, 'SELECT opened()'), 6 * $mb, 'one that ends has what a cursor had that it leaves');
	is(peak($s, 'SELECT 3'), 0, 'the next one does not');
	is(peak($s, "SELECT alloc(0, 2, 9 * $mb, 0), free(0, 2)"), 9 * $mb, 'another one');
	$s->query('COMMIT');
	is($server->sql("SELECT max(max_total_memory) FROM pfs.events_statements_history_long WHERE nesting_event_level > 0 AND thread_id = " . $s->thread_id),
		9 * $mb, 'and the cursor has all');
	$s->close;
}

# ---- running and finished ----

{
	my $s = $server->session;
	my $lock = $server->session;

	$s->query("SELECT context(0, 'AllocSet', NULL)");
	$lock->query('SELECT pg_advisory_lock(1)');
	$s->send("SELECT alloc(0, 0, 3 * $mb, 0), pg_advisory_lock(1), free(0, 0)");
	$server->poll('SELECT count(*) FROM pg_locks WHERE NOT granted', 1);
	is($server->sql("SELECT coalesce(max_total_memory::text, 'NULL') FROM pfs.events_statements_current WHERE thread_id = " . $s->thread_id), 'NULL', 'not known before the end');
	is($server->sql('SELECT current_memory, high_memory FROM pfs.threads WHERE thread_id = ' . $s->thread_id), join('|', (3 * $mb) x 2), 'but the thread\'s');
	$lock->query('SELECT pg_advisory_unlock(1)');
	$s->result;
	$server->poll_idle($s->thread_id);
	is($server->sql("SELECT max_total_memory FROM pfs.events_statements_history WHERE sql_text LIKE '%pg_advisory_lock(1), free%' AND thread_id = " . $s->thread_id), 3 * $mb, 'at the end it is');
	$s->close;
	$lock->close;
}

# ---- switches ----

{
	my $s = $server->session;
	my $lock = $server->session;
	my $set = sub { $server->sql("UPDATE pfs.setup_instruments SET enabled = '$_[0]' WHERE name LIKE 'memory/context/pfs test%'"); };

	# Something is switched while a statement is on its way.
	my $during = sub {
		my ($sql, $to) = @_;
		my $tag = 'n' . ++$marker;

		$lock->query('SELECT pg_advisory_lock(1)');
		# News reach a process with its next event, and its next allocation that is none of a counted context.
		# A time that it can lose its processor for would be over before pg_sleep() waits.
		$s->send(sprintf($sql, "pg_advisory_lock_shared(1), pg_sleep(0.1), repeat('x', (random() * 9)::int)") . " /* $tag */");
		$server->poll('SELECT count(*) FROM pg_locks WHERE NOT granted', 1);
		$set->($to);
		$lock->query('SELECT pg_advisory_unlock(1)');
		$s->result;
		$s->query('SELECT pg_advisory_unlock_all()');
		return of_tag($s, $tag, 'max_total_memory');
	};

	$s->query("SELECT context(0, 'AllocSet', NULL)");
	$set->('NO');
	is(peak($s, "SELECT alloc(0, 0, 2 * $mb, 0), free(0, 0)"), 'NULL', 'off: NULL');
	is($during->("SELECT alloc(0, 0, 2 * $mb, 0), %s, alloc(0, 1, $mb, 0)", 'YES'), 'NULL', 'switched on meanwhile: NULL, as some of it was not seen');
	is(peak($s, 'SELECT 1'), $mb, 'the next one has what has been seen since');
	is(peak($s, 'SELECT free(0, 0), alloc(0, 0, 2 * ' . $mb . ', 0)'), 3 * $mb, 'what was not counted does not count when it is freed');
	is($during->("SELECT alloc(0, 2, 4 * $mb, 0), free(0, 2), %s, alloc(0, 2, 9 * $mb, 0), free(0, 2)", 'NO'), 7 * $mb, 'switched off meanwhile: what was counted');
	is(peak($s, 'SELECT 1'), 'NULL', 'off: NULL, though something is in use that was counted');
	is(peak($s, 'SELECT reset(0)'), 'NULL', 'and freed');
	$set->('YES');
	is(peak($s, 'SELECT 1'), 0, 'on again');

	# Statements inside one that does not know.
	$server->sql(q{TRUNCATE program; INSERT INTO program VALUES (1, 1, 'SELECT alloc(0, 0, 1000000, 0), free(0, 0)'), (1, 2, 'SELECT 2')});
	$set->('NO');
	is($during->('SELECT %s, run(1)', 'YES'), 'NULL', 'on since its middle');
	is($server->sql("SELECT string_agg(coalesce(max_total_memory::text, 'NULL'), ',' ORDER BY event_id) FROM (SELECT * FROM pfs.events_statements_history_long
		WHERE nesting_event_level > 0 AND thread_id = " . $s->thread_id . " AND sql_text ~ '^SELECT (alloc|2)' ORDER BY event_id DESC LIMIT 2) x"), "$mb,0", 'but those inside do');
	$s->close;
	$lock->close;
}

# ---- summaries and digests: maxima ----

my %where = (thread => 'thread_id = %d', account => "user_name = current_user AND host = '[local]'", user => 'user_name = current_user', host => "host = '[local]'", global => 'true');

sub summary
{
	my ($level, $s) = @_;
	my $by = $level eq 'global' ? 'global_by' : "by_${level}_by";

	my $where = $where{$level} =~ s/%d/$s->thread_id/er;

	return $server->sql("SELECT coalesce(max_total_memory::text, 'NULL') FROM pfs.events_statements_summary_${by}_event_name WHERE event_name = 'statement/sql/create_role' AND $where");
}

sub truncate_level
{
	my ($level) = @_;

	$server->sql('TRUNCATE pfs.events_statements_summary_' . ($level eq 'global' ? 'global_by' : "by_${level}_by") . '_event_name');
}

sub levels { my ($s) = @_; return join(',', map { my $v = summary($_, $s); $v eq '' ? '-' : $v } qw(thread account user host global)); }

{
	my $s = $server->session;
	my $t = $server->session;
	my $roles = 0;

	# A statement that nobody else runs, with as much in use as wanted.
	my $create = sub {
		my ($who, $n) = @_;

		$who->query("SELECT alloc(0, 0, $n * $mb, 0)") if $n > 0;
		is(peak($who, 'CREATE ROLE r' . ++$roles), $n * $mb, "CREATE ROLE with $n");
		$who->query('SELECT reset(0)');
	};

	$server->sql('TRUNCATE pfs.events_statements_summary_global_by_event_name, pfs.events_statements_summary_by_digest');
	foreach my $one ($s, $t) { $one->query("SELECT context(0, 'AllocSet', NULL)"); }
	is($server->sql("SELECT coalesce(max_total_memory::text, 'NULL') FROM pfs.events_statements_summary_global_by_event_name WHERE event_name = 'statement/sql/create_role'"), 'NULL', 'none yet');
	$create->($s, 0);
	is(levels($s), '0,0,0,0,0', 'nothing in use: 0');
	$create->($s, $_) foreach 3, 1;
	$create->($t, 5);
	is(levels($s), join(',', 3 * $mb, (5 * $mb) x 4), 'the most of each level');
	truncate_level('thread');
	is(levels($s), join(',', '-', (5 * $mb) x 4), 'TRUNCATE of threads moves it up');
	# What was moved lies with the account now, no more with the thread.
	$t->query('SELECT 1');
	$server->poll_idle($t->thread_id);
	$create->($s, 2);
	is(levels($s), join(',', 2 * $mb, (5 * $mb) x 4), 'a thread begins anew');
	truncate_level('account');
	is(levels($s), join(',', '-', '-', (5 * $mb) x 3), 'TRUNCATE of accounts');
	$create->($s, 1);
	is(levels($s), join(',', $mb, $mb, (5 * $mb) x 3), 'an account begins anew');
	truncate_level('user');
	is(levels($s), join(',', '-', '-', '-', (5 * $mb) x 2), 'TRUNCATE of users');
	truncate_level('host');
	is(levels($s), join(',', ('-') x 4, 5 * $mb), 'TRUNCATE of hosts');
	truncate_level('global');
	is(levels($s), join(',', ('-') x 4, 'NULL'), 'TRUNCATE of all');
	$create->($t, 4);
	my $thread = $t->thread_id;
	$t->close;
	$server->poll("SELECT count(*) FROM pfs.threads WHERE thread_id = $thread", 0);
	$create->($s, 1);
	is(levels($s), join(',', $mb, (4 * $mb) x 4), 'a session that ended leaves its own');

	# Each row has the maximum of its events, nested ones too.
	$server->poll_idle($s->thread_id);
	$server->sql('TRUNCATE pfs.events_statements_history_long, pfs.events_statements_summary_global_by_event_name, pfs.events_statements_summary_by_digest');
	$server->sql("TRUNCATE program; INSERT INTO program SELECT 1, g, format('SELECT alloc(0, 0, %s, 0), reset(0)', $mb + g * 1000) FROM generate_series(1, 50) g");
	foreach my $sql ('SELECT run(1)', "SELECT alloc(0, 1, 3 * $mb, 0)", 'SELECT count(*) FROM program', 'DELETE FROM program WHERE step > 30', 'SELECT run(1)', 'SELECT reset(0)', 'SELECT 1', "COPY program TO '/dev/null'", 'DO $$ BEGIN PERFORM alloc(0, 2, 2000000, 0), reset(0); END $$')
	{
		$s->query($sql);
	}
	$server->poll_idle($s->thread_id);
	is($server->sql("SELECT count(*), count(*) FILTER (WHERE s.max_total_memory IS DISTINCT FROM e.most) FROM pfs.events_statements_summary_by_thread_by_event_name s
		JOIN (SELECT event_name, max(max_total_memory) AS most FROM pfs.events_statements_history_long WHERE thread_id = " . $s->thread_id . " GROUP BY 1) e USING (event_name)
		WHERE thread_id = " . $s->thread_id), '4|0', 'each row of the thread has the most of its events');
	is($server->sql("SELECT count(*) > 5, count(*) FILTER (WHERE d.max_total_memory IS DISTINCT FROM e.most), count(*) FILTER (WHERE e.most > 0) > 3 FROM pfs.events_statements_summary_by_digest d
		JOIN (SELECT query_id, max(max_total_memory) AS most, bool_and(thread_id = " . $s->thread_id . ") AS own FROM pfs.events_statements_history_long WHERE query_id IS NOT NULL GROUP BY 1) e USING (query_id)
		WHERE own"), 't|0|t', 'and each digest');

	# Digests that are evicted.
	is($server->sql("SELECT max(max_total_memory) FROM pfs.events_statements_summary_by_digest"), $server->sql("SELECT max(max_total_memory) FROM pfs.events_statements_history_long WHERE query_id IS NOT NULL"), 'the most of all digests');
	is(peak($s, "SELECT alloc(0, 0, 9 * $mb, 0), reset(0) AS most"), 9 * $mb, 'one that is bigger than all');
	my $query = $server->sql("SELECT query_id FROM pfs.events_statements_summary_by_digest WHERE max_total_memory = 9 * $mb");
	# None is evicted while somebody reads digests; who saves them may lose its processor in the middle of it.
	for (1 .. 20)
	{
		$s->query('SELECT ' . join(', ', (1) x $_)) foreach 1 .. 400;
		last if $server->sql("SELECT count(*) FROM pfs.events_statements_summary_by_digest WHERE query_id = $query") == 0;
	}
	is($server->sql("SELECT count(*) FROM pfs.events_statements_summary_by_digest WHERE query_id = $query"), 0, 'the digest is evicted');
	is($server->sql('SELECT max_total_memory FROM pfs.events_statements_summary_by_digest WHERE query_id IS NULL'), 9 * $mb, 'all others have its maximum');
	$server->sql('TRUNCATE pfs.events_statements_summary_by_digest');
	$s->query('SELECT 1');
	is($server->sql('SELECT coalesce(max(max_total_memory), 0) FROM pfs.events_statements_summary_by_digest'), 0, 'TRUNCATE of digests');
	$s->close;
}

# ---- everything is counted ----

$server->stop;
$server->conf("pfs.instruments = 'memory/%=ON'");
$server->start;
{
	my $s = $server->session;
	my $length = 50 * $mb;
	my $few;
	my $peak;

	$s->query("SET work_mem = '256MB'");
	$s->query('SELECT 1') foreach 1 .. 3;
	$few = peak($s, 'SELECT 1');
	cmp_ok($few, '>', 100_000, 'a session has something in use');
	$peak = peak($s, "SELECT length(repeat('x', ($length + random() * 0)::int))");
	cmp_ok($peak, '>=', $few + $length - 500_000, 'a big text is in it');
	cmp_ok($peak, '<', $few + $length + 2 * $mb, 'and not much more');
	cmp_ok(peak($s, 'SELECT 1'), '<', $few + 2 * $mb, 'and then no more');
	cmp_ok(peak($s, 'SELECT array_length(array_agg(i), 1) FROM generate_series(1, 1000000) i'), '>=', 8 * $mb, 'an array of a million');
	cmp_ok(peak($s, 'SELECT count(*) FROM (SELECT i FROM generate_series(1, 200000) i GROUP BY i OFFSET 0) x'), '>=', 200_000 * 24, 'a hash table');
	cmp_ok(peak($s, "SELECT count(*) FROM (SELECT i FROM generate_series(1, 200000) i ORDER BY md5(i::text) OFFSET 0) x"), '>=', 200_000 * 64, 'a sort');
	$s->query("SET work_mem = '1MB'");
	cmp_ok(peak($s, "SELECT count(*) FROM (SELECT i FROM generate_series(1, 200000) i ORDER BY md5(i::text) OFFSET 0) x"), '<', $few + 8 * $mb, 'less of it in memory');
	is($server->sql('SELECT count(*) FROM pfs.events_statements_history_long WHERE max_total_memory IS NULL AND end_event_id IS NOT NULL'), 0, 'every statement has one');
	is($server->sql("SELECT count(*) FROM pfs.events_statements_history_long i JOIN pfs.events_statements_history_long o ON o.thread_id = i.thread_id
		AND o.event_id = i.nesting_event_id AND i.nesting_event_type = 'STATEMENT' WHERE i.max_total_memory > o.max_total_memory AND i.timer_end <= o.timer_end"), 0, 'and none more than the one around it');
	$s->close;
}
# ---- every length of text, with a memory: events lie close to each other ----

my $lengths = $server->session;
my $tl = $lengths->thread_id;
# A statement ends a moment after its client has the result.
$server->poll_idle($tl);
$server->sql('TRUNCATE pfs.events_statements_history_long');
for my $round (0 .. 99)
{
	$lengths->query(join('; ', map { "SELECT '" . ('x' x ($_ + $round % 7)) . "'" } 1 .. 24));
}
$server->poll_idle($tl);
is($server->sql("SELECT count(*), count(*) FILTER (WHERE max_total_memory > 0), count(*) FILTER (WHERE sql_text ~ '^SELECT ''x+''\$') FROM pfs.events_statements_history_long
	WHERE thread_id = $tl AND event_name = 'statement/sql/select'"), '2400|2400|2400', 'statements of all lengths are there, whole');
is($server->sql("SELECT count(DISTINCT length(sql_text)) FROM pfs.events_statements_history_long WHERE thread_id = $tl"), 30, 'each with its own text');
$lengths->close;
$server->stop;
$server->conf("pfs.instruments = 'memory/%=OFF'\npfs.save = off");
$server->start;
$server->sql('SELECT 1') foreach 1 .. 3;
is($server->sql('SELECT count(*) > 3, count(max_total_memory) FROM pfs.events_statements_history_long'), 't|0', 'off: events have none');
is($server->sql('SELECT count(max_total_memory) FROM pfs.events_statements_summary_global_by_event_name'), 0, 'nor summaries');
is($server->sql('SELECT count(*) > 0, count(max_total_memory) FROM pfs.events_statements_summary_by_digest'), 't|0', 'nor digests');
$server->stop;

done_testing();
