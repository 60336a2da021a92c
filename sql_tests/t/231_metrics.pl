# pfs metrics: its numbers are those of SQL, in both formats; many servers, of which one stands still, and what a client
# may ask for. Debian's Prometheus, unpacked by scripts/setup, scrapes it, and its promtool finds nothing to say.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/lib";
use HTTP::Tiny;
use IPC::Run ();
use JSON::PP ();
use PfsServer;
use Test::More;

use Time::HiRes qw(sleep time);

my $pfs = PfsServer::bindir() . '/pfs';
plan skip_all => 'the program pfs is not installed' unless -x $pfs;
my $cache = $ENV{PFS_CACHE} // '/var/cache/pfs-test';
my $prometheus = "$cache/prometheus/usr/bin/prometheus";
my ($promtool) = grep { -x } "$cache/prometheus/usr/bin/promtool", "$cache/promtool/usr/bin/promtool";

my @names = ('main', 'second', 'odd "one"');
my %server;
foreach my $name (@names)
{
	$server{$name} = PfsServer->new($name =~ s/\W+/_/gr, conf => "autovacuum = off\nmax_connections = 30\npfs.digests_size = 5000");
	$server{$name}->start;
	$server{$name}->sql('CREATE EXTENSION pfs; CREATE ROLE mon LOGIN IN ROLE pg_monitor; CREATE ROLE nobody LOGIN');
}
my $main = $server{main};

sub conninfo { return $_[0]->connstr =~ s/user=postgres/user=mon/r; }

# The program with these arguments: exit status, output, messages.
sub run_pfs
{
	my (@arguments) = @_;
	my ($out, $err) = ('', '');

	IPC::Run::run([ $pfs, 'metrics', @arguments ], '<', \undef, '>', \$out, '2>', \$err, IPC::Run::timeout($PfsServer::timeout));
	return ($? >> 8, $out, $err);
}

# Samples as { 'name{labels}' => value }.
sub samples
{
	my ($text) = @_;
	return { map { /^([^#\s].*) (\S+)$/ ? ($1 => $2) : () } split /\n/, $text };
}

# ---- once: numbers that stand still are those of SQL ----

$main->sql("SELECT pfs.reset('events_statements_summary_by_digest')");
$main->psql("SELECT $_/0") foreach 1 .. 3;
$main->sql("CREATE TABLE counted (n int)");
$main->sql("INSERT INTO counted VALUES ($_)") foreach 1 .. 7;
$main->sql("SELECT E'a\\\\b\\n\"c\"' AS \"x\\y\nz\" FROM counted");
# Since 19 no role has a line end in its name.
my $end = PfsServer::version() >= 19 ? ' ' : "\n";
$main->sql("CREATE ROLE \"we\"\"i\\r${end}d\" LOGIN;");
my $weird = $main->session(user => '\'we"i\\\\r' . "${end}d'");
$weird->query('SELECT 1');

my @limit = ('--time-limit', $PfsServer::timeout);
my ($status, $text, $err) = run_pfs('--once', @limit, '--target', 'main=' . conninfo($main));
is($status, 0, 'it reads one server') or diag($err);
is($err, '', 'and has nothing to say');
my $s = samples($text);
is($s->{'pfs_up{server="main"}'}, 1, 'which is up');
is($s->{'pfs_errors_total{server="main",error="division_by_zero",sqlstate="22012",severity="ERROR"}'}, 3, 'errors');
is($s->{'pfs_statements_total{server="main",statement="sql/insert"}'},
	$main->sql("SELECT count_star FROM pfs.events_statements_summary_global_by_event_name WHERE event_name = 'statement/sql/insert'"), 'statements by kind');
my $insert = $main->sql("SELECT query_id, sum_timer_wait * 0.000000000001 FROM pfs.events_statements_summary_by_digest WHERE digest_text LIKE 'INSERT INTO counted%'");
my ($id, $seconds) = split /\|/, $insert;
my $labels = "{server=\"main\",database=\"postgres\",user=\"postgres\",query_id=\"$id\"}";
is($s->{"pfs_query_calls_total$labels"}, 7, 'calls of a statement');
is($s->{"pfs_query_rows_total$labels"}, 7, 'its rows');
cmp_ok($s->{"pfs_query_seconds_total$labels"}, '==', $seconds, 'its time, in seconds');
is(scalar(grep { /^pfs_query_calls_total\{/ } keys %$s) <= 50, 1, 'no more than 50 statements');
if (PfsServer::version() < 19)
{
	local $ENV{PGOPTIONS} = '-c standard_conforming_strings=off';
	my $other = samples((run_pfs('--once', @limit, '--target', 'main=' . conninfo($main)))[1]);

	is(join("\n", sort grep { /^pfs_lost_total/ } keys %$other), join("\n", sort grep { /^pfs_lost_total/ } keys %$s),
		'a setting of the session changes no text of a query');
}
like($text, qr/^pfs_query_info\{.*query="SELECT \$1 AS \\"x\\\\y\\nz\\" FROM counted"\} 1$/m, 'texts are escaped');
is($s->{'pfs_connections{server="main",user="we\\"i\\\\r' . ($end eq ' ' ? ' ' : '\\n') . 'd"}'}, 1, 'names of roles, too');
is($s->{'pfs_file_written_bytes_total{server="main",event="wait/io/file/ReplicationSlotWrite"}'} // 'none', 'none', 'no files that nobody wrote');
my %lost = map { split /\|/ } split /\n/, $main->sql("SELECT regexp_replace(variable_name, '^pfs_(.*)_lost\$', '\\1'), variable_value FROM pfs.status WHERE variable_name ~ '_lost\$'");
is(join(',', map { $s->{"pfs_lost_total{server=\"main\",container=\"$_\"}"} // 'none' } sort keys %lost), join(',', map { $lost{$_} } sort keys %lost), 'losses of ' . keys(%lost) . ' containers');

# Histograms: buckets never go down, the last one is the count.
my (%last, %count, %bounds);
my $falls = 0;
foreach (split /\n/, $text)
{
	if (/^(pfs_\w+_duration_seconds)_bucket\{server="main",(?:(class="[^"]*"),)?le="([^"]*)"\} (\d+)$/)
	{
		my $histogram = "$1 " . ($2 // '');
		$falls++ if defined $last{$histogram} && ($4 < $last{$histogram}[1] || $last{$histogram}[0] eq '+Inf' || ($3 ne '+Inf' && $3 <= $last{$histogram}[0]));
		$last{$histogram} = [ $3, $4 ];
		$bounds{$histogram}{$3} = $4;
	}
	$count{ "$1 " . ($2 // '') } = $3 if /^(pfs_\w+_duration_seconds)_count\{server="main",?(class="[^"]*")?\} (\d+)$/;
}
is($falls, 0, 'buckets are in order');
cmp_ok(scalar(keys %last), '>=', 3, 'there are histograms');
# No sum over servers, and no rate over a restart, means anything unless bounds are the same.
is(join(';', grep { join(' ', sort { $a <=> $b } grep { $_ ne '+Inf' } keys %{ $bounds{$_} }) ne join(' ', map { sprintf '%.6f', (1 << $_) / 1e6 } 0 .. 30) } keys %bounds),
	'', 'all have the same bounds');
cmp_ok($bounds{'pfs_statement_duration_seconds '}{1.048576}, '>', 0, 'and count what is below');
cmp_ok($bounds{'pfs_statement_duration_seconds '}{1.048576}, '<=', $main->sql("SELECT coalesce(max(count_bucket_and_lower), 0) FROM pfs.events_statements_histogram_global WHERE bucket_timer_high <= 1048576000000"),
	'and no more');
is(join(' ', map { "$_=$last{$_}[0],$last{$_}[1]" } sort keys %last), join(' ', map { "$_=+Inf,$count{$_}" } sort keys %count), 'each ends with its count');
ok(!grep({ /class="(idle|wait\/io\/table|wait\/activity)"/ } keys %last), 'without waits for work');

# What another server answers gets into no line of others: here its superuser has put a view in the place of a table.
$server{second}->sql('CREATE DATABASE hostile');
$server{second}->psql(<<'EOT', db => 'hostile');
CREATE EXTENSION pfs;
ALTER FOREIGN TABLE pfs.status RENAME TO real_status;
CREATE VIEW pfs.status AS SELECT variable_name, variable_value FROM pfs.real_status
	UNION ALL VALUES ('pfs_planted_lost', '7'), ('pfs_broken_lost', E'0\npfs_up{server="main"} 0'), ('pfs_text_lost', 'many');
GRANT SELECT ON pfs.status TO mon;
EOT
($status, my $lies, $err) = run_pfs('--once', @limit, '--target', 'hostile=' . ($server{second}->connstr('hostile') =~ s/user=postgres/user=mon/r));
is($status, 0, 'a server that lies') or diag($err);
is(samples($lies)->{'pfs_lost_total{server="hostile",container="planted"}'}, 7, 'its numbers are read');
is(join(' ', grep { !/^\w+\{server="hostile"/ } keys %{ samples($lies) }), '', 'as its own alone');
unlike($lies, qr/container="(?:broken|text)"/, 'and nothing that is no number');

# ---- OpenMetrics ----

($status, my $open) = run_pfs('--once', '--openmetrics', @limit, '--target', 'main=' . conninfo($main));
is($status, 0, 'OpenMetrics');
like($open, qr/\n# EOF\n\z/, 'has an end');
like($open, qr/^# TYPE pfs_wait_seconds counter\n# UNIT pfs_wait_seconds seconds\npfs_wait_seconds_total\{/m, 'families without _total, with a unit');
like($open, qr/^# TYPE pfs_build info\npfs_build_info\{/m, 'infos');
like($text, qr/^# TYPE pfs_wait_seconds_total counter\npfs_wait_seconds_total\{/m, 'the text format has the whole name');
unlike($text, qr/^# (UNIT|EOF)/m, 'and no more');
my %seen;
is(join(' ', grep { $seen{$_}++ } $open =~ /^# TYPE (\S+)/mg), '', 'each family once');

# ---- command lines ----

foreach (
	[ [ '--listen', '127.0.0.1' ], 2, qr/--listen takes ADDRESS:PORT/ ],
	[ [ '--listen', '127.0.0.1:99999' ], 2, qr/--listen takes ADDRESS:PORT/ ],
	[ [ '--once', '--listen', '127.0.0.1:0' ], 2, qr/exclude each other/ ],
	[ ['--openmetrics'], 2, qr/need --once/ ],
	[ [ '--target', 'a=host=/x', '--target', 'a=host=/y' ], 2, qr/two servers are called "a"/ ],
	[ [ '--target', 'host=x nonsense=1' ], 2, qr/no connection string/ ],
	[ [ '--service-file', '/nonexistent' ], 2, qr/cannot read the service file/ ],
	[ [ '--once', @limit, '--target', 'x=' . (conninfo($main) =~ s/user=mon/user=nobody/r) ], 2, qr/x: .*GRANT pg_monitor/ ],
	[ [ '--once', @limit, '--target', 'x=' . (conninfo($main) =~ s/dbname=\w+/dbname=template1/r) ], 2, qr/x: .*CREATE EXTENSION pfs/ ],
	[ [ '--once', @limit, '--target', 'x=host=/nonexistent' ], 2, qr/^pfs.*x: .*No such file/ ])
{
	my ($arguments, $expected, $message) = @$_;
	my ($code, undef, $said) = run_pfs(@$arguments);

	is($code, $expected, "@$arguments: status $expected");
	like($said, $message, 'and a reason');
}

my $service_file = PfsServer::folder() . '/services.conf';
open my $file, '>', $service_file or die "$service_file: $!";
print $file "# two of them\n", map { my $c = conninfo($server{$_}); "  [$_]\n" . join("\n", split / /, $c) . "\n" } 'main', 'second';
close $file;
($status, $text) = run_pfs('--once', @limit, '--service-file', $service_file);
is(join(',', sort grep { /^pfs_up/ } keys %{ samples($text) }), 'pfs_up{server="main"},pfs_up{server="second"}', 'services of a file') or diag($text);
is($status, 0, 'all up');

# ---- on a port ----

my %process;

# Starts a program and waits for what it says on standard error.
sub start
{
	my ($name, $command, $word) = @_;
	my $log = PfsServer::folder() . "/$name.log";

	$process{$name} = IPC::Run::start($command, '<', '/dev/null', '>', '/dev/null', '2>', $log);
	for (my $end = time() + $PfsServer::timeout; time() < $end; sleep(0.05))
	{
		open my $in, '<', $log or next;
		local $/;
		return $1 if (<$in> // '') =~ $word;
	}
	die "$name does not start";
}

my $base = start('exporter', [ $pfs, 'metrics', '--listen', '127.0.0.1:0', '--time-limit', 5,
	map { ('--target', conninfo($server{$_}) =~ s/^/$_ eq $names[2] ? '' : "$_="/er) } @names ], qr{(http://127\.0\.0\.1:\d+)/metrics});
my $http = HTTP::Tiny->new(timeout => $PfsServer::timeout);

sub get
{
	my ($path, %headers) = @_;
	return $http->get("$base$path", { headers => \%headers });
}

# Until what Prometheus, or the exporter, says is so.
sub poll_until
{
	my ($code) = @_;

	for (my $end = time() + $PfsServer::timeout; time() < $end; sleep(0.2))
	{
		return 1 if $code->();
	}
	return 0;
}

my $third = (grep { !/"(main|second)"/ } grep { /^pfs_up/ } keys %{ samples(get('/metrics')->{content}) })[0];
sub ups { my $r = samples(get('/metrics', @_)->{content}); return join '', map { $r->{$_} // '-' } 'pfs_up{server="main"}', 'pfs_up{server="second"}', $third; }

ok(poll_until(sub { ups() eq '111' }), 'three servers');
my $r = get('/metrics', Accept => 'application/openmetrics-text;version=1.0.0,text/plain;q=0.5');
is($r->{headers}{'content-type'}, 'application/openmetrics-text; version=1.0.0; charset=utf-8', 'who accepts OpenMetrics gets it');
like($r->{content}, qr/# EOF\n\z/, 'to its end');
is(get('/metrics', Accept => 'application/openmetrics-text;q=0,text/plain')->{headers}{'content-type'}, 'text/plain; version=0.0.4; charset=utf-8', 'who refuses it does not');
is(get('/metrics', Accept => '*/*')->{headers}{'content-type'}, 'text/plain; version=0.0.4; charset=utf-8', 'nor anybody else');
is(join(',', grep { /^pfs_up/ } keys %{ samples(get('/metrics?target=second')->{content}) }), 'pfs_up{server="second"}', 'one server alone');
is(get('/metrics?target=nobody')->{status}, 404, 'none of that name');
is(get('/nowhere')->{status}, 404, 'nowhere');
is($http->post("$base/metrics", { content => 'x' })->{status}, 405, 'nothing to send');

$server{second}->stop('fast');
ok(poll_until(sub { ups() eq '101' }), 'one that is stopped is down');
$server{second}->start;
ok(poll_until(sub { ups() eq '111' }), 'and up again when it is there');

# What keeps it from reading can be mended without a new connection.
$server{second}->sql('REVOKE pg_monitor FROM mon');
my $refused = start('refused', [ $pfs, 'metrics', '--listen', '127.0.0.1:0', '--time-limit', 5, '--target', conninfo($server{second}) ], qr{(http://127\.0\.0\.1:\d+)/metrics});
sub up_of_refused { return $http->get("$refused/metrics")->{content} =~ /^pfs_up\{.*\} (\d)$/m ? $1 : '-' }
ok(poll_until(sub { up_of_refused() eq '0' }), 'who may not read is down');
$server{second}->sql('GRANT pg_monitor TO mon');
ok(poll_until(sub { up_of_refused() eq '1' }), 'and up when it may');

# A server that stands still, with all its processes.
sub signal_all
{
	my ($signal) = @_;
	my $postmaster = $server{second}->postmaster_pid;
	my @children = split ' ', qx{ps -o pid= --ppid $postmaster};

	kill $signal, $postmaster, @children;
}

SKIP:
{
	skip "no Prometheus in $cache: scripts/setup test gets it", 9 unless -x $prometheus && $promtool;

	my ($out, $said) = ('', '');
	my $metrics = get('/metrics')->{content};

	IPC::Run::run([ $promtool, 'check', 'metrics' ], '<', \$metrics, '>', \$out, '2>', \$said);
	is("$out$said", '', 'promtool has nothing to say');

	my $dir = PfsServer::folder() . '/prometheus';
	my $port = PfsServer::free_port();
	mkdir $dir;
	open my $config, '>', "$dir/prometheus.yml" or die $!;
	print $config "global: {scrape_interval: 1s, scrape_timeout: 1s}\nscrape_configs: [{job_name: pfs, scrape_interval: 6s, scrape_timeout: 6s, static_configs: [{targets: ['" . ($base =~ s{http://}{}r) . "']}]}]\n";
	close $config;
	start('prometheus', [ $prometheus, "--config.file=$dir/prometheus.yml", "--storage.tsdb.path=$dir/data", "--web.listen-address=127.0.0.1:$port" ],
		qr/(Server is ready)/);

	# The value of a metric of one server, as Prometheus has it now.
	my $value = sub {
		my ($query) = @_;
		my $answer = $http->get("http://127.0.0.1:$port/api/v1/query?" . $http->www_form_urlencode({ query => $query }));
		return join ',', map { $_->{value}[1] } @{ JSON::PP::decode_json($answer->{content})->{data}{result} };
	};

	ok(poll_until(sub { $value->('sum(pfs_up)') eq '3' }), 'Prometheus scrapes three servers');
	is($value->('pfs_errors_total{server="main",error="division_by_zero"}'), 3, 'and has their numbers');
	is($value->("pfs_query_calls_total{server=\"main\",query_id=\"$id\"}"), 7, 'of statements, too');
	my $metadata = JSON::PP::decode_json($http->get("http://127.0.0.1:$port/api/v1/targets/metadata?metric=pfs_wait_seconds")->{content});
	is($metadata->{data}[0]{unit}, 'seconds', 'from OpenMetrics, which knows units');

	signal_all('STOP');
	ok(poll_until(sub { $value->('pfs_up{server="second"}') eq '0' }), 'one that stands still is down');
	is($value->('sum(pfs_up)'), 2, 'the others arrive');
	is($value->('up'), 1, 'in a scrape that is in time');
	signal_all('CONT');
	ok(poll_until(sub { $value->('sum(pfs_up)') eq '3' }), 'and it when it goes on');
	$process{prometheus}->signal('TERM');
	$process{prometheus}->finish;
}
signal_all('CONT');

foreach (qw(exporter refused))
{
	$process{$_}->signal('TERM');
	ok($process{$_}->finish, "a signal ends $_ in order");
}
$weird->close;

done_testing();
