# The recorder's life: who it is, that it saves while the server runs, comes back when it is
# ended, can be switched off and on, and is not missed where there is no place for it.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/lib";
use PfsServer;
use Test::More;

my $server = PfsServer->new('main', conf => <<'EOT');
pfs.load_history_interval = 1
pfs.save_interval = 1
EOT
$server->start;
$server->sql('CREATE EXTENSION pfs');

# ---- who it is ----

ok($server->poll(q{SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'pfs recorder'}, 1), 'it runs, and pg_stat_activity has its name');
# The server has it in a transaction until it has been initialized.
ok($server->poll(q{SELECT datid IS NULL AND backend_xmin IS NULL AND xact_start IS NULL FROM pg_stat_activity WHERE backend_type = 'pfs recorder'}, 't'),
	'without a database or a transaction');
ok($server->poll(q{SELECT name || type || instrumented FROM pfs.threads WHERE name LIKE '%recorder%'}, 'thread/worker/pfs_recorderBACKGROUNDNO'),
	'threads has it, and that it does not record itself');
is($server->sql(q{SELECT count(*) FROM pfs.events_waits_current JOIN pfs.threads USING (thread_id) WHERE name LIKE '%recorder%'}), 0,
	'what it waits for is no wait');

# ---- it records, and saves ----

ok($server->poll(q{SELECT count(*) > 0 FROM pfs.load_history WHERE resolution = '1 s'}, 't'), 'it records');
$server->sql('SELECT 4711 AS to_be_saved') foreach 1 .. 3;
my $saved = $server->sql('SELECT clock_timestamp()');
ok($server->poll(qq{SELECT variable_value::timestamptz > '$saved' FROM pfs.status WHERE variable_name = 'pfs_saved_at'}, 't'),
	'it saves while the server runs');

# ---- ended: it comes back, and what was missed is counted ----

my $pid = $server->sql(q{SELECT pid FROM pg_stat_activity WHERE backend_type = 'pfs recorder'});
$server->sql("SELECT pg_terminate_backend($pid)");
ok($server->poll(qq{SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'pfs recorder' AND pid <> $pid}, 1), 'terminated, it comes back');
my $since = $server->sql('SELECT clock_timestamp()');
ok($server->poll(qq{SELECT count(*) > 0 FROM pfs.load_history WHERE period_start > '$since'}, 't'), 'and records');

# ---- off and on ----

$server->sql('ALTER SYSTEM SET pfs.load_history_interval = 0');
$server->sql('SELECT pg_reload_conf()');
ok($server->poll(q{SHOW pfs.load_history_interval}, 0), 'switched off');
ok($server->poll(q{SELECT max(period_end) < clock_timestamp() - interval '3 s' FROM pfs.load_history}, 't'), 'it does not record');
$server->fails('ALTER SYSTEM SET pfs.load_history_interval = 7', '22023', qr/7/, 'an interval that does not divide a minute is refused');
$server->sql('ALTER SYSTEM SET pfs.load_history_interval = 2');
$server->sql('SELECT pg_reload_conf()');
ok($server->poll(q{SELECT count(*) > 0 FROM pfs.load_history WHERE resolution = '2 s'}, 't'), 'switched on with another interval, it records');

# ---- killed: what the last save had is there ----

# With the periods of the interval that it has now: those of another one go when the first of these comes.
$saved = $server->sql('SELECT clock_timestamp()');
ok($server->poll(qq{SELECT variable_value::timestamptz > '$saved' FROM pfs.status WHERE variable_name = 'pfs_saved_at'}, 't'), 'it has saved');
$server->stop('immediate');
$server->start;
is($server->sql(q{SELECT count_star FROM pfs.events_statements_summary_by_digest WHERE digest_text LIKE 'SELECT $1 AS to_be_saved'}), 3,
	'after an immediate stop digests are those of the last save');
is($server->sql(q{SELECT count(*) > 0 FROM pfs.load_history WHERE resolution = '2 s' AND period_end < pg_postmaster_start_time()}), 't',
	'and so is the history');

# ---- truncated: it does not come back ----

$server->conf("pfs.save_interval = '1 h'\n");
$server->restart;
$server->sql('SELECT 4711 AS to_be_gone');
ok($server->poll(q{SELECT count(*) > 0 FROM pfs.load_history WHERE resolution = '2 s'}, 't'), 'it records');
my $asked = $server->sql('SELECT clock_timestamp()');
$server->sql('TRUNCATE pfs.events_statements_summary_by_digest, pfs.load_history');
ok($server->poll(qq{SELECT variable_value::timestamptz > '$asked' FROM pfs.status WHERE variable_name = 'pfs_saved_at'}, 't'), 'it saves when something was truncated');
# Perhaps between the two tables; then it saves once more, a second later.
my $of_before = qr/to_be_(gone|saved)/;
my $file = "$server->{data}/pg_stat_tmp/pfs.save";
my $till = time() + $PfsServer::timeout;
select undef, undef, undef, 0.1 while PfsServer::text_of($file) =~ $of_before && time() < $till;
$server->stop('immediate');
my $text = PfsServer::text_of($file);
unlike($text, $of_before, 'and the file has no text of before');
isnt($text, '', 'it is there');
$server->start;
is($server->sql(q{SELECT count(*) FROM pfs.events_statements_summary_by_digest WHERE digest_text LIKE '%AS to_be_%'}), 0, 'nor what is read from it');

# ---- no place for it ----

$server->stop;
$server->conf("max_worker_processes = 0\n");
$server->mark_log;
$server->start;
is($server->sql(q{SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'pfs recorder'}), 0, 'without a place for it, there is none');
is($server->sql(q{SELECT count(*) > 0 FROM pfs.events_waits_history_long}), 't', 'and all else is recorded');
like($server->log_text, qr/too many background workers/, 'the log says so');

done_testing();
