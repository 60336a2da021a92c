# The views of schema pfs_sys: reads sql/pfs_sys.views, whose head says how it is written,
# and makes of it the SQL that tools/sql puts into the update script, which is what the
# scripts of releases do not have, and docs/sys.md.
package SysViews;

use strict;
use warnings;

# What stands for the names in an entry with "each".
my @each = (
	{ who => 'user', Who => 'Role', key => 'user_name', others => 'hosts', otherkey => 'host' },
	{ who => 'host', Who => 'Client address', key => 'host', others => 'users', otherkey => 'user_name' });

# How a value of a format is shown, and what its unit is in the plain view.
my %format = (
	''        => sub { $_[0] },
	time      => sub { "pfs_sys.format_time($_[0])" },
	bytes     => sub { "pfs_sys.format_bytes($_[0])" },
	statement => sub { "pfs_sys.format_statement($_[0])" },
	file      => sub { "CASE WHEN length($_[0]) > 64 THEN '...' || right($_[0], 61) ELSE $_[0] END" });
my %unit = (time => 'In picoseconds.', bytes => 'In bytes.');

# Returns { views => [...], others => [ [names, why], ... ], released => { name => SQL } }.
sub read
{
	my ($class, $file, @scripts) = @_;
	my $self = bless { views => [], others => [], defined => {}, file => $file, released => released(@scripts) }, $class;
	my ($view, $query, $define);

	open(my $in, '<', $file) or die "$file: $!\n";
	while (my $line = <$in>)
	{
		chomp $line;
		if (defined $query)
		{
			if ($line ne 'end')
			{
				$query .= "$line\n";
				next;
			}
			chomp $query;
			if (defined $define)
			{
				$self->{defined}{$define} = $query;
			}
			else
			{
				$view->{query} = $query;
				$self->add($_) foreach $view->{each} ? map { $self->substituted($view, $_) } @each : $view;
			}
			($query, $view, $define) = ();
			next;
		}
		next if $line eq '' || $line =~ /^#/;
		if ($line =~ /^define (\w+)$/) { ($define, $query) = ($1, ''); }
		elsif ($line =~ /^other (.*?): (.*)$/) { push @{ $self->{others} }, [ $1, $2 ]; }
		elsif ($line =~ /^view (\S+)$/) { $view = { name => $1, columns => [], without => [] }; }
		elsif (!$view) { die "$file:$.: this belongs to no view\n"; }
		elsif ($line eq 'each') { $view->{each} = 1; }
		elsif ($line =~ /^(says|order|like) (.*)$/) { $view->{$1} = $2; }
		elsif ($line =~ /^without (.*?): (.*)$/) { push @{ $view->{without} }, [ $1, $2 ]; }
		elsif ($line eq 'query') { $query = ''; }
		elsif ($line =~ /^(\S+) \| (.*?) ?\| (\S+) \| (.+)$/)
		{
			my ($name, $shown, $mysql, $text) = ($1, $2, $3, $4);
			die "$file:$.: there is no format $shown\n" if !$format{$shown} && $shown !~ /^\(.*\)$/;
			push @{ $view->{columns} }, { name => $name, format => $shown, mysql => $mysql, text => $text };
		}
		else { die "$file:$.: this is neither a column nor anything else\n"; }
	}
	die "$file: the last entry has no end\n" if $view || defined $query;
	return $self;
}

# An entry for each user or host.
sub substituted
{
	my ($self, $view, $names) = @_;
	my $put = sub { $_[0] =~ s/\{(\w+)\}/$names->{$1} \/\/ "{$1}"/ger };

	return {
		%$view,
		(map { $_ => $put->($view->{$_}) } qw(name says order query)),
		columns => [ map { my $c = $_; +{ map { $_ => $put->($c->{$_}) } keys %$c } } @{ $view->{columns} } ],
	};
}

sub add
{
	my ($self, $view) = @_;

	if ($view->{like})
	{
		my ($other) = grep { $_->{name} eq $view->{like} } @{ $self->{views} };
		$view->{columns} = ($other // die "$self->{file}: there is no view $view->{like} before $view->{name}\n")->{columns};
	}
	$view->{query} =~ s/\{(\w+)\}/$self->{defined}{$1} \/\/ die "$self->{file}: {$1} is not defined\n"/ge;
	die "$self->{file}: $view->{name} lacks what it says, its order or its columns\n" if grep { !$view->{$_} } qw(says order columns);
	push @{ $self->{views} }, $view;
}

# Names of columns in an expression, as those of x.
sub qualified
{
	my ($view, $expression) = @_;
	my %is = map { $_->{name} => 1 } @{ $view->{columns} };

	return $expression =~ s/\b([a-z_]\w*)\b/$is{$1} ? "x.$1" : $1/ger;
}

sub literal
{
	my ($text) = @_;
	return "'" . $text =~ s/'/''/gr . "'";
}

# What the scripts of releases make of each view, as sql_of() of it was in the latest that has it.
sub released
{
	my %released;

	foreach my $script (@_)
	{
		while ($script =~ /^(CREATE (?:OR REPLACE )?VIEW pfs_sys\.x\$(\w+) AS\n.*?\n\) c \(number, text, plain\);\n)/gms)
		{
			my ($sql, $name) = ($1, $2);
			$released{$name} = $sql =~ s/^CREATE OR REPLACE VIEW/CREATE VIEW/gmr =~ s/^DELETE FROM pg_catalog\.pg_description\b.*\n//mr;
		}
	}
	return \%released;
}

# What the update has to do so that views are as they are written: nothing for one that a release has so.
sub sql
{
	my ($self) = @_;
	my @new = grep { !$self->{released}{ $_->{name} } } @{ $self->{views} };
	my @names = map { ("pfs_sys.x\$$_->{name}", "pfs_sys.$_->{name}") } @new;
	my @parts = grep { $_ ne '' } map { $self->update_of($_) } @{ $self->{views} };
	my %is = map { $_->{name} => 1 } @{ $self->{views} };

	foreach my $name (sort grep { !$is{$_} } keys %{ $self->{released} })
	{
		die "$self->{file}: there is no view $name, but a release has it\n";
	}
	push @parts, "GRANT SELECT ON\n\t" . join(",\n\t", @names) . "\nTO pg_monitor;\n" if @names;
	return join "\n", @parts;
}

# A view that a release has keeps its columns, as CREATE OR REPLACE VIEW can only append; with them what
# users have built on it, and their rights.  Its comments are written anew.
sub update_of
{
	my ($self, $view) = @_;
	my $sql = sql_of($view);
	my $released = $self->{released}{ $view->{name} };

	return $sql if !defined $released;
	return '' if $sql eq $released;
	my ($had, $has) = map { /^SELECT (.*)$/m } $released, $sql;
	die "$self->{file}: $view->{name} has the columns $had in a release: new ones come last\n" if index("$has,", "$had,") != 0;
	$sql =~ s/^CREATE VIEW/CREATE OR REPLACE VIEW/gm;
	$sql =~ s{^(?=INSERT INTO pg_catalog\.pg_description\b)}
		{DELETE FROM pg_catalog.pg_description WHERE classoid = 'pg_catalog.pg_class'::regclass AND objoid IN ('pfs_sys.x\$$view->{name}'::regclass, 'pfs_sys.$view->{name}'::regclass);\n}m;
	return $sql;
}

# Comments are written into the catalog by one statement for each entry, as COMMENT would do it
# by a statement of its own for each column: more than a small server has digests for.
sub sql_of
{
	my ($view) = @_;
	my ($plain, $shown) = ("pfs_sys.x\$$view->{name}", "pfs_sys.$view->{name}");
	my $order = qualified($view, $view->{order});
	my @shown = map {
		my $value = "x.$_->{name}";
		$value = $format{ $_->{format} } ? $format{ $_->{format} }->($value) : $_->{format};
		$value eq "x.$_->{name}" ? $value : "$value AS $_->{name}"
	} @{ $view->{columns} };
	my $n = 0;
	my @comments = ([ 0, $view->{says}, 'With plain values.' ], map { [ ++$n, $_->{text}, $unit{ $_->{format} } // '' ] } @{ $view->{columns} });

	return "CREATE VIEW $plain AS\nSELECT " . join(', ', map { "x.$_->{name}" } @{ $view->{columns} })
	  . "\nFROM (\n" . $view->{query} =~ s/^(?=.)/\t/gmr . "\n) x\nORDER BY $order;\n"
	  . "CREATE VIEW $shown AS\nSELECT\n\t" . join(",\n\t", @shown) . "\nFROM $plain x\nORDER BY $order;\n"
	  . "INSERT INTO pg_catalog.pg_description (objoid, classoid, objsubid, description)\n"
	  . "SELECT v.oid, 'pg_catalog.pg_class'::regclass, c.number, CASE WHEN v.plain AND c.plain <> '' THEN c.text || ' ' || c.plain ELSE c.text END\n"
	  . "FROM (VALUES (true, '$plain'::regclass), (false, '$shown'::regclass)) v (plain, oid), (VALUES\n\t"
	  . join(",\n\t", map { "($_->[0], " . literal($_->[1]) . ', ' . literal($_->[2]) . ')' } @comments) . "\n) c (number, text, plain);\n";
}

# docs/sys.md; $head is what stands above, $wrap breaks lines, $escape what Markdown would take.
sub document
{
	my ($self, $head, $wrap, $escape) = @_;
	my @views = sort { $a->{name} cmp $b->{name} } @{ $self->{views} };
	my $out = $head;

	$out .= $wrap->("- [`$_->{name}`](#$_->{name}): " . $escape->($_->{says}), '  ') foreach @views;
	$out .= "- [Views of MySQL's sys that are not here](#views-of-mysqls-sys-that-are-not-here)\n";
	foreach my $view (@views)
	{
		$out .= "\n## $view->{name}\n\n" . $wrap->($escape->($view->{says}));
		if ($view->{like})
		{
			$out .= "\nThe columns of [`$view->{like}`](#$view->{like}).\n";
		}
		else
		{
			$out .= "\n" . join '', map {
				my @facts = ($_->{mysql} eq '=' ? () : $_->{mysql} eq '-' ? 'not in MySQL' : "MySQL: `$_->{mysql}`");
				push @facts, { time => 'time', bytes => 'bytes', statement => 'cut to 64 characters', file => 'cut to 64 characters' }->{ $_->{format} } // ();
				$wrap->("- `$_->{name}`" . (@facts ? ' (' . join(', ', @facts) . ')' : '') . ': ' . $escape->($_->{text}), '  ')
			} @{ $view->{columns} };
		}
		$out .= "\n" . join '', map { $wrap->('- Not here: ' . join(', ', map { "`$_`" } split /, /, $_->[0]) . ': ' . $escape->($_->[1]), '  ') } @{ $view->{without} }
		  if @{ $view->{without} };
	}
	$out .= "\n## Views of MySQL's sys that are not here\n\n";
	$out .= $wrap->('- ' . join(', ', map { "`$_`" } split /, /, $_->[0]) . ': ' . $escape->($_->[1]), '  ') foreach @{ $self->{others} };
	return $out;
}

1;
