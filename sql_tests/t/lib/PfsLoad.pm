# PfsLoad.pm
#	  The load history against every single event: the long histories have all of them, and
#	  are put together here as the history should have them.
#
# Between two moments at which nothing but the session that asks is there, and that one is
# not instrumented, what the history has is all that has happened.
package PfsLoad;

use strict;
use warnings;

use Exporter 'import';
use Test::More;

our @EXPORT = qw(load_idle load_settle load_watch load_collect load_events load_compare load_compare_all load_no_losses);

# The end of the newest period behind a moment from which on no session of app was there.
sub load_idle
{
	my ($server) = @_;

	$server->poll("SELECT count(*) = 0 FROM pg_stat_activity WHERE usename = 'app'");
	my $since = $server->sql('SELECT clock_timestamp()');
	$server->poll("SELECT count(DISTINCT period_start) >= 2 FROM pfs.load_history WHERE resolution <= '1 s' AND period_start > '$since'");
	return $server->sql("SELECT max(period_end) FROM pfs.load_history WHERE resolution <= '1 s'");
}

# Computes for a while in a statement, whose processor time makes up for what the periods before have shown of it
# too early: a wait that a period ends in can be known only in the next one.
sub load_settle
{
	my ($server) = @_;
	my $session = $server->session(user => 'app');

	$session->query(q{DO $$ DECLARE till timestamptz := clock_timestamp() + interval '1.2 s';
		BEGIN WHILE clock_timestamp() < till LOOP END LOOP; END $$});
	$session->close;
}

# The long histories are too short for all that happens: from now on load_collect(), called often enough, keeps
# their events in tables of the asking session's own.
my %watched = (waits => [ 'seen_waits', 0 ], statements => [ 'seen_statements', 0 ]);

sub load_watch
{
	my ($server) = @_;

	foreach my $kind (sort keys %watched)
	{
		my ($table) = @{ $watched{$kind} };

		$server->sql("CREATE TEMP TABLE $table AS SELECT * FROM pfs.events_${kind}_history_long LIMIT 0;"
			  . " ALTER TABLE $table ADD PRIMARY KEY (thread_id, event_id)");
	}
}

# Events come into a history when they end, but for the moment between the reading of the clock and that.
sub load_collect
{
	my ($server) = @_;

	foreach my $kind (sort keys %watched)
	{
		my ($table, $since) = @{ $watched{$kind} };

		$watched{$kind}[1] = $server->sql('SELECT pfs.timer_now()') - 5e12;
		$server->sql("INSERT INTO $table SELECT * FROM pfs.events_${kind}_history_long WHERE timer_end >= $since ON CONFLICT DO NOTHING");
	}
}

# What happens in a span, from the events, into a table: waits with the statement that they are inside of, also
# where waits lie between, as one that an error has left and the LWLock that its handling waits for.  Another one
# gets the rows of the history.
sub load_events
{
	my ($server, $name, $begin, $end, %from) = @_;
	my $waits = $from{watched} ? 'seen_waits' : 'pfs.events_waits_history_long';
	my $statements = $from{watched} ? 'seen_statements' : 'pfs.events_statements_history_long';

	$server->sql(<<"EOT");
CREATE TABLE $name AS
WITH RECURSIVE ended AS MATERIALIZED (
	SELECT * FROM $statements WHERE pfs.timer_to_timestamp(timer_end) BETWEEN '$begin' AND '$end'
), waits AS MATERIALIZED (
	SELECT w.*, t.name IS NOT DISTINCT FROM 'thread/worker/pfs recorder' AS own
	FROM $waits w LEFT JOIN pfs.threads t USING (thread_id)
	WHERE pfs.timer_to_timestamp(timer_end) BETWEEN '$begin' AND '$end' AND event_name <> 'idle'
), outer_events AS (
	SELECT thread_id, event_id, nesting_event_type AS type, nesting_event_id AS id FROM waits
	UNION ALL
	SELECT o.thread_id, o.event_id, w.nesting_event_type, w.nesting_event_id
	FROM outer_events o JOIN waits w ON o.type = 'WAIT' AND w.thread_id = o.thread_id AND w.event_id = o.id
)
SELECT 'statement' AS kind, s.thread_id, s.event_id, 'cpu' AS event_name, s.timer_start, s.timer_end, s.timer_wait, s.query_id,
	NULL::boolean AS inside, s.nesting_event_type = 'STATEMENT' AS nested
FROM ended s
UNION ALL
SELECT 'wait', w.thread_id, w.event_id, w.event_name, w.timer_start, w.timer_end, w.timer_wait, s.query_id, s.event_id IS NOT NULL, false
FROM waits w
LEFT JOIN outer_events o ON o.thread_id = w.thread_id AND o.event_id = w.event_id AND o.type = 'STATEMENT'
LEFT JOIN ended s ON s.thread_id = o.thread_id AND s.event_id = o.id
WHERE NOT w.own
EOT
	$server->sql("CREATE TABLE ${name}_rows AS SELECT * FROM pfs.load_history WHERE resolution <= '1 s'"
		  . " AND period_start >= '$begin' AND period_end <= '$end'");
}

# Is the sum of some rows that of some events, but for a picosecond of rounding in each?
sub load_compare
{
	my ($server, $name, $rows, $events, $time, $what) = @_;
	my ($sum, $n, $expected, $m) = split /\|/, $server->sql("SELECT r.sum, r.n, e.sum, e.n FROM"
		  . " (SELECT coalesce(sum(sum_timer_wait), 0) AS sum, count(*) AS n FROM ${name}_rows WHERE $rows) r,"
		  . " (SELECT coalesce(sum($time), 0) AS sum, count(*) AS n FROM $name WHERE $events) e");

	# Both ends of an event are rounded, too.
	ok(abs($sum - $expected) <= $n + $m, $what) or diag("history: $sum in $n rows, $m events: $expected");
	return $expected;
}

my $waits_inside = "kind = 'wait' AND inside AND event_name NOT LIKE 'wait/io/table/%'";

# By wait_event_type, which the remainders of a period have, too.
my %types = (LWLock => 'wait/synch/lwlock/', Lock => 'wait/lock/', IO => 'wait/io/file/', Client => 'wait/io/socket/',
	IPC => 'wait/synch/ipc/', Timeout => 'wait/timeout/', BufferPin => 'wait/synch/bufferpin/', Spin => 'wait/synch/spinlock/');

sub load_compare_all
{
	my ($server, $name) = @_;

	foreach my $type (sort keys %types)
	{
		load_compare($server, $name, "type = 'FOREGROUND' AND wait_event_type = '$type'", "kind = 'wait' AND inside AND event_name LIKE '$types{$type}%'",
			'timer_wait', "$name: $type inside of statements");
		next if $type =~ /^(Client|Timeout)$/;
		load_compare($server, $name, "type = 'BACKGROUND' AND wait_event_type = '$type'",
			"kind = 'wait' AND NOT inside AND event_name LIKE '$types{$type}%'", 'timer_wait', "$name: $type outside of statements");
	}
	load_compare($server, $name, "type = 'FOREGROUND' AND wait_event_type = 'Idle in transaction'", "event_name = 'idle/transaction'", 'timer_wait',
		"$name: idle in transaction");
	load_compare($server, $name, "type = 'FOREGROUND' AND wait_event_type = 'CPU'", "(kind = 'statement' AND nested IS NOT TRUE) OR ($waits_inside)",
		"CASE kind WHEN 'statement' THEN timer_wait ELSE -timer_wait END", "$name: processor");
}

sub load_no_losses
{
	my ($server, $name) = @_;

	is($server->sql("SELECT string_agg(variable_name || ' ' || variable_value, ', ') FROM pfs.status WHERE variable_value <> '0'"
			  . " AND variable_name ~ '^pfs_(events_.*|load_history|load_texts|digest_texts|digest_waits)_lost\$'") // '', '', "$name: nothing was lost");
}

1;
