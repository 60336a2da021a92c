# Not preloaded, switched off, wrongly set: the server starts, and says so.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/lib";
use PfsServer;
use Test::More;

my $server = PfsServer->new('main', preload => '');
my $tables = q{SELECT relname FROM pg_class WHERE relnamespace = 'pfs'::regnamespace AND relkind = 'f' ORDER BY 1};
my @functions = (
	'pfs.timer_now()', 'pfs.thread_id()', 'pfs.setup_sql()', q{pfs.reset('events_waits_history')},
	q{pfs.set_instruments('%', 'YES')}, q{pfs.reset_time('status')}, q{pfs.set_actor('%', '%')}, q{pfs.drop_actor('%', '%')},
	q{pfs.set_object('TABLE', '%', '%', '%')}, q{pfs.drop_object('TABLE', '%', '%', '%')}, 'pfs.timer_to_timestamp(0)', 'pfs.format_time(1234)');

# ---- not in shared_preload_libraries ----

$server->start;
$server->sql('CREATE EXTENSION pfs');
my @tables = split /\n/, $server->sql($tables);
cmp_ok(scalar(@tables), '>=', 14, 'CREATE EXTENSION works without preloading');
my $hint = qr/HINT: .*shared_preload_libraries = 'pfs'/;

foreach my $table (@tables)
{
	$server->fails("SELECT * FROM pfs.$table", '55000', $hint, "not preloaded: $table says what to add");
}
$server->fails("SELECT $_", '55000', $hint, "not preloaded: $_") foreach @functions;
$server->fails("UPDATE pfs.setup_instruments SET enabled = 'NO'", '55000', $hint, 'not preloaded: UPDATE');
$server->fails('TRUNCATE pfs.events_waits_history', '55000', $hint, 'not preloaded: TRUNCATE');
is(($server->psql('EXPLAIN SELECT * FROM pfs.threads'))[0] < 4 && $server->sql('SELECT 1'), 1, 'the session lives on');
# The hint's other libraries stay.
$server->conf("shared_preload_libraries = 'pg_stat_statements'");
$server->restart;
$server->fails('SELECT * FROM pfs.threads', '55000', qr/HINT: .*shared_preload_libraries = 'pg_stat_statements, ?pfs'|$hint/,
	'preloaded without it: the hint again');

# ---- pfs.enabled = off ----

$server->conf("shared_preload_libraries = 'pfs'\npfs.enabled = off");
$server->restart;
foreach my $table (grep { !/^(probes|table_definitions)$/ } @tables)
{
	is($server->sql("SELECT count(*) FROM pfs.$table"), 0, "off: $table is empty");
}
# All columns, as what nobody asks for is not computed.  Those that are left out are not about what pfs records.
foreach my $view (split /\n/, $server->sql(q{SELECT oid::regclass FROM pg_class WHERE relkind = 'v'
	AND (relnamespace = 'pfs_sys'::regnamespace AND relname !~ '^(x\$)?(version|schema_object_overview|schema_redundant_indexes)$'
		OR relnamespace = 'pfs'::regnamespace AND relname <> 'tables') ORDER BY 1}))
{
	is($server->sql("SELECT count(v::text) FROM $view v"), 0, "off: $view is empty");
}
is($server->sql('SELECT pfs.index_usage_unknown()'), 'pfs.enabled is off; switch it on and restart the server', 'off: it is not known which indexes nobody used');
is($server->sql(q{SELECT count(*) FROM pfs.probes WHERE status <> 'off'}), 0, 'off: no probe is in place');
$server->fails("SELECT $_", '55000', qr/pfs\.enabled/, "off: $_") foreach @functions;
is($server->sql(q{WITH u AS (UPDATE pfs.setup_instruments SET enabled = 'NO' RETURNING 1) SELECT count(*) FROM u}), 0,
	'off: UPDATE finds no row');
$server->fails('INSERT INTO pfs.setup_actors DEFAULT VALUES', '55000', qr/pfs\.enabled/, 'off: INSERT');
is($server->sql('WITH d AS (DELETE FROM pfs.setup_actors RETURNING 1) SELECT count(*) FROM d'), 0, 'off: DELETE finds no row');
is($server->sql(q{SELECT count(*) FROM pg_shmem_allocations WHERE name = 'pfs'}), 0, 'off: no shared memory');
like($server->pgbench("SELECT count(*) FROM pg_class;\n", '-c', 2, '-t', 50), qr{actually processed: 100/100}, 'off: the server works');

# ---- bad settings at the start ----

$server->conf('pfs.enabled = on');
$server->restart;
is($server->sql(q{SELECT variable_value FROM pfs.status WHERE variable_name = 'pfs_settings_refused'}), 0, 'good settings: none is refused');

my $conf = "$server->{data}/postgresql.conf";

File::Copy::copy($conf, "$conf.good");
foreach my $case (
	[ 'pfs.instruments', "'wait/%'", '' ],
	[ 'pfs.instruments', "'wait/io/file/%=SOMETIMES'", '' ],
	[ 'pfs.consumers', "'events_nothing_history=OFF'", '' ],
	[ 'pfs.consumers', "'events_waits_current=COUNTED'", '' ],
	[ 'pfs.events_waits_history_size', 1025, -1 ],
	[ 'pfs.events_waits_history_long_size', 1000001, -1 ],
	[ 'pfs.max_thread_instances', -2, -1 ],
	[ 'pfs.max_instruments', 1, -1 ],
	[ 'pfs.max_file_instances', "'many'", -1 ],
	[ 'pfs.max_socket_instances', 1048577, -1 ],
	[ 'pfs.max_prepared_statements_instances', -2, -1 ],
	[ 'pfs.accounts_size', 65537, -1 ],
	[ 'pfs.setup_actors_size', 16385, -1 ],
	[ 'pfs.setup_objects_size', 16385, -1 ],
	[ 'pfs.enabled', "'perhaps'", 'on' ])
{
	my ($name, $value, $default) = @$case;

	$server->stop;
	File::Copy::copy("$conf.good", $conf);
	$server->conf("$name = $value");
	$server->mark_log;
	ok($server->start(fail_ok => 1), "$name = $value: the server starts") or next;
	like($server->log_text, qr/WARNING:  .*"?\Q$name\E/, 'with a warning');
	is($server->sql("SHOW $name"), $default, 'and takes the default');
	is($server->sql(q{SELECT variable_value FROM pfs.status WHERE variable_name = 'pfs_settings_refused'}), 1, 'which status tells');
	is($server->sql('SELECT count(*) > 0 FROM pfs.events_waits_history_long'), 't', 'and pfs works');
}

# A bad entry of a list takes no other with it.
sub refused
{
	return $server->sql(q{SELECT variable_value FROM pfs.status WHERE variable_name = 'pfs_settings_refused'});
}

$server->stop;
File::Copy::copy("$conf.good", $conf);
$server->conf(<<'EOT');
pfs.instruments = 'idle, wait/io/file/%=COUNTED, wait/lock/%=SOMETIMES, =ON, wait/io/socket/%=OFF, wait/io/'
pfs.consumers = 'events_waits_history_long=OFF, events_nothing%=OFF, events_stages_history=COUNTED'
pfs.events_waits_history_size = 1025
EOT
$server->mark_log;
ok($server->start(fail_ok => 1), 'bad entries among good ones: the server starts');
is($server->sql('SHOW pfs.instruments'), 'wait/io/file/%=COUNTED, wait/io/socket/%=OFF', 'the bad ones are left out');
is($server->sql('SHOW pfs.consumers'), 'events_waits_history_long=OFF', 'those of consumers, too');
is($server->sql(q{SELECT DISTINCT split_part(name, '/', 3), enabled, timed FROM pfs.setup_instruments WHERE name ~ '^wait/io/(file|socket)/' ORDER BY 1}),
	"file|YES|NO\nsocket|NO|NO", 'the good ones hold');
is($server->sql(q{SELECT DISTINCT enabled, timed FROM pfs.setup_instruments WHERE name ~ '^(wait/lock/|idle$)'}), 'YES|YES', 'and nothing came of the bad ones');
is($server->sql(q{SELECT string_agg(name, ' ') FROM pfs.setup_consumers WHERE enabled = 'NO'}), 'events_waits_history_long events_statements_cpu', 'nor among consumers');
my $log = $server->log_text;

like($log, qr/WARNING: .*"pfs\.$_->[0]" is left out\n.*$_->[1]/, "a warning names it: $_->[1]")
  foreach [ 'instruments', 'Entry "idle" has no value' ], [ 'instruments', 'Value "SOMETIMES" of "wait/lock/%"' ], [ 'instruments', 'Entry "=ON"' ],
  [ 'instruments', 'Entry "wait/io/" has no value' ], [ 'consumers', 'No consumer matches "events_nothing%"' ], [ 'consumers', 'Value "COUNTED" of "events_stages_history"' ];
is(scalar(() = $log =~ /WARNING: /g), 7, 'each of them once');
is(refused(), 7, 'status counts entries and settings');
$server->mark_log;
$server->sql('SELECT pg_reload_conf()');
$server->wait_log(qr/received SIGHUP/);
$server->sql("ALTER SYSTEM SET log_checkpoints = off");
$server->sql('SELECT pg_reload_conf()');
$server->wait_log(qr/parameter "log_checkpoints" changed|received SIGHUP.*received SIGHUP/s);
unlike($server->log_text, qr/pfs\.(instruments|consumers)/, 'a reload finds nothing new');
is($server->sql(q{SELECT count(*) FROM pg_settings WHERE name IN ('pfs.instruments', 'pfs.consumers') AND pending_restart}), 0, 'and waits for no restart');
$server->fails("ALTER SYSTEM SET pfs.instruments = 'wait/%=ON, idle'", '22023', qr/DETAIL: .*"idle"/, 'ALTER SYSTEM refuses the whole of one');
$server->sql('ALTER SYSTEM RESET ALL');

# PostgreSQL itself takes a name that nobody defines away.
$server->stop;
File::Copy::copy("$conf.good", $conf);
$server->conf("pfs.evnts_waits_history_size = 5");
$server->mark_log;
ok($server->start(fail_ok => 1), 'an unknown name: the server starts');
like($server->log_text, qr/WARNING:  invalid configuration parameter name "pfs.evnts_waits_history_size"/, 'with a warning');
$server->stop;
File::Copy::copy("$conf.good", $conf);

# On the command line PostgreSQL treats it the same way.
$server->mark_log;
ok($server->start(args => '-c pfs.events_waits_history_size=100000', fail_ok => 1), 'a bad value on the command line: the server starts');
is($server->sql(q{SELECT variable_value FROM pfs.status WHERE variable_name = 'pfs_settings_refused'}), 1, 'which status tells');
$server->restart;

# ---- bad settings at run time ----

$server->fails("ALTER SYSTEM SET pfs.instruments = 'wait/%'", '22023', qr/DETAIL: .*HINT: .*pattern=value/s,
	'ALTER SYSTEM refuses a bad list, with reason and form');
$server->fails("ALTER SYSTEM SET pfs.consumers = 'no_such_consumer=ON'", '22023', qr/DETAIL: .*no_such_consumer/, 'also an unknown consumer');
$server->fails('ALTER SYSTEM SET pfs.events_waits_history_size = 1025', '22023', qr/1025 is outside the valid range/, 'and a size out of range');
$server->fails('ALTER SYSTEM SET pfs.max_instruments = 3', '22023', qr/DETAIL: .*HINT: .*pfs\.enabled/s, 'and too few instruments');
like(($server->psql("\\set VERBOSITY verbose\nALTER SYSTEM SET pfs.no_such_setting = 1"))[2], qr/ERROR:  42(602|704): .*pfs\.no_such_setting/,
	'and an unknown name');
$server->fails('SET pfs.enabled = off', '55P02', qr/pfs\.enabled/, 'SET: only at a restart');
is(($server->psql(q{ALTER SYSTEM SET pfs.instruments = 'memory/%=ON, wait/io/file/%=COUNTED, idle%=OFF'}))[0], 0, 'a good list is taken');
my $refused = $server->sql(q{SELECT count(*) FROM pg_settings WHERE name LIKE 'pfs.%' AND context <> 'postmaster' AND name NOT IN ('pfs.load_history_interval', 'pfs.max_digest_sample_age', 'pfs.save_interval', 'pfs.plan_nodes', 'pfs.plan_nodes_budget', 'pfs.plan_nodes_cost')});
is($refused, 0, 'every other setting needs a restart');
$server->mark_log;
$server->sql('SELECT pg_reload_conf()');
$server->wait_log(qr/parameter "pfs\.instruments" cannot be changed without restarting/);
is($server->sql(q{SELECT enabled FROM pfs.setup_instruments WHERE name = 'idle'}), 'YES', 'a reload changes nothing');
$server->restart;
is($server->sql(q{SELECT name, enabled, timed FROM pfs.setup_instruments WHERE name IN ('idle', 'wait/io/file/DataFileRead', 'wait/io/file/FileStat', 'wait/lock/relation') ORDER BY 1}),
	"idle|NO|NO\nwait/io/file/DataFileRead|YES|NO\nwait/io/file/FileStat|YES|NO\nwait/lock/relation|YES|YES", 'a restart does');
like($server->sql('SELECT pfs.setup_sql()'), qr/^ALTER SYSTEM SET pfs\.instruments = /m, 'setup_sql gives the lines');

# ---- what setup_sql says makes the same set-up after the next restart ----

# What is off is neither timed nor untimed: the setting has one word for both.
# Of memory contexts some that every server lists from the start: others appear
# when they are first used.
sub switches
{
	return $server->sql(<<'EOT')
SELECT name, enabled, CASE enabled WHEN 'YES' THEN timed END FROM pfs.setup_instruments
 WHERE name NOT LIKE 'memory/context/%' OR substr(name, 16) IN ('TopMemoryContext', 'ExecutorState', 'index info', 'CachedPlan', 'Vacuum')
 ORDER BY 1
EOT
	  . "\n" . $server->sql('SELECT name, enabled FROM pfs.setup_consumers ORDER BY 1');
}

# pfs.instruments at the start; what is changed then; how many entries are enough; and one
# that has to be among them.
foreach my $case (
	[ '', '', 0 ],
	[ '', q{SELECT pfs.set_instruments('wait/%', NULL, 'no')}, 2, 'wait/%=COUNTED' ],
	[ '', q{SELECT pfs.set_instruments('wait/io/file/%', 'NO'); SELECT pfs.set_instruments('wait/%', 'YES')}, 1, 'wait/io/table/handler=ON' ],
	[ '', q{SELECT pfs.set_instruments('wait/io/file/%', 'NO'); SELECT pfs.set_instruments('wait/%', NULL, 'NO')}, 3, 'wait/io/file/%=OFF' ],
	[ 'idle%=OFF, wait/extension/later%=COUNTED', q{SELECT pfs.set_instruments('%i%d%l%e%', 'NO');
		UPDATE pfs.setup_instruments SET enabled = 'YES', timed = 'YES' WHERE name = 'idle'}, 50, 'wait/extension/later%=COUNTED' ],
	[ 'wait/io/file/%=COUNTED', q{SELECT pfs.set_instruments('%%%%idle?transaction%%', 'NO');
		SELECT pfs.set_instruments('wait/extension/a, b=c', 'NO'), pfs.set_instruments('', 'NO'), pfs.set_instruments('it''s' || chr(10), NULL, 'NO')}, 5 ],
	[ 'wait/lock/%=OFF, wait/lock/tuple=ON', q{UPDATE pfs.setup_instruments SET enabled = 'NO';
		UPDATE pfs.setup_instruments SET enabled = 'YES', timed = 'NO' WHERE name ILIKE ANY ('{idle, wait/lock/tuple, wait/io/file/WALSync}')}, 5, 'idle=COUNTED' ],
	[ 'wait/lock/%=COUNTED', q{UPDATE pfs.setup_instruments SET timed = 'NO' WHERE name LIKE 'wait/io/file/%';
		UPDATE pfs.setup_instruments SET enabled = 'NO' WHERE name = 'wait/io/file/DataFileRead';
		UPDATE pfs.setup_instruments SET timed = 'YES' WHERE name ILIKE ANY ('{wait/io/file/WALSync, wait/lock/tuple}')}, 5, 'wait/io/file/%=COUNTED' ],
	[ '%=OFF', q{SELECT pfs.set_instruments('wait/io/%', 'Yes'); SELECT pfs.set_instruments('%file%', NULL, 'Yes'); SELECT pfs.set_instruments('%Sync', 'NO', 'NO');
		SELECT pfs.set_consumers('%', 'NO'); SELECT pfs.set_consumers('events_waits_history', 'YES')}, 50, '%=OFF' ],
	[ 'idle=OFF', q{UPDATE pfs.setup_instruments SET enabled = CASE length(name) % 3 WHEN 0 THEN 'NO' ELSE 'YES' END, timed = CASE length(name) % 2 WHEN 0 THEN 'NO' ELSE 'YES' END;
		UPDATE pfs.setup_consumers SET enabled = 'NO' WHERE name = 'thread_instrumentation'}, 450 ])
{
	my ($list, $change, $entries, $entry) = @$case;

	$server->sql('ALTER SYSTEM RESET ALL');
	$server->sql("ALTER SYSTEM SET pfs.instruments = '$list'");
	$server->restart;
	$server->sql($change) if $change ne '';

	my $was = switches();
	my $lines = $server->sql('SELECT pfs.setup_sql()');

	$server->sql($lines);
	$server->restart;
	my $is = switches();

	is($is, $was, "setup_sql after '$list' and $change") or diag($lines);
	my $text = $server->sql('SHOW pfs.instruments');

	cmp_ok(scalar(my @all = split(/, /, $text)), '<=', $entries, "in $entries entries");
	like(", $text, ", qr/, \Q$entry\E, /, "with $entry") if defined $entry;
	is($server->sql(q{SELECT variable_value FROM pfs.status WHERE variable_name = 'pfs_settings_refused'}), 0, 'its lines are accepted');
}
$server->sql('ALTER SYSTEM RESET ALL');

# ---- what it reserves can be asked for before the first start ----

$server->stop;
my $with = PfsServer::run_ok(PfsServer::bindir() . '/postgres', '-D', $server->{data}, '-C', 'shared_memory_size');
my $without = PfsServer::run_ok(PfsServer::bindir() . '/postgres', '-D', $server->{data}, '-C', 'shared_memory_size',
	'-c', 'shared_preload_libraries=');
my $off = PfsServer::run_ok(PfsServer::bindir() . '/postgres', '-D', $server->{data}, '-C', 'shared_memory_size', '-c', 'pfs.enabled=off');
s/.*?(\d+)\s*$/$1/s foreach $with, $without, $off;
cmp_ok($with, '>', $without, "shared_memory_size: $with MB with pfs, $without MB without");
is($off, $without, 'and as much as without when it is off');

done_testing();
