# Together with other plugins of PL/pgSQL: preloaded before pfs, behind it, in front of it, and
# loaded by a session, which may leave pfs out.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/lib";
use PfsServer;
use Test::More;

my $module = test_module('pfs_test_plugin');
my $server = PfsServer->new('main', conf => "autovacuum = off");
my $ready = 0;

sub counted
{
	my $rows = $server->sql(q{SELECT coalesce(string_agg(object_name || ' ' || count_star || ' ' || count_statements, ', ' ORDER BY object_name COLLATE "C"), '')
		FROM pfs.events_statements_summary_by_program});

	$server->sql('TRUNCATE pfs.events_statements_summary_by_program');
	return $rows;
}

sub make
{
	return if $ready++;
	$server->sql('CREATE EXTENSION pfs');
	$server->sql(test_functions('pfs_test_plugin'));
	$server->sql("CREATE FUNCTION inner_f() RETURNS int LANGUAGE plpgsql AS 'DECLARE x int = 1; BEGIN PERFORM 1 FROM pg_class LIMIT 1; RETURN x; END'");
	$server->sql("CREATE FUNCTION outer_f(x int) RETURNS int LANGUAGE plpgsql AS 'BEGIN PERFORM inner_f(); RETURN 1 / x; END'");
}

my $row = q{SELECT status, coalesce(detail, '') FROM pfs.probes WHERE probe_name = 'hook/PLpgSQL_plugin'};

# What the other one sees of outer_f(1): two functions, of two statements and a block each.
my $seen = '2 2 2 2 12';

foreach my $case (
	[ "$module, pfs", 'chain', 'in front of pfs_test_plugin' ],
	[ "pfs, $module", 'chain', 'in front of pfs_test_plugin' ],
	[ "pfs, $module", 'overwrite', 'in front of pfs_test_plugin' ],
	[ "pfs, $module", 'late', 'pfs_test_plugin is in front of it' ],
	[ "plpgsql, pfs, $module", 'late', 'pfs_test_plugin is in front of it' ],
	[ "plpgsql, pfs", 'none', '' ],)
{
	my ($order, $mode, $detail) = @$case;
	my $name = "$mode, " . join(' ', map { s{.*/}{}r } split /, /, $order);

	$server->conf("shared_preload_libraries = '$order'");
	$server->start(env => { PFS_TEST_PLUGIN => $mode });
	make();
	my $s = $server->session;
	$s->query('SELECT plugin_calls()');
	is($s->query('SELECT outer_f(1)'), 1, "$name: functions work");
	is($s->query('SELECT plugin_calls()'), $seen, "$name: the other plugin sees all, and has the functions of PL/pgSQL") if $mode ne 'none';
	is(counted(), 'inner_f 1 1, outer_f 1 1', "$name: so does pfs");
	$s->send('SELECT outer_f(0)')->result;
	like($s->last_error, qr/22012/, "$name: an error");
	is($s->query('SELECT plugin_calls()'), $mode eq 'none' ? '0 0 0 0 0' : '2 2 2 1 10', "$name: of which the other one sees no end") if $mode ne 'none';
	is(counted(), 'inner_f 1 1, outer_f 1 1', "$name: pfs does");
	is($s->query($row), "active|$detail", "$name: probes");
	$s->close;
	$server->stop;
}

# ---- loaded by a session ----

$server->conf("shared_preload_libraries = 'pfs'");
$server->start;
is($server->sql($row), 'off|no call was seen so far', 'before the first call');
foreach my $used ('fresh', 'with PL/pgSQL in it')
{
	foreach my $mode ('chain', 'overwrite')
	{
		my $s = $server->session;

		$s->query('SELECT inner_f()') if $used ne 'fresh';
		counted();
		$s->query("SET pfs_test_plugin.mode = '$mode'");
		$s->query("LOAD '$module'");
		is($s->query($row), 'unavailable|pfs_test_plugin is in front of it and has not called it so far', "$mode, $used: whether it calls on nobody knows");
		is($s->query('SELECT outer_f(1)'), 1, "$mode, $used: functions work");
		is($s->query('SELECT plugin_calls()'), $seen, "$mode, $used: it sees them");
		is(counted(), $mode eq 'chain' ? 'inner_f 1 1, outer_f 1 1' : '', "$mode, $used: what pfs sees");
		is($s->query($row), $mode eq 'chain' ? 'active|pfs_test_plugin is in front of it' : 'unavailable|pfs_test_plugin is in front of it and has not called it so far',
			"$mode, $used: what it says");
		$s->close;
		is($server->sql('SELECT outer_f(1)'), 1, "$mode, $used: other sessions do not know it");
		is(counted(), 'inner_f 1 1, outer_f 1 1', "$mode, $used: and are counted");
	}
}

# Loaded inside of a function: the call that is open ends.
my $s = $server->session;

$s->query("CREATE FUNCTION loads_f() RETURNS int LANGUAGE plpgsql AS 'BEGIN PERFORM set_config(''pfs_test_plugin.mode'', ''overwrite'', false); LOAD ''$module''; PERFORM inner_f(); RETURN 1; END'");
counted();
is($s->query('SELECT loads_f()'), 1, 'a function can load it');
ok($server->poll(q{SELECT count_star FROM pfs.events_statements_summary_by_program WHERE object_name = 'loads_f'}, 1), 'its own call is over when the session is idle');
unlike($server->log_text, qr/PANIC|terminated by signal/, 'nothing crashed');

done_testing();
