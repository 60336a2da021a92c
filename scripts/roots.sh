# shellcheck shell=bash
#
# Folders with another Debian in them, made by debootstrap, for scripts that need
# another release than the machine's, or one on which nothing is installed yet.
# Only root can make and enter them.
#
# Sourced behind lib.sh, never run.

# The release of a number or a name of Debian.
suite_of() {
	case $1 in
		12) echo bookworm ;;
		13) echo trixie ;;
		*) echo "$1" ;;
	esac
}

# The Debian in whose packages a version of PostgreSQL is, and, if only that version comes
# from there, another suite behind it.
#	suite_of_server VERSION
suite_of_server() {
	case $1 in
		15) echo bookworm ;;
		17) echo trixie ;;
		18) echo testing ;;
		19) echo sid experimental ;;
		*) return 1 ;;
	esac
}

# The mirror of the machine's own packages.
debian_mirror() {
	# shellcheck disable=SC2016 # apt expands it
	apt-get indextargets --format '$(RELEASE) $(REPO_URI)' 2>/dev/null |
		awk '$1 !~ /security|updates|backports/ && $2 ~ /\/debian\/$/ && !found { print $2; found = 1 }'
}

# That of its security updates, if it has them.
security_mirror() {
	# shellcheck disable=SC2016 # apt expands it
	apt-get indextargets --format '$(RELEASE) $(REPO_URI)' 2>/dev/null | awk '$1 ~ /-security$/ && !found { print $2; found = 1 }'
}

# The proxy of the machine's apt, if it has one.
apt_proxy() { apt-config shell p Acquire::http::Proxy | sed -n "s/^p='\(.*\)'$/\1/p"; }

# Run in a folder, with mounts and process ids that end with the command.  Its /tmp is a
# new folder on disk each time: servers in memory would have no real file calls.
#	enter_root ROOT BIND COMMAND...; the folder BIND, unless empty, appears as /pfs
enter_root() (
	root=$1 bind=$2
	shift 2
	tmp=$(mktemp -d "$root.tmp.XXXXXX")
	trap 'rm -rf --one-file-system "$tmp"' EXIT
	trap 'exit 143' INT TERM
	chmod 1777 "$tmp"
	# shellcheck disable=SC2016 # expands inside
	unshare --mount --pid --fork --kill-child --propagation private bash -c '
		set -e
		root=$1 tmp=$2 bind=$3
		shift 3
		# So that what runs inside can have mounts of its own, too.
		mount --bind "$root" "$root"
		mount -t proc proc "$root/proc"
		mount --bind /dev "$root/dev"
		mount --bind /dev/pts "$root/dev/pts"
		mount -t tmpfs -o mode=1777 tmpfs "$root/dev/shm"
		mount --bind "$tmp" "$root/tmp"
		if [ -n "$bind" ]; then
			mkdir -p "$root/pfs"
			mount --bind "$bind" "$root/pfs"
		fi
		exec env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 CI="${CI:-}" chroot "$root" "$@"
	' bash "$root" "$tmp" "$bind" "$@"
)

# Install a package, where it is missing.
#	need_package NAME LOG
need_package() {
	[ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null || :)" != installed ] || return 0
	say "installing $1"
	apt-get update >/dev/null 2>&1 </dev/null || :
	DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends -o DPkg::Lock::Timeout=300 "$1" \
		</dev/null >"$2" 2>&1 || { tail -n 20 "$2" >&2; die "apt-get install $1 failed"; }
}

# Run a command while the kernel gives programs of aarch64 to an emulator.
#	emulating_arm64 COMMAND...
emulating_arm64() {
	need_package qemu-user-static "$PFS_CACHE/qemu.log"
	# shellcheck disable=SC2016 # expands inside
	unshare --mount --propagation private bash -c '
		kinds=/proc/sys/fs/binfmt_misc status=0 mine=no
		mount -t binfmt_misc binfmt_misc $kinds || exit
		if [ ! -e $kinds/qemu-aarch64 ]; then
			cat /usr/lib/binfmt.d/qemu-aarch64.conf >$kinds/register || exit
			mine=yes
		fi
		"$@" || status=$?
		[ $mine = no ] || echo -1 >$kinds/qemu-aarch64
		exit $status
	' bash "$@"
}

# Make a folder with the smallest Debian, in which no service starts; for another kind of
# processor, if the kernel knows what runs its programs.
#	make_root SUITE ROOT LOG [EXTRA_SUITE [ARCHITECTURE]]
make_root() {
	local suite=$1 root=$2 log=$3 extra=${4:-} architecture=${5:-} uri proxy
	need_package debootstrap "$log"
	uri=$(debian_mirror)
	[ -n "$uri" ] || die "no Debian mirror in this machine's apt configuration"
	proxy=$(apt_proxy)
	[ -z "$proxy" ] || export http_proxy=$proxy
	rm -rf --one-file-system "$root"
	mkdir -p "$root"
	# Namespaces also here: package scripts may start things.
	unshare --mount --pid --fork --kill-child --propagation private \
		debootstrap --variant=minbase ${architecture:+--arch="$architecture"} "$suite" "$root" "$uri" >"$log" 2>&1 </dev/null ||
		{ tail -n 20 "$log" >&2; die "debootstrap failed"; }
	# The testing suite's index can be past its date, which says nothing here.
	cat >"$root/etc/apt/apt.conf.d/90pfs" <<-'EOT'
		Acquire::Check-Valid-Until "false";
		APT::Install-Recommends "false";
		APT::Sandbox::User "root";
	EOT
	[ -z "$proxy" ] || echo "Acquire::http::Proxy \"$proxy\";" >>"$root/etc/apt/apt.conf.d/90pfs"
	[ -z "$extra" ] || echo "deb $uri $extra main" >"$root/etc/apt/sources.list.d/$extra.list"
	printf '#!/bin/sh\nexit 101\n' >"$root/usr/sbin/policy-rc.d"
	chmod 755 "$root/usr/sbin/policy-rc.d"
	mkdir -p "$root/etc/postgresql-common/createcluster.d"
	echo "create_main_cluster = false" >"$root/etc/postgresql-common/createcluster.d/pfs.conf"
}

# A new folder with nothing but the smallest Debian, with its lists of packages, a copy of one
# that is kept for the next time.
#	fresh_root SUITE ROOT [EXTRA_SUITE [ARCHITECTURE]]
fresh_root() {
	local base=$PFS_CACHE/base-$1${3:+-$3}${4:+-$4}
	mkdir -p "$PFS_CACHE"
	(
		flock 9
		if [ ! -e "$base/.pfs-base" ]; then
			make_root "$1" "$base" "$base.log" "${3:-}" "${4:-}"
			enter_root "$base" '' apt-get update >>"$base.log" 2>&1 </dev/null
			touch "$base/.pfs-base"
		fi
	) 9>"$base.lock"
	cp -a "$base" "$2"
}

passed=0 failed=0

# One thing that passes or fails as a whole; its output goes to check.log of the scratch folder, and is
# appended to the file that `logs` names, if it does.
#	check NAME COMMAND...
check() {
	local name=$1 log=$PFS_SCRATCH/check.log began=$SECONDS status=0
	shift
	"$@" >"$log" 2>&1 </dev/null || status=$?
	[ -z "${logs:-}" ] || { say "==== $name"; cat "$log"; } >>"$logs"
	if [ "$status" -eq 0 ]; then
		say "$name ... ok ($((SECONDS - began)) s)"
		passed=$((passed + 1))
	else
		say "$name ... FAILED"
		tail -n 40 "$log" | sed 's/^/    /'
		failed=$((failed + 1))
	fi
	return "$status"
}

# The version of a tree's pfs.control.
#	control_version <FILE
control_version() { sed -n "s/^default_version = '\(.*\)'/\1/p"; }

# The releases before this one, from which an update script leads.
old_releases() {
	find "$PFS_TOP/sql" -name 'pfs--*--*.sql' | sed 's/.*pfs--\([0-9.]*\)--.*/\1/' | sort -V
}

# Put the tree of an older release, as it was last in the history of this repository, into a folder
# as pfs-VERSION; fails without such a history.
#	old_release FOLDER VERSION
old_release() {
	local commit next
	# The newest one, or the one before that which began the next version.
	commit=$(git -C "$PFS_TOP" rev-parse HEAD 2>/dev/null) || return
	while read -r next; do
		if [ "$(git -C "$PFS_TOP" show "$next:pfs.control" | control_version)" = "$2" ]; then break; fi
		commit=$next^
	done < <(git -C "$PFS_TOP" rev-list HEAD -- pfs.control)
	[ "$(git -C "$PFS_TOP" show "$commit:pfs.control" 2>/dev/null | control_version)" = "$2" ] || return
	git -C "$PFS_TOP" archive --prefix="pfs-$2/" "$commit" | tar -x -C "$1"
}
