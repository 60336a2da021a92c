# What anybody can plant in texts, names and application names does nothing in a page, on a
# terminal, in JSON, in stacks or in a trace.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/lib";
use PfsServer;
use PfsReports;
use PfsTrace;
use Test::More;

needs_program();

my $server = PfsServer->new('main', conf => <<'EOT');
autovacuum = off
pfs.instruments = 'stage/sql/%=ON, wait/io/table/%=ON, memory/%=ON'
EOT
$server->start;
$server->sql('CREATE EXTENSION pfs');
my $folder = PfsServer::folder();

# A script, the ends of attributes, elements and comments, quotes, line ends, escape sequences, text that turns
# its direction, and the separators of stacks. At most 63 bytes, as it is a name, too; each begins with its own word.
my %plants = (
	script => q{plant1<script>alert(1)</script><img src=x onerror=alert(2)>},
	ends => qq{plant2"' onmouseover=alert(3) x='-->]]></style></pre></td>},
	escapes => qq{plant3\e[31m\e]0;title\a\e[2J\x9b1m\r\nNote: all is well\b\b},
	direction => qq{plant4\xe2\x80\xae\xe2\x81\xa6;frame;stack 12345\n;x 999\t\xe2\x80\xa8},
	json => qq{plant5\\","version":2,"x":"\\u0000\\},
	template => q{plant6${alert(4)}{{7*7}}%s%n&lt;script&gt;},
);
# As an identifier of SQL: the C1 control character of "escapes" is no UTF-8 alone.
sub quoted
{
	my ($text) = @_;

	$text =~ s/\x9b/\xc2\x9b/g;
	# Names of roles and databases have no line ends since 19.
	$text =~ s/[\r\n]+/ /g if PfsServer::version() >= 19;
	$text =~ s/"/""/g;
	return qq{"$text"};
}

my $before = "$folder/before";
is((program($server, 'snapshot', $before))[0], 0, 'before');
my $session;
foreach my $kind (sort keys %plants)
{
	my $name = quoted($plants{$kind});
	my $string = "'" . ($plants{$kind} =~ s/\x9b/\xc2\x9b/r =~ s/'/''/gr) . "'";

	$server->sql("CREATE ROLE $name LOGIN SUPERUSER; CREATE SCHEMA $name; CREATE TABLE $name.$name ($name int PRIMARY KEY);");
	$server->sql("INSERT INTO $name.$name VALUES (1);");
	$server->sql("CREATE FUNCTION $name.$name() RETURNS int LANGUAGE plpgsql AS 'BEGIN RETURN 1; END';");
	my $as = $server->session;
	$as->query("SET ROLE $name; SET SESSION AUTHORIZATION $name; SET application_name = $string;");
	$as->query("SELECT /* " . ($plants{$kind} =~ s/\x9b/\xc2\x9b/gr) . " */ $name AS $name FROM $name.$name;");
	$as->query("SELECT $name.$name(); DO " . '$do$ BEGIN PERFORM 1 AS ' . $name . '; END $do$;');
	$server->psql("SELECT $name.$name(1, 2, 3)");
	push @{$session}, $as;
}
my $after = "$folder/after";
is((program($server, 'snapshot', $after))[0], 0, 'after');

# ---- each output ----

# Control characters but for line ends, as bytes of UTF-8; and what turns the direction of text.
my $controls = qr/[\x00-\x09\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|\xe2\x80[\x8b-\x8f\xa8-\xae]|\xe2\x81[\xa0-\xaf]/;

sub planted
{
	my ($text, $name) = @_;
	my $seen = grep { $text =~ /plant$_/ } 1 .. 6;

	is($seen, 6, "$name: all that was planted is there");
}

# Pages: no element, attribute or comment of theirs; our own scripts are as many as always.
sub harmless_page
{
	my ($page, $name, $scripts) = @_;

	planted($page, $name);
	(my $text = $page) =~ s{<script>.*?</script>|<style>.*?</style>}{}gs;
	is(scalar(() = $text =~ /<script/g) + (() = $page =~ /<script>/g), $scripts, "$name: $scripts scripts");
	unlike($text, qr/<img|<script>|alert\(1\)<|<\/script>alert/, "$name: no element");
	unlike($text, qr/<[^<>]*onmouseover/, "$name: no attribute");
	unlike($text =~ s/\t//gr, qr/$controls/, "$name: no control character but tabs");
}

my ($status, $page) = program($server, 'report', $before, $after, '--rows', 1000);
is($status, 0, 'the page of a report');
# The plot's data are there only where the server keeps a load history.
harmless_page($page, 'page', 1 + ($page =~ /id="load-data"/ ? 1 : 0));
(my $live) = (program($server, 'report', '--seconds', 1))[1];
like($live, qr/id="load-data"/, 'with a plot, too');

($status, my $text) = program($server, 'report', $before, $after, '--format', 'text', '--rows', 1000);
is($status, 0, 'the text of a report');
planted($text, 'text');
unlike($text, qr/$controls/, 'text: no control character');
unlike($text, qr/^Note: all is well/m, 'text: no line of its own');

($status, my $json) = program($server, 'report', $before, $after, '--format', 'json', '--rows', 1000);
is($status, 0, 'the JSON of a report');
planted($json, 'JSON');
unlike($json, qr/$controls/, 'JSON: no control character');
my $report = JSON::PP->new->utf8->allow_bignum->decode($json);
is($report->{version}, 1, 'JSON: nobody wrote into it');
my ($table) = grep { $_->{object_name} =~ /^plant5/ } rows($report, 'tables');
is($table->{object_name}, substr($plants{json}, 0, 63), 'JSON: texts come back as they were');

my $snapshot = slurp($after);
planted($snapshot, 'snapshot');
unlike($snapshot, qr/$controls/, 'snapshot: no control character');

($status, my $folded) = program($server, 'flame', '--format', 'folded');
is($status, 0, 'stacks');
planted($folded, 'stacks');
is(scalar(grep { !/^[^\n]+ \d+$/ } split /\n/, $folded), 0, 'stacks: each line is one');
unlike($folded, qr/^(plant|;x|frame)|;frame;|;x 999|; *x/m, 'stacks: no frame or line of its own');
unlike($folded, qr/$controls/, 'stacks: no control character');
($status, $page) = program($server, 'flame');
is($status, 0, 'the page of a flame graph');
harmless_page($page, 'flame', 2);

is((program($server, 'trace', '--output', "$folder/trace"))[0], 0, 'a trace');
my $trace = PfsTrace->new(slurp("$folder/trace"));
my $texts = join "\n", @{ $trace->{texts} };
planted($texts, 'trace');
unlike($texts, qr/$controls/, 'trace: no control character');

# What the program says on standard error.
my (undef, undef, $err) = program($server, 'report', $before, "$folder/\e[31m\nx");
like($err, qr/^pfs: [^\n]*\n\z/, 'a message is one line');
unlike($err, qr/\e/, 'without escape sequences');
spew("$folder/bad", qq({"format": "pfs snapshot", "version": 1, "taken": "1", "server": {}, "tables": [{"name": "\\u001b[2J\\nx", "columns": []}]}));
(undef, undef, $err) = program($server, 'report', $before, "$folder/bad");
like($err, qr/^pfs: [^\n\e]*\n\z/, 'nor a name from a file');

done_testing();
