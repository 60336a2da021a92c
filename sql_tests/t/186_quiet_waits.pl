# A process that waits reads no catalog, whatever it has to follow: it may be in the list of a
# condition variable, or wait for a lock, and another wait in the middle of that one would take
# it off the list.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/lib";
use PfsServer;
use Test::More;

my $module = test_module('pfs_test');
my $server = PfsServer->new('main', preload => "pfs,$module", conf => <<'EOT');
autovacuum = off
pfs.instruments = 'wait/io/table/handler=ON'
EOT
$server->start;
$server->sql('CREATE EXTENSION pfs');
$server->sql(test_functions('pfs_test'));
my $pid = $server->sql("SELECT waiter('$module')");
my $naps = "SELECT coalesce(sum(w.count_star), 0) FROM pfs.events_waits_summary_by_thread_by_event_name w JOIN pfs.threads USING (thread_id)"
  . " WHERE thread_os_id = $pid AND event_name LIKE 'wait/extension/%'";

# Does the worker end waits of its own, whatever the session that asks has locked?
sub goes_on
{
	my $before = $server->sql($naps);

	return $server->poll("SELECT ($naps) >= $before + 20");
}

ok(goes_on(), 'a worker waits in a transaction, again and again');
$server->sql('BEGIN; LOCK TABLE pg_namespace, pg_database IN ACCESS EXCLUSIVE MODE');
# Each rule names a schema that no cache knows of.
my $rule = q{INSERT INTO pfs.setup_objects VALUES ('TABLE', 'postgres', '%s', '%%', 'YES', 'YES')};

$server->sql(sprintf $rule, 'absent');
ok(goes_on(), 'a new rule: it waits on, though the catalogs are locked');
$server->sql(q{SELECT pfs.set_instruments('wait/io/table/handler', 'NO')});
$server->sql(sprintf $rule, 'absent_too');
$server->sql(q{SELECT pfs.set_instruments('wait/io/table/handler', 'YES')});
ok(goes_on(), 'tables are watched again: it waits on');
# It may have no wait at this moment, between two.
is($server->sql("SELECT count(*) FROM pg_stat_activity WHERE pid = $pid AND wait_event_type <> 'Extension'"), 0, 'and for nothing else');
is($server->sql("SELECT count(*) FROM pg_locks WHERE pid = $pid AND relation IS NOT NULL"), 0, 'nor does it hold the lock of a table');
$server->sql('COMMIT');
kill 'TERM', $pid;
ok($server->poll("SELECT count(*) FROM pfs.threads WHERE thread_os_id = $pid", 0), 'it ends');
is($server->sql('SELECT variable_value FROM pfs.status WHERE variable_name = \'pfs_sequence_words_repaired\''), 0, 'nothing had to be repaired');
done_testing();
