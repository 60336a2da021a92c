# pfs doctor: what it finds where all is well, off, lost, not loaded, not there or not allowed, with its exit
# status; and why nobody knows which indexes are unused.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/lib";
use JSON::PP ();
use PfsReports;
use PfsServer;
use Test::More;

needs_program();
my $server = PfsServer->new('main', conf => "autovacuum = off\npfs.load_history_interval = 0");

# Its findings by subject, [state, finding, advice]; the exit status has to be this.
sub findings
{
	my ($what, $expected, %options) = @_;
	my ($status, $out, $err) = program(\%options, $server, qw(doctor --format json));

	is("$status|$err", "$expected|", "$what: status $expected");
	return map { $_->{subject} => [ @$_{qw(state finding advice)} ] } @{ JSON::PP->new->utf8->decode($out) };
}

# A finding as one text.
sub text { return join ' ', map { $_ // '' } @{ $_[0] // [] }; }

my %found = findings('no server', 2);
like(text($found{connection}), qr/^unknown .*server/, 'it cannot tell');

$server->start;
%found = findings('no extension', 1);
like(text($found{pfs}), qr/^to do .*run CREATE EXTENSION pfs/, 'what to do');
$server->sql('CREATE EXTENSION pfs; CREATE ROLE mon LOGIN IN ROLE pg_monitor; CREATE ROLE nobody LOGIN');
%found = findings('no rights', 2, user => 'nobody');
like(text($found{rights}), qr/^unknown .*GRANT pg_monitor TO "nobody"/, 'what is missing');

# ---- well ----

%found = findings('as it starts', 0, user => 'mon');
like(text($found{pfs}), qr/^ok loaded and on, version \d+\.\d+ in database "postgres"/, 'all is well');
is(text($found{losses}), 'ok nothing was lost ', 'nothing was lost');
is(text($found{consumers}), 'ok all are on ', 'consumers are on');
like(text($found{'load history'}), qr/^note switched off set pfs\.load_history_interval = 1s/, 'a setting that is off');
my ($status, $out) = program($server, 'doctor');
like($out, qr/^ok +pfs: loaded and on, .*\n(?:.*\n)*note +load history: switched off\n {8}set pfs\.load_history_interval/, 'as lines, advice below');
my $indexes = 'unused indexes';
my $view = 'SELECT count(*) FROM pfs_sys.schema_unused_indexes';

# ---- unused indexes ----

$server->sql('CREATE TABLE item (i int, v int); CREATE INDEX item_v ON item (v)');
like(text($found{$indexes}), qr{^note not known, and pfs_sys\.schema_unused_indexes is empty: the instrument wait/io/table/handler is off to switch it on }, 'unused: the instrument is off');
is($server->sql($view), 0, 'the view is empty');
$server->sql("SELECT pfs.set_instruments('wait/io/table/handler', 'YES')");
%found = findings('on, but not since the reset', 0);
like(text($found{$indexes}), qr/^note not known, .* were not counted all the time since the last reset, \d{4}-.* to begin anew: SELECT /, 'unused: not counted long enough');
is($server->sql($view), 0, 'the view is empty still');
# What it says to do.
$server->sql($found{$indexes}[2] =~ s/^to begin anew: //r);
%found = findings('since the reset', 0);
like(text($found{$indexes}), qr/^ok known since \d{4}-/, 'unused: known');
is($server->sql($view), 1, 'the view has the index');
$server->sql("SELECT pfs.set_instruments('wait/io/table/handler', 'NO')");
%found = findings('off again', 0);
$server->sql($found{$indexes}[2] =~ s/^to switch it on and count from then on: //r);
is($server->sql($view), 1, 'the other advice works, too');
$server->sql("SELECT pfs.set_actor('%', 'nobody', enabled => 'NO')");
%found = findings('with a rule that leaves out a role', 0);
like(text($found{$indexes}), qr/^note not known, .*: rules of pfs\.setup_actors leave out sessions /, 'unused: sessions are left out');
is($server->sql($view), 0, 'the view is empty');
$server->sql("SELECT pfs.drop_actor('%', 'nobody')");

# ---- to do ----

$server->conf("pfs.accounts_size = 2\npfs.digests_size = 20");
$server->restart;
$server->sql("CREATE ROLE r$_ LOGIN") foreach 1 .. 4;
my @sessions = map { $server->session(user => "r$_") } 1 .. 4;
$_->query('SELECT 1') foreach @sessions;
%found = findings('losses', 1);
like(text($found{pfs_accounts_lost}), qr/^to do \d+ were lost .* raise pfs\.accounts_size from 2 to 4 and restart/, 'what was lost, the setting, and a value');
# Shapes that each wait for more kinds of things than there are places for, by digest.
foreach my $shape (1 .. 20)
{
	$server->sql("SELECT pg_stat_file('PG_VERSION'), pg_read_file('PG_VERSION'), pg_sleep(0.001), (SELECT count(*) FROM pg_ls_dir('.')),"
		. ' lo_unlink(lo_create(0)), pg_advisory_lock(1), pg_switch_wal()' . ', 1' x $shape);
}
%found = findings('many shapes', 1);
like(text($found{pfs_digest_waits_lost}), qr/^to do \d+ were lost .* raise pfs\.digests_size from 20 to 40 and restart/, 'kinds of waits by digest: the setting is that of digests');
# Each container that has records for what there may be more of has a setting, and nothing else has.
is($server->sql(q{SELECT string_agg(name, ' ' ORDER BY name) FROM pfs.containers WHERE name !~ '_(history|current|summary_global)' AND name <> ALL(string_to_array('}
	. join(' ', slurp("$FindBin::RealBin/../../client/cmd_doctor.c") =~ /\{"(\w+)", "pfs\.\w+", /g) . q{', ' '))}), 'load_texts lwlock_instances', 'containers without a setting');
$server->sql("SELECT pfs.reset('status')");
$server->sql("SELECT pfs.set_consumers('global_instrumentation', 'NO')");
%found = findings('off', 1);
like(text($found{consumers}), qr/^to do switched off: global_instrumentation nothing is recorded; .*set_consumers\('global_instrumentation', 'YES'\)/, 'nothing is recorded');
$server->conf("shared_preload_libraries = ''");
$server->restart;
%found = findings('not loaded', 1);
like(text($found{pfs}), qr/^to do .*shared_preload_libraries/, 'the library is not loaded');

done_testing();
