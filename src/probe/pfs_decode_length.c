/*
 * pfs_decode_length.c
 *	  How long an x86-64 instruction is, to find where the next one begins.
 *
 * Nothing is said of what it does.  What 64-bit code cannot contain has no length.
 */
#include "pfs_decode.h"

/*
 * What follows an opcode, by opcode:
 *	'n' nothing; 'b' one byte, 'w' two, 'd' four, or two with the operand size prefix,
 *	'r' four always, 'q' four, or eight with REX.W; 'o' an address; 'e' three bytes;
 *	'm' ModRM with what belongs to it, 'M' and one byte, 'D' and as 'd';
 *	't' ModRM, and one byte if it is a test, 'T' and as 'd' if it is one;
 *	'.' no such instruction, or a prefix.
 */
static const char one_byte[] =
 /* 00 */ "mmmmbd..mmmmbd.."
 /* 10 */ "mmmmbd..mmmmbd.."
 /* 20 */ "mmmmbd..mmmmbd.."
 /* 30 */ "mmmmbd..mmmmbd.."
 /* 40 */ "................"
 /* 50 */ "nnnnnnnnnnnnnnnn"
 /* 60 */ "...m....dDbMnnnn"
 /* 70 */ "bbbbbbbbbbbbbbbb"
 /* 80 */ "MD.Mmmmmmmmmmmmm"
 /* 90 */ "nnnnnnnnnn.nnnnn"
 /* a0 */ "oooonnnnbdnnnnnn"
 /* b0 */ "bbbbbbbbqqqqqqqq"
 /* c0 */ "MMwn..MDenwnnb.n"
 /* d0 */ "mmmm...nmmmmmmmm"
 /* e0 */ "bbbbbbbbrr.bnnnn"
 /* f0 */ ".n..nntTnnnnnnmm";

/* Behind 0f. */
static const char two_bytes[] =
 /* 00 */ "mmmm.nnnnn.n.mn."
 /* 10 */ "mmmmmmmmmmmmmmmm"
 /* 20 */ "mmmm....mmmmmmmm"
 /* 30 */ "nnnnnn.n........"
 /* 40 */ "mmmmmmmmmmmmmmmm"
 /* 50 */ "mmmmmmmmmmmmmmmm"
 /* 60 */ "mmmmmmmmmmmmmmmm"
 /* 70 */ "MMMMmmmnmm..mmmm"
 /* 80 */ "rrrrrrrrrrrrrrrr"
 /* 90 */ "mmmmmmmmmmmmmmmm"
 /* a0 */ "nnnmMm..nnnmMmmm"
 /* b0 */ "mmmmmmmmmmMmmmmm"
 /* c0 */ "mmMmMMMmnnnnnnnn"
 /* d0 */ "mmmmmmmmmmmmmmmm"
 /* e0 */ "mmmmmmmmmmmmmmmm"
 /* f0 */ "mmmmmmmmmmmmmmmm";

#define LONGEST 15				/* the processor takes no longer one */

typedef struct Prefixes
{
	bool		operand_size;	/* 66 */
	bool		address_size;	/* 67 */
	bool		rex_w;
} Prefixes;

/* Is it one of the legacy prefixes, which may stand in any order? */
static bool
is_prefix(uint8_t byte)
{
	switch (byte)
	{
		case 0x26:
		case 0x2e:
		case 0x36:
		case 0x3e:
		case 0x64:
		case 0x65:
		case 0x66:
		case 0x67:
		case 0xf0:
		case 0xf2:
		case 0xf3:
			return true;
	}
	return false;
}

/*
 * The opcode of an instruction of vectors, behind c4, c5 or 62: 'm', 'M' or 'n'.
 * *at: of the byte behind c4, c5 or 62; then behind the opcode.
 */
static char
vector_kind(const uint8_t *code, size_t size, size_t *at)
{
	uint8_t		lead = code[*at - 1];
	size_t		opcode_at = *at + (lead == 0xc5 ? 1 : lead == 0xc4 ? 2 : 3);
	uint8_t		map;

	if (opcode_at >= size)
		return '.';
	map = lead == 0xc5 ? 1 : code[*at] & (lead == 0xc4 ? 0x1f : 0x07);
	*at = opcode_at + 1;
	switch (map)
	{
		case 1:
			return two_bytes[code[opcode_at]];
		case 2:
		case 5:
		case 6:
			return 'm';
		case 3:
			return 'M';
	}
	return '.';
}

/* What follows the opcode; *at: of it, then behind it. */
static char
kind_of(const uint8_t *code, size_t size, size_t *at)
{
	uint8_t		op = code[(*at)++];

	if (op == 0xc4 || op == 0xc5 || op == 0x62)
		return vector_kind(code, size, at);
	if (op != 0x0f)
		return one_byte[op];
	if (*at >= size)
		return '.';
	op = code[(*at)++];
	if (op != 0x38 && op != 0x3a)
		return two_bytes[op];
	(*at)++;
	return op == 0x38 ? 'm' : 'M';
}

/* Returns the length of the instruction at code; 0: not known. */
uint32_t
pfs_decode_length(const uint8_t *code, size_t size)
{
	Prefixes	has = {false, false, false};
	size_t		at = 0;
	uint32_t	four;
	uint32_t	relative;
	uint32_t	modrm = 0;
	uint32_t	more = 0;
	char		kind;

	if (size > LONGEST)
		size = LONGEST;
	for (; at < size && is_prefix(code[at]); at++)
	{
		has.operand_size |= code[at] == 0x66;
		has.address_size |= code[at] == 0x67;
	}
	if (at < size && (code[at] & 0xf0) == 0x40)
		has.rex_w = (code[at++] & 0x08) != 0;
	if (at >= size)
		return 0;
	kind = kind_of(code, size, &at);
	if (at > size)
		return 0;
	four = has.operand_size && !has.rex_w ? 2 : 4;
	switch (kind)
	{
		case 'm':
		case 'M':
		case 'D':
		case 't':
		case 'T':
			modrm = pfs_decode_modrm_length(code + at, size - at, &relative);
			if (modrm == 0)
				return 0;
			break;
	}
	switch (kind)
	{
		case 'n':
		case 'm':
			break;
		case 'b':
		case 'M':
			more = 1;
			break;
		case 'w':
			more = 2;
			break;
		case 'e':
			more = 3;
			break;
		case 'r':
			more = 4;
			break;
		case 'd':
		case 'D':
			more = four;
			break;
		case 'q':
			more = has.rex_w ? 8 : four;
			break;
		case 'o':
			more = has.address_size ? 4 : 8;
			break;
		case 't':
		case 'T':
			/* The first two of the eight that share this opcode. */
			if ((code[at] & 0x30) == 0)
				more = kind == 't' ? 1 : four;
			break;
		default:
			return 0;
	}
	at += modrm + more;
	return at <= size ? (uint32_t) at : 0;
}
