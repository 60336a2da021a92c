# setup_objects: which rule decides for an object, when a session follows a change, and
# that nobody waits for who makes it.  pfs_test_rules asks as instrument points do, and
# resolves the rules where statements begin.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/lib";
use PfsServer;
use Test::More;
use Time::HiRes qw(sleep time);

# As in 170_waits.pl: who comes upon a stopped process waits half a second.
my $bound = 10;

my $rounds = 12;
my $rules_per_round = 40;
my $seed = time * 1000 % 1_000_000;

srand($seed);
my $server = PfsServer->new('main', preload => 'pfs,' . test_module('pfs_test_rules'), conf => <<'EOT');
autovacuum = off
hot_standby = on
EOT
$server->start;
$server->sql('CREATE EXTENSION pfs');
$server->sql('CREATE DATABASE shop');
my $shop = $server->session(db => 'shop');
my $home = $server->session;

# Every database has these functions and schemas, every one of the two sessions its own temporary ones.
foreach my $s ($shop, $home)
{
	$s->query('CREATE EXTENSION IF NOT EXISTS pfs');
	$s->query(test_functions('pfs_test_rules'));
	$s->query('CREATE SCHEMA a; CREATE SCHEMA "A"; CREATE TEMP TABLE mine (t text)');
}
my @types = qw(TABLE FUNCTION PROCEDURE TRIGGER);

is($server->sql(q{SELECT string_agg(object_type || ' ' || object_schema || ' ' || enabled || ' ' || timed, ', ' ORDER BY object_type COLLATE "C", object_schema COLLATE "C")
	FROM pfs.setup_objects WHERE database_name = '%' AND object_name = '%'}),
	join(', ', map { my $t = $_; map { "$t $_" } '% YES YES', map { "$_ NO NO" } qw(information_schema pg_catalog pg_toast) } sort @types),
	'the rules of the start');

# ---- which rule decides, compared with a model ----

my %temp = map { $_->[0] => [ split /\|/, $_->[1]->query(<<'EOT') ] } [ 'shop', $shop ], [ 'postgres', $home ];
SELECT pg_my_temp_schema()::regnamespace, (SELECT relnamespace::regnamespace FROM pg_class
	WHERE oid = (SELECT reltoastrelid FROM pg_class WHERE oid = 'mine'::regclass))
EOT

like("@{$temp{shop}} @{$temp{postgres}}", qr/^pg_temp_\d+ pg_toast_temp_\d+ pg_temp_\d+ pg_toast_temp_\d+$/, 'temporary schemas');

# The rule with the most specific key that exists, of all that there can be for an object.
# A session knows by pg_temp and pg_toast its own temporary schemas.
sub model
{
	my ($rules, $type, $database, $schema, $name) = @_;
	my @schemas = ($schema);

	push @schemas, 'pg_temp' if $schema eq $temp{$database}[0];
	push @schemas, 'pg_toast' if $schema eq $temp{$database}[1];
	foreach my $n ($name, '%')
	{
		foreach my $s (@schemas, '%')
		{
			foreach my $d ($database, '%')
			{
				my $switches = $rules->{"$type|$d|$s|$n"};

				return $switches =~ /^YES/ ? $switches : 'NO NO' if defined $switches;
			}
		}
	}
	return 'NO NO';
}

sub pick { return $_[ int rand @_ ]; }

my @schemas = qw(a A pg_catalog information_schema pg_toast public);
my @names = qw(t T u t%);
my ($compared, %answers) = (0);

foreach my $round (1 .. $rounds)
{
	my %rules;

	# Few types in a round, so that many rules fit one object.
	my @some = map { pick(@types) } 1 .. 2;

	while (keys %rules < $rules_per_round)
	{
		my $key = join '|', pick(@some), pick('%', '%', 'shop', 'postgres', 'SHOP'),
			pick('%', '%', @schemas, 'pg_temp', 'pg_toast', 'nowhere', map { @$_ } values %temp), pick('%', '%', '%', @names);

		$rules{$key} = pick('YES YES', 'YES NO', 'NO YES', 'NO NO');
	}
	$server->sql('TRUNCATE pfs.setup_objects; INSERT INTO pfs.setup_objects VALUES '
		  . join(', ', map { my $key = $_; '(' . join(', ', map { "'$_'" } split(/\|/, $key), split(/ /, $rules{$key})) . ')' } keys %rules));
	foreach my $case ([ 'shop', $shop ], [ 'postgres', $home ])
	{
		my ($database, $session) = @$case;
		my $own = $temp{$database};
		my @objects = map { my $t = $_; map { my $s = $_; map { [ $t, $s, $_ ] } @names } @schemas, @$own } @types;
		my ($t, $s, $n) = map { "'{" . join(',', @$_) . "}'::text[]" } \@types, [ @schemas, @$own ], \@names;
		my $asked = $session->query("SELECT string_agg(rule_of(t, s, n), chr(10) ORDER BY i, j, k) FROM unnest($t) WITH ORDINALITY a (t, i),
			unnest($s) WITH ORDINALITY b (s, j), unnest($n) WITH ORDINALITY c (n, k)");
		my @asked = split /\n/, $asked;
		my @wrong = grep { $asked[$_] ne model(\%rules, $objects[$_][0], $database, @{ $objects[$_] }[ 1, 2 ]) } 0 .. $#objects;

		is(scalar(@asked), scalar(@objects), "round $round, $database: an answer for each object");
		is(join('; ', map { "@{$objects[$_]}: $asked[$_]" } @wrong), '', 'and as the model says')
			or diag("seed $seed\n", map { "$_ $rules{$_}\n" } sort keys %rules);
		$compared += @asked;
		$answers{$_}++ foreach @asked;
	}
}
note("$compared answers: ", join ', ', map { "$_ $answers{$_}" } sort keys %answers);
is(join(', ', sort keys %answers), 'NO NO, YES NO, YES YES', 'all answers were given');
cmp_ok($answers{$_}, '>', $compared / 100, "often enough: $_") foreach keys %answers;

# ---- when a session follows ----

my $restore = q{TRUNCATE pfs.setup_objects; INSERT INTO pfs.setup_objects (object_schema, enabled, timed)
	VALUES ('pg_catalog', 'NO', 'NO'), ('information_schema', 'NO', 'NO'), ('pg_toast', 'NO', 'NO'), ('%', 'YES', 'YES')};

sub rule
{
	my ($session, $schema, $name) = @_;

	return $session->query("SELECT rule_of('TABLE', '$schema', '$name')");
}

$server->sql($restore);
is(rule($home, 'a', 't'), 'YES YES', 'a table');
is(rule($home, 'pg_catalog', 'pg_class'), 'NO NO', 'a catalog');
is(rule($home, $temp{postgres}[0], 'mine'), 'YES YES', 'a temporary table');
is(rule($home, $temp{postgres}[1], 'pg_toast_1'), 'NO NO', 'the TOAST table of a temporary one');

my $copies = $home->query('SELECT copies()');

$home->query('SELECT 1; CREATE TABLE a.t (i int); INSERT INTO a.t VALUES (1); DROP TABLE a.t');
is($home->query('SELECT copies()'), $copies, 'nothing is resolved again while neither rules nor schemas change');
$server->sql(q{SELECT pfs.set_object('TABLE', '%', 'a', 't', 'YES', 'NO')});
is(rule($home, 'a', 't'), 'YES NO', 'a new rule');
is($home->query('SELECT copies()'), $copies + 1, 'is resolved once');
$server->sql(q{UPDATE pfs.setup_objects SET timed = 'YES' WHERE object_name = 't'});
is(rule($home, 'a', 't'), 'YES YES', 'UPDATE of timed');
$server->sql(q{UPDATE pfs.setup_objects SET enabled = 'NO' WHERE object_name = 't'});
is(rule($home, 'a', 't'), 'NO NO', 'UPDATE of enabled');
is(rule($shop, 'a', 't'), 'NO NO', 'in another database, too');
$server->sql(q{DELETE FROM pfs.setup_objects WHERE object_name = 't'});
is(rule($home, 'a', 't'), 'YES YES', 'DELETE');
$home->query('BEGIN');
is(rule($home, 'a', 't'), 'YES YES', 'in a transaction');
$server->sql(q{SELECT pfs.set_object('TABLE', 'postgres', '%', '%', 'NO')});
is(rule($home, 'a', 't'), 'NO NO', 'its next statement follows');
$home->query('COMMIT');
is(rule($shop, 'a', 't'), 'YES YES', 'a rule for one database');
$server->sql(q{SELECT pfs.drop_object('TABLE', 'postgres', '%', '%')});

# A statement goes by the rules that it began with.
my $pid = $home->pid;

$server->sql('SELECT pg_advisory_lock(7)');
$home->send(q{SELECT rule_of('TABLE', 'a', 't'), pg_advisory_xact_lock_shared(7)::text, rule_of('TABLE', 'a', 't')});
ok($server->poll("SELECT count(*) FROM pg_locks WHERE pid = $pid AND NOT granted", 1), 'a statement is in the middle');
$server->sql(q{SELECT pfs.set_object('TABLE', '%', 'a', 't', 'NO')});
$server->sql('SELECT pg_advisory_unlock(7)');
is($home->result, 'YES YES||YES YES', 'it goes on by the rules that it began with');
is(rule($home, 'a', 't'), 'NO NO', 'the next one does not');
$server->sql($restore);

# Schemas come, change their names and go.
$server->sql(q{SELECT pfs.set_object('TABLE', '%', 'new', '%', 'YES', 'NO')});
is(rule($home, 'a', 't'), 'YES YES', 'a rule for a schema that is not there');
$server->sql('CREATE SCHEMA new');
is(rule($home, 'new', 't'), 'YES NO', 'now it is');
$server->sql('ALTER SCHEMA new RENAME TO old');
is(rule($home, 'old', 't'), 'YES YES', 'now it has another name');
$server->sql('ALTER SCHEMA a RENAME TO new');
is(rule($home, 'new', 't'), 'YES NO', 'now another one has its name');
$server->sql('ALTER SCHEMA new RENAME TO a; DROP SCHEMA old; CREATE SCHEMA new');
is(rule($home, 'a', 't'), 'YES YES', 'and not any more');
is(rule($home, 'new', 't'), 'YES NO', 'one that was made anew');
is(rule($shop, 'a', 't'), 'YES YES', 'the other database has none');
$home->query('BEGIN; CREATE SCHEMA mine');
$server->sql(q{SELECT pfs.set_object('TABLE', '%', 'mine', '%', 'NO')});
is(rule($home, 'mine', 't'), 'NO NO', 'a schema of a transaction that runs');
$home->query('ROLLBACK');

# A session has its temporary schemas only when it needs them.
my $late = $server->session;

$server->sql(q{SELECT pfs.set_object('TABLE', '%', 'pg_temp', '%', 'YES', 'NO')});
is(rule($late, 'a', 't'), 'YES YES', 'a session resolves the rules');
is($late->query(q{CREATE TEMP TABLE late (i int); SELECT rule('TABLE', pg_my_temp_schema(), 'late')}), 'YES NO', 'and makes a temporary table then');
my $of_other = (split /\|/, $late->query('SELECT pg_my_temp_schema()::regnamespace'))[0];

is(rule($home, $of_other, 'late'), 'YES YES', q{pg_temp is the session's own});
$server->sql("SELECT pfs.set_object('TABLE', '%', '$of_other', '%', 'NO')");
is(rule($late, $of_other, 'late'), 'NO NO', 'the very name goes before pg_temp');
is(rule($home, $of_other, 'late'), 'NO NO', 'and is known to others');
$late->close;

# A database has another name.
$server->sql(q{SELECT pfs.set_object('TABLE', 'market', '%', '%', 'NO')});
is(rule($shop, 'a', 't'), 'YES YES', 'a rule for another database');
$shop->close;
$server->sql('ALTER DATABASE shop RENAME TO market');
$shop = $server->session(db => 'market');
is(rule($shop, 'a', 't'), 'NO NO', 'which it is now');

# ---- rules that change all the time ----

# Both switches of a rule, and the rules of one statement, are seen together.
$server->sql($restore);
$server->sql(q{SELECT pfs.set_object('TABLE', '%', 'a', 't', 'NO', 'NO'), pfs.set_object('TABLE', '%', 'a', 'u', 'NO', 'YES')});
my $churn = $server->session;

$churn->send(<<'EOT');
DO $$ BEGIN FOR i IN 1 .. 4000 LOOP
	PERFORM pfs.set_object('TABLE', '%', 'a', 'u', 'YES', 'NO');
	DELETE FROM pfs.setup_objects;
	INSERT INTO pfs.setup_objects (object_schema, object_name, enabled, timed) VALUES ('a', 't', 'NO', 'NO'), ('a', 'u', 'YES', 'NO'), ('%', '%', 'YES', 'YES');
	PERFORM pfs.set_object('TABLE', '%', 'a', 'u', 'NO', 'YES');
	DELETE FROM pfs.setup_objects;
	INSERT INTO pfs.setup_objects (object_schema, object_name, enabled, timed) VALUES ('%', '%', 'YES', 'YES'), ('a', 'u', 'NO', 'YES'), ('a', 't', 'NO', 'NO');
END LOOP; END $$
EOT
my ($n, %seen) = (0);

until ($churn->is_done)
{
	$seen{ $home->query(q{SELECT rule_of('TABLE', 'a', 't') || ', ' || rule_of('TABLE', 'a', 'u') || ', ' || rule_of('TABLE', 'public', 't')}) }++;
	$n++;
}
$churn->result;
$churn->close;
note("$n statements: ", join '; ', map { "$_: $seen{$_}" } sort keys %seen);
is(join('; ', grep { !/^NO NO, (YES NO|NO NO), YES YES$|^NO NO, NO NO, NO NO$/ } sort keys %seen), '', 'a session sees whole sets of rules only');
cmp_ok(scalar(keys %seen), '>', 1, 'and more than one of them');
is(rule($home, 'a', 'u'), 'NO NO', 'in the end the last one');

# ---- a writer that is stopped in the middle ----

SKIP:
{
	skip 'no breakpoints on this processor', 7 unless `uname -m` =~ /^(x86_64|aarch64)$/;
	my $stopper = $server->session;

	$server->sql($restore);
	$server->sql(q{SELECT pfs.set_object('TABLE', '%', 'a', 't', 'NO')});
	is(rule($home, 'a', 't'), 'NO NO', 'a session has resolved a rule');
	$stopper->query(test_functions('pfs_test_stop'));
	my $stopped = $stopper->pid;

	$stopper->send(q{SELECT stop_at('pfs_pages_free')});
	$stopper->send(q{DELETE FROM pfs.setup_objects WHERE object_name = 't'});
	foreach (1 .. 3000)
	{
		open my $stat, '<', "/proc/$stopped/stat" or last;
		last if <$stat> =~ /\) T/;
		PfsServer::pump($stopper->{handle}, 'pump_nb');
		sleep(0.02);
	}
	my $begin = time;

	is(rule($home, 'a', 't'), 'NO NO', 'while its removal is under way the rule stays');
	cmp_ok(time - $begin, '<', $bound, 'and the statement does not wait for the end of it');
	is($home->query('SELECT copies()'), $home->query('SELECT copies()'), 'others do not try again');
	is(rule($shop, 'a', 't'), 'NO NO', 'in another session, too');
	kill 'CONT', $stopped;
	$stopper->result;
	$stopper->result;
	is(rule($home, 'a', 't'), 'YES YES', 'when it is over it counts');
	is(rule($shop, 'a', 't'), 'YES YES', 'everywhere');
	$stopper->close;
}
$_->close foreach $shop, $home;

# ---- a standby has its own rules ----

my $backup = PfsServer::folder() . '/backup';

PfsServer::run_ok(PfsServer::bindir() . '/pg_basebackup', '-d', $server->connstr, '-D', $backup, '-R', '-c', 'fast', '--no-sync');
my $standby = PfsServer->new('standby', from => $backup, conf => "listen_addresses = ''");

$standby->start;
is($standby->sql('SELECT count(*) FROM pfs.setup_objects'), 16, 'a standby has the rules of the start');
$standby->fails(q{INSERT INTO pfs.setup_objects (object_name) VALUES ('t')}, '25006', qr/in a read-only transaction/, 'standby: no INSERT');
is($standby->sql(q{SELECT pfs.set_object('TABLE', '%', 'a', 't', 'NO')}), 1, 'set_object works');
is($standby->sql(q{SELECT rule_of('TABLE', 'a', 't')}), 'NO NO', 'and counts');
is($server->sql(q{SELECT rule_of('TABLE', 'a', 't')}), 'YES YES', 'on the standby only');
is($standby->sql(q{SELECT pfs.drop_object('TABLE', '%', 'a', 't'), pfs.reset('setup_objects')}), '1|16', 'so do drop_object and reset');
is($standby->sql(q{SELECT rule_of('TABLE', 'a', 't')}), 'NO NO', 'without rules nothing is instrumented');
$standby->stop;

# ---- after a crash, and with room for few rules, and for none ----

my $victim = $server->session;
my $victim_pid = $victim->pid;

my $started = q{SELECT variable_value FROM pfs.status WHERE variable_name = 'pfs_start_time'};
my $before = $server->sql($started);

$server->sql(q{TRUNCATE pfs.setup_objects});
kill 'KILL', $victim_pid;
$server->lost_sessions;
ok($server->poll_connect("SELECT ($started) <> '$before'", 't'), 'a session is killed, and the server begins anew');
is($server->sql('SELECT count(*) FROM pfs.setup_objects'), 16, 'with the rules of the start');
is($server->sql(q{SELECT rule_of('TABLE', 'a', 't')}), 'YES YES', 'by which sessions go');
$server->conf('pfs.setup_objects_size = 5');
$server->restart;
is($server->sql(q{SELECT string_agg(object_type || ' ' || object_schema, ', ' ORDER BY object_type COLLATE "C" DESC, object_schema COLLATE "C") FROM pfs.setup_objects}),
	'TABLE %, TABLE information_schema, TABLE pg_catalog, TABLE pg_toast, FUNCTION pg_catalog', 'size 5: the rules of tables first');
is($server->sql(q{SELECT records_max, records_used, records_lost FROM pfs.containers WHERE name = 'setup_objects'}), '5|5|11', 'the others are lost');
is($server->sql(q{SELECT rule_of('TABLE', 'a', 't'), rule_of('FUNCTION', 'a', 't')}), 'YES YES|NO NO', 'which says what is instrumented');
$server->fails(q{INSERT INTO pfs.setup_objects (object_name) VALUES ('t')}, '53400', qr/room for 5 .*HINT: .*pfs\.setup_objects_size/s, 'no room');
$server->fails(q{SELECT pfs.set_object('TABLE', '%', '%', 't')}, '53400', qr/HINT: /, 'nor by the function');
is($server->sql(q{SELECT pfs.set_object('TABLE', '%', '%', '%', 'NO')}), 1, 'a rule can be changed');
is($server->sql(q{SELECT rule_of('TABLE', 'a', 't')}), 'NO NO', 'and counts');
$server->conf('pfs.setup_objects_size = 0');
$server->restart;
is($server->sql('SELECT count(*) FROM pfs.setup_objects'), 0, 'size 0: no rule');
is($server->sql(q{SELECT rule_of('TABLE', 'a', 't')}), 'NO NO', 'nothing is instrumented');
$server->fails('INSERT INTO pfs.setup_objects DEFAULT VALUES', '53400', qr/HINT: .*pfs\.setup_objects_size/, 'none can be inserted');
is($server->sql(q{SELECT pfs.drop_object('TABLE', '%', '%', '%'), pfs.reset('setup_objects')}), '0|0', 'nor dropped');
is($server->sql(q{SELECT records_max, records_lost FROM pfs.containers WHERE name = 'setup_objects'}), '0|0', 'and nothing counts as lost');

done_testing();
