# shellcheck shell=bash
#
# What the benchmarks share: a private server, and variants of its settings.
#
# A variant is NAME=CONF; CONF is 'library,library;setting=value;setting=value'.
# The first variant of a run is the base that the others are compared with.

# shellcheck source=scripts/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../scripts/lib.sh"

dir=''	# of the server
tree=''	# the copy that was built

# bench_server VERSION SCALE <SETTINGS: pfs built and installed, pgbench's tables
# filled, the server stopped again.  Sets dir.
bench_server() {
	local version=$1 scale=$2
	"$PFS_TOP/scripts/setup" --server "$version" bench
	make_scratch
	dir=$PFS_SCRATCH/bench
	tree=$PFS_SCRATCH/tree
	mkdir "$tree"
	copy_tree "$tree"
	private_server "$PFS_SCRATCH/server" "$version"
	build_and_install "$tree" || die "the build failed"
	start_server "$dir" < <(cat; echo "include_if_exists = 'variant.conf'")
	cd "$PFS_SCRATCH"
	[ "$scale" -eq 0 ] || "$BINDIR/pgbench" -i -q -s "$scale" >"$dir/init.log" 2>&1 ||
		{ cat "$dir/init.log" >&2; die "pgbench -i failed"; }
	stop_server "$dir"
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
