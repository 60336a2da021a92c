# Other libraries that replace methods of memory contexts, before pfs does and after it:
# what they have put there stays, they are called, and what is counted is exact; also
# when pfs has put back its own, and when the library goes first.
# And very many contexts in whose life memory instruments are switched on.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/lib";
use PfsServer;
use Test::More;

my $module = test_module('pfs_test_memory');
my $server = PfsServer->new('main', preload => "pfs,$module", conf => <<'EOT2');
autovacuum = off
pfs.instruments = 'memory/%=OFF'
EOT2
$server->start;
$server->sql('CREATE EXTENSION pfs');
$server->sql(test_functions($_)) foreach 'pfs_test_memory', 'pfs_test_methods';

sub switch_to
{
	my ($on) = @_;

	# Also of contexts that nobody has met yet.
	$server->sql("SELECT pfs.set_instruments('memory/context/%', '$on')");
}

sub counted
{
	my ($s, $name) = @_;
	my $got = $server->sql("SELECT current_count_used, current_number_of_bytes_used FROM pfs.memory_summary_by_thread_by_event_name
		WHERE event_name = 'memory/context/" . ($name // 'pfs test AllocSet') . "' AND thread_id = " . $s->thread_id);

	return $got eq '' ? '0|0' : $got;
}

# The process has its own methods again when nothing that was counted is left: it is told nothing.
sub has_stopped
{
	my ($s) = @_;

	$s->query('SELECT 1');
	return $server->sql('SELECT current_memory IS NULL FROM pfs.threads WHERE thread_id = ' . $s->thread_id);
}

my $others = "SELECT coalesce(substring(detail FROM 'in ([0-9]+) processes')::int, 0) FROM pfs.probes WHERE probe_name = 'method_table/AllocSet'";
my $lost = "SELECT variable_value FROM pfs.status WHERE variable_name = 'pfs_memory_summary_global_lost'";
my $processes = 0;

is($server->sql($others), 0, 'nobody else replaces methods');

# ---- a context's methods ----

foreach my $how ('pointer', 'entry')
{
	foreach my $when ('before', 'after')
	{
		foreach my $who_goes ('pfs', 'library')
		{
			my $what = "$how, $when pfs, $who_goes goes first";
			my $s = $server->session;

			# In place, before pfs, is the server's own table.
			next if $how eq 'entry' && $when eq 'before';
			$s->query("SELECT context(0, 'AllocSet', NULL)");
			$s->query("SELECT swap('pfs test AllocSet', '$how')") if $when eq 'before';
			switch_to('YES');
			$s->query('SELECT 1');
			if ($when eq 'after')
			{
				$s->query('SELECT alloc(0, 0, 1000, 0)');
				is(counted($s), '1|1024', "$what: counted");
				$s->query("SELECT swap('pfs test AllocSet', '$how')");
			}
			my $seen = $when eq 'after';

			$s->query('SELECT alloc(0, 1, 2000, 0), alloc(0, 2, 4000, 0)');
			is($s->query('SELECT swapped()'), 2, "$what: the library is called");
			is(counted($s), $seen ? '3|7168' : '0|0', "$what: what is counted of it");
			$s->query('SELECT realloc(0, 1, 100), free(0, 2)');
			# What has become smaller stays where it is.
			is(counted($s), $seen ? '2|3072' : '0|0', "$what: frees and repallocs");
			$s->query('SELECT reset(0)');
			is(counted($s), '0|0', "$what: by reset");
			$s->query('SELECT alloc(0, 3, 1000, 0)');
			is($s->query('SELECT swapped()'), 3, "$what: it is still called");

			# What was written in place can be taken back there until the way of what is counted changes.
			$s->query('SELECT unswap()') if $who_goes eq 'library' && $how eq 'entry';

			# Off, and on again, and off: it does.
			if ($seen)
			{
				is(counted($s), '1|1024', "$what: counted again");
				switch_to('NO');
				$s->query('SELECT alloc(0, 4, 1000, 0), free(0, 3)');
				is(counted($s), '0|0', "$what: switched off, what is freed was counted");
				switch_to('YES');
				$s->query('SELECT alloc(0, 5, 1000, 0), alloc(0, 6, 1000, 0), free(0, 4), free(0, 5)');
				is(counted($s), '1|1024', "$what: what was not counted does not count when it is freed");
			}
			$s->query('SELECT unswap()') if $who_goes eq 'library' && $how ne 'entry';
			my $calls = $s->query('SELECT swapped()');

			switch_to('NO');
			$s->query('SELECT reset(0)');
			$s->query('SELECT alloc(0, 7, 1000, 0), alloc(0, 8, 1000, 0), free(0, 7), realloc(0, 8, 20000)');
			is($s->query('SELECT swapped()') - $calls, $who_goes eq 'library' ? 0 : 2, "$what: it is called, or has gone");
			$s->query('SELECT unswap()') if $who_goes eq 'pfs';
			$s->query('SELECT alloc(0, 9, 1000, 0), reset(0), alloc(0, 9, 1000, 0), delete(0)');
			is($s->query('SELECT 1 + 1'), 2, "$what: the session lives");
			$s->close;
		}
	}
}
cmp_ok($server->sql($others), '>', 2, 'processes are counted in which somebody else has replaced methods');
is($server->sql($lost), 0, 'and nothing was lost');

# ---- pfs stops ----

# Only a context of the test is counted: so pfs can go when it is empty.
$server->sql("SELECT pfs.set_instruments('memory/context/pfs test AllocSet', 'YES')");
foreach my $how ('pointer', 'entry', 'table')
{
	my $s = $server->session;

	$s->query("SELECT context(0, 'AllocSet', NULL), alloc(0, 0, 1000, 0)");
	is(counted($s), '1|1024', "$how: counted");
	$s->query("SELECT swap('pfs test AllocSet', '$how')");
	$s->query('SELECT alloc(0, 1, 1000, 0)');
	is(counted($s), '2|2048', "$how: counted beside the library");
	my $before = $server->sql($others);

	$server->sql("UPDATE pfs.setup_instruments SET enabled = 'NO' WHERE name = 'memory/context/pfs test AllocSet'");
	$s->query('SELECT reset(0)');
	is(has_stopped($s), 't', "$how: pfs has stopped");
	cmp_ok($server->sql($others), '>', $before, "$how: and has said that somebody else is there") if $how eq 'table';
	my $calls = $s->query('SELECT swapped()');

	# A new context, for those who have the table.
	$s->query("SELECT context(1, 'AllocSet', NULL), alloc(0, 0, 1000, 0), alloc(1, 0, 1000, 0), realloc(0, 0, 9000), free(0, 0), free(1, 0), delete(1)");
	cmp_ok($s->query('SELECT swapped()'), '>', $calls, "$how: the library is called as before");
	is(counted($s), '0|0', "$how: nothing is counted");

	# pfs cannot come back to a table that is not the server's; else it can.
	$server->sql("SELECT pfs.set_instruments('memory/context/pfs test AllocSet', 'YES')");
	$s->query("SELECT context(2, 'AllocSet', NULL), alloc(2, 0, 1000, 0)");
	$s->query('SELECT alloc(2, 1, 1000, 0)');
	is(counted($s), $how eq 'table' ? '0|0' : '2|2048', "$how: on again");
	is($server->sql($lost), $how eq 'table' ? 1 : 0, "$how: a process that cannot count says so");
	$s->query('SELECT unswap()');
	$s->query('SELECT alloc(0, 5, 1000, 0), delete(0), delete(2)');
	is(counted($s), '0|0', "$how: all gone");
	$s->close;
}
$server->sql("SELECT pfs.reset('status')");

# ---- a library that was there before the process counted ----

{
	switch_to('NO');
	my $s = $server->session;

	$s->query("SELECT context(0, 'AllocSet', NULL), swap('pfs test AllocSet', 'table')");
	switch_to('YES');
	$s->query("SELECT context(1, 'AllocSet', NULL), alloc(1, 0, 1000, 0)");
	cmp_ok($s->query('SELECT swapped()'), '>', 0, 'a table that is not the server\'s any more: the library is called');
	is($server->sql('SELECT current_memory IS NULL FROM pfs.threads WHERE thread_id = ' . $s->thread_id), 't', 'and not pfs');
	cmp_ok($server->sql($lost), '>=', 1, 'which says that a process is not counted');
	switch_to('NO');
	$s->query('SELECT unswap(), delete(0), delete(1)');
	$s->close;
}

# ---- very many contexts, older than the switch ----

{
	my $s = $server->session;
	my $n = 20000;

	switch_to('NO');
	$s->query("BEGIN; SELECT many($n, 1)");
	switch_to('YES');
	$s->query('SELECT 1');
	$s->query('SELECT many(0, 2)');
	is(counted($s, 'pfs test many'), join('|', 2 * $n, 2 * $n * 16), 'what was allocated since the switch is counted');
	$s->query('SELECT many(0, 20)');
	is(counted($s, 'pfs test many'), join('|', 22 * $n, 22 * $n * 16), 'and more');
	# Ends in time that grows with what there is: this is what takes minutes otherwise.
	$s->query('COMMIT');
	is(counted($s, 'pfs test many'), '0|0', 'and is gone at COMMIT');
	is($server->sql("SELECT count(*) FROM pfs.memory_summary_by_thread_by_event_name WHERE current_number_of_bytes_used < 0 OR current_count_used < 0"), 0, 'nothing is below zero');
	$s->query("BEGIN; SELECT many($n, 3)");
	is(counted($s, 'pfs test many'), join('|', 3 * $n, 3 * $n * 16), 'contexts that are counted from their birth');
	$s->query('ROLLBACK');
	is(counted($s, 'pfs test many'), '0|0', 'and gone');
	$s->close;
}
$server->stop;

done_testing();
