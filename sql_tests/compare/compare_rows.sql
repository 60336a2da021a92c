-- What the server and pfs have counted of each table and index, after the same run: what
-- dump_rows.sql wrote.
--
-- Every difference gets the class that explains it, by a rule on the data; one that has none fails.
\set QUIET on
\set ON_ERROR_STOP on
\pset footer off
SET client_min_messages = warning;

CREATE TEMP TABLE rows (relation oid, what text, ours bigint, theirs bigint);
CREATE TEMP TABLE relations (oid oid, name text, relname text, relkind text, no_rule boolean, indrelid oid);
CREATE TEMP TABLE made (index text, of_table text);
CREATE TEMP TABLE rows_lost (what text, n bigint);
\copy rows FROM rows.csv CSV
\copy relations FROM relations.csv CSV
\copy made FROM indexes_made.csv CSV
\copy rows_lost FROM rows_lost.csv CSV

-- Where an index is dropped, its table keeps what it has led to.  The server forgets the rows that it led
-- to one by one; those that it led to by a bitmap it counts for the table, too.
CREATE TEMP TABLE dropped AS
SELECT t.oid FROM relations t WHERE EXISTS (SELECT FROM made m WHERE m.of_table = t.relname
	AND NOT EXISTS (SELECT FROM relations i WHERE i.indrelid = t.oid AND i.relname = m.index));

CREATE TEMP TABLE differences AS
SELECT CASE
	WHEN no_rule AND ours = 0 THEN 'no rule'
	WHEN relkind = 'm' AND what = 'insert' AND ours < theirs THEN 'written by REFRESH MATERIALIZED VIEW'
	WHEN relkind IN ('r', 'm') AND what = 'fetch' AND ours > theirs AND relation IN (SELECT oid FROM dropped)
		AND (SELECT s.ours = s.theirs FROM rows s WHERE s.relation = r.relation AND s.what = 'seq')
		AND NOT EXISTS (SELECT FROM rows f JOIN relations i ON i.oid = f.relation WHERE i.indrelid = r.relation AND f.ours <> f.theirs)
		THEN 'by an index that was dropped'
	END AS class, coalesce(name, relation::text) AS name, relkind, what, ours, theirs
FROM rows r LEFT JOIN relations ON oid = relation WHERE ours <> theirs;

\pset title 'Rows compared'
SELECT CASE relkind WHEN 'i' THEN 'index' ELSE 'table' END AS of, what, count(*) AS relations, sum(ours) AS pfs, sum(theirs) AS server
FROM rows JOIN relations ON oid = relation WHERE NOT no_rule GROUP BY 1, 2 ORDER BY 1 DESC, 2;
\pset title 'Differences of rows, explained'
SELECT class, what, count(*) AS relations, sum(ours) AS pfs, sum(theirs) AS server, min(name) AS "for example" FROM differences WHERE class IS NOT NULL GROUP BY 1, 2 ORDER BY 1, 2;
\pset title 'Not explained'
SELECT name, relkind, what, ours AS pfs, theirs AS server FROM differences WHERE class IS NULL ORDER BY 1, 3 LIMIT 200;
\pset title 'Not complete'
SELECT * FROM rows_lost WHERE n > 0;
DO $$
BEGIN
	IF (SELECT count(*) FROM rows JOIN relations ON oid = relation WHERE ours > 0 AND NOT no_rule) < 500 THEN
		RAISE 'hardly any rows were compared';
	END IF;
	IF EXISTS (SELECT FROM differences WHERE class IS NULL) OR EXISTS (SELECT FROM rows_lost WHERE n > 0) THEN
		RAISE 'the server and pfs differ in rows';
	END IF;
END $$;
