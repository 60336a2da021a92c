# Together with pg_stat_statements, in both orders of loading, under a load that
# has everything hooks can see: errors, cursors, prepared and nested statements.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/lib";
use PfsServer;
use Test::More;

my $server = PfsServer->new('main', conf => <<'EOT');
compute_query_id = on
pg_stat_statements.track = all
track_io_timing = on
EOT
my $script = <<'EOT';
\set id random(1, 100)
BEGIN;
UPDATE t SET n = n + 1 WHERE id = :id;
SELECT outer_sum(:id);
SAVEPOINT s;
SELECT caught(:id);
RELEASE s;
COMMIT;
EOT
my $ready = 0;

foreach my $order ('pg_stat_statements, pfs', 'pfs, pg_stat_statements')
{
	$server->conf("shared_preload_libraries = '$order'");
	$server->start;
	if (!$ready++)
	{
		$server->sql(<<'EOT');
CREATE EXTENSION pfs;
CREATE EXTENSION pg_stat_statements;
CREATE TABLE t AS SELECT g AS id, 0 AS n FROM generate_series(1, 100) g;
CREATE FUNCTION outer_sum(i int) RETURNS bigint LANGUAGE plpgsql AS 'BEGIN RETURN (SELECT sum(n) FROM t WHERE id <= i); END';
CREATE FUNCTION caught(i int) RETURNS int LANGUAGE plpgsql AS
	'BEGIN PERFORM 1 / (i - i); RETURN 1; EXCEPTION WHEN division_by_zero THEN RETURN 0; END';
EOT
	}
	$server->sql('SELECT pg_stat_statements_reset()');
	$server->sql('UPDATE t SET n = 0');
	# One mode sends texts, the others messages of the extended protocol.
	$server->pgbench($script, '-c', 4, '-j', 1, '-t', 100, '-M', $_) foreach qw(simple extended prepared);
	is($server->sql('SELECT sum(n) FROM t'), 1200, "$order: every statement was run once");
	is($server->sql(q{SELECT sum(calls) FROM pg_stat_statements WHERE query LIKE 'UPDATE t SET n = n + $%'}), 1200,
		'pg_stat_statements counted each of them');
	is($server->sql(q{SELECT sum(calls) FROM pg_stat_statements WHERE query LIKE 'SELECT outer_sum(%'}), 1200, 'and each call of a function');
	is($server->sql(q{SELECT sum(calls) FROM pg_stat_statements WHERE query LIKE '%sum(n) FROM t WHERE id <= i%' AND NOT toplevel}), 1200,
		'and each statement inside');
	cmp_ok($server->sql(q{SELECT count(*) FROM pfs.events_waits_history_long WHERE event_name LIKE 'idle%'}), '>', 100, 'pfs has their idle times');
	cmp_ok($server->sql(q{SELECT count(*) FROM pfs.events_waits_history_long WHERE event_name ILIKE ANY ('{wait/io/file/WALWrite, wait/io/file/WALSync}')}),
		'>', 10, 'and their writes');
	# The other library's lock shows under its own name, once somebody waited for it.
	is($server->sql(q{SELECT count(*) FROM pfs.setup_instruments WHERE name LIKE 'wait/synch/lwlock/extension:%'}), 0, 'no lock is without its name');
	my $s = $server->session;
	$s->send('SELECT 1 / 0')->result;
	like($s->last_error, qr/22012/, 'errors come through');
	$s->send('DO $$ BEGIN PERFORM 1 / 0; END $$')->result;
	like($s->last_error, qr/22012/, 'from inside, too');
	is($s->query('SELECT 1'), 1, 'and the session lives on');
	unlike($server->log_text, qr/PANIC|terminated by signal/, 'nothing crashed');
	$server->stop;
}

done_testing();
