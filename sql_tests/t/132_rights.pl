# What other roles' sessions do is hidden from a reader without pg_read_all_stats, in every
# table and view that has a text of theirs, and through views of a superuser.
#
# A marker goes into everything that a session can write a word into.  Then the
# catalogue is walked: no column of any relation of the schema may show it.
#
# A password is hidden from everybody: from who looks on while it is set, too.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/lib";
use PfsServer;
use PfsWire;
use Test::More;

my $server = PfsServer->new('main', conf => <<'EOT');
autovacuum = off
max_prepared_transactions = 4
compute_query_id = on
pfs.load_history_interval = 0
pfs.instruments = 'wait/io/table/%=ON'
log_min_messages = warning
EOT
$server->start;
$server->sql('CREATE EXTENSION pfs');

my $mark = 'xmarkerx';

$server->sql(<<"EOT");
CREATE ROLE victim LOGIN;
CREATE ROLE reader LOGIN;
CREATE ROLE auditor LOGIN IN ROLE pg_monitor;
GRANT USAGE ON SCHEMA pfs, pfs_sys TO reader;
GRANT SELECT ON ALL TABLES IN SCHEMA pfs, pfs_sys TO reader;
GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA pfs, pfs_sys TO reader;
GRANT CREATE ON SCHEMA public TO victim;
CREATE SCHEMA ${mark}_schema AUTHORIZATION victim;
EOT

# Those who look leave no events, of which there would be more than the histories hold.
$server->sql(q{SELECT pfs.set_actor('%', '%', enabled => 'NO'), pfs.set_actor('%', 'victim')});

# A view of a superuser over each table and view shows no more than that.
sub relations_of
{
	my ($schema) = @_;

	return split /\n/, $server->sql("SELECT quote_ident(relname) FROM pg_class WHERE relnamespace = '$schema'::regnamespace AND relkind IN ('f', 'v') ORDER BY 1");
}
my @relations = relations_of('pfs');

cmp_ok(scalar(@relations), '>', 60, 'there are tables and views');
$server->sql('CREATE SCHEMA through');
$server->sql("CREATE VIEW through.$_ AS TABLE pfs.$_") foreach @relations;
$server->sql('GRANT USAGE ON SCHEMA through TO reader; GRANT SELECT ON ALL TABLES IN SCHEMA through TO reader');

# ---- what the victim does ----

sub work
{
	my ($s) = @_;

	$s->query("CREATE TABLE IF NOT EXISTS ${mark}_schema.${mark}_table (i int PRIMARY KEY)");
	$s->query("SELECT '$mark' AS statement");
	$s->query("PREPARE ${mark}_p AS SELECT '$mark' AS prepared; EXECUTE ${mark}_p; EXECUTE ${mark}_p");
	$s->query("DO \$\$ BEGIN PERFORM '$mark'; RAISE WARNING '$mark'; END \$\$");
	$s->send("SELECT '$mark'::int")->result;
	$s->send("SELECT * FROM $mark")->result;
	$s->send("SELEC $mark")->result;
	$s->query("BEGIN; INSERT INTO ${mark}_schema.${mark}_table VALUES (1) ON CONFLICT DO NOTHING; PREPARE TRANSACTION '$mark'");
	$s->query("ROLLBACK PREPARED '$mark'");
	$s->query("DECLARE $mark CURSOR WITH HOLD FOR SELECT '$mark'");
	$s->query("SET search_path = ${mark}_schema, public");
}

my $s = $server->session(user => 'victim', name => "${mark}_application");
my $ts = $s->thread_id;

work($s);

# The protocol's own.
my $wire = PfsWire->new($server, user => 'victim');

$wire->send(@$_) foreach [ Parse => "${mark}_wire", "SELECT '$mark'" ], [ Bind => "${mark}_wire" ], ['Execute'], ['Sync'];
$wire->until_ready;

# One that runs, one that waits for a lock, and who holds it.
my $holder = $server->session(user => 'victim');
my $waiter = $server->session(user => 'victim');
my $runner = $server->session(user => 'victim');

$holder->query("BEGIN; LOCK TABLE ${mark}_schema.${mark}_table");
$waiter->send("SELECT '$mark' FROM ${mark}_schema.${mark}_table");
$runner->send("SELECT '$mark', pg_sleep(1000)");
$server->poll('SELECT count(*) FROM pfs.blocking_tree', 1);
$server->poll("SELECT wait_event FROM pg_stat_activity WHERE pid = " . $runner->pid, 'PgSleep');

$server->sql(q{SELECT pfs.set_actor('%', 'victim', enabled => 'NO')});

# ---- who sees it where ----

# Relations and columns in which a role finds the marker; its own texts never have it.
sub found
{
	my ($who, $schema) = @_;
	my @found;

	foreach my $relation ($schema eq 'pfs_sys' ? relations_of('pfs_sys') : @relations)
	{
		# Every column, whatever its type: nothing that is shown may have it.
		my ($status, $out, $err) = $server->psql("SELECT string_agg(DISTINCT key, ' ') FROM $schema.$relation r, jsonb_each_text(to_jsonb(r)) j(key, value)
			WHERE value LIKE '%x' || 'markerx%'", user => $who);

		push @found, "$relation: error $err" if $status != 0;
		push @found, map { "$relation.$_" } grep { length } split / /, $out =~ s/\s+$//r;
	}
	return @found;
}

my @seen = found('auditor', 'pfs');
my %seen = map { $_ => 1 } @seen;

# The marker is there to be found: else this test could not fail.
foreach my $column (qw(events_statements_current.sql_text events_statements_history.sql_text events_statements_history_long.sql_text
	events_statements_history.message_text events_statements_history_long.message_text events_waits_current.object_name events_waits_current.object_schema
	prepared_statements_instances.statement_name prepared_statements_instances.sql_text events_transactions_history.gid
	events_transactions_history_long.gid threads.application_name threads.processlist_info processlist.info
	blocking_tree.waiting_statement blocking_tree.object_name table_io_waits_summary_by_digest.object_schema
	table_io_waits_summary_by_digest.object_name table_io_waits_summary_by_digest.index_name))
{
	ok($seen{$column}, "pg_read_all_stats sees the marker in $column");
}
# The catalogue hides no name from anybody, and what is counted for a table by all roles together names none of them.
my %public = map { $_ => 1 } qw(file_summary_by_relation.object_schema file_summary_by_relation.object_name
	objects_summary_global_by_type.object_schema objects_summary_global_by_type.object_name
	table_io_waits_summary_by_table.object_schema table_io_waits_summary_by_table.object_name
	table_io_waits_summary_by_index_usage.object_schema table_io_waits_summary_by_index_usage.object_name table_io_waits_summary_by_index_usage.index_name);
my $public_sys = qr/^"?(?:x\$)?schema_(?:index|table)_|^"?(?:x\$)?schema_tables_with_full_table_scans|^"?(?:x\$)?schema_redundant_indexes|^"?(?:x\$)?io_global_by_file_by_\w+"?\.relation|^"?(?:x\$)?schema_object_overview/;

is(join(' ', grep { !$public{$_} } found('reader', 'pfs')), '', 'a reader without rights sees it nowhere');
is(join(' ', grep { !$public{$_} } found('reader', 'through')), '', 'nor through views of a superuser');
my @seen_sys = found('auditor', 'pfs_sys');

cmp_ok(scalar(grep { !/$public_sys/ } @seen_sys), '>', 10, 'views of pfs_sys show the marker to pg_read_all_stats');
is(join(' ', grep { !/$public_sys/ } found('reader', 'pfs_sys')), '', 'and not to a reader without rights');
$server->sql('GRANT USAGE ON SCHEMA pfs TO victim; GRANT SELECT ON ALL TABLES IN SCHEMA pfs TO victim; GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA pfs TO victim');

my %own = map { $_ => 1 } found('victim', 'pfs');

is(join(' ', grep { !$own{$_} && !/^[a-z_]*(?:name|schema_name)$/ } grep { /^(?:events_statements|prepared)/ } @seen), '', 'the role itself sees its own texts');
$server->sql('GRANT pg_read_all_stats TO reader');
is(join(' ', sort { $a cmp $b } found('reader', 'pfs')), join(' ', sort { $a cmp $b } @seen), 'with pg_read_all_stats it sees what others see');

# ---- what a function does with the rights of its owner ----

$server->sql(q{SELECT pfs.set_actor('%', '%'), pfs.drop_actor('%', 'victim')});

# The caller's session executes it, with texts that the caller is not to see.
$server->sql(<<"EOT");
CREATE ROLE caller LOGIN;
CREATE ROLE other LOGIN;
GRANT caller TO other;
GRANT USAGE ON SCHEMA pfs TO caller, other;
GRANT SELECT ON ALL TABLES IN SCHEMA pfs TO caller, other;
GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA pfs TO caller, other;
CREATE TABLE public.calls (i int);
GRANT INSERT ON public.calls TO caller;
CREATE FUNCTION public.definer() RETURNS void LANGUAGE plpgsql SECURITY DEFINER AS \$\$
DECLARE mark text := 'xmark' || 'erx';
BEGIN
	EXECUTE format('SELECT %L, count(*) FROM pg_authid', mark);
	EXECUTE format('PREPARE definers AS SELECT %L', mark);
	EXECUTE format('DO %L', format('BEGIN PERFORM %L; END', mark));
	BEGIN
		EXECUTE format('SELECT %L::int', mark);
	EXCEPTION WHEN OTHERS THEN
	END;
END \$\$;
CREATE FUNCTION public.deferred() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS \$\$
BEGIN
	EXECUTE format('SELECT %L || count(*) FROM pg_authid', 'xmark' || 'erx');
	PERFORM pg_advisory_lock(4711);
	RETURN NULL;
END \$\$;
CREATE CONSTRAINT TRIGGER t AFTER INSERT ON public.calls DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION public.deferred();
CREATE FUNCTION public.fails() RETURNS void LANGUAGE plpgsql SECURITY DEFINER AS \$\$
BEGIN
	EXECUTE format('SELECT 1 / (count(*) - count(*)) FROM pg_authid WHERE rolname <> %L', 'xmark' || 'erx');
END \$\$;
EOT
$server->sql('TRUNCATE pfs.events_statements_history_long; TRUNCATE pfs.events_statements_summary_by_digest');

my $caller = $server->session(user => 'caller');
my $tc = $caller->thread_id;

$caller->query('SELECT public.definer()');
$caller->send('SELECT public.fails()')->result;

# Its commit comes with a message of its own, behind the end of the statement.
my $locker = $server->session;
my $late = PfsWire->new($server, user => 'caller');

$locker->query('SELECT pg_advisory_lock(4711)');
$late->send(@$_) foreach [ Parse => '', 'INSERT INTO public.calls VALUES (1)' ], [ Bind => '' ], ['Execute'];
# The server was idle before these messages, too.
ok($server->poll("SELECT count(*) FROM pfs.threads t JOIN pfs.events_waits_current w USING (thread_id) JOIN pfs.events_statements_history s USING (thread_id)
	WHERE t.processlist_user = 'caller' AND w.event_name LIKE 'idle%' AND s.event_name = 'statement/sql/insert' AND t.thread_id <> $tc", 1),
	'the client keeps the server waiting for the commit');
$late->send('Sync');
ok($server->poll("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted", 1), 'a deferred trigger runs, without a statement around it');

my $nested = "SELECT count(*), count(sql_text), count(digest_text), count(query_id), count(message_text) FROM pfs.events_statements_history_long
	WHERE thread_id >= $tc AND nesting_event_level > 0";
my ($all, @texts) = split /\|/, $server->sql($nested);

cmp_ok($all, '>', 4, 'there are nested statements');
is($texts[0], $all, 'pg_read_all_stats sees their texts');
cmp_ok($texts[3], '>', 0, 'and a message');
foreach my $who ('caller', 'other')
{
	my ($status, $out) = $server->psql($nested, user => $who);

	is($out, "$all|0|0|0|0", "$who has rights on the session, and none on the function's owner");
	is(join(' ', grep { !$public{$_} } found($who, 'pfs')), '', 'and finds the marker nowhere');
}
# What the session itself has said is its own.
is($caller->query("SELECT string_agg(sql_text, ', ' ORDER BY event_id) FROM pfs.events_statements_history WHERE thread_id = $tc AND sql_text LIKE 'SELECT public.%'"),
	'SELECT public.definer(), SELECT public.fails()', 'the caller sees what it has called');
is($caller->query("SELECT message_text FROM pfs.events_statements_history WHERE thread_id = $tc AND sql_text LIKE '%fails()'"), 'division by zero', 'and why it has failed');
is($caller->query("SELECT count(*), count(sql_text), count(statement_name) FROM pfs.prepared_statements_instances WHERE thread_id = $tc"), '1|0|0', 'a statement that the function has prepared is hidden');
is($server->sql("SELECT count(*), count(sql_text), count(statement_name) FROM pfs.prepared_statements_instances WHERE thread_id = $tc"), '1|1|1', 'but from pg_read_all_stats');
$caller->query("PREPARE own AS SELECT 'own'");
is($caller->query("SELECT statement_name FROM pfs.prepared_statements_instances WHERE thread_id = $tc AND statement_name IS NOT NULL"), 'own', 'one of its own is not');
$locker->query('SELECT pg_advisory_unlock(4711)');
$late->until_ready;

# ---- a password that is being set ----

# Its statement waits for one that has set it and has not committed.
$server->sql('CREATE ROLE secret');

my $first = $server->session;
my $second = $server->session;

$first->query("BEGIN; ALTER ROLE secret PASSWORD 'hush1'");
$second->send("ALTER ROLE secret VALID UNTIL 'infinity' PASSWORD 'hush2'");
ok($server->poll("SELECT count(*) FROM pfs.blocking_tree WHERE waiting_pid = " . $second->pid, 1), 'a statement with a password waits');
is($server->sql("SELECT waiting_statement, blocking_statement FROM pfs.blocking_tree WHERE waiting_pid = " . $second->pid),
	"ALTER ROLE secret VALID UNTIL 'infinity' PASSWORD <hidden>|ALTER ROLE secret PASSWORD <hidden>", 'blocking_tree hides both passwords');
is($server->sql("SELECT $_->[1] FROM pfs.$_->[0] WHERE $_->[2] = " . ($_->[2] eq 'thread_id' ? $second->thread_id : $second->pid)),
	"ALTER ROLE secret VALID UNTIL 'infinity' PASSWORD <hidden>", "$_->[0].$_->[1] hides the password")
	foreach [qw(threads processlist_info thread_os_id)], [qw(processlist info id)], [qw(events_statements_current sql_text thread_id)];
# What pfs says of the server's own text would have it.
is($server->sql("SELECT query LIKE '%hush2%' FROM pg_stat_activity WHERE pid = " . $second->pid), 't', 'pg_stat_activity does not hide it');
is(join(' ', grep { $server->sql("SELECT count(*) FROM pfs.$_ r WHERE to_jsonb(r)::text LIKE '%hus' || 'h_''%'") > 0 } @relations), '',
	'no table shows a password while it is being set');
$first->query('ROLLBACK');
$second->result;
is(join(' ', grep { $server->sql("SELECT count(*) FROM pfs.$_ r WHERE to_jsonb(r)::text LIKE '%hus' || 'h_''%'") > 0 } @relations), '', 'nor when it is set');
$server->sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'victim'");
$_->kill foreach $s, $holder, $waiter, $runner, $first, $second;

done_testing();
