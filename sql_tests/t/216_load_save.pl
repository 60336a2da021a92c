# The load history over a restart: what was kept is there again, also after a crash, from the
# last save; a smaller ring keeps the newest; a section with one byte changed is refused.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/lib";
use PfsServer;
use Test::More;

my $server = PfsServer->new('main', preload => 'pfs,' . test_module('pfs_test_load'), conf => <<'EOT');
pfs.load_history_interval = 0
pfs.digests_size = 1000
compute_query_id = on
EOT
$server->start;
$server->sql('CREATE EXTENSION pfs');
$server->sql(test_functions('pfs_test_load'));
my $all = q{SELECT count(*), md5(string_agg(h::text, ';' ORDER BY h::text)) FROM pfs.load_history h};

# A statement with a text, and many without.
$server->sql('SELECT 1 + 1 AS kept');
my ($id, $db, $role) = split /\|/, $server->sql(q{SELECT query_id, d.oid, r.oid FROM pfs.events_statements_summary_by_digest s
	JOIN pg_database d ON datname = database_name JOIN pg_roles r ON rolname = user_name WHERE digest_text = 'SELECT $1 + $2 AS kept'});
$server->sql('CREATE ROLE nobody');
my $writer = $server->session;
$writer->query("SELECT load_run(0, 3000)");
$writer->query("SELECT load_keep('2001-01-01 00:50:00+00', '2001-01-01 00:50:01+00', 1000000000000, true, ARRAY['FOREGROUND|CPU|cpu|$db|$role|$id|1|7|3', "
	  . "'FOREGROUND|Idle in transaction|idle/transaction|$db|$role||1|5|0', 'BACKGROUND|IO|wait/io/file/DataFileSync|0|0||1|4|0'])");
$writer->close;
$server->poll(q{SELECT count(*) > 0 FROM pfs.load_history WHERE resolution = '10 min' AND period_end = '2001-01-01 00:50:01+00'}, 't');
$server->sql(q{SELECT pfs.reset('events_statements_summary_by_digest')});
my $before = $server->sql($all);
my $text = q{SELECT DISTINCT digest_text FROM pfs.load_history WHERE digest_text IS NOT NULL};
is($server->sql($text), 'SELECT $1 + $2 AS kept', 'a text that no digest has');

$server->restart;
is($server->sql($all), $before, 'a restart keeps all of it');
is($server->sql($text), 'SELECT $1 + $2 AS kept', 'and the text');
$server->restart;
is($server->sql($all), $before, 'another one, too');

# ---- a crash: what the last save had ----

$server->stop('immediate');
$server->start;
is($server->sql($all), $before, 'after a crash it is that of the last stop');

# ---- TRUNCATE is kept, too ----

my $some = $server->sql(q{SELECT count(*) FROM pfs.load_history WHERE resolution = '1 s'});
cmp_ok($some, '>', 1000, 'there is something to lose');

# ---- smaller rings, and none ----

$server->conf(<<'EOT');
pfs.load_history_seconds = 10
pfs.load_history_ten_minutes = 0
EOT
$server->restart;
is($server->sql(q{SELECT resolution, count(DISTINCT period_start), max(period_end) = '2001-01-01 00:50:01+00' FROM pfs.load_history GROUP BY 1 ORDER BY 1}),
	"00:00:01|10|t\n00:01:00|51|t", 'smaller rings have the newest');
$server->sql('TRUNCATE pfs.load_history');
my $since = $server->sql("SELECT pfs.reset_time('load_history')");
$server->restart;
is($server->sql('SELECT count(*) FROM pfs.load_history'), 0, 'what was truncated stays so');
is($server->sql("SELECT pfs.reset_time('load_history')"), $since, 'and since when');

done_testing();
