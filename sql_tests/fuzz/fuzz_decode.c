/*
 * fuzz_decode.c
 *	  The decoder of x86-64 instructions: any bytes, of any length.
 *
 * Input: two choices, then the code.
 */
#include "pfs_decode.h"

#include "fuzz.h"

#define LONGEST 15

static void
check_prologue(const uint8_t *code, size_t size, uint32_t need)
{
	PfsPrologue p;
	uint8_t		to[PFS_DECODE_MAX];
	uintptr_t	near = (uintptr_t) code + 4096;

	if (!pfs_decode_prologue(code, size, need, &p))
		return;
	FUZZ_CHECK(p.length >= need && p.length <= size && p.length <= PFS_DECODE_MAX);
	FUZZ_CHECK(p.nrelative <= 4);
	for (uint32_t i = 0; i < p.nrelative; i++)
		FUZZ_CHECK(p.relative[i].operand + 4 <= p.relative[i].end && p.relative[i].end <= p.length);
	/* What it refers to stays where it is. */
	if (pfs_decode_move(&p, code, to, near))
	{
		for (uint32_t i = 0; i < p.nrelative; i++)
		{
			int32_t		before;
			int32_t		after;

			memcpy(&before, code + p.relative[i].operand, 4);
			memcpy(&after, to + p.relative[i].operand, 4);
			FUZZ_CHECK(after == before - 4096);
		}
	}
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
