# auto_explain, preloaded or loaded into a session that is in the middle of something: it explains each query once, and
# each statement is recorded once, with its rows, its digest and its transaction.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/lib";
use PfsExact;
use PfsServer;
use PfsWire;
use Test::More;

my $server = PfsServer->new('main', conf => <<'EOT');
autovacuum = off
compute_query_id = on
pfs.events_statements_history_long_size = 1000
pfs.events_transactions_history_long_size = 1000
auto_explain.log_min_duration = 0
auto_explain.log_nested_statements = on
EOT

$server->start;
$server->sql($_) foreach 'CREATE EXTENSION pfs', <<'EOT';
CREATE TABLE t (i int PRIMARY KEY, n int);
INSERT INTO t SELECT g, 0 FROM generate_series(1, 10) g;
CREATE TABLE checked (i int);
CREATE FUNCTION checks() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM FROM t WHERE i = 6; RETURN NULL; END';
CREATE CONSTRAINT TRIGGER c AFTER INSERT ON checked DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION checks();
CREATE FUNCTION works() RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE r record; total bigint = 0;
BEGIN
	UPDATE t SET n = n + 1 WHERE i = 1;
	BEGIN
		PERFORM 1 / (t.n - t.n) FROM t WHERE i = 1;
	EXCEPTION WHEN division_by_zero THEN
		PERFORM FROM t WHERE i = 2;
	END;
	FOR r IN SELECT i FROM t WHERE i < 4 LOOP
		total := total + r.i;
	END LOOP;
	RETURN total;
END $$;
CREATE FUNCTION loads() RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE c CURSOR FOR SELECT i FROM t WHERE i > 5; x int;
BEGIN
	UPDATE t SET n = n + 1 WHERE i = 7;
	OPEN c;
	FETCH c INTO x;
	LOAD 'auto_explain';
	FETCH c INTO x;
	CLOSE c;
	RETURN works();
END $$;
EOT

sub event
{
	my ($level, $event, $errors, $sent, $affected, $text) = @_;

	return '  ' x $level . "sql/$event e$errors s$sent a$affected: $text";
}

# The texts that a session has had explained since mark_log(), in order.
sub explained
{
	my ($c) = @_;

	return join("\n", sort $server->log_text =~ /\[@{[ $c->pid ]}\] LOG:  duration: .*\n\tQuery Text: (.*)$/mg);
}

# What works() does.
my @works = ([ 'update', 0, 0, 1, 'UPDATE t SET n = n + 1 WHERE i = 1' ], [ 'select', '1 22012', 0, 0, 'SELECT 1 / (t.n - t.n) FROM t WHERE i = 1' ], [ 'select', 0, 1, 0, 'SELECT FROM t WHERE i = 2' ],
	[ 'select', 0, 3, 0, 'SELECT i FROM t WHERE i < 4' ]);

sub works { my ($level) = @_; return map { event($level, @$_) } @works; }

my @works_explained = map { $_->[4] } grep { $_->[1] eq '0' } @works;

# What a client sends: all that does not fail is explained.
my @plain = ('select', 0, 1, 0, 'SELECT n >= 0 FROM t WHERE i = 3');
my @write = ('update', 0, 0, 1, 'UPDATE t SET n = 0 WHERE i = 4');
my @fails = ('select', '1 22012', 0, 0, 'SELECT 1 / (n - n) FROM t WHERE i = 5');
my @calls = ('select', 1, 1, 0, 'SELECT works()');
my @checks = ('insert', 0, 0, 1, 'INSERT INTO checked VALUES (1)');

sub extended { return ([ Parse => '', $_[0] ], [ Bind => '' ], ['Execute']) }

my %messages = (
	simple => sub { map { [ Query => $_ ] } @_ },
	extended => sub { map { (extended($_), ['Sync']) } @_ },
	parts => sub { map { ([ Parse => '', $_ ], [ BindAs => 'p', '' ], [ ExecuteOf => 'p', 0 ], ['Sync']) } @_ },
	prepared => sub { map { ([ Parse => 'q', $_ ], [ Bind => 'q' ], ['Execute'], ['Sync'], [ Close => 'q' ], ['Sync']) } @_ },
);

sub exchange
{
	my ($c, @messages) = @_;
	my @syncs = grep { $_->[0] eq 'Sync' || $_->[0] eq 'Query' } @messages;

	$c->send_at_once(@messages);
	$c->until_ready foreach @syncs;
}

# All ways of the protocol, message by message and at once.
sub statements_are_exact
{
	my ($c, $exact, $what) = @_;

	$exact->begin;
	foreach my $way (sort keys %messages)
	{
		foreach my $at_once (0, 1)
		{
			my @statements = (\@plain, \@write, \@fails, \@calls, \@checks, \@plain);
			my @messages = map { [ $messages{$way}->($_->[4]) ] } @statements;

			$server->mark_log;
			exchange($c, @$_) foreach $at_once ? [ map { @$_ } @messages ] : @messages;
			my $name = "$what, $way" . ($at_once ? ', at once' : '');
			# The trigger comes with the commit.
			my $check = 'SELECT FROM t WHERE i = 6';

			is($exact->seen, join("\n", (map { event(0, @$_), $_ == \@calls ? works(1) : $_ == \@checks ? event(1, 'select', 0, 1, 0, $check) : () } @statements),
				join(', ', map { $_ == \@fails ? 'ROLLED BACK' : 'COMMITTED' } @statements)), "$name: each statement is recorded");
			is(explained($c), join("\n", sort @works_explained, $check, map { $_->[4] } grep { $_ != \@fails } @statements), "$name: each query is explained once");
		}
	}
	is($exact->disagreements, '', "$what: all that is counted agrees");
}

# ---- preloaded ----

foreach my $analyze (qw(off on))
{
	foreach my $setting ("shared_preload_libraries = 'auto_explain,pfs'", "shared_preload_libraries = 'pfs,auto_explain'",
		"shared_preload_libraries = 'pfs'\nsession_preload_libraries = 'auto_explain'")
	{
		$server->stop;
		$server->conf("$setting\nauto_explain.log_analyze = $analyze");
		$server->start;
		my $c = PfsWire->new($server);

		statements_are_exact($c, PfsExact->new($server, $server->thread_of($c->pid)), $setting =~ s/\n/, /r . ", analyze $analyze");
	}
	$server->stop;
	$server->conf("session_preload_libraries = ''");
	$server->start;

	# ---- loaded between two statements ----

	my $c = PfsWire->new($server);
	my $exact = PfsExact->new($server, $server->thread_of($c->pid));

	$exact->begin;
	$server->mark_log;
	$c->query($_) foreach $plain[4], "LOAD 'auto_explain'", $plain[4];
	is($exact->seen, join("\n", event(0, @plain), event(0, 'load', 0, 0, 0, "LOAD 'auto_explain'"), event(0, @plain), 'COMMITTED, COMMITTED, COMMITTED'), "analyze $analyze, loaded: the statements around it");
	is(explained($c), $plain[4], "analyze $analyze, loaded: the one behind it is explained");
	statements_are_exact($c, $exact, "analyze $analyze, loaded");

	# ---- loaded while a function is executed, with a cursor that is open ----

	foreach my $way (sort keys %messages)
	{
		$c = PfsWire->new($server);
		$exact = PfsExact->new($server, $server->thread_of($c->pid));
		$exact->begin;
		$server->mark_log;
		exchange($c, $messages{$way}->('SELECT loads()'));
		exchange($c, [ Query => $plain[4] ]);
		is($exact->seen, join("\n", event(0, 'select', 1, 1, 0, 'SELECT loads()'), event(1, 'update', 0, 0, 1, 'UPDATE t SET n = n + 1 WHERE i = 7'),
			event(1, 'select', 0, 2, 0, 'SELECT i FROM t WHERE i > 5'), event(1, 'load', 0, 0, 0, q{LOAD 'auto_explain'}), works(1), event(0, @plain), 'COMMITTED, COMMITTED'),
			"analyze $analyze, loaded in a function, $way: all statements are recorded");
		is(explained($c), join("\n", sort @works_explained, $plain[4]), "analyze $analyze, loaded in a function, $way: what begins behind it is explained");
		is($exact->disagreements, '', "analyze $analyze, loaded in a function, $way: all that is counted agrees");
	}
	statements_are_exact($c, $exact, "analyze $analyze, behind that function");

	# ---- loaded while a portal is open ----

	$c = PfsWire->new($server);
	$exact = PfsExact->new($server, $server->thread_of($c->pid));
	$exact->begin;
	$server->mark_log;
	exchange($c, @$_) foreach [ [ Query => 'BEGIN' ] ], [ [ Parse => '', 'SELECT i FROM t WHERE i < 6' ], [ BindAs => 'p', '' ], [ ExecuteOf => 'p', 2 ], ['Sync'] ], [ [ Query => "LOAD 'auto_explain'" ] ],
	  [ [ ExecuteOf => 'p', 2 ], ['Sync'] ], [ [ ExecuteOf => 'p', 2 ], ['Sync'] ], [ [ Query => 'COMMIT' ] ];
	is($exact->seen, join("\n", event(0, 'begin', 0, 0, 0, 'BEGIN'), event(0, 'select', 0, 2, 0, 'SELECT i FROM t WHERE i < 6'), event(0, 'load', 0, 0, 0, q{LOAD 'auto_explain'}),
		'com/fetch e0 s2 a0: SELECT i FROM t WHERE i < 6', 'com/fetch e0 s1 a0: SELECT i FROM t WHERE i < 6', event(0, 'commit', 0, 0, 0, 'COMMIT'), 'COMMITTED'),
		"analyze $analyze, loaded while a portal is open: its parts");
	is(explained($c), '', "analyze $analyze, loaded while a portal is open: it is not explained");
	is($exact->disagreements, '', "analyze $analyze, loaded while a portal is open: all that is counted agrees");
	statements_are_exact($c, $exact, "analyze $analyze, behind that portal");
}

done_testing();
