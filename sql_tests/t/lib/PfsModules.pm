# PfsModules.pm
#	  The modules of sql_tests/modules, and SQL for their functions; PfsServer.pm
#	  hands them on.
#
#	my $module = test_module('pfs_test');		# its path, to be preloaded
#	$server->sql(test_functions('pfs_test'));
package PfsModules;

use strict;
use warnings;

use Exporter 'import';
use FindBin;
use Test::More;

our @EXPORT = qw(test_module test_functions);

# Where installcheck has put them, or where they are built.  Ends the tests if it is not there.
sub test_module
{
	my ($name) = @_;
	my ($path) = grep { -f } ((map { "$FindBin::RealBin/../modules/$_/$name.so" } 'pfs_test', $name), ($ENV{PG_LIBDIR} // '/none') . "/$name.so");

	BAIL_OUT("$name.so is missing: make test-modules") unless defined $path;
	return $path;
}

# By module: name and arguments, result, what it is called there.
my %functions = (
	pfs_bench => [
		[ 'cycles(kind text, loops int)', 'float8', 'pfs_bench_cycles' ],
	],
	pfs_test => [
		[ 'lwlock(name text, mode text, seconds float8)', 'void', 'pfs_test_lwlock' ],
		[ 'spinlock(seconds float8)', 'void', 'pfs_test_spinlock' ],
		[ 'register()', 'void', 'pfs_test_register' ],
		[ 'wait(name text, seconds float8)', 'void', 'pfs_test_wait' ],
		[ 'worker(library text, type text)', 'int', 'pfs_test_worker' ],
		[ 'waiter(library text)', 'int', 'pfs_test_waiter' ],
		[ 'fork(sleeps int)', 'int', 'pfs_test_fork' ],
		[ 'fork_busy(how text)', 'int', 'pfs_test_fork_busy' ],
		[ 'hold(name text, mode text)', 'void', 'pfs_test_hold' ],
		[ 'hold_forking(name text)', 'void', 'pfs_test_hold_forking' ],
		[ 'hold_page(relation oid)', 'void', 'pfs_test_hold_page' ],
		[ 'wake(pid int)', 'void', 'pfs_test_wake' ],
		[ 'release_hold()', 'void', 'pfs_test_release_hold' ],
		[ 'try(name text, mode text)', 'bool', 'pfs_test_try' ],
		[ 'take(n int, locks int)', 'void', 'pfs_test_take' ],
		[ 'fail(locks int, level text)', 'void', 'pfs_test_fail' ],
		[ 'provoke(n int)', 'void', 'pfs_test_provoke' ],
		[ 'chase(n int)', 'void', 'pfs_test_chase' ],
		[ 'tranche(id int)', 'text', 'pfs_test_tranche' ],
		[ 'command(command text)', 'void', 'pfs_test_command' ],
	],
	pfs_test_stop => [
		[ 'stop_at(function text)', 'void', 'pfs_test_stop_at' ],
		[ 'raise_word(variable text, at int, by bigint)', 'void', 'pfs_test_raise_word' ],
		[ 'clock_source(folder text)', 'bool', 'pfs_test_clock_source' ],
		[ 'fence(refused bool)', 'text', 'pfs_test_fence' ],
		[ 'write_fixed()', 'void', 'pfs_test_write_fixed' ],
	],
	pfs_test_rules => [
		[ 'rule(type text, schema oid, name text)', 'text', 'pfs_test_rule' ],
		[ 'rule_of(type text, schema text, name text)', 'text', 'pfs_test_rule_of' ],
		[ 'copies()', 'bigint', 'pfs_test_copies' ],
	],
	pfs_test_load => [
		[ 'load_keep(period_start timestamptz, period_end timestamptz, length bigint, follows bool, rows text[])', 'void', 'pfs_test_load_keep' ],
		[ 'load_end()', 'void', 'pfs_test_load_end' ],
		[ 'load_run(first bigint, n bigint)', 'void', 'pfs_test_load_run' ],
		[ 'load_many(period_start timestamptz, rows int, first bigint)', 'void', 'pfs_test_load_many' ],
	],
	pfs_test_decode => [ [ 'decode_lines(lines text)', 'text', 'pfs_test_decode' ] ],
	pfs_test_save => [ [ 'save()', 'bool', 'pfs_test_save' ] ],
	pfs_test_access => [ [ 'chained()', 'bigint', 'pfs_test_chained' ], [ 'access_time()', 'float8', 'pfs_test_access_time' ] ],
	pfs_test_plugin => [ [ 'plugin_calls()', 'text', 'pfs_test_plugin_calls' ] ],
	pfs_test_hooks => [ [ 'hook_calls()', 'text', 'pfs_test_hook_calls' ] ],
	pfs_test_front => [ [ 'elsewhere()', 'void', 'pfs_test_elsewhere' ] ],
	pfs_test_memory => [
		[ 'context(i int, kind text, name text)', 'text', 'pfs_test_context', 'nulls' ],
		[ 'alloc(i int, slot int, size bigint, alignment int)', 'bigint', 'pfs_test_alloc' ],
		[ 'realloc(i int, slot int, size bigint)', 'bool', 'pfs_test_realloc' ],
		[ 'free(i int, slot int)', 'void', 'pfs_test_free' ],
		[ 'reset(i int)', 'void', 'pfs_test_reset' ],
		[ 'delete(i int)', 'void', 'pfs_test_delete' ],
		[ 'bytes(i int, slots int[])', 'bigint', 'pfs_test_bytes' ],
		[ 'random_steps(n int, groups int[], largest int)', 'void', 'pfs_test_random' ],
		[ 'truth(g int)', 'bigint[]', 'pfs_test_truth' ],
		[ 'contexts()', 'text', 'pfs_test_contexts' ],
		[ 'contexts_at_start()', 'text', 'pfs_test_contexts_at_start' ],
		[ 'held()', 'bigint', 'pfs_test_held' ],
	],
	pfs_test_methods => [
		[ 'many(contexts int, chunks int)', 'void', 'pfs_test_many' ],
		[ 'swap(name text, how text)', 'void', 'pfs_test_swap' ],
		[ 'unswap()', 'void', 'pfs_test_unswap' ],
		[ 'swapped()', 'bigint', 'pfs_test_swapped' ],
	],
);

# One statement, which makes all functions of a module.
sub test_functions
{
	my ($name) = @_;
	my $path = test_module($name);

	return 'DO $do$ BEGIN ' . join(' ', map {
		my ($head, $result, $symbol, $nulls) = @$_;
		"CREATE FUNCTION $head RETURNS $result AS '$path', '$symbol' LANGUAGE C" . ($nulls ? '' : ' STRICT') . ';'
	} @{ $functions{$name} }) . ' END $do$;';
}

1;
