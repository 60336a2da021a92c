# One of each kind of addition that CONTRIBUTING.md describes, made by the edits that it names in a
# copy of the tree: a column, a table, a view, a counter of statements, a summary by another part of
# what digests go by, an instrument, a wrapped call, a hook, a container, a kind of counted objects, a
# family of summaries, a family of events, an option and a screen of the program; and the removal of a feature.  tools/sql writes
# the rest, a server that is built from it has all that was added and nothing of what was removed, and each
# touches as many files as CONTRIBUTING.md says.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/lib";
use File::Copy ();
use PfsReleases qw(difference);
use PfsServer;
use PfsTree;
use PfsWire;
use Test::More;

my $tree = PfsTree->new;
plan skip_all => 'there is no tree, or no compiler' unless defined $tree;
plan skip_all => 'the lists are the same for each version: 15 shows them' if PfsServer::version() > 15;

# The new files are in a folder of their own.
sub add
{
	my ($folder, @names) = @_;

	foreach my $name (@names)
	{
		open my $in, '<', "$FindBin::RealBin/lib/additions/$name" or die "$name: $!";
		local $/;
		$tree->add("$folder/$name", scalar <$in>);
	}
}

# What several additions edit: lists of C.
sub add_part
{
	my ($header, $entry) = @_;

	$tree->edit('src/record/pfs_parts.c', sub {
		s/^(?=#include "pfs_pending.h"\n)/#include "$header"\n/m;
		s/^(?=\tPART\("containers",)/\t$entry,\n/m;
	});
}

sub add_tables
{
	my ($after, @tables) = @_;

	$tree->edit('src/fdw/tables/pfs_tables.h', sub { s/^\tX\($after\) \\\n/$& . join('', map { index($_, '(') >= 0 ? "\t$_ \\\n" : "\tX(pfs_table_$_) \\\n" } @tables)/me });
}

my ($version) = $tree->text('pfs.control') =~ /^default_version = '(.*)'$/m;
my $since = 'PFS_SINCE_' . $version =~ tr/./_/r;
my ($good, $out) = $tree->tool('tools/sql --check');
ok($good, 'what is checked in is what the lists say') or diag($out);

# ---- a column in the middle of a list that many tables contain ----

$tree->begin('column');
$tree->edit('src/fdw/tables/pfs_timer_wait.h', sub { s{^(?=\tX\(t, count_timed,)}{\tX(t, spread_timer_wait, numeric, picoseconds, pfs_timer_wait_get(totals, PFS_TIMER_WAIT_MAX), "Longest \\"less\\" the shortest; it's a test.") \\\n}m });
($good, $out) = $tree->tool('tools/sql');
ok(!$good, 'a column among released ones is refused');
like($out, qr/needs \.since = $since$/m, 'it says what is missing');
$tree->edit('src/fdw/tables/pfs_timer_wait.h', sub { s/(it's a test\.")\)/$1, .since = $since)/ });

# ---- a table ----

$tree->begin('table');
add('src/fdw/tables', 'pfs_table_examples.c');
add_tables('pfs_table_threads', 'examples');

# ---- a counter of statements ----

$tree->begin('counter of statements');
$tree->edit('src/record/statement/pfs_statement.h', sub { s/^\tX\(PFS_N_NO_INDEX_USED, .*\)$/$& \\\n\tX(PFS_N_CODED_WARNINGS, "coded_warnings", PFS_UNIT_COUNT)/m });
$tree->edit('src/record/statement/pfs_statement_error.c', sub { s/^\t\tcount_up\(PFS_N_WARNINGS\);\n/\t{\n$&\t\tif (sqlstate != ERRCODE_WARNING)\n\t\t\tcount_up(PFS_N_CODED_WARNINGS);\n\t}\n/m });
$tree->edit('src/fdw/tables/pfs_statement_counters.h', sub {
	s{^(#define PFS_STATEMENT_LATER_COLUMNS\(.*\n)}{$1\tX(t, prefix##coded_warnings, bigint, count, PFS_STATEMENT_COUNTER(of, CODED_WARNINGS), "Warnings with a SQLSTATE of their own.", .since = $since) \\\n}m });

# ---- a summary of what is counted by digest, by a part of a digest's key ----

$tree->begin('summary by database');
add('src/fdw/tables', 'pfs_table_statements_by_database.c');
add_tables('pfs_table_io_by_digest', 'statements_by_database');

# ---- a view ----

$tree->begin('view');
$tree->edit('sql/pfs_sys.views', sub { $_ .= <<'EOT' });

view example_words
says Examples that have a word.
order number
number | | - | Number of the example.
word | | - | Its word.
query
SELECT number, word FROM pfs.examples WHERE word IS NOT NULL
end
EOT

# ---- a column of a view that a release has ----

$tree->begin(undef);
$tree->edit('sql/pfs_sys.views', sub { s/^(?=sys_version \|)/pid | | - | Process that asks.\n/m });
($good, $out) = $tree->tool('tools/sql');
ok(!$good, 'a column of a view among released ones is refused');
like($out, qr/version has the columns x\.sys_version, x\.server_version in a release: new ones come last$/m, 'it says where it may be');
$tree->edit('sql/pfs_sys.views', sub {
	s/^(pid \|.*\n)(sys_version \|.*\nserver_version \|.*\n)/$2$1/m;
	s/\bAS server_version$/$&, pg_backend_pid() AS pid/m;
});

# ---- an improved comment ----

$tree->begin(undef);
$tree->edit('src/fdw/tables/pfs_table_threads.c', sub { s/"Database of the session\."/"The session's database."/ });

# ---- an instrument; then an instrument point uses it ----

$tree->begin('instrument');
$tree->edit('src/record/setup/pfs_wait_class.h',
	sub { s{^(?=\tX\(PFS_INS_OTHER_SOCKET,)}{\tX(PFS_INS_PROGRAM, "wait/synch/ipc/Program", PFS_CLASS_WAIT, NULL, "", 0, "Wait for a program.") \\\n}m });
$tree->begin(undef);
$tree->edit('src/instr/pfs_instr_wait.c', sub { s/\bPFS_INS_CHILD_PROCESS\b/PFS_INS_PROGRAM/ });

# ---- a wrapped call ----

$tree->begin('wrapped call');
$tree->edit('src/instr/pfs_instr.h', sub { s/^\tint\t\t\t\(\*rmdir\) .*\n/$&\tint\t\t\t(*symlink) (const char *, const char *);\n/m });
$tree->edit('src/instr/pfs_instr_path.c', sub {
	s/^WRAP\(link, .*\n/$&WRAP(symlink, (const char *to, const char *path), (to, path), PFS_OP_LINK, false)\n/m;
	s/^\tCALL\("link", link\),\n/$&\tCALL("symlink", symlink),\n/m;
});

# ---- a hook ----

$tree->begin('hook');
$tree->edit('src/instr/pfs_instr_prove.h', sub { s/^\tPFS_HOOK_OBJECT_ACCESS,\n/$&\tPFS_HOOK_AUTHENTICATION,\n/m });
$tree->edit('src/record/setup/pfs_probe_row.h', sub { s/^(#define PFS_HOOKS_MAX )(\d+)/$1 . ($2 + 1)/me });
$tree->edit('src/instr/pfs_instr_hooks.c', sub {
	s{^(?=#include "optimizer/planner.h"\n)}{#include "libpq/auth.h"\n}m;
	s{^(?=static planner_hook_type prev_planner;)}{static ClientAuthentication_hook_type prev_authentication = NULL;\n}m;
	s{^(?=#define SET_HOOK)}{<<'EOT'}me;
/* A client has proved who it is, or could not. */
static void
authentication_cb(Port *port, int status)
{
	pfs_hook_called(PFS_HOOK_AUTHENTICATION);
	if (prev_authentication != NULL)
		prev_authentication(port, status);
}

EOT
	s{^(?=\tSET_HOOK\(PFS_HOOK_PLANNER,)}{\tSET_HOOK(PFS_HOOK_AUTHENTICATION, ClientAuthentication_hook, prev_authentication, NULL, authentication_cb);\n}m;
});

# ---- a container, its size a setting ----

$tree->begin('container');
add('src/record/object', 'pfs_note.h', 'pfs_note.c');
add('src/instr', 'pfs_instr_note.c');
add_part('pfs_note.h', 'PART("notes", STRUCT(pfs_shared_notes), .lay_out = pfs_notes_lay_out, .pages = &pfs_notes, COUNTER(0, "pfs_notes_empty", PfsSharedNotes, empty))');
$tree->edit('src/pfs_sizes.h', sub { s{^(?=\tX\(digests,)}{\tX(notes, "pfs.max_note_instances", PFS_INSTANCES_MAX, pfs_sizes.threads, NULL, "Notes that can be kept.", "-1 is one for each process.") \\\n}m });

# ---- a kind of counted objects; then a table shows them ----

$tree->begin('kind of counted objects');
add('src/record/object', 'pfs_errand.h', 'pfs_errand.c');
add('src/instr', 'pfs_instr_errand.c');
$tree->edit('src/pfs_sizes.h', sub {
	s{^(?=\tX\(digests,)}{\tX(errands, "pfs.max_errand_instances", PFS_INSTANCES_MAX, pfs_sizes.threads, NULL, "Errands that can be known.", "-1 is one for each process.") \\\n}m;
	s/^\tX\(PFS_COUNTED_PROGRAMS, programs\)/$& \\\n\tX(PFS_COUNTED_ERRANDS, errands)/m;
});
$tree->begin(undef);
add('src/fdw/tables', 'pfs_table_errands.c');
add_tables('pfs_table_threads', 'errands');

# ---- a family of summaries ----

$tree->begin('family of summaries');
add('src/record/statement', 'pfs_tally.h', 'pfs_tally.c');
add('src/instr', 'pfs_instr_tally.c');
add('src/fdw/tables', 'pfs_table_tallies.c');
$tree->edit('src/pfs.h', sub {
	s/^\tX\(PFS_FAMILY_ERRORS, error\)/$& \\\n\tX(PFS_FAMILY_TALLIES, tally)/m;
	s/^\tX\(PFS_CLASS_ERROR, PFS_FAMILY_ERRORS\)/$& \\\n\tX(PFS_CLASS_TALLY, PFS_FAMILY_TALLIES)/m;
});
add_tables('pfs_table_accounts', 'PFS_LEVEL_LIST(X, tallies)');

# ---- a family of events with its summaries ----

$tree->begin('family of events');
add('src/record/statement', 'pfs_job.h', 'pfs_job.c');
add('src/instr', 'pfs_instr_job.c');
add('src/fdw/tables', 'pfs_table_events_jobs.c', 'pfs_table_jobs_summary.c');
$tree->edit('src/pfs.h', sub {
	s/^\tX\(PFS_TRANSACTIONS, "transactions"\)/$& \\\n\tX(PFS_JOBS, "jobs")/m;
	s/^\tX\(PFS_FAMILY_ERRORS, error\)/$& \\\n\tX(PFS_FAMILY_JOBS, job)/m;
	s/^\tX\(PFS_CLASS_TRANSACTION, .*\)/$& \\\n\tX(PFS_CLASS_JOB, "job", PFS_JOBS, PFS_FAMILY_JOBS)/m;
});
$tree->edit('src/record/pfs_families.c', sub {
	s/^(?=#include "pfs_lwlock_event.h"\n)/#include "pfs_job.h"\n/m;
	s{^(?=\};\n\n/\* Families that are not here)}{<<'EOT'}me;
	[PFS_JOBS] = {
		PFS_JOB_DEPTH, false, TABLES("jobs"),
		.size = sizeof(PfsJobEvent),
		.record = pfs_job_event_record,
	},
EOT
});
add_tables('pfs_table_accounts', 'PFS_EV_LIST(X, jobs)', 'PFS_LEVEL_LIST(X, jobs)');

# ---- a feature is removed: prepared statements ----

# What a release has is dropped by the script that updates it.
sub drop_table
{
	my ($script) = glob $tree->path . "/sql/pfs--*--$version.sql";

	$tree->edit($script =~ s{.*/(?=sql/)}{}r, sub { $_ .= "\nDROP FOREIGN TABLE pfs.prepared_statements_instances;\n" });
}

$tree->begin('removed feature');
$tree->remove($_) foreach map { "src/$_" } 'record/statement/pfs_prepared.h', 'record/statement/pfs_prepared.c', 'record/read/pfs_prepared_read.c',
  'instr/pfs_instr_prepared.h', 'fdw/tables/pfs_table_prepared.c';
$tree->edit('src/pfs_sizes.h', sub {
	s/^#define PFS_PREPARED_PER_THREAD.*\n//m;
	s/^\tX\(prepared, .*?\) \\\n(?=\tX\()//ms;
	s/^\tX\(PFS_COUNTED_PREPARED, prepared\) \\\n//m;
});
$tree->edit('src/fdw/tables/pfs_tables.h', sub { s/^\tX\(pfs_table_prepared_statements_instances\) \\\n//m });
$tree->edit('src/instr/pfs_instr_features.h', sub {
	s/^#include "pfs_instr_prepared.h"\n//m;
	s/ \\\n\tX\(prepared\b.*?\)(?=$| \\\n)//mg;
	s/^(#define PFS_HAS_IDLE_LOOKS\s).*/$1false/m;
	s/^(#define PFS_IDLE_LOOKS\(t\)\s).*/$1((void) 0)/m;
});
$tree->edit('src/record/statement/pfs_plain_state.h', sub { s{^\tstruct PfsPreparedEntry \*prepared;\s*/\*.*?\*/\n}{}ms });
$tree->edit('src/record/statement/pfs_statement_open.h', sub {
	s/^#include "pfs_prepared.h"\n//m;
	# What is left of a function that only it needed does nothing, as what it is called for may be wanted again.
	s/^(pfs_credit_text_len\(.*?\n\{\n).*?^\}/$1\treturn 0;\n}/ms;
	s/^(pfs_credit_(?:plain_starts|plain_runs|top_executes|release)\(.*?\n\{\n).*?^\}/$1}/msg;
	s/^\tif \(.*credit->prepared != NULL\)+\n.*;\n//mg;
});
drop_table();
# The program does not need it.
$tree->begin(undef);
$tree->edit('client/cmd_doctor.c', sub { s/^\t\{"prepared_statements_instances", .*\n//m });
(undef, $out) = $tree->tool("grep -rniE 'pfs_?prepared|counted_prepared|prepared_statements_' src --include='*.[ch]'");
is($out, '', 'nothing is left of it');

# ---- an option of a command of the program ----

$tree->begin('option of the program');
$tree->edit('client/cmd_doctor.c', sub {
	s/^(static const Option doctor_options\[\] = \{)/$1\n\t{"brief", 'b', NULL, "leave out what is well"},\n\t/m;
	s/^write_lines\(const Diagnosis \*diagnosis, Sink \*sink\)/write_lines(const Diagnosis *diagnosis, Sink *sink, bool brief)/m;
	s/^(?=\t\tbuffer_printf\(&text, color)/\t\tif (brief && strcmp(state, "ok") == 0)\n\t\t\tcontinue;\n/m;
	s/\bwrite_lines\(&diagnosis, sink\)/write_lines(&diagnosis, sink, option_given(options, "brief"))/;
});
$tree->edit('client/pfs.1', sub { s/^\.B doctor\n/$&(\\fB\\-\\-brief\\fP leaves out what is well)\n/m });

# ---- a screen, which is a command, too ----

$tree->begin('screen of the program');
$tree->edit('client/screens.c', sub {
	s{^(?=const Screen \*const screens\[)}{<<'EOT'}me;
/* ---- examples ---- */

static const ScreenColumn example_columns[] = {
	{"number", COLUMN_NUMBER, 8, ROLE_KEY},
	{"word", COLUMN_TEXT, 0, ROLE_LABEL},
	{NULL}
};

const Screen screen_examples = {
	.name = "examples",
	.title = "examples",
	.query = "SELECT number, word FROM pfs.examples",
	.columns = example_columns,
	.sort = "number",
	.empty = "There is no example.",
};

EOT
	s/^(const Screen \*const screens\[.*?\n)(?=\};)/$1\t&screen_examples,\n/ms;
});
$tree->edit('client/screen.h', sub {
	s/^extern const Screen screen_memory;\n/$&extern const Screen screen_examples;\n/m;
	s/^(#define NUM_SCREENS )(\d+)/$1 . ($2 + 1)/me;
});
$tree->edit('client/cmd_screens.c', sub { $_ .= qq{SCREEN_COMMAND(examples, "examples", options_now)\n} });
$tree->edit('client/command.h', sub { s/^\tX\(memory\) \\\n/$&\tX(examples) \\\n/m });
$tree->edit('client/pfs.1', sub { s/^(\.BR load .* plans)$/$1 ", " examples/m });
$tree->edit('docs/client.md', sub { s/^(\| `1` to .* plans)(?= \|$)/$1, examples/m });
$tree->begin(undef);

# ---- what is generated ----

($good, $out) = $tree->tool('tools/sql --check');
ok(!$good, 'the check fails while the script is older than the lists');
like($out, qr/^sql\/\S+ is older than what it is made of.*^docs\/tables\.md is older.*^docs\/settings\.md is older.*^src\/record\/object\/README\.md is older/ms, 'and names the files');
unlink $tree->path . '/docs/tables.md', my @scripts = glob $tree->path . '/sql/pfs--*--*.sql';
File::Copy::cp($tree->top . '/sql/' . s{.*/}{}r, $_) foreach @scripts;
drop_table();
($good, $out) = $tree->tool('tools/sql && tools/sql --check');
ok($good, 'tools/sql writes them') or diag($out);
like($tree->text('docs/tables.md'), qr/^## pfs\.examples\n\nExamples; there are two\.\n\nA row is one example\. TRUNCATE: refused\. Source: `pfs` itself\. Since \Q$version\E\.\n/m, 'a table in docs/tables.md');
like($tree->text('docs/tables.md'), qr/^- `spread_timer_wait` \(numeric, picoseconds, since \Q$version\E\): Longest "less" the shortest; it's a test\.$/m, 'and a column');

like($tree->text('docs/settings.md'), qr/^\| `pfs\.max_note_instances` \| -1 \| -1 to 1048576 \| notes \| restart \|$/m, 'a size in docs/settings.md');
like($tree->text('docs/settings.md'), qr/^\| \[`pfs\.events_jobs_history_size`\]\(#history-sizes\) \| -1 \| -1 to 1024 \| rows \|/m, 'a history');
like($tree->text('src/record/object/README.md'), qr/^\| `pfs_note` \| Notes that sessions leave: the container that 190_additions\.pl adds\. \|$/m, "a row of its folder's README");

# ---- the server ----

($good, $out) = $tree->build;
ok($good, 'it builds') or BAIL_OUT($out);
my $installation = PfsReleases->new;
$installation->use_tree($tree->path);
my $server = PfsServer->new('main', postgres => $installation->postgres, conf => <<'EOT');
fsync = off
autovacuum = off
pfs.max_note_instances = 3
pfs.max_errand_instances = 4
pfs.events_jobs_history_size = 2
EOT
$server->start;
$server->sql("CREATE DATABASE $_") foreach qw(updated fresh);
my $updated = $server->session(db => 'updated');
$installation->release('1.0');
$updated->query('CREATE EXTENSION pfs');
$updated->query("ALTER EXTENSION pfs UPDATE TO '1.1'");
$updated->query('CREATE TABLE released AS SELECT oid AS relation, relnatts FROM pg_class; CREATE VIEW on_version AS SELECT * FROM pfs_sys.version');
$installation->release;
$updated->query('ALTER EXTENSION pfs UPDATE');
my $fresh = $server->session(db => 'fresh');
$fresh->query('CREATE EXTENSION pfs');

is($fresh->query('SELECT number, word FROM pfs.examples ORDER BY number'), "1|\n2|two", 'the table is read');
is($fresh->query(q{SELECT has_table_privilege('pg_monitor', 'pfs.examples', 'SELECT'), has_table_privilege('pg_monitor', 'pfs.examples', 'TRUNCATE')}),
	't|f', 'by those who may');
is($fresh->query(q{SELECT a_row_is, truncate_effect FROM pfs.tables WHERE table_name = 'examples'}), 'one example|refused', 'pfs.tables lists it');
my $sums = 'pfs.events_waits_summary_global_by_event_name';
is($fresh->query("SELECT count(*) FILTER (WHERE spread_timer_wait > 0) > 0, count(*) FILTER (WHERE spread_timer_wait <> max_timer_wait) FROM $sums"),
	't|0', 'the column has values, and the others still have theirs');
my ($tables, $behind) = split /\|/, $updated->query(q{SELECT count(*), count(*) FILTER (WHERE attnum > relnatts)
	FROM pg_attribute a JOIN released ON relation = attrelid WHERE attname = 'spread_timer_wait'});
cmp_ok($tables, '>', 20, 'all tables that contain the list have it');
is($behind, $tables, 'behind all columns of the version before');

# ---- the counter, and the summary ----

$fresh->query('TRUNCATE pfs.events_statements_summary_by_digest, pfs.events_statements_summary_global_by_event_name');
$fresh->query(q{DO $$BEGIN RAISE WARNING 'short'; RAISE WARNING USING ERRCODE = '01004', MESSAGE = 'cut'; END$$});
$updated->query('SELECT 1');
is($fresh->query(q{SELECT warnings, coded_warnings FROM pfs.events_statements_history WHERE thread_id = pfs.thread_id() AND sql_text ~ '^DO'}), '2|1', 'an event has the counter');
is($fresh->query(q{SELECT sum_warnings, sum_coded_warnings FROM pfs.events_statements_summary_by_digest WHERE digest_text ~ '^DO'}), '2|1', 'its digest the sum');
is($fresh->query('SELECT sum(sum_coded_warnings) FROM pfs.events_statements_summary_global_by_event_name'), 1, 'and so has its event name');
is($fresh->query(q{SELECT string_agg(concat_ws(' ', database_name, sum_coded_warnings), ', ' ORDER BY database_name) FROM pfs.events_statements_summary_by_database WHERE count_star > 0 AND database_name IN ('fresh', 'updated')}),
	'fresh 1, updated 0', 'a row for each database');
is($fresh->query('SELECT sum(count_star) - (SELECT sum(count_star) FROM pfs.events_statements_summary_by_digest) FROM pfs.events_statements_summary_by_database'), 0,
	'and all that digests have is in one of them');

my $everything = q{SELECT c.relname, attnum, attname, format_type(atttypid, atttypmod), col_description(c.oid, attnum), obj_description(c.oid, 'pg_class'), relacl,
	CASE WHEN relkind = 'v' THEN md5(pg_get_viewdef(c.oid)) END
	FROM pg_class c JOIN pg_attribute ON attrelid = c.oid WHERE relnamespace IN ('pfs'::regnamespace, 'pfs_sys'::regnamespace) AND attnum > 0 ORDER BY 1, 2};
is(difference($updated->query($everything), $fresh->query($everything)), '', 'an updated database has the same as a new one');
like($fresh->query($everything), qr/\|Longest "less" the shortest; it's a test\.\|.*\|The session's database\.\|/s, 'with the comments');

$fresh->query('CREATE SCHEMA imported; IMPORT FOREIGN SCHEMA pfs FROM SERVER pfs_server INTO imported');
my $columns = q{SELECT relname, attnum, attname, atttypid::regtype FROM pg_class c JOIN pg_attribute ON attrelid = c.oid
	WHERE relkind = 'f' AND attnum > 0 AND relnamespace = '%s'::regnamespace ORDER BY 1, 2};
is(difference($fresh->query(sprintf $columns, 'imported'), $fresh->query(sprintf $columns, 'pfs')), '', 'IMPORT FOREIGN SCHEMA makes the same');

# ---- the views, the wrapped call, the hook ----

is($updated->query('SELECT pid = pg_backend_pid(), on_version.* FROM pfs_sys.version, on_version'), "t|$version|" . $updated->query('SHOW server_version'),
	'a view of a release has its new column, and what users have built on it is as it was');
is($updated->query(q{SELECT string_agg(col_description(v::regclass, 3), ' ') || obj_description('pfs_sys.version'::regclass) FROM unnest('{pfs_sys.version,pfs_sys.x$version}'::text[]) v}),
	'Process that asks. Process that asks.The version of the extension and of the server.', 'with its comment');
is($updated->query(q{SELECT count(*), bool_and(has_table_privilege('pg_monitor', oid, 'SELECT')) FROM pg_class WHERE relnamespace = 'pfs_sys'::regnamespace AND relname ~ 'version$'}), '2|t',
	'and its rights');
is($fresh->query('SELECT number, word FROM pfs_sys.example_words') . $fresh->query('SELECT number FROM pfs_sys.x$example_words'), '2|two2', 'the view is read');
is($fresh->query(q{SELECT string_agg(probe_name || ' ' || status, ', ' ORDER BY probe_name) FROM pfs.probes WHERE target IN ('symlink', 'ClientAuthentication_hook')}),
	'got/symlink active, hook/ClientAuthentication_hook active', 'the call has a probe, and the hook was called');
mkdir PfsServer::folder() . '/space' or die "space: $!";
my $links = q{SELECT count(*) FROM pfs.events_waits_history_long WHERE thread_id = pfs.thread_id() AND operation = 'link'};
my $before = $fresh->query($links);
$fresh->query("CREATE TABLESPACE space LOCATION '" . PfsServer::folder() . "/space'");
is($fresh->query($links) - $before, 1, 'making a tablespace is an event of the call');
$fresh->query('DROP TABLESPACE space');

# ---- the instrument ----

# What a table has of the session.
sub of_session
{
	my ($table, $columns) = @_;

	return $fresh->query("SELECT $columns FROM pfs.$table WHERE thread_id = pfs.thread_id()");
}

is($fresh->query(q{SELECT enabled, timed, documentation FROM pfs.setup_instruments WHERE name = 'wait/synch/ipc/Program'}), 'YES|YES|Wait for a program.',
	'the instrument is there, and on');
$fresh->query(q{COPY (SELECT 1) TO PROGRAM 'cat >/dev/null'});
is($fresh->query(q{SELECT count_star > 0, sum_timer_wait > 0 FROM pfs.events_waits_summary_by_thread_by_event_name
	WHERE thread_id = pfs.thread_id() AND event_name = 'wait/synch/ipc/Program'}), 't|t', 'it counts');

# ---- the container ----

$fresh->query("CREATE FUNCTION $_ AS '\$libdir/pfs' LANGUAGE C") foreach
  'pfs_example_note(text) RETURNS bool', 'pfs_example_remove_notes() RETURNS int', 'pfs_example_tally(int, bigint) RETURNS void',
  'pfs_example_begin_job(int, int) RETURNS int', 'pfs_example_end_job(bigint) RETURNS int';
is($fresh->query('SHOW pfs.max_note_instances'), 3, 'its setting');
is($fresh->query(q{SELECT count(*) FILTER (WHERE pfs_example_note(text)), count(*) FROM unnest('{a,b,"",c,d,e}'::text[]) text}), '3|6', 'three notes fit');
my $container = q{SELECT records_max, records_used, records_lost FROM pfs.containers WHERE name = 'note_instances'};
my $status = q{SELECT variable_name, variable_value FROM pfs.status WHERE variable_name LIKE 'pfs_note%' ORDER BY 1};
is($fresh->query($container), '3|3|2', 'containers shows them, and those that were lost');
is($fresh->query($status), "pfs_note_instances_lost|2\npfs_notes_empty|1", 'status the losses and its own counter');
is($fresh->query(q{SELECT current_number_of_bytes_used > 0 FROM pfs.memory_summary_global_by_event_name WHERE event_name = 'memory/pfs/note_instances'}), 't',
	'its memory is counted');
$fresh->query('TRUNCATE pfs.containers');
is($fresh->query($container) . "\n" . $fresh->query($status), "3|3|0\npfs_note_instances_lost|0\npfs_notes_empty|0", 'TRUNCATE of containers resets the losses');
is($fresh->query('SELECT pfs_example_remove_notes()') . $fresh->query($container), '33|0|0', 'the notes are removed');

# ---- the kind of counted objects ----

$fresh->query("CREATE FUNCTION $_ AS '\$libdir/pfs' LANGUAGE C") foreach 'pfs_example_run_errand(int, int) RETURNS bool', 'pfs_example_remove_errand(int) RETURNS bool';
my $errands = q{SELECT string_agg(concat_ws(',', number, count_run, sum_miles), ' ' ORDER BY number) FROM pfs.errands};
my @runners = map { $server->session(db => 'fresh') } 1 .. 3;

# So many runs of the first errands by turns, the i-th over i miles.
sub run_errands
{
	my ($runner, $runs, $n) = @_;

	return $runner->query("SELECT count(*) FILTER (WHERE pfs_example_run_errand(1 + i % $n, i)) FROM generate_series(1, $runs) i");
}

is(join(' ', map { run_errands($_, 100, 4) } @runners), '100 100 100', 'three sessions run errands, each more of them than it has places');
is($fresh->query($errands), '1,75,3900 2,75,3675 3,75,3750 4,75,3825', 'each run counts once');
is($fresh->query('SELECT pfs_example_run_errand(5, 1)') . $fresh->query(q{SELECT records_max, records_used, records_lost FROM pfs.containers WHERE name = 'errand_instances'}),
	'f4|4|1', 'there is no room for a fifth one, which containers shows');
is($fresh->query(q{SELECT pfs.reset('errands')}), 300, 'all runs leave the table');
is($fresh->query($errands), '1,0,0 2,0,0 3,0,0 4,0,0', 'also those that processes had not handed on');
run_errands($runners[0], 3, 3);
run_errands($runners[1], 2, 2);
is($fresh->query($errands), '1,2,5 2,2,2 3,1,2 4,0,0', 'later ones count');
is($runners[2]->query('SELECT pfs_example_remove_errand(2), pfs_example_remove_errand(7)'), 't|f', 'one is removed');
is($runners[2]->query($errands), '1,2,5 3,1,2 4,0,0', 'with what others have counted of it; who has removed it frees its record');
$runners[1]->query('SELECT pfs_example_run_errand(2, 9)');
is($fresh->query($errands), '1,2,5 2,1,9 3,1,2 4,0,0', 'a new one of its number begins with nothing');
is(run_errands($runners[0], 100, 4), 100, 'who had counted of the old one counts of the new one');
is($fresh->query($errands), '1,27,1305 2,26,1234 3,26,1252 4,25,1275', 'and nothing of the old one comes back');
my $runner = $runners[0]->query('SELECT pfs.thread_id()');
$runners[0]->close;
$server->sql('CREATE EXTENSION pfs');
ok($server->poll("SELECT count(*) FROM pfs.threads WHERE thread_id = $runner", 0), 'a session ends');
is($fresh->query($errands), '1,27,1305 2,26,1234 3,26,1252 4,25,1275', 'what it has counted stays');
$runners[0] = $server->session(db => 'fresh');
run_errands($_, 4, 4) foreach @runners;
is($fresh->query($errands), '1,30,1317 2,29,1237 3,29,1258 4,28,1284', 'whoever has its thread record goes on');
is($fresh->query(q{SELECT pfs.reset('errands')}), 116, 'exactly these leave the table');
$_->close foreach @runners;

# ---- the family of summaries ----

# The levels, each with what it shows.
sub levels
{
	my ($prefix, $suffix, $columns) = @_;

	return join ' ', map {
		$fresh->query("SELECT coalesce(string_agg(concat_ws(',', $columns), ' ' ORDER BY event_name), '-') FROM pfs.${prefix}_$_->[0]$suffix WHERE $_->[1] AND count_star > 0")
	} [ 'by_thread', 'thread_id = pfs.thread_id()' ], [ 'by_account', "user_name = 'postgres' AND host = '[local]'" ], [ 'by_user', "user_name = 'postgres'" ],
	  [ 'by_host', "host = '[local]'" ], [ 'global', 'true' ];
}

my $tallies = 'count_star, sum_amount';
is($fresh->query(q{SELECT string_agg(name || ' ' || enabled, ', ' ORDER BY name), count(timed) FROM pfs.setup_instruments WHERE name LIKE 'tally/%'}),
	'tally/blue YES, tally/red YES|0', 'tallies have instruments without a timer');
$fresh->query('SELECT pfs_example_tally(0, n) FROM generate_series(1, 4) n');
is(levels('tallies_summary', '', $tallies), '4,10 4,10 4,10 4,10 4,10', 'all levels count tallies');
$fresh->query('TRUNCATE pfs.tallies_summary_by_thread');
is(levels('tallies_summary', '', $tallies), '- 4,10 4,10 4,10 4,10', 'TRUNCATE of a level moves them up');
$fresh->query('SELECT pfs_example_tally(1, 7)');
is(levels('tallies_summary', '', $tallies), '1,7 1,7 4,10 1,7 4,10 1,7 4,10 1,7 4,10', 'later ones are counted beside them');
$fresh->query(q{UPDATE pfs.setup_instruments SET enabled = 'NO' WHERE name = 'tally/blue'; SELECT pfs_example_tally(1, 7)});
is($fresh->query('SELECT sum(count_star) FROM pfs.tallies_summary_global'), 5, 'an instrument that is off counts nothing');
is($fresh->query(q{SELECT records_max, records_used FROM pfs.containers WHERE name = 'tallies_summary_global'}), '2|2', 'containers shows its cells');
$fresh->query('TRUNCATE pfs.tallies_summary_global');
is(levels('tallies_summary', '', $tallies), '- - - - -', 'TRUNCATE of the highest level zeroes all');

# ---- the family of events ----

my $jobs = 'priority, steps, timer_end IS NOT NULL, timer_wait >= 0';
is($fresh->query(q{SELECT string_agg(name, ' ') FROM pfs.setup_consumers WHERE name LIKE '%job%' AND enabled = 'YES'}),
	'events_jobs_current events_jobs_history events_jobs_history_long', 'jobs have consumers');
is($fresh->query(q{SELECT timer_name IS NOT NULL FROM pfs.setup_timers WHERE name = 'job'}), 't', 'and a timer');
is($fresh->query('SELECT pfs_example_begin_job(0, 5), pfs_example_begin_job(1, 6)'), '1|2', 'two jobs begin');
is(of_session('events_jobs_current', "string_agg(concat_ws(' ', event_name, priority, coalesce(steps::text, 'NULL'), coalesce(timer_end::text, 'NULL')), ', ' ORDER BY event_id)"),
	'job/small 5 NULL NULL, job/large 6 NULL NULL', 'they are running');
is($fresh->query('SELECT pfs_example_begin_job(0, 0), pfs_example_begin_job(0, 0)'), '3|3', 'a third one, and one that is nested too deep');
is($fresh->query(q{SELECT records_lost FROM pfs.containers WHERE name = 'events_jobs_current'}), 1, 'which is counted as lost');
$fresh->query("SELECT pfs_example_end_job($_)") foreach 1 .. 3;
is(of_session('events_jobs_current', 'count(*)'), 0, 'all have ended');
is(of_session('events_jobs_history', "count(*), string_agg(concat_ws(' ', $jobs), ', ' ORDER BY steps)"), '2|6 2 t t, 5 3 t t', 'the history has the last two');
is(of_session('events_jobs_history_long', "string_agg(concat_ws(' ', $jobs), ', ' ORDER BY steps)"), '0 1 t t, 6 2 t t, 5 3 t t', 'the long history all');
is(levels('events_jobs_summary', '_by_event_name', 'event_name, count_star, count_timed'), join(' ', ('job/large,1,1 job/small,2,2') x 5), 'all levels count jobs');
is($fresh->query(q{SELECT count(*) FROM pfs.events_jobs_summary_global_by_event_name WHERE min_timer_wait <= avg_timer_wait AND avg_timer_wait <= max_timer_wait}), 2, 'with their times');
$fresh->query('TRUNCATE pfs.events_jobs_history; TRUNCATE pfs.events_jobs_summary_by_thread_by_event_name');
is(of_session('events_jobs_history', 'count(*)') . of_session('events_jobs_history_long', 'count(*)'), '03', 'TRUNCATE empties the one history');
is(levels('events_jobs_summary', '_by_event_name', 'event_name, count_star'), join(' ', '-', ('job/large,1 job/small,2') x 4), 'and moves the counters of a level up');
$fresh->query('TRUNCATE pfs.events_jobs_history_long');
is(of_session('events_jobs_history_long', 'count(*)'), 0, 'then the other');
$fresh->query(q{UPDATE pfs.setup_consumers SET enabled = 'NO' WHERE name = 'events_jobs_current'});
$fresh->query('SELECT pfs_example_begin_job(0, 9); SELECT pfs_example_end_job(9)');
is(of_session('events_jobs_history_long', 'count(*)'), 0, 'with the consumer off no event is kept');
is($fresh->query(q{SELECT count_star FROM pfs.events_jobs_summary_global_by_event_name WHERE event_name = 'job/small'}), 3, 'but it is counted');

# ---- sessions that end ----

$fresh->query('TRUNCATE pfs.events_jobs_summary_global_by_event_name, pfs.tallies_summary_global');
my $other = $server->session(db => 'fresh');
my $thread = $other->query('SELECT pfs.thread_id()');
$other->query('SELECT pfs_example_tally(0, 3), pfs_example_begin_job(0, 1), pfs_example_end_job(1)');
$other->close;
ok($server->poll("SELECT count(*) FROM pfs.threads WHERE thread_id = $thread", 0), 'a session ends');
is(levels('tallies_summary', '', $tallies), '- 1,3 1,3 1,3 1,3', 'its tallies are those of its account');
is(levels('events_jobs_summary', '_by_event_name', 'event_name, count_star'), join(' ', '-', ('job/small,1') x 4), 'and its jobs');
$fresh->query('TRUNCATE pfs.accounts');
is(levels('tallies_summary', '', $tallies), '- - 1,3 1,3 1,3', 'TRUNCATE of accounts empties this level of all families');

# ---- what was removed ----

is(join(' ', map { $_->query(q{SELECT coalesce(to_regclass('pfs.prepared_statements_instances')::text, 'gone')}) } $fresh, $updated), 'gone gone', 'the table has gone, from an updated database, too');
is($fresh->query(q{SELECT (SELECT count(*) FROM pg_settings WHERE name LIKE 'pfs.%prepared%') + (SELECT count(*) FROM pfs.containers WHERE name LIKE '%prepared%')}), 0,
	'and so have its setting and its container');
my $client = PfsWire->new($server, database => 'fresh');
my $counts = q{SELECT string_agg(concat_ws(' ', count_star, sum_rows_sent), ', ' ORDER BY digest_text) FROM pfs.events_statements_summary_by_digest WHERE digest_text ~ 'AS beside' AND sum_rows_sent > 0};

$fresh->query('TRUNCATE pfs.events_statements_summary_by_digest, pfs.events_statements_summary_by_program');
$fresh->query(q{PREPARE p AS SELECT generate_series(1, 3) AS beside; EXECUTE p; EXECUTE p; DEALLOCATE p; DISCARD ALL});
$client->send(@$_) foreach [ Parse => 'p', 'SELECT generate_series(1, 3) AS beside, 2 AS it' ], [ Bind => 'p' ], [ Execute => 2 ], [ Execute => 0 ], [ Bind => 'p' ], ['Execute'], [ Close => 'p' ], ['Sync'];
$client->until_ready;
$server->poll_idle($server->thread_of($client->pid));
is($fresh->query($counts), '2 6, 2 6', 'executions of prepared statements count for their digests');
$fresh->query(q{CREATE PROCEDURE called() LANGUAGE plpgsql AS $$BEGIN PERFORM 'beside'; PERFORM 'beside'; END$$; CALL called()});
is($fresh->query(q{SELECT object_name, count_star, count_statements FROM pfs.events_statements_summary_by_program}), 'called|1|2', 'and what a program does for the program');

# ---- the program ----

SKIP:
{
	my $lacks = $tree->program_lacks;

	chomp $lacks;
	skip "the program needs $lacks", 4 if $lacks ne '';
	my $pfs = sub {
		my $out = '';

		IPC::Run::run([ $tree->path . '/client/pfs', @_, '-d', $server->connstr('fresh') ], '<', \undef, '>', \$out, '2>&1', IPC::Run::timeout($PfsServer::timeout));
		return $out;
	};

	($good, $out) = $tree->build_program;
	ok($good, 'the program is built') or diag($out);
	is($pfs->('examples', '--format', 'csv'), "number,word\n2,two\n1,\n", 'its screen shows rows');
	like($pfs->('doctor'), qr/^ok /m, 'the doctor says what is well');
	unlike($pfs->('doctor', '--brief'), qr/^ok |error|option/m, 'with the option it does not');
}

# ---- the golden outputs, which are the rest of the edits ----

# Whose lines they are.
my %names = (
	'column' => qr/spread_timer_wait/,
	'table' => qr/\bexamples\b/,
	'counter of statements' => qr/coded_warnings/,
	'summary by database' => qr/by_database/,
	'view' => qr/\bexample_words\b/,
	'instrument' => qr/Program/,
	'wrapped call' => qr/\bsymlink\b/,
	'hook' => qr/\bClientAuthentication_hook\b/,
	'container' => qr/\bnote/,
	'kind of counted objects' => qr/errand_instances/,
	'family of summaries' => qr/tall(y|ies)/,
	'family of events' => qr/job/,
	# No regression test runs the program; the tests of what was removed are removed with it.
	'removed feature' => qr/(?!)/,
	'option of the program' => qr/(?!)/,
	'screen of the program' => qr/(?!)/,
);
my $ndatabases = 0;

# The lines that a regression test prints and its golden output does not have.  It runs as pg_regress runs it.
sub new_lines
{
	my ($test) = @_;
	my $database = 'regression' . ++$ndatabases;
	my $out = '';

	$server->sql("CREATE DATABASE $database");
	local %ENV = (%ENV, PGTZ => 'PST8PDT', PGDATESTYLE => 'Postgres, MDY', PGOPTIONS => '-c intervalstyle=postgres_verbose');
	IPC::Run::run([ PfsServer::bindir() . '/psql', '-X', '-a', '-q', '-d', $server->connstr($database) ],
		'<', $tree->top . "/sql_tests/sql/$test.sql", '>&', \$out, IPC::Run::timeout($PfsServer::timeout));
	$server->sql("DROP DATABASE $database WITH (FORCE)");
	return grep { /^\+/ } split /\n/, difference($out, $tree->text("expected/$test.out"));
}

$fresh->query(q{UPDATE pfs.setup_consumers SET enabled = 'YES' WHERE name = 'events_jobs_current'; UPDATE pfs.setup_instruments SET enabled = 'YES' WHERE name = 'tally/blue'});
foreach my $test (map { m{([^/]+)\.sql$} } glob $tree->top . '/sql_tests/sql/*.sql')
{
	my @lines = new_lines($test);

	foreach my $addition (sort keys %names)
	{
		my @its = grep { $_ =~ $names{$addition} } @lines;

		next unless @its;
		$tree->begin($addition);
		$tree->edit("expected/$test.out", sub { $_ .= join("\n", @its) });
	}
}

# ---- as many files as CONTRIBUTING.md says, and no more than a reader puts up with ----

my %most = ('removed feature' => 8, 'column' => 2, 'table' => 3, 'counter of statements' => 4, 'summary by database' => 4, 'view' => 2, 'instrument' => 1, 'wrapped call' => 2, 'hook' => 3, 'container' => 5, 'kind of counted objects' => 4, 'family of summaries' => 8,
	'family of events' => 12,
	'option of the program' => 2, 'screen of the program' => 6);
my %said = $tree->text('CONTRIBUTING.md') =~ /^\| an? \[(.+?)\]\(#[^)]*\) \| (\d+) \|/mg;

is(join(', ', sort keys %said), join(', ', sort keys %names), 'CONTRIBUTING.md has a line for each kind');
foreach my $addition (sort keys %names)
{
	my @files = $tree->touched($addition);

	is(scalar(@files), $said{$addition}, "$addition: as many files as CONTRIBUTING.md says") or diag(join("\n", @files));
	cmp_ok($said{$addition} // 0, '<=', $most{$addition}, "$addition: few enough") if defined $most{$addition};
}
my ($same, $lines) = $tree->tool("diff '" . $tree->top . "/src/record/setup/pfs_wait_class.h' src/record/setup/pfs_wait_class.h");
is(scalar(() = $lines =~ /^[<>]/mg), 1, 'an instrument is one line');

done_testing();
