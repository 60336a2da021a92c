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

sub is_over
{
	$server->poll("SELECT count(*) FROM pfs.events_statements_current WHERE thread_id = $thread AND end_event_id IS NULL", 0);
}

# ---- secrets ----

my @secrets = (
	[ q{CREATE /* a new one */ ROLE "a--b" PASSWORD 'hush1'}, q{CREATE /* a new one */ ROLE "a--b" PASSWORD <hidden>}, 'a comment, and a name like one' ],
	[ q{CREATE -- it's new}  . "\n" . q{USER "c/*d" ENCRYPTED PASSWORD 'hush2'}, q{CREATE -- it's new}  . "\n" . q{USER "c/*d" ENCRYPTED PASSWORD <hidden>}, 'the other kinds' ],
	[ q{ALTER/**/ROLE "a--b" /* -- */ PASSWORD 'hush3'}, q{ALTER/**/ROLE "a--b" /* -- */ PASSWORD <hidden>}, 'no blank at all' ],
	[ q{ALTER SYSTEM SET primary_conninfo = 'user=u password=hush4'}, q{ALTER SYSTEM SET primary_conninfo = 'user=u password <hidden>}, 'a connection of the system' ],
	[ q{CREATE TABLE role (options text, password text)}, q{CREATE TABLE role (options text, password text)}, 'a table has none' ]);

foreach my $secret (@secrets)
{
	my ($statement, $shown, $what) = @$secret;

	$s->query($statement);
	is_over();
	is($server->sql("SELECT sql_text FROM pfs.events_statements_history WHERE thread_id = $thread AND sql_text ~ '^(CREATE|ALTER)' ORDER BY event_id DESC LIMIT 1"),
		$shown, $what);
}
is($server->sql("SELECT count(*) FROM pfs.events_statements_summary_by_digest WHERE digest_text ~ '[h]ush' OR query_sample_text ~ '[h]ush'"), 0, 'digests show none');

# ---- cuts ----

# Two bytes each: one blank more in front, and the 100th byte is another half.  psql takes
# such blanks away, so a function's statement has them.
foreach my $blanks (0 .. 3)
{
	my $statement = "SELECT $blanks AS \"" . ("\xc3\xa4" x 20) . '", \'' . ("\xc3\xb6" x 100) . "'";

	$s->query('DO $do$ BEGIN EXECUTE $q$' . (' ' x $blanks) . $statement . '$q$; END $do$');
	is_over();
	is($server->sql("SELECT octet_length(sql_text) BETWEEN 99 AND 100, right(sql_text, 1) = U&'\\00f6' FROM pfs.events_statements_history
		WHERE thread_id = $thread AND sql_text LIKE 'SELECT $blanks AS%'"), 't|t', "cut between characters behind $blanks blanks");
}

done_testing();
