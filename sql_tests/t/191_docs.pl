# The pages that a user reads, README.md and docs/: their queries run and have the columns that the
# pages show, their links lead somewhere, and what they say of settings, tables and names is so.

use strict;
use warnings;
use utf8;
use FindBin;
use lib "$FindBin::RealBin/lib";
use PfsDocs;
use PfsServer;
use Test::More;

binmode(Test::More->builder->$_, ':encoding(UTF-8)') foreach qw(output failure_output todo_output);

my $readme_lines = 150;
my $line_length = 120;
my @pages = PfsDocs::pages();

# ---- form ----

cmp_ok(PfsDocs::text('README.md') =~ tr/\n//, '<=', $readme_lines, "README.md has at most $readme_lines lines");
foreach my $page (@pages)
{
	my ($n, @long) = (0);

	foreach (split /\n/, PfsDocs::text($page))
	{
		$n++;
		push @long, $n if length > $line_length;
	}
	is("@long", '', "$page: no line is longer than $line_length characters");
	is(join(', ', grep { !/^(sql|sh|)$/ } map { $_->{language} } PfsDocs::blocks($page)), '', "$page: blocks are SQL, shell or output");
}

# A table's row and a line of a block are what they are.
foreach my $readme (PfsDocs::readmes())
{
	my @long = grep { length > $line_length && !/^\||^ {4}/ } split /\n/, PfsDocs::text($readme) =~ s/^```.*?^```$//msgr;

	is(join("\n", @long), '', "$readme: no line of its text is longer than $line_length characters");
}

# ---- links ----

# The page without its blocks, where brackets mean something else.
sub prose
{
	my ($page) = @_;

	return PfsDocs::text($page) =~ s/^```.*?^```$//msgr;
}

# What its headings are called in links, as the usual viewers of Markdown have it.
sub anchors
{
	my ($page) = @_;
	my @headings = prose($page) =~ /^#+ +(.+)$/mg;

	return map { lc(s/\[([^]]*)\]\([^)]*\)/$1/gr =~ s/[^\w -]//gr) =~ s/ /-/gr } @headings;
}

# Links of a page to this tree, as [path from the top, anchor].
sub links
{
	my ($page) = @_;
	my ($folder) = $page =~ m{^(.*/)?};
	my @links;

	foreach my $target (prose($page) =~ /\]\(([^)\s]+)\)/g)
	{
		next if $target =~ /^\w+:/;
		my ($file, $anchor) = split /#/, $target, 2;
		my $path = $file eq '' ? $page : ($folder // '') . $file;

		1 while $path =~ s{(^|/)[^/.]+/\.\./}{$1};
		push @links, [ $path, $anchor ];
	}
	return @links;
}

my %linked;
foreach my $page (@pages)
{
	my @dead;

	foreach my $link (links($page))
	{
		my ($path, $anchor) = @$link;

		$linked{$page}{$path} = 1;
		if (!-e PfsDocs::path($path))
		{
			push @dead, $path;
		}
		elsif (defined $anchor && !grep { $_ eq $anchor } anchors($path))
		{
			push @dead, "$path#$anchor";
		}
	}
	is("@dead", '', "$page: every link leads to a page, and to a heading of it");
}
foreach my $index ('README.md', 'docs/README.md')
{
	is(join(' ', grep { m{^docs/} && $_ ne 'docs/README.md' && !$linked{$index}{$_} } @pages), '', "$index links every page");
}

# ---- what they say of the server ----

# With all LWLocks there are rows in their tables; with few buffers there are reads.
my $server = PfsServer->new('main', conf => <<'EOT');
pfs.lwlock_events = all
pfs.events_waits_history_long_size = 100000
shared_buffers = 1MB
autovacuum = off
EOT
$server->start;
$server->sql('CREATE EXTENSION pfs; CREATE ROLE app LOGIN');

# The table of settings.md beside what the server says.
my $settings = $server->sql(<<'EOT');
SELECT name,
	   CASE WHEN boot_val = '' THEN 'empty' ELSE boot_val END,
	   CASE vartype WHEN 'bool' THEN 'on, off' WHEN 'enum' THEN array_to_string(enumvals, ', ')
		   WHEN 'integer' THEN min_val || ' to ' || max_val WHEN 'real' THEN min_val || ' to ' || max_val END,
	   CASE unit WHEN 'B' THEN 'bytes' WHEN 's' THEN 'seconds' END,
	   CASE context WHEN 'postmaster' THEN 'restart' WHEN 'sighup' THEN 'reload' WHEN 'superuser' THEN 'session, by superusers' END
  FROM pg_settings WHERE name LIKE 'pfs.%' ORDER BY name COLLATE "C"
EOT
my @said;
foreach (prose('docs/settings.md') =~ /^\| \[?(`pfs\..*) \|$/mg)
{
	my ($name, $default, $range, $unit, $when) = split /\s*\|\s*/;

	$name =~ s/^`([^`]*)`.*/$1/;
	$unit = '' unless $unit =~ /^(bytes|seconds)$/;
	push @said, "$name|$default|$range|$unit|$when";
}
is(join("\n", sort @said), join("\n", sort split(/\n/, $settings)), 'docs/settings.md: every setting, with default, range, unit and when it takes effect');

# Names behind "pfs." are tables, views, functions or settings; those behind "pfs_" rows of pfs.status, or objects.
my %known = map { $_ => 1 } split /\n/, $server->sql(<<'EOT');
SELECT relname FROM pg_class WHERE relnamespace = 'pfs'::regnamespace
UNION SELECT proname FROM pg_proc WHERE pronamespace = 'pfs'::regnamespace
UNION SELECT substr(name, 5) FROM pg_settings WHERE name LIKE 'pfs.%'
EOT
my %variables = map { $_ => 1 } split(/\n/, $server->sql('SELECT variable_name FROM pfs.status')), qw(pfs_server pfs_fdw pfs_sys);

# Metrics have names that begin as those of status.
$variables{$_} = $variables{"${_}_total"} = $variables{"${_}_info"} = 1 foreach PfsDocs::text('client/metrics.c') =~ /^\t\{"(pfs_\w+)", /mg;

foreach my $page (@pages)
{
	my $text = PfsDocs::text($page);

	is(join(' ', grep { !$known{$_} && !/_$/ } $text =~ /\bpfs\.([a-z_0-9]+)\b/g), '', "$page: every name in schema pfs exists");
	is(join(' ', grep { !$variables{$_} } $text =~ /`(pfs_[a-z_0-9]+)`/g), '', "$page: every variable of pfs.status exists");
}

my @tables = split /\n/, $server->sql('SELECT table_name FROM pfs.tables');
my ($same, @missing) = (0);

foreach (prose('docs/from-mysql.md') =~ /^\| (.*) \| yes\b.*\|$/mg)
{
	foreach my $name (/`([^`]+)`/g)
	{
		my $pattern = quotemeta($name) =~ s/\\\*/.*/r;

		$same++;
		push @missing, $name unless grep { /^$pattern$/ } @tables;
	}
}
cmp_ok($same, '>', 0, 'docs/from-mysql.md says of some tables that they have the same name here');
is("@missing", '', 'and they have it');

# ---- queries ----

$server->sql(<<'EOT');
GRANT CREATE ON SCHEMA public TO app;
ALTER ROLE app SET pfs.plan_nodes = 'all';
CREATE FUNCTION book(n int, who text) RETURNS void LANGUAGE plpgsql
	AS $$ BEGIN UPDATE seat SET taken_by = who WHERE id = n; END $$;
CREATE FUNCTION divide(n int) RETURNS int LANGUAGE plpgsql
	AS $$ BEGIN RETURN 1 / n; EXCEPTION WHEN division_by_zero THEN RETURN NULL; END $$;
EOT
$server->session(user => 'app')->query(<<'EOT');
CREATE TABLE seat (id int PRIMARY KEY, taken_by text);
INSERT INTO seat SELECT generate_series(1, 100);
CREATE TABLE large AS SELECT n, repeat('x', 200) AS filler FROM generate_series(1, 20000) n;
EOT

sub has_detours
{
	return $server->sql(q{SELECT count(*) FROM pfs.probes WHERE mechanism = 'detour' AND status = 'active'}) > 0;
}

# What the queries ask for: sessions that wait, are idle, fail, write, prepare.  Answers the process id of
# the one whose last transaction can be read.
sub situation
{
	my %session;

	$server->sql(q{SELECT pfs.set_instruments('memory/context/%', 'YES'), pfs.set_instruments('wait/io/table/%', 'YES')});
	$server->sql(q{SELECT pfs.reset('table_io_waits_summary_by_index_usage')});
	# Somebody has to sleep for an LWLock.
	for (my $end = time() + $PfsServer::timeout; has_detours() && $server->sql('SELECT count(*) FROM pfs.lwlock_instances') == 0;)
	{
		die 'nobody sleeps for an LWLock' if time() > $end;
		$server->pgbench("UPDATE seat SET taken_by = 'pgbench' WHERE id = 10 + :client_id;\n", '-c', 8, '-j', 2, '-t', 50);
	}
	# At the end they are closed in this order: who blocks goes before who waits.
	$session{$_} = $server->session(user => 'app', name => $_) foreach qw(checkout kiosk clerk builder importer report cashier);

	$session{report}->query("SET work_mem = '64kB'; SELECT count(*) FROM (SELECT * FROM large ORDER BY filler, n OFFSET 0) l; SELECT divide(0);"
		  . ' SELECT taken_by FROM seat WHERE id = 2;' x 120);
	$session{report}->send('SELECT 1 / 0; SELECT * FROM seat_of_nobody')->result;
	$session{importer}->query(join ' ', (map { "PREPARE p$_ AS SELECT $_;" } 1 .. 5), 'EXECUTE p1;');
	$session{cashier}->query("BEGIN; UPDATE seat SET taken_by = 'carl' WHERE id = 3; SELECT book(4, 'dora'); COMMIT");
	$session{checkout}->query("BEGIN; UPDATE seat SET taken_by = 'anna' WHERE id = 1");
	$server->poll(q{SELECT count(*) FROM pfs.events_waits_current WHERE event_name = 'idle/transaction' AND thread_id = } . $session{checkout}->thread_id, 1)
	  or die 'nobody is idle in a transaction';
	$session{kiosk}->send("UPDATE seat SET taken_by = 'bert' WHERE id = 1");
	$server->poll('SELECT count(*) FROM pfs.blocking_tree', 1) or die 'nobody waits';
	$session{clerk}->send("SELECT book(1, 'emil')");
	$server->poll('SELECT count(*) FROM pfs.blocking_tree', 2) or die 'only one waits';
	# It waits for the transactions that write this table; by then its index is in the catalog.
	$session{builder}->send('CREATE INDEX CONCURRENTLY ON seat (taken_by)');
	$server->poll(q{SELECT count(*) FROM pfs.events_stages_current WHERE event_name = 'stage/progress/create_index/waiting_for_writers_before_build'}, 1)
	  or die 'no index is built';
	$server->poll(q{SELECT count(*) FROM pfs.events_transactions_history WHERE autocommit = 'NO' AND thread_id = } . $session{cashier}->thread_id, 1)
	  or die 'no transaction has ended';
	return $session{cashier}->pid;
}

# Results in psql's form, as [columns, has it rows].
sub results
{
	my @lines = split /\n/, $_[0];

	return map {
		[ join('|', map { s/^\s+|\s+$//gr } split /\|/, $lines[ $_ - 1 ]), ($lines[ $_ + 1 ] // '') =~ /^(\(0 rows\))?$/ ? 'empty' : 'rows' ]
	} grep { $_ > 0 && $lines[$_] =~ /^-[-+]*$/ } 0 .. $#lines;
}

foreach my $page (@pages)
{
	my @blocks = grep { $_->{language} eq 'sql' } PfsDocs::blocks($page) or next;

	# What another page has switched ends with the server.
	$server->restart;
	my $pid = situation();

	foreach my $block (@blocks)
	{
		my $name = "$page, line $block->{line}";
		my $sql = $block->{text} =~ s/\b12345\b/$pid/gr;
		my ($out, $err) = ('', '');

		IPC::Run::run([ PfsServer::bindir() . '/psql', '-X', '-q', '-v', 'ON_ERROR_STOP=1', '-d', $server->connstr ],
			'<', \$sql, '>', \$out, '2>', \$err, IPC::Run::timeout($PfsServer::timeout));
		is($err, '', "$name: runs");
		next unless defined $block->{next} && $block->{next}{language} eq '';

		my @shown = results($block->{next}{text});
		my @seen = results($out);

		isnt(scalar(@shown), 0, "$name: what it shows has columns");
		is(join("\n", map { $_->[0] } @seen), join("\n", map { $_->[0] } @shown), "$name: has the columns that it shows");
		# Without detours nothing is known of single LWLocks.
		next if $sql =~ /lwlock/i && !has_detours();
		is(join(' ', map { $_->[1] } @seen), join(' ', map { $_->[1] } @shown), "$name: has rows where it shows some");
	}
}

done_testing();
