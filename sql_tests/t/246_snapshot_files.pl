# Files that are no snapshots, or not what they were: each has a clear answer, and none is
# half used.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/lib";
use PfsServer;
use POSIX ();
use PfsReports;
use Test::More;

needs_program();

my $server = PfsServer->new('main');
$server->start;
$server->sql('CREATE EXTENSION pfs');
my $folder = PfsServer::folder();

foreach my $name (qw(a b))
{
	is((program($server, 'snapshot', "$folder/$name"))[0], 0, "snapshot $name");
}
my ($a, $b) = map { slurp("$folder/$_") } qw(a b);

# The file is refused with this text, and nothing is written.
sub refused
{
	my ($text, $regex, $name) = @_;
	my $output = "$folder/output";

	unlink $output;
	spew("$folder/bad", $text);
	my ($status, $out, $err) = program($server, 'report', '--output', $output, "$folder/a", "$folder/bad");
	is($status, 2, "$name: refused");
	is($out, '', "$name: no output");
	like($err, qr/^pfs: [^\n]*$regex[^\n]*\n\z/, "$name: one line that says why");
	ok(!-e $output, "$name: no file");
}

# A change that has to be one, or the test tests nothing.
sub changed
{
	my ($from, $to) = @_;

	(my $text = $b) =~ s/$from/$to/ or die "nothing matches $from";
	return $text;
}

# What has no size, or no end, is not read.
POSIX::mkfifo("$folder/fifo", 0600) or die "mkfifo: $!";
foreach my $file ('/dev/zero', '/dev/null', "$folder/fifo", $folder)
{
	my ($status, $out, $err) = program($server, 'report', "$folder/a", $file);
	is("$status|$out", '2|', "$file: refused");
	like($err, qr/^pfs: "$file" is no snapshot: it is not a regular file\n\z/, 'as it is no regular file');
}
is((program($server, qw(metrics --once --service-file /dev/zero)))[2], qq{pfs: "/dev/zero" is no service file: it is not a regular file\n}, 'nor as a service file');
refused('', qr/is no JSON, or cut off/, 'empty');
refused(substr($b, 0, length($b) * $_ / 7), qr/is no JSON, or cut off/, "cut off at $_ of 7") foreach 1 .. 6;
refused('{"format": "other"}', qr/was not written by "pfs snapshot"/, 'another program');
refused('[1, 2]', qr/was not written by "pfs snapshot"/, 'another thing');
refused("\x7fELF\0\0\0", qr/is no JSON/, 'a program');
refused(changed(qr/"version": 1/, '"version": 2'), qr/has version 2, and this program reads up to 1/, 'a newer one');
refused(changed(qr/"version": 1/, '"version": "1"'), qr/no version/, 'a version that is none');
refused(changed(qr/"version": 1/, '"version": -4294967295'), qr/no version/, 'a version below the first');
refused(changed(qr/"taken": "\d+"/, '"taken": "yesterday"'), qr/when it was taken/, 'a time that is none');
refused(changed(qr/"taken": "\d+"/, '"taken": "99999999999999999999999"'), qr/when it was taken/, 'a time far off');
refused(changed(qr/"system_identifier": "\d+"/, '"system_identifier": "1"'), qr/of two clusters/, 'another server');
refused(changed(qr/"system_identifier": "\d+"/, '"system_identifier": 5'), qr/neither a string nor null/, 'a fact of another type');
refused(changed(qr/"tables": \[/, '"tables": [7, '), qr/table 1 has no name/, 'a table that is none');
refused(changed(qr/"columns": \["event_name", /, '"columns": ["event_name", "event_name", '), qr/column event_name twice/, 'a column twice');
refused(changed(qr/"rows": \[\n\["[^"]*", /, qq("rows": [\n[)), qr/row 1: not \d+ values/, 'a value less');
refused(changed(qr/(?<=\["statement\/sql\/select", )"\d+"/, '"many"'), qr/row \d+, count_star: not a whole number/, 'a counter that is no number');
refused(changed(qr/(?<=\["statement\/sql\/select", )"\d+"/, '"-1"'), qr/row \d+, count_star: a counter below zero/, 'a counter that has shrunk to less than nothing');
refused($a, qr/not older than the second/, 'the same one');
refused("$b$b", qr/no JSON/, 'two in one file');

# Any byte that becomes another one leaves a report or a message, and no crash.
srand(245);
foreach my $round (1 .. 40)
{
	my $text = $b;

	substr($text, rand length $text, 1) = chr int rand 256 foreach 1 .. 3;
	spew("$folder/bad", $text);
	my ($status, $out, $err) = program($server, 'report', '--format', 'json', "$folder/a", "$folder/bad");
	ok($status == 0 || ($status == 2 && $err =~ /^pfs: [^\n]*\n\z/), "damage $round: status $status") or diag($err);
}

# ---- files ----

foreach my $case ([ "$folder/nowhere", qr/cannot read the snapshot/ ], [ $folder, qr/is not a regular file/ ])
{
	my ($status, $out, $err) = program($server, 'report', $case->[0], "$folder/b");
	is($status, 2, "$case->[0]: refused");
	like($err, $case->[1], 'and it is said why');
}
my ($status, $out, $err) = program($server, 'snapshot', "$folder/nowhere/file");
isnt($status, 0, 'a file that cannot be made');
like($err, qr/nowhere/, 'is named');
my $kept = "$folder/kept";
spew($kept, 'old');
is((program({ env => { PGPORT => 1 } }, $server, 'snapshot', $kept))[0], 2, 'a server that is not there');
is(slurp($kept), 'old', 'leaves an older file as it was');
# A link to nowhere makes a file of its own, which holds statements as well.
my $umask = umask 0;
symlink "$folder/new", "$folder/link" or die "$folder/link: $!";
is((program($server, 'snapshot', "$folder/link"))[0], 0, 'a link to nowhere');
umask $umask;
is(sprintf('%o', (stat "$folder/new")[2] & 0777), '600', 'makes a file that only the owner can read');
ok(-l "$folder/link", 'and stays a link');
($status, $out) = program($server, 'snapshot', '-');
like($out, qr/^\{"format": "pfs snapshot"/, 'standard output');

# The order of the command line.
like((program($server, 'report', "$folder/b", "$folder/a"))[2], qr/give the older one first/, 'the older one comes first');
like((program($server, 'report', "$folder/b"))[2], qr/a second snapshot is missing/, 'one snapshot is no report');
like((program($server, 'report'))[2], qr/give one of/, 'nothing is no report');
like((program($server, 'report', '--format', 'pdf', "$folder/a", "$folder/b"))[2], qr/html, text or json/, 'a format that there is not');
like((program($server, 'report', '--till', 'now'))[2], qr/--till needs --since/, 'an end without a begin');

done_testing();
