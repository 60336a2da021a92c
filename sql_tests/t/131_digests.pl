# Digests: texts against pg_stat_statements in the same server, exact numbers while
# shapes are evicted and reset, samples, quantiles, waits of parallel
# workers, rights, switches, sizes, and what a killed process leaves.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/lib";
use PfsServer;
use PfsWire;
use Test::More;
use Time::HiRes qw(sleep);

my $server = PfsServer->new('main', preload => 'pg_stat_statements,pfs', conf => <<'EOT');
autovacuum = off
compute_query_id = on
pg_stat_statements.track = all
pg_stat_statements.track_planning = on
pg_stat_statements.max = 10000
max_connections = 40
jit = off
EOT
$server->start;
$server->sql('CREATE EXTENSION pfs; CREATE EXTENSION pg_stat_statements');
$server->sql("CREATE TABLE t (i int PRIMARY KEY, v text); INSERT INTO t SELECT g, repeat('x', 50) FROM generate_series(1, 20000) g; ANALYZE t");

sub idle
{
	$server->poll_ended('pgbench');
}

my $digests = 'pfs.events_statements_summary_by_digest';
my $s = $server->session;
my $thread = $s->thread_id;

# ---- texts, as pg_stat_statements has them ----

my @statements = (
	q{SELECT 1 + 2, 'x', E'it\\'s', -5, - 7, 1.5e10, true, NULL, x'1F', b'101', U&'\0041', $tag$ dollar $tag$, 'a'} . "\n 'b'",
	"SELECT   i  -- comment\n , /* another 'one' */ v FROM t WHERE i IN (1, 2, 3) AND v LIKE 'x%'  LIMIT 3",
	q{SELECT interval '1 day' + interval '2 hours', date '2020-01-01', 'x'::text, CAST('5' AS int), ARRAY[1, 2, 3]},
	q{SELECT 'ä' || 'öü', 1 AS "a ""b"" 1", t.* FROM t WHERE (i, v) IN ((1, 'a'), (2, 'b')) GROUP BY 1, 2, i, v ORDER BY i LIMIT 1 OFFSET 2},
	q{WITH a AS (SELECT 1 AS x) SELECT x FROM a UNION ALL SELECT 2 ORDER BY 1},
	q{SELECT sum(i) FILTER (WHERE i > 3) OVER (PARTITION BY v ORDER BY i ROWS BETWEEN 1 PRECEDING AND 2 FOLLOWING) FROM t LIMIT 1},
	q{VALUES (1, 'a'), (2, 'b')},
	q{INSERT INTO t VALUES (-1, 'a'), (-2, 'b') ON CONFLICT (i) DO UPDATE SET v = 'c' WHERE t.i = 5},
	q{UPDATE t SET v = 'c' WHERE i = -1 AND v = 'd'},
	q{DELETE FROM t WHERE i IN (-1, -2) RETURNING i + 100},
	q{PREPARE p (int) AS SELECT v FROM t WHERE i = $1 AND v <> 'q' AND i < $1 + 10},
	q{EXECUTE p(3)},
	q{DEALLOCATE p},
	q{SELECT 7 ; SELECT '8' AS b ;  SELECT 9.5  , 'c'},
	q{BEGIN; SAVEPOINT s1; ROLLBACK TO s1; COMMIT},
	q{CREATE TABLE made (a int DEFAULT 5)},
	q{DROP TABLE made},
	q{SET work_mem = '10MB'},
	q{EXPLAIN (COSTS OFF) SELECT 1 FROM t WHERE i = 55},
	q{DO $$ DECLARE x int; BEGIN SELECT count(*) INTO x FROM t WHERE i = 77; PERFORM 1 + 5; END $$},
	q{COPY (SELECT radians(4711)) TO '/dev/null'},
);
$server->sql("SELECT pg_stat_statements_reset(); SELECT pfs.reset('events_statements_summary_by_digest')");
$s->query($_) foreach @statements;
$server->poll_idle($thread);
my $both = <<"EOT";
	SELECT query, calls, q.digest_text, q.count_star FROM pg_stat_statements s JOIN pg_database d ON d.oid = s.dbid JOIN pg_roles r ON r.oid = s.userid
	LEFT JOIN $digests q ON q.query_id = s.queryid AND q.database_name = d.datname AND q.user_name = r.rolname
	WHERE query !~ 'pfs|pg_stat_statements'
EOT
cmp_ok($server->sql("SELECT count(*) FROM ($both) b"), '>=', 20, 'pg_stat_statements saw them');
is($server->sql("SELECT query, digest_text FROM ($both) b WHERE digest_text IS DISTINCT FROM query"), '', 'texts are those of pg_stat_statements');
is($server->sql("SELECT query, calls, count_star FROM ($both) b WHERE calls IS DISTINCT FROM count_star AND query !~ '^(PREPARE|SELECT v)'"), '', 'so are counts');
is($server->sql("SELECT e.digest_text, count(*) FROM pfs.events_statements_history_long e WHERE thread_id = $thread AND sql_text LIKE 'UPDATE t SET%' GROUP BY 1"),
	'UPDATE t SET v = $1 WHERE i = $2 AND v = $3|1', 'events show the text of their shape');
is($server->sql("SELECT count(*) FROM pfs.events_statements_history_long e JOIN $digests q USING (query_id, database_name)
	WHERE thread_id = $thread AND e.digest_text IS DISTINCT FROM q.digest_text"), 0, 'the same as the table by digest');

# What PL/pgSQL parses for an assignment, and what EXPLAIN does for its query, has the
# identifier of a query: the first text stays only until a client sends that one.
$server->sql(q{CREATE FUNCTION moved(x int) RETURNS int LANGUAGE plpgsql AS $$ BEGIN x := x + 41; RETURN x; END $$});
$s->query('SELECT moved(1)');
$s->query('EXPLAIN SELECT 815 + i FROM t WHERE i = 17');
my $wire = PfsWire->new($server);

$wire->send(@$_) foreach [ Parse => '', 'SELECT $1::int + 41' ], [ Bind => '', 1 ], ['Execute'], ['Sync'];
$wire->until_ready;
$server->poll_idle("(SELECT thread_id FROM pfs.threads WHERE processlist_id = $wire->{pid})");
$s->query('SELECT 815 + i FROM t WHERE i = 17');
# A worse one that comes later replaces nothing.
$s->query('DISCARD PLANS; SELECT moved(2)');
$s->query('EXPLAIN (COSTS OFF) SELECT 815 + i FROM t WHERE i = 18');
$server->poll_idle($thread);
is($server->sql(qq{SELECT digest_text FROM $digests WHERE digest_text ~ '(:=|::int \\+|\\+ i FROM t)' AND digest_text !~ '^(CREATE|EXPLAIN)' ORDER BY digest_text COLLATE "C"}),
	"SELECT \$1 + i FROM t WHERE i = \$2\nSELECT \$1::int + \$2", 'the text of a shape is how a client sends it');

# ---- rows and times, as pg_stat_statements has them ----

# Plans that are made and not executed as statements: expressions, the first of two
# statements of a function in SQL, the generic plan that is weighed against a custom one.
$server->sql(q{CREATE FUNCTION two(int) RETURNS bigint LANGUAGE sql AS 'SELECT count(*) FROM t WHERE i = $1; SELECT count(*) FROM t WHERE i < $1'});
$server->sql(q{CREATE FUNCTION weighed(n int) RETURNS bigint LANGUAGE plpgsql AS $$ DECLARE c bigint := n + 4712; BEGIN IF c - n > 40 THEN SELECT count(*) INTO c FROM t WHERE i < n; END IF; RETURN c; END $$});
$server->sql("SELECT pg_stat_statements_reset(); SELECT pfs.reset('events_statements_summary_by_digest')");
$s->query("SELECT two($_), weighed($_ * 10)") foreach 1 .. 12;
$s->query('BEGIN; DECLARE c CURSOR FOR SELECT i FROM t; FETCH 7 FROM c; MOVE 5 FROM c; CLOSE c; COMMIT');
$s->query("INSERT INTO t VALUES (-3, 'r') RETURNING i; DELETE FROM t WHERE i = -3");
$server->poll_idle($thread);
my $numbers = 'SELECT %s FROM (SELECT queryid, sum(calls) AS calls, sum(rows) AS rows, sum(plans) AS plans, sum(total_plan_time) AS plan_ms, sum(total_exec_time) AS exec_ms FROM pg_stat_statements GROUP BY queryid) s'
	. " JOIN $digests q ON q.query_id = s.queryid WHERE digest_text !~ 'pfs|pg_stat_statements' AND %s";
is($server->sql(sprintf($numbers, 'digest_text, calls, count_star', 'calls <> count_star')), '', 'calls');
cmp_ok($server->sql(sprintf($numbers, 'sum(plans - calls)', 'plans > calls')), '>', 0, 'some were planned more often than executed');
is($server->sql(sprintf($numbers, 'digest_text, plan_ms, sum_plan_time', 'sum_plan_time < plan_ms * 0.999 * 1e9 - plans * 1e6')), '', 'the time of each planning is counted');
is($server->sql(sprintf($numbers, 'digest_text, exec_ms, sum_exec_time', 'sum_exec_time < exec_ms * 0.999 * 1e9 - calls * 1e6')), '', 'and of each execution');
is($server->sql(sprintf($numbers, 'digest_text, rows, sum_rows_sent, sum_rows_affected', "rows <> greatest(sum_rows_sent, sum_rows_affected) AND digest_text !~ '^DECLARE'")), '', 'rows');
is($server->sql("SELECT sum_rows_sent, sum_rows_affected FROM $digests WHERE digest_text ~ '^MOVE'"), '0|0', 'MOVE returns none');
is($server->sql("SELECT count(*) FROM $digests WHERE digest_text LIKE 'c - n >%' OR digest_text LIKE '%n + \$1'"), 0, 'expressions are no statements');
$s->send('DO $$ DECLARE x int := 3; BEGIN IF x * 4713 > 2 THEN RAISE EXCEPTION \'no\'; END IF; END $$');
$s->result;
like($s->last_error, qr/ERROR: .* no$/m, 'an error');
$server->poll_idle($thread);
is($server->sql("SELECT count(*), sum(sum_errors) FROM $digests WHERE digest_text LIKE 'x * %' OR digest_text ~ '^DO .* BEGIN IF x'"), '1|1', 'an expression before it has not failed');

# Cut at a character's end; another user's shape is another digest.
$s->query("SELECT '" . ('y' x 50) . "' AS \"" . ("\xc3\xa4" x 30) . '", ' . join(', ', map { "i AS \"\xc3\xb6\xc3\xb6\xc3\xb6$_\"" } 1 .. 200) . ' FROM t LIMIT 1');
$server->poll_idle($thread);
is($server->sql("SELECT octet_length(digest_text) BETWEEN 1021 AND 1024, digest_text !~ 'yyy' FROM $digests WHERE digest_text LIKE 'SELECT \$1 AS \"\xc3\xa4%'"), 't|t',
	'a long text is cut, without its constants');
$server->sql('CREATE ROLE one LOGIN; CREATE ROLE two LOGIN; GRANT SELECT ON t TO one, two; GRANT USAGE ON SCHEMA pfs TO one, two; GRANT SELECT ON ALL TABLES IN SCHEMA pfs TO one, two');
$s->query("SELECT max(v) FROM t WHERE i = 12; SET ROLE one; SELECT max(v) FROM t WHERE i = 13; RESET ROLE");
$server->poll_idle($thread);
is($server->sql("SELECT user_name, count_star FROM $digests WHERE digest_text = 'SELECT max(v) FROM t WHERE i = \$1' ORDER BY 1"), "one|1\npostgres|1", 'by the role in effect');

# ---- passwords ----

$server->sql(q{CREATE ROLE secret1 PASSWORD 'hush1'; ALTER ROLE secret1 VALID UNTIL 'infinity' PASSWORD 'hush2'; CREATE USER secret2 ENCRYPTED PASSWORD 'hush3'});
$s->query(q{CREATE FOREIGN DATA WRAPPER nothing; CREATE SERVER away FOREIGN DATA WRAPPER nothing OPTIONS (a 'hush4'); CREATE USER MAPPING FOR one SERVER away OPTIONS (password 'hush5')});
$server->poll_idle($thread);
is($server->sql("SELECT count(*) > 3, count(*) FILTER (WHERE digest_text ~ 'hidden>\$'), count(*) FILTER (WHERE digest_text ~ '.hush' OR query_sample_text ~ '.hush[0-9]')
	FROM $digests WHERE digest_text ~ '^(CREATE|ALTER) (ROLE secret|USER|SERVER)'"), 't|5|0', 'secrets are in no text');
ok($server->poll("SELECT count(*) FILTER (WHERE sql_text ~ 'hidden>\$'), count(*) FILTER (WHERE sql_text ~ '.hush[0-9]' OR digest_text ~ '.hush[0-9]') FROM pfs.events_statements_history_long
	WHERE sql_text ~ '^(CREATE|ALTER) (ROLE secret|USER|SERVER)'", '5|0'), 'nor in that of an event');

# ---- who sees what ----

my $one = $server->session(user => 'one');
my $two = $server->session(user => 'two');
$server->sql('CREATE ROLE monitor LOGIN IN ROLE pg_monitor');
my $monitor = $server->session(user => 'monitor');
$one->query("SELECT 'mine', i FROM t WHERE i = 1");
$server->poll_idle($one->thread_id);
my $rights = "SELECT count(*) > 0, count(query_id), count(digest_text), count(query_sample_text), count(*) = count(user_name) FROM $digests WHERE user_name = 'one'";
is($two->query($rights), 't|0|0|0|t', "others' texts and query ids are hidden");
like($one->query($rights), qr/^t\|[1-9]\d*\|[1-9]\d*\|[1-9]\d*\|t$/, 'a role sees its own');
like($monitor->query($rights), qr/^t\|[1-9]\d*\|[1-9]\d*\|[1-9]\d*\|t$/, 'pg_read_all_stats sees all');
is($two->query("SELECT count(*) > 0, count(query_id) FROM pfs.$_ WHERE user_name = 'one'"), 't|0', "$_ hides the query id")
	foreach ('events_statements_histogram_by_digest', 'events_waits_summary_by_digest');
$one->close;
$two->close;
$monitor->close;

# ---- samples ----

# The postmaster tells one process after the other: what one has read, another may not know yet.
sub session_reads
{
	my ($age) = @_;

	for (1 .. 5000)
	{
		return 1 if $s->query('SHOW pfs.max_digest_sample_age') eq $age;
		sleep(0.02);
	}
	return 0;
}

$server->sql('ALTER SYSTEM SET pfs.max_digest_sample_age = 0');
$server->sql('SELECT pg_reload_conf()');
ok($server->poll("SELECT current_setting('pfs.max_digest_sample_age')", '0'), 'the setting is read at a reload');
ok(session_reads('0'), 'by another session, too');
my $sleeps = 'SELECT pg_sleep($1)';
# The second is longer than others take that lose their processor.
$s->query("SELECT pg_sleep($_)") foreach (0.01, 1.5, 0.02);
$server->poll_idle($thread);
# On a busy machine any of them may be that.
my $slowest = $server->sql("SELECT sql_text FROM pfs.events_statements_history WHERE thread_id = $thread AND digest_text = '$sleeps' ORDER BY timer_wait DESC LIMIT 1");
like($slowest, qr/^SELECT pg_sleep\(\d\.\d+\)$/, 'one is the slowest');
is($server->sql("SELECT query_sample_text, query_sample_timer_wait = max_timer_wait, query_sample_seen <= last_seen FROM $digests WHERE digest_text = '$sleeps'"),
	"$slowest|t|t", 'and the sample');
$server->sql('ALTER SYSTEM SET pfs.max_digest_sample_age = 1');
$server->sql('SELECT pg_reload_conf()');
ok(session_reads('1s'), 'another age');
ok($server->poll("SELECT clock_timestamp() - query_sample_seen > '1 s' FROM $digests WHERE digest_text = '$sleeps'"), 'the sample is older than that');
$s->query("SELECT pg_sleep(0.011)");
$server->poll_idle($thread);
is($server->sql("SELECT query_sample_text, query_sample_timer_wait < max_timer_wait FROM $digests WHERE digest_text = '$sleeps' AND count_star = 4"),
	'SELECT pg_sleep(0.011)|t', 'one that is too old is replaced by a faster one');

# A moment that is stored is shown the same each time.
my $seen = $server->sql(<<"EOT");
CREATE TEMP TABLE seen (first timestamptz, last timestamptz, sample timestamptz);
DO \$\$ BEGIN
	FOR i IN 1 .. 300 LOOP
		INSERT INTO seen SELECT first_seen, last_seen, query_sample_seen FROM $digests WHERE digest_text = '$sleeps';
	END LOOP;
END \$\$;
SELECT count(*), count(DISTINCT first), count(DISTINCT last), count(DISTINCT sample) FROM seen;
EOT
is((split /\n/, $seen)[-1], '300|1|1|1', 'first_seen, last_seen and query_sample_seen are the same at each of 300 readings');

# ---- quantiles ----

$server->sql("SELECT pfs.reset('events_statements_summary_by_digest'); SELECT pfs.reset('events_statements_history_long')");
$server->pgbench("\\set n random_exponential(1, 20000, 8)\nSELECT count(*) FROM t WHERE i <= :n;\n", '-M', 'prepared', '-t', 2000, '-c', 2);
idle();
my $exact = <<"EOT";
	WITH q AS (SELECT * FROM $digests WHERE digest_text = 'SELECT count(*) FROM t WHERE i <= \$1'),
	     x AS (SELECT percentile_disc(ARRAY[0.95, 0.99, 0.999]) WITHIN GROUP (ORDER BY timer_wait) AS p, count(*) AS n, sum(timer_wait) AS sum, max(timer_wait) AS max, min(timer_wait) AS min
	           FROM pfs.events_statements_history_long e, q WHERE e.query_id = q.query_id AND event_name = 'statement/sql/select')
EOT
is($server->sql("$exact SELECT count_star, n, abs(sum_timer_wait - sum) <= n, max_timer_wait - max IN (-1, 0, 1), min_timer_wait - min IN (-1, 0, 1) FROM q, x"), '4000|4000|t|t|t', 'sums are those of the events');
is($server->sql("$exact SELECT quantile_95 BETWEEN p[1] - 1 AND p[1] * 1.19 + 1, quantile_99 BETWEEN p[2] - 1 AND p[2] * 1.19 + 1, quantile_999 BETWEEN p[3] - 1 AND p[3] * 1.19 + 1 FROM q, x"),
	't|t|t', 'quantiles lie within the bucket of the exact ones');
is($server->sql("$exact SELECT sum(h.count_bucket), max(count_bucket_and_lower), max(bucket_quantile) FROM pfs.events_statements_histogram_by_digest h JOIN q USING (database_name, user_name, query_id)"),
	'4000|4000|1', 'the histogram has each of them');
is($server->sql("$exact SELECT pfs.reset('events_statements_histogram_by_digest') >= 4000 FROM q"), 't', 'the histogram is emptied');
is($server->sql("SELECT count_star, quantile_95, quantile_999 FROM $digests WHERE digest_text = 'SELECT count(*) FROM t WHERE i <= \$1'"), '4000|0|0', 'and quantiles are 0');

# ---- waits ----

my $a = $server->session;
my $waits = 'pfs.events_waits_summary_by_digest w JOIN ' . $digests . ' q USING (database_name, user_name, query_id)';
$a->query('BEGIN; LOCK TABLE t IN EXCLUSIVE MODE');
$s->send("UPDATE t SET v = 'locked' WHERE i = 4");
ok($server->poll("SELECT count(*) FROM pfs.events_waits_current WHERE thread_id = $thread AND event_name = 'wait/lock/relation'", 1), 'a statement waits for a lock');
$a->query('COMMIT');
$s->result;
$server->poll_idle($thread);
is($server->sql("SELECT w.count_star, w.max_timer_wait <= q.max_timer_wait, abs(w.sum_timer_wait - (SELECT timer_wait FROM pfs.events_waits_history_long WHERE thread_id = $thread AND event_name = 'wait/lock/relation')) <= 1
	FROM $waits WHERE digest_text LIKE 'UPDATE t SET v = \$1 WHERE i = \$2' AND w.event_name = 'wait/lock/relation'"), '1|t|t', 'its digest waited for it');
$s->query("CREATE FUNCTION naps() RETURNS int LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(0.1) FROM t WHERE i = 1; RETURN 1; END'");
$server->sql('TRUNCATE pfs.events_waits_history_long');
$s->query('SELECT naps()');
$server->poll_idle($thread);
# The alarm for a deadlock's check, which the lock has left behind, can end a wait of pg_sleep(), and there is another one.
is($server->sql("SELECT q.digest_text, w.count_star = (SELECT count(*) FROM pfs.events_waits_history_long WHERE thread_id = $thread AND event_name = 'wait/timeout/PgSleep')
	FROM $waits WHERE w.event_name = 'wait/timeout/PgSleep' AND q.digest_text ~ 'FROM t|naps' ORDER BY 1"), 'SELECT pg_sleep($1) FROM t WHERE i = $2|t',
	'a wait is charged once, to the innermost statement');
cmp_ok($server->sql("SELECT pfs.reset('events_waits_summary_by_digest')"), '>', 1, 'their waits are emptied');
is($server->sql("SELECT count(*) FROM $waits WHERE w.event_name = 'wait/timeout/PgSleep'"), 0, 'and gone');

# Of workers: each reads from its own process.
$server->sql("CREATE TABLE big AS SELECT g, repeat('x', 500) AS v FROM generate_series(1, 30000) g; ANALYZE big; CHECKPOINT");
$server->conf("shared_preload_libraries = 'pfs'");
# Else the processes for I/O make the reads, in pieces of up to 16 pages.
$server->conf('io_method = sync') if PfsServer::version() >= 18;
$server->restart;
$s = $server->session;
$thread = $s->thread_id;
$s->query('SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0; SET max_parallel_workers_per_gather = 2; SET parallel_leader_participation = off');
$s->query("SELECT count(*) FROM big WHERE v LIKE '%y%'");
$server->poll_idle($thread);
my $reads = "event_name = 'wait/io/file/DataFileRead'";
my $of_workers = "SELECT sum(count_star) >= pg_relation_size('big') / current_setting('block_size')::int / 32 FROM pfs.events_waits_summary_by_digest JOIN (SELECT query_id FROM $digests WHERE digest_text LIKE 'SELECT count(*) FROM big%') q USING (query_id) WHERE $reads";
ok($server->poll($of_workers, 't'), "waits of parallel workers are their leader's digest's");
is($server->sql("SELECT max(sum_parallel_workers) FROM $digests WHERE digest_text LIKE 'SELECT count(*) FROM big%'"), 2, 'it had two');

# pg_stat_statements is not here any more: it does not survive the next one.  Settings
# that change between two statements of a string: the scanner reads the second with
# the new ones.  19 has no such setting any more.
my $can_be_off = PfsServer::version() < 19;
$s->query($can_be_off ? q{SELECT 1 \; SET standard_conforming_strings = off \; SELECT 'a\\', degrees(6) \; SET standard_conforming_strings = on \; SELECT degrees(7), 'fine'}
	: q{SELECT 1 \; SELECT degrees(7), 'fine'});

unlike($s->last_error, qr/ERROR/, 'no text makes a statement fail');
$server->poll_idle($thread);
SKIP:
{
	skip 'standard_conforming_strings cannot be off', 1 unless $can_be_off;
	is($server->sql("SELECT count(*) FROM $digests WHERE query_sample_text LIKE '%degrees(6)%' AND digest_text IS NULL"), 1, 'that one has no text');
}
is($server->sql("SELECT digest_text FROM $digests WHERE query_sample_text LIKE '%fine%'"), 'SELECT degrees($1), $2', 'later ones have their text');

# ---- texts of plans that are kept ----

# These are executed without parse analysis: where a digest is made anew, the second execution
# gives it a text, until the statement is parsed again.
my $kept = PfsWire->new($server);
my $kept_thread = "(SELECT thread_id FROM pfs.threads WHERE processlist_id = $kept->{pid})";
my $odd_text = q{SELECT 'it''s', E'\\\\', $1::int + .5, $$a 'b'$$ /* 7 */ FROM t WHERE i = 12::numeric(10,2)};
my $odd_digest = q{SELECT $2, $3, $1::int + $4, $5 /* 7 */ FROM t WHERE i = $6::numeric(%s)};
my $kept_texts = "SELECT string_agg(concat_ws('|', digest_text, count_star), chr(10) ORDER BY query_sample_text COLLATE \"C\") FROM $digests"
	. " WHERE query_sample_text ~ '^(LISTEN kept|SELECT count.* < n AND|SELECT .it..s)'";

sub execute_kept
{
	$kept->send(@$_) foreach (map { ([ Bind => @$_ ], ['Execute']) } [ 'odd', 5 ], ['listen'], ['call']), ['Sync'];
	$kept->until_ready;
	$server->poll_idle($kept_thread);
}

$server->sql(q{CREATE FUNCTION kept(n int) RETURNS int LANGUAGE plpgsql AS $$ BEGIN PERFORM count(*) FROM t WHERE i < n AND v <> 'kept'; RETURN 1; END $$});
$kept->send(Parse => @$_) foreach [ odd => $odd_text ], [ listen => 'LISTEN kept' ], [ call => 'SELECT kept(3)' ];
execute_kept();
like($server->sql($kept_texts), qr/^\Q${\sprintf($odd_digest, '10,2')}\E\|1$/m, 'the text of a statement that is parsed');
$server->sql("SELECT pfs.reset('events_statements_summary_by_digest')");
execute_kept();
is($server->sql($kept_texts), "1\n1\n1", 'a digest that is made anew has none');
execute_kept();
is($server->sql($kept_texts), join("\n", 'LISTEN kept|2', sprintf($odd_digest, '$7,$8') . '|2', 'SELECT count(*) FROM t WHERE i < n AND v <> $1|2'),
	'the next execution gives it one');
$kept->send(@$_) foreach [ Parse => again => $odd_text ], ['Sync'];
$kept->until_ready;
like($server->sql($kept_texts), qr/^\Q${\sprintf($odd_digest, '10,2')}\E\|2$/m, 'and parse analysis the exact one');

# ---- switches ----

$server->sql("UPDATE pfs.setup_consumers SET enabled = 'NO' WHERE name = 'statements_digest'");
$s->query('SELECT radians(4) AS not_counted');
$server->sql("UPDATE pfs.setup_consumers SET enabled = 'YES' WHERE name = 'statements_digest'; UPDATE pfs.setup_consumers SET enabled = 'NO' WHERE name = 'thread_instrumentation'");
$s->query('SELECT pg_sleep(0.1) AS alone');
ok($server->poll("SELECT count_star FROM $digests WHERE digest_text ~ 'AS alone\$'", 1), 'with thread_instrumentation off digests go on');
ok($server->poll("SELECT count(*) FROM $waits WHERE digest_text ~ 'AS alone\$' AND w.event_name = 'wait/timeout/PgSleep'", 1), 'with their waits');
$server->sql("UPDATE pfs.setup_consumers SET enabled = 'YES' WHERE name = 'thread_instrumentation'");
is($server->sql("SELECT count(*) FROM $digests WHERE digest_text ~ 'radians'"), 0, 'its consumer off: frozen');
$s->query('SET compute_query_id = off');
$s->query("SELECT 'without'");
$server->poll_idle($thread);
is($server->sql("SELECT query_id, digest_text FROM pfs.events_statements_history WHERE thread_id = $thread AND sql_text LIKE 'SELECT ''without''%'"), '|', 'no query identifier, no digest');

# ---- a small container: exact while shapes are evicted and reset ----

$server->conf("pfs.digests_size = 50\npfs.max_sql_text_length = 200\npfs.max_digest_length = 100\ncompute_query_id = on");
$server->restart;
$server->sql("DO \$\$ BEGIN EXECUTE 'CREATE TABLE wide (' || (SELECT string_agg('c' || g || ' int', ', ') FROM generate_series(1, 40) g) || ')'; END \$\$");
my $shapes = join("\n", (map { "\\set a$_ random(1, 40)\n\\set b$_ random(1, 40)" } 1 .. 3), '\set h random(1, 40)',
	'SELECT c:a1, c:b1 FROM wide WHERE c1 = 5;', 'SELECT c:a2 + c:b2 FROM wide;', 'SELECT count(*) FROM wide;', '');

# The reader's own statements are not to be counted: it is one that nobody watches.
my $reader = $server->session;
$server->sql("SELECT pfs.set_thread(" . $reader->thread_id . ", 'NO')");
$reader->query("SELECT pfs.set_thread(" . $server->{control}->thread_id . ", 'NO')");
# A statement ends behind its answer, perhaps between the resets of two tables.
$reader->query('DO $$ BEGIN WHILE EXISTS (SELECT FROM pfs.events_statements_current WHERE thread_id = '
	  . $server->{control}->thread_id . ') LOOP PERFORM pg_sleep(0.01); END LOOP; END $$');
sub reset_all
{
	$reader->query("SELECT pfs.reset('events_statements_summary_by_digest'); SELECT pfs.reset('events_statements_summary_global_by_event_name'); TRUNCATE pfs.status");
}

sub counted
{
	return $reader->query("SELECT coalesce(sum(count_star), 0) FROM pfs.events_statements_summary_global_by_event_name");
}

reset_all();
my $load = $server->pgbench_start($shapes, '-c', 6, '-j', 2, '-t', 3000);
my ($reads_done, $wrong) = (0, 0);
while ($server->pgbench_running($load))
{
	# Between two readings of what statements ended, the sum over all rows lies; a
	# session that ends one counts it here first, then for its digest.
	my $before = counted();
	my $sum = $reader->query("SELECT coalesce(sum(count_star), 0) FROM $digests");
	my $after = counted();

	$wrong++ if $sum < $before - 6 || $sum > $after;
	$reads_done++;
}
$server->pgbench_end($load);
idle();
cmp_ok($reads_done, '>', 0, "read $reads_done times under load");
is($wrong, 0, 'the sum of all rows was never wrong');
my $n = counted();
cmp_ok($n, '>=', 6 * 3000 * 3, 'statements ran');
is($reader->query("SELECT sum(count_star) FROM $digests"), $n, 'and each is in one row');
is($reader->query("SELECT count(*) - count(query_id) FROM $digests"), 1, 'one row is all others');
is($reader->query("SELECT sum(count_star) > 0, bool_and(database_name IS NULL AND user_name IS NULL AND digest_text IS NULL AND query_sample_text IS NULL), bool_and(last_seen >= first_seen)
	FROM $digests WHERE query_id IS NULL"), 't|t|t', 'with NULL keys and texts');
is($reader->query("SELECT records_used <= records_max, records_max, records_lost > 1000 FROM pfs.containers WHERE name = 'digests'"), 't|50|t', 'memory is bounded, and a counter says how many were evicted');
is($reader->query("SELECT variable_value::int > 1000 FROM pfs.status WHERE variable_name = 'pfs_digests_lost'"), 't', 'so does status');
is($reader->query("SELECT count(*) FROM $digests WHERE digest_text = 'SELECT count(*) FROM wide' AND count_star > 6 * 3000 * 0.9"), 1, 'what is used most stays');
is($reader->query("SELECT sum(count_bucket) FROM pfs.events_statements_histogram_by_digest"), $n, 'each has its bucket');
is($reader->query("SELECT sum(d.sum_rows_sent) = (SELECT sum(sum_rows_sent) FROM pfs.events_statements_summary_global_by_event_name),
	sum(d.sum_timer_wait) BETWEEN g.t - $n AND g.t + $n FROM $digests d, (SELECT sum(sum_timer_wait) AS t FROM pfs.events_statements_summary_global_by_event_name) g GROUP BY g.t"), 't|t', 'and its numbers');

# The same with waits: pg_sleep() of many shapes, one wait each.
$reader->query("SELECT pfs.reset('events_waits_summary_by_digest')");
$load = $server->pgbench_start("\\set a random(1, 40)\n\\set b random(1, 40)\nSELECT pg_sleep(0), c:a, c:b FROM (SELECT) x LEFT JOIN wide ON true;\n", '-c', 6, '-j', 2, '-t', 500);
my $returned = 0;
while ($server->pgbench_running($load))
{
	$returned += $reader->query("SELECT pfs.reset('events_waits_summary_by_digest')");
}
$server->pgbench_end($load);
idle();
$returned += $reader->query("SELECT coalesce(sum(count_star), 0) FROM pfs.events_waits_summary_by_digest");
cmp_ok($returned, '>=', 6 * 500, 'no wait was lost');

# Resets in a loop: what was returned and what is left are all that ran.
reset_all();
$load = $server->pgbench_start($shapes, '-c', 6, '-j', 2, '-t', 2000);
my ($sum, $resets) = (0, 0);
while ($server->pgbench_running($load))
{
	$sum += $reader->query("SELECT pfs.reset('events_statements_summary_by_digest')");
	$resets++;
}
$server->pgbench_end($load);
idle();
cmp_ok($resets, '>', 0, "reset $resets times under load");
is($sum + $reader->query("SELECT coalesce(sum(count_star), 0) FROM $digests"), counted(), 'returned and left are all that ran');

# TRUNCATE removes rows of all three tables.
$reader->query("TRUNCATE $digests");
is($reader->query("SELECT (SELECT count(*) FROM $digests), (SELECT count(*) FROM pfs.events_statements_histogram_by_digest), (SELECT count(*) FROM pfs.events_waits_summary_by_digest)"), '0|0|0', 'TRUNCATE removes the rows');
is($reader->query("SELECT count(DISTINCT pfs.reset_time(x)) FROM unnest(ARRAY['events_statements_summary_by_digest', 'events_statements_histogram_by_digest', 'events_waits_summary_by_digest']) x
	WHERE pfs.reset_time(x) > (SELECT variable_value::timestamptz FROM pfs.status WHERE variable_name = 'pfs_start_time')") >= 1, 1, 'the time of which is noted');

# ---- a process that is killed while it counts ----

$server->conf('restart_after_crash = on');
$server->restart;
$load = $server->pgbench_start($shapes, '-c', 4, '-j', 1, '-T', 60);
ok($server->poll("SELECT count(*) > 3 FROM pg_stat_activity WHERE application_name = 'pgbench'"), 'a load');
my $victim = $server->sql("SELECT pid FROM pg_stat_activity WHERE application_name = 'pgbench' LIMIT 1");
my $start_time = q{SELECT variable_value FROM pfs.status WHERE variable_name = 'pfs_start_time'};
my $started = $server->sql($start_time);
kill 'KILL', $victim;
$server->pgbench_end($load, fail_ok => 1);
$server->lost_sessions;
ok($server->poll_connect("SELECT ($start_time) <> '$started'"), 'the server is there again');
$s = $server->session;
$s->query('SELECT sinh(1) AS after_crash');
ok($server->poll("SELECT count_star FROM $digests WHERE digest_text LIKE '%after_crash'", 1), 'and counts');

# ---- a scan that is repeated for each row of another one ----

# Digests of two users in turn: the names of each row are not those of the last one.
$server->sql('CREATE ROLE other; GRANT ALL ON SCHEMA public TO other');
foreach my $n (1 .. 20)
{
	$s->query('SET ROLE ' . ($n % 2 ? 'other' : 'none'));
	$s->query('SELECT ' . join(' + ', map { "sinh($_)" } 1 .. $n));
}
$s->query("RESET ROLE; BEGIN; DECLARE c CURSOR FOR SELECT (SELECT count(user_name) FROM $digests WHERE query_id <> g) FROM generate_series(1, 2000) g; MOVE 1999 FROM c");
is($s->query(q{SELECT count(*), sum(total_bytes) < 1000000 FROM pg_backend_memory_contexts WHERE name = 'pfs scan'}), '1|t', 'takes no memory for each');
$s->query('COMMIT');

# ---- size 0; no texts ----

$server->conf("pfs.digests_size = 0");
$server->restart;
$server->sql('SELECT 1');
is($server->sql("SELECT (SELECT count(*) FROM $digests), (SELECT count(*) FROM pfs.events_waits_summary_by_digest), (SELECT count(*) FROM pfs.events_statements_histogram_by_digest)"), '0|0|0', 'size 0: no digests');
is($server->sql("SELECT pfs.reset('events_statements_summary_by_digest'), (SELECT sum(records_lost) FROM pfs.containers WHERE name LIKE 'digest%')"), '0|0', 'and no loss');
$server->conf("pfs.digests_size = -1\npfs.max_digest_length = 0\npfs.max_sql_text_length = 0");
$server->restart;
$server->sql('SELECT 1');
is($server->sql("SELECT count(*) > 0, count(query_id) > 0, count(digest_text), count(query_sample_text), count(query_sample_seen) FROM $digests"), 't|t|0|0|0', 'length 0: no texts');
is($server->sql("SELECT records_max FROM pfs.containers WHERE name = 'digests'"), 1000 + 40 * 40, 'sized from max_connections');

done_testing();
