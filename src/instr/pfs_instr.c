/*
 * pfs_instr.c
 *	  Puts the wrappers of all families into the server's slots and reports what
 *	  became of each.
 *
 * Separate from the families' files, which say only which functions they wrap: what is
 * done with a list of wrappers is the same for all of them.
 */
#include "postgres.h"

#include "pfs_instr.h"
#include "pfs_instr_prove.h"
#include "pfs_memory_counted.h"
#include "pfs_setup.h"

/* More than all families have together. */
#define PATCHES_MAX 96

#define ITEM(name) name,
static const PfsGotPatch *const families[] = {PFS_WRAPPED_CALLS(ITEM)};
typedef void (*Start) (void);
static const Start starts[] = {PFS_STARTS(ITEM)};

/* Postmaster memory: what became of the slots, for every making of instruments. */
static PfsGotPatch patches[PATCHES_MAX];
static int	npatches = 0;

/* Collects the wrappers of all families into one list of slots to patch. */
static void
collect(void)
{
	for (int f = 0; f < lengthof(families); f++)
	{
		for (const PfsGotPatch *call = families[f]; call->symbol != NULL; call++)
		{
			Assert(npatches < PATCHES_MAX);
			patches[npatches++] = *call;
		}
	}
}

static bool
has_failed(const PfsGotPatch *patch)
{
	return patch->result != PFS_GOT_PATCHED && patch->result != PFS_GOT_NOT_IMPORTED;
}

/* Why a slot is not used, by its result; PFS_GOT_PROTECTED says more. */
static const char *const reasons[] = {
	[PFS_GOT_PENDING] = "the server binary has no dynamic section that pfs understands",
	[PFS_GOT_UNCHANGED] = "the system lets its slot be written and keeps the old content",
	[PFS_GOT_UNSUPPORTED] = "the server binary has no dynamic section that pfs understands",
	[PFS_GOT_UNRESOLVED] = "no library of the server has the function",
	[PFS_GOT_UNSEEN] = "calls of the server go past its slot",
};

/* Reports one slot as a row of pfs.probes. What this server does not call is not missing. */
static void
report(const PfsGotPatch *patch)
{
	const char *why_not = reasons[patch->result];

	if (patch->result == PFS_GOT_NOT_IMPORTED)
		return;
	if (patch->result == PFS_GOT_PROTECTED)
		why_not = psprintf("could not make the slot's page writable: %s", strerror(patch->error));
	pfs_prove_report("", "got", patch->symbol, why_not);
}

/*
 * Says in the documentation of instruments whose probe could not be set that they are
 * incomplete or unavailable. Called whenever the instruments have been made anew.
 */
void
pfs_instr_mark_unavailable(void)
{
	pfs_each_instrument(ins)
	{
		for (int p = 0; p < npatches; p++)
		{
			if (has_failed(&patches[p]) && pfs_pattern_match(patches[p].needed_by, ins->name))
				ins->documentation = "Incomplete or unavailable: a probe could not be set, pfs.probes says which and why.";
		}

		/*
		 * Slots of many families stand for nearly all instruments; these know
		 * better.
		 */
#define SAY(its_class, is_missing, text) \
		if (ins->class == its_class && !(ins->properties & PFS_PROPERTY_BUILT_IN) && (is_missing)) \
			ins->documentation = text;
		PFS_MISSING(SAY);
	}
}

/*
 * Sets all probes and reports them, in the postmaster. A probe that cannot be set costs
 * its instruments and one line in the log, and the server starts all the same.
 */
void
pfs_instr_start(void)
{
	int			failed = 0;
	int			wanted = 0;

	collect();
	pfs_got_patch(patches, npatches);
	pfs_prove_start(patches, npatches);
	for (int i = 0; i < npatches; i++)
	{
		report(&patches[i]);
		failed += has_failed(&patches[i]);
		wanted += patches[i].result != PFS_GOT_NOT_IMPORTED;
	}
	for (int i = 0; i < lengthof(starts); i++)
		starts[i] ();

	if (failed > 0)
		ereport(LOG,
				(errmsg("pfs: %d of %d probes are unavailable", failed, wanted),
				 errhint("SELECT * FROM pfs.probes WHERE status = 'unavailable' says why.")));
}
