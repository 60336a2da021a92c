# What is counted of an idle session's memory is what its contexts hold: context by
# context, to the byte, with what they use for themselves and what was there before.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/lib";
use PfsServer;
use Test::More;

my $module = test_module('pfs_test_memory');

# The first page that a session makes writable is a table of methods: what its
# contexts hold at this moment nobody has counted.
my $witness = compile('note_contexts', <<'EOC');
#include <dlfcn.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

int
mprotect(void *address, size_t length, int protection)
{
	static pid_t noted;
	void		(*note) (void) = (void (*) (void)) dlsym(RTLD_DEFAULT, "pfs_test_note_contexts");

	if (note && noted != getpid())
	{
		noted = getpid();
		note();
	}
	return syscall(SYS_mprotect, address, length, protection);
}
EOC

my $server = PfsServer->new('main', preload => "$module,pfs", conf => <<'EOT2');
autovacuum = off
pfs.instruments = 'memory/%=ON'
EOT2
$server->start(env => { LD_PRELOAD => $witness });
$server->sql(test_functions('pfs_test_memory'));
$server->sql(<<'EOT2');
CREATE EXTENSION pfs;
CREATE TABLE t (a int PRIMARY KEY, b text UNIQUE);
INSERT INTO t SELECT g, g::text FROM generate_series(1, 100) g;
EOT2

# A server with assertions keeps in a chunk's header what was asked for.
my $header = (PfsServer::version() >= 16 ? 8 : 16) + ($server->sql('SHOW debug_assertions') eq 'on' ? 8 : 0);
my $s = $server->session;

# By name: chunks, bytes.
sub counted
{
	my ($lines) = @_;

	return { map { my ($name, @n) = split /\|/; (substr($name, length('memory/context/')) => \@n) } split /\n/, $lines };
}

my $counted = "SELECT string_agg(event_name || '|' || current_count_used || '|' || current_number_of_bytes_used, chr(10))"
  . ' FROM pfs.memory_summary_by_thread_by_event_name WHERE thread_id = ' . $s->thread_id;

# Sums by name: uses, uses for itself.
sub held
{
	my ($lines, $column) = @_;
	my %sums;

	foreach my $line (split /\n/, $lines)
	{
		my @field = split /\t/, $line;

		$sums{ $field[$column] }[$_] += $field[ 2 + $_ ] foreach 0, 1;
	}
	return \%sums;
}

# Both in one statement.
sub at_once { return split /====/, $s->query("SELECT contexts() || '====' || ($counted)"); }

sub in_view
{
	return { map { split /\|/ } split /\n/, $s->query('SELECT name, sum(used_bytes) FROM pg_backend_memory_contexts GROUP BY name') };
}

# Something for the caches, and then everything once more that is done below.
$s->query("SELECT count(*) FROM t JOIN pg_class c ON c.relname = t.b; PREPARE p AS SELECT * FROM t WHERE a = \$1; EXECUTE p(1); EXPLAIN SELECT * FROM pfs.threads");
at_once() foreach 1 .. 3;
in_view() foreach 1 .. 3;
# What the session has counted for the statistics it would hand over, and free, a second after the last time.
$s->query('SELECT pg_stat_force_next_flush()');

my $view = in_view();
my ($lines, $running) = at_once();
my $idle = counted($server->sql($counted));
my ($again) = at_once();

$running = counted($running);
my $shown = held($lines, 4);
my $first = held($lines, 1);

$again = held($again, 1);
my %before;

foreach my $line (split /\n/, $s->query('SELECT contexts_at_start()'))
{
	my ($address, $name, $bytes) = split /\t/, $line;

	$before{$address} = [ $name, $bytes ];
}
# Of those that are still there.
my %inherited;

foreach my $line (split /\n/, $s->query('SELECT contexts()'))
{
	my ($address, $name) = split /\t/, $line;

	$inherited{$name} += $before{$address}[1] if $before{$address} && $before{$address}[0] eq $name;
}

# What runs now allocates now: so do its portal and resource owners.
my $running_only = qr/^(ExecutorState|ExprContext|MessageContext|PortalContext|TopPortalContext|TopTransactionContext|Table function arguments|tuplestore.*|printtup|pfs scan|pfs row)$/;

# The server's view and our walk see the same.
my ($same, $other) = (0, 0);

foreach my $name (keys %$shown)
{
	next if $name =~ $running_only;
	($view->{$name} // -1) == $shown->{$name}[0] ? $same++ : do { $other++; diag("$name: " . ($view->{$name} // 'none') . " in the view, $shown->{$name}[0] in our walk") };
}
cmp_ok($same, '>', 20, 'contexts have the used bytes of pg_backend_memory_contexts');
is($other, 0, 'all that last');

my ($total, $lasting, $idle_same, $wrong, $not_exact) = (0, 0, 0, 0, 0);
my @list;

foreach my $name (sort keys %$first)
{
	my ($used, $overhead) = @{ $first->{$name} };

	$total += $used;
	next if $name =~ $running_only || $again->{$name}[0] != $used;
	(my $event = $name) =~ tr{/}{_};
	my ($count, $bytes) = @{ $running->{$event} // [ 0, 0 ] };
	my $inherited = $inherited{$name} // 0;
	my $difference = $used - $overhead - $inherited - $bytes - $count * $header;

	$lasting += $used;
	# What is counted when nothing runs.
	$idle_same += $used if $bytes == ($idle->{$event} // [ 0, 0 ])->[1];
	push @list, sprintf('%-28s %8d used = %8d counted + %6d headers of %5d chunks + %6d of blocks + %6d from before %+d', $name, $used, $bytes, $count * $header, $count,
		$overhead, $inherited, $difference);
	$wrong += abs($difference);
	# To the byte where nothing is from before.
	$not_exact++ if $inherited == 0 && $difference != 0;
}
note($_) foreach @list;
cmp_ok(scalar(@list), '>', 10, 'many kinds of contexts last');
cmp_ok($lasting, '>', 0.8 * $total, 'and have most of the memory');
is($not_exact, 0, 'where nothing is from before, what is counted is what is used, to the byte');
cmp_ok($idle_same, '>', 0.8 * $lasting, 'which is the same when the session is idle, for most');
cmp_ok($wrong, '<', 0.01 * $lasting, "all else adds up: $wrong of $lasting bytes have gone or were not seen");
cmp_ok($inherited{TopMemoryContext} // 0, '>', 0, 'something was there before');
diag(join("\n", @list)) unless Test::More->builder->is_passing;

done_testing();
