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
	 * with its place: four bytes each.
	 */
	uint32_t	nrelative;
	struct
	{
		uint32_t	operand;	/* offset of the four bytes */
		uint32_t	end;		/* offset of the next instruction */
	}			relative[4];
} PfsPrologue;

/* Does the code begin with endbr64? */
extern bool pfs_decode_is_endbr64(const uint8_t *code, size_t size);

/*
 * Decode at least `need` bytes of the `size` bytes that the function has.  False:
 * something that is not known, or the function is too short.
 */
extern bool pfs_decode_prologue(const uint8_t *code, size_t size, uint32_t need, PfsPrologue *p);

/*
 * Copy the prologue to another address.  False: what it refers to would be out
 * of reach there; `to` is undefined then.
 */
extern bool pfs_decode_move(const PfsPrologue *p, const uint8_t *from, uint8_t *to, uintptr_t to_address);

/* Addresses, both ends included. */
typedef struct PfsCodeRange
{
	uintptr_t	first;
	uintptr_t	last;
} PfsCodeRange;

/*
 * Can any jump or call in these bytes lead into one of the ranges?  Its number,
 * or -1.  Looks at every byte as if an instruction began there, so it may say yes
 * without reason, never no.  code_address: where code[0] runs.  Direct jumps only;
 * jump tables never lead into a prologue.
 */
extern int	pfs_decode_leads_to(const uint8_t *code, size_t size, uintptr_t code_address,
								const PfsCodeRange *ranges, int nranges);

#endif							/* PFS_DECODE_H */
