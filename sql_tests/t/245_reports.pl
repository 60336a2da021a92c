# Reports of known loads: numbers equal those of SQL; restarts and resets in between are
# said; what has no rights, no library, nothing recorded, or is a standby, has an answer.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/lib";
use PfsServer;
use PfsReports;
use Test::More;

needs_program();

my $server = PfsServer->new('main', conf => <<'EOT');
autovacuum = off
pfs.instruments = 'wait/io/table/%=ON, memory/%=ON'
EOT
$server->start;
$server->sql('CREATE EXTENSION pfs');
my $folder = PfsServer::folder();

# What SQL says of the statement, by which two moments are compared.
my $query_id;
sub known
{
	my %known;

	@known{qw(count time rows errors)} = split /\|/, $server->sql(qq{
		SELECT sum(count_star), sum(sum_timer_wait), sum(sum_rows_sent + sum_rows_affected), sum(sum_errors)
		  FROM pfs.events_statements_summary_by_digest WHERE query_id = $query_id});
	$known{waits} = { map { my ($name, @numbers) = split /\|/; ($name => \@numbers) } split /\n/, $server->sql(qq{
		SELECT event_name, sum(count_star), sum(sum_timer_wait)
		  FROM pfs.events_waits_summary_by_digest WHERE query_id = $query_id GROUP BY 1}) };
	return \%known;
}

sub snapshot
{
	my ($name, %options) = @_;

	# What was sent before has ended when this has begun; its result was here a moment sooner.
	$server->sql('SELECT 1');
	my ($status, $out, $err) = program(\%options, $server, 'snapshot', "$folder/$name");

	is($status, 0, "snapshot $name") or diag($err);
	is($err, '', 'without a word');
	is($out, '', 'and without output');
	return "$folder/$name";
}

# ---- an empty server ----

my $first = snapshot('first');
is((stat $first)[2] & 0777, 0600, 'only the owner can read a snapshot');
my $second = snapshot('second');
my $empty = report($server, $first, $second);
is($empty->{source}, 'snapshots', 'the report says what it is made from');
cmp_ok($empty->{from}, '<', $empty->{till}, 'and of which time');
is(scalar @{ $empty->{notices} }, 0, 'there is nothing to say of an empty server');
is(scalar rows($empty, 'table_locks'), 0, 'which had no locks');
is($empty->{figures}{lost}, 0, 'and lost nothing');

# ---- a known load ----

$server->sql('CREATE TABLE known (n int, t text)');
$server->sql(q{INSERT INTO known SELECT i, repeat('x', 2000) FROM generate_series(1, 500) i});
$server->sql('SELECT count(*) FROM known');
$query_id = $server->sql(q{SELECT query_id FROM pfs.events_statements_summary_by_digest WHERE digest_text = 'SELECT count(*) FROM known'});
my $before = known();
my $a = snapshot('a');
$server->sql('SELECT count(*) FROM known') foreach 1 .. 7;
is(($server->psql('SELECT 1 / 0'))[0], 3, 'an error') foreach 1 .. 3;
$server->sql('INSERT INTO known VALUES (0)') foreach 1 .. 5;
my $b = snapshot('b');
my $after = known();
my $report = report($server, $a, $b);
my ($row) = rows($report, 'statements', query_id => $query_id);

is($row->{statement}, 'SELECT count(*) FROM known', 'the statement is there');
is($row->{count}, 7, 'as often as it ran');
is($row->{count}, $after->{count} - $before->{count}, 'as SQL says');
is("$row->{time}", Math::BigInt->new($after->{time})->bsub($before->{time})->bstr, 'with the time that SQL says');
is($row->{rows}, $after->{rows} - $before->{rows}, 'and its rows');
cmp_ok($row->{quantile_95}, '>', 0, 'a quantile of the time in between');
my %waits = map { $_->{event_name} => $_ } @{ $row->{waits} };
my @expected = grep { $after->{waits}{$_}[0] != ($before->{waits}{$_}[0] // 0) } keys %{ $after->{waits} };
is(join(' ', sort keys %waits), join(' ', sort @expected), 'it has the waits that SQL says');
foreach my $name (sort @expected)
{
	is($waits{$name}{count}, $after->{waits}{$name}[0] - ($before->{waits}{$name}[0] // 0), "$name: as many");
	is("$waits{$name}{time}", Math::BigInt->new($after->{waits}{$name}[1])->bsub($before->{waits}{$name}[1] // 0)->bstr, "$name: as long");
}
my $sum = Math::BigInt->new(0);
$sum->badd($_) foreach values %{ $row->{on} };
cmp_ok($sum, '==', $row->{time}, 'what its time was spent on adds up to its time');
my ($error) = rows($report, 'errors', sql_state => '22012');
is($error->{raised}, 3, 'the errors are there');
is($report->{figures}{errors}, 3, 'and counted first');
my ($table) = rows($report, 'tables', object_name => 'known');
is($table->{inserted}, 5, 'rows inserted');
is($table->{fetched}, 7 * 500 + (0 + 0), 'and fetched');
my ($file) = rows($report, 'files', kind => 'WAL');
cmp_ok($file->{bytes_written}, '>', 0, 'WAL was written');
cmp_ok((rows($report, 'memory', event_name => 'memory/context/CacheMemoryContext'))[0]{used}, '>', 0, 'memory is in use');

# The same in the other media.
my ($status, $text) = program($server, 'report', '--format', 'text', $a, $b);
is($status, 0, 'as text');
like($text, qr/^ SELECT count\(\*\) FROM known +\|/m, 'which has the statement');
my $page = "$folder/page.html";
($status, my $out, my $err) = program($server, 'report', '--output', $page, $a, $b);
is("$status$out$err", '0', 'as a page, in a file');
is((stat $page)[2] & 0777, 0600, 'that only the owner can read');
like(slurp($page), qr{<summary>SELECT count\(\*\) FROM known</summary>}, 'which has the statement');
unlike(slurp($page) =~ s{<!--.*?-->|<script>.*?</script>}{}gsr, qr{https?:|src=|\@import|url\(}i, 'and loads nothing');

# JSON as its schema says, of a report with rows and of one without.
SKIP:
{
	my $validate = 'import json, sys, jsonschema; jsonschema.validate(json.load(open(sys.argv[1])), json.load(open(sys.argv[2])))';
	my $schema = "$FindBin::RealBin/../../docs/report.schema.json";

	skip 'python3-jsonschema is not installed', 3 if system('python3 -c "import jsonschema" 2>/dev/null') != 0;
	foreach my $pair ([ $first, $second ], [ $a, $b ])
	{
		spew("$folder/json", (program($server, 'report', '--format', 'json', @$pair))[1]);
		is(system('python3', '-c', $validate, "$folder/json", $schema), 0, "the JSON of @$pair is as its schema says");
	}
	spew("$folder/json", slurp("$folder/json") =~ s/"figures"/"figure"/r);
	isnt(system("python3 -c '$validate' $folder/json $schema 2>/dev/null"), 0, 'which would see another name');
}

# ---- a server that is watched ----

my $live = report($server, '--seconds', 1);
is($live->{source}, 'live', 'the next second of a server');
my ($own) = grep { $_->{statement} =~ /pfs\.setup_instruments/ } rows($live, 'statements');
ok($own, 'in which at least we were there');

# ---- more shapes of statements than there is memory for ----

sub total
{
	my ($file, $table, $column) = @_;
	my $snapshot = JSON::PP->new->utf8->decode(slurp($file));
	my ($found) = grep { $_->{name} eq $table } @{ $snapshot->{tables} };
	my ($at) = grep { $found->{columns}[$_] eq $column } 0 .. $#{ $found->{columns} };
	my $total = Math::BigInt->new(0);

	$total->badd($_->[$at]) foreach @{ $found->{rows} };
	return $total;
}

# A statement with a shape of its own.
sub shape { return 'SELECT ' . join(', ', (1) x $_[0]); }

$server->conf('pfs.digests_size = 60');
$server->restart;
$server->sql(shape($_)) foreach 101 .. 140;
my $many_a = snapshot('many_a');
$server->sql(shape($_)) foreach 201 .. 400;
my $many_b = snapshot('many_b');
$report = report($server, $many_a, $many_b);
my $counted = Math::BigInt->new(0);
$counted->badd($_->{count}) foreach rows($report, 'statements');
is($counted->bstr, total($many_b, 'events_statements_summary_by_digest', 'count_star')
	  ->bsub(total($many_a, 'events_statements_summary_by_digest', 'count_star'))->bstr, 'no statement is lost or counted twice');
ok((grep { $_->{statement} eq '(all others)' } rows($report, 'statements')), 'those without a row of their own are there');
cmp_ok($report->{figures}{lost}, '>=', 0, 'what was lost is counted');

# The same between two looks of a screen: what statements had counted before they were forgotten is
# not of the time in between.
my $busy = $server->session;
$busy->query(join '; ', map { shape($_) } (1 .. 20) x 100);
my $looks = program_start($server, qw(statements --seconds 5 --limit 0 --format json));
ok($server->poll("SELECT count(*) FROM pg_stat_activity WHERE application_name = 'pfs statements' AND state = 'idle' AND query LIKE '%events_waits_summary_by_digest%'", 1), 'the first look is taken');
# However long these take, the second one comes behind them.
$looks->{handle}->signal('STOP');
$busy->query(join '; ', map { shape($_) } (21 .. 140) x 2);
$looks->{handle}->signal('CONT');
my (undef, $json) = program_end($looks);
my @rows = @{ JSON::PP->new->utf8->decode($json) };
my $calls = 0;

cmp_ok($server->sql(q{SELECT count(*) FROM pfs.events_statements_summary_by_digest WHERE digest_text ~ '^SELECT \$1(, \$[0-9]+){0,19}$'}), '<', 10, 'statements of before have made room');
$calls += $_->{calls} foreach @rows;
cmp_ok($calls, '>', 200, 'a screen has those that ended in its time');
cmp_ok($calls, '<', 1500, 'and no others, also among all others');

# ---- a reset, a restart ----

$server->conf("pfs.digests_size = -1\npfs.save = off");
$server->restart;
my $restarted = snapshot('restarted');
$report = report($server, $a, $restarted);
like(join("\n", @{ $report->{notices} }), qr/^The server was restarted/m, 'a restart is said');
unlike(join("\n", @{ $report->{notices} }), qr/was reset/, 'and not once more for each table');
cmp_ok($report->{figures}{statements}, '>', 0, 'numbers are those since then');
cmp_ok($report->{figures}{statements}, '<', total($a, 'events_statements_summary_global_by_event_name', 'count_star'), 'not less those before');

$server->sql('SELECT count(*) FROM known') foreach 1 .. 3;
my $unreset = snapshot('unreset');
$server->sql('TRUNCATE pfs.events_statements_summary_by_digest');
$server->sql('SELECT count(*) FROM known') foreach 1 .. 2;
my $reset = snapshot('reset');
$report = report($server, $unreset, $reset);
like(join("\n", @{ $report->{notices} }), qr/^events_statements_summary_by_digest was reset at /m, 'a reset is said');
unlike(join("\n", @{ $report->{notices} }), qr/restarted/, 'and is no restart');
($row) = rows($report, 'statements', query_id => $query_id);
is($row->{count}, 2, 'numbers are those since the reset');

# ---- rights ----

$server->sql('CREATE ROLE monitor LOGIN; GRANT pg_monitor TO monitor; CREATE ROLE nobody LOGIN; CREATE ROLE reader LOGIN');
$server->sql('CREATE ROLE empty LOGIN; GRANT USAGE ON SCHEMA pfs TO empty; GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA pfs TO empty');
($status, $out, $err) = program({ user => 'empty' }, $server, 'snapshot', "$folder/empty");
is("$status|$out", '1|', 'nor without the right to one table at least');
like($err, qr/^pfs: no table could be read: permission denied for .*\n\z/, 'which is said');
ok(!-e "$folder/empty", 'and no file is left behind');
$server->sql('GRANT USAGE ON SCHEMA pfs TO reader; GRANT SELECT ON ALL TABLES IN SCHEMA pfs TO reader');
$server->sql('GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA pfs TO reader');
snapshot('monitor', user => 'monitor');
($status, $out, $err) = program({ user => 'nobody' }, $server, 'snapshot', "$folder/nobody");
is($status, 2, 'without rights there is no snapshot');
like($err, qr/GRANT pg_monitor TO "nobody"/, 'and it is said what to do');
ok(!-e "$folder/nobody", 'no file is left behind');
my $reader_a = snapshot('reader_a', user => 'reader');
my $reader_b = snapshot('reader_b', user => 'reader');
$report = report($server, $reader_a, $reader_b);
like(join("\n", @{ $report->{notices} }), qr/Role "reader" does not see the statements of other roles/, 'who does not see texts is told so');
is(scalar(grep { ($_->{user_name} // '') eq 'postgres' && $_->{statement} !~ /^\(not shown/ } rows($report, 'statements')), 0, 'and sees none');
my $sees_all = snapshot('sees_all');
like(join("\n", @{ report($server, $reader_a, $sees_all)->{notices} }), qr/Role "reader" of one snapshot does not see .* role "postgres" of the other does/,
	'snapshots by readers who see different things: it is said');

# ---- two databases ----

$server->sql('CREATE DATABASE other');
$server->psql('CREATE EXTENSION pfs', db => 'other');
my $elsewhere = snapshot('elsewhere', env => { PGDATABASE => 'other' });
like(join("\n", @{ report($server, $sees_all, $elsewhere)->{notices} }), qr/read in databases "postgres" and "other"/,
	'what has names in its own database only: it is said');

# ---- files that have gone ----

# A cursor holds its temporary file; the second one's is the smaller.
my $sorts = $server->session;
sub sort_rows
{
	my ($number) = @_;

	$sorts->query("BEGIN; SET LOCAL work_mem = 64; DECLARE c CURSOR FOR SELECT generate_series(1, $number) ORDER BY 1 DESC; FETCH c");
	return snapshot("sorted_$number");
}
my $large = sort_rows(200000);
$sorts->query('COMMIT');
my $small = sort_rows(20000);
$sorts->query('COMMIT');
my ($temporary) = rows(report($server, $sees_all, $large), 'files', kind => 'temporary');
cmp_ok($temporary->{bytes_written}, '>', 500000, 'what a temporary file that is there counts');
$report = report($server, $large, $small);
my $new = 0;
$new += $_->{bytes_written} foreach rows($report, 'files', kind => 'temporary');
cmp_ok($new, '>', 50000, 'what a smaller one has written is new, although the larger one has gone');
cmp_ok($new, '<', $temporary->{bytes_written} / 2, 'and nothing of what that had written before');
is(scalar(grep { /file_summary_by_relation/ } @{ $report->{notices} }), 0, 'and no row is said to have been reset');
cmp_ok($report->{figures}{bytes_written}, '>', 50000, 'the figure has what was written');

# ---- an output that cannot be written ----

for my $words ([ 'report' ], [ 'waits' ], [ 'trace' ], [ 'flame' ])
{
	($status, $out, $err) = program($server, @$words, '--seconds', 3600, '--output', '/nonexistent/file');
	is($status, 1, "@$words: a file that cannot be made");
	like($err, qr/cannot make the file "\/nonexistent\/file"/, 'is told at once, not after an hour');
}

# ---- nothing recorded ----

# A program ends before its session does, and what that has begun counts when it ends.
$server->poll("SELECT count(*) FROM pfs.threads WHERE type = 'FOREGROUND' AND thread_os_id NOT IN (pg_backend_pid(), " . $sorts->pid . ')', 0)
  or die 'sessions are left';
$server->sql(q{SELECT pfs.set_consumers('global_instrumentation', 'NO')});
my $off_a = snapshot('off_a');
my $off_b = snapshot('off_b');
$report = report($server, $off_a, $off_b);
like(join("\n", @{ $report->{notices} }), qr/Consumer global_instrumentation is off: nothing is recorded/, 'nothing is recorded: it is said');
is($report->{figures}{statements}, 0, 'and nothing is shown');
$server->sql(q{SELECT pfs.set_consumers('%', 'YES'); SELECT pfs.set_instruments('wait/io/table/%', 'NO')});
my $no_tables = report($server, snapshot('no_tables_a'), snapshot('no_tables_b'));
my ($tables) = grep { $_->{id} eq 'tables' } @{ $no_tables->{sections} };
like($tables->{empty}, qr/no instrument wait\/io\/table\/% is on/, 'a section says why it is empty');

$server->conf('pfs.enabled = off');
$server->restart;
($status, $out, $err) = program($server, 'snapshot', "$folder/off");
is($status, 2, 'with pfs.enabled = off there is no snapshot');
like($err, qr/pfs\.enabled/, 'and it is said why');
$server->conf("pfs.enabled = on\nshared_preload_libraries = ''");
$server->restart;
($status, $out, $err) = program($server, 'report', '--seconds', 1);
is($status, 2, 'without the library there is no report');
like($err, qr/shared_preload_libraries/, 'and it is said what to do');

# ---- a standby ----

$server->conf("shared_preload_libraries = 'pfs'");
$server->restart;
my $primary_snapshot = snapshot('primary');
my $backup = "$folder/backup";
PfsServer::run_ok(PfsServer::bindir() . '/pg_basebackup', '-d', $server->connstr, '-D', $backup, '-R', '-c', 'fast', '--no-sync');
my $standby = PfsServer->new('standby', from => $backup);
$standby->start;
$live = report($standby, '--seconds', 1);
is($live->{server}{standby}, 'yes', 'a standby is watched as any server');
is((program($standby, 'snapshot', "$folder/of_standby"))[0], 0, 'and has snapshots');
$report = report($server, $primary_snapshot, "$folder/of_standby");
like(join("\n", @{ $report->{notices} }), qr/two servers of one cluster/, 'a report of both means nothing, and says so');

done_testing();
