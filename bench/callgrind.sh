# shellcheck shell=bash
#
# What the benchmarks that use valgrind share: jobs that have a processor each, a client
# that is never ahead of its session, a PostgreSQL server whose sessions callgrind counts,
# and the way to versions of PostgreSQL that this machine's packages do not have.

# shellcheck source=bench/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

# The processors that this process may use.
own_processors() {
	perl -ne 'print join " ", map { /(\d+)-(\d+)/ ? $1 .. $2 : $_ } split /,/, $1 if /^Cpus_allowed_list:\s*(\S+)/' /proc/self/status
}

# Call FUNCTION with the numbers 0 to COUNT - 1, so many at a time.  Each job has a folder
# dir, in which PostgreSQL has its socket, and a processor cpu: server and client share it.
# With two, it is chance whether the next message is there when the server looks for it
# or makes it wait once more.
#	in_jobs JOBS COUNT FUNCTION
in_jobs() {
	local jobs=$1 count=$2 i pid
	local -a cpus pids=()
	read -ra cpus <<<"$(own_processors)"
	[ "$jobs" -le ${#cpus[@]} ] || jobs=${#cpus[@]}
	for ((i = 0; i < jobs; i++)); do
		job "$i" "$jobs" "$count" "$3" "${cpus[i]}" &
		pids+=($!)
	done
	for pid in "${pids[@]}"; do
		wait "$pid" || die "a job failed"
	done
}

# job NUMBER JOBS COUNT FUNCTION PROCESSOR
job() {
	local i
	dir=$PFS_SCRATCH/job$1 cpu=$5 PGHOST=$PFS_SCRATCH/job$1
	mkdir "$dir"
	if is_root; then chown "$(pfs_user)" "$dir"; fi
	for ((i = $1; i < $3; i += $2)); do
		"$4" "$i"
	done
}

# pgbench's script of a workload, with a pause before each statement.  Whether a session
# finds its next message there, or has to wait for it, which costs more, would otherwise
# be chance; with most clients it waits.  Fails for workloads that are no such script.
#	patient_script WORKLOAD MILLISECONDS
patient_script() {
	local before='[A-Z].*;$'
	# A pipeline is sent as one.
	[ "$1" != pipeline ] || before='.startpipeline'
	{
		case $1 in
			lookups) "$BINDIR/pgbench" --show-script=select-only 2>&1 ;;
			tpcb) "$BINDIR/pgbench" --show-script=tpcb-like 2>&1 ;;
			reads | execute | nested | pipeline | copy) cat workload.sql ;;
			*) return 1 ;;
		esac
	} | sed "s/^$before/\\\\sleep $2 ms\n&/"
}

# Return where this machine's packages have a version of PostgreSQL.  Where they have not, run
# the same benchmark in a folder with a newer Debian, and end; in its figures the version
# stands behind the workload.
#	elsewhere PROGRAM VERSION ARGUMENT...
elsewhere() {
	local program=$1 version=$2 status=0
	shift 2
	if has_server "$version"; then return; fi
	"$PFS_TOP/scripts/setup" --server "$version" bench
	if has_server "$version"; then return; fi
	make_scratch
	mkdir "$PFS_SCRATCH/tree"
	copy_tree "$PFS_SCRATCH/tree"
	: >"$PFS_SCRATCH/tree/figures"
	# shellcheck disable=SC2016 # for the shell inside
	PFS_DEBIAN_BIND=$PFS_SCRATCH/tree "$PFS_TOP/scripts/debian" "$version" sh -c '
		{ command -v valgrind || { apt-get update && apt-get install -y valgrind; } } >/tmp/log 2>&1 || { cat /tmp/log >&2; exit 1; }
		# Not every Debian has these for every version.
		for library in wait-sampling stat-kcache; do
			package=postgresql-$3-pg-$library
			[ -z "$(apt-cache madison "$package")" ] || apt-get install -y "$package" >/tmp/log 2>&1 || { cat /tmp/log >&2; exit 1; }
		done
		cd /pfs && BENCH_FIGURES=/pfs/figures "$@"' sh "/pfs/bench/$program" --server "$version" "$@" || status=$?
	[ -z "${BENCH_FIGURES:-}" ] ||
		awk -F '\t' -v OFS='\t' -v version="$version" '{ $2 = $2 "-" version; print }' "$PFS_SCRATCH/tree/figures" >>"$BENCH_FIGURES"
	exit "$status"
}

# Under callgrind, on the processor cpu.  Addresses that differ would make counts differ.
under_callgrind() {
	as_user env -u PGHOST taskset -c "$cpu" setarch -R valgrind --tool=callgrind --vgdb-prefix="$dir/vgdb" "$@"
}

# Run a client; what it says is only worth seeing when it fails.
client() {
	taskset -c "$cpu" "$@" >"$dir/client.log" 2>&1 || { cat "$dir/client.log" "$dir/valgrind.log" >&2; die "${1##*/} failed"; }
}

# Start a PostgreSQL server of these files with the settings CONF, in the folder dir.
#	start_counted FILES CONF
start_counted() {
	rm -rf "$dir/data"
	cp -a "$1" "$dir/data"
	set_variant "$2"
	# What a process inherits from the postmaster is not its own: counts begin with
	# the first function that a child calls.  Postgres takes its socket folder from its
	# settings, not from PGHOST.
	under_callgrind --trace-children=yes --zero-before=InitPostmasterChild --callgrind-out-file="$dir/callgrind.%p" \
		"$BINDIR/postgres" -D "$dir/data" -k "$dir" >"$dir/valgrind.log" 2>&1 &
	for _ in $(seq 600); do
		if "$BINDIR/pg_isready" -q; then break; fi
		sleep 0.2
	done
}

# The postmaster, and the number of its children that are no sessions.  After the last
# statement that is not to be counted.
settle_counted() {
	postmaster=$(head -n 1 "$dir/data/postmaster.pid")
	sleep 1
	others=$(sql -c "SELECT count(*) FROM pg_stat_activity WHERE backend_type <> 'client backend'")
}

stop_counted() {
	kill -QUIT "$postmaster"
	wait
}

# The postmaster's children, by number.
children() { { grep -l "^PPid:[[:space:]]*$1\$" /proc/[0-9]*/status 2>/dev/null || :; } | wc -l; }

# Instructions in files of counts: "summary" counts since the start of the process,
# "totals" where there is none.
counts_of() {
	local file
	for file; do
		awk '/^(summary|totals):/ { n = $2 } END { print n + 0 }' "$file"
	done | awk '{ n += $1 } END { printf "%.0f\n", n }'
}

# Instructions of all sessions of a client.
#	sessions COMMAND...
sessions() {
	rm -f "$dir"/callgrind.*
	client "$@"
	# They write their counts when they end.
	for _ in $(seq 600); do
		[ "$(children "$postmaster")" -gt "$others" ] || break
		sleep 0.1
	done
	counts_of "$dir"/callgrind.*
}
