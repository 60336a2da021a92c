/*
 * pfs_decode.c
 *	  Lengths of prologue instructions, and moving them.
 *
 * An instruction does the same at another address if none of its operands counts
 * from the instruction pointer; those that do in one known way (a memory operand
 * relative to it, a jump with four bytes) are corrected by the distance.  A
 * conditional jump with one byte becomes one with four.
 */
#include <string.h>

#include "pfs_decode.h"

/* Parts of a ModRM byte. */
#define MOD(modrm)	((modrm) >> 6)
#define REG(modrm)	(((modrm) >> 3) & 7)
#define RM(modrm)	((modrm) & 7)

#define REX_W 0x08

bool
pfs_decode_is_endbr64(const uint8_t *code, size_t size)
{
	static const uint8_t endbr64[PFS_ENDBR64_BYTES] = {0xf3, 0x0f, 0x1e, 0xfa};

	return size >= sizeof(endbr64) && memcmp(code, endbr64, sizeof(endbr64)) == 0;
}

/*
 * Bytes of ModRM, SIB and displacement; 0: not enough bytes.  *relative: the
 * offset of a displacement that counts from the next instruction, else 0.
 */
uint32_t
pfs_decode_modrm_length(const uint8_t *code, size_t size, uint32_t *relative)
{
	uint8_t		mod;
	uint8_t		rm;
	uint32_t	length = 1;

	*relative = 0;
	if (size < 1)
		return 0;
	mod = MOD(code[0]);
	rm = RM(code[0]);
	if (mod == 3)
		return 1;
	if (rm == 4)
	{
		if (size < 2)
			return 0;
		length = 2;
		/* No base register, so a displacement takes its place. */
		if (mod == 0 && RM(code[1]) == 5)
			length += 4;
	}
	else if (mod == 0 && rm == 5)
	{
		*relative = 1;
		length += 4;
	}
	if (mod == 1)
		length += 1;
	else if (mod == 2)
		length += 4;
	return length <= size ? length : 0;
}

/* A conditional jump with one byte of distance. */
static inline bool
is_short_jump(const uint8_t *code, size_t size)
{
	return size >= 2 && (code[0] & 0xf0) == 0x70;
}

/*
 * sub of a constant from a register, or cmp of a constant with a register or memory, behind
 * the opcode; bytes of the rest, 0: another operation.
 */
static uint32_t
constant_length(const uint8_t *code, size_t size, uint32_t constant, uint32_t *relative)
{
	uint32_t	length = pfs_decode_modrm_length(code, size, relative);
	bool		is_sub = length > 0 && REG(code[0]) == 5 && MOD(code[0]) == 3;
	bool		is_cmp = length > 0 && REG(code[0]) == 7;

	return (is_sub || is_cmp) && length + constant <= size ? length + constant : 0;
}

/* One instruction; its length, 0: unknown.  *relative as above, from its start. */
static uint32_t
decode_one(const uint8_t *code, size_t size, uint32_t *relative)
{
	uint32_t	at = 0;
	uint8_t		rex = 0;
	uint8_t		op;
	uint32_t	more;

	*relative = 0;
	if (pfs_decode_is_endbr64(code, size))
		return PFS_ENDBR64_BYTES;
	if (size > 0 && (code[0] & 0xf0) == 0x40)
		rex = code[at++];
	if (at >= size)
		return 0;
	op = code[at++];

	if ((op & 0xf8) == 0x50)	/* push register */
		return at;
	if ((op & 0xf8) == 0xb8)	/* mov $imm32, register */
		return (rex & REX_W) == 0 && at + 4 <= size ? at + 4 : 0;
	if (is_short_jump(code, size))
	{
		*relative = at;
		return at + 1;
	}
	switch (op)
	{
		case 0xe9:				/* jmp to another function */
			*relative = at;
			return rex == 0 && at + 4 <= size ? at + 4 : 0;
		case 0x31:				/* xor */
		case 0x33:
		case 0x85:				/* test */
		case 0x87:				/* xchg */
		case 0x89:				/* mov */
		case 0x8b:
		case 0x8d:				/* lea */
			more = pfs_decode_modrm_length(code + at, size - at, relative);
			if (more == 0)
				return 0;
			/* lea of a register does not exist */
			if (op == 0x8d && MOD(code[at]) == 3)
				return 0;
			*relative += *relative ? at : 0;
			return at + more;
		case 0x81:				/* sub or cmp of $imm32 */
		case 0x83:				/* of $imm8 */
			more = constant_length(code + at, size - at, op == 0x81 ? 4 : 1, relative);
			if (more == 0)
				return 0;
			*relative += *relative ? at : 0;
			return at + more;
		default:
			return 0;
	}
}

/* How far an operand leads from the end of its instruction. */
static int64_t
relative_distance(const PfsPrologue *p, uint32_t i, const uint8_t *code)
{
	int32_t		distance;

	if (p->relative[i].is_short)
		return (int8_t) code[p->relative[i].operand];
	memcpy(&distance, code + p->relative[i].operand, sizeof(distance));
	return distance;
}

/* Does a short jump lead to the instructions themselves, which will be elsewhere? */
static bool
jumps_within(const uint8_t *code, const PfsPrologue *p)
{
	for (uint32_t i = 0; i < p->nrelative; i++)
	{
		int64_t		target = p->relative[i].end + relative_distance(p, i, code);

		if (p->relative[i].is_short && target >= 0 && target < p->length)
			return true;
	}
	return false;
}

/*
 * Decodes whole instructions until at least `need` bytes; false: one of them cannot be
 * moved.
 */
bool
pfs_decode_prologue(const uint8_t *code, size_t size, uint32_t need, PfsPrologue *p)
{
	memset(p, 0, sizeof(*p));
	while (p->length < need)
	{
		const uint8_t *at = code + p->length;
		uint32_t	relative;
		uint32_t	length = decode_one(at, size - p->length, &relative);
		bool		jumps = length > 0 && *at == 0xe9;

		if (length == 0 || p->length + length > PFS_DECODE_MAX)
			return false;
		if (relative != 0)
		{
			if (p->nrelative >= PFS_DECODE_RELATIVE)
				return false;
			p->relative[p->nrelative].operand = p->length + relative;
			p->relative[p->nrelative].end = p->length + length;
			p->relative[p->nrelative].is_short = is_short_jump(at, length);
			p->nrelative++;
		}
		p->length += length;
		/* Behind a jump lies something else. */
		if (jumps && p->length < need)
			return false;
	}
	return !jumps_within(code, p);
}

/*
 * Copies the instructions to another address.  A relative operand is written anew, so that
 * it leads where it led; what lies between two of them is copied.
 */
uint32_t
pfs_decode_move(const PfsPrologue *p, const uint8_t *from, uint8_t *to, uintptr_t to_address)
{
	uint32_t	done = 0;
	uint32_t	n = 0;

	for (uint32_t i = 0; i < p->nrelative; i++)
	{
		uint32_t	operand = p->relative[i].operand;
		uint32_t	end = p->relative[i].end;
		bool		is_short = p->relative[i].is_short;
		uint32_t	behind = operand + (is_short ? 1 : 4);
		uint32_t	before = is_short ? operand - 1 : operand;
		int64_t		distance;
		int32_t		moved;

		memcpy(to + n, from + done, before - done);
		n += before - done;
		if (is_short)
		{
			to[n++] = 0x0f;
			to[n++] = 0x80 | (from[before] & 0x0f);
		}
		distance = relative_distance(p, i, from) + (int64_t) ((uintptr_t) from + end) -
			(int64_t) (to_address + n + 4 + (end - behind));
		moved = (int32_t) distance;
		if (moved != distance)
			return 0;
		memcpy(to + n, &moved, sizeof(moved));
		n += 4;
		done = behind;
	}
	memcpy(to + n, from + done, p->length - done);
	return n + p->length - done;
}

/*
 * Where the jump or call with four bytes of distance at `code` leads, counted from
 * there; 0: it is none.
 */
static int64_t
long_distance(const uint8_t *code, size_t size, bool after_0f)
{
	uint8_t		op = code[0];
	int32_t		distance;

	/* call, jmp, and conditional jumps, which are 0f 8x */
	if (size < 5 || !(op == 0xe8 || op == 0xe9 || (after_0f && (op & 0xf0) == 0x80)))
		return 0;
	memcpy(&distance, code + 1, sizeof(distance));
	return 5 + (int64_t) distance;
}

/*
 * Finds a jump or call that leads into one of the ranges.  Every byte is taken as a
 * possible begin of one, so it may find what is none, and never misses one.
 */
int
pfs_decode_leads_to(const uint8_t *code, size_t size, uintptr_t code_address,
					const PfsCodeRange *ranges, int nranges)
{
	uintptr_t	first = UINTPTR_MAX;
	uintptr_t	last = 0;

	for (int r = 0; r < nranges; r++)
	{
		first = ranges[r].first < first ? ranges[r].first : first;
		last = ranges[r].last > last ? ranges[r].last : last;
	}
	for (size_t i = 0; i < size; i++)
	{
		int64_t		distance = long_distance(code + i, size - i, i > 0 && code[i - 1] == 0x0f);
		uintptr_t	target = code_address + i + distance;

		if (distance == 0 || target < first || target > last)
			continue;
		for (int r = 0; r < nranges; r++)
		{
			if (target >= ranges[r].first && target <= ranges[r].last)
				return r;
		}
	}
	return -1;
}

/*
 * Does a jump inside the function lead to one of its bytes first to last?  What cannot be
 * decoded counts as a jump that does.
 */
bool
pfs_decode_returns_to(const uint8_t *code, size_t size, size_t first, size_t last)
{
	for (size_t at = 0; at < size;)
	{
		uint32_t	length = pfs_decode_length(code + at, size - at);
		uint8_t		op = code[at];
		int64_t		target = (int64_t) at + length;

		if (length == 0)
			return true;
		/* jmp, conditional jumps, loop and jrcxz with one byte */
		if (length == 2 && (op == 0xeb || (op & 0xf0) == 0x70 || (op & 0xfc) == 0xe0))
		{
			target += (int8_t) code[at + 1];
			if (target >= (int64_t) first && target <= (int64_t) last)
				return true;
		}
		at += length;
	}
	return false;
}
