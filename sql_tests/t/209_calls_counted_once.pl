# Calls on files and sockets are counted by object and by name, and by thread and the levels above it.  Each side is
# truncated by itself; sessions end; files are removed; places are given to other files.  What happens is drawn at random,
# and a model says what each table has to have.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/lib";
use PfsModel;
use PfsServer;
use Test::More;

my $steps = 160;
my $files = 60;                                       # more than a process has places for

my $server = PfsServer->new('main', conf => 'autovacuum = off');
$server->start;
$server->sql('CREATE EXTENSION pfs; CREATE ROLE counted LOGIN; GRANT pg_read_server_files TO counted');
$server->sql('GRANT EXECUTE ON FUNCTION pg_stat_file(text, bool) TO counted');
# No call of anybody else is counted.
$server->sql("TRUNCATE pfs.setup_actors; INSERT INTO pfs.setup_actors (user_name) VALUES ('counted')");
$server->sql("UPDATE pfs.threads SET instrumented = 'NO'");
my ($status) = $server->psql("SELECT 'CREATE TABLE file_' || g || ' (a int)' FROM generate_series(1, $files) g \\gexec\n");

is($status, 0, "$files tables");
my @path = (undef, split /\n/, $server->sql("SELECT pg_relation_filepath('file_' || g) FROM generate_series(1, $files) g ORDER BY g"));

# What is counted: sends of the session, and looks at files.
my %event = (send => 'wait/io/socket/ClientWrite', stat => 'wait/io/file/DataFileStat');
my %store = (send => 'socket', stat => 'file');

my %level;                                            # { send, stat } of account, user, global
my %name;                                             # of all objects, by what is counted
my %histogram;                                        # likewise
my %of_file;                                          # stats, by number of the file

sub table_of
{
	my ($level) = @_;

	return 'pfs.events_waits_summary_' . ($level eq 'global' ? '' : 'by_') . "${level}_by_event_name";
}

sub idle { return $server->poll("SELECT state FROM pfs.socket_instances WHERE thread_id = $_[0]", 'IDLE'); }

# Of a session: send, stat, and socket: sends of its instance.
my $model = PfsModel->new($server, idle => \&idle, forget => \&forget_all);

sub forget_all
{
	$server->sql("TRUNCATE pfs.events_waits_summary_global_by_event_name, pfs.socket_summary_by_event_name, pfs.file_summary_by_event_name");
	@$_{qw(send stat socket)} = (0, 0, 0) for $model->each_thread;
	%level = map { $_ => { send => 0, stat => 0 } } qw(account user global);
	%name = %histogram = (send => 0, stat => 0);
	%of_file = ();
}

sub add
{
	my ($thread, $what, $n) = @_;

	$_->{$what} += $n for $model->of_thread($thread), \%name, \%histogram, values %level;
	$model->of_thread($thread)->{socket} += $n if $what eq 'send';
}

sub run
{
	my ($thread, $file, $n) = @_;
	my $queries = 1 + int(rand(3));

	$model->of_thread($thread)->{session}->query("SELECT count(pg_stat_file('$path[$file]', true)) FROM generate_series(1, $n)") for 1 .. $queries;
	idle($thread);
	add($thread, 'stat', $n * $queries);
	add($thread, 'send', $queries);
	$of_file{$file} += $n * $queries;
}

sub truncate_level
{
	my ($table) = @_;

	$server->sql('TRUNCATE ' . table_of($table));
	for my $emptied (@{ $PfsModel::emptied{$table} })
	{
		if ($emptied eq 'thread') { @$_{qw(send stat)} = (0, 0) for $model->each_thread; }
		else { $level{$emptied} = { send => 0, stat => 0 }; }
	}
	%histogram = (send => 0, stat => 0) if $table eq 'global';
}

sub truncate_instances
{
	my ($table) = @_;

	$server->sql("TRUNCATE pfs.$table");
	$_->{socket} = 0 for $model->each_thread;
	%of_file = ();
}

sub truncate_names
{
	my ($what) = @_;

	$server->sql("TRUNCATE pfs.$store{$what}_summary_by_event_name");
	$name{$what} = 0;
	if ($what eq 'send') { $_->{socket} = 0 for $model->each_thread; }
	else { %of_file = (); }
}

sub one { return $server->sql("SELECT coalesce(sum(count_star), 0), coalesce(sum(count_timed), 0) FROM $_[0]"); }

sub check
{
	my ($when) = @_;
	my @wrong;
	my $compare = sub {
		my ($of, $found, $expected) = @_;

		push @wrong, "$of: $found, not $expected" if $found ne $expected;
	};

	for my $what (sort keys %event)
	{
		my $event = "event_name = '$event{$what}'";

		for my $thread ($model->threads)
		{
			$compare->("$what of thread $thread", one(table_of('thread') . " WHERE thread_id = $thread AND $event"),
				join '|', ($model->of_thread($thread)->{$what}) x 2);
		}
		$compare->("$what of $_", one(table_of($_) . " WHERE user_name = 'counted' AND $event"), join '|', ($level{$_}{$what}) x 2)
			for qw(account user);
		$compare->("$what globally", one(table_of('global') . " WHERE $event"), join '|', ($level{global}{$what}) x 2);
		$compare->("$what by name", one("pfs.$store{$what}_summary_by_event_name WHERE $event"), join '|', ($name{$what}) x 2);
		$compare->("$what in the histogram",
			$server->sql("SELECT coalesce(sum(count_bucket), 0) FROM pfs.events_waits_histogram_global WHERE $event"), $histogram{$what});
	}
	for my $thread ($model->threads)
	{
		$compare->("socket of thread $thread", one(<<"EOT"), join '|', ($model->of_thread($thread)->{socket}) x 2);
pfs.socket_summary_by_instance s JOIN pfs.socket_instances i USING (object_instance_begin)
WHERE thread_id = $thread AND s.event_name = '$event{send}'
EOT
	}
	my %rows = map { split /\|/ }
		split /\n/, $server->sql("SELECT file_name, count_star FROM pfs.file_summary_by_instance WHERE event_name = '$event{stat}' AND count_star > 0");
	my %expected = map { $path[$_] => $of_file{$_} } keys %of_file;

	$compare->('files', join(' ', map { "$_:$rows{$_}" } sort keys %rows), join(' ', map { "$_:$expected{$_}" } sort keys %expected));
	is("@wrong", '', $when) or return 0;
	return 1;
}

$model->begin_session for 1 .. 3;
$model->go(
	$steps,
	\&check,
	[   60,
		sub {
			my $n = rand(20) < 1 ? 300 : 1 + int(rand(5));

			run(PfsModel::any($model->threads), 1 + int(rand($files)), $n);
			return "$n calls";
		}
	],
	[   18,
		sub {
			my $table = PfsModel::any(sort keys %PfsModel::emptied);

			truncate_level($table);
			return "TRUNCATE by $table";
		}
	],
	[   6,
		sub {
			my $table = PfsModel::any(qw(events_waits_summary_by_instance file_summary_by_instance socket_summary_by_instance));

			truncate_instances($table);
			return "TRUNCATE of $table";
		}
	],
	[   6,
		sub {
			my $of = PfsModel::any(sort keys %event);

			truncate_names($of);
			return "TRUNCATE of ${of}s by name";
		}
	],
	[   5,
		sub {
			# What processes have counted of it stays in the other tables.
			my $file = 1 + int(rand($files));

			$server->sql("DROP TABLE file_$file; CREATE TABLE file_$file (a int); CHECKPOINT");
			$path[$file] = $server->sql("SELECT pg_relation_filepath('file_$file')");
			delete $of_file{$file};
			return 'a file is removed';
		}
	]);

# ---- the shortest and the longest call of each table are of its own period, too ----

forget_all();
my ($thread) = $model->threads;
my $of = "event_name = '$event{stat}'";
my %tables = (                                        # and the TRUNCATE that each has to itself
	thread => [ table_of('thread') . " WHERE thread_id = $thread AND $of", sub { truncate_level('thread') } ],
	user => [ table_of('user') . " WHERE user_name = 'counted' AND $of", sub { truncate_level('user') } ],
	name => [ "pfs.file_summary_by_event_name WHERE $of", sub { truncate_names('stat') } ],
	file => [ "pfs.file_summary_by_instance WHERE file_name = '$path[1]' AND $of", sub { truncate_instances('file_summary_by_instance') } ]);
my %since = map { $_ => 0 } keys %tables;             # the last event before its truncation

for my $truncated (undef, qw(thread file user name))
{
	if (defined $truncated)
	{
		$tables{$truncated}[1]->();
		my @emptied = $truncated eq 'user' ? qw(user thread) : $truncated eq 'name' ? qw(name file) : $truncated;

		@since{@emptied} = ($server->sql("SELECT max(event_id) FROM pfs.events_waits_history_long WHERE thread_id = $thread AND $of")) x @emptied;
	}
	else { $server->sql('TRUNCATE pfs.events_waits_history_long'); }
	run($thread, 1, 20);
	for my $table (sort keys %tables)
	{
		my @found = split /\|/, $server->sql("SELECT count_star, min_timer_wait, max_timer_wait FROM $tables{$table}[0]");
		my @expected = split /\|/, $server->sql(<<"EOT");
SELECT count(*), min(timer_wait), max(timer_wait) FROM pfs.events_waits_history_long
WHERE thread_id = $thread AND event_id > $since{$table} AND $of
EOT

		# A time of an event is between two rounded ones.
		ok($found[0] == $expected[0] && abs($found[1] - $expected[1]) <= 1 && abs($found[2] - $expected[2]) <= 1,
			"by $table: its own calls, after " . (defined $truncated ? "TRUNCATE by $truncated" : 'none')) or diag("@found, not @expected");
	}
}

# ---- sessions that count while tables are truncated ----

my @busy = ($model->threads)[0, 1];
my ($rounds, $each, $enough) = (20, 10, 40);         # queries at a time, calls on each file of a query; resets

# Nothing else is counted: what a reset returns is all events of its table.
$server->sql("SELECT pfs.set_instruments('%', 'NO')");
$server->sql("SELECT pfs.set_instruments('$_', 'YES')") for values %event;
# Those of one round empty no other one of it, so that what they return adds up to all that was made.
my @by_name = qw(pfs.file_summary_by_event_name pfs.socket_summary_by_event_name);
for my $reset_tables ([ table_of('user'), @by_name ], [ table_of('global'), @by_name ], ['pfs.events_waits_summary_by_instance'])
{
	run($_, 1, 1) for $model->threads;                 # no other event is open
	forget_all();
	my $paths = join ', ', map { "('$_')" } @path[1 .. $files];
	my $query = "SELECT count(pg_stat_file(path, true)) FROM generate_series(1, $each), (VALUES $paths) f (path);\n";
	my %gone = map { $_ => 0 } @$reset_tables;
	my @drawn = (@$reset_tables, table_of('thread'), table_of('account'), @$reset_tables > 1 ? 'pfs.events_waits_summary_by_instance' : ());
	my $inexact = $server->inexact;
	my $queries = 0;

	for my $reset (1 .. $enough)
	{
		my $table = $drawn[ rand @drawn ];

		for my $session (map { $model->of_thread($_)->{session} } @busy)
		{
			next unless $session->is_done;
			$session->result;
			$session->send($query x $rounds);
			$queries += $rounds;
		}
		my $n = $server->sql("SELECT pfs.reset('$table')");

		$gone{$table} += $n if exists $gone{$table};
	}
	$model->of_thread($_)->{session}->result for @busy;
	idle($_) for @busy;

	my $calls = $queries * $each * $files;
	my %made = map { $_ => /file/ ? $calls : /socket/ ? $queries : $calls + $queries } @$reset_tables;

	# One that waits for a session without a processor may lose or double what that one is adding.
	$inexact = $server->inexact - $inexact;
	for my $table (sort keys %gone)
	{
		$gone{$table} += $server->sql("SELECT pfs.reset('$table')");
		cmp_ok(abs($gone{$table} - $made{$table}), '<=', 2 * $inexact, "$table: resets while sessions count have returned $gone{$table} of $made{$table} calls");
	}
}

done_testing();
