# The fence in all processes, whatever the system refuses.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/lib";
use PfsServer;
use Test::More;

test_module('pfs_test_stop');
my $server = PfsServer->new('main');
$server->start;
$server->sql('CREATE EXTENSION pfs');
$server->sql(test_functions('pfs_test_stop'));
my $own = $server->sql('SELECT fence(0)');
like($own, qr/^(membarrier|affinity|sleep)$/, 'one of three');
is($server->sql(q{SELECT variable_value FROM pfs.status WHERE variable_name = 'pfs_fence'}), $own, 'status says which');
my $walk = $server->sql('SELECT fence(1)');
isnt($walk, 'membarrier', 'membarrier() is refused');
is($walk, $own eq 'sleep' ? 'sleep' : 'affinity', 'then all processors are visited, and the process may run where it could before');
is($server->sql('SELECT fence(2)'), 'sleep', 'if that is refused, too, there is a rest');
done_testing();
