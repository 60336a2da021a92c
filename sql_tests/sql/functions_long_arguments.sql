-- What a user gives can have any length; a message, which goes to the server's log, too, quotes its beginning.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS pfs;
RESET client_min_messages;

-- Each text argument of each function, and each column that can be written, gets a million characters.
CREATE TABLE long_attempts (attempt text, said text);
DO $$
DECLARE
	long constant text := repeat('ä', 1000000);
	attempt text;
BEGIN
	FOR attempt IN
		SELECT format('SELECT * FROM %s(%s)', f.oid::regproc, string_agg(CASE
			WHEN a.type <> 'text'::regtype THEN format('%L::%s', CASE WHEN a.type::regtype::text LIKE 'time%' THEN 'now' ELSE '0' END, a.type::regtype)
			WHEN a.n = l.n THEN quote_literal(long) ELSE quote_literal('x') END, ', ' ORDER BY a.n))
		FROM pg_proc f CROSS JOIN LATERAL unnest(f.proargtypes) WITH ORDINALITY l (type, n)
			CROSS JOIN LATERAL unnest(f.proargtypes) WITH ORDINALITY a (type, n)
		WHERE f.pronamespace IN ('pfs'::regnamespace, 'pfs_sys'::regnamespace) AND l.type = 'text'::regtype
		GROUP BY f.oid, l.n
		UNION ALL
		SELECT format('UPDATE pfs.%I SET %I = %L', t.table_name, c.name, long)
		FROM pfs.tables t, regexp_split_to_table(t.writable_columns, ', *') c (name)
		WHERE t.writable_columns ~ '^[a-z_, ]+$'
		UNION ALL
		SELECT format('INSERT INTO %s (%I) VALUES (%L)', c.attrelid::regclass, c.attname, long)
		FROM pg_attribute c WHERE c.attrelid IN ('pfs.setup_actors'::regclass, 'pfs.setup_objects'::regclass) AND c.attnum > 0
		UNION ALL
		SELECT format('CREATE FOREIGN TABLE long_name (a int) SERVER pfs_server OPTIONS ("table" %L)', long)
	LOOP
		DECLARE
			message text;
			detail text;
			hint text;
		BEGIN
			EXECUTE attempt;
			INSERT INTO long_attempts VALUES (left(attempt, 200), NULL);
		EXCEPTION WHEN OTHERS THEN
			GET STACKED DIAGNOSTICS message = MESSAGE_TEXT, detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
			INSERT INTO long_attempts VALUES (left(attempt, 200), message || detail || hint);
		END;
	END LOOP;
END $$;
SELECT count(*) > 30 AS attempts, count(*) FILTER (WHERE said LIKE '%ää...%') > 20 AS are_cut FROM long_attempts;
SELECT left(attempt, 100) AS attempt, length(said) AS too_long FROM long_attempts WHERE length(said) > 500 ORDER BY long_attempts.attempt COLLATE "C";
DROP TABLE long_attempts;
