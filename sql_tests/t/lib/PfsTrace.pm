# PfsTrace.pm
#	  Decodes a trace of "pfs trace" by the numbers that Perfetto's schema gives its fields,
#	  and puts begins and ends of slices together as its viewer does.
#
#	my $trace = PfsTrace->new($bytes);		# dies where a viewer would complain
#	$trace->slices;							# {category, name, track, start, end, details, flows, ends}
package PfsTrace;

use strict;
use warnings;

# One message: field number => its values in order; what is no number is bytes.
sub message
{
	my ($bytes) = @_;
	my %fields;
	my $at = 0;

	my $varint = sub
	{
		my ($value, $shift) = (0, 0);

		while (1)
		{
			die "cut off at $at" if $at >= length $bytes;
			my $byte = ord substr $bytes, $at++, 1;
			$value |= ($byte & 0x7F) << $shift;
			$shift += 7;
			return $value if $byte < 0x80;
			die "a number of more than ten bytes at $at" if $shift > 63;
		}
	};
	while ($at < length $bytes)
	{
		my $tag = $varint->();
		my ($field, $kind) = ($tag >> 3, $tag & 7);

		die "field 0" if $field == 0;
		if ($kind == 0)
		{
			push @{ $fields{$field} }, $varint->();
		}
		elsif ($kind == 1)
		{
			push @{ $fields{$field} }, unpack 'Q<', substr $bytes, $at, 8;
			$at += 8;
		}
		elsif ($kind == 2)
		{
			my $length = $varint->();

			die "field $field is cut off" if $at + $length > length $bytes;
			push @{ $fields{$field} }, substr $bytes, $at, $length;
			$at += $length;
		}
		else
		{
			die "field $field of kind $kind";
		}
	}
	return \%fields;
}

# The one value of a field, or undef.
sub one
{
	my ($message, $field) = @_;

	die "field $field is there twice" if @{ $message->{$field} // [] } > 1;
	return $message->{$field}[0];
}

sub new
{
	my ($class, $bytes) = @_;
	my $self = bless { slices => [], instants => [], tracks => {}, texts => [] }, $class;
	my (%interned, %open, @events);
	my $order = 0;

	foreach my $packet (map { message($_) } @{ message($bytes)->{1} })
	{
		die "no sequence" unless one($packet, 10);
		if (defined(my $data = one($packet, 12)))
		{
			my $names = message($data);

			foreach my $kind (1 .. 3)
			{
				foreach my $entry (map { message($_) } @{ $names->{$kind} // [] })
				{
					die 'a name twice' if exists $interned{$kind}{ one($entry, 1) };
					$interned{$kind}{ one($entry, 1) } = one($entry, 2);
					push @{ $self->{texts} }, one($entry, 2);
				}
			}
		}
		$self->{clock} = one($packet, 6) if $packet->{6};
		if (defined(my $track = one($packet, 60)))
		{
			$track = message($track);
			$self->{tracks}{ one($track, 1) } = { name => one($track, 2), parent => one($track, 5) };
			push @{ $self->{texts} }, one($track, 2);
		}
		next unless defined(my $event = one($packet, 11));
		$event = message($event);
		my %event = (order => $order++, time => one($packet, 8), type => one($event, 9), track => one($event, 11),
			flows => $event->{47} // [], ends => $event->{48} // []);
		$event{category} = $interned{1}{ one($event, 3) } // die 'a category without a name' if $event->{3};
		$event{name} = $interned{2}{ one($event, 10) } // die 'an event without a name' if $event->{10};
		foreach my $detail (map { message($_) } @{ $event->{4} // [] })
		{
			my $name = $interned{3}{ one($detail, 1) } // die 'a detail without a name';

			# Numbers are signed: half of all query ids are below zero.
			$event{details}{$name} = defined one($detail, 4) ? unpack('q', pack('Q', one($detail, 4))) : one($detail, 6);
			push @{ $self->{texts} }, one($detail, 6) if $detail->{6};
		}
		push @events, \%event;
	}
	# By time; in the order of the file where that is equal.
	foreach my $event (sort { $a->{time} <=> $b->{time} || $a->{order} <=> $b->{order} } @events)
	{
		my $track = $event->{track};

		die "an event on a track that is not described" unless $self->{tracks}{$track};
		if ($event->{type} == 1)
		{
			$event->{start} = $event->{time};
			$event->{inside} = $open{$track}[-1];
			push @{ $open{$track} }, $event;
			push @{ $self->{slices} }, $event;
		}
		elsif ($event->{type} == 2)
		{
			my $slice = pop @{ $open{$track} } or die "an end without a begin on track $track";

			$slice->{end} = $event->{time};
		}
		else
		{
			push @{ $self->{instants} }, $event;
		}
	}
	return $self;
}

sub slices
{
	my ($self, %wanted) = @_;

	return grep
	{
		my $slice = $_;
		!grep { ($slice->{$_} // $slice->{details}{$_} // '') ne $wanted{$_} } keys %wanted
	} @{ $self->{slices} };
}

# The thread that a track belongs to, and the name of its session.
sub session
{
	my ($self, $slice) = @_;
	my $track = $self->{tracks}{ $slice->{track} };

	return $track->{parent} ? $self->{tracks}{ $track->{parent} }{name} : $track->{name};
}

sub thread
{
	my ($slice) = @_;

	return $slice->{track} >> 16;
}

1;
