# What the library is built from, and how: for the makefile at the top, and for those of
# modules that have all of it in them.  TOP: the path to the top, with its slash, or empty.

ROOMS = setup event ledger node statement object memory read load
SRC_DIRS = $(addprefix $(TOP),src src/compat src/container src/probe src/record $(addprefix src/record/,$(ROOMS)) \
	src/plan src/instr src/fdw src/fdw/tables)
# The first one begins the library's own sections, in this order.
SECTIONS = $(TOP)src/pfs_sections.c
SRCS := $(SECTIONS) $(filter-out $(SECTIONS),$(sort $(wildcard $(addsuffix /*.c,$(SRC_DIRS)))))

# Includes are by bare file name.  PostgreSQL 15 leaves PGDLLEXPORT empty, so hidden visibility
# needs our own definition; it repeats what 16 and later say.  A function that the headers do
# not declare would be found missing only when the server does not start.
PG_CPPFLAGS = $(addprefix -I,$(SRC_DIRS)) '-DPGDLLEXPORT=__attribute__((visibility("default")))'
PG_CFLAGS = -std=gnu11 -Werror=implicit-function-declaration -fvisibility=hidden -fno-omit-frame-pointer -fno-plt $(DENSE_CODE)
# Code without gaps: most of what an event passes it passes once, and it shares the processor's
# caches with the server's.  clang warns of such options.
DENSE_CODE = $(if $(findstring clang,$(CC)),,-fno-align-functions -fno-align-jumps -fno-align-loops)
# Which of its functions are called depends on the compiler.
SHLIB_LINK = -lm

# Bitcode would only let the JIT inline our functions, which no plan gains
# from, and it would make clang a condition of building.
override with_llvm = no

# Each allocation and free of the server, and each statement, passes here, and no call that looks
# for its caller is made below.
$(addprefix $(TOP)src/instr/,pfs_instr_memory.o pfs_instr_memory_chunk.o pfs_instr_call.o) $(TOP)src/record/memory/pfs_context.o \
$(addprefix $(TOP)src/record/statement/,pfs_statement%.o pfs_stage.o pfs_transaction.o pfs_p%.o pfs_digest_pending.o): CFLAGS += -fomit-frame-pointer

# The one place that has the version is pfs.control; these show it.
PFS_VERSION := $(shell sed -n "s/^default_version = '\(.*\)'/\1/p" $(TOP)pfs.control)
VERSIONED = $(addprefix $(TOP)src/,pfs_module.o fdw/pfs_table.o)
$(VERSIONED) $(addprefix lint/,$(VERSIONED)): override CPPFLAGS += -DPFS_VERSION='"$(PFS_VERSION)"'
