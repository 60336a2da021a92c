# Makes a file of what survives a restart, as the installed version of pfs writes it, and the answers that it must give:
# FOLDER/VERSION.save.gz and FOLDER/VERSION.out.gz.  scripts/saved-file calls it.
#
# usage: make.pl VERSION FOLDER

use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/../t/lib";
use IO::Compress::Gzip qw(gzip $GzipError);
use PfsSaved;
use PfsServer;
use Test::More;

die "usage: make.pl VERSION FOLDER\n" unless @ARGV == 2;
my ($version, $folder) = @ARGV;

# Few places, so that some digests are evicted; few periods, so that the file is small.
my $server = PfsServer->new('main', conf => <<'EOT');
autovacuum = off
compute_query_id = on
pfs.save_interval = 0
pfs.instruments = 'wait/io/table/handler=ON, memory/%=ON'
pfs.consumers = 'events_statements_cpu=ON'
pfs.digests_size = 90
pfs.load_history_seconds = 20
pfs.load_history_minutes = 5
pfs.load_history_ten_minutes = 5
EOT

# What runs in the database, as one of the roles.
sub as
{
	my ($user, $sql, $may_fail) = @_;
	my ($status, $out, $err) = $server->psql($sql, db => 'work', user => $user);

	die $err unless $status == 0 || $may_fail;
	return $out;
}

$server->start;
PfsSaved::make_owners($server);
as('clerk', <<'EOT');
CREATE TABLE orders(id int PRIMARY KEY, customer int, note text);
CREATE INDEX ON orders(customer);
CREATE TABLE large AS SELECT g AS id, repeat('x', 200) AS filler FROM generate_series(1, 20000) g;
CREATE FUNCTION total(int) RETURNS bigint LANGUAGE plpgsql AS 'BEGIN RETURN (SELECT sum(id) FROM orders WHERE customer = $1); END';
EOT
# From here on all is counted.
$server->sql('SELECT pfs.reset()');
$server->sql("TRUNCATE pfs.$_") foreach 'events_statements_summary_by_digest', 'load_history';

# ---- digests with everything that they count ----

foreach my $user (@PfsSaved::roles)
{
	as($user, "SELECT " . join(', ', 1 .. $_)) foreach 1 .. 25;
	as($user, <<'EOT');
INSERT INTO orders SELECT g + (SELECT coalesce(max(id), 0) FROM orders), g % 7, 'größer' FROM generate_series(1, 500) g;
UPDATE orders SET note = 'ändert' WHERE id < 20;
DELETE FROM orders WHERE id BETWEEN 30 AND 40;
SELECT total(3);
SELECT count(*) FROM orders WHERE note LIKE '%ö%';
SET enable_seqscan = off;
SELECT note FROM orders WHERE id = 7;
SELECT count(*) FROM orders WHERE customer = 2;
RESET enable_seqscan;
SET work_mem = '64kB';
SELECT count(*) FROM (SELECT filler FROM large ORDER BY filler, id OFFSET 10) s;
RESET work_mem;
CREATE TEMP TABLE own AS SELECT * FROM large LIMIT 5000;
SELECT count(*) FROM own;
PREPARE plan(int) AS SELECT customer FROM orders WHERE id = $1;
EXECUTE plan(1); EXECUTE plan(2); EXECUTE plan(3); EXECUTE plan(4); EXECUTE plan(5); EXECUTE plan(6); EXECUTE plan(7);
SET max_parallel_workers_per_gather = 2; SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0;
SELECT count(*) FROM large WHERE filler LIKE '%xy%';
SELECT pg_sleep(0.2);
DO $$ BEGIN RAISE WARNING 'counted'; END $$;
EOT
}
# Errors; a secret; the histograms are reset on their own.
as('teller', 'SELECT 1 / (SELECT count(*) FROM orders WHERE id < 0)', 1) foreach 1 .. 3;
as('teller', "CREATE ROLE gone PASSWORD 'hocuspocus'; DROP ROLE gone");
$server->sql('TRUNCATE pfs.events_statements_histogram_by_digest');
as('clerk', 'SELECT count(*) FROM orders') foreach 1 .. 5;

# ---- the load: on the processor, waiting for a lock, asleep, idle in a transaction ----

# Shortly before a minute ends, so that the seconds of it are still there when it is kept as a whole.
select undef, undef, undef, 0.1 while time % 60 < 48;
my ($holder, $waiter) = map { $server->session(db => 'work', user => $_) } @PfsSaved::roles;

$holder->query('BEGIN');
$holder->query('LOCK TABLE orders');
$waiter->send('SELECT count(*) AS waited FROM orders');
as('clerk', "SELECT sum(g) FROM generate_series(1, 3000000) g; SELECT pg_sleep(1.2)");
$holder->query('COMMIT');
$waiter->result;
$_->close foreach $holder, $waiter;
# As many queries as a second has would be most of the load.
my $kept = q{SELECT count(*) > 0 FROM pfs.load_history WHERE resolution = '1 min' AND wait_event_type = 'Lock'};
for (my $end = time + $PfsServer::timeout; $server->sql($kept) ne 't';)
{
	die 'there is no load history' if time > $end;
	select undef, undef, undef, 1;
}

# ---- the file, and what it must show on a server that adds nothing ----

$server->stop;
my $bytes = PfsSaved::content($server);
$server->conf("pfs.load_history_interval = 0\npfs.digests_size = 1000");
$server->start;
my $shown = PfsSaved::shown($server);
my $text = PfsSaved::as_text($shown);

die "$_ shows nothing" foreach grep { !%{ $shown->{$_} // {} } } keys %PfsSaved::queries;
gzip(\$bytes => "$folder/$version.save.gz", -Level => 9, Minimal => 1) or die $GzipError;
gzip(\$text => "$folder/$version.out.gz", -Level => 9, Minimal => 1) or die $GzipError;
printf "%s: %d bytes, %d compressed; %d lines, %d bytes compressed\n", $version, length $bytes, -s "$folder/$version.save.gz",
	scalar(() = $text =~ /\n/g), -s "$folder/$version.out.gz";
$server->stop;
# The test library counts nothing here.
Test::More->builder->no_ending(1);
