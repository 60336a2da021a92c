# PfsServer.pm
#	  Private servers and their sessions, for the TAP tests.
#
# Small on purpose: what PostgreSQL's own test modules offer differs between
# the versions that we test.  The programs of the server come from PATH.  A test
# that root starts runs itself again as user postgres.
#
#	my $server = PfsServer->new('main', conf => "max_connections = 20");
#	$server->start;
#	$server->sql('CREATE EXTENSION pfs');		# through one lasting session
#	my $s = $server->session;					# a psql of its own
#	$s->send("SELECT pg_sleep(1)");				# does not wait
#	is($s->result, '', 'slept');				# waits
#	$server->poll("SELECT ...", 't');			# until it says so
#
# Every server is stopped and removed when the test ends; if it failed, the end
# of each log is shown.
package PfsServer;

use strict;
use warnings;

use Cwd ();
use Exporter 'import';
use File::Basename qw(basename);
use File::Copy ();
use File::Path qw(make_path remove_tree);
use File::Temp ();
use IO::Socket::INET ();
use IPC::Run ();
use parent 'PfsBuild';
use PfsModules;
use PfsNumbers;
use PfsSession;
use POSIX qw(:sys_wait_h);
use Test::More;
use Time::HiRes qw(sleep time);

our @EXPORT = qw(run_ok compile slow_reads test_module test_functions between near as_long_as known_to_fail);

our $timeout = $ENV{PG_TEST_TIMEOUT_DEFAULT} || 180;

my $postmaster = $$;			# of this script; forked children clean up nothing
my $top;						# folder of all servers
my $sockets;
my %servers;
my $next_port = 5432;

# The server refuses to run as root.
BEGIN
{
	if ($> == 0)
	{
		my $script = Cwd::abs_path($0);

		delete $ENV{$_} foreach qw(TESTDIR TESTDATADIR TESTLOGDIR);
		$ENV{PERL5LIB} = join(':', map { Cwd::abs_path($_) // $_ } grep { !ref } @INC);
		chdir '/';
		exec 'runuser', '-u', $ENV{PFS_USER} // 'postgres', '--', $^X, ($^C ? '-c' : ()), $script, @ARGV
		  or die "runuser: $!";
	}
	delete $ENV{$_}
	  foreach qw(PGHOST PGPORT PGUSER PGDATABASE PGOPTIONS PGSERVICE PGSSLMODE PGAPPNAME LD_PRELOAD);
	$ENV{PSQLRC} = '/dev/null';
	$ENV{LC_ALL} = 'C';
	$ENV{PGTZ} = 'UTC';
	$ENV{PGCONNECT_TIMEOUT} = 30;
	$SIG{PIPE} = 'IGNORE';
}

# ---- helpers without a server ----

sub folder
{
	if (!defined $top)
	{
		$top = defined $ENV{TESTDATADIR}
		  ? "$ENV{TESTDATADIR}/t_" . basename($0, '.pl') . "_$$"
		  : File::Temp::tempdir('pfs_tap.XXXXXX', TMPDIR => 1);
		make_path($top);
		# The path of a socket must be short.
		$sockets = File::Temp::tempdir('pfs_s.XXXXXX', DIR => '/tmp');
	}
	return $top;
}

my $bindir;

sub bindir
{
	if (!defined $bindir)
	{
		chomp($bindir = `pg_config --bindir`);
		die "no pg_config in PATH" if $bindir eq '';
	}
	return $bindir;
}

my $major;

sub version
{
	($major) = `pg_config --version` =~ /(\d+)/ unless defined $major;
	return $major;
}

# Run a program; its output, both streams.  Dies if it fails.
sub run_ok
{
	my ($out, $ok) = ('');

	$ok = IPC::Run::run([@_], '<', \undef, '>&', \$out, IPC::Run::timeout($timeout));
	die "@_ failed:\n$out" unless $ok;
	return $out;
}

# Compile C text into a shared object; its path.
sub compile
{
	my ($name, $text) = @_;
	my $base = folder() . "/$name";

	open my $file, '>', "$base.c" or die "$base.c: $!";
	print $file $text;
	close $file;
	run_ok(split(' ', $ENV{CC} // 'gcc'), '-shared', '-fPIC', '-O1', '-D_GNU_SOURCE', '-o', "$base.so", "$base.c", '-ldl');
	return "$base.so";
}

# What to preload into a server whose reads should take some time.
sub slow_reads
{
	(my $file = __FILE__) =~ s{[^/]*$}{slow_reads.c};

	return compile('slow_reads', text_of($file));
}

# What a file has, nothing of one that is not there.
sub text_of
{
	open my $file, '<', $_[0] or return '';
	local $/;
	return scalar(<$file>) // '';
}

# A TCP port that nobody has; whoever takes it in between makes the start fail.
sub free_port
{
	my $free = IO::Socket::INET->new(Listen => 1, LocalAddr => '127.0.0.1', Proto => 'tcp') or die "no port: $!";
	my $port = $free->sockport;

	$free->close;
	return $port;
}

# Checks that have the right value already, while the library does what `why` says instead: they may fail.  Beside
# them stand others that show that the situation was there.  Whoever mends it takes this away; undef: nothing is wrong.
sub known_to_fail
{
	my ($why, $checks) = @_;

	Test::More->builder->todo_start($why) if defined $why;
	$checks->();
	Test::More->builder->todo_end if defined $why;
}

# ---- servers ----

# Options: tcp (listen on 127.0.0.1 too), conf (text), from (folder of a base backup to take over), initdb
# (more arguments), preload (default 'pfs'), postgres (the server's program, where it is not the installed one).
sub new
{
	my ($class, $name, %options) = @_;
	my $self = bless {
		name => $name,
		dir => folder() . "/$name",
		port => $next_port++,
		log_offset => 0,
		postgres => $options{postgres},
	}, $class;

	$self->{port} = free_port() if $options{tcp};
	$self->{host} = $sockets;
	$self->{data} = "$self->{dir}/data";
	$self->{logfile} = "$self->{dir}/server.log";
	remove_tree($self->{dir});
	make_path($self->{dir});
	open my $log, '>', $self->{logfile} or die "$self->{logfile}: $!";
	close $log;
	$servers{$name} = $self;

	if (defined $options{from})
	{
		rename $options{from}, $self->{data} or die "$options{from}: $!";
	}
	else
	{
		$self->_make_data($options{initdb} // []);
	}
	my $preload = $options{preload} // 'pfs';

	$self->conf(<<"EOT");
port = $self->{port}
listen_addresses = '@{[ $options{tcp} ? '127.0.0.1' : '' ]}'
unix_socket_directories = '$self->{host}'
fsync = on
huge_pages = off
log_line_prefix = '%m [%p] '
log_error_verbosity = default
wal_level = replica
max_wal_senders = 4
shared_preload_libraries = '$preload'
EOT
	$self->conf($options{conf}) if defined $options{conf};
	return $self;
}

# initdb takes longer than copying what it made, and the tests need many.
sub _make_data
{
	my ($self, $extra) = @_;
	my @command = (bindir() . '/initdb', '-U', 'postgres', '-A', 'trust', '--no-sync', '--locale=C', '--encoding=UTF8');

	if (@$extra || !defined $ENV{TESTDATADIR})
	{
		run_ok(@command, @$extra, '-D', $self->{data});
		return;
	}
	my $template = "$ENV{TESTDATADIR}/template_" . version();

	if (!-d $template)
	{
		run_ok(@command, '-D', "$template.$$");
		rename "$template.$$", $template or remove_tree("$template.$$");
	}
	run_ok('cp', '-RPp', $template, $self->{data});
}

# Add lines to postgresql.conf.
sub conf
{
	my ($self, $text) = @_;

	open my $file, '>>', "$self->{data}/postgresql.conf" or die "postgresql.conf: $!";
	print $file "$text\n";
	close $file;
}

# Options: fail_ok, env (hash for the server), args (for the server).
sub start
{
	my ($self, %options) = @_;
	my $out = '';
	my $ok;

	local %ENV = (%ENV, %{ $options{env} // {} });
	# The server keeps what it inherits open: files, not pipes.
	my @command = (bindir() . '/pg_ctl', '-D', $self->{data}, '-l', $self->{logfile}, '-w', '-t', $timeout);

	push @command, '-o', $options{args} if defined $options{args};
	push @command, '-p', $self->{postgres} if defined $self->{postgres};
	$ok = IPC::Run::run([ @command, 'start' ], '<', '/dev/null', '>', "$self->{dir}/pg_ctl.out", '2>&1');
	die "server $self->{name} does not start" unless $ok || $options{fail_ok};
	$self->{running} = $ok;
	return $ok;
}

sub stop
{
	my ($self, $mode) = @_;

	$self->_forget_sessions;
	return unless $self->{running};
	$self->{running} = 0;
	IPC::Run::run([ bindir() . '/pg_ctl', '-D', $self->{data}, '-m', $mode // 'fast', '-w', '-t', $timeout, 'stop' ],
		'<', '/dev/null', '>', "$self->{dir}/pg_ctl.out", '2>&1')
	  or die "server $self->{name} does not stop";
}

sub restart
{
	my ($self, %options) = @_;

	$self->stop;
	return $self->start(%options);
}

sub promote
{
	my ($self) = @_;

	run_ok(bindir() . '/pg_ctl', '-D', $self->{data}, '-w', '-t', $timeout, 'promote');
}

sub postmaster_pid
{
	my ($self) = @_;

	open my $file, '<', "$self->{data}/postmaster.pid" or return undef;
	chomp(my $pid = <$file>);
	return $pid;
}

# The processes that serve clients, by what ps shows of them, and those that have just begun.
sub children
{
	my ($self) = @_;
	my $pid = $self->postmaster_pid // return;

	return grep { text_of("/proc/$_/cmdline") =~ /^postgres: .*(?:\[local\]|\(\d+\))|^[^:]+$/ }
	  split ' ', text_of("/proc/$pid/task/$pid/children");
}

# Everything the server logged, or what it logged since mark_log().
sub log_text
{
	my ($self) = @_;

	open my $file, '<', $self->{logfile} or return '';
	seek $file, $self->{log_offset}, 0;
	local $/;
	return scalar(<$file>) // '';
}

sub mark_log
{
	my ($self) = @_;

	$self->{log_offset} = -s $self->{logfile};
}

sub wait_log
{
	my ($self, $regex) = @_;
	my $end = time() + $timeout;

	while (time() < $end)
	{
		return 1 if $self->log_text =~ $regex;
		sleep(0.05);
	}
	die "server $self->{name}: no $regex in the log";
}

sub connstr
{
	my ($self, $database) = @_;

	return "host=$self->{host} port=$self->{port} user=postgres dbname=" . ($database // 'postgres');
}

# ---- SQL ----

# One psql for one text: (exit status, output, errors).  Options: db, user, env.
sub psql
{
	my ($self, $sql, %options) = @_;
	my ($out, $err) = ('', '');
	my $connstr = $self->connstr($options{db});

	$connstr .= " user=$options{user}" if defined $options{user};
	# From a file: a psql that cannot connect does not read, and a pipe would break.
	my $input = File::Temp->new;
	binmode $input;
	print $input $sql;
	close $input;
	my %before = map { $_ => 1 } $self->children;
	local %ENV = (%ENV, %{ $options{env} // {} });
	IPC::Run::run([ bindir() . '/psql', '-X', '-q', '-A', '-t', '-v', 'ON_ERROR_STOP=1', '-d', $connstr ],
		'<', $input->filename, '>', \$out, '2>', \$err, IPC::Run::timeout($timeout));
	my $status = $? >> 8;

	# A client has its last answer before its statement has ended, and leaves before its server process: that one
	# is waited for, so that what it counted is there.  Others that began meanwhile are not waited for long.
	my $end = time() + 5;

	sleep(0.005) while time() < $end && grep { !$before{$_} } $self->children;
	chomp($out, $err);
	return ($status, $out, $err);
}

# Through a session that lasts as long as the server; dies on errors.
sub sql
{
	my ($self, $sql) = @_;

	$self->{control} //= $self->session;
	return $self->{control}->query($sql);
}

# Run it until it answers so; then true, else false after the time limit.
sub poll
{
	my ($self, $sql, $expected) = @_;
	my $end = time() + $timeout;
	my $got;

	$expected //= 't';
	while (time() < $end)
	{
		$got = $self->sql($sql);
		return 1 if $got eq $expected;
		sleep(0.02);
	}
	diag("still '$got' and not '$expected': $sql");
	return 0;
}

# Until no statement of a thread runs: its client has the result a moment sooner.
sub poll_idle
{
	my ($self, $thread) = @_;

	return $self->poll("SELECT count(*) FROM pfs.events_statements_current WHERE thread_id = $thread AND nesting_event_level = 0", 0);
}

# Until the sessions of an application have ended: a process leaves pg_stat_activity before pfs has all of it.
sub poll_ended
{
	my ($self, $application) = @_;

	return $self->poll("SELECT (SELECT count(*) FROM pg_stat_activity WHERE application_name = '$application')
		+ (SELECT count(*) FROM pfs.threads WHERE name = 'thread/client_backend' AND thread_os_id NOT IN (SELECT pid FROM pg_stat_activity))", 0);
}

# How many readings and resets were not exact: none waits for longer than half a second for a process that has lost
# its processor while it counts.
sub inexact
{
	my ($self) = @_;

	return $self->sql(q{SELECT sum(variable_value::bigint) FROM pfs.status WHERE variable_name IN ('pfs_reads_inexact', 'pfs_resets_inexact')});
}

# Until an event of a thread has been running for so many seconds.
sub poll_lasts
{
	my ($self, $thread, $event_name, $seconds) = @_;

	return $self->poll("SELECT count(*) FROM pfs.events_waits_current WHERE thread_id = $thread AND event_name LIKE '$event_name'"
		  . " AND pfs.timer_now() - timer_start > $seconds * 1e12", 1);
}

# The same with a new connection each time, which may fail.
sub poll_connect
{
	my ($self, $sql, $expected) = @_;
	my $end = time() + $timeout;
	my ($status, $out, $err);

	$expected //= 't';
	while (time() < $end)
	{
		($status, $out, $err) = eval { $self->psql($sql) };	# it can be gone before it has read a word
		return 1 if defined $status && $status == 0 && $out eq $expected;
		sleep(0.1);
	}
	diag("still not '$expected': $sql\n" . ($out // '') . "\n" . ($err // ''));
	return 0;
}

# The statement fails with this SQLSTATE, and the message, detail and hint match.
sub fails
{
	my ($self, $sql, $sqlstate, $regex, $name) = @_;
	my ($status, $out, $err) = $self->psql("\\set VERBOSITY verbose\n$sql");

	local $Test::Builder::Level = $Test::Builder::Level + 1;
	my $ok = ok($status != 0 && $err =~ /ERROR:  \Q$sqlstate\E: / && $err =~ $regex, $name);

	diag("status $status\noutput: $out\nerrors: $err") unless $ok;
	return $ok;
}

sub session
{
	my ($self, %options) = @_;
	my $session = PfsSession->new($self, %options);

	push @{ $self->{sessions} }, $session;
	return $session;
}

sub _forget_sessions
{
	my ($self) = @_;

	$_->close foreach @{ $self->{sessions} // [] };
	$self->{sessions} = [];
	delete $self->{control};
}

# After a crash: the lasting session is gone with all others.
sub lost_sessions
{
	my ($self) = @_;

	$_->kill foreach @{ $self->{sessions} // [] };
	$self->{sessions} = [];
	delete $self->{control};
}

# pgbench; script is text.  Returns its output; dies if it fails.
sub pgbench
{
	my ($self, $script, @args) = @_;
	my $load = $self->pgbench_start($script, @args);

	return $self->pgbench_end($load);
}

my $nscripts = 0;

sub pgbench_start
{
	my ($self, $script, @args) = @_;
	my %load = (out => '');
	my @command = (bindir() . '/pgbench', '-h', $self->{host}, '-p', $self->{port}, '-U', 'postgres', '-n', @args);

	if (defined $script)
	{
		my $path = "$self->{dir}/script" . ++$nscripts;

		open my $file, '>', $path or die "$path: $!";
		print $file $script;
		close $file;
		push @command, '-f', $path;
	}
	$load{handle} = IPC::Run::start([ @command, 'postgres' ], '<', '/dev/null', '>&', \$load{out},
		IPC::Run::timeout($timeout));
	push @{ $self->{loads} }, \%load;
	return \%load;
}

sub pgbench_end
{
	my ($self, $load, %options) = @_;
	my $ok = $load->{handle}->finish;

	$load->{over} = 1;
	die "pgbench failed:\n$load->{out}" unless $ok || $options{fail_ok};
	return $load->{out};
}

sub pgbench_running { return pump($_[1]->{handle}, 'pump_nb'); }

# Exchange data with a program in the background, by pump (which waits for some) or pump_nb.  Does it
# still run?  It may end after one has asked whether it does, which IPC::Run takes for an error.
sub pump
{
	my ($handle, $how) = @_;

	eval { $handle->$how; 1 } or $@ =~ /^process ended prematurely/ or die $@;
	return $handle->pumpable;
}

sub thread_of { return $_[0]->sql("SELECT pfs.thread_id($_[1])"); }

sub _end
{
	my ($self) = @_;

	foreach my $load (grep { !$_->{over} } @{ $self->{loads} // [] })
	{
		$load->{handle}->kill_kill;
	}
	$_->kill foreach @{ $self->{sessions} // [] };
	my $pid = $self->postmaster_pid;

	if (defined $pid && kill 0, $pid)
	{
		kill 'QUIT', $pid;
		for (1 .. 100)
		{
			last unless kill 0, $pid;
			sleep(0.05);
		}
	}
}

sub show_log
{
	my ($self) = @_;

	$self->{log_offset} = 0;
	my @lines = split /\n/, $self->log_text;

	splice @lines, 0, @lines - 40 if @lines > 40;
	diag("the log of server $self->{name} ends:\n" . join("\n", @lines));
}

END
{
	if (defined $top && $$ == $postmaster)
	{
		my $status = $?;
		my $bad = $status != 0 || !Test::More->builder->is_passing;

		foreach my $server (values %servers)
		{
			$server->show_log if $bad;
			$server->_end;
		}
		chdir '/';
		remove_tree($sockets);
		remove_tree($top) unless $ENV{PFS_TAP_KEEP};
		$? = $status;
	}
}

1;
