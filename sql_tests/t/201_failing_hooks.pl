# Another library raises an error in one of its hooks, before or behind the call of the hook that was there before:
# each statement is recorded once, with that error, its digest and the sums agree, nothing stays open, and no hook is
# called twice.
#
# Hooks of preloaded libraries are behind those of pfs, those of a library that a session loads are in front of them:
# in the middle of whatever it does.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/lib";
use PfsExact;
use PfsServer;
use PfsWire;
use Test::More;

my $module = test_module('pfs_test_hooks');
my $server = PfsServer->new('main', conf => <<'EOT');
autovacuum = off
compute_query_id = on
pfs.events_statements_history_long_size = 1000
pfs.events_transactions_history_long_size = 1000
EOT

$server->start;
$server->sql($_) foreach 'CREATE EXTENSION pfs', test_functions('pfs_test_hooks'), <<'EOT';
CREATE TABLE plain (i int);
INSERT INTO plain SELECT generate_series(1, 10);
CREATE TABLE t_marked (i int PRIMARY KEY, n int);
CREATE TABLE triggers_marked (i int PRIMARY KEY, n int);
INSERT INTO t_marked SELECT g, g FROM generate_series(1, 5) g;
INSERT INTO triggers_marked VALUES (1, 1);
CREATE FUNCTION trigger_f() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM count(*) FROM plain WHERE i = 3; RETURN NULL; END';
CREATE TRIGGER t AFTER UPDATE ON triggers_marked FOR EACH ROW EXECUTE FUNCTION trigger_f();
CREATE FUNCTION f_marked(x int) RETURNS int LANGUAGE plpgsql AS 'BEGIN RETURN x; END';
CREATE FUNCTION warns() RETURNS int LANGUAGE plpgsql AS $$ BEGIN RAISE WARNING 'mark%', 'ed'; RETURN 1; END $$;
CREATE FUNCTION fails() RETURNS int LANGUAGE plpgsql AS $$ BEGIN RAISE 'mark%', 'ed'; END $$;
CREATE FUNCTION catches(sql text) RETURNS int LANGUAGE plpgsql AS $$
BEGIN
	PERFORM count(*) FROM plain;
	BEGIN
		EXECUTE replace(sql, '##', 'mark' || 'ed');
	EXCEPTION WHEN external_routine_exception THEN
		PERFORM count(*) FROM plain WHERE i = 1;
	END;
	PERFORM count(*) FROM plain WHERE i = 2;
	RETURN 1;
END $$;
CREATE FUNCTION catches_first(sql text) RETURNS int LANGUAGE plpgsql AS $$
BEGIN
	BEGIN
		EXECUTE replace(sql, '##', 'mark' || 'ed');
	EXCEPTION WHEN external_routine_exception THEN
		RETURN 1;
	END;
	RETURN 1;
END $$;
CREATE FUNCTION one_by_one() RETURNS SETOF int LANGUAGE sql AS 'SELECT i FROM plain WHERE i < 4';
CREATE FUNCTION waits_meanwhile() RETURNS int LANGUAGE plpgsql AS $$
DECLARE c CURSOR FOR SELECT i FROM plain WHERE i = 5; r record;
BEGIN
	BEGIN
		PERFORM 1 / (one_by_one() - 2);
	EXCEPTION WHEN division_by_zero THEN
		NULL;
	END;
	BEGIN
		OPEN c;
		FOR r IN SELECT i FROM plain WHERE i < 3 LOOP
			PERFORM 1 / (i - r.i) FROM plain WHERE i = 2;
		END LOOP;
	EXCEPTION WHEN division_by_zero THEN
		NULL;
	END;
	RETURN 1;
END $$;
CREATE FUNCTION loads(library text) RETURNS int LANGUAGE plpgsql AS $$
BEGIN
	PERFORM count(*) FROM public.plain;
	EXECUTE format('LOAD %L', library);
	PERFORM count(*) FROM public.plain WHERE i = 2;
	RETURN 1;
END $$;
EOT

# ---- what is executed, and what is expected ----

# calls: the marked ones, in order; before: what has to be there.
my %statements = (
	select => { text => 'SELECT f_##(n) FROM t_## WHERE i < 4', event => 'sql/select', sent => 3, affected => 0, calls => 'parse planner start perms object run fmgr fmgr fmgr finish end' },
	update => { text => 'UPDATE t_## SET n = n WHERE i = 1', event => 'sql/update', sent => 0, affected => 1, calls => 'parse planner start perms run finish end' },
	# Its trigger is executed by the finish.
	trigger => { text => 'UPDATE triggers_## SET n = n WHERE i = 1', event => 'sql/update', sent => 0, affected => 1, calls => 'parse planner start perms run finish end', inside => 'SELECT count(*) FROM plain WHERE i = 3' },
	set => { text => q{SET my.mark = '##'}, event => 'sql/set', sent => 0, affected => 0, calls => 'parse utility' },
	# pfs has the hook of objects only while such a command runs.
	drop => { text => 'DROP TABLE drop_##', event => 'sql/drop_table', sent => 0, affected => 0, calls => 'parse utility object', before => 'CREATE TABLE IF NOT EXISTS drop_marked (i int)' },
	warn => { text => 'SELECT warns()', event => 'sql/select', sent => 1, affected => 0, calls => 'log' },
);

# Hooks that others are called inside of.
my %inside = (start => 'perms|object', run => 'fmgr', utility => 'object');

sub unmarked
{
	my ($statement) = @_;

	return $statement->{text} =~ s/##/marked/gr;
}

# The calls up to the one that raises; behind it come those that are made inside of it.
sub calls
{
	my ($calls, $hook, $side) = @_;
	my $inside = $inside{$hook} // 'none';
	my ($met, @calls);

	return $calls if $hook eq '';
	foreach my $call (split ' ', $calls)
	{
		last if $met && ($side eq 'before' || $call !~ /^(?:$inside)$/);
		$met ||= $call eq $hook;
		push @calls, $call;
	}
	return "@calls!";
}

sub event
{
	my ($event, $errors, $sent, $affected, $text) = @_;

	return "$event e$errors s$sent a$affected: $text";
}

# Has the executor returned or changed the rows, as far as pfs can tell?
sub has_rows
{
	my ($hook, $side, $outer) = @_;

	return $hook eq '' || $hook =~ /^(?:finish|end)$/ || ($outer && "$hook $side" eq 'run behind');
}

# At top level.  A statement that fails before pfs is called has its text, and no name.
sub top_event
{
	my ($statement, $hook, $side, $outer, $first) = @_;
	my $rows = has_rows($hook, $side, $outer);

	return (event($outer && "$hook $side" eq ($first // 'parse') . ' before' ? 'sql/error' : $statement->{event}, $hook eq '' ? 0 : '1 38000',
			$rows ? $statement->{sent} : 0, $rows ? $statement->{affected} : 0, unmarked($statement)),
		$statement->{inside} && ($hook =~ /^(?:|end)$/ || "$hook $side" eq 'finish behind') ? '  ' . event('sql/select', 0, 1, 0, $statement->{inside}) : ());
}

# In a function.  What has been planned and not started is no statement, as expressions are planned, too; nor is a text.
sub nested_event
{
	my ($statement, $hook, $side, $outer) = @_;
	my $rows = has_rows($hook, $side, $outer);

	return () if $hook eq 'parse' || ($outer && "$hook $side" =~ /^(?:planner|start before|utility before)/);
	# Its last call is over.
	my $over = $outer && "$hook $side" =~ /^(?:end|utility) behind/;

	return '  ' . event($statement->{event}, $hook eq '' || $over ? 0 : '1 38000', $rows ? $statement->{sent} : 0, $rows ? $statement->{affected} : 0, unmarked($statement));
}

sub one { return event('sql/select', 0, 1, 0, $_[0]); }

my $asks = one('SELECT hook_calls()');

# How the client sends a statement, and what is expected of all that it sends: events, and how transactions end.
my %ways = (
	simple => {
		send => sub { my ($c, $sql) = @_; $c->query($sql) },
	},
	extended => {
		send => sub { my ($c, $sql) = @_; $c->send_at_once([ Parse => '', $sql ], [ Bind => '' ], ['Execute'], ['Sync']); $c->until_ready },
	},
	# It has been planned when it was executed first.
	prepared => {
		only => 'start|perms|object|run|fmgr|finish|end',
		not => 'drop',
		prepare => sub { my ($c, $sql) = @_; $c->send_at_once([ Parse => 'p', $sql ], [ Bind => 'p' ], ['Execute'], ['Sync'], [ Close => 'q' ], ['Sync']); $c->until_ready for 1 .. 2 },
		send => sub { my ($c, $sql) = @_; $c->send_at_once([ Bind => 'p' ], ['Execute'], ['Sync'], [ Close => 'p' ], ['Sync']); $c->until_ready },
		after => sub { $_[0]->until_ready },
		calls => sub { my ($calls) = @_; $calls =~ s/^parse planner //r },
		events => sub { return top_event(@_, 'start') },
	},
	parts => {
		of => 'select',
		send => sub { my ($c, $sql) = @_; $c->send_at_once([ Parse => '', $sql ], [ BindAs => 'p', '' ], [ ExecuteOf => 'p', 2 ], [ ExecuteOf => 'p', 2 ], ['Sync']); $c->until_ready },
		calls => sub { my ($calls, $hook, $side) = @_; $hook eq 'run' ? $calls =~ s/fmgr fmgr fmgr/fmgr fmgr/r : $calls =~ s/fmgr fmgr fmgr/fmgr fmgr run fmgr/r },
		events => sub {
			my ($statement, $hook, $side, $outer) = @_;
			my @event = top_event($statement, $hook, $side, $outer);
			my $later = $hook =~ /^(?:|finish|end)$/;

			$event[0] =~ s/s3/s2/;
			$event[0] =~ s/e1 38000/e0/ if $later;
			return (@event, $later ? event('com/fetch', $hook eq '' ? 0 : '1 38000', 1, 0, unmarked($statement)) : ());
		},
	},
	# The next Bind closes the portal of a query, so an error of its finish or end is that of the next statement.
	pipeline => {
		send => sub { my ($c, $sql) = @_; $c->send_at_once((map { ([ Parse => '', $_ ], [ Bind => '' ], ['Execute']) } 'SELECT 1', $sql, 'SELECT 2 + 1'), ['Sync']); $c->until_ready },
		events => sub {
			my ($statement, $hook, $side, $outer) = @_;
			my @event = top_event($statement, $hook, $side, $outer);
			my $later = $statement->{sent} && $hook =~ /^(?:finish|end)$/;

			$event[0] =~ s/e1 38000/e0/ if $later;
			return (one('SELECT 1'), @event, $later ? event('sql/select', '1 38000', 0, 0, 'SELECT 2 + 1') : $hook eq '' ? one('SELECT 2 + 1') : ());
		},
	},
	syncs => {
		send => sub { my ($c, $sql) = @_; $c->send_at_once(map { ([ Parse => '', $_ ], [ Bind => '' ], ['Execute'], ['Sync']) } 'SELECT 1', $sql, 'SELECT 2 + 1'); $c->until_ready for 1 .. 3 },
		events => sub { return (one('SELECT 1'), top_event(@_), one('SELECT 2 + 1')) },
		ends => sub { my ($failed) = @_; return ('COMMITTED', $failed ? 'ROLLED BACK' : 'COMMITTED', 'COMMITTED') },
	},
	# The other statements have the same text, so only names tell.
	string => {
		only => 'perms|object|fmgr|log',
		send => sub { my ($c, $sql) = @_; $c->query("SELECT 1; $sql; SELECT 2 + 1") },
		calls => sub { my ($calls, $hook, $side) = @_; return $calls if $calls =~ /^log/; my $one = 'parse planner start run finish end'; return "$one $calls" . ($hook eq '' ? " $one" : '') },
		events => sub {
			my ($statement, $hook, $side, $outer) = @_;

			return (one('SELECT 1'), top_event($statement, $hook, $side, $outer), $hook eq '' ? one('SELECT 2 + 1') : ());
		},
	},
);

# In a function that catches the error, by the same ways; in another one nothing else is executed.
$ways{'first nested'} = {
	not => 'trigger',
	send => sub { my ($c, $sql) = @_; $c->query('SELECT catches_first(' . quoted($sql =~ s/marked/##/gr) . ')') },
	events => sub {
		my ($statement, $hook, $side, $outer) = @_;

		return (event('sql/select', $hook eq '' ? 0 : 1, 1, 0, 'SELECT catches_first(' . quoted($statement->{text}) . ')'), nested_event($statement, $hook, $side, $outer));
	},
	ends => sub { return 'COMMITTED' },
	catches => 1,
};
foreach my $way (qw(simple extended syncs))
{
	my $send = $ways{$way}{send};
	my $is_syncs = $way eq 'syncs';

	$ways{"$way nested"} = {
		not => 'trigger',
		send => sub { my ($c, $sql) = @_; $send->($c, 'SELECT catches(' . quoted($sql =~ s/marked/##/gr) . ')') },
		events => sub {
			my ($statement, $hook, $side, $outer) = @_;
			my @all = (event('sql/select', $hook eq '' ? 0 : 1, 1, 0, 'SELECT catches(' . quoted($statement->{text}) . ')'),
				'  ' . one('SELECT count(*) FROM plain'), nested_event($statement, $hook, $side, $outer),
				$hook eq '' ? () : '  ' . one('SELECT count(*) FROM plain WHERE i = 1'), '  ' . one('SELECT count(*) FROM plain WHERE i = 2'));

			return $is_syncs ? (one('SELECT 1'), @all, one('SELECT 2 + 1')) : @all;
		},
		ends => sub { return ('COMMITTED') x ($is_syncs ? 3 : 1) },
		catches => 1,
	};
}

sub quoted { return "'" . $_[0] =~ s/'/''/gr . "'"; }

# One statement in one way, with an error in a hook or, '', without one.
sub try
{
	my ($c, $exact, $outer, $what, $way, $kind, $hook, $side) = @_;
	my $w = $ways{$way};
	my $statement = $statements{$kind};
	my $calls = calls($statement->{calls}, $hook, $side);
	my @ends = ($w->{ends} // sub { $_[0] ? 'ROLLED BACK' : 'COMMITTED' })->($hook ne '');

	$calls = $w->{calls}->($calls, $hook, $side) if $w->{calls};
	$server->sql($statement->{before}) if $statement->{before};
	$c->query("SET pfs_test_hooks.raise = ''");
	$w->{prepare}->($c, unmarked($statement)) if $w->{prepare};
	$c->query("SET pfs_test_hooks.raise = '$hook $side'");
	$c->query('SELECT hook_calls()');
	$exact->skip;
	$w->{send}->($c, unmarked($statement));
	$w->{after}->($c) if $w->{after};
	$c->query('SELECT hook_calls()');

	is("$c->{row}[0]\n" . $exact->seen, join("\n", $calls, ($w->{events} // \&top_event)->($statement, $hook, $side, $outer), $asks, join(', ', @ends, 'COMMITTED')),
		"$what, $way, $kind" . ($hook ne '' ? ", $hook $side" : ''));
}

# Each hook, on both sides.
sub try_all
{
	my ($c, $outer, $what, $only_ways, $only_kinds) = @_;
	my $exact = PfsExact->new($server, $server->thread_of($c->pid));

	foreach my $way (grep { /$only_ways/ } sort keys %ways)
	{
		my $w = $ways{$way};
		my $failures = 0;

		$exact->begin;
		foreach my $kind (grep { /$only_kinds/ && (!$w->{of} || $_ eq $w->{of}) && (!$w->{not} || $_ ne $w->{not}) } sort keys %statements)
		{
			my %seen;
			my @hooks = grep { (!$w->{only} || /^(?:$w->{only})$/) && !$seen{$_}++ } split ' ', $statements{$kind}{calls};

			next unless @hooks;
			try($c, $exact, $outer, $what, $way, $kind, @$_) foreach [ '', '' ], map { my $hook = $_; map { [ $hook, $_ ] } qw(before behind) } @hooks;
			$failures += 2 * @hooks;
		}
		is($exact->errors('38000'), $failures . '|' . ($w->{catches} ? $failures : 0), "$what, $way: errors that were raised and handled");
		is($exact->disagreements, '', "$what, $way: all that is counted agrees");
	}
}

# ---- loaded by a session ----

my $c = PfsWire->new($server);

$c->query("LOAD '$module'");
try_all($c, 1, 'loaded', '.', '.');

# In the middle of a function, of a plain statement's start, of its plan; and while pfs has the hook of objects.
my %middles = (
	'loaded by a function' => [ "SELECT loads('$module')", one("SELECT loads('$module')"), '  ' . one('SELECT count(*) FROM public.plain'), '  ' . event('sql/load', 0, 0, 0, "LOAD '$module'"),
		'  ' . one('SELECT count(*) FROM public.plain WHERE i = 2') ],
	'loaded by a refresh' => [ 'REFRESH MATERIALIZED VIEW refreshed', event('sql/refresh_materialized_view', 0, 0, 1, 'REFRESH MATERIALIZED VIEW refreshed'),
		'  ' . one('REFRESH MATERIALIZED VIEW refreshed'), '    ' . one('SELECT count(*) FROM public.plain'), '    ' . event('sql/load', 0, 0, 0, "LOAD '$module'"),
		'    ' . one('SELECT count(*) FROM public.plain WHERE i = 2') ],
	'loaded by a start' => [ 'SELECT hook_calls()', $asks ],
	'loaded by a plan' => [ 'SELECT early_calls()', one('SELECT early_calls()') ]);

$server->sql($_) foreach "CREATE FUNCTION early_calls() RETURNS text IMMUTABLE LANGUAGE C AS '$module', 'pfs_test_hook_calls'",
  "CREATE MATERIALIZED VIEW refreshed AS SELECT public.loads('$module') WITH NO DATA";
foreach my $what (sort keys %middles)
{
	my ($sql, @events) = @{ $middles{$what} };

	foreach my $way (qw(simple extended))
	{
		$c = PfsWire->new($server);
		my $exact = PfsExact->new($server, $server->thread_of($c->pid));

		$exact->begin;
		$ways{$way}{send}->($c, $sql);
		$c->query('SELECT hook_calls()');
		is($exact->seen, join("\n", @events, $asks, 'COMMITTED, COMMITTED'), "$what, $way: its own statement");
		is($exact->disagreements, '', "$what, $way: all agrees");
		try_all($c, 1, "$what, $way", '^(?:simple|extended)(?: nested)?$', 'select|set|drop');
	}
}

# ---- preloaded ----

foreach my $libraries ("$module,pfs", "pfs,$module")
{
	$server->stop;
	$server->conf("shared_preload_libraries = '$libraries'");
	$server->start;
	my $what = $libraries =~ /^pfs/ ? 'preloaded behind pfs' : 'preloaded before pfs';

	try_all(PfsWire->new($server), 0, $what, $libraries =~ /^pfs/ ? '.' : '^(?:simple|extended)(?: nested)?$', '.');
}

# ---- what waits while another statement fails ----

# Between two calls of the executor a query is executed all the same, but for one whose rows are asked for one by one.
my $c2 = PfsWire->new($server);
my $waiting = PfsExact->new($server, $server->thread_of($c2->pid));
my $divides = 'SELECT 1 / (i - r.i) FROM plain WHERE i = 2';

$waiting->begin;
$c2->query('SELECT waits_meanwhile()');
is($waiting->seen, join("\n", event('sql/select', 2, 1, 0, 'SELECT waits_meanwhile()'), '  ' . event('sql/select', '1 22012', 0, 0, 'SELECT 1 / (one_by_one() - 2)'),
	'    ' . event('sql/select', 0, 2, 0, 'SELECT i FROM plain WHERE i < 4'), '  ' . event('sql/select', 0, 0, 0, 'SELECT i FROM plain WHERE i = 5'),
	'  ' . event('sql/select', 0, 2, 0, 'SELECT i FROM plain WHERE i < 3'), '  ' . one($divides), '  ' . event('sql/select', '1 22012', 0, 0, $divides), 'COMMITTED'),
	'cursors and functions in SQL that wait have not failed');
is($waiting->disagreements, '', '... and all that is counted agrees');

# ---- an error while an error is reported, which takes its place ----

$c = PfsWire->new($server);
my $exact = PfsExact->new($server, $server->thread_of($c->pid));

foreach my $side (qw(before behind))
{
	$c->query("SET pfs_test_hooks.raise = 'report $side'");
	$c->query('SELECT hook_calls()');
	$exact->begin;
	$c->query('SELECT fails()');
	like($c->{error}, qr/asked to fail: report $side/, "report $side: the client gets the later error");
	$c->query('SELECT hook_calls()');
	is("$c->{row}[0]\n" . $exact->seen, join("\n", 'report!', event('sql/select', '2 38000', 0, 0, 'SELECT fails()'), $asks, 'ROLLED BACK, COMMITTED'), "report $side: its statement has both");
	is($exact->errors($_), '1|0', "report $side: so has its session: $_") foreach qw(P0001 38000);
	is($exact->disagreements, '', "report $side: all that is counted agrees");
}

done_testing();
