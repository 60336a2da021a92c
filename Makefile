# pfs: every wait of a live PostgreSQL server, readable and switchable by SQL.
#
#   make, make install       build and install with the server that PG_CONFIG names; also the
#                            program pfs (client/), where its libraries are
#   make installcheck        test the installed extension on private, temporary servers
#   make lint                all warnings as errors, layer directions, indentation, that
#                            what tools/sql writes is no older than the lists, and that
#                            the first minor releases have what the library takes from them
#   make coverage            which lines and functions of src/ the tests reach (gcov)
#
# scripts/test does all of it on a private copy of the server and installs
# nothing; see CONTRIBUTING.md.

EXTENSION = pfs
MODULE_big = pfs
DATA = sql/pfs--1.0.sql sql/pfs--1.0--1.1.sql sql/pfs--1.1--1.2.sql
PGFILEDESC = "pfs - exact waits of a live server"

TOP =
include src/build.mk
OBJS = $(SRCS:.c=.o)
DEPS = $(OBJS:.o=.d)

# -MMD and the include at the end track headers, which PGXS does only where the server was
# built with --enable-depend.
PG_CPPFLAGS += -MMD -MP

# A test is a file; the order of parallel groups, where it matters, is in a
# schedule (scripts/installcheck).
REGRESS := $(sort $(basename $(notdir $(wildcard sql_tests/sql/*.sql))))
ISOLATION := $(sort $(basename $(notdir $(wildcard sql_tests/specs/*.spec))))
PROVE_TESTS := $(sort $(wildcard sql_tests/t/*.pl))
TEST_MODULES := $(sort $(dir $(wildcard sql_tests/modules/*/Makefile)))

LINT_CFLAGS = -Wall -Wextra -Werror -Wno-unused-parameter -Wno-sign-compare \
	-Wshadow=local -Wmissing-prototypes
LINT_OBJS := $(patsubst %.c,lint/%.o,$(SRCS) $(sort $(wildcard sql_tests/modules/*/*.c sql_tests/hammer/*.c sql_tests/hammer/*/*.c)))

EXTRA_CLEAN = $(DEPS) lint sql_tests/hammer/hammer

# Our own rule below: PGXS's would need a running server with pfs loaded.
NO_INSTALLCHECK = 1

PG_CONFIG ?= pg_config
PGXS := $(shell $(PG_CONFIG) --pgxs)
$(if $(PGXS),,$(error $(PG_CONFIG) is no pg_config: say make PG_CONFIG=/path/to/pg_config))
include $(PGXS)

# Not optimized across files, even where the server is: that gave nothing (bench/README.md), and
# functions keep the names by which a debugger, and a test, stop in them.
override CFLAGS += -fno-lto

# Where pfs cannot work, this file says so: it comes first and is the only message.
$(filter-out src/probe/pfs_platform.o,$(OBJS)): | src/probe/pfs_platform.o
src/probe/pfs_platform.o: CFLAGS += -Wfatal-errors

$(VERSIONED): pfs.control

# The program pfs has a makefile of its own.  The extension needs none of its libraries: where
# one is missing, everything else is built.
IN_CLIENT = -C client PG_CONFIG='$(if $(findstring /,$(PG_CONFIG)),$(abspath $(PG_CONFIG)),$(PG_CONFIG))'
CLIENT_MISSING := $(strip $(shell $(MAKE) -s --no-print-directory $(IN_CLIENT) missing))

all: client
install: install-client
uninstall: uninstall-client

ifeq ($(CLIENT_MISSING),)
client:
	$(MAKE) $(IN_CLIENT) all

install-client: client
	$(MAKE) $(IN_CLIENT) install

lint-client:
	$(MAKE) -s $(IN_CLIENT) lint check
else
client:
	@echo 'The program pfs is not built, only the extension; missing: $(CLIENT_MISSING)  (scripts/setup installs them)'

install-client: client

lint-client: client
	@exit 1
endif

uninstall-client:
	$(MAKE) $(IN_CLIENT) uninstall

# PGXS removes the objects of one folder only.
clean: clean-test-modules clean-client

clean-client:
	$(MAKE) -C client clean

.PHONY: lint lint-objects imports installcheck coverage test-modules clean-test-modules hammer \
	client install-client uninstall-client lint-client clean-client

lint: lint-objects lint-client imports
	tools/check-layers --objects
	tools/words
	tools/twins
	tools/release-files
	tools/indent --check
	CC='$(CC)' tools/sql --check

lint-objects: $(LINT_OBJS)

imports: $(shlib)
	tools/imports $(shlib) $(MAJORVERSION)

lint/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(LINT_CFLAGS) $(CPPFLAGS) -I$(libpq_srcdir) $(CFLAGS_SL) -c -o $@ $<

# The containers know no backend, so this links them with nothing of the server.  What is
# tested of the record layer needs its headers, and says itself what else.
HAMMER_SRCS := $(sort $(wildcard src/container/*.c sql_tests/hammer/*.c sql_tests/hammer/record/*.c)) \
	$(addprefix src/record/event/,pfs_account.c pfs_account_enter.c pfs_account_evict.c pfs_charge.c pfs_departed.c \
		pfs_local.c pfs_summary.c pfs_summary_move.c pfs_thread_sets.c pfs_wait_kind.c) \
	$(addprefix src/record/,ledger/pfs_pending.c node/pfs_node.c node/pfs_node_area.c object/pfs_wait_lookup.c object/pfs_lwlock_event.c) \
	$(addprefix src/record/statement/,pfs_digest.c pfs_digest_count.c pfs_digest_evict.c pfs_digest_pending.c \
		pfs_digest_rows.c pfs_digest_wait.c pfs_event_cell.c pfs_statement_open.c) \
	$(addprefix src/record/read/,pfs_account_read.c pfs_digest_read.c pfs_digest_rows_read.c \
		pfs_digest_truncate.c pfs_lwlock_event_read.c pfs_node_read.c pfs_own_blocks.c pfs_pending_read.c pfs_summary_read.c \
		pfs_summary_truncate.c pfs_thread_copy.c)

hammer: sql_tests/hammer/hammer

sql_tests/hammer/hammer: $(HAMMER_SRCS) $(wildcard src/container/*.h src/compat/*.h src/record/*/*.h sql_tests/hammer/*.h sql_tests/hammer/record/*.h)
	$(CC) -std=gnu11 -O2 -g -Wall -D_GNU_SOURCE -fno-omit-frame-pointer $(HAMMER_CFLAGS) \
		$(addprefix -I,$(SRC_DIRS)) -I$(includedir_server) -o $@ $(HAMMER_SRCS) -lpthread -lrt

test-modules:
	@set -e; for module in $(TEST_MODULES); do $(MAKE) -C $$module PG_CONFIG='$(PG_CONFIG)' all; done

clean-test-modules:
	@set -e; for module in $(TEST_MODULES); do $(MAKE) -C $$module PG_CONFIG='$(PG_CONFIG)' clean; done

installcheck: test-modules
	PG_CONFIG='$(PG_CONFIG)' REGRESS='$(REGRESS)' ISOLATION='$(ISOLATION)' \
		PROVE_TESTS='$(PROVE_TESTS)' EXTRA_REGRESS_OPTS='$(EXTRA_REGRESS_OPTS)' \
		scripts/installcheck

# Options are those of the script, as the shell reads them: make coverage COVERAGE="--only '^tables_'"
coverage:
	scripts/coverage $(COVERAGE)

-include $(DEPS)
-include $(LINT_OBJS:.o=.d)
