# What it takes to read: status looks at all containers once, and a long history costs memory by
# what is in it.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/lib";
use PfsServer;
use Test::More;

my $rows = 20_000;
my $server = PfsServer->new('main', conf => <<"EOT");
autovacuum = off
pfs.events_waits_history_long_size = 300000
pfs.events_statements_history_long_size = $rows
EOT
$server->start;
$server->sql('CREATE EXTENSION pfs');

# Kilobytes, as the system says.
sub memory_of
{
	my ($pid, $what) = @_;

	open(my $in, '<', "/proc/$pid/status") or die "/proc/$pid/status: $!\n";
	my ($kb) = map { /^$what:\s+(\d+) kB/ ? $1 : () } <$in>;
	return $kb;
}

# ---- what nobody has written is not read ----

my $reader = $server->session;
my $before = memory_of($reader->pid, 'RssShmem');

$reader->query("SELECT count(*) FROM pfs.events_${_}_history_long") foreach qw(waits statements);
$reader->query('SELECT count(*) FROM pfs.containers');
# Both logs together have more than 60 MB, of which hardly anything was used.
cmp_ok(memory_of($reader->pid, 'RssShmem') - $before, '<', 20_000, 'to read an empty history makes nothing resident');

# ---- texts are copied as long as they are ----

my $writer = $server->session;

$writer->query("DO \$\$ BEGIN FOR i IN 1 .. $rows LOOP PERFORM 1 FROM pg_class LIMIT 1; END LOOP; END \$\$");
$reader->close;
$reader = $server->session;
$reader->query('SELECT count(*) FROM pfs.threads');
my ($peak, $anon) = map { memory_of($reader->pid, $_) } qw(VmHWM RssAnon);

is($reader->query('SELECT count(*) FROM pfs.events_statements_history_long'), $rows, 'the history is full');
my $mapped = memory_of($reader->pid, 'RssShmem') + memory_of($reader->pid, 'RssFile');
my $most = memory_of($reader->pid, 'VmHWM') - $mapped - $anon;

# Two copies of whole slots would be $rows times 3.3 kB.
cmp_ok($most, '<', $rows * 1.6, "at most $most kB for $rows statements");
is($reader->query('SELECT count(DISTINCT (thread_id, event_id)) > ' . ($rows - 50) . ', min(sql_text), max(length(sql_text)) FROM pfs.events_statements_history_long WHERE nesting_event_level = 1'),
	't|SELECT 1 FROM pg_class LIMIT 1|30', 'and each is whole') or diag($reader->last_error);
$_->close foreach $reader, $writer;

# ---- containers alone counts what is in a history ----

my $fresh = $server->session;

$fresh->query('SELECT count(*) FROM pfs.threads');
my $shared = memory_of($fresh->pid, 'RssShmem');

$fresh->query('SELECT count(*) FROM pfs.status');
my $by_status = memory_of($fresh->pid, 'RssShmem') - $shared;

is($fresh->query("SELECT records_used, records_high_water FROM pfs.containers WHERE name = 'events_statements_history_long'"), "$rows|$rows",
	'containers has the rows of a long history') or diag($fresh->last_error);
my $by_containers = memory_of($fresh->pid, 'RssShmem') - $shared - $by_status;

cmp_ok(2 * $by_status, '<', $by_containers, "status does not read it ($by_status kB where containers takes $by_containers)");
$fresh->close;

# ---- one look at all containers ----

# With no history to count.
$server->stop;
$server->start;

# Each of the rows of status once looked at all containers, which made it fifty times as much work
# as containers; so the least of some runs of each says which it is, whatever else the machine does.
sub milliseconds
{
	my ($table) = @_;
	my ($status, $out) = $server->psql("\\timing on\n" . "SELECT count(*) FROM pfs.$table;\n" x 10);

	return (sort { $a <=> $b } $out =~ /Time: ([\d.]+) ms/g)[0];
}

my ($all, $one);

for my $try (1 .. 20)
{
	my @now = map { milliseconds($_) } qw(status containers);

	$all = $now[0] if !defined $all || $now[0] < $all;
	$one = $now[1] if !defined $one || $now[1] < $one;
	last if $all < 8 * $one;
}
cmp_ok($all, '<', 8 * $one, "status takes as much work as containers ($all and $one ms)");
is($server->sql("SELECT count(*) FROM pfs.containers WHERE NOT EXISTS (SELECT FROM pfs.status WHERE variable_name = 'pfs_' || name || '_lost')"), 0, 'each container has its row of losses');

done_testing();
