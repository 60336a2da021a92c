# PfsDocs.pm
#	  The pages that a user reads, for tests of what they say: README.md and docs/.
#
#	PfsDocs::pages()			paths of all pages, relative to the top folder
#	PfsDocs::readmes()			those for who works on pfs: READMEs of folders, CONTRIBUTING.md, CHANGELOG.md
#	PfsDocs::text($page)		the whole page
#	PfsDocs::blocks($page)		its fenced blocks in order: { language, text, line }, each
#								with the one that follows it at once as {next}
#	PfsDocs::query($regex)		the one SQL block of all pages that matches
package PfsDocs;

use strict;
use warnings;
use File::Find ();
use FindBin;

my $top = "$FindBin::RealBin/../..";

sub pages
{
	return 'README.md', map { s{^\Q$top/\E}{}r } sort glob "$top/docs/*.md";
}

sub readmes
{
	my @readmes = qw(CONTRIBUTING.md CHANGELOG.md);

	File::Find::find({ no_chdir => 1, wanted => sub { push @readmes, s{^\Q$top/\E}{}r if m{/README\.md$} } },
		grep { -d } map { "$top/$_" } qw(src bench client sql_tests));
	return sort grep { -e path($_) } @readmes;
}

sub path
{
	my ($page) = @_;

	return "$top/$page";
}

sub text
{
	my ($page) = @_;

	open my $file, '<:encoding(UTF-8)', path($page) or die "$page: $!";
	local $/;
	return scalar(<$file>);
}

sub blocks
{
	my ($page) = @_;
	my (@blocks, $block, $end);
	my $line = 0;

	foreach (split /\n/, text($page))
	{
		$line++;
		if (/^```(\w*)$/ && !defined $block)
		{
			$block = { language => $1, text => '', line => $line };
			$blocks[-1]{next} = $block if @blocks && $end == $line - 1;
			push @blocks, $block;
		}
		elsif ($_ eq '```')
		{
			($block, $end) = (undef, $line);
		}
		elsif (defined $block)
		{
			$block->{text} .= "$_\n";
		}
		elsif ($_ eq '' && defined $end && $end == $line - 1)
		{
			$end = $line;
		}
	}
	die "$page: the block of line $block->{line} has no end" if defined $block;
	return @blocks;
}

sub query
{
	my ($regex) = @_;
	my @found = grep { $_ =~ $regex } map { $_->{text} } grep { $_->{language} eq 'sql' } map { blocks($_) } pages();

	die scalar(@found) . " queries of the pages match $regex" if @found != 1;
	return $found[0];
}

1;
