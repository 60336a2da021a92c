# The load history where threads have no cells of waits: each wait goes past them, all the time.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/lib";
use PfsServer;
use Test::More;

my $server = PfsServer->new('main', conf => "autovacuum = off\npfs.thread_waits_size = 0");
my $periods = "SELECT period_start, sum(count_star) FILTER (WHERE wait_event_type <> 'CPU') AS waits FROM pfs.load_history WHERE resolution = '1 s' AND type = 'FOREGROUND' GROUP BY 1";

$server->start;
$server->sql('CREATE EXTENSION pfs');
$server->sql('CREATE TABLE t (i int)');
my @busy = map { $server->session } 1 .. 4;
my @pids = map { $_->pid } @busy;
my $since = $server->sql('SELECT clock_timestamp()');

# Each call asks the system for the file's size.
$_->send(q{DO $$ BEGIN LOOP PERFORM pg_relation_size('t'); END LOOP; END $$}) foreach @busy;
my $enough = "SELECT count(*) >= 6 FROM ($periods) p WHERE period_start > '$since'";
ok($server->poll($enough, 't'), 'some seconds of load');
my $till = $server->sql('SELECT clock_timestamp()');
$server->sql("SELECT pg_terminate_backend($_)") foreach @pids;
is($server->sql("SELECT count(*) FROM (SELECT * FROM ($periods) p WHERE period_start > '$since' AND period_start < timestamptz '$till' - interval '2 s') p"
	  . " WHERE coalesce(waits, 0) < 100"), 0, 'each second has its waits');

done_testing();
