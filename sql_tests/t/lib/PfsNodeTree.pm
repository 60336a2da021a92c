# PfsNodeTree.pm
#	  Reads stored expression trees: pg_rewrite.ev_action, pg_proc.proargdefaults,
#	  pg_attrdef.adbin.
#
#	my @calls = PfsNodeTree::calls($text);	# operators and functions, with the types of their arguments
#	my @oids = PfsNodeTree::oids($text);	# every object that was not made by initdb
package PfsNodeTree;

use strict;
use warnings;

# The field that has the type of an expression's result.
my @type_fields = qw(vartype consttype paramtype aggtype wintype refrestype funcresulttype opresulttype
  resulttype casetype coalescetype minmaxtype array_typeid typeId);
my %boolean = map { $_ => 1 } qw(SCALARARRAYOPEXPR BOOLEXPR NULLTEST BOOLEANTEST ROWCOMPARE);

# A node is a hash of its fields, with its label as LABEL; a list is an array; all else
# are words.  Of a field that takes more words the first is kept.
sub parse
{
	my ($text) = @_;
	my @stack = ([]);
	my $field;

	while ($text =~ /\G\s*([{}()\[\]]|"(?:[^"\\]|\\.)*"|(?:\\.|[^\s{}()\[\]"\\])+)/gcs)
	{
		my $token = $1;
		my $top = $stack[-1];
		my $value = $token;

		if ($token eq '{')
		{
			$text =~ /\G\s*(\w+)/gc or die 'a node without a label';
			push @stack, { LABEL => $1 };
			next;
		}
		if ($token eq '(' || $token eq '[')
		{
			push @stack, [];
			next;
		}
		if ($token eq '}' || $token eq ')' || $token eq ']')
		{
			$value = pop @stack;
			$top = $stack[-1];
			delete $value->{FIELD} if ref $value eq 'HASH';
		}
		if (ref $top eq 'ARRAY')
		{
			push @$top, $value;
		}
		elsif (!ref $value && $value =~ /^:(\w+)$/)
		{
			$top->{FIELD} = $1;
		}
		else
		{
			$top->{ $top->{FIELD} } //= $value;
		}
	}
	die 'an unbalanced tree' if @stack != 1 || ($text =~ /\G\s*(.)/gcs);
	return $stack[0];
}

# The types that an expression may have had for whoever chose an operator or function for
# it: its own, and those below each coercion.
sub _types
{
	my ($node) = @_;
	my @types;

	while (ref $node eq 'HASH')
	{
		my ($type) = grep { defined } @$node{@type_fields};

		push @types, $boolean{ $node->{LABEL} } ? 16 : $type // ();
		if ($node->{LABEL} =~ /^(RELABELTYPE|COERCEVIAIO|ARRAYCOERCEEXPR|COERCETODOMAIN)$/)
		{
			$node = $node->{arg};
		}
		elsif ($node->{LABEL} eq 'FUNCEXPR' && $node->{funcformat} ne '0')
		{
			$node = $node->{args}[0];
		}
		else
		{
			last;
		}
	}
	return \@types;
}

# Every operator and function: kind, oid, args (for each a list of types, empty where the
# tree does not tell), result, retset.
sub calls
{
	my ($text) = @_;
	my @todo = (parse($text));
	my @calls;

	while (defined(my $node = shift @todo))
	{
		push @todo, grep { ref } ref $node eq 'HASH' ? values %$node : @$node;
		next unless ref $node eq 'HASH';
		my @args = ref $node->{args} ? @{ $node->{args} } : ();

		if (defined $node->{opno})
		{
			# NULLIF returns its first argument, but its operator is an equality.
			push @calls, { kind => 'operator', oid => $node->{opno}, args => [ map { _types($_) } @args ],
				result => $node->{LABEL} eq 'NULLIFEXPR' ? 16 : $node->{opresulttype} // 16, retset => 0 };
		}
		foreach my $field (grep { defined $node->{$_} } qw(funcid aggfnoid winfnoid))
		{
			@args = map { $_->{expr} } grep { $_->{resjunk} eq 'false' } @args if $field eq 'aggfnoid';
			push @calls, { kind => 'function', oid => $node->{$field}, args => [ map { _types($_) } @args ],
				result => (grep { defined } @$node{qw(funcresulttype aggtype wintype)})[0],
				retset => ($node->{funcretset} // '') eq 'true' };
		}
	}
	return @calls;
}

# Every number that can be the OID of an object that initdb has not made.
sub oids
{
	my ($text) = @_;
	my @todo = (parse($text));
	my %oids;

	while (defined(my $node = shift @todo))
	{
		if (ref $node eq 'HASH')
		{
			push @todo, grep { ref } values %$node;
			$oids{ $node->{$_} } = 1 foreach grep { !ref $node->{$_} && !/location|^stmt_len$/ } keys %$node;
		}
		else
		{
			push @todo, grep { ref } @$node;
			$oids{$_} = 1 foreach grep { !ref } @$node;
		}
	}
	return grep { /^\d+$/ && $_ >= 16384 } keys %oids;
}

1;
