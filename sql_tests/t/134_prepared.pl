# Prepared statements of the protocol: their rows from the first execution until they are
# closed, exact counts under load and resets, and a full container.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/lib";
use PfsServer;
use PfsWire;
use Test::More;

my $seconds = $ENV{PFS_RESET_SECONDS} // 5;
my $server = PfsServer->new('main', conf => <<'EOT');
autovacuum = off
EOT
$server->start;
$server->sql('CREATE EXTENSION pfs');
$server->sql('CREATE TABLE t (i int); INSERT INTO t SELECT generate_series(1, 100)');

my $c = PfsWire->new($server);
my $tc = $server->thread_of($c->pid);

# One round trip of a few messages.
sub talk
{
	$c->send(@$_) foreach @_, ['Sync'];
	return join('', $c->until_ready);
}

sub rows
{
	my ($thread) = @_;

	$server->poll_idle($thread);
	return $server->sql("SELECT coalesce(string_agg(statement_name || ' ' || sql_text || ' ' || count_execute, '; ' ORDER BY statement_name COLLATE \"C\"), '')
		FROM pfs.prepared_statements_instances WHERE thread_id = $thread");
}

# ---- from the first execution until it is closed ----

is(talk([ Parse => 's1', 'SELECT i FROM t' ]), '1Z', 'parsed');
is(rows($tc), '', 'a statement that was never executed is not known');
is(talk([ Bind => 's1' ]), '2Z', 'bound');
is(rows($tc), '', 'nor one that was bound only');
talk([ Bind => 's1' ], ['Execute']);
is(rows($tc), 's1 SELECT i FROM t 1', 'one that was executed is');
talk([ Parse => '', 'SELECT 2' ], [ Bind => '' ], ['Execute']) foreach 1 .. 3;
is(rows($tc), 's1 SELECT i FROM t 1', 'one without a name is not');
talk([ Parse => 's2', 'INSERT INTO t VALUES (1)' ], [ Bind => 's2' ], ['Execute'], [ Bind => 's2' ], ['Execute'], [ Bind => 's1' ], ['Execute']);
is(rows($tc), 's1 SELECT i FROM t 2; s2 INSERT INTO t VALUES (1) 2', 'pipelined ones count each');
talk([ Bind => 's1' ], [ Execute => 10 ], [ Execute => 10 ], [ Execute => 0 ]);
is(rows($tc), 's1 SELECT i FROM t 3; s2 INSERT INTO t VALUES (1) 2', 'a portal that is read in parts is one execution');
talk([ Parse => 's3', 'VACUUM t' ], [ Bind => 's3' ], ['Execute']);
talk([ Parse => 's4', 'SELECT 1 / 0' ], [ Bind => 's4' ], ['Execute']);
talk([ Parse => 's5', 'SELECT 1 / (count(*) - count(*)) FROM t' ], [ Bind => 's5' ], ['Execute']);
is(rows($tc), 's1 SELECT i FROM t 3; s2 INSERT INTO t VALUES (1) 2; s3 VACUUM t 1; s5 SELECT 1 / (count(*) - count(*)) FROM t 1', 'utilities too, and what fails when it is executed');
is($server->sql("SELECT count(*), count(*) FILTER (WHERE abs(p.sum_timer_wait - s.sum) <= s.count AND p.count_execute = s.count)
	FROM pfs.prepared_statements_instances p JOIN (SELECT sql_text, sum(timer_wait), count(*) FROM pfs.events_statements_history_long
		WHERE thread_id = $tc AND event_name NOT IN ('statement/com/parse', 'statement/com/bind') GROUP BY 1) s USING (sql_text)
	WHERE p.thread_id = $tc AND statement_name <> 's1'"), '3|3', 'times are those of the statements, but for the rounding of each');

# A portal outlives the statement that it was made of: what it executes is not that of the same name which came behind.
$c->send(Query => 'BEGIN');
$c->until_ready;
talk([ Parse => 'of', 'UPDATE t SET i = i + 1' ], [ BindAs => 'first', 'of' ]);
talk([ Close => 'of' ], [ Parse => 'of', 'UPDATE t SET i = i + 2' ], [ BindAs => 'second', 'of' ], [ ExecuteOf => 'second' ]);
talk([ ExecuteOf => 'first' ]);
$c->send(Query => 'ROLLBACK');
$c->until_ready;
$server->poll_idle($tc);
is($server->sql("SELECT string_agg(sql_text, '; ' ORDER BY event_id) FROM pfs.events_statements_history WHERE thread_id = $tc AND event_name = 'statement/sql/update'"),
	'UPDATE t SET i = i + 2; UPDATE t SET i = i + 1', 'a portal of a statement that is closed: its text');
is($server->sql("SELECT count_execute FROM pfs.prepared_statements_instances WHERE thread_id = $tc AND statement_name = 'of'"), 1, '... and it counts for none');
talk([ Close => 'of' ]);

# Closed by the protocol: noticed when the session has been idle.
talk([ Close => 's2' ]);
talk([ Close => 's3' ], [ Close => 's5' ]);
my $rounds = 0;
talk([ Parse => '', 'SELECT 1' ], [ Bind => '' ], ['Execute']) while (rows($tc) ne 's1 SELECT i FROM t 3' && $rounds++ < 20);
is(rows($tc), 's1 SELECT i FROM t 3', 'closed ones disappear soon');
# Closed and made anew under the same name, without a wait in between.
talk([ Close => 's1' ], [ Parse => 's1', 'SELECT 1' ], [ Bind => 's1' ], ['Execute'], [ Close => 's1' ], [ Parse => 's1', 'SELECT 2' ], [ Bind => 's1' ], ['Execute']);
is(rows($tc), 's1 SELECT 2 1', 'another one of the same name has its own row');
$c->send(Query => 'DEALLOCATE s1');
$c->until_ready;
is(rows($tc), '', 'DEALLOCATE takes one of the protocol, too');
talk([ Parse => 'a', 'SELECT 1' ], [ Bind => 'a' ], ['Execute']);
$c->send(Query => 'EXECUTE a');
$c->until_ready;
is(rows($tc), 'a SELECT 1 2', 'and EXECUTE executes one');
# However many are made and closed, few are known at a time: in each trip two.
$c->send(Query => 'DEALLOCATE ALL');
$c->until_ready;
my $names = 0;
for (1 .. 100)
{
	$c->send_at_once((map { $names++; ([ Parse => "n$names", 'SELECT 1' ], [ Bind => "n$names" ], ['Execute'], [ Close => "n$names" ]) } 1, 2), ['Sync']);
	$c->until_ready;
}
$server->poll_idle($tc);
cmp_ok($server->sql("SELECT count(*) FROM pfs.prepared_statements_instances WHERE thread_id = $tc"), '<=', 20, 'closed ones do not pile up');
$c->send('Terminate');
ok($server->poll("SELECT count(*) FROM pfs.prepared_statements_instances WHERE thread_id = $tc", 0), 'with the session all are gone');

# ---- exact under resets ----

# Each session ends with a wait for a lock: until then its rows are there.
my $script = <<'EOT';
SELECT i FROM t WHERE i = 1;
SELECT i FROM t WHERE i = 2;
INSERT INTO t VALUES (0);
\set n :n + 1
\if :n < 3
\sleep 300 ms
\else
SELECT pg_advisory_lock_shared(1);
\endif
EOT
my ($made, $taken) = (0, 0);
my $end = time() + $seconds;

$rounds = 0;
$server->sql("SELECT pfs.reset('prepared_statements_instances')");
while (time() < $end || $rounds == 0)
{
	$server->sql('SELECT pg_advisory_lock(1)');
	my $load = $server->pgbench_start($script, '-M', 'prepared', '-t', 3, '-c', 4, '-D', 'n=0');

	$taken += $server->sql("SELECT pfs.reset('prepared_statements_instances')")
	  while ($server->sql("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted") < 4 && $server->pgbench_running($load));
	# The sessions wait now, with all that they have executed in their rows.
	$taken += $server->sql("SELECT pfs.reset('prepared_statements_instances')");
	$server->sql('SELECT pg_advisory_unlock(1)');
	$server->pgbench_end($load);
	# The statement that has waited is nobody's to take.
	$server->poll('SELECT count(*) FROM pfs.prepared_statements_instances', 0);
	$made += 36;
	$rounds++;
}
is($taken, $made, "resets took all $made executions of $rounds rounds, each once");

# ---- more than there is room for, and none ----

foreach my $size (0, 3)
{
	$server->stop;
	$server->conf("pfs.max_prepared_statements_instances = $size");
	$server->start;
	$c = PfsWire->new($server);
	$tc = $server->thread_of($c->pid);
	talk([ Parse => "p$_", "SELECT $_" ], [ Bind => "p$_" ], ['Execute'], [ Bind => "p$_" ], ['Execute']) foreach 1 .. 5;
	is(rows($tc), join('; ', map { "p$_ SELECT $_ 2" } 1 .. $size), "size $size: so many have rows");
	is($server->sql("SELECT variable_value FROM pfs.status WHERE variable_name = 'pfs_prepared_statements_instances_lost'"), $size == 0 ? 0 : 5 - $size, "size $size: the others are counted as lost");
	$c->send('Terminate');
}

done_testing();
