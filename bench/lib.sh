# shellcheck shell=bash
#
# What the benchmarks share: a private server, and variants of its settings.
#
# A variant is NAME=CONF; CONF is 'library,library;setting=value;setting=value'.
# The first variant of a run is the base that the others are compared with.
#
# From the environment, for scripts/bench: BENCH_FIGURES, a file to which figures are
# added for bench/report; BENCH_BUILT, a folder with a tree and a server that are
# built already.

# shellcheck source=scripts/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../scripts/lib.sh"

dir=''	# of the server
tree=''	# the copy that was built

# figure KIND WORD... NUMBER...: one line for bench/report
figure() {
	[ -z "${BENCH_FIGURES:-}" ] || (IFS=$'\t' && printf '%s\n' "$*" >>"$BENCH_FIGURES")
}

# Build pfs and its test module for a private server, all in this folder.
#	bench_build FOLDER VERSION; sets BINDIR
bench_build() {
	mkdir -p "$1/tree"
	copy_tree "$1/tree"
	private_server "$1/server" "$2"
	build_and_install "$1/tree" || die "the build failed"
}

# bench_server VERSION SCALE <SETTINGS: pfs built and installed, pgbench's tables
# filled, the server stopped again.  Sets dir.
bench_server() {
	local version=$1 scale=$2
	# In a folder with another Debian, elsewhere() has seen to what is needed.
	[ -e /.pfs-debian ] || "$PFS_TOP/scripts/setup" --server "$version" bench
	make_scratch
	dir=$PFS_SCRATCH/bench
	tree=$PFS_SCRATCH/tree
	if [ -n "${BENCH_BUILT:-}" ] && [ -d "$BENCH_BUILT/server$(bin_of "$version")" ]; then
		cp -a "$BENCH_BUILT/tree" "$BENCH_BUILT/server" "$PFS_SCRATCH/"
		BINDIR=$PFS_SCRATCH/server$(bin_of "$version")
	else
		bench_build "$PFS_SCRATCH" "$version"
	fi
	start_server "$dir" < <(cat; echo "include_if_exists = 'variant.conf'")
	cd "$PFS_SCRATCH"
	[ "$scale" -eq 0 ] || "$BINDIR/pgbench" -i -q -s "$scale" >"$dir/init.log" 2>&1 ||
		{ cat "$dir/init.log" >&2; die "pgbench -i failed"; }
	stop_server "$dir"
}

# Install the module that measures inside of a backend.
bench_module() {
	make -s -C "$tree/sql_tests/modules/pfs_bench" PG_CONFIG="$BINDIR/pg_config" install >"$PFS_SCRATCH/module.log" 2>&1 ||
		{ tail -n 20 "$PFS_SCRATCH/module.log" >&2; die "the module does not build"; }
}

# Make CONF the settings of the next start.
set_variant() {
	local -a parts
	IFS=';' read -ra parts <<<"$1"
	{
		echo "shared_preload_libraries = '${parts[0]:-}'"
		printf '%s\n' "${parts[@]:1}"
	} >"$dir/data/variant.conf"
}

# A server for a variant, stopped, where several run at once: a copy of dir's, in a folder
# of its own.
#	server_of_variant NUMBER CONF
server_of_variant() {
	local own=$PFS_SCRATCH/$1
	mkdir -m 700 "$own"
	cp -a "$dir/data" "$own/data"
	if is_root; then chown "$(pfs_user)" "$own"; fi
	echo "unix_socket_directories = '$own'" >>"$own/data/postgresql.conf"
	dir=$own set_variant "$2"
}

has_library() { [ -e "$("$BINDIR/pg_config" --pkglibdir)/$1.so" ]; }

# Variants that do less: the library with all off, and what pg_stat_statements has, too.
pfs_off="pfs-off=pfs;pfs.instruments='%=OFF';pfs.consumers='%=OFF'"
statements_alone="statements-alone=pfs;pfs.instruments='wait/%=OFF, idle=OFF, transaction=OFF'"
statements_alone+=";pfs.consumers='events_%_history=OFF, events_%_history_long=OFF'"

# Waits alone; and all but rows of tables.
waits_alone="statement/%=OFF, stage/%=OFF, transaction=OFF"
pfs_waits="pfs-waits=pfs;pfs.instruments='$waits_alone'"
pfs_all="pfs-all=pfs;pfs.instruments='%=ON, wait/io/table/handler=OFF'"

# What people run together where they have no pfs: numbers of statements, their processor time
# and reads as the system counts them, and waits by samples every 10 ms.
stack='stack=pg_stat_statements,pg_stat_kcache,pg_wait_sampling;pg_wait_sampling.profile_period=10'

# Keep of the array variants those whose libraries are installed.  Needs BINDIR.
installed_variants() {
	local variant library
	local -a libraries found=()
	for variant in "${variants[@]}"; do
		IFS=, read -ra libraries <<<"$(sed 's/^[^=]*=//; s/;.*//' <<<"$variant")"
		for library in "${libraries[@]}"; do
			has_library "$library" || { warn "$library is not installed: ${variant%%=*} is left out"; continue 2; }
		done
		found+=("$variant")
	done
	variants=("${found[@]}")
}

# The variants that all workloads are measured with, into the array variants; those
# whose libraries are installed.  Needs BINDIR.
all_variants() {
	variants=('base=' "$pfs_off" "$pfs_waits" 'pfs=pfs' "$pfs_all" 'pg_stat_statements=pg_stat_statements'
		'pg_wait_sampling=pg_wait_sampling' "$stack")
	installed_variants
}

# Those that also look at statements inside others, as pfs does.
nested_variants() {
	variants+=('pg_stat_statements-all=pg_stat_statements;pg_stat_statements.track=all'
		"${stack/stack=/stack-all=};pg_stat_statements.track=all;pg_stat_kcache.track=all")
	installed_variants
}

# More of them for lookups, which have budgets of their own.
more_variants() {
	variants+=("pfs-stages=pfs;pfs.instruments='stage/%=ON'" "pfs-waits-memory=pfs;pfs.instruments='$waits_alone, memory/%=ON'"
		"pfs-contended=pfs;pfs.lwlock_events=contended" "pfs-lwlocks=pfs;pfs.lwlock_events=all")
}

# ---- workloads ----

workloads='lookups tpcb reads connect shapes'
# Other ways to execute a lookup, and a row that is written: for bench/instructions.
more_workloads='execute nested pipeline copy'

# workload NAME: sets args (of pgbench), scale and settings for it.
workload() {
	scale=0 settings=(autovacuum=off jit=off checkpoint_timeout=1h max_wal_size=8GB)
	case $1 in
		lookups) scale=10 args='-S -M prepared' ;;
		# The disk's time for a commit would hide the server's.
		tpcb) scale=10 args='-M prepared' settings+=(synchronous_commit=off) ;;
		reads) args='-M prepared -f workload.sql' settings+=(shared_buffers=1MB) ;;
		connect) scale=10 args='-C -S' ;;
		shapes) args='-f workload.sql -D n=-1' ;;
		execute) scale=10 args='-f workload.sql -D scale=10 -D prepared=0' ;;
		nested | pipeline) scale=10 args='-M prepared -f workload.sql -D scale=10' ;;
		copy) args='-f workload.sql' settings+=(synchronous_commit=off) ;;
		*) die "no such workload: $1 (there are: $workloads $more_workloads)" ;;
	esac
	[ "$1" = reads ] || settings+=(shared_buffers=256MB)
}

# Make what a workload needs, on the running server, in the current folder.
fill_workload() {
	case $1 in
		reads)
			# A row is a page, and all of them are in the system's cache.
			sql -c 'CREATE TABLE big (i int PRIMARY KEY, v text)' -c 'ALTER TABLE big ALTER v SET STORAGE PLAIN' \
				-c "INSERT INTO big SELECT g, repeat('x', 5000) FROM generate_series(1, 4000) g"
			printf '%s\n' '\set i random(1, 3900)' 'SELECT sum(octet_length(v)) FROM big WHERE i BETWEEN :i AND :i + 49;' >workload.sql
			;;
		shapes)
			sql -c 'CREATE TABLE shapes (i int PRIMARY KEY, c0 int, c1 int, c2 int, c3 int, c4 int, c5 int, c6 int, c7 int, c8 int, c9 int)' \
				-c 'INSERT INTO shapes SELECT g, g, g, g, g, g, g, g, g, g, g FROM generate_series(1, 100) g'
			# Three of ten columns in each order: 1,000, one after the other.
			printf '%s\n' '\set n (:n + 1) % 1000' '\set a :n % 10' '\set b (:n / 10) % 10' '\set c :n / 100' \
				'\set i random(1, 100)' 'SELECT c:a, c:b, c:c FROM shapes WHERE i = :i;' >workload.sql
			;;
		execute)
			# Once in each session.
			printf '%s\n' '\if :prepared = 0' 'PREPARE lookup (int) AS SELECT abalance FROM pgbench_accounts WHERE aid = $1;' \
				'\set prepared 1' '\endif' '\set aid random(1, 100000 * :scale)' 'EXECUTE lookup (:aid);' >workload.sql
			;;
		nested)
			sql -c 'CREATE FUNCTION lookup(a int) RETURNS int LANGUAGE plpgsql AS
				$$ DECLARE b int; BEGIN SELECT abalance INTO b FROM pgbench_accounts WHERE aid = a; RETURN b; END $$'
			printf '%s\n' '\set aid random(1, 100000 * :scale)' 'SELECT lookup(:aid);' >workload.sql
			;;
		pipeline)
			{
				echo '\startpipeline'
				for _ in $(seq 100); do
					printf '%s\n' '\set aid random(1, 100000 * :scale)' 'SELECT abalance FROM pgbench_accounts WHERE aid = :aid;'
				done
				echo '\endpipeline'
			} >workload.sql
			;;
		copy)
			# The server finds the file in its own folder.
			sql -c 'CREATE TABLE copied (i int, v text)'
			printf '1\tone\n' >"$dir/data/one.row"
			chmod 644 "$dir/data/one.row"
			echo "COPY copied FROM 'one.row';" >workload.sql
			;;
	esac
	sql -c 'VACUUM ANALYZE' -c 'CHECKPOINT'
}

# Processor time of a server so far, in us: the postmaster, its children, and those
# that are over.
server_time() {
	local pid
	pid=$(head -n 1 "$dir/data/postmaster.pid")
	{ cat /proc/[0-9]*/stat 2>/dev/null || :; } | awk -v pid="$pid" -v ticks="$(getconf CLK_TCK)" '
		{ self = $1; sub(/.*\) /, "") }
		self == pid { n += $12 + $13 + $14 + $15 }
		$2 == pid { n += $12 + $13 }
		END { printf "%.0f\n", n * 1e6 / ticks }'
}

# Is it time for another round?  more_rounds ROUND ROUNDS MINUTES: at least two, then
# until the minutes are over, if any are given.
more_rounds() {
	[ "$1" -le "$2" ] || return 1
	[ "$3" = 0 ] || [ "$1" -le 2 ] || awk -v s="$SECONDS" -v m="$3" 'BEGIN { exit !(s < 60 * m) }'
}

# A server for each of `variants`, side by side, stopped, and the client that gives them turns
# (bench/turns.c), as "$PFS_SCRATCH/turns".  Sets conninfos.
#	bench_side_by_side VERSION
bench_side_by_side() {
	local i
	bench_server "${1:-$(default_version)}" 1 <<'CONF'
shared_buffers = 64MB
max_connections = 250
autovacuum = off
jit = off
checkpoint_timeout = 1h
CONF
	ulimit -n 4096 2>/dev/null || :
	cc -Wall -Wextra -O2 -I"$("$BINDIR/pg_config" --includedir)" -o "$PFS_SCRATCH/turns" "$tree/bench/turns.c" \
		-L"$("$BINDIR/pg_config" --libdir)" -lpq || die "turns.c does not compile"
	conninfos=()
	for i in "${!variants[@]}"; do
		server_of_variant "$i" "${variants[i]#*=}"
		conninfos+=("host=$PFS_SCRATCH/$i")
	done
}
