# The decoder of prologues, in a module of its own: prologues that compilers write, what
# it has to refuse, and every instruction of the server as a disassembler sees it.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/lib";
use PfsServer;
use Test::More;

chomp(my $machine = `uname -m`);
plan skip_all => 'it reads x86-64 only' if $machine ne 'x86_64';

my $module = test_module('pfs_test_decode');
my $server = PfsServer->new('main', preload => '');
$server->start;
$server->sql(test_functions('pfs_test_decode'));

# One answer for each line; pfs_test_decode.c says what lines there are.
sub ask
{
	my ($in) = @_;
	my ($status, $out, $err) = $server->psql("SELECT decode_lines(\$\$$in\$\$)");

	die $err if $status != 0;
	return split /\n/, $out;
}

# ---- prologues ----

foreach my $case (
	# bytes needed, code, answer: bytes to be moved and operands that change, and what it is
	[ 5, '55 4889e5 4157 4156', '6 0', 'push, mov, push' ],
	[ 5, '55 448b0dd8004300 4889e5', '8 1', 'push, mov from a variable' ],
	[ 5, '55 488d35f4024e00 4889e5', '8 1', 'push, lea of a variable' ],
	[ 5, '8b059af64200 85c0', '6 1', 'mov from a variable' ],
	[ 5, '4889e5 4883ec30', '7 0', 'mov, sub of a byte' ],
	[ 5, '4889e5 4881ec00010000', '10 0', 'mov, sub of four' ],
	[ 5, '41bd01000000', '6 0', 'mov of a constant' ],
	[ 5, '4531e4 4989fd', '6 0', 'xor, mov' ],
	[ 5, '488716 e9f4fbffff', '8 1', 'xchg, jmp to another function' ],
	[ 5, 'e977eaffff', '5 1', 'jmp to another function' ],
	[ 5, 'f30f1efa 55', '5 0', 'endbr64, push' ],
	[ 5, '48895df0 4889fb', '7 0', 'mov to the stack' ],
	[ 5, '4889442420 90', '5 0', 'mov with SIB and a byte' ],
	[ 5, '488b8424e8000000', '8 0', 'mov with SIB and four' ],
	[ 5, '488b04cd00000000', '8 0', 'mov with SIB and no base' ],
	[ 9, '4157 4156 4155 4154 53 4883ec08', '9 0', 'five pushes' ],
	[ 5, '85ff 7830 89f0', '6 1', 'test, a conditional jump, mov' ],
	[ 5, '55 7506 4889e5', '6 1', 'a conditional jump' ],
	[ 5, '55 7503 4889e5', '6 1', 'one to the first byte behind them' ],
	[ 8, '7410 7510 7810 7910', '8 4', 'four conditional jumps' ],
	[ 5, '813da6185400c7000000', '10 1', 'cmp of four with a variable' ],
	[ 5, '833da618540007', '7 1', 'cmp of a byte with a variable' ],
	[ 5, '83ff07 7830', '5 1', 'cmp of a byte with a register, a conditional jump' ],
	# refused
	[ 5, 'c8000000 4157', 'no', 'enter' ],
	[ 5, '55 4889e5 39c0', 'no', 'a comparison' ],
	[ 5, '812da6185400c7000000', 'no', 'sub from a variable' ],
	[ 5, '813da6185400c70000', 'no', 'less than a cmp' ],
	[ 5, '55 7500 4889e5', 'no', 'a conditional jump to one of them' ],
	[ 5, '55 75fd 4889e5', 'no', 'one back to the first of them' ],
	[ 10, '7410 7510 7810 7910 7a10', 'no', 'five conditional jumps' ],
	[ 5, '55 e8f4fbffff', 'no', 'a call' ],
	[ 5, '55 eb06 9090', 'no', 'a short jump' ],
	[ 5, '55 c3 9090909090', 'no', 'a function that ends' ],
	[ 6, 'e977eaffff 90', 'no', 'bytes behind a jump' ],
	[ 5, '4883e4f0 55', 'no', 'and of the stack pointer' ],
	[ 5, '4883c408 55', 'no', 'add' ],
	[ 5, '66 8905 00000000', 'no', 'a prefix' ],
	[ 5, '488dc0 4889e5', 'no', 'lea of a register' ],
	[ 5, '4029e5 4889e5', 'no', 'sub of registers' ],
	[ 5, '48b80102030405060708', 'no', 'mov of eight bytes' ],
	[ 5, '55 4889', 'no', 'less than an instruction' ],
	[ 5, '55', 'no', 'less than a jump' ],
	[ 5, '', 'no', 'nothing' ])
{
	my ($need, $code, $answer, $name) = @$case;

	$code =~ s/ //g;
	is((ask("p $need $code\n"))[0], $answer, $name);
}

# ---- moving ----

is((ask("m 4096 554889e54157\n"))[0], '554889e54157', 'moved: what does not depend on its place stays');
is((ask("m 4096 8b0500200000\n"))[0], '8b0500100000', 'moved: an operand changes by the distance');
is((ask("m -4096 8b0500200000\n"))[0], '8b0500300000', 'the other way, too');
is((ask("m 1073741824 8b05000000c0\n"))[0], '8b0500000080', 'as far as four bytes reach');
is((ask("m 1073741825 8b05000000c0\n"))[0], 'no', 'and no further');
is((ask("m 256 488716e900000000\n"))[0], '488716e900ffffff', 'moved: a jump');
is((ask("m 4096 85ff783089f0\n"))[0], '85ff0f882cf0ffff89f0', 'moved: a conditional jump becomes a long one');
is((ask("m 4096 7410758b8b0500200000\n"))[0], '0f840cf0ffff0f8583efffff8b05f80f0000', 'two of them, and an operand that comes nearer by their bytes');
is((ask("m 2147483700 85ff78f089f0\n"))[0], 'no', 'and one that would not reach');

# ---- jumps into the prologue ----

foreach my $case (
	[ 1, 4, '90 90 90 90 90 90 e9f8ffffff', 0, 'a long jump' ],
	[ 1, 4, '90 90 90 90 90 90 e8f8ffffff', 0, 'a call' ],
	[ 1, 4, '90 90 90 90 90 90 0f84f8ffffff', 0, 'a long conditional one' ],
	[ 1, 4, '90 90 90 90 90 90 9084f8ffffff', -1, 'what is none' ],
	[ 1, 4, '90 90 90 90 90 90 b8e9f7ffffff', 0, 'what may be one' ],
	[ 1, 4, '90 90 90 90 90 90 e9f5ffffff', -1, 'a call of the function' ])
{
	my ($first, $last, $code, $answer, $name) = @$case;

	$code =~ s/ //g;
	is((ask("j $first $last $code\n"))[0], $answer, "jumps: $name");
}

foreach my $case (
	[ '90 90 90 90 90 90 ebfa', 1, 'a short jump back' ],
	[ '90 90 90 90 90 90 ebf8', 0, 'one to the first byte' ],
	[ '90 90 90 90 90 90 ebfd', 0, 'one behind them' ],
	[ '90 90 90 90 90 90 75fb', 1, 'a conditional one' ],
	[ '90 90 90 90 90 90 e2fb', 1, 'a loop' ],
	[ '90 90 90 90 90 ebfb', 1, 'one that begins behind them' ],
	[ 'eb01 90 90 90 90', 1, 'one forward, from their own first byte' ],
	[ '90 90 90 90 90 b8ebf87500', 0, 'what looks like one is a number' ],
	[ '90 90 90 90 90 488b8475f8ebf8ff', 0, 'or a displacement' ],
	[ '90 90 90 90 90 66b875f8', 0, 'or a number of two bytes' ],
	[ '90 90 90 90 90 48b8ebf7ebf7ebf7ebf7', 0, 'or of eight' ],
	[ '90 90 90 90 90 f6c075', 0, 'or of one' ],
	[ '90 90 90 90 90 c5f877 c4e37975c0eb', 0, 'or belongs to a vector' ],
	[ '90 90 90 90 90 06', 1, 'an instruction that there is not: who knows' ],
	[ '90 90 90 90 90 75', 1, 'less than an instruction' ])
{
	my ($code, $answer, $name) = @$case;

	$code =~ s/ //g;
	is((ask("r 1 4 $code\n"))[0], $answer, "jumps of its own: $name");
}

# ---- every instruction of the server ----

my (%seen, @instructions);
my $objdump = PfsServer::bindir() . '/postgres';

open my $dump, '-|', 'objdump', '-d', '-w', '--section=.text', $objdump or die "objdump: $!";
while (<$dump>)
{
	next unless /^\s+[0-9a-f]+:\s+((?:[0-9a-f]{2} )+)\s+(\S+)/;
	next if $2 eq '(bad)';
	(my $bytes = $1) =~ s/ //g;
	push @instructions, $bytes unless $seen{$bytes}++;
}
close $dump;
cmp_ok(scalar(@instructions), '>', 50000, 'instructions of the server that differ: ' . scalar(@instructions));
my @lengths = ask(join('', map { "i $_\n" } @instructions));
my @wrong = grep { $lengths[$_] != 0 && $lengths[$_] != length($instructions[$_]) / 2 } 0 .. $#instructions;

is(join(' ', map { $instructions[$_] } @wrong > 20 ? @wrong[ 0 .. 19 ] : @wrong), '', 'none has another length than the disassembler says');
cmp_ok(scalar(grep { $_ != 0 } @lengths), '>', 10000, 'many of them are known');
@lengths = ask(join('', map { "l $_\n" } @instructions));
@wrong = grep { $lengths[$_] != length($instructions[$_]) / 2 } 0 .. $#instructions;
is(join(' ', map { $instructions[$_] } @wrong > 20 ? @wrong[ 0 .. 19 ] : @wrong), '', 'every one has the length that the disassembler says');

done_testing();
