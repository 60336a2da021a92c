-- Timers and the functions about time.  No test here asserts a duration.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS pfs;
RESET client_min_messages;

SELECT timer_name FROM pfs.performance_timers;
-- each is offered with all its numbers or with none; nanoseconds always are
SELECT timer_name FROM pfs.performance_timers
WHERE num_nulls(timer_frequency, timer_resolution, timer_overhead) NOT IN (0, 3)
	OR timer_frequency <= 0 OR timer_resolution <= 0 OR timer_overhead <= 0;
SELECT timer_name, timer_frequency FROM pfs.performance_timers
WHERE timer_name IN ('NANOSECOND', 'MICROSECOND', 'MILLISECOND');
-- the default is the cycle counter where there is one
SELECT DISTINCT timer_name = (SELECT CASE WHEN timer_frequency IS NULL THEN 'NANOSECOND' ELSE 'CYCLE' END
	FROM pfs.performance_timers WHERE timer_name = 'CYCLE') AS is_default
FROM pfs.setup_timers;

-- One scale for all classes, from the server's start
SELECT class, pfs.timer_now(class) > 0 AS positive, scale(pfs.timer_now(class))
FROM unnest(ARRAY['idle', 'wait', 'stage', 'statement', 'transaction']) class;
SELECT pfs.timer_now('memory');
\echo :SQLSTATE
SELECT pfs.timer_now('wait') <= pfs.timer_now('wait') AS forward, pfs.timer_now(NULL);
CREATE TABLE seen AS SELECT pfs.timer_now() AS timer, clock_timestamp() AS clock;
-- a timer value is the moment that the clock showed
SELECT abs(extract(epoch FROM pfs.timer_to_timestamp(timer) - clock)) < 60 FROM seen;
SELECT abs(extract(epoch FROM pfs.timer_to_timestamp(timer - 86400000000000000, 'statement')
	- (clock - interval '24 hours'))) < 60 AS a_day_ago FROM seen;
SELECT abs(extract(epoch FROM pfs.timer_to_timestamp(0) - variable_value::timestamptz)) < 60 AS server_start
FROM pfs.status WHERE variable_name = 'pfs_start_time';
SELECT pfs.timer_to_timestamp('1e40');
\echo :SQLSTATE
SELECT pfs.timer_to_timestamp(-9e24);
\echo :SQLSTATE
SELECT pfs.timer_to_timestamp('NaN');
\echo :SQLSTATE
SELECT pfs.timer_to_timestamp(0, 'memory');
\echo :SQLSTATE
DROP TABLE seen;

-- The timer of a class changes what timer_now(class) reads, not its scale.
SELECT timer_name AS timer FROM pfs.setup_timers WHERE name = 'stage' \gset
SELECT pfs.set_timer('stage', 'millisecond');
SELECT pfs.timer_now('stage') % 1000000000 AS below_a_millisecond;
SELECT abs(pfs.timer_now('stage') - pfs.timer_now('wait')) < 60e12 AS same_scale;
SELECT pfs.set_timer('stage', :'timer');

SELECT v AS timer, pfs.format_time(v::numeric)
FROM unnest(ARRAY['0', '1', '999', '999.6', '1000', '999994', '999995', '1230000000', '12345678901',
	'59990000000000', '59999000000000', '90e12', '3600e12', '86399e12', '86400e12', '8.64e22', '-1500',
	'Infinity', '-Infinity', 'NaN']) v;
SELECT pfs.format_time(NULL) IS NULL AS is_null;
-- far beyond any time, and beyond what a double holds
SELECT pfs.format_time(86400e12 * 364999999) AS digits, pfs.format_time(86400e12 * 365000000) AS many, pfs.format_time(10::numeric ^ 300) AS more,
	pfs.format_time(10::numeric ^ 4000) AS most, pfs.format_time(-10::numeric ^ 4001) AS least;
