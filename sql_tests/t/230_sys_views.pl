# Views of pfs_sys on a load whose answers are known: the slowest statement, who blocks whom, indexes that nobody uses
# or that are there twice, files by bytes. And all of them with everything off, on a server that has done nothing, for
# one who may only read, at odd names and bytes, and on a standby.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/lib";
use PfsServer;
use Test::More;

my $server = PfsServer->new('main', conf => <<'EOT');
autovacuum = off
hot_standby = on
max_connections = 30
pfs.digests_size = 5000
pfs.instruments = 'wait/io/table/handler=ON, memory/%=ON, stage/%=ON'
EOT
$server->start;
$server->sql('CREATE EXTENSION pfs; CREATE ROLE mon LOGIN IN ROLE pg_monitor; CREATE ROLE nobody LOGIN');

my @views = split /\n/, $server->sql(q{SELECT relname FROM pg_class WHERE relnamespace = 'pfs_sys'::regnamespace AND relkind = 'v' ORDER BY 1});
cmp_ok(scalar(@views), '>=', 98, 'there are ' . @views . ' views');

# What goes wrong when a role reads every column of every view.
sub errors_of
{
	my ($where, %options) = @_;
	my $sql = join '', map { "SELECT count(v::text) FROM pfs_sys.\"$_\" v;\n" } @views;
	my (undef, undef, $err) = $where->psql($sql, user => 'mon', %options);

	return join "\n", $err =~ /^.*(?:ERROR|WARNING).*$/mg;
}

is(errors_of($server), '', 'all can be read on a server that has done nothing');
my (undef, undef, $err) = $server->psql('TABLE pfs_sys.statement_analysis', user => 'nobody');
like($err, qr/permission denied for schema pfs_sys/, 'not by everybody');

# ---- indexes: before anything else has used one ----

$server->sql(<<'EOT');
CREATE SCHEMA "we""ird'\1";
CREATE TABLE "we""ird'\1"."t ""1" (id int PRIMARY KEY, a int, b int, c text);
INSERT INTO "we""ird'\1"."t ""1" SELECT n, n, n, repeat('x', 100) FROM generate_series(1, 5000) n;
CREATE INDEX "used ""i" ON "we""ird'\1"."t ""1" (a);
CREATE INDEX "un'used" ON "we""ird'\1"."t ""1" (b);
CREATE INDEX ab ON "we""ird'\1"."t ""1" (a, b);
CREATE INDEX expression1 ON "we""ird'\1"."t ""1" (lower(c));
CREATE INDEX expression2 ON "we""ird'\1"."t ""1" (  lower(c));
CREATE INDEX descending ON "we""ird'\1"."t ""1" (a DESC, b);
CREATE INDEX part ON "we""ird'\1"."t ""1" (a) WHERE b > 7;
VACUUM ANALYZE "we""ird'\1"."t ""1";
SET enable_seqscan = off; SET enable_bitmapscan = off;
EOT
my $unused = 'SELECT index_name FROM pfs_sys.schema_unused_indexes ORDER BY index_name COLLATE "C"';
my $search = q{SELECT count(c) FROM "we""ird'\1"."t ""1" WHERE a = 77 AND c <> 'none'};

$server->sql("SELECT pfs.reset('table_io_waits_summary_by_index_usage')");
$server->sql('DROP INDEX "we""ird\'\1".ab; DROP INDEX "we""ird\'\1".descending; DROP INDEX "we""ird\'\1".part');
$server->sql($search);
is($server->sql($unused), "expression1\nexpression2\nun'used", 'indexes that nobody used, without the one that was and the unique one');
is($server->sql(q{SELECT object_schema, object_name, index_size = pg_relation_size('"we""ird''\1"."un''used"'), since = pfs.reset_time('table_io_waits_summary_by_index_usage')
	FROM pfs_sys.x$schema_unused_indexes WHERE index_name = 'un''used'}), q{we"ird'\1|t "1|t|t}, 'with their table, size and time');

$server->sql("SELECT pfs.set_instruments('wait/io/table/%', 'NO')");
is($server->sql($unused), '', 'none while the instrument is off');
$server->sql("SELECT pfs.set_instruments('wait/io/table/%', 'YES')");
is($server->sql($unused), '', 'nor after that, as it was off since the last reset');
$server->sql("SELECT pfs.reset('table_io_waits_summary_by_table')");
is($server->sql($unused), "expression1\nexpression2\nun'used\nused \"i", 'but since another one');
$server->sql($search);
is($server->sql($unused), "expression1\nexpression2\nun'used", 'which the used one leaves again');
$server->sql("SELECT pfs.set_consumers('global_instrumentation', 'NO'); SELECT pfs.set_consumers('global_instrumentation', 'YES')");
is($server->sql($unused), '', 'none after the consumer above was off');
$server->sql("SELECT pfs.set_object('TABLE', current_database(), '%', 't \"1', 'NO'); SELECT pfs.reset('table_io_waits_summary_by_index_usage')");
is($server->sql($unused), '', 'none of a table whose rule says NO');
$server->sql("SELECT pfs.drop_object('TABLE', current_database(), '%', 't \"1')");
is($server->sql($unused), '', 'none after a change of rules');
$server->sql("SELECT pfs.reset('table_io_waits_summary_by_index_usage')");
isnt($server->sql($unused), '', 'until the next reset');

$server->sql(<<'EOT');
CREATE INDEX ab ON "we""ird'\1"."t ""1" (a, b);
CREATE INDEX descending ON "we""ird'\1"."t ""1" (a DESC, b);
CREATE INDEX part ON "we""ird'\1"."t ""1" (a) WHERE b > 7;
CREATE INDEX included ON "we""ird'\1"."t ""1" (b) INCLUDE (c);
CREATE UNIQUE INDEX uniq ON "we""ird'\1"."t ""1" (b);
CREATE INDEX hash ON "we""ird'\1"."t ""1" USING hash (a);
CREATE INDEX id2 ON "we""ird'\1"."t ""1" (id);
EOT
is($server->sql('SELECT redundant_index_name, dominant_index_name, redundant_index_columns, dominant_index_columns, redundant_index_non_unique, dominant_index_non_unique
	FROM pfs_sys.schema_redundant_indexes ORDER BY 1, 2'), <<'EOT' =~ s/\n$//r, 'indexes that another makes superfluous');
expression2|expression1|(expression)|(expression)|1|1
id2|t "1_pkey|id|id|1|0
un'used|included|b|b,c|1|1
un'used|uniq|b|b|1|0
used "i|ab|a|a,b|1|1
EOT
is($server->sql(q{SELECT sql_drop_index FROM pfs_sys.schema_redundant_indexes WHERE redundant_index_name = 'used "i'}),
	q{DROP INDEX "we""ird'\1"."used ""i";}, 'with a statement that drops it');
$server->sql($server->sql(q{SELECT string_agg(DISTINCT sql_drop_index, '') FROM pfs_sys.schema_redundant_indexes}));
is($server->sql('SELECT count(*) FROM pfs_sys.schema_redundant_indexes'), 0, 'and does');

# Of two unique indexes the one that demands more stays.
$server->sql(<<'EOT');
CREATE TABLE distinct_nulls (x int, y int);
CREATE UNIQUE INDEX x1 ON distinct_nulls (x);
CREATE UNIQUE INDEX x2 ON distinct_nulls (x) NULLS NOT DISTINCT;
CREATE UNIQUE INDEX y1 ON distinct_nulls (y);
ALTER TABLE distinct_nulls ADD CONSTRAINT y2 UNIQUE (y) DEFERRABLE;
EOT
is($server->sql('SELECT redundant_index_name, dominant_index_name FROM pfs_sys.schema_redundant_indexes ORDER BY 1'), 'x1|x2', 'a constraint is not lost');
$server->sql('DROP TABLE distinct_nulls');

$server->sql(<<'EOT');
CREATE TABLE un1 AS SELECT n FROM generate_series(1, 5000) n;
SELECT pfs.reset('table_io_waits_summary_by_table');
SET enable_seqscan = on;
SELECT count(*) FROM un1;
EOT
is($server->sql(<<'EOT'), 'un1|5000|t', 'tables with scans, and accesses by table');
SELECT object_name, rows_full_scanned, (SELECT rows_fetched = 5000 AND total_latency > 0 FROM pfs_sys.x$schema_table_statistics WHERE table_name = 'un1')
FROM pfs_sys.x$schema_tables_with_full_table_scans
EOT

# ---- files: their bytes are those of the tables below ----

$server->sql('CREATE TABLE on_disk AS SELECT n FROM generate_series(1, 100000) n; CHECKPOINT');
is($server->sql(<<'EOT'), 't|t|t|on_disk', 'a file by bytes');
SELECT v.total_written = s.written, v.total = s.read + s.written, v.total_written >= pg_relation_size('on_disk'), v.relation
FROM pfs_sys.x$io_global_by_file_by_bytes v JOIN (
	SELECT file_name, sum(sum_number_of_bytes_read) AS read, sum(sum_number_of_bytes_write) AS written FROM pfs.file_summary_by_instance GROUP BY 1
) s ON s.file_name = v.file
WHERE v.file = pg_relation_filepath('on_disk')
EOT
is($server->sql(<<'EOT'), '', 'the same numbers by latency as by bytes');
SELECT file FROM pfs_sys.x$io_global_by_file_by_bytes b FULL JOIN pfs_sys.x$io_global_by_file_by_latency l USING (file, relation)
WHERE relation = 'on_disk' AND (b.count_read, b.count_write) IS DISTINCT FROM (l.count_read, l.count_write)
EOT
is($server->sql(<<'EOT'), 't', 'the biggest comes first');
SELECT array_agg(total) = array_agg(total ORDER BY total DESC) FROM (SELECT total FROM pfs_sys.x$io_global_by_file_by_bytes) v
EOT
is($server->sql(<<'EOT'), 't', 'also where it is text');
SELECT (SELECT file FROM pfs_sys.io_global_by_wait_by_bytes w, LATERAL (SELECT event_name AS file) f LIMIT 1)
	= (SELECT event_name FROM pfs.file_summary_by_event_name ORDER BY sum_number_of_bytes_read + sum_number_of_bytes_write DESC LIMIT 1)
EOT

# ---- the slowest statement, and who blocks whom ----

my ($holder, $waiter) = ($server->session, $server->session(user => 'mon'));
$server->sql('CREATE TABLE seat (n int); GRANT ALL ON seat TO mon');
$server->sql("SELECT pfs.reset('events_statements_summary_by_digest')");
$holder->query('BEGIN; LOCK TABLE seat');
$waiter->send("INSERT INTO\n  seat\nVALUES (" . join(' + ', 1 .. 40) . ')');
ok($server->poll('SELECT count(*) FROM pfs_sys.lock_waits', 1), 'one waits');
$server->poll_idle($holder->thread_id) or die 'the holder is not idle';
my ($h, $w) = ($holder->pid, $waiter->pid);
is($server->sql(<<'EOT'), join('|', $w, 'mon', 'public.seat', 'RELATION', 'RowExclusiveLock', $h, 'postgres', 'AccessExclusiveLock', 't', "SELECT pg_cancel_backend($h);", "SELECT pg_terminate_backend($h);"), 'for whom');
SELECT waiting_pid, waiting_user, locked_table, locked_type, waiting_lock_mode, blocking_pid, blocking_user, blocking_lock_mode,
	wait_age > 0 AND waiting_query LIKE 'INSERT INTO%' AND blocking_query LIKE '%LOCK TABLE seat', sql_kill_blocking_query, sql_kill_blocking_connection
FROM pfs_sys.x$lock_waits
EOT
like($server->sql('SELECT waiting_query FROM pfs_sys.lock_waits'), qr/^INSERT INTO seat VALUES .* \.\.\. .*40\);$/, 'in one line');
is($server->sql('SELECT object_schema, object_name, waiting_pid, waiting_account, blocking_pid, blocking_lock_type FROM pfs_sys.schema_table_lock_waits'),
	"public|seat|$w|mon\@[local]|$h|AccessExclusiveLock", 'for which table');
is($server->sql("SELECT conn_id, last_wait, waiting, statement_latency > 0 FROM pfs_sys.x\$session WHERE current_statement LIKE 'INSERT INTO%'"),
	"$w|wait/lock/relation|YES|t", 'the session that waits');
is($server->sql("SELECT last_statement, command, trx_state, trx_autocommit FROM pfs_sys.session WHERE pid = $h"), 'LOCK TABLE seat|Sleep in transaction|ACTIVE|NO', 'and the one that holds the lock');
is($server->sql("SELECT count(*) FROM pfs_sys.x\$processlist WHERE conn_id IS NULL AND user_name = 'checkpointer' AND current_statement IS NULL AND statement_latency IS NULL"), 1, 'background processes are in the list of all');
# All other statements since the reset ran while this one waited, one after the other; it has to wait longer than those before it took.
ok($server->poll("SELECT statement_latency > (SELECT max(max_timer_wait) FROM pfs.events_statements_summary_by_digest) FROM pfs_sys.x\$session WHERE pid = $w", 't'),
	'it waits longer than any other statement took');
# What ends behind it may have taken longer, and is not counted.  The second statement ends the first.
my $both = join ', ', map { "pfs.set_thread($_, '%s')" } 'pfs.thread_id()', $holder->thread_id;
$server->sql('SELECT ' . ($both =~ s/%s/NO/gr) . '; SELECT 1');
$holder->query('COMMIT');
$waiter->result;
ok($server->poll("SELECT count(*) FROM pfs.events_statements_summary_by_digest WHERE digest_text LIKE 'INSERT INTO%' AND count_star = 1", 1), 'it has ended');
# In one statement: read one after the other, the first of them has run when the second reads, and may have taken longer.
like($server->sql(<<'EOT'), qr/^INSERT INTO seat VALUES[^|]*\|INSERT INTO seat VALUES[^|]*\|t$/, 'it is the slowest statement, by its average, too, with its numbers');
SELECT (SELECT query FROM pfs_sys.statement_analysis WHERE query IS NOT NULL LIMIT 1),
	(SELECT query FROM pfs_sys.statements_with_runtimes_in_95th_percentile WHERE query IS NOT NULL LIMIT 1),
	(SELECT lock_latency > 0 AND rows_affected = 1 AND db = 'postgres' AND user_name = 'mon' FROM pfs_sys.x$statement_analysis WHERE query IS NOT NULL LIMIT 1)
EOT
$server->sql('SELECT ' . ($both =~ s/%s/YES/gr));

$server->psql("SELECT $_/0") foreach 1 .. 3;
ok($server->poll("SELECT query, errors, error_pct FROM pfs_sys.statements_with_errors_or_warnings WHERE query LIKE 'SELECT \$1/\$2'", 'SELECT $1/$2|3|100.00'), 'statements with errors');
$server->sql("SET work_mem = '64kB'; SELECT count(*) IS NULL FROM (SELECT n FROM on_disk ORDER BY n DESC OFFSET 0) s; RESET work_mem");
is($server->sql(<<'EOT'), 't|t', 'statements that sort, on disk');
SELECT (SELECT temp_written > 0 FROM pfs_sys.x$statements_with_sorting WHERE query LIKE '%FROM (SELECT n FROM on_disk%'),
	(SELECT temp_written > 0 FROM pfs_sys.x$statements_with_temp_tables WHERE query LIKE '%FROM (SELECT n FROM on_disk%')
EOT
is($server->sql(<<'EOT'), 't', 'sums over classes leave out what contains other waits');
SELECT sum(total) = (SELECT sum(count_star) FROM pfs.events_waits_summary_global_by_event_name
	WHERE event_name LIKE 'wait/lock/%' AND sum_timer_wait > 0)
FROM pfs_sys.x$wait_classes_global_by_latency WHERE event_class = 'wait/lock'
EOT
is($server->sql("SELECT count(*) FROM pfs_sys.wait_classes_global_by_latency WHERE event_class = 'wait/io/table'"), 0, 'as accesses to tables');
is($server->sql("SELECT count(*) FROM pfs_sys.waits_global_by_latency WHERE events = 'wait/io/table/handler'"), 1, 'which the list of waits has');
is($server->sql(q{SELECT (SELECT thread_id FROM pfs_sys.memory_by_thread_by_current_bytes LIMIT 1) = (SELECT thread_id FROM pfs.memory_summary_by_thread_by_event_name
	GROUP BY 1 ORDER BY sum(current_number_of_bytes_used) DESC LIMIT 1)}), 't', 'who has the most memory');

# ---- a role without an account ----

# As where no account was free for it.
$server->sql('CREATE ROLE gone LOGIN');
$server->psql('SELECT 1', user => 'gone');
ok($server->poll("SELECT current_connections FROM pfs.users WHERE user_name = 'gone'", 0), 'a role has left');
$server->sql('TRUNCATE pfs.accounts');
is($server->sql("SELECT statements > 0, total_connections, unique_hosts FROM pfs_sys.user_summary WHERE user_name = 'gone'"), 't|1|0', 'it is among the users');

# ---- odd bytes ----

$server->sql("CREATE DATABASE bytes ENCODING 'SQL_ASCII' TEMPLATE template0 LC_COLLATE 'C' LC_CTYPE 'C'");
$server->psql("CREATE EXTENSION pfs; CREATE TABLE \"\xff\xfe\" (i int); CREATE INDEX \"\x80\" ON \"\xff\xfe\" (i); CREATE INDEX \"\x81\" ON \"\xff\xfe\" (i);
	INSERT INTO \"\xff\xfe\" VALUES (1); SELECT '" . ("\xe4\xf6" x 100) . "', * FROM \"\xff\xfe\" ORDER BY 1", db => 'bytes');
is(errors_of($server, db => 'bytes'), '', 'all can be read in a database of any bytes');
is(errors_of($server), '', 'and from others');

# ---- a standby ----

my $backup = PfsServer::folder() . '/backup';
PfsServer::run_ok(PfsServer::bindir() . '/pg_basebackup', '-d', $server->connstr, '-D', $backup, '-R', '-c', 'fast', '--no-sync');
my $standby = PfsServer->new('standby', from => $backup);
$standby->start;
ok($standby->poll('SELECT pg_is_in_recovery()', 't'), 'a standby');
is(errors_of($standby), '', 'all can be read there');
$standby->stop;

# ---- everything off ----

# What a walsender has begun counts when it ends, also behind the reset.
ok($server->poll("SELECT count(*) FROM pfs.threads WHERE name = 'thread/walsender'", 0), 'the walsender is gone');
$server->sql("SELECT pfs.set_instruments('%', 'NO')");
is(errors_of($server), '', 'all can be read with all instruments off');
$server->sql("SELECT pfs.set_consumers('%', 'NO'); SELECT pfs.set_threads('%', 'NO', 'NO'); UPDATE pfs.threads SET instrumented = 'NO'; SELECT pfs.reset()");
is(errors_of($server), '', 'and consumers, and threads');
# What shows something nevertheless: objects of the server, and pfs itself.
my %full = map { $_ => 1, "x\$$_" => 1 } qw(metrics ps_check_lost_instrumentation processlist session schema_object_overview version user_summary host_summary
	memory_by_host_by_current_bytes memory_by_thread_by_current_bytes memory_by_user_by_current_bytes memory_global_by_current_bytes memory_global_total);
my $counts = join ' UNION ALL ', map { "SELECT '$_' WHERE EXISTS (SELECT FROM pfs_sys.\"$_\")" } grep { !$full{$_} } @views;
is($server->sql($counts), '', 'and have no rows');

done_testing();
