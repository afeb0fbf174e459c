#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Unpacks Debian's musl of another architecture into a folder, for cross builds: a static binary a fifth of the size of one with glibc.
# The compiler stays Debian's cross gcc; FOLDER/specs tells it where this libc is. Nothing of the system changes.
# usage: musl.sh ARCH FOLDER
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/kernels.sh
. "$here/kernels.sh"
[ $# = 2 ] || { echo "usage: musl.sh ARCH FOLDER" >&2; exit 2; }

deb=$(kernel_fetch "musl-$1")
rm -rf "$2"
mkdir -p "$2"
folder=$(cd "$2" && pwd)
dpkg-deb -x "$deb" "$folder"
sed "s,/usr/,$folder/usr/,g" "$folder"/usr/lib/*-linux-musl*/musl-gcc.specs >"$folder/specs"
