# A trace of sessions is what the tables of events say: as many slices as rows, with their
# times, nested, and arrows from each blocker to its waiter.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/lib";
use PfsServer;
use PfsReports;
use PfsTrace;
use Test::More;

needs_program();

my $server = PfsServer->new('main', conf => <<'EOT');
autovacuum = off
max_parallel_workers_per_gather = 0
pfs.instruments = 'stage/sql/%=ON, wait/io/table/%=ON'
pfs.events_waits_history_long_size = 200000
EOT
$server->start;
$server->sql('CREATE EXTENSION pfs');
my $folder = PfsServer::folder();

sub trace
{
	my (@words) = @_;
	my ($status, $out, $err) = program($server, 'trace', '--output', "$folder/trace", @words);

	is($status, 0, "trace @words") or diag($err);
	return PfsTrace->new(slurp("$folder/trace"));
}

# ---- one session: all it did ----

my $worker = $server->session;
$worker->query('CREATE TABLE t (n int PRIMARY KEY, v int); INSERT INTO t SELECT i, i FROM generate_series(1, 2000) i');
$worker->query('BEGIN; UPDATE t SET v = v + 1 WHERE n < 100; SAVEPOINT s; SELECT count(*) FROM t a JOIN t b USING (n); COMMIT');
$worker->query(q{DO $$ BEGIN FOR i IN 1 .. 20 LOOP PERFORM v FROM t WHERE n = i; END LOOP; END $$});
my ($thread, $pid) = split /\|/, $worker->query('SELECT pfs.thread_id(), pg_backend_pid()');
# It is idle; nothing but the running idle event changes, and that has its row already.
ok($server->poll("SELECT count(*) FROM pfs.events_waits_current WHERE thread_id = $thread AND event_name = 'idle'", 1), 'the session is idle');

my %family = (transaction => 'transactions', statement => 'statements', stage => 'stages', wait => 'waits');
my $trace = trace('--session', $pid);
is((stat "$folder/trace")[2] & 0777, 0600, 'only the owner can read it');
my $all = 0;
foreach my $category (sort keys %family)
{
	my $table = "pfs.events_$family{$category}";
	my %rows = map { my @row = split /\|/; ($row[0] => \@row) } split /\n/, $server->sql(
		join(' UNION ', map { "SELECT event_id, event_name, trunc(timer_start / 1000), trunc(timer_end / 1000) FROM ${table}_$_ WHERE thread_id = $thread" }
			  qw(current history history_long)));
	my @slices = $trace->slices(category => $category);

	is(scalar @slices, scalar keys %rows, "$category: as many slices as rows");
	cmp_ok(scalar @slices, '>', 0, "$category: there are some");
	my @wrong = grep
	{
		my $row = $rows{ $_->{details}{event_id} };
		!$row || $_->{details}{event_name} ne $row->[1] || $_->{start} != $row->[2] || ($_->{end} // '') ne ($row->[3] // '')
	} @slices;
	is(scalar @wrong, 0, "$category: each has the name and the times of its row");
	$all += @slices;
}
is(scalar @{ $trace->{slices} }, $all, 'and nothing else');
is(scalar(grep { PfsTrace::thread($_) != $thread } @{ $trace->{slices} }), 0, 'all of this session');
like($trace->session($trace->{slices}[0]), qr/postgres\@postgres .*\[$pid\]/, 'which has its name');
is(scalar(grep { !defined $_->{end} } @{ $trace->{slices} }), 1, 'one is running: idle');
my ($statement) = $trace->slices(category => 'statement', name => 'SELECT count(*) FROM t a JOIN t b USING (n)');
is($statement->{details}{rows_sent}, 1, 'a statement has its numbers');
my ($stage) = grep { $_->{inside} && $_->{inside} == $statement } $trace->slices(category => 'stage', name => 'stage/sql/execute');
ok($stage, 'a stage lies in its statement');
my $nested = 'SELECT v FROM t WHERE n = i';
is(scalar(grep { my $s = $_; while ($s = $s->{inside}) { last if $s->{name} =~ /^DO / } $s } $trace->slices(name => $nested)), 20,
	'statements of a function lie in its statement');

# ---- choices ----

my $query_id = $statement->{details}{query_id};
my $query = trace('--query-id', $query_id);
is(scalar $query->slices(category => 'statement', query_id => $query_id), 1, 'a statement by its query id');
is(scalar(grep { $_->{name} eq $nested || $_->{category} eq 'transaction' } @{ $query->{slices} }), 0, 'and nothing that is not in it');
cmp_ok(scalar $query->slices(category => 'stage'), '>', 0, 'but what is in it');
$server->sql('CREATE ROLE other LOGIN');
$server->psql('SELECT 1', user => 'other');
my ($status, $out, $err) = program($server, 'trace', '--role', 'other', '--output', "$folder/none");
is($status, 1, 'a role without sessions: nothing was chosen');
like($err, qr/no event was chosen/, 'and it is said');
ok(!-e "$folder/none", 'without a file');
is(scalar(grep { PfsTrace::thread($_) != $thread } @{ trace('--thread', $thread, '--since', '1 hour')->{slices} }), 0, 'a thread, and a time');
foreach my $wrong ([ '--session', 'me' ], [ '--since', 'tomorrow or so' ], [ '--seconds', '0' ], [ '--seconds', '1', '--since', '1 h' ],
	[ '--since', '1 s', '--till', '1 h' ], [ '--query-id', '1.5' ])
{
	($status, $out, $err) = program($server, 'trace', '--output', "$folder/none", @$wrong);
	is($status, 2, "@$wrong: refused");
	like($err, qr/^pfs: [^\n]+\n\z/, 'in one line');
}

# ---- arrows ----

# A chain: second waits for first, third for second.
my ($first, $second, $third) = map { $server->session } 1 .. 3;
$first->query('BEGIN; UPDATE t SET v = 0 WHERE n = 1');
$second->query('BEGIN; UPDATE t SET v = 0 WHERE n = 2');
$second->send('UPDATE t SET v = 0 WHERE n = 1');
ok($server->poll(q{SELECT count(*) FROM pfs.blocking_tree}, 1), 'the second waits');
$third->send('UPDATE t SET v = 0 WHERE n = 2');
ok($server->poll(q{SELECT count(*) FROM pfs.blocking_tree}, 2), 'the third, too');
my %tree = map { ($_ => 1) } split /\n/, $server->sql('SELECT blocking_thread_id, waiting_thread_id FROM pfs.blocking_tree');

sub arrows
{
	my ($of) = @_;
	my (%from, %to);

	foreach my $event (@{ $of->{slices} }, @{ $of->{instants} })
	{
		push @{ $from{$_} }, $event foreach @{ $event->{flows} };
		push @{ $to{$_} }, $event foreach @{ $event->{ends} };
	}
	is(join(' ', sort keys %from), join(' ', sort keys %to), 'each arrow has both ends');
	is(scalar(grep { @$_ != 1 } values %from, values %to), 0, 'once each');
	is(scalar(grep { $from{$_}[0]{time} > $to{$_}[0]{time} } keys %from), 0, 'and goes forward');
	is(scalar(grep { $to{$_}[0]{name} !~ m{^wait/lock/} } keys %to), 0, 'to a wait for a lock');
	return map { PfsTrace::thread($from{$_}[0]) . '|' . PfsTrace::thread($to{$_}[0]) } keys %from;
}
is(join(' ', sort(arrows(trace()))), join(' ', sort keys %tree), 'arrows point where blocking_tree does');
my ($edge) = sort keys %tree;
my ($blocker, $waiter) = split /\|/, $edge;
my $alone = trace('--thread', $waiter);
is(join(' ', grep { /\|$waiter$/ } arrows($alone)), $edge, 'also from a session that is not chosen');
is(scalar @{ $alone->{instants} }, 1, 'which has a mark to come from');
$first->query('COMMIT');
is($second->result, '', 'the second goes on');
$second->query('COMMIT');
$third->result;
is(join(' ', sort(arrows(trace()))), join(' ', sort keys %tree), 'the same when all is over: waits for a transaction name it');

# A relation's lock does not name who had it: who watches sees it.
$first->query('BEGIN; LOCK TABLE t');
$second->send('SELECT count(*) FROM t');
ok($server->poll(q{SELECT count(*) FROM pfs.blocking_tree WHERE object_type = 'RELATION'}, 1), 'one waits for a table');
my ($relation) = split /\n/, $server->sql(q{SELECT blocking_thread_id, waiting_thread_id FROM pfs.blocking_tree});
my $watched = trace('--seconds', 1);
is(join(' ', arrows($watched)), $relation, 'an arrow from who has the table');
$first->query('COMMIT');
is($second->result, 2000, 'it goes on');

# ---- nothing to show ----

$server->sql(q{SELECT pfs.set_consumers('thread_instrumentation', 'NO')});
$server->sql('SELECT pfs.reset()');
my $quiet = $server->session;
$quiet->query('SELECT 1');
my $quiet_pid = $quiet->query('SELECT pg_backend_pid()');
($status, $out, $err) = program($server, 'trace', '--session', $quiet_pid, '--output', "$folder/none");
is($status, 1, 'without events there is no trace');
like($err, qr/their instruments or consumers are off/, 'and it is said why');

done_testing();
