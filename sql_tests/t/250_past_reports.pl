# pfs report --since: the report of a past time says what the load history has of it, in all media, also after a
# restart; and has an answer where there is no history, no right, or no such time.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/lib";
use JSON::PP ();
use PfsReports;
use PfsServer;
use Test::More;

needs_program();
my $server = PfsServer->new('main', conf => "autovacuum = off\npfs.load_history_interval = 1s");
$server->start;
$server->sql(<<'EOS');
CREATE EXTENSION pfs;
CREATE ROLE worker LOGIN; CREATE ROLE mon LOGIN IN ROLE pg_monitor; CREATE ROLE nobody LOGIN; CREATE ROLE reader LOGIN;
GRANT USAGE ON SCHEMA pfs TO reader; GRANT SELECT ON ALL TABLES IN SCHEMA pfs TO reader; GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA pfs TO reader;
CREATE TABLE item (i int PRIMARY KEY, v int); INSERT INTO item SELECT g, g FROM generate_series(1, 10) g;
GRANT ALL ON item TO worker;
EOS

# ---- a load ----

my ($holder, $waiter) = ($server->session, $server->session(user => 'worker'));
$holder->query('BEGIN; UPDATE item SET v = 0 WHERE i = 8');
$waiter->send('UPDATE item SET v = 1 WHERE i = 8');
ok($server->poll("SELECT count(*) > 2 FROM pfs.load_history WHERE event_name = 'wait/lock/transactionid' AND resolution = '1 s'", 't'), 'the history has a wait');
$holder->query('COMMIT');
$waiter->result;

# Periods that are over do not change; how long they are is the server's affair.
my ($since, $till) = split /\|/, $server->sql("SELECT min(period_start), max(period_end) FROM pfs.load_history WHERE resolution = '1 s'");
my @time = ('--since', $since, '--till', $till);
my $in_time = "resolution = '1 s' AND period_end > '$since' AND period_start < '$till'";
my $in_statements = "$in_time AND type = 'FOREGROUND' AND wait_event_type <> 'Idle in transaction'";
my $report = report($server, @time);

is($report->{source}, 'history', 'the report says what it is made from');
like($report->{notices}[0], qr/^From the load history, in periods of 00:00:01: /, 'and of which periods');
is(join("\n", sort map { "$_->{type}|$_->{time}|$_->{count}|" . ($_->{longest_running} // '') } rows($report, 'load')),
	join("\n", sort split /\n/, $server->sql("SELECT wait_event_type, sum(sum_timer_wait), sum(count_star), CASE WHEN wait_event_type <> 'CPU' THEN max(max_timer_wait) END FROM pfs.load_history WHERE $in_statements GROUP BY 1")),
	'load by kind of wait is that of SQL');
is($server->sql("SELECT max(max_timer_wait) > 0 FROM pfs.load_history WHERE $in_statements AND wait_event_type = 'CPU'"), 't', 'a statement that waits has a length');
is((rows($report, 'load', type => 'CPU'))[0]{longest_running}, undef, 'which is none of CPU');
is("$report->{figures}{time}", $server->sql("SELECT sum(sum_timer_wait) FROM pfs.load_history WHERE $in_statements"), 'and all of it');
is(scalar(@{ $report->{load}{periods} }), $server->sql("SELECT count(DISTINCT period_start) FROM pfs.load_history WHERE $in_statements"), 'in each period');
my ($row) = grep { $_->{statement} =~ /^UPDATE item/ && $_->{user_name} eq 'worker' } rows($report, 'statements');
is($row->{statement}, 'UPDATE item SET v = $1 WHERE i = $2', 'the statement that waited');
my ($wait) = grep { $_->{event_name} eq 'wait/lock/transactionid' } @{ $row->{waits} };
is("$wait->{time}", $server->sql("SELECT sum(sum_timer_wait) FROM pfs.load_history WHERE $in_statements AND user_name = 'worker' AND query_id = $row->{query_id} AND event_name = 'wait/lock/transactionid'"),
	'with its wait');
cmp_ok($wait->{time}, '>', 1e12, 'which took a while');
is("$row->{time}", $server->sql("SELECT sum(sum_timer_wait) FROM pfs.load_history WHERE $in_statements AND event_name IS NOT NULL AND user_name = 'worker' AND query_id = $row->{query_id}"), 'and its time');
ok((rows($report, 'waits', event_name => 'wait/lock/transactionid'))[0], 'the wait is among all waits');
cmp_ok((rows($report, 'users', user_name => 'worker'))[0]{time}, '>=', $row->{time}, 'and the role among the users');
is(scalar(grep { $_->{event_name} =~ /^wait\/lock\/transactionid/ } rows($report, 'background')), 0, 'but it is no wait of the background');

is(scalar(grep { / off/ } @{ $report->{notices} }), 0, 'nothing is said of switches while all are on');
$server->sql("SELECT pfs.set_consumers('statements_digest', 'NO')");
ok((grep { /^At this moment: The consumer statements_digest is off: no statement is in the load; SELECT / } @{ report($server, @time)->{notices} })[0], 'but that the history gets no statements now');
$server->sql("SELECT pfs.set_consumers('statements_digest', 'YES')");

# What is not among the largest of its period has no name, and is a part of the whole load all the same.
my $many = $server->session;
my $begun = $server->sql('SELECT clock_timestamp()');
$many->query(join '; ', map { 'SELECT ' . join(', ', (1) x $_) . ', pg_sleep(0.002)' } 1 .. 300);
my $nameless = "SELECT min(period_start), max(period_end) FROM pfs.load_history WHERE resolution = '1 s' AND type = 'FOREGROUND'"
  . " AND wait_event_type <> 'Idle in transaction' AND event_name IS NULL AND sum_timer_wait > 0 AND period_end > '$begun'";
ok($server->poll("SELECT count(*) > 0 FROM ($nameless) n (since, till) WHERE since IS NOT NULL"), 'some statements have no names');
my $whole = report($server, map { ("--$_->[0]", $_->[1]) } [ since => (split /\|/, $server->sql($nameless))[0] ], [ till => (split /\|/, $server->sql($nameless))[1] ]);
foreach my $section (qw(statements users))
{
	my @wrong = grep { abs($_->{share} - $_->{time} / $whole->{figures}{time}) > 1e-4 } rows($whole, $section);
	my $sum = 0;

	is(scalar(@wrong), 0, "$section: the share is of the whole load");
	$sum += $_->{share} foreach rows($whole, $section);
	cmp_ok($sum, '<', 0.9999, 'which has more than they have');
}

# A part of the time has no more than its periods.
my ($from, $to) = split /\|/, $server->sql(qq{SELECT period_start, period_end FROM pfs.load_history WHERE $in_statements AND event_name = 'wait/lock/transactionid' ORDER BY period_start OFFSET 1 LIMIT 1});
my $part = report($server, '--since', $from, '--till', $to);
is(scalar(@{ $part->{load}{periods} }), 1, 'one period');
is($part->{load}{periods}[0]{start}, $server->sql("SELECT (extract(epoch FROM '$from'::timestamptz) * 1e6)::bigint"), 'is that which was asked for');

# ---- the connection's time zone, everywhere ----

foreach my $zone ('Asia/Kathmandu', 'America/St_Johns', 'UTC')
{
	my $in_zone = { env => { PGTZ => $zone } };
	my ($status, $text) = program($in_zone, $server, 'report', '--format', 'text', '--since', $from, '--till', $to);
	my $expected = $server->sql("SET TIME ZONE '$zone'; SELECT to_char('$from'::timestamptz, 'YYYY-MM-DD HH24:MI:SS') || ' to ' || to_char('$to'::timestamptz, 'YYYY-MM-DD HH24:MI:SS') || ' $zone'");

	like($text, qr/^\Q$expected\E, /m, "$zone: as the server shows the time, with the zone once");
	is(scalar(() = $text =~ /\Q$zone\E/g), 1, 'and no more');
	is(JSON::PP->new->utf8->decode((program($in_zone, $server, 'report', '--format', 'json', '--since', $from, '--till', $to))[1])->{time_zone}, $zone, 'JSON names it');
	my $page = (program($in_zone, $server, 'report', '--since', $from, '--till', $to))[1];
	like($page, qr/<p class="period">\Q$expected\E, /, 'so does the page');
	like($page, qr/"zone":"\Q$zone\E","changes":\[\[0,-?\d+\]/, 'whose plot knows it');
	# What is asked for is in the same zone.
	my ($since, $till) = split / to /, $expected =~ s/ \Q$zone\E$//r;
	my $read = JSON::PP->new->utf8->decode((program($in_zone, $server, 'report', '--format', 'json', '--since', $since, '--till', "$till.999"))[1]);
	is(scalar(grep { $_->{start} == $part->{load}{periods}[0]{start} } @{ $read->{load}{periods} }), 1, 'and a time is read as it was shown');
}

# ---- media ----

my $folder = PfsServer::folder();
my ($status, $out, $err) = program($server, 'report', '--format', 'text', @time);
is("$status|$err", '0|', 'as text');
like($out, qr/UPDATE item SET v = \$1 WHERE i = \$2/, 'which has the statement');
like($out, qr/^At most .* at (\d{4}-\d\d-\d\d )?\d\d:\d\d:\d\d$/m, 'and when the load was highest');
($status, $out, $err) = program($server, 'report', '--output', "$folder/page.html", @time);
is("$status|$out|$err", '0||', 'as a page');
like(slurp("$folder/page.html"), qr{<summary>UPDATE item SET v = \$1 WHERE i = \$2</summary>}, 'which has it, too');
SKIP:
{
	skip 'python3-jsonschema is not installed', 1 if system('python3 -c "import jsonschema" 2>/dev/null') != 0;
	spew("$folder/json", (program($server, 'report', '--format', 'json', @time))[1]);
	is(system('python3', '-c', 'import json, sys, jsonschema; jsonschema.validate(json.load(open(sys.argv[1])), json.load(open(sys.argv[2])))',
			"$folder/json", "$FindBin::RealBin/../../docs/report.schema.json"), 0, 'JSON is as its schema says');
}

# ---- times ----

my $hour = report($server, '--since', '1 hour');
like(join("\n", @{ $hour->{notices} }), qr/^The load history of this time begins at /m, 'an interval, and what it does not have');
cmp_ok($hour->{figures}{time}, '>=', $report->{figures}{time}, 'of which the other time is a part');
unlike(slurp($server->{logfile}), qr/ERROR:  invalid input/, 'without an error in the log');
my $before = report($server, '--since', '2001-01-01', '--till', '2001-01-02');
like(join("\n", @{ $before->{notices} }), qr/no period with a running statement in this time/, 'a time before the history');
is("$before->{figures}{time}", 0, 'has nothing');
foreach (
	[ qr/the time is empty: --till is not behind --since/ => '--since', $till, '--till', $since ],
	[ qr/the time is empty: --since is not in the past/ => '--since', 'tomorrow' ],
	[ qr/option --since takes a time, such as .* not "yesteryear"/ => '--since', 'yesteryear' ],
	[ qr/option --since takes a time, .* not "infinity"/ => '--since', 'infinity' ],
	[ qr/option --till takes a time, .* not ""/ => '--since', '1 hour', '--till', '' ],
	[ qr/give one of: two snapshots, --seconds, --since/ => '--since', '1 hour', '--seconds', '1' ])
{
	my ($message, @words) = @$_;

	($status, $out, $err) = program($server, 'report', @words);
	is("$status|$out", '2|', "report @words: status 2");
	like($err, qr/^pfs: $message/, 'and why');
}

# ---- rights ----

is(json_as('mon', @time), json_as('postgres', @time), 'pg_monitor gets the same report');
my $reader = JSON::PP->new->utf8->allow_bignum->decode(json_as('reader', @time));
is(scalar(grep { $_->{statement} =~ /^UPDATE item/ } rows($reader, 'statements')), 0, 'who may not see statements does not');
like(join("\n", @{ $reader->{notices} }), qr/Role "reader" does not see the statements of other roles: GRANT /, 'and is told so');
is("$reader->{figures}{time}", "$report->{figures}{time}", 'the load is the same');
($status, $out, $err) = program({ user => 'nobody' }, $server, 'report', @time);
is("$status|$out", '2|', 'no report without rights');
like($err, qr/GRANT pg_monitor TO "nobody"/, 'and what to do');

# The report as a role gets it, without the name of who has read it.
sub json_as
{
	my ($user, @words) = @_;
	my ($code, $text, $said) = program({ user => $user }, $server, qw(report --format json --rows 100000), @words);

	is($code, 0, "as $user") or diag($said);
	return $text =~ s/("read as": )"\w+"/$1""/r;
}

# ---- a restart, and no history ----

my $kept = json_as('postgres', @time);
$server->restart;
is(json_as('postgres', @time), $kept, 'a restart keeps the past');
$server->conf("pfs.load_history_interval = 0\npfs.save = off");
$server->restart;
$server->sql('TRUNCATE pfs.load_history');
($status, $out, $err) = program($server, 'report', '--since', '1 hour');
is("$status|$out", '1|', 'without a history there is no report');
like($err, qr/^pfs: the server has no load history: pfs\.load_history_interval is 0/, 'and it is said why');

done_testing();
