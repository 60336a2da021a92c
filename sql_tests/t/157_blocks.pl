# Blocks and WAL of statements are those that the executor's run and finish took, as in
# pg_stat_statements: not what its start and end read of catalogs.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/lib";
use PfsServer;
use Test::More;

plan skip_all => 'a server without pg_stat_statements' unless glob(PfsServer::run_ok('pg_config', '--pkglibdir') =~ s/\s+$//r . '/pg_stat_statements.*');

my $server = PfsServer->new('main', preload => 'pg_stat_statements, pfs', conf => "autovacuum = off\ncompute_query_id = on\nwork_mem = '64kB'\njit = off");

$server->start;
$server->sql(<<'EOT');
CREATE EXTENSION pfs;
CREATE EXTENSION pg_stat_statements;
CREATE TABLE parent (i int PRIMARY KEY);
CREATE TABLE t (i int PRIMARY KEY REFERENCES parent, n int, v text DEFAULT 'x' CHECK (v <> ''));
CREATE INDEX ON t (v);
INSERT INTO parent SELECT generate_series(1, 100);
INSERT INTO t SELECT g, 0 FROM generate_series(1, 50) g;
CREATE TABLE large AS SELECT g AS i, repeat('x', 20) AS v FROM generate_series(1, 20000) g;
VACUUM ANALYZE parent, t, large;
EOT

# Each is the first statement of a session: its caches are empty, so planning reads catalogs, and
# start and end read what planning did not.  Of some statements that is nothing.
my @statements = (
	[ 'UPDATE t SET n = n + 1 WHERE i = 1', 's.shared_blks_hit + s.shared_blks_read' ],
	[ 'INSERT INTO t VALUES (51, 0)', 's.shared_blks_hit + s.shared_blks_read' ],
	[ 'SELECT i, v FROM t WHERE i = 2', 's.shared_blks_hit + s.shared_blks_read' ],
	[ 'DELETE FROM parent WHERE i = 99', 's.shared_blks_hit + s.shared_blks_read' ],
	[ 'SELECT count(*) FROM (SELECT i FROM large ORDER BY v, i OFFSET 0) s', 's.temp_blks_read + s.temp_blks_written' ]);
my %sums = (
	'shared blocks' => 'shared_blks_hit + shared_blks_read',
	'changed blocks' => 'shared_blks_dirtied',
	'temporary blocks' => 'temp_blks_read + temp_blks_written',
	'WAL' => 'wal_records');

foreach my $statement (@statements)
{
	my ($sql, $some) = @$statement;

	$server->sql("SELECT pg_stat_statements_reset(); TRUNCATE pfs.events_statements_summary_by_digest");
	my ($status, undef, $err) = $server->psql($sql);

	is($err, '', "$sql: it is done");
	my $by_digest = 'pfs.events_statements_summary_by_digest d JOIN pg_stat_statements s ON s.queryid = d.query_id WHERE s.query !~ \'pg_stat_statements|pfs\' AND s.toplevel';

	is($server->sql("SELECT count(*), sum(d.count_star), sum(s.calls), bool_and($some > 0) FROM $by_digest"), '1|1|1|t', "$sql: both have counted it");
	foreach my $what (sort keys %sums)
	{
		my $theirs = join(' + ', map { "s.$_" } split / \+ /, $sums{$what});
		my $ours = join(' + ', map { "d.sum_$_" } split / \+ /, $sums{$what});

		is($server->sql("SELECT $ours FROM $by_digest"), $server->sql("SELECT $theirs FROM $by_digest"), "$sql: the same $what");
	}
}

done_testing();
