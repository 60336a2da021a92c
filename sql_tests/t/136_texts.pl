# Texts of statements: secrets that comments and names try to cover, and cuts between
# characters.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/lib";
use PfsServer;
use Test::More;

my $server = PfsServer->new('main', conf => <<'EOT');
autovacuum = off
compute_query_id = on
pfs.max_sql_text_length = 100
EOT
$server->start;
$server->sql('CREATE EXTENSION pfs');

my $s = $server->session;
my $thread = $s->thread_id;

# ---- secrets ----

my @secrets = (
	[ q{CREATE /* a new one */ ROLE "a--b" PASSWORD 'hush1'}, q{CREATE /* a new one */ ROLE "a--b" PASSWORD <hidden>}, 'a comment, and a name like one' ],
	[ q{CREATE -- it's new}  . "\n" . q{USER "c/*d" ENCRYPTED PASSWORD 'hush2'}, q{CREATE -- it's new}  . "\n" . q{USER "c/*d" ENCRYPTED PASSWORD <hidden>}, 'the other kinds' ],
	[ q{ALTER/**/ROLE "a--b" /* -- */ PASSWORD 'hush3'}, q{ALTER/**/ROLE "a--b" /* -- */ PASSWORD <hidden>}, 'no blank at all' ],
	[ q{ALTER SYSTEM SET primary_conninfo = 'user=u password=hush4'}, q{ALTER SYSTEM SET primary_conninfo = <hidden>}, 'a connection of the system' ],
	[ q{ALTER SYSTEM SET "ssl_passphrase_command" /* by */ TO 'echo hush5'}, q{ALTER SYSTEM SET "ssl_passphrase_command <hidden>}, 'a passphrase' ],
	[ q{ALTER DATABASE postgres SET primary_conninfo TO 'host=hush6'}, q{ALTER DATABASE postgres SET primary_conninfo TO <hidden>}, 'of a database' ],
	[ q{ALTER ROLE postgres IN DATABASE postgres SET primary_conninfo='host=hush7'}, q{ALTER ROLE postgres IN DATABASE postgres SET primary_conninfo= <hidden>}, 'of a role' ],
	[ q{CREATE FUNCTION pg_temp.f() RETURNS int LANGUAGE sql SET Primary_Conninfo FROM CURRENT AS 'SELECT 1'}, q{CREATE FUNCTION pg_temp.f() RETURNS int LANGUAGE sql SET Primary_Conninfo <hidden>}, 'of a function' ],
	[ q{CREATE FOREIGN DATA WRAPPER w OPTIONS (password 'hush8')}, q{CREATE FOREIGN DATA WRAPPER w OPTIONS <hidden>}, 'a wrapper' ],
	[ q{ALTER FOREIGN /* or */ DATA WRAPPER w OPTIONS (SET password 'hush9')}, q{ALTER FOREIGN /* or */ DATA WRAPPER w OPTIONS <hidden>}, 'a wrapper, changed' ],
	[ q{CREATE SERVER sv FOREIGN DATA WRAPPER w OPTIONS (password 'hush10')}, q{CREATE SERVER sv FOREIGN DATA WRAPPER w OPTIONS <hidden>}, 'a server' ],
	[ q{CREATE USER MAPPING FOR postgres SERVER sv OPTIONS (password 'hush11')}, q{CREATE USER MAPPING FOR postgres SERVER sv OPTIONS <hidden>}, 'a user mapping' ],
	[ q{CREATE FOREIGN TABLE far (i int) SERVER sv OPTIONS (schema_name 'x')}, q{CREATE FOREIGN TABLE far (i int) SERVER sv OPTIONS (schema_name 'x')}, 'a foreign table has none' ],
	[ q{ALTER ROLE postgres CONNECTION LIMIT 50}, q{ALTER ROLE postgres CONNECTION LIMIT 50}, 'nor has a limit' ],
	[ q{CREATE VIEW conn AS SELECT current_setting('primary_conninfo')}, q{CREATE VIEW conn AS SELECT current_setting('primary_conninfo')}, 'nor a setting that is shown' ],
	[ q{CREATE TABLE role (options text, password text)}, q{CREATE TABLE role (options text, password text)}, 'a table has none' ]);

foreach my $secret (@secrets)
{
	my ($statement, $shown, $what) = @$secret;

	# Some of them fail.
	$s->send($statement)->result;
	$server->poll_idle($thread);
	is($server->sql("SELECT sql_text FROM pfs.events_statements_history WHERE thread_id = $thread AND sql_text ~ '^(CREATE|ALTER)' ORDER BY event_id DESC LIMIT 1"),
		$shown, $what);
}
# ---- messages ----

# Quotes that were forgotten are found by no parser: its message quotes what it met.
$server->sql(<<'EOT');
CREATE FUNCTION set_password(who text, what text) RETURNS void LANGUAGE plpgsql AS $$ BEGIN EXECUTE 'ALTER ROLE ' || who || ' PASSWORD ' || what; END $$;
CREATE FUNCTION set_password_sql(what text) RETURNS void LANGUAGE sql AS $$ SELECT set_password('postgres', what) $$;
EOT
my @messages = (
	[ 'ALTER ROLE postgres PASSWORD hush20', '42601', '<hidden>', 'quotes forgotten' ],
	[ "CREATE SUBSCRIPTION sub CONNECTION 'hush21' PUBLICATION p", '42601', '<hidden>', 'no connection string' ],
	[ "DO \$\$ BEGIN EXECUTE 'ALTER ROLE ' || 'postgres PASSWORD ' || 'hush22'; END \$\$", '42601', '<hidden>', 'a block that executes it' ],
	[ "SELECT set_password('postgres', 'hu' || 'sh23')", '42601', '<hidden>', 'a function that executes it' ],
	[ "SELECT set_password_sql('hu' || 'sh24')", '42601', '<hidden>', 'a function that calls that one' ],
	[ "SELECT set_password('no_such_role', '''hu' || 'sh25''')", '42704', '<hidden>', 'an error of the command itself' ],
	[ ' ' x 200 . '/*' . '-' x 200 . '*/ ALTER ROLE postgres PASSWORD hush26', '42601', '<hidden>', 'behind what is kept of the text' ],
	[ 'SELECT 1 / 0', '22012', 'division by zero', 'any other message is shown' ],
	[ "SELECT 'role password'::int", '22P02', 'invalid input syntax for type integer: "role password"', 'words alone hide none' ]);

foreach my $case (@messages)
{
	my ($statement, $state, $message, $what) = @$case;

	$server->sql('TRUNCATE pfs.events_statements_history');
	$s->send($statement)->result;
	$server->poll_idle($thread);
	# A reader passes by a process that the system has stopped while it writes its record.
	ok($server->poll("SELECT string_agg(DISTINCT returned_sqlstate || ' ' || message_text, ',') FROM pfs.events_statements_history
		WHERE thread_id = $thread AND errors > 0", "$state $message"), "message: $what");
}
foreach my $relation (split /\n/, $server->sql("SELECT relname FROM pg_class WHERE relnamespace = 'pfs'::regnamespace AND relkind IN ('f', 'v') AND relname ~ 'statement|thread|processlist|prepared'"))
{
	is($server->sql("SELECT to_jsonb(r) FROM pfs.$relation r WHERE to_jsonb(r)::text ~ '[h]ush[0-9]'"), '', "$relation shows no secret");
}
is($server->sql("SELECT count(*) FROM pfs.events_statements_summary_by_digest WHERE digest_text ~ '[h]ush' OR query_sample_text ~ '[h]ush'"), 0, 'digests show none');

# ---- cuts ----

# Two bytes each: one blank more in front, and the 100th byte is another half.  psql takes
# such blanks away, so a function's statement has them.
foreach my $blanks (0 .. 3)
{
	my $statement = "SELECT $blanks AS \"" . ("\xc3\xa4" x 20) . '", \'' . ("\xc3\xb6" x 100) . "'";

	$s->query('DO $do$ BEGIN EXECUTE $q$' . (' ' x $blanks) . $statement . '$q$; END $do$');
	$server->poll_idle($thread);
	is($server->sql("SELECT octet_length(sql_text) BETWEEN 99 AND 100, right(sql_text, 1) = U&'\\00f6' FROM pfs.events_statements_history
		WHERE thread_id = $thread AND sql_text LIKE 'SELECT $blanks AS%'"), 't|t', "cut between characters behind $blanks blanks");
}

done_testing();
