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
my $own = $server->sql('SELECT fence(false)');
like($own, qr/^(membarrier|sleep)$/, 'one of two');
is($server->sql(q{SELECT variable_value FROM pfs.status WHERE variable_name = 'pfs_fence'}), $own, 'status says which');
is($server->sql('SELECT fence(true)'), 'sleep', 'where membarrier() is refused, there is a rest');
done_testing();
