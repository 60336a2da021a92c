# The load history against a model: made-up periods, handed over as the recorder does, which
# is off.  What is kept of each, the sums of minutes and ten minutes, rings that wrap, holes,
# a clock that is set, TRUNCATE, and the functions that choose periods.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/lib";
use PfsServer;
use Test::More;
use Time::HiRes qw(sleep time);

my $seed = int(time * 1000) % 1_000_000;
srand($seed);
diag("seed $seed");

my %keeps = (1 => 130, 60 => 7, 600 => 3);
my $server = PfsServer->new('main', preload => 'pfs,' . test_module('pfs_test_load'), conf => <<"EOT");
pfs.load_history_interval = 0
pfs.load_history_seconds = $keeps{1}
pfs.load_history_minutes = $keeps{60}
pfs.load_history_ten_minutes = $keeps{600}
EOT
$server->start;
$server->sql('CREATE EXTENSION pfs');
$server->sql(test_functions('pfs_test_load'));
my $recorder = $server->session;
my ($database, $user) = split /\|/, $server->sql('SELECT oid, current_user::regrole::oid FROM pg_database WHERE datname = current_database()');

# ---- the model ----

my @kinds = (
	[ 'FOREGROUND', 'CPU', 'cpu' ],
	[ 'FOREGROUND', 'IO', 'wait/io/file/DataFileRead' ],
	[ 'FOREGROUND', 'IO', 'wait/io/file/DataFileExtend' ],
	[ 'FOREGROUND', 'Lock', 'wait/lock/relation' ],
	[ 'FOREGROUND', 'Lock', 'wait/lock/transactionid' ],
	[ 'FOREGROUND', 'Timeout', 'wait/timeout/PgSleep' ],
	[ 'FOREGROUND', 'Idle in transaction', 'idle/transaction' ],
	[ 'BACKGROUND', 'IO', 'wait/io/file/DataFileWrite' ],
	[ 'BACKGROUND', 'IO', 'wait/io/file/DataFileSync' ]);

# By resolution, what is kept; the sums under way.
my (%kept, %under_way);

# As the test module reads it; statements have a query_id where the kind has one.
sub key
{
	my ($kind, $query) = @_;
	my $own = $kind->[0] eq 'FOREGROUND' && $kind->[1] ne 'Idle in transaction';

	return join '|', @$kind, $own ? ($database, $user, $query) : $kind->[0] eq 'FOREGROUND' ? ($database, $user, '') : (0, 0, '');
}

# Of rows by key, [count, time, longest], what a period keeps: lines as the table has them.
sub largest
{
	my ($rows) = @_;
	my %parts = map { $_ => [ map { $_ || 0 } (split /\|/, $_, -1)[ 3, 5 ] ] } keys %$rows;
	# Of equal ones that of the lower database comes first, then the lower query_id, as a number without sign.
	my @keys = sort {
		my ($x, $y) = ($parts{$a}, $parts{$b});
		$rows->{$b}[1] <=> $rows->{$a}[1] || $rows->{$b}[0] <=> $rows->{$a}[0] || $x->[0] <=> $y->[0] || ($x->[1] < 0) <=> ($y->[1] < 0) || $x->[1] <=> $y->[1]
	} keys %$rows;
	my %rest = ('FOREGROUND|CPU' => [ 0, 0, 0 ]);
	my @lines;

	for my $i (0 .. $#keys)
	{
		my ($type, $class, $event, $db, undef, $query) = split /\|/, $keys[$i], -1;
		my ($count, $time, $longest) = @{ $rows->{ $keys[$i] } };

		if ($i < 32)
		{
			push @lines, join '|', $type, $class, $event, $db ? ('postgres', 'postgres') : ('', ''), $query, $count, $time, $longest;
			next;
		}
		my $rest = $rest{"$type|$class"} //= [ 0, 0, 0 ];
		$rest->[0] += $count;
		$rest->[1] += $time;
		$rest->[2] = $longest if $longest > $rest->[2];
	}
	foreach (sort keys %rest)
	{
		my ($type, $class) = split /\|/;
		push @lines, join '|', $type, $class, '', '', '', '', @{ $rest{$_} } if $_ eq 'FOREGROUND|CPU' || grep { $_ > 0 } @{ $rest{$_} };
	}
	return join "\n", sort @lines;
}

sub store
{
	my ($seconds, $begin, $end, $rows) = @_;

	push @{ $kept{$seconds} }, [ $begin, $end, largest($rows) ];
	shift @{ $kept{$seconds} } if @{ $kept{$seconds} } > $keeps{$seconds};
}

sub end_of
{
	my ($seconds) = @_;
	my $u = delete $under_way{$seconds} or return;

	$u->{rows}{$_}[2] = 0 foreach grep { $u->{longest}{$_} != $u->{n} } keys %{ $u->{rows} };
	store($seconds, $u->{begin}, $u->{end}, $u->{rows});
}

# Times are seconds since 2001 here, and timestamps there.
sub timestamp { return "'2001-01-01 00:00:00+00'::timestamptz + $_[0] * interval '1 second'"; }

# Hands a period over to both.
sub keep
{
	my ($begin, $end, $rows, %how) = @_;
	my $follows = $how{hole} ? 'false' : 'true';

	store(1, $begin, $end, $rows);
	foreach my $seconds (60, 600)
	{
		end_of($seconds) if $how{hole} || (defined $under_way{$seconds} && $under_way{$seconds}{end} != $begin);
		my $u = $under_way{$seconds} //= { begin => $begin, n => 0, rows => {}, longest => {} };
		$u->{n}++;
		$u->{end} = $end;
		foreach (keys %$rows)
		{
			my $sum = $u->{rows}{$_} //= [ 0, 0, 0 ];
			$sum->[0] += $rows->{$_}[0];
			$sum->[1] += $rows->{$_}[1];
			$sum->[2] = $rows->{$_}[2];
			$u->{longest}{$_} = $u->{n};
		}
		end_of($seconds) if int(($end + 0.5) / $seconds) > int(($u->{begin} + 0.5) / $seconds);
	}
	my $texts = join ',', map { "'$_|$rows->{$_}[0]|$rows->{$_}[1]|$rows->{$_}[2]'" } keys %$rows;
	my $length = ($end - $begin) * 1e12;
	return 'SELECT load_keep(' . timestamp($begin) . ', ' . timestamp($end) . ", ${length}::bigint, $follows, ARRAY[$texts]::text[]);\n";
}

sub some_rows
{
	my ($n) = @_;
	my %rows;

	while (keys %rows < $n)
	{
		my $key = key($kinds[ int rand @kinds ], int(rand 200) - 100);
		# Small numbers, so that some are equal; large ones as of busy servers.
		$rows{$key} = [ int rand 5, (rand() < 0.5 ? int rand 20 : int rand 1e13), rand() < 0.2 ? int rand 1e12 : 0 ];
		delete $rows{$key} if !grep { $_ > 0 } @{ $rows{$key} };
		last if rand() < 0.002;
	}
	# Without a statement only some can be: ties of those would be decided by instrument.
	my %times;
	foreach (sort keys %rows)
	{
		my @key = split /\|/, $_, -1;
		$rows{$_}[1] += 1 while $times{ join '|', @{ $rows{$_} }[ 0, 1 ], $key[5] || 0 }++;
	}
	return \%rows;
}

# All that the table has of a resolution, and all that it should have.
sub compare
{
	my ($name) = @_;

	foreach my $seconds (1, 60, 600)
	{
		my $lines = join "\n", map { my ($b, $e, $l) = @$_; map { "$b|$e|$_" } split /\n/, $l } @{ $kept{$seconds} // [] };
		my $there = $server->sql(<<"EOT");
SELECT round(extract(epoch FROM period_start) - 978307200, 3)::float8, round(extract(epoch FROM period_end) - 978307200, 3)::float8, type, wait_event_type,
	event_name, database_name, user_name, query_id, count_star, sum_timer_wait, max_timer_wait
FROM pfs.load_history WHERE resolution = '$seconds s'
EOT
		is(join("\n", sort split /\n/, $there), join("\n", sort split /\n/, $lines), "$name: resolution of $seconds s");
	}
}

# ---- one period, by hand ----

$recorder->query(keep(0, 1, { key($kinds[0], 7) => [ 3, 5e11, 0 ], key($kinds[3], -7) => [ 0, 1e12, 9e13 ], key($kinds[7], '') => [ 2, 40, 0 ] }));
is($server->sql(q{SELECT type, wait_event_type, event_name, user_name, query_id, count_star, sum_timer_wait, active_sessions, max_timer_wait
	FROM pfs.load_history WHERE event_name IS NOT NULL AND resolution = '1 s' ORDER BY sum_timer_wait DESC}), <<'EOT' =~ s/\n$//r, 'one period');
FOREGROUND|Lock|wait/lock/relation|postgres|-7|0|1000000000000|1|90000000000000
FOREGROUND|CPU|cpu|postgres|7|3|500000000000|0.5|0
BACKGROUND|IO|wait/io/file/DataFileWrite|||2|40|4e-11|0
EOT
compare('one period');

# ---- many, at random; rings wrap ----

my $time = 1;
my $wrapped = 0;
foreach my $round (1 .. 12)
{
	my $sql = '';

	foreach (1 .. 40 + int rand 60)
	{
		my $dice = rand;
		my %how;
		my $length = $dice < 0.02 ? 1 + int rand 100 : 1;

		if ($dice > 0.99)
		{
			$time += int rand 700;
			$how{hole} = 1;
		}
		elsif ($dice > 0.985)
		{
			# The clock is set back: what is there stays.
			$time -= int rand 200;
			$time = 0 if $time < 0;
			$how{hole} = 1;
		}
		$sql .= keep($time, $time + $length, some_rows($dice < 0.1 ? 0 : int rand($dice < 0.6 ? 25 : 120)), %how);
		$time += $length;
	}
	$recorder->query($sql);
	is($recorder->last_error, '', "round $round: kept") or last;
	compare("round $round");
	$wrapped = 1 if @{ $kept{1} } == $keeps{1};
}
ok($wrapped, 'the ring of seconds has wrapped');

# ---- the recorder ends: what is under way is kept ----

my $before = @{ $kept{600} };
$recorder->query(keep($time, $time + 1, some_rows(60)));
$recorder->query('SELECT load_end()');
end_of($_) foreach 60, 600;
compare('the recorder ends');
$recorder->query('SELECT load_end()');
compare('and ends again');

# ---- conditions give what filters give ----

foreach my $try (1 .. 40)
{
	my @any = ('<', '<=', '=', '>=', '>');
	my @where = map {
		my $column = pick('period_start', 'period_end');
		my $constant = timestamp($time - int rand 150);
		rand() < 0.5 ? "$column " . pick(@any) . " $constant" : "$constant " . pick(@any) . " $column"
	} 1 .. 1 + int rand 3;

	push @where, "resolution = '" . pick('1 s', '1 min', '60 s', '10 min', '00:10', '7 s') . "'" if rand() < 0.5;
	my $same = join ' AND ', map { s/(period_start|period_end|resolution)/coalesce($1)/gr } @where;
	is($server->sql("SELECT count(*), sum(sum_timer_wait) FROM pfs.load_history WHERE " . join ' AND ', @where),
		$server->sql("SELECT count(*), sum(sum_timer_wait) FROM pfs.load_history WHERE $same"), "condition $try: @where");
}
sub pick { return $_[ int rand @_ ]; }

# ---- periods that tell of a time ----

# Finest first: which one does a range get, and what for its end.
is($server->sql('TRUNCATE pfs.load_history; SELECT count(*) FROM pfs.load_history'), '0', 'TRUNCATE empties all');
%kept = ();
%under_way = ();
my $start = 6000;
my $sql = '';
$sql .= keep($start + $_, $start + $_ + 1, { key($kinds[0], 1) => [ 1, 1e12, 0 ] }) foreach 0 .. 1229;
$recorder->query($sql);
compare('after TRUNCATE');
sub periods
{
	my ($since, $till) = @_;
	return $server->sql('SELECT resolution, count(*), round(min(extract(epoch FROM period_start)) - 978307200, 3)::float8, '
		  . 'round(max(extract(epoch FROM period_end)) - 978307200, 3)::float8 FROM pfs_sys.load_periods('
		  . timestamp($since) . ', ' . timestamp($till) . ') GROUP BY 1 ORDER BY 1');
}
is(periods($start + 1200, $start + 1230), '00:00:01|30|7200|7230', 'seconds, where these cover it');
is(periods($start + 900, $start + 1230), "00:00:01|30|7200|7230\n00:01:00|5|6900|7200", 'minutes, and seconds for what has no minute yet');
is(periods($start, $start + 1230), "00:00:01|30|7200|7230\n00:10:00|2|6000|7200", 'ten minutes');
is(periods($start - 5000, $start + 660), '00:10:00|2|6000|7200', 'before all that there is');
is(periods($start + 10, $start + 10), '', 'no time');
is($server->sql('SELECT sum(active_sessions), count(*), min(cpu), max(cpu) FROM pfs_sys.load(' . timestamp($start) . ', ' . timestamp($start + 1230) . ", '10 min')"),
	'3.000|3|1.000|1.000', 'load() in buckets');
is($server->sql('SELECT count(*) BETWEEN 2 AND 60 FROM pfs_sys.load(' . timestamp($start + 1100) . ', ' . timestamp($start + 1230) . ')'), 't', 'load() by itself');
is($server->sql('SELECT * FROM pfs_sys.top_waits(' . timestamp($start) . ', ' . timestamp($start + 1230) . ')'),
	'FOREGROUND|CPU|cpu|1.000|100.0|1230|1230000000000000', 'top_waits()');
is($server->sql('SELECT * FROM pfs_sys.top_statements(' . timestamp($start) . ', ' . timestamp($start + 1230) . ')'),
	'postgres|postgres|1||1.000|100.0|1230|1230000000000000|cpu 100 %', 'top_statements()');
is($server->sql('SELECT * FROM pfs_sys.top_users(' . timestamp($start) . ', ' . timestamp($start + 1230) . ')'),
	'postgres|postgres|1.000|100.0|1230|1230000000000000|0.000', 'top_users()');
my $happened = $server->sql('SELECT pfs_sys.what_happened(' . timestamp($start) . ', ' . timestamp($start + 1230) . ')');
like($happened, qr/active sessions: 1\.00 on average, 1\.00 at the peak.*\n.*\n\n.*waits\n +1\.00 100\.0 %  cpu\n\n.*statements\n +1\.00 100\.0 %  query_id 1$/s, 'what_happened()');
# The same times as texts, one of them without a cast.
foreach my $call ("load(%s, %s, '10 min')", 'top_waits(%s, %s)', 'top_statements(%s, %s)', 'top_users(%s, %s)', 'what_happened(%s, %s)')
{
	my @times = (timestamp($start), timestamp($start + 1230));
	my $texts = $server->sql(sprintf "SELECT * FROM pfs_sys.$call", map { "($_)::text" } @times);

	cmp_ok(length($texts), '>', 20, "$call says something of times as texts");
	is($texts, $server->sql(sprintf "SELECT * FROM pfs_sys.$call", @times), 'and the same as of times');
	is($server->sql(sprintf "SELECT * FROM pfs_sys.$call", map { "'" . $server->sql("SELECT $_") . "'" } @times), $texts, 'also as psql users write them');
}
foreach (['0', '22008|22023'], ['-1 h', '22008|22023'], ['1 month', '0A000'])
{
	my ($bucket, $states) = @$_;
	my (undef, undef, $error) = $server->psql("\\set VERBOSITY verbose\nSELECT * FROM pfs_sys.load(" . timestamp($start) . ', ' . timestamp($start + 1230) . ", '$bucket')");
	like($error, qr/ERROR:  ($states)/, "a bucket of $bucket is refused");
}

# ---- TRUNCATE in the middle of a minute: what was before is in none ----

$recorder->query(keep($start + 1230, $start + 1231, { key($kinds[0], 1) => [ 1, 1e12, 0 ] }));
is($server->sql(q{SELECT pfs.reset('load_history') > 0}), 't', 'a reset says how many rows left');
%kept = ();
%under_way = ();
$recorder->query(keep($start + 1231, $start + 1232, { key($kinds[0], 2) => [ 1, 2e12, 0 ] }));
$recorder->query('SELECT load_end()');
end_of($_) foreach 60, 600;
compare('a reset in the middle');

# ---- a recorder that ends by itself ----

$recorder->query(keep($start + 1232, $start + 1233, { key($kinds[0], 3) => [ 1, 3e12, 0 ] }));
$recorder->close;
end_of($_) foreach 60, 600;
ok($server->poll(q{SELECT count(*) FROM pfs.load_history WHERE query_id = 3}, 3), 'the minute under way is kept when the recorder ends');
compare('a recorder that ends by itself');
$recorder = $server->session;

# ---- names that are gone, rights ----

$server->sql('CREATE DATABASE gone; CREATE ROLE gone; CREATE ROLE other LOGIN; GRANT pg_monitor TO other; CREATE ROLE reader LOGIN; GRANT USAGE ON SCHEMA pfs TO reader; GRANT SELECT ON pfs.load_history TO reader');
my ($gone_database, $gone_role, $reader) = split /\|/, $server->sql(q{SELECT (SELECT oid FROM pg_database WHERE datname = 'gone'), 'gone'::regrole::oid, 'reader'::regrole::oid});
$recorder->query('SELECT load_keep(' . timestamp(8000) . ', ' . timestamp(8001) . ", 1000000000000, false, ARRAY['FOREGROUND|CPU|cpu|$gone_database|$gone_role|11|1|100|0', 'FOREGROUND|CPU|cpu|$database|$reader|12|1|50|0'])");
$server->sql('DROP DATABASE gone; DROP ROLE gone');
my $look = q{SELECT database_name, user_name, query_id FROM pfs.load_history WHERE resolution = '1 s' AND period_start = } . timestamp(8000) . ' AND event_name IS NOT NULL ORDER BY sum_timer_wait DESC';
is($server->sql($look), "$gone_database|$gone_role|11\npostgres|reader|12", 'what was dropped has its number');
is($server->session(user => 'other')->query($look), "$gone_database|$gone_role|11\npostgres|reader|12", 'pg_monitor sees all');
is($server->session(user => 'reader')->query($look), "$gone_database|$gone_role|\npostgres|reader|12", 'others their own statements');

# ---- more lock waits than a period names ----

$recorder->query(keep(8500, 8501, { map { (key($kinds[3], $_) => [ 1, 1e12 - $_, 5e11 + $_ ]) } 1 .. 40 }, hole => 1));
like($server->sql('SELECT pfs_sys.what_happened(' . timestamp(8500) . ', ' . timestamp(8501) . ')'), qr/^ *500\.00 ms .* other Lock others$/m, 'the longest of the others has no name');

# ---- another interval: finer periods of before would hide what comes now ----

cmp_ok($server->sql(q{SELECT count(*) FROM pfs.load_history WHERE resolution = '1 s'}), '>', 0, 'there are seconds');
$server->sql('ALTER SYSTEM SET pfs.load_history_interval = 60');
$server->sql('SELECT pg_reload_conf()');
ok($server->poll('SHOW pfs.load_history_interval', '1min'), 'from now on minutes only');
sleep(0.02) until $recorder->query('SHOW pfs.load_history_interval') eq '1min';
$recorder->query('SELECT load_keep(' . timestamp(9000) . ', ' . timestamp(9060) . ", 60000000000000, false, ARRAY['FOREGROUND|CPU|cpu|$database|$user|1|1|100|0'])");
is($server->sql(q{SELECT count(*) FROM pfs.load_history WHERE resolution = '1 s'}), 0, 'seconds are gone');
is(periods(9000, 9060), '00:01:00|1|9000|9060', 'the minute is found');

done_testing();
