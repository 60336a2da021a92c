# Nothing that somebody has planted in the database is used by pfs: operators, functions,
# types and relations that fit better than those of pg_catalog lie in every schema that
# can come into the search path.  Each would leave a word if it were called, and each
# dependency on one is found.  Release 1.0 takes some of them, so the traps work; after
# its update none is left.
#
# There is nothing to plant where names have no schema, or only a superuser makes them:
# casts between types of pg_catalog, operator classes, languages, foreign data wrappers.
# Schemas pfs and pfs_sys cannot exist before CREATE EXTENSION.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/lib";
use PfsNodeTree;
use PfsDocs;
use PfsReleases;
use PfsServer;
use Test::More;

my $module = test_module('pfs_test');
my $installation = PfsReleases->new;
my $server = PfsServer->new('main', postgres => $installation->postgres, preload => "pfs, $module", conf => <<'EOT');
autovacuum = off
fsync = off
max_locks_per_transaction = 512
pfs.lwlock_events = all
pfs.events_waits_history_long_size = 100
pfs.events_statements_history_long_size = 100
pfs.events_stages_history_long_size = 100
pfs.events_transactions_history_long_size = 100
EOT
$server->start;
$server->sql('CREATE EXTENSION pfs');
$server->sql(test_functions('pfs_test'));

# A session that looks at a database, and takes nothing of it.
sub judge
{
	my ($database) = @_;

	return $server->session(db => $database, options => '-c search_path=pg_catalog');
}

# ---- what the extension refers to, asked from clean installations of all releases ----

my $trees = <<'EOT';
SELECT ev_action FROM pg_rewrite WHERE ev_class IN (SELECT oid FROM pg_class WHERE relnamespace IN (SELECT oid FROM pg_namespace WHERE nspname LIKE 'pfs%'))
UNION ALL SELECT proargdefaults FROM pg_proc WHERE pronamespace IN (SELECT oid FROM pg_namespace WHERE nspname LIKE 'pfs%') AND proargdefaults IS NOT NULL
UNION ALL SELECT prosqlbody FROM pg_proc WHERE pronamespace IN (SELECT oid FROM pg_namespace WHERE nspname LIKE 'pfs%') AND prosqlbody IS NOT NULL
UNION ALL SELECT adbin FROM pg_attrdef WHERE adrelid IN (SELECT oid FROM pg_class WHERE relnamespace IN (SELECT oid FROM pg_namespace WHERE nspname LIKE 'pfs%'))
EOT
my (@calls, %types, %relations);

sub collect
{
	my ($there) = @_;
	my (%of, %type);

	foreach (split /\n/, $there->query(<<'EOT'))
SELECT 'operator', oid, oprname, array_to_string(ARRAY[oprleft, oprright], ',') FROM pg_operator
UNION ALL SELECT 'function', oid, proname, array_to_string(proargtypes::oid[], ',') FROM pg_proc WHERE pronamespace = 'pg_catalog'::regnamespace
EOT
	{
		my ($kind, $oid, $name, $args) = /^(\w+)\|(\d+)\|(.*)\|([\d,]*)$/ or die $_;

		$of{"$kind $oid"} = [ $name, $args ];
	}
	foreach (split /\n/, $there->query("SELECT oid, format('pg_catalog.%I', typname), typelem, typtype FROM pg_type WHERE typnamespace = 'pg_catalog'::regnamespace"))
	{
		my ($oid, $name, $element, $kind) = split /\|/;

		$type{$oid} = { name => $name, element => $element, pseudo => $kind eq 'p' };
	}

	# The name of each type for the SQL below; of an array also that of its elements, for "= ANY".
	my $names = sub {
		my %names = map { $_->{name} => 1 } grep { defined && !$_->{pseudo} } map { $type{$_}, $type{ $type{$_}{element} // 0 } } @_;

		return [ sort keys %names ];
	};

	foreach my $text (split /\n/, $there->query($trees))
	{
		foreach my $call (PfsNodeTree::calls($text))
		{
			my $of = $of{"$call->{kind} $call->{oid}"} // next;		# functions of pfs
			my @declared = grep { $_ } split /,/, $of->[1];

			push @calls, {
				kind => $call->{kind},
				name => $of->[0],
				args => [ map { $names->(@{ $call->{args}[$_] }, $declared[$_] // ()) } 0 .. $#{ $call->{args} } ],
				result => $type{ $call->{result} }{name},
				retset => $call->{retset},
			};
		}
		$relations{$_} = 1 foreach $text =~ /:relid (\d+)/g;
	}
	$types{$_} = 1 foreach split /\n/, $there->query(<<'EOT');
SELECT DISTINCT typname FROM pg_type WHERE typnamespace = 'pg_catalog'::regnamespace AND typtype = 'b' AND typelem = 0 AND oid IN
	(SELECT atttypid FROM pg_attribute JOIN pg_class c ON c.oid = attrelid WHERE relnamespace IN (SELECT oid FROM pg_namespace WHERE nspname LIKE 'pfs%')
	UNION SELECT unnest(coalesce(proallargtypes, proargtypes::oid[]) || prorettype) FROM pg_proc WHERE pronamespace IN (SELECT oid FROM pg_namespace WHERE nspname LIKE 'pfs%'))
EOT
}

$installation->release('1.0');
$server->sql('CREATE DATABASE clean');
my $clean = judge('clean');
$clean->query('CREATE EXTENSION pfs SCHEMA pg_catalog');
collect($clean);
$installation->release;
$clean->query('ALTER EXTENSION pfs UPDATE');
collect($clean);
my @relations = split /\n/, $clean->query('SELECT relname FROM pg_class WHERE relnamespace = ' . "'pg_catalog'::regnamespace AND oid IN (" . join(', ', 0, keys %relations) . ')');
# A view has no column of a type as anyarray.
my %columns = map { split /\|/ } split /\n/, $clean->query(<<'EOT');
SELECT attrelid::regclass, string_agg(attname, ', ' ORDER BY attnum) FROM pg_attribute JOIN pg_type t ON t.oid = atttypid
WHERE attnum > 0 AND NOT attisdropped AND typtype <> 'p' GROUP BY attrelid
EOT
my %names = map { ("$_->{kind} $_->{name}" => 1) } @calls;

ok($names{'operator <>'} && $names{'operator ||'} && $names{'function unnest'} && $names{'function pg_backend_pid'},
	'the trees tell which operators and functions there are: ' . keys %names);
cmp_ok(scalar(@relations), '>=', 4, 'and which catalogs');

# A body that is kept as text is read with the search path of whoever calls it, unless it has one of its own.
is($clean->query(<<'EOT'), '', 'functions in SQL or PL/pgSQL have a search path of their own');
SELECT p.oid::regprocedure FROM pg_proc p JOIN pg_language l ON l.oid = prolang
WHERE pronamespace IN (SELECT oid FROM pg_namespace WHERE nspname LIKE 'pfs%') AND lanname <> 'c' AND prosqlbody IS NULL
	AND NOT EXISTS (SELECT FROM unnest(proconfig) setting WHERE setting ~ '^search_path=pg_catalog')
EOT

# ---- traps ----

# All combinations of one element of each list.
sub combinations
{
	my ($first, @rest) = @_;

	return ([]) unless defined $first;
	return map { my $one = $_; map { [ $one, @$_ ] } combinations(@rest) } @$first;
}

# SQL that makes a trap in the schema for everything that the extension refers to.  For
# operators these are all combinations of types that occur anywhere, or only those of the
# calls themselves, which a literal may have changed.
sub traps
{
	my ($schema, $all) = @_;
	my (%operators, %functions, %made);
	my $sql = '';
	my @occurring = do { my %t = map { $_ => 1 } map { map { @$_ } @{ $_->{args} } } @calls; sort keys %t };

	# A function that says that it was called.
	my $trap = sub {
		my ($name, $args, $result, $retset, $what) = @_;

		return if $made{ join ',', $name, @$args }++;
		$sql .= "CREATE FUNCTION $name(" . join(', ', @$args) . ') RETURNS ' . ($retset ? 'SETOF ' : '') . "$result LANGUAGE plpgsql AS "
		  . "'BEGIN RAISE WARNING ''planted: $what''; " . ($retset ? 'RETURN NEXT NULL; RETURN;' : 'RETURN NULL;') . " END';\n";
	};
	my $operator = sub {
		my ($name, $args, $result) = @_;

		return if @$args != 2 || $operators{"$name @$args"}++;
		# Names of types would make longer ones than names can be.
		my $function = "$schema.trap_" . keys %operators;
		$trap->($function, $args, $result, 0, "an operator for @$args");
		$sql .= "CREATE OPERATOR $schema.$name (LEFTARG = $args->[0], RIGHTARG = $args->[1], FUNCTION = $function);\n";
	};

	foreach my $call (@calls)
	{
		foreach my $args (combinations(@{ $call->{args} }))
		{
			$operator->($call->{name}, $args, $call->{result}) if $call->{kind} eq 'operator';
			$trap->("$schema.$call->{name}", $args, $call->{result}, $call->{retset}, "$call->{name}(@$args)") if $call->{kind} eq 'function';
		}
	}
	foreach my $call (grep { $all && $_->{kind} eq 'operator' } @calls)
	{
		foreach my $args (combinations(\@occurring, \@occurring))
		{
			my ($array) = grep { /\._/ } @$args;

			if ($call->{name} eq '||')
			{
				next unless defined $array || grep { $_ eq 'pg_catalog.text' } @$args;	# see below
				$operator->($call->{name}, $args, $array // $call->{result});
			}
			else
			{
				$operator->($call->{name}, $args, $call->{result});
			}
		}
	}
	$sql .= "CREATE DOMAIN $schema.\"$_\" AS pg_catalog.\"$_\";\n" foreach sort keys %types;
	$sql .= "CREATE VIEW $schema.$_ AS SELECT $columns{$_} FROM pg_catalog.$_;\n" foreach @relations;
	return "BEGIN;\nSET LOCAL check_function_bodies = off;\n${sql}COMMIT;\n";
}

# The owner of a database plants what he may.
$server->sql('CREATE ROLE dbo LOGIN; CREATE DATABASE trapped OWNER dbo');
my ($status, undef, $errors) = $server->psql(<<"EOT" . traps('public', 1) . traps('postgres') . traps('mon'), db => 'trapped', user => 'dbo');
CREATE SCHEMA postgres;
CREATE SCHEMA mon;
EOT
is($status, 0, 'the traps are set') or diag($errors);
my $planted = judge('trapped')->query(q{SELECT count(*) FROM pg_operator WHERE oprnamespace = 'public'::regnamespace});
cmp_ok($planted, '>', 1000, "$planted of them are operators of schema public");
$server->lost_sessions;
# CREATE DATABASE waits for them, too, but for five seconds only.
$server->poll("SELECT count(*) FROM pg_stat_activity WHERE datname = 'trapped'", 0);
$server->sql("CREATE DATABASE $_ TEMPLATE trapped OWNER dbo") foreach qw(old_public old_mon);
# One on which 1.0 fails, as it makes a number of a literal.
$server->psql(<<'EOT', db => 'trapped', user => 'dbo');
CREATE FUNCTION public.join(integer, integer) RETURNS text LANGUAGE plpgsql AS 'BEGIN RAISE WARNING ''planted: join''; RETURN NULL; END';
CREATE OPERATOR public.|| (LEFTARG = integer, RIGHTARG = integer, FUNCTION = public.join);
EOT

# ---- what pfs uses of it ----

# Objects that an object of the extension depends on, or that a tree of one of them names,
# outside of pg_catalog and pfs.
sub strangers
{
	my ($database) = @_;
	my $there = judge($database);
	my @found = split /\n/, $there->query(<<'EOT');
WITH RECURSIVE parts AS (
	SELECT classid, objid FROM pg_depend
	WHERE deptype = 'e' AND refclassid = 'pg_extension'::regclass AND refobjid = (SELECT oid FROM pg_extension WHERE extname = 'pfs')
	UNION
	SELECT d.classid, d.objid FROM pg_depend d JOIN parts p ON d.refclassid = p.classid AND d.refobjid = p.objid
	WHERE d.deptype IN ('i', 'a')
)
SELECT DISTINCT pg_describe_object(refclassid, refobjid, refobjsubid)
FROM pg_depend d JOIN parts USING (classid, objid),
	pg_identify_object(refclassid, refobjid, refobjsubid) i
WHERE d.deptype <> 'e' AND (refclassid, refobjid) NOT IN (SELECT classid, objid FROM parts) AND i.schema IS DISTINCT FROM 'pg_catalog'
EOT
	my %ours = map { $_ => 1 } split /\n/, $there->query(<<'EOT');
SELECT oid FROM pg_class WHERE relnamespace IN (SELECT oid FROM pg_namespace WHERE nspname LIKE 'pfs%')
UNION SELECT oid FROM pg_proc WHERE pronamespace IN (SELECT oid FROM pg_namespace WHERE nspname LIKE 'pfs%')
UNION SELECT oid FROM pg_type WHERE typnamespace IN (SELECT oid FROM pg_namespace WHERE nspname LIKE 'pfs%')
EOT

	push @found, map { "OID $_" } grep { !$ours{$_} } map { PfsNodeTree::oids($_) } split /\n/, $there->query($trees);
	$there->close;
	return @found;
}

# One who waits for a lock and one who waits for an LWLock, so that no view is empty.
my ($holder, $waiter, $lwlock, $sleeper) = map { $server->session } 1 .. 4;
$holder->query('SELECT pg_advisory_lock(7)');
$waiter->send('SELECT pg_advisory_lock(7)');
my $detours = $server->sql(q{SELECT count(*) > 0 FROM pfs.probes WHERE mechanism = 'detour' AND status = 'active'}) eq 't';
$server->sql('SELECT register()');
# Another process can wait for an LWLock, too, for a moment.
my $waits = 'SELECT count(*) FROM pfs.blocking_tree WHERE waiting_thread_id IN (' . join(', ', map { $_->thread_id } $waiter, $sleeper) . ')';

# Do they wait?  As hold() gives up after two minutes, the LWLock is held anew.
sub somebody_waits
{
	if ($detours)
	{
		my $thread = $lwlock->thread_id;

		$server->sql('SELECT release_hold()');
		$_->result foreach $lwlock, $sleeper;
		$lwlock->send(q{SELECT hold('pfs_test', 'exclusive')});
		$server->poll("SELECT count(*) FROM pfs.events_waits_current WHERE thread_id = $thread AND event_name = 'wait/timeout/OtherSleep'", 1);
		$sleeper->send(q{SELECT lwlock('pfs_test', 'shared', 0)});
	}
	return $server->poll($waits, $detours ? 2 : 1);
}
ok(somebody_waits(), 'somebody waits for a lock');
ok($server->poll('SELECT count(*) > 0 FROM pfs.lwlock_objects', $detours ? 't' : 'f'), 'and for an LWLock');
my @tables = split /\n/, $server->sql(q{SELECT oid::regclass FROM pg_class WHERE relnamespace IN (SELECT oid FROM pg_namespace WHERE nspname LIKE 'pfs%') AND relkind IN ('f', 'v') ORDER BY 1});

# Everything that reads, and functions: what of the planted was called, and how many errors there were.
sub use_everything
{
	my ($there) = @_;

	somebody_waits();
	$there->send("\\o /dev/null\n" . join("\n", map { "TABLE $_;" } @tables) . <<'EOT' . "\\o\n")->result;

SELECT pfs.timer_now(), pfs.timer_to_timestamp(0), pfs.format_time(0), pfs.thread_id(), pfs.reset_time('threads'),
	pfs.setup_sql(), pfs.lwlock_object(0), pfs.set_instruments('none'), pfs.set_threads('none', 'YES'), pfs.set_thread(0, 'YES'),
	pfs.drop_actor('1.2.3.4', 'nobody'), pfs.reset('events_waits_current');
SELECT FROM pfs_sys.load(), pfs_sys.top_waits(), pfs_sys.top_statements(), pfs_sys.top_users(), pfs_sys.what_happened();
SELECT pfs_sys.format_time(0), pfs_sys.format_bytes(0), pfs_sys.format_bytes(4194304), pfs_sys.format_statement('SELECT');
INSERT INTO pfs.setup_actors (user_name) VALUES ('dbo');
UPDATE pfs.setup_actors SET enabled = 'NO' WHERE user_name OPERATOR(pg_catalog.=) 'dbo';
DELETE FROM pfs.setup_actors WHERE user_name OPERATOR(pg_catalog.=) 'dbo';
EOT
	my %called = map { $_ => 1 } $there->last_error =~ /planted: (.*)/g;

	return ([ sort keys %called ], join("\n", $there->last_error =~ /(ERROR: .*)/g));
}

# One who uses a database with everything before pg_catalog, and has a temporary schema with traps, too.
sub victim
{
	my ($database) = @_;
	my $there = judge($database);

	$there->query(traps('pg_temp'));
	$there->query('SET search_path TO postgres, public, mon, pg_temp, pg_catalog');
	return $there;
}

# ---- 1.0 takes what it finds ----

$installation->release('1.0');
my %old = map { $_ => victim("old_$_") } qw(public mon);
$old{public}->query('SET search_path TO public; CREATE EXTENSION pfs');
$old{mon}->query('CREATE EXTENSION pfs SCHEMA mon');
foreach my $schema (sort keys %old)
{
	my @strangers = strangers("old_$schema");

	foreach my $name ('operator %s.<>(bigint,oid)', 'operator %s.=(oid,bigint)', 'operator %s.=(oid,integer)', 'operator %s.||(text,integer)',
		'function %s.unnest(integer[])')
	{
		my $wanted = sprintf $name, $schema;

		ok(scalar(grep { $_ eq $wanted } @strangers), "1.0: a view uses $wanted");
	}
	ok(scalar(grep { /^OID/ } @strangers), '1.0: the trees name them');
	is($old{$schema}->query(q{SELECT extnamespace::pg_catalog.regnamespace FROM pg_catalog.pg_extension WHERE extname OPERATOR(pg_catalog.=) 'pfs'}),
		$schema, "1.0: the extension belongs to schema $schema");
	next if $schema ne 'public';
	my ($called) = use_everything($old{$schema});
	like(join("\n", @$called), qr/^unnest\(pg_catalog\._int4\)$/m, '1.0: reading calls them');
}
my $list = PfsDocs::query(qr/pg_describe_object/);
like(judge('old_public')->query($list), qr/^operator public\.<>\(bigint,oid\)$/m, 'the query of docs/install.md shows them');

# ---- this version takes nothing ----

sub takes_nothing
{
	my ($there, $database, $name) = @_;

	is(join("\n", strangers($database)), '', "$name: no dependency on what was planted");
	my ($called, $errors) = use_everything($there);
	is(join("\n", @$called), '', "$name: nothing planted is called");
	is($errors, '', "$name: no error");
	is($there->query(q{SELECT extversion, extnamespace::pg_catalog.regnamespace FROM pg_catalog.pg_extension WHERE extname OPERATOR(pg_catalog.=) 'pfs'}),
		$installation->present . '|pg_catalog', "$name: the extension belongs to pg_catalog");
	unlike(judge($database)->query($list), qr/^(operator|function (?!pfs(_sys)?\.))/m, "$name: the query of docs/install.md shows nothing");
}

$installation->release;
foreach my $schema (sort keys %old)
{
	$old{$schema}->query('ALTER EXTENSION pfs UPDATE');
	takes_nothing($old{$schema}, "old_$schema", "updated, of schema $schema");
	is($old{$schema}->query('SHOW search_path'), $schema eq 'public' ? 'public' : 'postgres, public, mon, pg_temp, pg_catalog',
		"updated, of schema $schema: the session's search path is as before");
}
my $there = victim('trapped');
$there->query('CREATE EXTENSION pfs');
takes_nothing($there, 'trapped', 'new');

# ---- and does not fall with a schema ----

$_->close foreach $there, values %old;
foreach my $database (qw(old_public old_mon trapped))
{
	is(($server->psql('DROP SCHEMA public, postgres, mon CASCADE', db => $database, user => 'dbo'))[0] ? 'refused' : 'dropped', 'dropped',
		"$database: the owner drops his schemas");
	somebody_waits();
	is(judge($database)->query($waits), $detours ? 2 : 1, "$database: pfs is still there");
}

# What was planted can have given a column a type that the view cannot keep: that is said, and no half of an update is done.
$server->sql('CREATE DATABASE another_type OWNER dbo');
$server->psql(<<'EOT', db => 'another_type', user => 'dbo');
CREATE TYPE public.command AS (t text);
CREATE FUNCTION public.join(text, integer) RETURNS public.command LANGUAGE sql AS 'SELECT NULL::public.command';
CREATE FUNCTION public.join(public.command, text) RETURNS public.command LANGUAGE sql AS 'SELECT $1';
CREATE OPERATOR public.|| (LEFTARG = text, RIGHTARG = integer, FUNCTION = public.join);
CREATE OPERATOR public.|| (LEFTARG = public.command, RIGHTARG = text, FUNCTION = public.join);
EOT
$there = judge('another_type');
$installation->release('1.0');
$there->query('CREATE EXTENSION pfs SCHEMA public');
$installation->release;
$there->send('ALTER EXTENSION pfs UPDATE')->result;
like($there->last_error, qr/ERROR:  42P16: cannot change data type of view column "terminate_command" from (public\.)?command to text/,
	'a column of another type: the update is refused');
is($there->query(q{SELECT extversion, extnamespace::regnamespace FROM pg_extension WHERE extname = 'pfs'}), '1.0|public', 'all of it');
$there->query('DROP EXTENSION pfs; CREATE EXTENSION pfs');
is(join("\n", strangers('another_type')), '', 'a new extension takes nothing of it');
$there->close;

# Without a schema to create in, or with one of the user's choice.
$server->sql('CREATE DATABASE empty');
$there = $server->session(db => 'empty', options => '-c search_path=');
$there->query('CREATE EXTENSION pfs; CREATE SCHEMA mon');
is($there->query(q{SELECT extnamespace::pg_catalog.regnamespace FROM pg_catalog.pg_extension WHERE extname = 'pfs'}), 'pg_catalog', 'an empty search path will do');
$there->query('DROP EXTENSION pfs');
$there->send('CREATE EXTENSION pfs SCHEMA mon')->result;
like($there->last_error, qr/ERROR:  0A000: extension "pfs" must be installed in schema "pg_catalog"/, 'no other schema can be chosen');

$server->sql('SELECT release_hold()') if $detours;
$holder->query('SELECT pg_advisory_unlock(7)');

done_testing();
