# Files that come and go leave nothing behind: neither instances nor records of
# their sums.  PFS_LEAK_ROUNDS: WAL switches (200 by default).

use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/lib";
use PfsServer;
use Test::More;

my $switches = $ENV{PFS_LEAK_ROUNDS} || 200;
my $server = PfsServer->new(
	'main',
	initdb => ['--wal-segsize=1'],
	conf => <<'EOT');
fsync = off
autovacuum = off
checkpoint_timeout = 1h
min_wal_size = 4MB
max_wal_size = 16MB
EOT
$server->start;
$server->sql('CREATE EXTENSION pfs');
$server->sql('CREATE TABLE tiny AS SELECT 1 AS a');

# Removed files are kept for a while as tombstones, 256 at most: that many have
# to go before numbers can stay the same.
my $warm_up = 300;

sub used
{
	# Files of dropped relations go at the checkpoint after the next.
	$server->sql('CHECKPOINT');
	$server->sql('CHECKPOINT');
	return split /\|/, $server->sql(<<'EOT');
SELECT (SELECT count(*) FROM pfs.file_instances),
       (SELECT records_used FROM pfs.containers WHERE name = 'file_instances'),
       (SELECT records_used FROM pfs.containers WHERE name = 'file_events'),
       (SELECT sum(open_count) FROM pfs.file_instances)
EOT
}

sub grows_not
{
	my ($what, $rounds, $commands) = @_;
	my $run = sub {
		my ($status, $out, $err) = $server->psql("SELECT $commands FROM generate_series(1, $_[0]) i \\gexec\n");

		die $err if $status != 0;
	};

	$run->($warm_up);
	my @before = used();
	$run->($rounds);
	my @after = used();

	note("$what: @before, then @after");
	# A handful waits to be freed, and the server opens a few of its own.
	cmp_ok($after[0], '<=', $before[0] + 16, "$rounds x $what: no more instances");
	cmp_ok($after[1], '<=', $before[1] + 40, "$rounds x $what: no more records of files");
	cmp_ok($after[2], '<=', $before[2] + 300, "$rounds x $what: no more records of sums");
	cmp_ok($after[3], '<=', $before[3] + 16, "$rounds x $what: no more open files");
}

grows_not('VACUUM FULL', 1000, q{'VACUUM FULL tiny'});
grows_not('temporary table', 1000, q{'CREATE TEMP TABLE passing AS SELECT 1 AS a', 'DROP TABLE passing'});
grows_not('WAL switch', $switches, q{'INSERT INTO tiny VALUES (1)', 'DO $$BEGIN PERFORM pg_switch_wal(); END$$', CASE WHEN i % 8 = 0 THEN 'CHECKPOINT' END});
# Their directories are renamed, with the files in them.
grows_not('replication slot', 600,
	q{'DO $$BEGIN PERFORM pg_create_physical_replication_slot($q$s' || i || '$q$), pg_drop_replication_slot($q$s' || i || '$q$); END$$'});
is($server->sql(q{SELECT count(*) FROM pfs.status WHERE variable_name ~ 'file_.*_lost' AND variable_value <> '0'}), 0, 'nothing was lost');

# Files that others remove, as those that COPY writes or an archive gets: nobody tells when they go.
my $small = PfsServer->new('small', conf => "autovacuum = off\npfs.max_file_instances = 1000");

$small->start;
$small->sql('CREATE EXTENSION pfs');
$small->psql("SELECT format('COPY (SELECT 1) TO %L', '$small->{host}/copied_' || i) FROM generate_series(1, 1500) i \\gexec\n");
is($small->sql(q{SELECT sum(variable_value::int) FROM pfs.status WHERE variable_name ~ 'file_.*_lost'}), 0, 'closed files outside of the data directory leave room');
is($small->sql(q{SELECT count(*) BETWEEN 1 AND 700 FROM pfs.file_instances WHERE file_name ~ 'copied_'}), 't', 'as instances of some of them');
is($small->sql(q{SELECT count(*) FROM pfs.events_waits_history_long WHERE object_name ~ 'copied_1500$' AND operation = 'close'}), 1, 'the histories have their names');
is($small->sql(q{SELECT count_star >= 1500 FROM pfs.file_summary_by_event_name WHERE event_name = (SELECT event_name FROM pfs.events_waits_history_long
	WHERE object_name ~ 'copied_1500$' AND operation = 'close')}), 't', 'and the totals have all of them');

done_testing();
