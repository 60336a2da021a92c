# Texts of databases in one encoding, read in a database in another, by clients in any:
# no text makes a query fail, and what converts is shown as it is.
#
# Each database has sessions that write all bytes that its encoding takes into whatever
# takes a text.  Then every table is read from every database, in every encoding that a client
# can ask for there.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/lib";
use PfsServer;
use PfsWire;
use Test::More;

my $server = PfsServer->new('main', conf => <<'EOT');
autovacuum = off
max_prepared_transactions = 10
compute_query_id = on
fsync = off
EOT
$server->start;
$server->sql('CREATE EXTENSION pfs');

# What each encoding has, and what other ones have no counterpart for.
my %texts = (
	SQL_ASCII => [ join('', map { chr } 0x80 .. 0xff), "\xc3\xa4 \xe4 \xc3", "\xf0\x9f\x98\x80 \xa4\xa2 \x8f\xa2", "\xe6\x97\xa5\xe6" ],
	UTF8 => [ "\xc3\xa4\xc3\xb6 \xe2\x82\xac \xe6\x97\xa5\xe6\x9c\xac \xd0\xb6 \xf0\x9f\x98\x80", "\xc2\x80\xc2\x9f\xef\xbf\xbd\xee\x80\x80" ],
	LATIN1 => [ join('', map { chr } 0x80 .. 0xff) ],
	EUC_JP => [ "\xa4\xa2\xc6\xfc\xcb\xdc \x8e\xb1 \x8f\xb0\xa1", "\xa9\xa1\xfe\xfe \x8f\xfe\xfe \x8f\xa2\xb7" ],
	WIN1251 => [ join('', map { chr } grep { $_ != 0x98 } 0x80 .. 0xff) ]);
my @clients = qw(SQL_ASCII UTF8 LATIN1 EUC_JP WIN1251 SJIS KOI8R);
my @databases = sort keys %texts;
my (%wire, %second);

$server->sql("CREATE DATABASE \"db_$_\" TEMPLATE template0 ENCODING '$_' LC_COLLATE 'C' LC_CTYPE 'C'") foreach @databases;

sub say_to
{
	my ($wire, $text) = @_;

	$wire->send(Query => $text);
	return $wire->until_ready;
}

# A client that asks for no encoding has its database's: bytes arrive as they are.
foreach my $database (@databases)
{
	my $w = $wire{$database} = PfsWire->new($server, database => "db_$database");
	my $n = 0;
	# A name ends with a character.
	my $name = $database eq 'EUC_JP' ? "\xa4\xa2" : $database eq 'UTF8' ? "\xc3\xa4\xe2\x82\xac" : substr($texts{$database}[0], 0, 40);

	$server->psql('CREATE EXTENSION pfs', db => "db_$database");
	say_to($w, 'CREATE TABLE marked (i int)');
	foreach my $text (@{ $texts{$database} })
	{
		$n++;
		say_to($w, "SELECT '$text' AS marked_$n");
		say_to($w, "SELECT '$text'::int AS marked_$n");
		say_to($w, "SELEC '$text'");
		say_to($w, "SET application_name = '$text'");
		say_to($w, "PREPARE \"$name$n\" AS SELECT '$text'; EXECUTE \"$name$n\"");
		say_to($w, "BEGIN; SAVEPOINT \"$name\"; PREPARE TRANSACTION '$database $name $n'");
		say_to($w, "ROLLBACK PREPARED '$database $name $n'");
		say_to($w, "CREATE SCHEMA \"$name $n\"; SET search_path = \"$name $n\"; CREATE TABLE \"$name\" (i int); SELECT 1 FROM \"$name\"");
		say_to($w, "DO \$\$ BEGIN EXECUTE 'SELECT ''$text'', 1'; END \$\$");
		say_to($w, "CREATE ROLE \"$database $name $n\" LOGIN SUPERUSER");
		say_to($w, "SELECT pfs.set_instruments('$name', 'YES'); SELECT pfs.set_actor('$name', '$name')");
	}
	# A role's name in accounts and users; it waits for a lock on a relation.
	my $s = $second{$database} = PfsWire->new($server, database => "db_$database", user => "$database $name 1");

	say_to($w, "BEGIN; LOCK TABLE \"$name\"");
	$s->send(Query => "SELECT '$texts{$database}[0]' FROM \"$name $n\".\"$name\"");
}
ok($server->poll("SELECT count(*) FROM pfs.events_waits_current WHERE event_name = 'wait/lock/relation'", scalar(@databases)), 'each has a session that waits');

# ---- readers ----

my @relations = split /\n/, $server->sql("SELECT relname FROM pg_class WHERE relnamespace = 'pfs'::regnamespace AND relkind IN ('f', 'v')
	AND relname !~ '^(memory_|events_stages|events_waits_(summary|histogram|history)|events_.*_summary_(by_thread|by_host|global)|tables|probes|file_summary_by_relation|lwlock)' ORDER BY 1");
my $readers = 0;

cmp_ok(scalar(@relations), '>', 25, 'tables with texts of other sessions');
foreach my $database (@databases)
{
	my @failed;
	my $clients = 0;

	foreach my $client (@clients)
	{
		my ($status, $out, $err) = $server->psql("SET client_encoding = '$client';\n\\o /dev/null\n" . join('', map { "SELECT * FROM pfs.$_;\n" } @relations), db => "db_$database");

		next if $status != 0 && $err =~ /Conversion between \S+ and \S+ is not supported/;
		$clients++;
		push @failed, "$client: $err" if $status != 0;
	}
	$readers += $clients;
	is(join("\n", @failed), '', "every table can be read in $database by $clients kinds of clients");
}
cmp_ok($readers, '>', 20, 'pairs of encodings that the server converts');

# ---- what they see ----

# As bytes of the reader's database: what the client has no counterpart for is one '?', too.
sub shown
{
	my ($from, $in, $client) = @_;
	my ($status, $out, $err) = $server->psql("SET client_encoding = '$client';
		SELECT DISTINCT substring(encode(sql_text::bytea, 'hex') FROM '^53454c4543542027(.*)27204153206d61726b65645f31') FROM pfs.events_statements_history_long
		WHERE database_name = 'db_$from' AND sql_text LIKE 'SELECT ''%' AND sql_text ~ '[^t] AS marked_1\$'", db => "db_$in");

	diag($err) if $status != 0;
	return $out;
}

sub hex_of
{
	return unpack('H*', $_[0]);
}
my $latin = join('', map { chr } 0x80 .. 0xff);
my $utf8_of_latin = join('', map { sprintf('c%x%02x', $_ < 0xc0 ? 2 : 3, $_ < 0xc0 ? $_ : $_ - 0x40) } 0x80 .. 0xff);

is(shown('UTF8', 'UTF8', 'UTF8'), hex_of($texts{UTF8}[0]), 'the same encoding everywhere');
is(shown('UTF8', 'UTF8', 'LATIN1'), hex_of("\xc3\xa4\xc3\xb6 ? ?? ? ?"), 'a client that has not all characters');
is(shown('UTF8', 'LATIN1', 'LATIN1'), hex_of("\xe4\xf6 ? ?? ? ?"), 'a database that has not');
is(shown('UTF8', 'LATIN1', 'UTF8'), hex_of("\xe4\xf6 ? ?? ? ?"), 'whatever the client has');
is(shown('LATIN1', 'UTF8', 'UTF8'), $utf8_of_latin, 'all of LATIN1');
is(shown('LATIN1', 'SQL_ASCII', 'SQL_ASCII'), hex_of($latin), 'a database that takes all bytes, and a client that does');
is(shown('LATIN1', 'SQL_ASCII', 'UTF8'), hex_of('?' x 128), 'and one that does not');
is(shown('UTF8', 'SQL_ASCII', 'UTF8'), hex_of($texts{UTF8}[0]), 'what is valid by chance stays');
is(shown('SQL_ASCII', 'SQL_ASCII', 'UTF8'), hex_of('?' x 128), 'bytes that are no characters');
is(shown('SQL_ASCII', 'LATIN1', 'LATIN1'), hex_of($latin), 'or are some');
is(shown('SQL_ASCII', 'SQL_ASCII', 'SQL_ASCII'), hex_of($latin), 'or need not be');

$server->sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname LIKE 'db!_%' ESCAPE '!'");
done_testing();
