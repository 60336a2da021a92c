/*
 * fuzz_decode.c
 *	  The decoder of x86-64 instructions: any bytes, of any length.
 *
 * Input: two choices, then the code.
 */
#include "pfs_decode.h"

#include "fuzz.h"

#define LONGEST 15

/* Where an operand of so many bytes leads, counted from the first byte of the code. */
static int64_t
target(const uint8_t *code, uint32_t operand, bool is_short, uint32_t end)
{
	int32_t		distance;

	if (is_short)
		return (int64_t) end + (int8_t) code[operand];
	memcpy(&distance, code + operand, 4);
	return (int64_t) end + distance;
}

/* Each operand leads where it led, and all other bytes are as they were. */
static void
check_moved(const PfsPrologue *p, const uint8_t *code, const uint8_t *to, uint32_t length, int64_t distance)
{
	uint32_t	more = 0;		/* bytes that jumps have got so far */
	uint32_t	done = 0;

	for (uint32_t i = 0; i < p->nrelative; i++)
	{
		bool		is_short = p->relative[i].is_short;
		uint32_t	operand = p->relative[i].operand;
		uint32_t	end = p->relative[i].end;
		uint32_t	same = operand - (is_short ? 1 : 0);

		FUZZ_CHECK(memcmp(to + done + more, code + done, same - done) == 0);
		if (is_short)
		{
			FUZZ_CHECK(to[same + more] == 0x0f && to[same + more + 1] == code[same] + 0x10);
			more += 4;
			FUZZ_CHECK(target(to, operand + more - 3, false, end + more) + distance == target(code, operand, true, end));
		}
		else
			FUZZ_CHECK(target(to, operand + more, false, end + more) + distance == target(code, operand, false, end));
		done = operand + (is_short ? 1 : 4);
	}
	FUZZ_CHECK(memcmp(to + done + more, code + done, p->length - done) == 0);
	FUZZ_CHECK(length == p->length + more);
}

static void
check_prologue(const uint8_t *code, size_t size, uint32_t need)
{
	PfsPrologue p;
	uint8_t		to[PFS_DECODE_MOVED_MAX];
	uint32_t	length;

	if (!pfs_decode_prologue(code, size, need, &p))
		return;
	FUZZ_CHECK(p.length >= need && p.length <= size && p.length <= PFS_DECODE_MAX);
	FUZZ_CHECK(p.nrelative <= PFS_DECODE_RELATIVE);
	for (uint32_t i = 0; i < p.nrelative; i++)
		FUZZ_CHECK(p.relative[i].operand + (p.relative[i].is_short ? 1 : 4) <= p.relative[i].end &&
				   p.relative[i].end <= p.length);
	length = pfs_decode_move(&p, code, to, (uintptr_t) code + 4096);
	if (length != 0)
		check_moved(&p, code, to, length, 4096);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	FuzzInput	in = {data, size};
	uint32_t	need = fuzz_take(&in, 1) % (PFS_DECODE_MAX + 8);
	uint32_t	place = fuzz_take(&in, 1);
	size_t		n = in.size;
	uint8_t    *code = fuzz_copy(in.data, n);
	uintptr_t	address = UINT64_C(0x400000);
	PfsCodeRange ranges[2] = {{address + place, address + place + 4}, {address - 9, address - 1}};
	uint32_t	relative;
	int			led;

	for (size_t at = 0; at <= n; at++)
	{
		uint32_t	length = pfs_decode_length(code + at, n - at);
		uint32_t	modrm = pfs_decode_modrm_length(code + at, n - at, &relative);

		FUZZ_CHECK(length <= LONGEST && length <= n - at);
		FUZZ_CHECK(modrm <= 6 && modrm <= n - at);
		/* More bytes behind it are another instruction's. */
		if (length > 0)
			FUZZ_CHECK(pfs_decode_length(code + at, length) == length);
	}
	check_prologue(code, n, need);
	(void) pfs_decode_is_endbr64(code, n);
	(void) pfs_decode_returns_to(code, n, place, place + 4);
	led = pfs_decode_leads_to(code, n, address, ranges, 2);
	FUZZ_CHECK(led >= -1 && led < 2);
	free(code);
	return 0;
}
