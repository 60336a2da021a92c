/*
 * pfs_decode.h
 *	  The few x86-64 instructions that can be moved from the start of a function
 *	  to another place.
 *
 * Not a disassembler: it knows what compilers begin functions with and refuses
 * everything else, so that what it lets pass is certain to do the same
 * elsewhere.  No word of the server, no memory of its own.
 */
#ifndef PFS_DECODE_H
#define PFS_DECODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Most bytes that a prologue to be moved can have: four and the longest one. */
#define PFS_DECODE_MAX 24

/* Most operands of it that count from the end of their instruction. */
#define PFS_DECODE_RELATIVE 4

/* Most bytes that it has when it was moved: a conditional jump gets four more. */
#define PFS_DECODE_MOVED_MAX (PFS_DECODE_MAX + PFS_DECODE_RELATIVE * 4)

/* An indirect jump may come here: it has to stay where it is. */
#define PFS_ENDBR64_BYTES 4

/*
 * The instructions that lie in the first `need` bytes, whole.
 */
typedef struct PfsPrologue
{
	uint32_t	length;			/* bytes, need or some more */

	/*
	 * Operands that count from the end of their instruction, and so change
	 * with its place: four bytes each, or the one byte of a short conditional
	 * jump.
	 */
	uint32_t	nrelative;
	struct
	{
		uint32_t	operand;	/* offset of its bytes */
		uint32_t	end;		/* offset of the next instruction */
		bool		is_short;	/* one byte */
	}			relative[PFS_DECODE_RELATIVE];
} PfsPrologue;

/* Does the code begin with endbr64? */
extern bool pfs_decode_is_endbr64(const uint8_t *code, size_t size);

/*
 * Decode at least `need` bytes of the `size` bytes that the function has.  False:
 * something that is not known, or the function is too short.
 */
extern bool pfs_decode_prologue(const uint8_t *code, size_t size, uint32_t need, PfsPrologue *p);

/*
 * Copy the prologue to another address, with short conditional jumps as long ones; `to`
 * has PFS_DECODE_MOVED_MAX bytes.  Returns how many it needs there; 0: what it refers to
 * would be out of reach, and `to` is undefined.
 */
extern uint32_t pfs_decode_move(const PfsPrologue *p, const uint8_t *from, uint8_t *to, uintptr_t to_address);

/* Addresses, both ends included. */
typedef struct PfsCodeRange
{
	uintptr_t	first;
	uintptr_t	last;
} PfsCodeRange;

/*
 * Can any jump or call with four bytes of distance in these bytes lead into one of
 * the ranges?  Its number, or -1.  Looks at every byte as if an instruction began
 * there, so it may say yes without reason, never no.  code_address: where code[0]
 * runs.  Direct jumps only; jump tables never lead into a prologue.
 */
extern int	pfs_decode_leads_to(const uint8_t *code, size_t size, uintptr_t code_address,
								const PfsCodeRange *ranges, int nranges);

/*
 * Can a jump with one byte of distance in this function lead to its bytes first
 * to last?  Those are too many to take every byte for one: goes from instruction to
 * instruction, and says yes at the first one that it does not know.  Only a
 * function's own jumps are that short: an assembler makes them where both ends are
 * labels of one section, and compilers give other functions none but their begin.
 */
extern bool pfs_decode_returns_to(const uint8_t *code, size_t size, size_t first, size_t last);

/* Bytes of the instruction, 0: there is no such one. */
extern uint32_t pfs_decode_length(const uint8_t *code, size_t size);

/*
 * Bytes of ModRM, SIB and displacement; 0: not enough bytes.  *relative: the
 * offset of a displacement that counts from the next instruction, else 0.
 */
extern uint32_t pfs_decode_modrm_length(const uint8_t *code, size_t size, uint32_t *relative);

#endif							/* PFS_DECODE_H */
