# Flame graphs: the time of each stack is what the tables of events say.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/lib";
use PfsServer;
use PfsReports;
use Test::More;
use Time::HiRes qw(time);

needs_program();

my $server = PfsServer->new('main', conf => <<'EOT');
autovacuum = off
max_parallel_workers_per_gather = 0
pfs.instruments = 'stage/sql/%=ON, wait/io/table/%=ON'
pfs.events_waits_history_long_size = 200000
EOT
$server->start;
$server->sql('CREATE EXTENSION pfs; CREATE TABLE t (n int PRIMARY KEY, v int); INSERT INTO t SELECT i, i FROM generate_series(1, 1000) i');

my $worker = $server->session;
my $thread = $worker->query('SELECT pfs.thread_id()');
$worker->query('SELECT sum(v) FROM t') foreach 1 .. 5;
$worker->query(q{DO $$ BEGIN FOR i IN 1 .. 20 LOOP PERFORM v FROM t WHERE n = i; END LOOP; END $$});
# A time that a process can lose its processor for would be over before pg_sleep() waits.
$worker->query('SELECT pg_sleep(0.1)');
ok($server->poll("SELECT count(*) FROM pfs.events_waits_current WHERE thread_id = $thread AND event_name = 'idle'", 1), 'the session is idle');

# Folded: stack => nanoseconds.
sub folded
{
	my (@words) = @_;
	my ($status, $out, $err) = program($server, 'flame', '--format', 'folded', @words);

	is($status, 0, "flame @words") or diag($err);
	return map { /^(.*) (\d+)$/ or die "no stack: $_"; ($1 => $2) } split /\n/, $out;
}

my %stacks = folded('--thread', $thread);
# The sum of all stacks is the time of the statements that are in no other; each stack loses less than a nanosecond.
my ($statements, $rows) = split /\|/, $server->sql(qq{
	SELECT trunc(sum(timer_wait) / 1000), count(*) FROM pfs.events_statements_history_long
	 WHERE thread_id = $thread AND nesting_event_level = 0});
my $sum = 0;
$sum += $_ foreach values %stacks;
between($sum, $statements - keys %stacks, $statements, 'all stacks together are all statements');
cmp_ok($rows, '>=', 7, 'which are there');

# The time of one frame is its stack's and that of those above it.
sub time_of
{
	my ($stack) = @_;
	my $time = 0;

	$time += $stacks{$_} foreach grep { $_ eq $stack || index($_, "$stack;") == 0 } keys %stacks;
	return $time;
}
foreach my $case (
	[ 'SELECT sum(v) FROM t', q{SELECT sum(timer_wait) FROM pfs.events_statements_history_long WHERE digest_text = 'SELECT sum(v) FROM t'} ],
	[ 'SELECT sum(v) FROM t;stage/sql/execute', q{SELECT sum(g.timer_wait) FROM pfs.events_stages_history_long g JOIN pfs.events_statements_history_long s
	   ON s.thread_id = g.thread_id AND s.event_id = g.nesting_event_id WHERE digest_text = 'SELECT sum(v) FROM t' AND g.event_name = 'stage/sql/execute'} ],
	[ 'SELECT pg_sleep($1);stage/sql/execute;wait/timeout/PgSleep', q{SELECT sum(timer_wait) FROM pfs.events_waits_history_long WHERE event_name = 'wait/timeout/PgSleep' AND thread_id = } . $thread ])
{
	my $expected = $server->sql("SELECT trunc(($case->[1]) / 1000)");

	cmp_ok($expected, '>', 0, "$case->[0] took time");
	between(time_of($case->[0]), $expected - keys %stacks, $expected, "$case->[0]: as SQL says");
}
my ($inner) = grep { /^DO .*;SELECT v FROM t WHERE n = i(;|$)/ } keys %stacks;
ok($inner, 'a statement of a function stands on its statement');
is(scalar(grep { /(^|;)idle/ } keys %stacks), 0, 'idle times are left out');
is(scalar(grep { /^DO [^;]*; *(BEGIN|END|LOOP)/ } keys %stacks), 0, 'the semicolons of a statement end no frame');

# The page has the same tree.
my ($status, $out) = program($server, 'flame', '--thread', $thread);
is($status, 0, 'as a page');
my ($json) = $out =~ m{<script type="application/json" id="tree">(.*?)</script>}s;
my $tree = JSON::PP->new->utf8->decode($json);
between($tree->[2], $statements - keys %stacks, $statements, 'with the time of all statements');
my ($frame) = grep { $_->[0] eq 'SELECT sum(v) FROM t' } @{ $tree->[4] };
is($frame->[3], 5, 'and how often each ran');
unlike($out =~ s{<script>.*?</script>}{}gsr, qr{https?:|src=|\@import|url\(}i, 'it loads nothing');

# Of an event that reaches beyond a time, only the part inside is added up.
my $sleeper = $server->session;
my $sleeping = $sleeper->query('SELECT pfs.thread_id()');
$sleeper->send('SELECT pg_sleep(1000)');
ok($server->poll_lasts($sleeping, 'wait/timeout/PgSleep', 3), 'a statement is running');
foreach my $case ([ 1, '--since', '2 s', '--till', '1 s' ], [ 0, '--seconds', 1 ])
{
	my ($more, @time) = @$case;
	my $began = time;
	my %inside = folded('--thread', $sleeping, @time);
	my $part = 0;

	$part += $_ foreach values %inside;
	# Both times of an interval are before the moment when they are read.
	between($part, 0.9e9, (time() - $began + $more) * 1e9, "@time: a second of it");
	ok((grep { /^SELECT pg_sleep\(\$1\);.*wait\/timeout\/PgSleep$/ } keys %inside), 'with its wait');
}

# Events without times are counted, each once, and those alone that are chosen.
$server->sql("UPDATE pfs.setup_instruments SET timed = 'NO' WHERE name = 'stage/sql/execute'");
foreach my $session ($worker, $server->session)
{
	$session->query("SELECT $_") foreach 1 .. 3;
}
$server->poll_idle($thread) or die 'the session is not idle';
my $untimed = $server->sql(join(' UNION ', map { "SELECT event_id FROM pfs.events_stages_$_ WHERE thread_id = $thread AND timer_start IS NULL" }
	  qw(current history history_long)) =~ s/(.*)/SELECT count(*) FROM ($1) s/r);
cmp_ok($untimed, '>=', 3, 'events without times');
like((program($server, 'flame', '--thread', $thread))[2], qr/^pfs: $untimed events have no times, /m, 'are counted');

# What cannot be.
foreach my $case ([ 2, 'html or folded', '--format', 'svg' ], [ 1, 'no event was chosen', '--thread', 999999 ])
{
	my ($wrong, $text, @words) = @$case;
	my ($code, $output, $err) = program($server, 'flame', @words);

	is($code, $wrong, "flame @words: status $wrong");
	is($output, '', 'without output');
	like($err, qr/^pfs: [^\n]*$text[^\n]*\n\z/, 'and one line that says why');
}

done_testing();
