# A streaming standby: it counts for itself, can be read and switched by
# functions, and goes on when it is promoted.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/lib";
use PfsServer;
use Test::More;

my $primary = PfsServer->new('primary', conf => <<'EOT');
autovacuum = off
hot_standby = on
wal_receiver_status_interval = 1s
EOT
$primary->start;
$primary->sql('CREATE EXTENSION pfs');
$primary->sql('CREATE TABLE t (n int); INSERT INTO t SELECT generate_series(1, 1000)');

my $backup = PfsServer::folder() . '/backup';
PfsServer::run_ok(PfsServer::bindir() . '/pg_basebackup', '-d', $primary->connstr, '-D', $backup, '-R', '-c', 'fast', '--no-sync');
my $standby = PfsServer->new('standby', from => $backup);
$standby->start;

# Written on one, seen on the other.
$primary->sql('INSERT INTO t VALUES (0)');
ok($standby->poll('SELECT count(*) FROM t', 1001), 'the standby follows');
is($standby->sql('SELECT pg_is_in_recovery()'), 't', 'and is one');

# ---- on the primary ----

# Those of pg_basebackup may just be ending.
ok($primary->poll(q{SELECT name, type, processlist_command, thread_os_id = processlist_id FROM pfs.threads WHERE name = 'thread/walsender'},
		'thread/walsender|FOREGROUND|Replication|t'), 'the primary shows its walsender');
ok($primary->poll(q{SELECT count(*) > 0 FROM pfs.events_waits_current JOIN pfs.threads USING (thread_id)
	WHERE name = 'thread/walsender' AND event_name = 'wait/activity/WalSenderMain'}), 'which waits for work');

# ---- reading the standby ----

foreach my $name (qw(startup walreceiver checkpointer background_writer))
{
	ok($standby->poll("SELECT count(*) FROM pfs.threads WHERE name = 'thread/$name' AND type = 'BACKGROUND'", 1), "the standby shows its $name");
}
my @tables = split /\n/, $standby->sql(q{SELECT relname FROM pg_class WHERE relnamespace = 'pfs'::regnamespace AND relkind IN ('f', 'v')});
foreach my $table (@tables)
{
	is(($standby->psql("SELECT * FROM pfs.$table"))[0], 0, "$table can be read");
}
# What was recovered before can have left the long history while all the tables were read.
$primary->sql('INSERT INTO t SELECT generate_series(1, 20000)');
ok($standby->poll(q{SELECT count(*) > 0 FROM pfs.events_waits_history_long JOIN pfs.threads USING (thread_id)
	WHERE name = 'thread/startup' AND event_name LIKE 'wait/io/file/%'}), 'recovery has file events');
ok($standby->poll(q{SELECT count(*) > 0 FROM pfs.events_waits_history_long JOIN pfs.threads USING (thread_id)
	WHERE name = 'thread/walreceiver' AND event_name ~* '^wait/io/file/WAL(Other)?Write$'}), 'so has the receiver of WAL');
is($standby->sql('SELECT pfs.timer_now() > 0, pfs.thread_id() > 0, pfs.setup_sql() IS NOT NULL'), 't|t|t', 'functions work');

# ---- writing: statements cannot, functions can ----

my $read_only = qr/in a read-only transaction/;

$standby->fails("UPDATE pfs.setup_instruments SET enabled = 'NO' WHERE name = 'idle'", '25006', $read_only, 'UPDATE: refused');
$standby->fails("UPDATE pfs.threads SET history = 'NO'", '25006', $read_only, 'also of threads');
$standby->fails('TRUNCATE pfs.events_waits_history_long', '25006', $read_only, 'TRUNCATE: refused');
is($standby->sql(q{SELECT enabled FROM pfs.setup_instruments WHERE name = 'idle'}), 'YES', 'and nothing has changed');
is($standby->sql(q{SELECT pfs.set_instruments('wait/io/file/File%', 'NO') > 5}), 't', 'set_instruments works');
is($standby->sql(q{SELECT count(*) FROM pfs.setup_instruments WHERE name LIKE 'wait/io/file/File%' AND enabled = 'YES'}), 0, 'and does it');
is($primary->sql(q{SELECT count(*) FROM pfs.setup_instruments WHERE enabled <> 'YES' AND name NOT LIKE ALL (ARRAY['memory/%', 'stage/sql/%', 'wait/io/table/%'])}), 0, 'for the standby only');
is($standby->sql(q{SELECT pfs.set_instruments('wait/io/file/File%', 'YES') > 5}), 't', 'back');
is($standby->sql(q{SELECT pfs.set_consumers('events_waits_history', 'NO')}), 1, 'set_consumers');
is($standby->sql(q{SELECT pfs.set_consumers('events_waits_history', 'YES')}), 1, 'and back');
is($standby->sql(q{SELECT pfs.set_timer('wait', 'NANOSECOND')}), 1, 'set_timer');
is($standby->sql(q{SELECT pfs.set_thread(pfs.thread_id(), NULL, 'NO')}), 1, 'set_thread');
is($standby->sql(q{SELECT pfs.set_thread(pfs.thread_id(), NULL, 'YES')}), 1, 'and back');
is($standby->sql(q{SELECT pfs.set_threads('thread/walwriter', 'NO')}), 1, 'set_threads');
is($standby->sql(q{SELECT pfs.reset('events_waits_history') > 0}), 't', 'reset');
is($standby->sql(q{SELECT pfs.reset('pfs.status') IS NOT NULL}), 't', 'also of status');

# ---- what is dropped on the primary ----

my $records = "SELECT string_agg(records_used::text, ' ' ORDER BY name) FROM pfs.containers WHERE name IN ('table_instances', 'index_stat', 'events_statements_by_program')";
my $shown = "SELECT count(*) FROM pfs.objects_summary_global_by_type";

is($standby->sql(q{SELECT pfs.set_instruments('wait/io/table/handler', 'YES')}), 1, 'rows of tables are counted');
$primary->sql('CREATE DATABASE other');
$primary->psql('CREATE TABLE o AS SELECT 1 AS i', db => 'other');
$primary->sql(q{CREATE TABLE short (i int PRIMARY KEY); INSERT INTO short VALUES (1);
	CREATE FUNCTION short() RETURNS int LANGUAGE plpgsql AS 'BEGIN RETURN 1; END'});
ok($standby->poll(q{SELECT count(*) FROM pg_proc WHERE proname = 'short'}, 1), 'the standby has new objects');
my $had = $standby->sql($records);
my $had_shown = $standby->sql($shown);
$standby->sql('SET enable_seqscan = off; SELECT * FROM short WHERE i = 1; SELECT short()');
$standby->psql('SELECT * FROM o', db => 'other');
is($standby->sql($shown), $had_shown + 3, 'they have rows');
my $used = $standby->sql($records);
isnt($used, $had, 'and records');
$primary->sql('DROP TABLE short; DROP FUNCTION short()');
$primary->sql('DROP DATABASE other');
ok($standby->poll(q{SELECT count(*) FROM pg_database WHERE datname = 'other'}, 0), 'the standby has them no more');
is($standby->sql($records), $used, 'as it replays no command');
is($standby->sql($shown), $had_shown, 'but shows their rows no more');
is($standby->sql('SELECT count(*) FROM pfs.table_io_waits_summary_by_index_usage WHERE index_name LIKE \'short%\''), 0, 'nor that of an index');
is($standby->sql($shown), $had_shown, 'each reading gives back the places of the one before');
is($standby->sql($records), $had, 'so there is room again');

# The same in a read-only transaction of the primary.
$primary->fails("BEGIN READ ONLY; UPDATE pfs.setup_consumers SET enabled = 'NO'", '25006', $read_only, 'UPDATE in a read-only transaction');
is($primary->sql(q{BEGIN READ ONLY; SELECT pfs.set_consumers('events_waits_history', 'YES'); COMMIT}), 1, 'set_consumers in one');

# ---- promotion ----

my $started = $standby->sql(q{SELECT variable_value FROM pfs.status WHERE variable_name = 'pfs_start_time'});
my $s = $standby->session;
my $id = $s->thread_id;
$s->query(q{SELECT count(pg_stat_file('PG_VERSION')) FROM generate_series(1, 100)});
my $mine = "SELECT count(*) FROM pfs.events_waits_history_long WHERE thread_id = $id AND event_name = 'wait/io/file/FileStat'";
is($standby->sql($mine), 100, '100 events before the promotion');
my $startup = $standby->sql(q{SELECT thread_id FROM pfs.threads WHERE name = 'thread/startup'});
$standby->promote;
is($standby->sql('SELECT pg_is_in_recovery()'), 'f', 'promoted');
is($standby->sql(q{SELECT variable_value FROM pfs.status WHERE variable_name = 'pfs_start_time'}), $started, 'counting since the same moment');
is($standby->sql($mine), 100, 'the 100 events are there');
$s->query(q{SELECT count(pg_stat_file('PG_VERSION')) FROM generate_series(1, 10)});
is($standby->sql($mine), 110, 'the same session goes on');
is($s->query('SELECT pfs.thread_id()'), $id, 'as the same thread');
is($standby->sql(q{SELECT timer_name FROM pfs.setup_timers WHERE name = 'wait'}), 'NANOSECOND', 'the run-time set-up stays');
ok($standby->poll("SELECT count(*) FROM pfs.threads WHERE thread_id = $startup", 0), 'the startup process is gone');
cmp_ok($standby->sql("SELECT count(*) FROM pfs.events_waits_history_long WHERE thread_id = $startup"), '>', 0, 'what it did last is not');
is(($standby->psql("UPDATE pfs.setup_instruments SET enabled = 'NO' WHERE name LIKE 'wait/io/file/File%'"))[0], 0, 'UPDATE works now');
is($standby->sql(q{SELECT count(*) FROM pfs.setup_instruments WHERE name LIKE 'wait/io/file/File%' AND enabled = 'YES'}), 0, 'and does it');
is(($standby->psql('TRUNCATE pfs.events_waits_history_long'))[0], 0, 'TRUNCATE works');
cmp_ok($standby->sql($mine), '<', 110, 'and does it');

done_testing();
