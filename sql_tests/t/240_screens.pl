# The program's screens as commands, over a situation whose answers are known; where nothing is there, is
# on or may be seen; and with texts that try to get out of the output.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/lib";
use Encode ();
use JSON::PP ();
use PfsReports;
use PfsServer;
use Test::More;

needs_program();
my @commands = qw(load sessions locks statements waits tables files memory);
my $server = PfsServer->new('main', conf => "autovacuum = off\npfs.load_history_interval = 0\nmax_prepared_transactions = 3");

$server->start;

# Rows of a command as hashes; the first argument may be program()'s options.
sub rows_of
{
	my $options = ref $_[0] eq 'HASH' ? shift : {};
	my ($there, @words) = @_;
	my ($status, $out, $err) = program($options, $there, @words, '--format', 'json');

	is($status, 0, "pfs @words") or diag($err);
	my $rows = JSON::PP->new->utf8->allow_bignum->decode($out);
	return ref $rows eq 'HASH' ? @{ $rows->{rows} } : @$rows;
}

# Where each command ends with 0 and says on standard error what matches.
sub all_commands
{
	my ($what, $expected, $options, $there, $message) = @_;

	foreach my $command (@commands)
	{
		my ($status, $out, $err) = program($options, $there, $command);

		is($status, $expected, "$what: pfs $command") or diag($err);
		like($err, $message, "$what: pfs $command says it") if $message;
		is($out, '', "$what: pfs $command has no output") if $expected;
	}
}

# ---- nothing there ----

all_commands('no extension', 2, {}, $server, qr/^pfs: extension pfs is not in database "postgres": run CREATE EXTENSION pfs/);
$server->sql('CREATE EXTENSION pfs');
all_commands('empty server', 0, {}, $server);
# A program ends before its session does.
$server->poll("SELECT count(*) FROM pfs.threads WHERE type = 'FOREGROUND'", 1) or die 'sessions are left';
foreach my $command (qw(sessions locks tables))
{
	my ($status, $out) = program($server, $command, '--format', 'csv');

	# The lasting session of this test is there.
	is($out =~ tr/\n//, $command eq 'sessions' ? 2 : 1, "$command: CSV of nothing is its heading");
}
like((program($server, 'tables'))[2], qr{^pfs: The instrument wait/io/table/handler is off: no row is counted; SELECT pfs\.set_instruments\('wait/io/table/handler', 'YES'\)}m, 'tables says which instrument it needs');
like((program($server, 'memory'))[2], qr{^pfs: All of memory/context/% is off: no such context is counted; SELECT pfs\.set_instruments\('memory/context/%', 'YES'\)}m, 'so does memory');

# ---- a situation ----

$server->sql(<<'EOT');
CREATE ROLE worker LOGIN;
CREATE ROLE mon LOGIN IN ROLE pg_monitor;
CREATE ROLE nobody LOGIN;
CREATE ROLE reader LOGIN;
GRANT USAGE ON SCHEMA pfs TO reader;
GRANT SELECT ON ALL TABLES IN SCHEMA pfs TO reader;
GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA pfs TO reader;
CREATE TABLE item (i int PRIMARY KEY, v int, w int UNIQUE);
CREATE INDEX item_v ON item (v);
INSERT INTO item SELECT g, g, g FROM generate_series(1, 10000) g;
GRANT ALL ON item TO worker;
SELECT pfs.set_instruments('memory/context/%', 'YES'), pfs.set_instruments('wait/io/table/handler', 'YES');
SELECT pfs.reset('events_statements_summary_by_digest'), pfs.reset('events_waits_summary_by_digest');
SET enable_indexscan = off; SET enable_bitmapscan = off; SELECT count(*) FROM item WHERE v = 5;
EOT

# Rows have not been counted all the time: nobody knows whether an index was used.
my %unknown = map { $_->{index} => $_->{note} } grep { defined $_->{index} } rows_of($server, qw(tables --filter item --limit 0));
is_deeply(\%unknown, { map { $_ => 'not known' } qw(item_pkey item_v item_w_key) }, 'an index that was not used since the instrument is on may have been before');
like((program($server, 'tables'))[2], qr/^pfs: It is not known which indexes nobody uses: rows of tables were not counted all the time since the last reset, .*; to begin anew: SELECT pfs\.reset/m, 'which is said');
$server->sql("SELECT pfs.reset('table_io_waits_summary_by_index_usage')");
my %s = map { $_ => $server->session(user => 'worker', name => $_) } qw(holder first second big busy);

# With memory for all rows: writing them to a file would be a wait.
$s{busy}->query("SET work_mem = '64MB'");
$s{busy}->query('SET enable_seqscan = off; SELECT v FROM item WHERE i = 5; INSERT INTO item VALUES (20000, 1, 20000); SELECT count(*) FROM generate_series(1, 10)');
$s{busy}->query('SELECT sum(sqrt(g)) FROM generate_series(1, 300000) g');
$s{big}->query("SET work_mem = '100MB'; BEGIN; DECLARE c CURSOR FOR SELECT repeat(g::text, 20) FROM generate_series(1, 60000) g ORDER BY 1; FETCH 1 FROM c");
$s{holder}->query('BEGIN; LOCK TABLE item IN SHARE ROW EXCLUSIVE MODE');
$s{first}->send('BEGIN; LOCK TABLE item IN SHARE MODE; COMMIT');
my $waits = "SELECT count(*) FROM pfs.events_waits_current WHERE event_name = 'wait/lock/relation'";
$server->poll($waits, 1) or die 'the first does not wait';
$s{second}->send('BEGIN; UPDATE item SET v = 0 WHERE i = 7; COMMIT');
$server->poll($waits, 2) or die 'the second does not wait';
# Clients have their results a moment before their statements have ended.
my $idle = "SELECT count(*) FROM pfs.events_waits_current JOIN pfs.threads USING (thread_id) WHERE event_name LIKE 'idle%' AND processlist_user = 'worker'";
$server->poll($idle, 3) or die 'the others are not idle';
# Longer than each of these took, and than a process may have no processor.
$s{busy}->query('SELECT pg_sleep(' . $server->sql("SELECT 1.5 + 2 * max(sum_timer_wait) / 1e12 FROM pfs.events_statements_summary_by_digest WHERE user_name = 'worker'") . ')');
$server->poll($idle, 3) or die 'who slept is not idle';
my %pid = map { $_ => $s{$_}->pid } keys %s;

# Asked as a superuser and as a member of pg_monitor.
foreach my $user (qw(postgres mon))
{
	my $as = { user => $user };
	my @rows = rows_of($as, $server, qw(statements --limit 0 --filter worker));
	my %by = map { $_->{statement} => $_ } @rows;

	is($rows[0]{statement}, 'SELECT pg_sleep($1)', "$user: the slowest statement");
	like($rows[0]{mostly}, qr{^timeout/PgSleep \d+ %$}, "$user: and what it waits for");
	like($by{'SELECT sum(sqrt(g)) FROM generate_series($1, $2) g'}{mostly}, qr/^cpu \d+ %$/, "$user: one that computes");
	is_deeply([ map { $_->{total} } @rows ], [ sort { $b <=> $a } map { $_->{total} } @rows ], "$user: sorted by time");

	@rows = rows_of($as, $server, 'locks');
	is_deeply([ map { [ @$_{qw(pid blocked_by application state)} ] } @rows ],
		[
			[ $pid{holder}, undef, 'holder', 'idle in t' ],
			[ $pid{first}, $pid{holder}, 'first', 'waits' ],
			[ $pid{second}, $pid{holder}, 'second', 'waits' ] ],
		"$user: who blocks whom");
	is_deeply([ @{ $rows[1] }{qw(waits_for object)} ], [ 'ShareLock', 'relation public.item' ], "$user: for what");

	my @own = map { $_->{own_memory} } rows_of($as, $server, qw(memory --limit 0));
	is(scalar(grep { !defined $_ || $_ < 100000 } @own), 0, "$user: the own memory of each process");
	is_deeply(\@own, [ sort { $b <=> $a } @own ], "$user: by which they are sorted");
	@rows = rows_of($as, $server, qw(memory --sort memory));
	is($rows[0]{pid}, $pid{big}, "$user: the session with the most memory");
	cmp_ok($rows[0]{memory}, '>', 1000000, "$user: which is much");
	cmp_ok($rows[0]{own_memory}, '>=', $rows[0]{memory}, "$user: and a part of the process's own");
	like((program($as, $server, 'memory'))[2], qr/^pfs: Memory of contexts is counted since \d\d:\d\d: what was allocated before is in own_memory alone\.$/m, "$user: since when it is counted");

	my %note = map { $_->{index} => $_->{note} } grep { defined $_->{index} } rows_of($as, $server, qw(tables --filter item --limit 0));
	is_deeply(\%note, { item_pkey => undef, item_v => 'unused', item_w_key => 'unused*' }, "$user: unused indexes");

	my %written = map { $_->{index} => $_->{written} } grep { defined $_->{index} } rows_of($as, $server, qw(tables --filter item --limit 0));
	is($written{item_v}, $server->sql(q{SELECT count_write FROM pfs.table_io_waits_summary_by_index_usage WHERE index_name = 'item_v'}), "$user: and what they cost");
	cmp_ok($written{item_v}, '>', 0, "$user: which is something");

	%by = map { $_->{pid} => $_ } rows_of($as, $server, qw(sessions --limit 0));
	is($by{ $pid{second} }{state}, 'lock/relation', "$user: a session that waits");
	is($by{ $pid{holder} }{state}, 'idle in transaction', "$user: one that does nothing in a transaction");
	is($by{ $pid{busy} }{state}, 'idle', "$user: one that is idle");
	cmp_ok($by{ $pid{big} }{memory}, '>', 1000000, "$user: memory of a session");

	my ($load) = grep { $_->{event} eq 'wait/lock/relation' } rows_of($as, $server, 'load', '--limit', 0);
	is_deeply([ @$load{qw(class active_sessions)} ], [ 'Lock', 2 ], "$user: the load of the moment");
	@rows = rows_of($as, $server, qw(waits --limit 0));
	is(scalar(grep { $_->{event} =~ m{^(idle|wait/activity/|wait/timeout/PgSleep)} } @rows), 0, "$user: waits for work are not among the waits");
	cmp_ok((grep { $_->{event} =~ m{^wait/io/file/wal}i } @rows)[0]->{total}, '>', 0, "$user: those for files are");
	cmp_ok((grep { $_->{kind} eq 'WAL' } rows_of($as, $server, qw(files --limit 0)))[0]->{writes}, '>', 0, "$user: files");
}

# The same load in a report, which counts it itself; and where older releases of the extension are.
my $sampled = report($server, '--seconds', 1)->{load};
is_deeply([ $sampled->{sampled} ? 1 : 0, grep { $_ =~ /^(Lock|Other)$/ } @{ $sampled->{types} } ], [ 1, 'Lock' ], 'a report counts by the same kinds of wait');
foreach my $version (qw(1.0 1.1))
{
	$server->sql("CREATE DATABASE \"$version\"");
	$server->session(db => $version)->query("CREATE EXTENSION pfs VERSION '$version'");
	my ($old) = grep { $_->{event} eq 'wait/lock/relation' } rows_of($server, 'load', '--limit', 0, $version);
	is_deeply([ @$old{qw(class active_sessions)} ], [ 'Lock', 2 ], "so does the load of the moment with extension $version");
}

# Sorted and cut by the server, the rows are those that the program would choose.
foreach my $by (qw(total +total calls share statement))
{
	my @all = rows_of($server, 'statements', '--limit', 0, '--sort', $by, '--filter', '');
	my ($status, $out, $err) = program($server, 'statements', '--limit', 2, '--sort', $by);

	is($status, 0, "--limit 2 --sort $by");
	cmp_ok($err =~ /^pfs: 2 of (\d+) rows; --limit 0 shows all$/m ? $1 : 0, '>=', scalar(@all), 'of all that there are');
}
$server->poll_idle($s{busy}->thread_id);
# But for what made the databases above.
my @first = grep { $_->{statement} !~ /^CREATE / } rows_of($server, qw(statements --limit 5 --sort total));
cmp_ok($first[0]{share}, '<', 1, 'the share of one row is that of all');
cmp_ok($first[0]{share}, '>', 0, 'and something');
is($first[0]{statement}, 'SELECT pg_sleep($1)', 'the first is the slowest');
like($first[0]{mostly}, qr{^timeout/PgSleep \d+ %$}, 'with what it waits for');

# Who may not see others' statements gets them as one row.
my @hidden = grep { $_->{user} eq 'worker' } rows_of({ user => 'reader' }, $server, qw(statements --limit 0));
is(scalar(@hidden), 1, 'statements that a role may not see are one row');
like($hidden[0]{statement}, qr/^\(\d+ that this role may not see\)$/, 'which says how many');
is((grep { $_->{pid} == $pid{second} } rows_of({ user => 'reader' }, $server, qw(sessions --limit 0)))[0]->{statement}, undef, 'nor what they execute');
all_commands('a role with few rights', 0, { user => 'reader' }, $server);
all_commands('no rights', 2, { user => 'nobody' }, $server, qr/^pfs: role "nobody" may not read pfs: GRANT pg_monitor TO "nobody"$/);
$server->sql('REVOKE SELECT ON pfs.events_waits_summary_global_by_event_name FROM pg_monitor, reader');
my @refused = map { (program({ user => $_ }, $server, 'waits'))[2] } qw(mon reader);
my $denied = qr/^pfs: permission denied for foreign table events_waits_summary_global_by_event_name/;
like($refused[0], qr/$denied\n\z/, 'who has pg_monitor is not told to get it');
like($refused[1], qr/$denied: GRANT pg_monitor TO "reader" may be what is missing\n\z/, 'but who has not');
$server->sql('GRANT SELECT ON pfs.events_waits_summary_global_by_event_name TO pg_monitor, reader');

# ---- options ----

my ($status, $out, $err) = program($server, qw(sessions --sort +pid --filter worker --limit 0 --format csv));
my @lines = split /\n/, $out;

is((split /,/, $lines[0])[1], 'pid', 'CSV has a heading');
my @pids = map { (split /,/)[1] } @lines[ 1 .. $#lines ];
is_deeply(\@pids, [ sort { $a <=> $b } @pids ], '--sort +pid: upwards');
($status, $out) = program($server, qw(sessions -s pid -F worker -n 0 -f csv));
is_deeply([ map { (split /,/)[1] } (split /\n/, $out)[ 1 .. @pids ] ], [ reverse @pids ], '-s pid: downwards');
($status, $out, $err) = program($server, qw(sessions --limit 2));
is($out =~ tr/\n//, 5, '--limit 2: two rows, with heading, line and count');
like($err, qr/^pfs: 2 of \d+ rows; --limit 0 shows all$/, 'and how many there are');
is_deeply([ map { $_->{pid} } rows_of($server, qw(sessions --filter SECOND)) ], [ $pid{second} ], '--filter, in any case of letters');
like((program($server, qw(sessions --filter no_such_text)))[2], qr/^pfs: None of \d+ rows has the text "no_such_text"\.$/, 'a filter that nothing passes');
is_deeply([ (program($server, 'waits', '--output', ''))[ 0, 1 ] ], [ 2, '' ], '--output without a name');
my $file = PfsServer::folder() . '/locks.json';
is((program($server, 'locks', '--format', 'json', '--output', $file))[0], 0, '--output');
# Nothing of it is left behind by a signal, whatever it is.
foreach my $signal ([ INT => 1 ], [ QUIT => 128 + 3 ])
{
	my ($name, $expected) = @$signal;
	my $lock = $server->session;

	$lock->query('BEGIN; TRUNCATE pfs.events_waits_summary_global_by_event_name');
	my $run = program_start($server, 'waits', '--output', "$file.$name");
	ok($server->poll("SELECT count(*) FROM pg_locks JOIN pg_stat_activity USING (pid) WHERE NOT granted AND application_name = 'pfs waits'", 1), 'its query waits');
	is(scalar(my @before = glob "$file.$name.*"), 1, 'a temporary file is there');
	$run->{handle}->signal($name);
	is((program_end($run))[0], $expected, "SIG$name ends it");
	is_deeply([ glob "$file.$name*" ], [], 'and removes the file');
	$lock->close;
}
is(JSON::PP->new->utf8->decode(slurp($file)) ? (stat $file)[2] & 0777 : 0, 0600, 'a file of mode 0600');
foreach my $wrong (
	[ qr/there is no column "nothing"; columns are: thread_id, pid, user, / => qw(sessions --sort nothing) ],
	[ qr/there is no column ""; columns are: / => qw(load --sort +) ],
	[ qr/option --limit takes a number from 0 to 1000000, not "-1"/ => qw(locks --limit -1) ],
	[ qr/option --limit takes a whole number from 0 to 1000000, not "1\.5"/ => qw(locks --limit 1.5) ],
	[ qr/option --seconds takes a number from 1 to 86400, not "0"/ => qw(statements --seconds 0) ],
	[ qr/option --seconds takes a number from 1 to 86400, not "many"/ => qw(waits --seconds many) ],
	[ qr/there is no option --seconds/ => qw(locks --seconds 1) ],
	[ qr/option --format takes table, csv, spreadsheet or json, not "xml"/ => qw(files --format xml) ],
	[ qr/option --sort needs a value/ => qw(memory --sort) ],
	[ qr/unexpected argument "more" \(try "pfs tables --help"\)/ => qw(tables postgres postgres more) ])
{
	my ($message, @words) = @$wrong;

	($status, $out, $err) = program($server, @words);
	is("$status|$out", '2|', "pfs @words: status 2");
	like($err, qr/^pfs: $message.*\n\z/, 'and one line that says why');
}

# What is quoted is cut.
foreach my $words ([ 'x' x 100000 ], [ 'load', '--' . 'x' x 100000 ], [ 'load', '--limit', 'x' x 100000 ], [ 'load', '--sort', 'x' x 100000 ], [ 'files', '--format', 'x' x 100000 ],
	[ 'waits', '--filter', 'x' x 100000 ], [ 'waits', '--output', 'x' x 100000 ], [ 'load', '--dbname', 'x' x 100000 ], [ 'load', 'a', 'b', 'x' x 100000 ],
	[ 'report', 'x' x 100000, 'b' ], [ 'report', '--since', 'x' x 100000 ], [ 'trace', '--since', 'x' x 100000 ], [ 'metrics', '--listen', 'x' x 100000 ])
{
	($status, $out, $err) = program($server, @$words);
	cmp_ok(length($err), '<', 1200, join(' ', 'pfs', map { substr $_, 0, 10 } @$words) . ': its message is short');
	isnt($err, '', 'and there is one');
}

# ---- as psql takes a command line ----

my $uri = "postgresql:///postgres?host=$server->{host}&port=$server->{port}";

foreach my $words ([qw(--limit 1 waits)], [qw(-n 1 waits)], [qw(waits -n 1)], [qw(-n1 waits postgres)], [qw(waits postgres postgres -n 1)], [qw(postgres waits --limit=1)],
	[ $uri, qw(waits -n 1) ], [ 'waits', $uri, '-n', '1' ], [ '-n', '1', 'waits', $uri ], [ 'waits', "host=$server->{host} port=$server->{port}", '-n', '1' ])
{
	($status, $out, $err) = program($server, @$words);
	is("$status|" . ($out =~ /^\(1 row\)$/m), '0|1', "pfs @$words") or diag("$out$err");
}
foreach my $wrong (
	[ qr/pfs top needs a terminal/ => $uri ],
	[ qr/the database is named twice/ => $uri, qw(waits -d postgres) ],
	[ qr/unexpected argument "other"/ => qw(waits -d postgres other) ],
	[ qr/FATAL: .*"nosuch"/ => qw(waits nosuch) ],
	[ qr/role "nobody" may not read pfs/ => qw(waits postgres nobody) ],
	[ qr/name a command/ => qw(--dbname waits) ],
	[ qr/there is no option --nothing \(try "pfs waits --help"\)/ => qw(--nothing waits) ],
	[ qr/there is no option --nothing \(try "pfs --help"\)/ => qw(--nothing) ],
	[ qr/there is no command "nothing"/ => qw(nothing) ])
{
	my ($message, @words) = @$wrong;

	($status, $out, $err) = program($server, @words);
	is("$status|$out", '2|', "pfs @words: status 2");
	like($err, qr/^pfs: (?:.* )?$message/, 'and why');
}
like((program($server, @$_))[1], qr/^Usage:\n  pfs COMMAND /m, "pfs @$_: help") foreach ['--help'], [qw(-h nowhere --help)];
like((program($server, @$_))[1], qr/^Usage:\n  pfs load /m, "pfs @$_: help of the command") foreach [qw(load --help)], [qw(--help load)], [qw(-h nowhere load --help)];

# An output that is closed is not where the server listens.
my $shell = qq{PGHOST=$server->{host} PGPORT=$server->{port} PGUSER=postgres PGDATABASE=postgres } . PfsServer::bindir() . '/pfs waits';
like(`$shell 2>&1 >&-; echo \$?`, qr/^pfs: cannot write to standard output: Bad file descriptor\n1\n\z/, 'without standard output');
like(`$shell <&- 2>&-; echo \$?`, qr/^ *event +\|.*\n(?:.*\n)+0\n\z/, 'without the others');

# What happens in some seconds, not what was before.
$s{busy}->query('SELECT count(*) FROM (SELECT pg_sleep(0.05)) x');
$server->poll_idle($s{busy}->thread_id) or die 'the session is not idle';
$s{busy}->send('SELECT count(*) FROM (SELECT pg_sleep(0.05)) x; ' x 2000);
my %now = map { $_->{statement} => $_ } rows_of($server, qw(statements --seconds 3 --filter worker --limit 0));
my %all = map { $_->{statement} => $_ } rows_of($server, qw(statements --filter worker --limit 0));
my $repeated = 'SELECT count(*) FROM (SELECT pg_sleep($1)) x';
is($now{'SELECT pg_sleep($1)'}, undef, '--seconds: no statement that ended before');
ok($now{$repeated} && $now{$repeated}{calls} > 0, 'but those that end');
cmp_ok($now{$repeated}{calls}, '<', $all{$repeated}{calls}, 'and only those');
like($now{$repeated}{mostly}, qr{^timeout/PgSleep }, 'with what they wait for in this time');
$s{busy}->kill;
$s{holder}->query('COMMIT');
$_->result foreach @s{qw(first second)};

# ---- prepared transactions ----

$server->sql("BEGIN; LOCK TABLE item IN SHARE MODE; PREPARE TRANSACTION 'a''1'; BEGIN; LOCK TABLE item IN SHARE MODE; PREPARE TRANSACTION 'b'");
$server->sql("BEGIN; LOCK TABLE item IN ACCESS SHARE MODE; PREPARE TRANSACTION 'harmless'");
$s{first}->send('BEGIN; LOCK TABLE item IN ROW EXCLUSIVE MODE; COMMIT');
$server->poll($waits, 1) or die 'the first does not wait';
my @prepared = rows_of($server, qw(locks));
is_deeply([ sort map { join('|', map { $_ // '' } @$_{qw(tree pid gid user state statement terminate_command)}) } grep { defined $_->{gid} } @prepared ],
	[ "prepared|0|a'1|postgres|prepared|PREPARE TRANSACTION 'a''1'|ROLLBACK PREPARED 'a''1';", "prepared|0|b|postgres|prepared|PREPARE TRANSACTION 'b'|ROLLBACK PREPARED 'b';" ],
	'each prepared transaction that blocks has a row');
is(scalar(grep { $_->{since} <= 0 } grep { defined $_->{gid} } @prepared), 0, 'with the time since it was prepared');
my ($behind) = grep { $_->{pid} == $pid{first} } @prepared;
like($behind->{blocked_by_gid}, qr/^(a'1|b)$/, 'who waits is below one of them');
$server->sql("ROLLBACK PREPARED 'b'");
$server->sql("ROLLBACK PREPARED 'a''1'");
$s{first}->result;
$server->sql("COMMIT PREPARED 'harmless'");

# ---- load from the history ----

like((program($server, 'load'))[2], qr/^pfs: this server keeps no load history; this is the load of the moment\n/, 'load without a history says so');
SKIP:
{
	skip('this server keeps no load history', 6) unless $server->sql("SELECT count(*) FROM pg_settings WHERE name = 'pfs.load_history_interval'");
	$server->sql("ALTER SYSTEM SET pfs.load_history_interval = '1s'");
	$server->sql('SELECT pg_reload_conf()');
	# Waits for a row, as those for a table come before the statement's shape is known.
	$s{holder}->query('BEGIN; UPDATE item SET v = 0 WHERE i = 8');
	$s{first}->send('UPDATE item SET v = 1 WHERE i = 8');
	ok($server->poll("SELECT count(*) > 2 FROM pfs.load_history WHERE event_name = 'wait/lock/transactionid' AND resolution = '1 s'", 't'), 'the history has a wait');
	$s{holder}->query('COMMIT');
	$s{first}->result;
	($status, $out, $err) = program($server, qw(load --seconds 600 --limit 0 --format json));
	is("$status|$err", '0|', 'load from the history');
	my ($past) = grep { $_->{event} eq 'wait/lock/transactionid' } @{ JSON::PP->new->utf8->allow_bignum->decode($out) };
	is_deeply([ @$past{qw(class mostly_in)} ], [ 'Lock', 'UPDATE item SET v = $1 WHERE i = $2' ], 'it has waits that are over, and the statement');
	cmp_ok($past->{time}, '>', 1e12, 'with their time');
	# One whom the history is refused is told so, and not that there is none.
	($status, $out, $err) = program({ user => 'reader' }, $server, 'load');
	is("$status|$out", '2|', 'a role without the right to the history gets no other load');
	like($err, qr/^pfs: permission denied for schema pfs_sys: GRANT pg_monitor TO "reader"/, 'and is told why');
}

# ---- rare waits ----

my $seldom = program_start($server, qw(waits --seconds 4 --limit 0 --format json));
ok($server->poll("SELECT count(*) FROM pg_stat_activity WHERE application_name = 'pfs waits' AND state = 'idle' AND query LIKE '%events_waits_summary_global%'", 1), 'the first reading is taken');
# The second one comes behind all of this.
$seldom->{handle}->signal('STOP');
$server->sql('CHECKPOINT');
$seldom->{handle}->signal('CONT');
my @seldom = grep { $_->{count} == 1 } @{ JSON::PP->new->utf8->allow_bignum->decode((program_end($seldom))[1]) };
ok(scalar(@seldom), 'waits of which there is one in some seconds');
is(scalar(grep { $_->{per_second} < 0.01 || $_->{per_second} > 0.25 } @seldom), 0, 'are a part of one in a second');

# ---- waits that are counted ----

$server->sql("UPDATE pfs.setup_instruments SET timed = 'NO' WHERE name LIKE 'wait/io/file/%'");
# One that has begun with its time ends with it.
$server->poll("SELECT count(*) FROM pfs.events_waits_current WHERE event_name LIKE 'wait/io/file/%' AND timer_start IS NOT NULL", 0) or die 'a call on a file goes on';
$server->sql('SELECT pfs.reset()');
$server->sql('UPDATE item SET v = i; CHECKPOINT');
my ($untimed) = grep { $_->{event} eq 'wait/io/file/WALWrite' } rows_of($server, qw(waits --limit 0));
ok($untimed && $untimed->{count} > 0, 'waits that are not timed');
is($untimed->{average}, undef, 'have no average');
$server->sql("UPDATE pfs.setup_instruments SET timed = 'YES' WHERE name LIKE 'wait/io/file/%'");

# ---- planted texts ----

my $planted = qq{<script>alert("x")</script>'\e[2J\e]0;title\a} . qq{\n\r\t} . "\x{202e}=cmd()";
my $victim = $server->session(user => 'worker', name => q{<script>"evil"});

my $bytes = Encode::encode('UTF-8', $planted =~ s/"/""/gr);
my $comment = '/* ' . Encode::encode('UTF-8', $planted) . ' */';

$server->sql(qq{CREATE SCHEMA "$bytes"; CREATE TABLE "$bytes"."$bytes" (i int); CREATE INDEX "i$bytes" ON "$bytes"."$bytes" (i);}
	  . qq{ GRANT USAGE ON SCHEMA "$bytes" TO worker; GRANT ALL ON "$bytes"."$bytes" TO worker; INSERT INTO "$bytes"."$bytes" VALUES (1)});
$s{holder}->query(qq{BEGIN; LOCK TABLE "$bytes"."$bytes" IN SHARE MODE});
$victim->query(qq{SELECT $comment count(*) FROM "$bytes"."$bytes"});
$victim->send(qq{BEGIN; LOCK $comment TABLE "$bytes"."$bytes"; COMMIT});
$server->poll($waits, 1) or die 'nobody waits';
my %where = (
	sessions => [ 'statement', 'application' ], locks => [ 'object', 'statement' ], statements => ['statement'],
	tables => [ 'schema', 'table', 'index' ], files => [ 'schema', 'name' ], memory => ['statement']);

foreach my $command (@commands)
{
	foreach my $format (qw(table csv json))
	{
		($status, $out, $err) = program($server, $command, '--limit', 0, '--format', $format);
		is($status, 0, "planted texts: pfs $command --format $format");
		my $text = Encode::decode('UTF-8', $out, Encode::FB_CROAK);

		# A line end within quotes of CSV is the reader's.
		my $allowed = $format eq 'csv' ? qr/[\n\r\t]/ : qr/\n/;
		unlike($text =~ s/$allowed//gr, qr/[\x00-\x1f\x7f-\x9f]/, 'no control character');
		unlike($text, qr/\x{202e}/, 'nor one that changes the direction of text') unless $format eq 'json';
		unlike($text, qr/<script/i, 'nor the begin of a script') if $format eq 'json';
		next unless $where{$command};
		# It is there, so that the above was a look at something.
		like($text, $format eq 'json' ? qr/alert\(\\"x\\"\)/ : $format eq 'csv' ? qr/alert\(""x""\)/ : qr/alert\("x"\)/, 'what was planted is there');
	}
	next unless $where{$command};
	my @rows = rows_of($server, $command, '--limit', 0);

	foreach my $column (@{ $where{$command} })
	{
		my $wanted = $column eq 'application' ? '<script>"evil"' : substr($planted, 0, 30);

		ok(scalar(grep { defined $_->{$column} && index($_->{$column}, $wanted) >= 0 } @rows), "$command: JSON has $column as it was planted");
	}
}
$s{holder}->query('COMMIT');
$victim->result;
# A spreadsheet computes what begins so, whoever wrote it.
$victim->query(q{SET application_name = '=HYPERLINK("http://x","y")'});
like((program($server, qw(sessions --limit 0 --format spreadsheet)))[1], qr/,"'=HYPERLINK\(""http:/, 'for a spreadsheet a formula is a text');
like((program($server, qw(sessions --limit 0 --format csv)))[1], qr/,"=HYPERLINK\(""http:/, 'in CSV it is what it is');

# ---- a restart ----

# What the server has counted since is not what happened in the time.
my $watch = program_start($server, qw(waits --seconds 5));
ok($server->poll("SELECT count(*) FROM pg_stat_activity WHERE application_name = 'pfs waits' AND state = 'idle' AND query LIKE '%events_waits_summary_global%'", 1), 'the first reading is taken');
# However long the restart takes, the second one comes behind it.
$watch->{handle}->signal('STOP');
$server->restart;
$watch->{handle}->signal('CONT');
($status, $out, $err) = program_end($watch);
is("$status|$out", '1|', 'a restart between two readings');
like($err, qr/^pfs: the server was restarted, or one of its processes crashed, meanwhile: .*\n\z/, 'is said');

# ---- everything off ----

my $backup = PfsServer::folder() . '/backup';
PfsServer::run_ok(PfsServer::bindir() . '/pg_basebackup', '-d', $server->connstr, '-D', $backup, '-R', '-c', 'fast', '--no-sync');
$server->sql("SELECT pfs.set_instruments('%', 'NO'), pfs.set_consumers('%', 'NO')");
all_commands('everything off', 0, {}, $server, qr/^pfs: RECORDING IS OFF: the consumer global_instrumentation is off, .*; SELECT pfs\.set_consumers\('global_instrumentation', 'YES'\) switches it on\.$/m);

# Each screen says what its own source lacks, and nothing of others.
my %lacks = (
	"pfs.set_consumers('statements_digest', 'NO')" => [ qr/^pfs: The consumer statements_digest is off: /m, qw(statements load) ],
	"pfs.set_consumers('events_waits_current', 'NO')" => [ qr/^pfs: The consumer events_waits_current is off: /m, qw(sessions locks) ],
	"pfs.set_consumers('events_statements_current', 'NO')" => [ qr/^pfs: The consumer events_statements_current is off: how long a statement runs/m, qw(sessions) ],
	"pfs.set_instruments('wait/lock/%', 'NO')" => [ qr{^pfs: All of wait/lock/% is off: who waits}m, qw(locks) ],
	"pfs.set_instruments('wait/io/file/WAL%', 'NO')" => [ qr{^pfs: \d+ of \d+ of wait/io/file/% are off: such calls are not counted; }m, qw(files) ],
	"pfs.set_instruments('wait/io/file/WAL%', timed => 'NO')" => [ qr{^pfs: \d+ of \d+ of wait/io/file/% are not timed: their time is not known; }m, qw(files) ],
	"pfs.set_instruments('wait/io/table/handler', 'NO')" => [ qr{^pfs: The instrument wait/io/table/handler is off: }m, qw(tables) ]);
my $memory_since = "SELECT variable_value FROM pfs.status WHERE variable_name = 'pfs_memory_since'";
my $all_on = "SELECT pfs.set_consumers('%', 'YES'), pfs.set_instruments('%', 'YES', 'YES')";

foreach my $switch (sort keys %lacks)
{
	my ($message, @where) = @{ $lacks{$switch} };

	$server->sql($all_on);
	$server->sql("SELECT $switch");
	foreach my $command (@commands)
	{
		my $err = (program($server, $command))[2];
		my $said = (grep { $_ eq $command } @where) ? 1 : 0;

		is($err =~ $message ? 1 : 0, $said, "$switch: pfs $command " . ($said ? 'says it' : 'says nothing of it')) or diag($err);
	}
}
$server->sql($all_on);
unlike((program($server, 'sessions'))[2], qr/ off/, 'with everything on nothing is said');
my $since = $server->sql($memory_since);
like($since, qr/^\d{4}-/, 'since when memory is counted');
$server->sql("SELECT pfs.set_instruments('memory/context/ExprContext', 'NO')");
is($server->sql($memory_since), $since, 'that of contexts that are still on is counted since then');
$server->sql("SELECT pfs.set_instruments('memory/context/ExprContext', 'YES')");
is($server->sql("SELECT variable_value::timestamptz > '$since' FROM pfs.status WHERE variable_name = 'pfs_memory_since'"), 't', 'that of all of them since the last was switched on');
$server->sql("SELECT pfs.set_instruments('memory/%', 'NO')");
is($server->sql($memory_since), '', 'of none, nothing');
$server->sql("SELECT pfs.set_consumers('%', 'NO')");

# ---- a standby ----

my $standby = PfsServer->new('standby', from => $backup);
$standby->start;
all_commands('standby', 0, { user => 'mon' }, $standby);
cmp_ok(scalar(rows_of($standby, qw(waits --limit 0))), '>', 0, 'it has waits of its own');

# ---- the library is not there ----

$standby->stop;
$standby->conf("shared_preload_libraries = ''");
$standby->start;
all_commands('library not loaded', 2, { user => 'mon' }, $standby, qr/^pfs: .*shared_preload_libraries/);
$standby->stop;
all_commands('no server', 2, {}, $standby, qr/^pfs: .*(No such file|refused)/);

done_testing();
