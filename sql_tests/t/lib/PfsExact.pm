# PfsExact.pm
#	  Which statements a session has executed, and whether all that is counted of them agrees.
#
#	my $exact = PfsExact->new($server, $thread);
#	$exact->begin;						# forget what was before
#	... statements of that session ...
#	is($exact->seen, '...', 'what');	# those since it was asked last
#	is($exact->disagreements, '', 'what');	# all since begin()
#
# Digests are compared by their query identifiers, so nobody else may execute the same meanwhile.
package PfsExact;

use strict;
use warnings;

sub new
{
	my ($class, $server, $thread) = @_;

	return bless { server => $server, thread => $thread, last => 0, ours => "FROM pfs.events_statements_history_long WHERE thread_id = $thread" }, $class;
}

sub begin
{
	my ($self) = @_;

	$self->skip;
	$self->{server}->sql('TRUNCATE pfs.events_statements_history_long, pfs.events_transactions_history_long, pfs.events_statements_summary_by_thread_by_event_name,
		pfs.events_statements_summary_by_digest, pfs.events_errors_summary_by_thread_by_error');
}

# What was executed so far is none that seen() returns.
sub skip
{
	my ($self) = @_;

	$self->{server}->poll_idle($self->{thread});
	$self->{last} = $self->{server}->sql("SELECT greatest(max(end_event_id), $self->{last}) $self->{ours}");
}

# What the session has done: a line for each statement in order of their begin, with its name, errors, the state with which
# it has failed, rows sent and affected, and text, indented as it is nested; how its transactions have ended; and what is
# open, where it is idle.
sub seen
{
	my ($self) = @_;
	my $since = "thread_id = $self->{thread} AND event_id > $self->{last}";
	my $open = "thread_id = $self->{thread} AND timer_end IS NULL";

	$self->{server}->poll_idle($self->{thread});
	my ($last, $seen) = split /\|/, $self->{server}->sql("SELECT max(end_event_id), string_agg(format('%s%s e%s%s s%s a%s: %s', repeat('  ', nesting_event_level),
		replace(event_name, 'statement/', ''), errors, ' ' || returned_sqlstate, rows_sent, rows_affected, coalesce(sql_text, '-')), chr(10) ORDER BY event_id) || chr(10) ||
		(SELECT coalesce(string_agg(state, ', ' ORDER BY event_id), '') FROM pfs.events_transactions_history_long WHERE $since) ||
		(SELECT coalesce(string_agg(chr(10) || 'open: ' || event_name, ''), '') FROM (SELECT event_name FROM pfs.events_statements_current WHERE thread_id = $self->{thread}
			UNION ALL SELECT event_name FROM pfs.events_stages_current WHERE $open UNION ALL SELECT event_name FROM pfs.events_transactions_current WHERE $open
			UNION ALL SELECT event_name FROM pfs.events_waits_current WHERE $open AND event_name <> 'idle') o)
		FROM pfs.events_statements_history_long WHERE $since"), 2;

	$self->{last} = $last if $last ne '';
	return $seen;
}

# What does not agree; '': all does.
sub disagreements
{
	my ($self) = @_;
	my $thread = $self->{thread};
	my %queries = (
		# One that was only parsed, bound or planned is no execution; a fetch adds its rows.
		digests => <<"EOT",
WITH h AS (SELECT coalesce(query_id, 0) AS id, count(*) FILTER (WHERE event_name <> 'statement/com/fetch') AS n, sum(errors)::numeric AS errors, sum(rows_sent)::numeric AS sent,
	sum(rows_affected)::numeric AS affected $self->{ours} AND (errors > 0 OR event_name !~ '^statement/com/(parse|bind)') GROUP BY 1),
	d AS (SELECT query_id AS id, count_star AS n, sum_errors AS errors, sum_rows_sent AS sent, sum_rows_affected AS affected FROM pfs.events_statements_summary_by_digest
		WHERE query_id IN (SELECT id FROM h))
SELECT string_agg(format('%s: events %s, digest %s', id, h, d), ', ') FROM (SELECT * FROM h WHERE id <> 0) h FULL JOIN d USING (id) WHERE (h.n, h.errors, h.sent, h.affected) IS DISTINCT FROM (d.n, d.errors, d.sent, d.affected)
EOT
		threads => <<"EOT",
WITH h AS (SELECT event_name, count(*) AS n, sum(errors)::numeric AS errors, sum(rows_sent)::numeric AS sent, sum(rows_affected)::numeric AS affected $self->{ours} GROUP BY 1),
	s AS (SELECT event_name, count_star AS n, sum_errors AS errors, sum_rows_sent AS sent, sum_rows_affected AS affected FROM pfs.events_statements_summary_by_thread_by_event_name
		WHERE thread_id = $thread AND count_star > 0)
SELECT string_agg(format('%s: events %s, sums %s', event_name, h, s), ', ') FROM h FULL JOIN s USING (event_name) WHERE (h.n, h.errors, h.sent, h.affected) IS DISTINCT FROM (s.n, s.errors, s.sent, s.affected)
EOT
		nesting => <<"EOT",
SELECT string_agg(e.event_id::text, ', ') FROM (SELECT * $self->{ours}) e LEFT JOIN (SELECT * $self->{ours}) o ON o.event_id = e.nesting_event_id
WHERE e.end_event_id < e.event_id OR e.timer_end < e.timer_start
	OR CASE WHEN e.nesting_event_level > 0 THEN o.nesting_event_level IS DISTINCT FROM e.nesting_event_level - 1 OR e.timer_start < o.timer_start OR e.event_id < o.event_id
		OR e.end_event_id > o.end_event_id OR e.timer_end > o.timer_end ELSE e.nesting_event_type = 'STATEMENT' END
EOT
		'event ids' => "SELECT string_agg(event_id::text, ', ') FROM (SELECT event_id $self->{ours} GROUP BY 1 HAVING count(*) > 1) e",
	);

	$self->{server}->poll_idle($thread);
	my $all = join(' UNION ALL ', map { "SELECT '$_' AS what, ($queries{$_}) AS problem" } sort keys %queries);

	return $self->{server}->sql("SELECT coalesce(string_agg(what || ': ' || problem, chr(10)), '') FROM ($all) p");
}

# Errors of a state: how many were raised, and how many handled.
sub errors
{
	my ($self, $state) = @_;

	return $self->{server}->sql("SELECT coalesce(sum(sum_error_raised), 0) || '|' || coalesce(sum(sum_error_handled), 0) FROM pfs.events_errors_summary_by_thread_by_error
		WHERE thread_id = $self->{thread} AND sql_state = '$state'");
}

1;
