#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# What does a program body of your own cost, against one that only counts?
# usage (as root): own-body.sh [BODY.bpf.c [ROW [OPTION...]]]
# The body is my_body.bpf.c beside this script, the row rawtp; options are those of bpftrig compare: -d 5, --fail-above 10.
# It ends with the verdict, "rawtp is slower: 8 % more time a trigger", and the exit status of compare.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
bpftrig=${BPFTRIG:-$here/../bpftrig}
body=${1:-$here/my_body.bpf.c} row=${2:-rawtp}
[ $# -lt 2 ] || shift
[ $# = 0 ] || shift

# A name without blanks, for the sides of compare are split at those.
object=$(mktemp /tmp/own-body-XXXXXX)
trap 'rm -f "$object"' EXIT
"${CLANG:-clang}" -target bpf -mcpu=v3 -O2 -Wall -c "$body" -o "$object"
"$bpftrig" compare "$@" "$row" "$row --obj $object"
