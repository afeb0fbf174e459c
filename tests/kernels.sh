# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
# Debian's kernel images, for the guests that test.sh boots. To be sourced; then
#	image=$(kernel_fetch x86_64-6.1)
# is the path of an image in the cache, downloaded where it must be. It works on a Debian machine, as any user, and leaves the
# machine's own apt state alone.

# NAME, Debian's architecture, suites to look in, package. The newest version in the suites is taken, so that a suite which has
# left the mirror, as old ones do, is no harm while its -security part is there.
KERNEL_TABLE='
x86_64-5.10   amd64    bullseye,bullseye-security  linux-image-cloud-amd64
x86_64-6.1    amd64    bookworm,bookworm-security  linux-image-cloud-amd64
x86_64-6.12   amd64    trixie,trixie-security      linux-image-cloud-amd64
x86_64-new    amd64    trixie-backports            linux-image-cloud-amd64
arm64-6.12    arm64    trixie,trixie-security      linux-image-cloud-arm64
riscv64-6.12  riscv64  trixie,trixie-security      linux-image-riscv64
s390x-6.1     s390x    bookworm,bookworm-security  linux-image-s390x
arm-6.12      armhf    trixie,trixie-security      linux-image-armmp
musl-arm64    arm64    bookworm                    musl-dev
musl-riscv64  riscv64  trixie                      musl-dev
musl-s390x    s390x    bookworm                    musl-dev
musl-arm      armhf    bookworm                    musl-dev
'

kernel_say() { printf 'kernel_fetch: %s\n' "$*" >&2; }

# kernel_fetch NAME: the path of an image of that row. One that was got or looked up in the last 7 days is used unasked; where
# asking fails, an older one is.
kernel_fetch() {
	local cache row image

	row=$(awk -v name="${1-}" '$1 == name' <<<"$KERNEL_TABLE")
	[ -n "$row" ] || { kernel_say "no kernel is named '${1-}'"; return 1; }
	cache=$(realpath -m "${BPFTRIG_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/bpftrig}")
	image=$(kernel_cached "$cache" "$1" -mtime -7)
	[ -n "$image" ] || image=$(kernel_download "$cache" "$row") || {
		image=$(kernel_cached "$cache" "$1")
		[ -n "$image" ] || return 1
		kernel_say "using the older $image"
	}
	printf '%s\n' "$image"
}

# kernel_cached CACHE NAME [FIND-TEST...]: the newest image of NAME, if there is one. The digit is the version's first: no NAME is
# another one with "-" and a digit behind it.
kernel_cached() {
	{ find "$1" -maxdepth 1 -name "$2-[0-9]*" "${@:3}" -printf '%T@ %p\n' 2>/dev/null || :; } | sort -rn | sed -n '1s/^[^ ]* //p'
}

# kernel_download CACHE ROW: brings the row's newest image into the cache and prints its path. In a subshell, for a trap, a
# directory and exits of its own. Files are made in a temporary directory, and the image is renamed last: nobody sees half of one.
kernel_download() (
	set -o pipefail
	export LC_ALL=C # apt's complaints are found by their English beginnings
	read -r name arch suites package <<<"$2"
	fail() { kernel_say "$name: $*"; exit 1; }
	complaint() { grep -Em1 '^(E|W|Error|Warning): ' log; }
	grep -qx 'ID=debian' /etc/os-release || fail 'only a Debian machine can fetch kernels'
	tmp=$({ mkdir -p "$1" && mktemp -d "$1/.tmp.XXXXXX"; } 2>/dev/null) || fail "cannot write to $1"
	trap 'rm -rf "$tmp"' EXIT
	find "$1" -maxdepth 1 -name '.tmp.*' -mmin +1440 -exec rm -rf {} + # of runs that were killed
	cd "$tmp" && mkdir -p {lists,cache/archives}/partial tree && : >status || exit

	# The mirrors are the machine's own, and apt, which reads every form of its sources, tells them. The one that has the machine's
	# release has the others too; security updates are on one of their own.
	releases=$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)"|stable|testing|unstable|sid"
	mirrors=$(apt-get update --print-uris 2>log | grep -v "^'cdrom:" |
		sed -nE "s,^'(.*)/dists/($releases)(-security)?/main/.*,main\3 \1,p" | sort -u)
	# The index of an old release is not renewed any more, which is no reason to turn it down: its date is not looked at. Its
	# signature is.
	options='target=Packages check-valid-until=no signed-by=/usr/share/keyrings/debian-archive-keyring.gpg'
	for suite in ${suites//,/ }; do
		case $suite in *-security) kind=main-security ;; *) kind=main ;; esac
		sed -n "s,^$kind \(.*\),deb [$options] \1 $suite main,p" <<<"$mirrors"
	done >sources.list
	[ -s sources.list ] || fail "no mirror of Debian in this machine's apt sources"

	# Read behind the machine's configuration, which may name a proxy. With the kernel's architecture as apt's only one, foreign
	# kernels need nothing more. No sandbox: apt's unprivileged user may not reach a cache in root's home.
	cat >apt.conf <<-END
		#clear APT::Architectures;
		#clear APT::Update;
		APT { Architecture "$arch"; Architectures { "$arch"; }; Default-Release ""; };
		APT { Sandbox::User "root"; Get::AllowUnauthenticated "false"; };
		Acquire { AllowInsecureRepositories "false"; Retries "1"; http::Timeout "20"; https::Timeout "20"; };
		Dir::Etc { SourceList "$tmp/sources.list"; SourceParts "/dev/null"; };
		Dir::Etc { Preferences "/dev/null"; PreferencesParts "/dev/null"; };
		Dir { State { Lists "$tmp/lists"; status "$tmp/status"; }; Cache "$tmp/cache"; };
	END
	apt-get -c apt.conf -q update >>log 2>&1 || : # a suite may be gone: what is found counts

	# The package depends on that of one version, and this, in newer releases, on a linux-binary package: the last of the chain
	# holds the kernel.
	next=$package
	while [ -n "$next" ]; do
		package=$next
		about=$(apt-cache -c apt.conf show --no-all-versions "$package" 2>>log) || fail "no $package found: $(complaint)"
		next=$(sed -nE 's/^Depends:(.*, | )(linux-(image|binary)-[^ ,]*).*/\2/p' <<<"$about")
	done
	image=$1/$name-$(sed -n 's/^Version: //p' <<<"$about")

	if [ ! -s "$image" ]; then
		apt-get -c apt.conf -q download "$package" >>log 2>&1 || fail "no $package got: $(complaint)"
	fi
	if [ ! -s "$image" ] && [ "$package" = musl-dev ]; then
		mv -f ./*.deb "$image"
	elif [ ! -s "$image" ]; then
		# It is boot/vmlinuz-VERSION or usr/lib/modules/VERSION/vmlinuz.
		dpkg-deb --fsys-tarfile ./*.deb 2>>log | tar -xmC tree --wildcards '*/vmlinu[xz]*' 2>>log ||
			fail "no kernel unpacked from $package: $(tail -n 1 log)"
		find tree -type f -name 'vmlinu[xz]*' -exec mv -f {} "$image" \;
	fi
	[ -s "$image" ] || fail "cannot write $image"
	touch "$image" # an image is as old as the last look at the mirror (hence also tar's -m)
	kernel_cached "$1" "$name" -mtime +6 | xargs -rd '\n' rm -f # the one before it
	printf '%s\n' "$image"
)
