# shellcheck shell=bash
#
# What the comparisons with MariaDB share: an instance of it beside the private
# PostgreSQL server, run by the same user, the variants of both, and the loads of
# sysbench that both have.

# shellcheck source=bench/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

# shellcheck disable=SC2034 # for the scripts
loads=(lookups read_write connect)
maria=''	# the folder of the instance
rows=''	# of sysbench's table; the script's
mariadb_options=()	# the script's, last
mariadb_runner=(as_user)	# what runs the server

# MariaDB, stopped, with no tables; needs bench_server's scratch folder.  Sets maria and mariadbd.
mariadb_instance() {
	maria=$PFS_SCRATCH/mariadb
	trap end_with_mariadb EXIT
	mkdir "$maria"
	if is_root; then chown "$(pfs_user)" "$maria"; fi
	cd "$maria"
	as_user mariadb-install-db --no-defaults --datadir="$maria/data" --auth-root-authentication-method=normal \
		--skip-test-db --skip-name-resolve >"$maria/install.log" 2>&1 ||
		{ tail -n 20 "$maria/install.log" >&2; die "mariadb-install-db failed"; }
	mariadbd=$(PATH=$PATH:/usr/sbin command -v mariadbd) || die "there is no mariadbd"
}

mariadb_sql() { mariadb --no-defaults -S "$maria/socket" -u root -N -B -e "$1" "${@:2}"; }

# start_mariadb OPTION...
start_mariadb() {
	rm -f "$maria/mariadb.pid"
	"${mariadb_runner[@]}" "$mariadbd" --no-defaults --datadir="$maria/data" --socket="$maria/socket" --pid-file="$maria/mariadb.pid" \
		--log-error="$maria/log" --skip-networking --skip-log-bin --skip-name-resolve --innodb-buffer-pool-size=256M \
		--innodb-log-file-size=256M --innodb-flush-log-at-trx-commit=0 "${mariadb_options[@]}" "$@" >>"$maria/log" 2>&1 &
	started=$!
	for _ in $(seq 1200); do
		if mariadb_sql 'SELECT 1' >/dev/null 2>&1; then return; fi
		kill -0 "$started" 2>/dev/null || break
		sleep 0.1
	done
	tail -n 20 "$maria/log"* >&2
	die "MariaDB does not start"
}

# stop_mariadb SIGNAL
stop_mariadb() {
	kill "-$1" "$(cat "$maria/mariadb.pid")"
	wait "$started" 2>/dev/null || :
}

# Stop those that run when the script ends, of its jobs, too.  A pid file can be stale.
end_with_mariadb() {
	local status=$? file pid
	for file in "$PFS_SCRATCH"/*/mariadb.pid; do
		pid=$(cat "$file" 2>/dev/null) || continue
		[ "$(readlink "/proc/$pid/cwd" 2>/dev/null)" = "${file%/*}/data" ] || continue
		kill -KILL "$pid" 2>/dev/null || :
	done
	cleanup_scratch "$status"
}

consumers=()
for consumer in events_{stages,statements,transactions,waits}_{current,history,history_long} \
	global_instrumentation thread_instrumentation statements_digest; do
	consumers+=("--performance-schema-consumer-${consumer//_/-}=ON")
done

# mariadb_variant off|again|default|all: its options, into the array variant_options
# shellcheck disable=SC2034 # for the scripts
mariadb_variant() {
	case $1 in
		off | again) variant_options=(--performance-schema=OFF) ;;
		default) variant_options=(--performance-schema=ON) ;;
		all) variant_options=(--performance-schema=ON --performance-schema-instrument='%=ON' "${consumers[@]}") ;;
	esac
}

# The same of PostgreSQL: its CONF.
postgresql_variant() {
	case $1 in
		off | again) ;;
		default) echo pfs ;;
		all) echo "pfs;pfs.instruments='%=ON';pfs.consumers='%=ON'" ;;
	esac
}

script() {
	case $1 in
		lookups) echo oltp_point_select ;;
		read_write) echo oltp_read_write ;;
		connect) echo "$tree/bench/connect.lua" ;;
	esac
}

# sysbench's options for a server, into the array sysbench_options
sysbench_for() {
	sysbench_options=(--tables=1 --table-size="$rows")
	case $1 in
		mariadb) sysbench_options+=(--db-driver=mysql --mysql-socket="$maria/socket" --mysql-user=root --mysql-db=sbtest) ;;
		postgresql) sysbench_options+=(--db-driver=pgsql --pgsql-host="$PGHOST" --pgsql-port="$PGPORT" --pgsql-user=postgres --pgsql-db=postgres) ;;
	esac
}

# bench SERVER SCRIPT COMMAND OPTION...: what sysbench says is in sysbench.log
bench() {
	local -a sysbench_options
	sysbench_for "$1"
	sysbench "$2" "${sysbench_options[@]}" "${@:4}" "$3" >"$PFS_SCRATCH/sysbench.log" 2>&1 ||
		{ tail -n 20 "$PFS_SCRATCH/sysbench.log" >&2; die "sysbench failed ($1, $2)"; }
}

# Fill the table of both servers, which are stopped before and after.
fill_both() {
	start_mariadb --performance-schema=OFF
	mariadb_sql 'CREATE DATABASE sbtest'
	bench mariadb oltp_point_select prepare
	stop_mariadb TERM
	set_variant ''
	restart_server "$dir"
	bench postgresql oltp_point_select prepare
	sql -c 'VACUUM ANALYZE' -c CHECKPOINT
	stop_server "$dir"
}
