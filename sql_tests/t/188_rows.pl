# rows_sent and rows_affected: what the client got, and what the server's own counters
# of the tables say was changed, also by utilities, by EXECUTE, and by the parts of WITH.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/lib";
use PfsServer;
use Test::More;

my $server = PfsServer->new('main', conf => "autovacuum = off\ncompute_query_id = on");

$server->start;
$server->sql(<<'EOT');
CREATE EXTENSION pfs;
CREATE TABLE a (i int PRIMARY KEY, v text);
CREATE TABLE b (i int, v text);
CREATE TABLE c (i int, v text);
INSERT INTO a SELECT g, 'a' FROM generate_series(1, 100) g;
INSERT INTO b SELECT g, 'b' FROM generate_series(1, 100) g;
-- Lets every other row pass.
CREATE FUNCTION odd() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN CASE WHEN NEW.i % 2 = 1 THEN NEW END; END';
CREATE TABLE filtered (i int);
CREATE TRIGGER odd BEFORE INSERT ON filtered FOR EACH ROW EXECUTE FUNCTION odd();
-- Changes rows of its own for each row.
CREATE FUNCTION inner_rows() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	WITH x AS (INSERT INTO c VALUES (NEW.i), (NEW.i) RETURNING i) INSERT INTO c SELECT i FROM x LIMIT 1;
	RETURN NEW;
END $$;
CREATE TABLE noisy (i int);
CREATE TRIGGER noisy AFTER INSERT ON noisy FOR EACH ROW EXECUTE FUNCTION inner_rows();
CREATE FUNCTION one_row() RETURNS int LANGUAGE plpgsql AS 'BEGIN INSERT INTO c VALUES (7); RETURN 7; END';
CREATE PROCEDURE add_up(INOUT x int, INOUT y int) LANGUAGE plpgsql AS 'BEGIN x := x + y; END';
CREATE PROCEDURE quiet() LANGUAGE plpgsql AS 'BEGIN PERFORM 1; END';
CREATE TABLE part (i int, v text) PARTITION BY RANGE (i);
CREATE TABLE part1 PARTITION OF part FOR VALUES FROM (0) TO (50);
CREATE TABLE part2 PARTITION OF part FOR VALUES FROM (50) TO (1000);
EOT
my $b = $server->session;
my $tb = $b->thread_id;

# sent|affected of the top-level statement of the session b that is the last one but `back`.
sub rows
{
	my ($back) = @_;

	$back //= 0;
	$server->poll_idle($tb);
	return $server->sql("SELECT rows_sent, rows_affected FROM pfs.events_statements_history_long
		WHERE thread_id = $tb AND nesting_event_level = 0 ORDER BY event_id DESC OFFSET $back LIMIT 1");
}

sub lines
{
	my ($text) = @_;

	return scalar(() = $text =~ /^.*$/mg);
}

# ---- utilities that return rows ----

foreach my $sql ('SHOW ALL', 'SHOW work_mem', 'EXPLAIN SELECT * FROM a JOIN b USING (i)', 'EXPLAIN (ANALYZE, COSTS OFF) SELECT count(*) FROM a',
	'CALL add_up(1, 2)', 'CALL quiet()', 'SELECT * FROM a WHERE i <= 7', 'SET work_mem = 1000')
{
	my $got = $b->query($sql);

	is(rows(), ($got eq '' ? 0 : lines($got)) . '|0', "$sql: the rows that the client got");
}
is(lines($b->query('SHOW ALL')) > 300, 1, 'SHOW ALL returns something');
$b->query('BEGIN; DECLARE cur CURSOR FOR SELECT * FROM a; FETCH 7 FROM cur; MOVE 3 FROM cur; COMMIT');
is(rows(2) . ' ' . rows(1), '7|0 0|0', 'FETCH returns rows, MOVE none');

# ---- EXECUTE ----

$b->query(<<'EOT');
PREPARE s AS SELECT * FROM a WHERE i <= 9;
PREPARE r AS INSERT INTO b SELECT i FROM a WHERE i <= 5 RETURNING i;
PREPARE n AS INSERT INTO b SELECT i FROM a WHERE i <= 5;
PREPARE w AS WITH d AS (DELETE FROM b WHERE v IS NULL RETURNING i), x AS (UPDATE a SET v = 'x' WHERE i <= 3) INSERT INTO c SELECT i FROM d RETURNING i;
PREPARE p(int) AS UPDATE a SET v = 'y' WHERE i < $1;
EOT
$b->query('EXECUTE s');
is(rows(), '9|0', 'EXECUTE of a SELECT');
$b->query('EXECUTE r');
is(rows(), '5|5', 'EXECUTE of an INSERT … RETURNING');
$b->query('EXECUTE n');
is(rows(), '0|5', 'EXECUTE of an INSERT');
$b->query('EXECUTE w');
is(rows(), '10|23', 'EXECUTE of what changes in three places');
$b->query('EXECUTE p(one_row())');
is(rows(), '0|6', 'what a parameter does is not of its plan');
is($server->sql("SELECT string_agg(event_name || ' ' || rows_sent || ' ' || rows_affected, ', ' ORDER BY event_id) FROM pfs.events_statements_history
	WHERE thread_id = $tb AND sql_text ~ '^(EXECUTE w|PREPARE w)' AND event_name <> 'statement/sql/prepare'"),
	'statement/sql/execute 10 23, statement/sql/insert 10 23', 'the plan itself is nested in it, with the same rows');

# ---- WITH, beside the server's counters ----

# rows_affected of one statement, and what it changed by the counters of its own transaction.
sub compare
{
	my ($sql, $expected, $name) = @_;
	my $counters = 'SELECT sum(n_tup_ins + n_tup_upd + n_tup_del) FROM pg_stat_xact_user_tables';

	$b->query('BEGIN');
	my $before = $b->query($counters);
	$b->query($sql);
	my $changed = $b->query($counters) - $before;
	$b->query('COMMIT');
	my ($sent, $affected) = split /\|/, rows(2);

	is("$sent|$affected", $expected, $name);
	is($affected, $changed, "$name: as the tables' counters say");
}

compare('WITH i AS (INSERT INTO c SELECT i FROM a WHERE i <= 20 RETURNING *) SELECT count(*) FROM i', '1|20', 'INSERT in WITH, SELECT outside');
compare('WITH i AS (INSERT INTO c SELECT i FROM a WHERE i <= 20) SELECT 1', '1|20', 'one without RETURNING, which runs at the end');
compare('WITH i AS (INSERT INTO c SELECT i FROM a WHERE i <= 20 RETURNING *) SELECT * FROM i LIMIT 3', '3|20', 'the rest of one that was read in part');
compare("WITH i AS (INSERT INTO c SELECT i FROM a WHERE i <= 20 RETURNING *), u AS (UPDATE b SET v = 'u' WHERE i <= 10 RETURNING i),
	d AS (DELETE FROM c WHERE i > 90) SELECT (SELECT count(*) FROM i), (SELECT count(*) FROM u)", '1|30', 'three parts');
compare("WITH i AS (INSERT INTO c SELECT i FROM a WHERE i <= 20 RETURNING *), j AS (INSERT INTO b SELECT i FROM i RETURNING i)
	UPDATE a SET v = 'm' FROM j WHERE a.i = j.i", '0|60', 'parts that read one another, and an UPDATE outside');
compare("WITH i AS (INSERT INTO a SELECT g, 'n' FROM generate_series(91, 110) g ON CONFLICT DO NOTHING RETURNING i) SELECT * FROM i", '10|10', 'conflicts are not counted');
compare("WITH i AS (INSERT INTO a SELECT g, 'n' FROM generate_series(101, 120) g ON CONFLICT (i) DO UPDATE SET v = 'c') SELECT 1", '1|20', 'but their updates');
compare('WITH i AS (INSERT INTO filtered SELECT i FROM a WHERE i <= 20) SELECT 1', '1|10', 'rows that a trigger takes away are none');
compare("WITH i AS (INSERT INTO part SELECT i FROM a WHERE i < 100 RETURNING i) SELECT count(*) FROM i", '1|99', 'partitions');
compare('WITH d AS (DELETE FROM c RETURNING i) DELETE FROM b WHERE i IN (SELECT i FROM d)', "0|" . ($server->sql('SELECT count(*) FROM c') +
	$server->sql('SELECT count(*) FROM b WHERE i IN (SELECT i FROM c)')), 'DELETE in both');
SKIP:
{
	skip 'MERGE in WITH came with 17', 2 if PfsServer::version() < 17;
	compare("WITH m AS (MERGE INTO a USING generate_series(115, 125) g ON a.i = g WHEN MATCHED THEN UPDATE SET v = 'm' WHEN NOT MATCHED THEN INSERT VALUES (g, 'm') RETURNING a.i)
		SELECT count(*) FROM m", '1|11', 'MERGE in WITH');
}
compare("WITH s AS (SELECT g FROM generate_series(118, 130) g) MERGE INTO a USING s ON a.i = s.g WHEN MATCHED THEN DELETE WHEN NOT MATCHED THEN INSERT VALUES (g, 'm')", '0|13', 'MERGE');

# What triggers do is theirs; each level has its own.
$b->query('TRUNCATE c');
$b->query('WITH i AS (INSERT INTO noisy SELECT i FROM a WHERE i <= 10 RETURNING i) SELECT count(*) FROM i');
is(rows(), '1|10', 'what triggers do is not of the statement');
is($server->sql("SELECT count(*), min(rows_affected), max(rows_affected) FROM pfs.events_statements_history_long
	WHERE thread_id = $tb AND nesting_event_level = 1 AND sql_text LIKE 'WITH x AS (INSERT INTO c%'"), '10|3|3', 'but of their own statements');
is($server->sql('SELECT count(*) FROM c'), 30, 'which did that');

# An error in the middle.
$b->send('WITH i AS (INSERT INTO c SELECT 1 / (5 - g) FROM generate_series(1, 9) g RETURNING 1) SELECT count(*) FROM i')->result;
like($b->last_error, qr/division by zero/, 'one fails');
compare('WITH i AS (INSERT INTO c SELECT i FROM a WHERE i <= 20 RETURNING *) SELECT count(*) FROM i', '1|20', 'and the next counts from zero');

# The tag that the client gets is untouched.
my ($status, $out, $err) = $server->psql("\\set QUIET off\nWITH i AS (INSERT INTO c SELECT i FROM a WHERE i <= 20 RETURNING i) INSERT INTO b SELECT i FROM i WHERE i <= 4;");
is($out, 'INSERT 0 4', 'the command tag is that of the main part');

# By digest.
is($server->sql("SELECT sum_rows_sent, sum_rows_affected FROM pfs.events_statements_summary_by_digest WHERE digest_text LIKE 'WITH i AS (INSERT INTO c SELECT i FROM a WHERE i <= \$1) SELECT \$2'"),
	'1|20', 'digests have the same');

done_testing();
