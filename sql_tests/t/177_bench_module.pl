# The module of benchmarks, which is all of pfs and loops around it: it loads, measures, and has
# its own recorder.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/lib";
use PfsServer;
use Test::More;

my $server = PfsServer->new('main', preload => test_module('pfs_bench'));

$server->start;
$server->sql(test_functions('pfs_bench'));
cmp_ok($server->sql(q{SELECT cycles('recorded', 1000)}), '>', 0, 'an event takes some cycles');
ok($server->poll(q{SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'pfs recorder'}, 1), 'its recorder runs');
unlike($server->log_text, qr/terminated|exited with/, 'and has not been started again');

done_testing();
