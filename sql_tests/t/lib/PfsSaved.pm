# PfsSaved.pm
#	  The files that older versions have saved (sql_tests/saved), what they must show, and the bytes of
#	  any such file.
#
# A file says which cluster and which major version wrote it.  move() makes it another cluster's, so a test
# reads it on a server that it has just made.  What a file must show lies beside it as the answers to
# %queries; sql_tests/saved/make.pl has written both.
#
#	my $bytes = PfsSaved::kept('1.1');				# uncompressed
#	PfsSaved::move($bytes, $server);				# as if this cluster had written it
#	PfsSaved::put($server, $bytes);					# where the server's start finds it
#	PfsSaved::make_owners($server);					# databases and roles by whose OIDs it counts
#	is(PfsSaved::difference(PfsSaved::expected('1.1'), PfsSaved::shown($server)), '', 'it shows the same');
package PfsSaved;

use strict;
use warnings;

use File::Basename qw(dirname);
use IO::Uncompress::Gunzip qw(gunzip $GunzipError);
use PfsServer;

our $folder = dirname(__FILE__) . '/../../saved';

# Settings of a server that adds nothing to what a file has.
our $quiet = <<'EOT';
autovacuum = off
compute_query_id = on
pfs.save_interval = 0
pfs.load_history_interval = 0
EOT

# ---- what a file shows ----

# Roles get the first two OIDs of a new cluster, the database one that is asked for.
our $database_oid = 20000;
our @roles = ('clerk', 'teller');

sub make_owners
{
	my ($server) = @_;

	$server->sql("CREATE ROLE $_ SUPERUSER LOGIN") foreach @roles;
	$server->sql("CREATE DATABASE work OID $database_oid");
	$server->sql('CREATE EXTENSION pfs');
}

my $theirs = q{user_name IN ('clerk', 'teller')};
# Which have this name in all versions of PostgreSQL.
my $known_events = q{(event_name IN ('wait/timeout/PgSleep', 'wait/lock/relation', 'wait/io/table/handler', 'cpu', 'idle/transaction')
		OR event_name LIKE 'wait/io/file/DataFile%')};
my $with_text = q{JOIN (SELECT database_name, user_name, query_id, digest_text FROM pfs.events_statements_summary_by_digest) d
		USING (database_name, user_name, query_id)};

# Each has the columns that tell its rows apart, those that are equal whoever reads the file, and times, which
# a clock of another frequency rounds in another way.
our %queries = (
	digests => {
		key => [qw(database_name user_name query_id digest_text)],
		equal => [qw(count_star count_timed sum_errors sum_warnings sum_rows_affected sum_rows_sent sum_shared_blks_hit
			sum_shared_blks_read sum_shared_blks_dirtied sum_shared_blks_written sum_local_blks_read sum_local_blks_written
			sum_temp_blks_read sum_temp_blks_written sum_wal_records sum_wal_fpi sum_wal_bytes sum_parallel_workers
			max_total_memory sum_rows_examined sum_no_index_used sum_cpu_time
			first_seen last_seen query_sample_text query_sample_seen), 'coalesce(sum_generic_plans, 0)', 'coalesce(sum_custom_plans, 0)'],
		times => [qw(sum_timer_wait min_timer_wait avg_timer_wait max_timer_wait sum_lock_time sum_plan_time sum_exec_time
			query_sample_timer_wait)],
		from => "pfs.events_statements_summary_by_digest WHERE $theirs",
	},
	others => {
		key => ['1'],
		equal => [qw(count_star count_timed sum_errors sum_rows_sent sum_wal_records first_seen last_seen)],
		times => [qw(sum_timer_wait min_timer_wait max_timer_wait)],
		from => 'pfs.events_statements_summary_by_digest WHERE query_id IS NULL',
	},
	waits => {
		key => [qw(database_name user_name query_id digest_text event_name)],
		equal => [qw(count_star count_timed)],
		times => [qw(sum_timer_wait min_timer_wait max_timer_wait)],
		from => "pfs.events_waits_summary_by_digest $with_text WHERE $theirs AND $known_events",
	},
	rows => {
		key => ['database_name', 'user_name', 'query_id', 'digest_text', 'coalesce(object_name, count_fetch::text)', 'index_name'],
		equal => [qw(count_star count_timed count_fetch count_insert count_update count_delete)],
		times => ['sum_timer_wait'],
		from => "pfs.table_io_waits_summary_by_digest $with_text WHERE $theirs",
	},
	histograms => {
		key => [qw(database_name user_name query_id digest_text)],
		equal => ['sum(count_bucket)', 'count(*) FILTER (WHERE count_bucket > 0) > 0'],
		times => [],
		from => "pfs.events_statements_histogram_by_digest $with_text WHERE $theirs GROUP BY 1, 2, 3, 4",
	},
	load => {
		key => [qw(resolution period_start period_end type wait_event_type event_name database_name user_name digest_text query_id)],
		equal => ['count_star'],
		times => [qw(sum_timer_wait max_timer_wait)],
		from => "pfs.load_history WHERE $known_events AND (user_name IS NULL OR $theirs)",
	},
	load_types => {
		key => [qw(resolution period_start period_end type wait_event_type)],
		equal => ['sum(count_star)'],
		times => ['sum(sum_timer_wait)', '(sum(active_sessions) * 1e12)::numeric'],
		from => 'pfs.load_history GROUP BY 1, 2, 3, 4, 5',
	},
	resets => {
		key => ['table_name'],
		equal => ['pfs.reset_time(table_name)'],
		times => [],
		from => q{unnest('{events_statements_summary_by_digest,events_statements_histogram_by_digest,events_waits_summary_by_digest,table_io_waits_summary_by_digest,load_history}'::text[]) table_name},
	},
);

# The answers: for each query its rows by their key, each with its values by column.
sub shown
{
	my ($server) = @_;
	my %shown;

	foreach my $name (sort keys %queries)
	{
		my ($key, $from) = @{ $queries{$name} }{qw(key from)};
		my @columns = (@{ $queries{$name}{equal} }, @{ $queries{$name}{times} });
		my $values = join ', ', (map { "($key->[$_])::text AS k$_" } 0 .. $#$key), map { "($columns[$_])::text AS c$_" } 0 .. $#columns;
		my $line = join ' || chr(9) || ', map { "coalesce(translate($_, chr(9) || chr(10), '  '), '-')" } (map { "k$_" } 0 .. $#$key), map { "c$_" } 0 .. $#columns;

		foreach my $row (split /\n/, $server->sql(qq{SELECT $line FROM (SELECT $values FROM $from) q}))
		{
			my @row = split /\t/, $row, -1;
			my $its_key = join "\t", splice @row, 0, @$key;

			die "$name has two rows of $its_key" if exists $shown{$name}{$its_key};
			@{ $shown{$name}{$its_key} }{@columns} = @row;
		}
	}
	return \%shown;
}

# The same as a text, and back: a line with the names of a query's columns, then its rows.
sub as_text
{
	my ($shown) = @_;
	my $text = '';

	foreach my $name (sort keys %$shown)
	{
		my @columns = (@{ $queries{$name}{equal} }, @{ $queries{$name}{times} });

		$text .= join("\t", "== $name", scalar @{ $queries{$name}{key} }, @{ $queries{$name}{key} }, @columns) . "\n";
		$text .= join("\t", $_, @{ $shown->{$name}{$_} }{@columns}) . "\n" foreach sort keys %{ $shown->{$name} };
	}
	return $text;
}

sub expected
{
	my ($version) = @_;
	my (%shown, $name, $nkeys, @columns);

	foreach my $line (split /\n/, _uncompressed("$version.out"))
	{
		my @row = split /\t/, $line, -1;

		if ($line =~ /^== (\S+)/)
		{
			(undef, $nkeys, @columns) = @row;
			$name = $1;
			next;
		}
		my $key = join "\t", splice @row, 0, $nkeys;

		@{ $shown{$name}{$key} }{ @columns[$nkeys .. $#columns] } = @row;
	}
	return \%shown;
}

# What is not as it was, a line each.  Compares the columns that both have; times may differ by what another clock makes
# of them, a microsecond or one part in 10,000.
sub difference
{
	my ($before, $after) = @_;
	my @lines;

	foreach my $name (sort keys %$before)
	{
		my %is_time = map { $_ => 1 } @{ $queries{$name}{times} };
		my ($old, $new) = ($before->{$name}, $after->{$name});

		foreach my $key (sort keys %{ { %$old, %$new } })
		{
			my ($x, $y) = ($old->{$key}, $new->{$key});

			push @lines, "$name: $key: " . (defined $x ? 'is missing' : 'is new') unless defined $x && defined $y;
			next unless defined $x && defined $y;
			foreach my $column (grep { exists $y->{$_} } sort keys %$x)
			{
				my ($a, $b) = ($x->{$column}, $y->{$column});

				next if $a eq $b || $is_time{$column} && "$a$b" =~ /^[0-9.]+$/ && abs($a - $b) <= 1e6 + $a / 1e4;
				push @lines, "$name: $key: $column is $b, and was $a";
			}
		}
	}
	return join "\n", @lines;
}

# ---- kept files ----

# Of every version there is one.
sub versions { return sort map { m{([^/]+)\.save\.gz$} } glob "$folder/*.save.gz"; }

sub kept { return _uncompressed("$_[0].save"); }

sub _uncompressed
{
	my ($name) = @_;
	my $bytes;

	gunzip("$folder/$name.gz" => \$bytes) or die "$name: $GunzipError";
	return $bytes;
}

# ---- bytes ----

# A server's own, and its bytes.
sub path { return "$_[0]{data}/pg_stat_tmp/pfs.save"; }

sub content { return PfsServer::text_of(path($_[0])); }

sub put
{
	my ($server, $bytes) = @_;
	my $path = path($server);

	unlink glob "$path*";
	open my $out, '>:raw', $path or die "$path: $!";
	print $out $bytes;
	close $out or die "$path: $!";
	chmod 0600, $path;
}

my @crc_table = map { my $crc = $_; $crc = $crc >> 1 ^ ($crc & 1 ? 0x82F63B78 : 0) foreach 1 .. 8; $crc } 0 .. 255;

sub crc32c
{
	my ($bytes) = @_;
	my $crc = 0xFFFFFFFF;

	$crc = $crc >> 8 ^ $crc_table[ ($crc ^ $_) & 0xFF ] foreach unpack 'C*', $bytes;
	return $crc ^ 0xFFFFFFFF;
}

# The file's head: magic, format, major version, system identifier, time, length, sections, checksum of all these.
our $head_size = 48;

# As if this server's cluster had written it.
sub move
{
	my ($bytes, $server) = @_;
	my ($identifier) = run_ok(PfsServer::bindir() . '/pg_controldata', '-D', $server->{data}) =~ /^Database system identifier: *(\d+)$/m;

	substr($bytes, 12, 12) = pack 'L Q', PfsServer::version(), $identifier;
	return head_right($bytes);
}

# Sections of a file, in their order: name, at (its head), length (of the bytes behind the head), bytes.
our $section_size = 32;

sub sections
{
	my ($bytes) = @_;
	my @sections;

	for (my $at = $head_size; $at < length $bytes;)
	{
		my ($name, $length) = unpack 'Z16 Q', substr($bytes, $at, $section_size);

		push @sections, { name => $name, at => $at, length => $length, bytes => substr($bytes, $at + $section_size, $length) };
		$at += $section_size + $length;
	}
	return @sections;
}

# A section of these bytes, with its head.
sub section
{
	my ($name, $bytes) = @_;
	my $head = pack 'a16 Q L', $name, length $bytes, crc32c($bytes);

	return $head . pack('L', crc32c($head)) . $bytes;
}

# A file with the head of another one and these sections, each with its head.
sub file_of
{
	my ($head_of, @sections) = @_;
	my $bytes = join '', substr($head_of, 0, $head_size), @sections;

	substr($bytes, 40, 4) = pack 'L', scalar @sections;
	return head_right($bytes);
}

# Makes length and checksum of the head those of the file.
sub head_right
{
	my ($bytes) = @_;

	substr($bytes, 32, 8) = pack 'Q', length $bytes;
	substr($bytes, $head_size - 4, 4) = pack 'L', crc32c(substr $bytes, 0, $head_size - 4);
	return $bytes;
}

1;
