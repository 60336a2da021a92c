# A database that release 1.0 has made, with what users have built on it, and its update:
# afterwards it is what a new installation is, and the users' things are as they were.  One that
# release 1.1 has made, in the same way.
# The dumps of both, and the two ways that a dump of 1.0 can go.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/lib";
use PfsReleases qw(difference);
use PfsServer;
use Test::More;

my $installation = PfsReleases->new;
my $server = PfsServer->new('main', postgres => $installation->postgres, conf => <<'EOT');
autovacuum = off
fsync = off
EOT
$server->start;
$server->sql($_) foreach 'CREATE ROLE watcher', 'CREATE ROLE operator', 'CREATE DATABASE old', 'CREATE DATABASE new', 'CREATE DATABASE fresh';

# ---- everything that an installation consists of ----

# By name, so that two databases compare.  acl: sorted, as its order is that of the GRANTs.
my $acl = "(SELECT string_agg(a::text, ' ' ORDER BY a::text) FROM unnest(%s) a)";
my $options = "(SELECT string_agg(o, ' ' ORDER BY o) FROM unnest(%s) o)";
my %everything = (
	relations => <<"EOT",
SELECT c.oid::regclass, relkind, relowner::regrole, @{[ sprintf $acl, 'relacl' ]}, @{[ sprintf $options, 'reloptions' ]}, obj_description(c.oid, 'pg_class'),
	(SELECT @{[ sprintf $options, 'ftoptions' ]} FROM pg_foreign_table WHERE ftrelid = c.oid)
FROM pg_class c WHERE relnamespace IN (SELECT oid FROM pg_namespace WHERE nspname LIKE 'pfs%') ORDER BY 1
EOT
	columns => <<"EOT",
SELECT c.oid::regclass, attnum, attname, format_type(atttypid, atttypmod), attcollation::regcollation, attnotnull, @{[ sprintf $acl, 'attacl' ]},
	@{[ sprintf $options, 'attfdwoptions' ]}, pg_get_expr(adbin, adrelid), col_description(c.oid, attnum)
FROM pg_class c JOIN pg_attribute a ON attrelid = c.oid LEFT JOIN pg_attrdef ON adrelid = c.oid AND adnum = attnum
WHERE relnamespace IN (SELECT oid FROM pg_namespace WHERE nspname LIKE 'pfs%') AND attnum > 0 ORDER BY 1, 2
EOT
	views => <<"EOT",
SELECT oid::regclass, md5(pg_get_viewdef(oid)), pg_get_viewdef(oid) ~ 'OPERATOR\\(' FROM pg_class
WHERE relnamespace IN (SELECT oid FROM pg_namespace WHERE nspname LIKE 'pfs%') AND relkind = 'v' ORDER BY 1
EOT
	functions => <<"EOT",
SELECT oid::regprocedure, proowner::regrole, prokind, provolatile, proparallel, proisstrict, prosecdef, proleakproof, procost, prorows,
	@{[ sprintf $acl, 'proacl' ]}, proconfig, probin, pg_get_functiondef(oid), obj_description(oid, 'pg_proc')
FROM pg_proc WHERE pronamespace IN (SELECT oid FROM pg_namespace WHERE nspname LIKE 'pfs%') ORDER BY oid::regprocedure::text COLLATE "C"
EOT
	others => <<"EOT",
SELECT nspname, nspowner::regrole, @{[ sprintf $acl, 'nspacl' ]}, obj_description(oid, 'pg_namespace') FROM pg_namespace WHERE nspname LIKE 'pfs%'
UNION ALL SELECT fdwname, fdwowner::regrole, fdwhandler::regproc || ' ' || fdwvalidator::regproc || coalesce(fdwacl::text, ''), obj_description(oid, 'pg_foreign_data_wrapper')
	FROM pg_foreign_data_wrapper
UNION ALL SELECT srvname, srvowner::regrole, srvacl::text, obj_description(oid, 'pg_foreign_server') FROM pg_foreign_server
UNION ALL SELECT extname, extowner::regrole, concat_ws(' ', extversion, extnamespace::regnamespace, extrelocatable, extconfig::text, extcondition::text), obj_description(oid, 'pg_extension')
	FROM pg_extension WHERE extname = 'pfs'
ORDER BY 1
EOT
	members => <<"EOT",
SELECT i.type, i.identity, d.deptype FROM pg_depend d, pg_identify_object(classid, objid, objsubid) i
WHERE refclassid = 'pg_extension'::regclass AND refobjid = (SELECT oid FROM pg_extension WHERE extname = 'pfs') ORDER BY 1, 2
EOT
	dependencies => <<"EOT",
SELECT pg_describe_object(classid, objid, objsubid), pg_describe_object(refclassid, refobjid, refobjsubid), d.deptype
FROM pg_depend d, pg_identify_object(classid, objid, objsubid) i
WHERE i.schema LIKE 'pfs%' OR i.identity ~ ' on pfs' OR i.identity LIKE 'pfs%' ORDER BY 1, 2, 3
EOT
	'initial rights' => <<"EOT",
SELECT i.type, i.identity, privtype, (SELECT string_agg(a::text, ' ' ORDER BY a::text) FROM unnest(initprivs) a)
FROM pg_init_privs, pg_identify_object(classoid, objoid, objsubid) i WHERE i.identity LIKE 'pfs%' ORDER BY 1, 2
EOT
);

# What this session sees, with nothing in the search path that would shorten names.
sub everything
{
	my ($there) = @_;

	$there->query("SET search_path TO ''");
	my %found = map { $_ => $there->query($everything{$_}) } keys %everything;
	$there->query('RESET search_path');
	return \%found;
}

sub dump_of
{
	return PfsServer::run_ok(PfsServer::bindir() . '/pg_dump', '-d', $server->connstr($_[0]));
}

# Restore into a database; the first error, if there is any.
sub restore
{
	my ($text, $database) = @_;
	my (undef, undef, $errors) = $server->psql($text, db => $database);

	return $errors =~ /(ERROR: .*)/ ? $1 : '';
}

# ---- 1.0, in a schema of a user, and what users have built on it ----

$installation->release('1.0');
my $old = $server->session(db => 'old');
$old->query('CREATE SCHEMA mon; SET search_path TO mon, public; CREATE EXTENSION pfs; RESET search_path');
is($old->query(q{SELECT extversion, extnamespace::regnamespace FROM pg_extension WHERE extname = 'pfs'}), '1.0|mon', 'release 1.0, in a schema of a user');
my $as_released = everything($old);
my @tables = split /\n/, $old->query(q{SELECT relname FROM pg_class WHERE relnamespace = 'pfs'::regnamespace AND relkind IN ('f', 'v') ORDER BY 1});
like(join("\n", map { $old->query("SELECT count(*) FROM (SELECT * FROM pfs.$_ OFFSET 0) t") } @tables), qr/^(\d+\n?)+$/,
	@tables . ' tables and views of 1.0 are read by the present library');
my @views = split /\n/, $old->query(q{SELECT relname FROM pg_class WHERE relnamespace = 'pfs'::regnamespace AND relkind = 'v' ORDER BY 1});

$old->query('CREATE SCHEMA mine;'
	  . join("\n", map { "CREATE VIEW mine.on_$_ AS SELECT * FROM pfs.$_; CREATE MATERIALIZED VIEW mine.kept_$_ AS SELECT * FROM pfs.$_ LIMIT 1;" } @views)
	  . <<'EOT');

CREATE VIEW mine.top_waits AS SELECT event_name, sum(timer_wait) AS total FROM pfs.events_waits_history_long GROUP BY 1;
CREATE VIEW mine.me AS SELECT pfs.thread_id() AS thread_id, pfs.format_time(pfs.timer_now()) AS now;
CREATE FUNCTION mine.locks() RETURNS SETOF pfs.lwlock_objects LANGUAGE sql STABLE BEGIN ATOMIC SELECT * FROM pfs.lwlock_objects; END;
CREATE TABLE mine.saved AS SELECT * FROM pfs.setup_consumers;
IMPORT FOREIGN SCHEMA pfs LIMIT TO (threads) FROM SERVER pfs_server INTO mine;
GRANT USAGE ON SCHEMA pfs, mine TO watcher;
GRANT SELECT ON pfs.threads, pfs.blocking_tree, pfs.file_summary_by_relation, pfs.lwlock_objects, mine.on_blocking_tree TO watcher;
GRANT SELECT (event_name, count_star) ON pfs.events_waits_summary_global_by_event_name TO operator;
GRANT UPDATE (enabled) ON pfs.setup_instruments TO operator WITH GRANT OPTION;
GRANT EXECUTE ON FUNCTION pfs.reset(text) TO operator;
REVOKE SELECT ON pfs.setup_actors FROM pg_monitor;
GRANT USAGE ON FOREIGN SERVER pfs_server TO operator;
EOT
my $users = <<"EOT";
SELECT oid::regclass, relkind, @{[ sprintf $acl, 'relacl' ]}, CASE WHEN relkind IN ('v', 'm') THEN pg_get_viewdef(oid) END FROM pg_class
	WHERE relnamespace = 'mine'::regnamespace ORDER BY oid::regclass::text COLLATE "C";
SELECT oid::regprocedure, pg_get_functiondef(oid) FROM pg_proc WHERE pronamespace = 'mine'::regnamespace;
SELECT relname, @{[ sprintf $acl, 'relacl' ]} FROM pg_class WHERE relnamespace IN (SELECT oid FROM pg_namespace WHERE nspname LIKE 'pfs%') AND relacl::text ~ 'watcher|operator' ORDER BY 1;
SELECT attrelid::regclass, attname, @{[ sprintf $acl, 'attacl' ]} FROM pg_attribute WHERE attacl::text ~ 'watcher|operator' ORDER BY attrelid::regclass::text, 2;
SELECT oid::regprocedure, @{[ sprintf $acl, 'proacl' ]} FROM pg_proc WHERE proacl::text ~ 'watcher|operator' ORDER BY 1;
SELECT srvname, @{[ sprintf $acl, 'srvacl' ]} FROM pg_foreign_server;
SELECT relname, @{[ sprintf $acl, 'relacl' ]} FROM pg_class WHERE oid = 'pfs.setup_actors'::regclass;
EOT
my $built = $old->query($users);
like($built, qr/operator=w\*/, 'there are rights on columns');
my $released_dump = dump_of('old');

# ---- the update ----

$installation->release;
$old->query('ALTER EXTENSION pfs UPDATE');
my $new = $server->session(db => 'new');
$new->query('CREATE EXTENSION pfs');
is($old->query($users), $built, 'views, functions and rights of users are as they were');
like($old->query("SELECT count(*) FROM mine.on_$_"), qr/^\d+$/, "a view on $_ is read") foreach @views;
is($old->query("SELECT $_"), 't', "they work: $_")
  foreach 'count(*) > 10 FROM mine.on_tables', 'count(*) > 10 FROM mine.on_file_summary_by_relation', 'thread_id > 0 FROM mine.me', 'count(name) = count(*) FROM mine.locks()', 'count(*) > 0 FROM mine.threads';
is($old->query("BEGIN; SET LOCAL ROLE watcher; SELECT count(*) > 10 FROM pfs.file_summary_by_relation; COMMIT"), 't', 'a role reads what it may');
my $dump = dump_of('old');
my $with_rights = everything($old);

# Without the users' rights it is the same as a new installation.
$old->query(<<'EOT');
REVOKE USAGE ON SCHEMA pfs FROM watcher;
REVOKE SELECT ON pfs.threads, pfs.blocking_tree, pfs.file_summary_by_relation, pfs.lwlock_objects FROM watcher;
REVOKE SELECT (event_name, count_star) ON pfs.events_waits_summary_global_by_event_name FROM operator;
REVOKE UPDATE (enabled) ON pfs.setup_instruments FROM operator;
REVOKE EXECUTE ON FUNCTION pfs.reset(text) FROM operator;
GRANT SELECT ON pfs.setup_actors TO pg_monitor;
REVOKE USAGE ON FOREIGN SERVER pfs_server FROM operator;
EOT
$new->query("$_ USAGE ON FOREIGN SERVER pfs_server " . ($_ eq 'GRANT' ? 'TO' : 'FROM') . ' operator') foreach qw(GRANT REVOKE);	# leaves what it leaves
my ($updated, $installed) = (everything($old), everything($new));
foreach my $what (sort keys %everything)
{
	my $lines = () = $installed->{$what} =~ /^/mg;

	is(difference($updated->{$what}, $installed->{$what}), '', "an updated database has the same as a new one: $what ($lines lines)");
}

# ---- 1.1, and what users have built on its views for people ----

$server->sql('CREATE DATABASE of_1_1');
$installation->release('1.1');
my $of_1_1 = $server->session(db => 'of_1_1');
$of_1_1->query('CREATE EXTENSION pfs');
is($of_1_1->query(q{SELECT extversion, extnamespace::regnamespace FROM pg_extension WHERE extname = 'pfs'}), '1.1|pg_catalog', 'release 1.1');
my @relations = split /\n/, $of_1_1->query(q{SELECT oid::regclass FROM pg_class WHERE relnamespace IN ('pfs'::regnamespace, 'pfs_sys'::regnamespace) AND relkind IN ('f', 'v') ORDER BY oid});
like(join("\n", map { $of_1_1->query("SELECT count(*) FROM (SELECT * FROM $_ OFFSET 0) t") } @relations), qr/^(\d+\n?)+$/,
	@relations . ' tables and views of 1.1 are read by the present library');
$of_1_1->query('CREATE SCHEMA mine;' . join("\n", map { "CREATE VIEW mine.on_$_ AS SELECT * FROM $relations[$_];" } 0 .. $#relations) . <<'EOT');

CREATE FUNCTION mine.locks() RETURNS SETOF pfs_sys.lock_waits LANGUAGE sql STABLE BEGIN ATOMIC SELECT * FROM pfs_sys.lock_waits; END;
GRANT USAGE ON SCHEMA pfs_sys, mine TO watcher;
GRANT SELECT ON pfs_sys.session, mine.on_0 TO watcher;
GRANT EXECUTE ON FUNCTION pfs_sys.what_happened(text, text) TO operator;
REVOKE SELECT ON pfs_sys.metrics FROM pg_monitor;
EOT
my $built_on_1_1 = $of_1_1->query($users);
$installation->release;
$of_1_1->query('ALTER EXTENSION pfs UPDATE');
is($of_1_1->query($users), $built_on_1_1, "1.1 updated: views, functions and rights of users are as they were");
like(join("\n", map { $of_1_1->query("SELECT count(*) FROM (SELECT * FROM mine.on_$_ OFFSET 0) t") } 0 .. $#relations), qr/^(\d+\n?)+$/, '1.1 updated: their views are read');
is($of_1_1->query(q{SELECT has_table_privilege('pg_monitor', 'pfs_sys.metrics', 'SELECT')}), 'f', '1.1 updated: what was revoked stays so');
$of_1_1->query(<<'EOT');
REVOKE USAGE ON SCHEMA pfs_sys FROM watcher;
REVOKE SELECT ON pfs_sys.session FROM watcher;
REVOKE EXECUTE ON FUNCTION pfs_sys.what_happened(text, text) FROM operator;
GRANT SELECT ON pfs_sys.metrics TO pg_monitor;
GRANT USAGE ON FOREIGN SERVER pfs_server TO operator;
REVOKE USAGE ON FOREIGN SERVER pfs_server FROM operator;
EOT
my $updated_1_1 = everything($of_1_1);
is(difference($updated_1_1->{$_}, $installed->{$_}), '', "1.1 updated: the same as a new one: $_") foreach sort keys %everything;

# ---- what an update has changed, and what it has not ----

unlike($installed->{views}, qr/\|t$/m, 'no view names an operator with its schema');
isnt(difference($updated->{$_}, $as_released->{$_}), '', "the update has changed something of: $_") foreach qw(columns others dependencies);

# A database can have another meaning for backslashes in literals; newer servers cannot.
$server->sql('CREATE DATABASE backslashes');
my $other = $server->session(db => 'backslashes');
$other->send('SET standard_conforming_strings TO off')->result;
$other->query('CREATE EXTENSION pfs; RESET standard_conforming_strings');
is(difference(everything($other)->{views}, $installed->{views}), '', 'the views do not depend on standard_conforming_strings');

# ---- dumps ----

# The whole of the present release is found again, with the users' rights.
is(restore($dump, 'fresh'), '', 'a dump of the updated database restores');
my $fresh = $server->session(db => 'fresh');
is(difference($fresh->query($users), $built), '', 'with what users have built');
my $restored = everything($fresh);
is(difference($restored->{$_}, $with_rights->{$_}), '', "and the same $_") foreach sort keys %everything;

# One of 1.0 names its old schema, unless there is an extension already.
$server->sql("CREATE DATABASE $_") foreach qw(as_it_is extension_first);
like(restore($released_dump, 'as_it_is'), qr/ERROR:  extension "pfs" must be installed in schema "pg_catalog"/, 'a dump of 1.0 does not restore as it is');
my $first = $server->session(db => 'extension_first');
$first->query('CREATE EXTENSION pfs');
is(restore($released_dump, 'extension_first'), '', 'it does where the extension is there already');
is(difference($first->query($users), $built), '', 'with what users have built');
is($first->query("SELECT extversion, extnamespace::regnamespace FROM pg_extension WHERE extname = 'pfs'"), $installation->present . '|pg_catalog', 'in the present release');

done_testing();
