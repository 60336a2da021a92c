# The methods of tables and indexes: found, proved and reported at the start; another library's
# that are there before stay and are called; what is laid out in another way is left alone; access
# methods of extensions are named.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/lib";
use PfsServer;
use Test::More;

my $module = test_module('pfs_test_access');
my $server = PfsServer->new('main', preload => "$module,pfs", conf => <<'EOT');
autovacuum = off
shared_buffers = 1MB
EOT
my $rows = q{SELECT string_agg(concat_ws(':', target, status, detail), ' ' ORDER BY target COLLATE "C") FROM pfs.probes WHERE target IN ('heap', 'btree', 'hash', 'gist', 'gin', 'spgist', 'brin')};
my $extensions = q{SELECT status, detail FROM pfs.probes WHERE probe_name = 'method_table/extensions'};
my $work = 'SELECT count(*), sum(g) FROM numbers; SET enable_seqscan = off; SELECT count(*), sum(g) FROM numbers WHERE g < 500';

# ---- as the server has them ----

$server->start;
$server->sql('CREATE EXTENSION pfs');
is($server->sql($rows), 'brin:active btree:active gin:active gist:active hash:active heap:active spgist:active', 'all can be watched');
is($server->sql(q{SELECT DISTINCT mechanism FROM pfs.probes WHERE target IN ('heap', 'btree')}), 'method_table', 'by their tables of methods');
$server->sql('CREATE TABLE numbers AS SELECT generate_series(1, 1000) g');
$server->sql("CREATE INDEX ON numbers USING $_ (g)") foreach 'btree', 'hash', 'brin';
my $right = $server->sql($work);
like($right, qr/^1000\|500500\n499\|124750$/, 'indexes work');

# ---- access methods of extensions ----

is($server->sql($extensions), 'active|', 'no extension has an access method');
$server->sql('CREATE ACCESS METHOD other TYPE INDEX HANDLER bthandler');
is($server->sql($extensions), 'active|', 'another name of one of the server\'s is none');

SKIP:
{
	skip 'the server came without bloom', 2 unless $server->sql(q{SELECT count(*) FROM pg_available_extensions WHERE name = 'bloom'});
	$server->sql('CREATE EXTENSION bloom');
	is($server->sql($extensions), 'unavailable|not watched: bloom', 'one that an extension has is named');
	$server->sql('DROP EXTENSION bloom');
	is($server->sql($extensions), 'active|', 'until it goes');
}

# ---- somebody has been there before ----

$server->restart(env => { PFS_TEST_ACCESS => 'chain' });
like($server->sql($rows), qr/ heap:active:another library had replaced methods before; it is called, and each call is timed /, 'another library\'s methods are chained');
$server->sql(test_functions('pfs_test_access'));
is($server->sql("$work; SELECT chained() > 1000"), "$right\nt", 'and called');

# ---- another version ----

$server->mark_log;
$server->restart(env => { PFS_TEST_ACCESS => 'change' });
my $why = 'the methods of tables are laid out in another way than in the version that pfs was built for';
is($server->sql($rows), "heap:unavailable:$why", 'other methods than there should be: nothing is watched');
like($server->log_text, qr/LOG:  pfs: tables and indexes cannot be watched: \Q$why\E/, 'a line in the log');
is($server->sql($work), $right, 'and the server works');

done_testing();
