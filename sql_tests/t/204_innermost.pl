# Nesting and digests agree whose a wait is: the innermost statement's. What the waits of a session are nested in is
# followed up to a statement, and counted by its query; events_waits_summary_by_digest has to say the same.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/lib";
use PfsServer;
use Test::More;

my $server = PfsServer->new('main', conf => <<'EOT');
autovacuum = off
max_parallel_workers_per_gather = 0
max_parallel_maintenance_workers = 0
pfs.events_waits_history_long_size = 200000
pfs.events_stages_history_long_size = 20000
pfs.events_statements_history_long_size = 20000
EOT
$server->start;
$server->sql(<<"EOT");
CREATE EXTENSION pfs;
CREATE ROLE tested SUPERUSER LOGIN;
CREATE TABLE big AS SELECT g AS a, repeat('x', 200) AS filler FROM generate_series(1, 3000) g;
CREATE TABLE log (a int);
CREATE TABLE parent (a int PRIMARY KEY);
CREATE TABLE child (a int REFERENCES parent DEFERRABLE INITIALLY DEFERRED);
INSERT INTO parent SELECT generate_series(1, 10);
-- A call on a file in a statement of its own.
CREATE FUNCTION looks(i int) RETURNS int IMMUTABLE LANGUAGE plpgsql AS
	'BEGIN IF i % 500 = 0 THEN PERFORM size FROM pg_stat_file(''PG_VERSION''); END IF; RETURN i; END';
CREATE FUNCTION logs() RETURNS trigger LANGUAGE plpgsql AS
	'BEGIN IF NEW.a % 500 = 0 THEN INSERT INTO log SELECT size FROM pg_stat_file(''PG_VERSION''); END IF; RETURN NEW; END';
CREATE FUNCTION copies(file text) RETURNS void LANGUAGE plpgsql AS
	'BEGIN EXECUTE format(''COPY (SELECT a, filler FROM big WHERE a < 1000) TO %L'', file); END';
CREATE FUNCTION catches() RETURNS void LANGUAGE plpgsql AS
	'BEGIN PERFORM size FROM pg_stat_file(''PG_VERSION''); PERFORM size FROM pg_stat_file(''none''); EXCEPTION WHEN OTHERS THEN PERFORM size FROM pg_stat_file(''PG_VERSION''); END';
CREATE TABLE target (a int, filler text);
ALTER TABLE big OWNER TO tested;
ALTER TABLE parent OWNER TO tested;
ALTER TABLE child OWNER TO tested;
CREATE TRIGGER logs BEFORE INSERT ON target FOR EACH ROW EXECUTE FUNCTION logs();
EOT

my $file = "$server->{data}/copy";
my @work = (
	[ 'COPY of a query', "COPY (SELECT a, filler FROM big) TO '$file'" ],
	[ 'COPY of a query that calls functions', "COPY (SELECT looks(a), filler FROM big) TO '$file'" ],
	[ 'COPY of a query in binary', "COPY (SELECT a, filler FROM big) TO '$file' (FORMAT binary)" ],
	[ 'COPY of what a command returns', "COPY (INSERT INTO log SELECT a FROM big RETURNING a) TO '$file'" ],
	[ 'COPY of a table', "COPY big TO '$file'" ],
	[ 'COPY FROM with a trigger', "COPY target FROM '$file'" ],
	[ 'COPY in a function', "SELECT copies('$file'), copies('$file')" ],
	[ 'COPY in a block', "DO 'BEGIN FOR i IN 1 .. 3 LOOP COPY (SELECT a, filler FROM big) TO ''$file''; END LOOP; END'" ],
	[ 'CREATE INDEX with a function', 'CREATE INDEX indexed ON big (looks(a))' ],
	[ 'REINDEX', 'REINDEX INDEX indexed' ],
	[ 'VACUUM', 'VACUUM (FREEZE) big' ],
	[ 'ANALYZE with an index on a function', 'ANALYZE big' ],
	[ 'a rewrite with a function', 'VACUUM FULL big' ],
	[ 'CREATE TABLE AS', 'CREATE TABLE made AS SELECT looks(a) FROM big' ],
	[ 'a materialized view', 'CREATE MATERIALIZED VIEW view AS SELECT looks(a) FROM big; REFRESH MATERIALIZED VIEW view' ],
	[ 'EXPLAIN ANALYZE', 'EXPLAIN ANALYZE SELECT looks(a) FROM big' ],
	[ 'a cursor', 'BEGIN; DECLARE c CURSOR FOR SELECT looks(a) FROM big; FETCH 1200 FROM c; MOVE 1000 IN c; COMMIT' ],
	[ 'prepared statements', 'PREPARE p AS SELECT looks(a) FROM big; EXECUTE p; DEALLOCATE p' ],
	[ 'deferred triggers', 'BEGIN; INSERT INTO child SELECT generate_series(1, 10); COMMIT' ],
	[ 'an error that is caught', 'SELECT catches()' ],
	[ 'an error', q{SELECT 1 FROM pg_stat_file('PG_VERSION'), pg_stat_file('none')} ]);

# Statements that lead to a digest: those that have a query identifier; the others lead on to what they are nested in.
my $by_nesting = <<'EOT';
WITH RECURSIVE events AS (
		SELECT event_id, nesting_event_id, nesting_event_type, 'WAIT' AS type, event_name, NULL::bigint AS query_id FROM pfs.events_waits_history_long WHERE thread_id = THREAD
		UNION ALL SELECT event_id, nesting_event_id, nesting_event_type, 'STAGE', event_name, NULL FROM pfs.events_stages_history_long WHERE thread_id = THREAD
		UNION ALL SELECT event_id, nesting_event_id, nesting_event_type, 'STATEMENT', event_name, query_id FROM pfs.events_statements_history_long WHERE thread_id = THREAD),
	up AS (
		SELECT event_id AS wait, event_name, nesting_event_id, nesting_event_type, NULL::bigint AS query_id FROM events WHERE type = 'WAIT' AND event_name NOT LIKE 'idle%'
		UNION ALL SELECT wait, up.event_name, e.nesting_event_id, e.nesting_event_type, e.query_id
			FROM up JOIN events e ON e.event_id = up.nesting_event_id AND e.type = up.nesting_event_type WHERE up.query_id IS NULL),
	by_nesting AS (SELECT query_id, event_name, count(*) AS n FROM up WHERE query_id IS NOT NULL GROUP BY 1, 2),
	by_digest AS (SELECT query_id, event_name, sum(count_star) AS n FROM pfs.events_waits_summary_by_digest WHERE user_name = 'tested' GROUP BY 1, 2)
SELECT string_agg(format('%s %s of %s: %s by nesting, %s by digest', w.query_id, event_name, (SELECT min(digest_text) FROM pfs.events_statements_summary_by_digest d WHERE d.query_id = w.query_id), n.n, d.n), E'\n')
FROM by_nesting n FULL JOIN by_digest d USING (query_id, event_name) CROSS JOIN LATERAL (SELECT coalesce(n.query_id, d.query_id) AS query_id) w
WHERE n.n IS DISTINCT FROM d.n
EOT
# The stages of a command lie in the statement that is open innermost where they begin, and end with it.
my $outside = <<'EOT';
SELECT string_agg(g.event_name || ' in ' || coalesce(s.event_name, 'nothing'), E'\n')
FROM pfs.events_stages_history_long g LEFT JOIN pfs.events_statements_history_long s
	ON s.thread_id = g.thread_id AND s.event_id = g.nesting_event_id AND g.nesting_event_type = 'STATEMENT'
WHERE g.thread_id = THREAD AND (s.event_id IS NULL OR g.event_id NOT BETWEEN s.event_id AND s.end_event_id OR (g.timer_end > s.timer_end AND g.event_name LIKE 'stage/progress/%')
	OR EXISTS (SELECT FROM pfs.events_statements_history_long i WHERE i.thread_id = THREAD AND i.nesting_event_id = s.event_id AND i.nesting_event_type = 'STATEMENT'
		AND g.event_name LIKE 'stage/progress/copy/%' AND g.event_id BETWEEN i.event_id AND i.end_event_id))
EOT

foreach my $set ([ 'stages of statements are off', q{SELECT 1} ], [ 'they are on', q{SELECT pfs.set_instruments('stage/sql/%', 'YES')} ],
	[ 'queries are no events', q{SELECT pfs.set_instruments('statement/sql/select', 'NO')} ])
{
	my ($name, $sql) = @$set;

	$server->sql($sql);
	my $session = $server->session(user => 'tested');
	my $thread = $session->thread_id;

	foreach my $work (@work)
	{
		$server->poll_idle($thread);
		$server->sql('TRUNCATE pfs.events_waits_history_long');
		$server->sql('TRUNCATE pfs.events_stages_history_long');
		$server->sql('TRUNCATE pfs.events_statements_history_long');
		$server->sql('TRUNCATE pfs.events_statements_summary_by_digest');
		$session->send($work->[1])->result;
		$server->poll_idle($thread);
		is($server->sql($by_nesting =~ s/THREAD/$thread/gr), '', "$name: $work->[0]");
		is($server->sql($outside =~ s/THREAD/$thread/gr), '', '  and stages lie in the innermost statement') unless $name =~ /no events/;
		if ($work->[0] =~ /^COPY of a query/ && $name !~ /no events/)
		{
			is($server->sql("SELECT count(*) FROM pfs.events_stages_history_long WHERE thread_id = $thread AND event_name LIKE 'stage/progress/copy/%'"), 1, '  once');
			cmp_ok($server->sql("SELECT count(*) FROM pfs.events_waits_history_long w JOIN pfs.events_statements_history_long s USING (thread_id)
				WHERE thread_id = $thread AND w.operation = 'write' AND s.event_name = 'statement/sql/select' AND w.event_id BETWEEN s.event_id AND s.end_event_id"), '>', 10, '  whose writes are the query\'s');
		}
	}
	$server->sql(q{DROP TABLE IF EXISTS made; DROP MATERIALIZED VIEW IF EXISTS view; DROP INDEX IF EXISTS indexed});
	$session->close;
}

done_testing();
