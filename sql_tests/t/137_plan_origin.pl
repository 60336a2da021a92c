# Where plans come from: columns of statements and digests, compared with pg_stat_statements.
# Up to 18 no plan says it, and all of them are NULL.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/lib";
use PfsServer;
use PfsWire;
use Test::More;

my $server = PfsServer->new('main', preload => 'pfs, pg_stat_statements', conf => <<'EOT');
autovacuum = off
pg_stat_statements.track = all
EOT
$server->start;
$server->sql('CREATE EXTENSION pfs; CREATE EXTENSION pg_stat_statements; CREATE TABLE t (i int); INSERT INTO t SELECT generate_series(1, 100); ANALYZE t');

my $known = PfsServer::version() >= 19;
my $digests = 'pfs.events_statements_summary_by_digest';

sub origins
{
	my ($thread, $text) = @_;

	$server->poll_idle($thread);
	return $server->sql("SELECT coalesce(string_agg(plan_origin || ' ' || count, ', ' ORDER BY plan_origin), 'NULL')
		FROM (SELECT plan_origin, count(*) FROM pfs.events_statements_history_long
			WHERE thread_id = $thread AND sql_text LIKE '$text' AND event_name LIKE 'statement/sql/%' GROUP BY 1) s");
}

# By SQL: five plans of their own, then one for all; the command that executes them has none.
my $s = $server->session;
my $thread = $s->thread_id;
$s->query('PREPARE p (int) AS SELECT count(*) FROM t WHERE i < $1');
$s->query('EXECUTE p (50)') foreach 1 .. 8;
$s->query('SELECT count(*) FROM t');
is(origins($thread, 'PREPARE p%'), $known ? 'CUSTOM 5, GENERIC 3' : 'NULL', 'a prepared statement');
is(origins($thread, 'EXECUTE p%'), 'NULL', 'EXECUTE itself has no plan');
is(origins($thread, 'SELECT count(*) FROM t'), $known ? 'STANDARD 1' : 'NULL', 'a query that is planned for itself');

# By PL/pgSQL, with and without a choice.
$s->query(q{DO $$ BEGIN FOR n IN 1 .. 7 LOOP PERFORM abs(sum(t.i)) FROM t WHERE t.i < n; END LOOP; END $$});
$s->query(q{SET plan_cache_mode = force_custom_plan; DO $$ BEGIN FOR n IN 1 .. 7 LOOP PERFORM sign(sum(t.i)) FROM t WHERE t.i < n; END LOOP; END $$});
is(origins($thread, 'SELECT abs(%'), $known ? 'CUSTOM 5, GENERIC 2' : 'NULL', 'a function');
is(origins($thread, 'SELECT sign(%'), $known ? 'CUSTOM 7' : 'NULL', 'one that is told what to take');

# By the protocol.
my $wire = PfsWire->new($server);
my $tw = $server->thread_of($wire->pid);
sub talk
{
	$wire->send(@$_) foreach @_, ['Sync'];
	$wire->until_ready;
}
talk([ Parse => 'w', 'SELECT i FROM t LIMIT 1' ]);
talk([ Bind => 'w' ], ['Execute']) foreach 1 .. 3;
is(origins($tw, 'SELECT i FROM t LIMIT%'), $known ? 'GENERIC 3' : 'NULL', 'a statement without parameters has one plan');
# The server waits in between, so Bind is a statement of its own.
talk([ Parse => 'v', 'SELECT i FROM t OFFSET 1' ]);
$wire->send(Bind => 'v');
$server->poll("SELECT count(*) FROM pfs.events_statements_history WHERE thread_id = $tw AND event_name = 'statement/com/bind' AND sql_text LIKE '%OFFSET%'", 1);
talk(['Execute']);
is(origins($tw, 'SELECT i FROM t OFFSET%'), $known ? 'GENERIC 1' : 'NULL', 'an Execute that comes alone');

# Digests count the same as pg_stat_statements, and a reset takes all of it.
SKIP:
{
	skip 'plans do not say where they come from', 3 unless $known;
	is($server->sql("SELECT count(*) FROM $digests d JOIN pg_stat_statements p ON p.queryid = d.query_id
		WHERE (generic_plan_calls, custom_plan_calls) IS DISTINCT FROM (sum_generic_plans, sum_custom_plans)"), 0, 'digests agree with pg_stat_statements');
	is($server->sql("SELECT sum(sum_generic_plans), sum(sum_custom_plans) FROM $digests WHERE digest_text LIKE ANY (ARRAY['SELECT abs(%', 'SELECT sign(%', 'PREPARE p%', 'SELECT i FROM t LIMIT%', 'SELECT i FROM t OFFSET%'])"),
		'9|17', 'and with what was executed');
	$server->sql("SELECT pfs.reset('events_statements_summary_by_digest')");
	is($server->sql("SELECT coalesce(sum(sum_generic_plans + sum_custom_plans), 0) FROM $digests"), 0, 'a reset takes all of it');
}
is($server->sql("SELECT count(*) FROM $digests WHERE sum_generic_plans IS NOT NULL OR sum_custom_plans IS NOT NULL") > 0 ? 1 : 0, $known ? 1 : 0,
	'no number where nothing is known');

$server->stop;
done_testing();
