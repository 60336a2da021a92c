# The statements screen with many shapes of statements: the server sends those that are shown, or that were executed
# since the last look, and the numbers are those of all, also where shapes make room for others.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/lib";
use JSON::PP ();
use PfsReports;
use PfsServer;
use Test::More;

needs_program();
my $shapes = 300;
my $server = PfsServer->new('main', conf => "autovacuum = off\npfs.load_history_interval = 0\npfs.digests_size = " . ($shapes + 500)
	  . "\npfs.events_statements_history_size = 100\npfs.max_sql_text_length = 200");

$server->start;
$server->sql('CREATE EXTENSION pfs; CREATE TABLE item (' . join(', ', map { "c$_ int" } 1 .. $shapes + 1000) . ')');
# The statements of the extension's script are shapes, too.
$server->sql("SELECT pfs.reset('events_statements_summary_by_digest')");
my $digests = 'pfs.events_statements_summary_by_digest';

# One statement of each shape.
sub execute
{
	my ($session, $first, $last) = @_;

	$session->query(join('; ', map { "SELECT count(c$_) FROM item" } $first .. $last));
}

# How many rows the statements of the program's last run with such a text sent, the first one first.
sub rows_sent
{
	my ($like) = @_;

	return split /\n/, $server->sql("SELECT rows_sent FROM pfs.events_statements_history_long WHERE sql_text LIKE '$like' ORDER BY timer_start");
}

sub statements
{
	my ($run) = @_;
	my ($status, $out, $err) = ref $run ? program_end($run) : program($server, 'statements', '--format', 'json', split(/ /, $run));

	is($status, 0, 'pfs statements') or diag($err);
	return @{ JSON::PP->new->utf8->allow_bignum->decode($out) };
}

# Starts a look at some seconds, and returns when the first reading is there; the second one comes not before it is told to go on.
sub watch
{
	my $run = program_start($server, qw(statements --seconds 2 --limit 0 --format json));

	ok($server->poll("SELECT count(*) FROM pg_stat_activity WHERE application_name = 'pfs statements' AND state = 'idle' AND query LIKE '%events_waits_summary_by_digest%'", 1), 'the first reading is taken');
	$run->{handle}->signal('STOP');
	return $run;
}

my $session = $server->session;

execute($session, 1, $shapes);
$session->query(join('; ', map { ("SELECT count(c$_) FROM item") x (400 - 100 * $_) } 1 .. 3));
$server->poll_idle($session->thread_id);
my $all = $server->sql("SELECT count(*) FROM $digests WHERE count_star > 0");
cmp_ok($all, '>', $shapes, 'many shapes');

# ---- sorted and cut by the server ----

# Among them are those of this test.
sub on_columns { return grep { /count\(c/ } map { $_->{statement} } @_; }

my @rows = statements('--limit 20 --sort calls');
is(scalar(@rows), 20, 'twenty rows');
is_deeply([ rows_sent('SELECT q.*%') ], [20], 'the server sent no more');
my @whole = statements('--limit 0 --sort calls');
is_deeply([ (on_columns(@rows))[ 0 .. 2 ] ], [ map { "SELECT count(c$_) FROM item" } 1 .. 3 ], 'they are the first of all');
is_deeply([ (on_columns(@whole))[ 0 .. 2 ] ], [ map { "SELECT count(c$_) FROM item" } 1 .. 3 ], 'as when all are read');
cmp_ok(abs($rows[0]{total} / $rows[0]{share} / ($whole[0]{total} / $whole[0]{share}) - 1), '<', 0.5, 'and their shares are of all');

# ---- what was executed meanwhile ----

# So long after the others that they are older than any doubt about clocks.
ok($server->poll("SELECT count(*) FROM $digests WHERE digest_text LIKE 'SELECT count(c%' AND last_seen > now() - interval '5 s'", 0), 'all are over for a while');
$server->sql('TRUNCATE pfs.events_statements_history_long');
my $run = watch();
execute($session, 2, 3) foreach 1 .. 7;
execute($session, $shapes + 1, $shapes + 1);
$server->poll_idle($session->thread_id);
$run->{handle}->signal('CONT');
my %by = map { $_->{statement} => $_ } statements($run);
is_deeply([ map { $by{"SELECT count(c$_) FROM item"}{calls} } 2, 3, $shapes + 1 ], [ 7, 7, 1 ], 'calls in this time, also of a new shape');
is(scalar(grep { exists $by{"SELECT count(c$_) FROM item"} } 4 .. $shapes), 0, 'and of none that was not executed');
like($by{'SELECT count(c2) FROM item'}{mostly}, qr/ \d+ %$/, 'and what they waited for');
my ($changed) = rows_sent('WITH d AS MATERIALIZED%');
cmp_ok($changed, '<', 60, 'the server sent those that were executed');

# ---- shapes that make room ----

# A row that goes away takes its numbers to that of all others, which has not counted them in this time.
execute($session, $shapes + 2, $shapes + 800);
$run = watch();
my $others = "SELECT coalesce(max(count_star), 0) FROM $digests WHERE user_name IS NULL";
my $before = $server->sql($others);
execute($session, $shapes + 801, $shapes + 860);
$server->poll_idle($session->thread_id);
cmp_ok($server->sql($others), '>', $before, 'shapes have made room');
$run->{handle}->signal('CONT');
my @in_time = statements($run);
my ($all_others) = grep { $_->{statement} eq '(all others)' } @in_time;
my $sum = 0;
# Without what this test asks, which is as often as the machine is slow.
$sum += $_->{calls} foreach grep { $_->{statement} =~ /^(?:SELECT count\(c|\(all others\)$)/ } @in_time;
cmp_ok($sum, '>=', 60, 'what was executed is counted');
cmp_ok($sum, '<', 60 + 40, 'and nothing that was counted before');
cmp_ok($all_others ? $all_others->{calls} : 0, '<', $server->sql($others) - $before + 1, 'the row of all others has no more than came to it');

# ---- a reset ----

$run = watch();
$server->sql("SELECT pfs.reset('events_statements_summary_by_digest')");
execute($session, $shapes + 901, $shapes + 903);
$server->poll_idle($session->thread_id);
$run->{handle}->signal('CONT');
%by = map { $_->{statement} => $_ } statements($run);
is_deeply([ map { $by{"SELECT count(c$_) FROM item"}{calls} } $shapes + 901 .. $shapes + 903 ], [ 1, 1, 1 ], 'what was executed behind a reset');

done_testing();
