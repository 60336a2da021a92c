# A statement outside a block is a transaction also where it fails before it has a plan: in raw
# parse, in analysis, in a Parse message.  The server counts each in xact_rollback.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/lib";
use PfsServer;
use PfsWire;
use Test::More;

my $server = PfsServer->new('main', conf => "autovacuum = off\ncompute_query_id = on");

$server->start;
$server->sql('CREATE EXTENSION pfs; CREATE DATABASE other');

my @failures = (
	[ 'in raw parse', '42601', [ Query => 'selec 1' ] ],
	[ 'in analysis', '42P01', [ Query => 'select * from nosuch' ] ],
	[ 'in raw parse of a Parse message', '42601', [ Parse => '', 'selec 1' ], ['Sync'] ],
	[ 'in analysis of a Parse message', '42P01', [ Parse => '', 'select * from nosuch' ], ['Sync'] ],
	[ 'when it is planned', '22012', [ Query => 'select 1 / 0' ] ]);
my $times = 3;

foreach my $failure (@failures)
{
	my ($where, $sqlstate, @messages) = @$failure;
	# A database where nobody else is, whose transactions the server counts apart.
	my $before = $server->sql("SELECT xact_rollback FROM pg_stat_database WHERE datname = 'other'");
	my $c = PfsWire->new($server, database => 'other');
	my $thread = $server->thread_of($c->pid);
	my $summary = "SELECT sum(count_star) FROM pfs.events_transactions_summary_by_thread_by_event_name WHERE thread_id = $thread";
	my $count = $server->sql($summary);

	for (1 .. $times)
	{
		$c->send_at_once(@messages);
		$c->until_ready;
		like($c->{error}, qr/\0C$sqlstate\0/, "$where: it fails");
	}
	$server->poll_idle($thread);
	is($server->sql($summary) - $count, $times, "$where: each is a transaction");
	is($server->sql("SELECT count(*) FILTER (WHERE state = 'ROLLED BACK' AND autocommit = 'YES') FROM pfs.events_transactions_history WHERE thread_id = $thread"), $times,
		"$where: rolled back by itself");
	$c->send('Terminate');
	ok($server->poll("SELECT xact_rollback - $before FROM pg_stat_database WHERE datname = 'other'", $times), "$where: the server counts as many");
}

# In a block it is none, and the block is one.
my $c = PfsWire->new($server);
my $thread = $server->thread_of($c->pid);

foreach my $sql ('BEGIN', 'selec 1', 'ROLLBACK')
{
	$c->send(Query => $sql);
	$c->until_ready;
}
$server->poll_idle($thread);
is($server->sql("SELECT string_agg(state || ' ' || autocommit, ', ') FROM pfs.events_transactions_history WHERE thread_id = $thread AND autocommit = 'NO'"), 'ROLLED BACK NO',
	'what fails in a block belongs to its transaction');

done_testing();
