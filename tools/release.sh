#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
#
# Makes a release of the commit that is checked out: the source as a tarball, the Debian package of this
# system, and their sums. The same commit on the same system gives the same bytes.
# Usage: tools/release.sh [--source] FOLDER
#   --source  only the tarball
#   FOLDER    gets nailup-VERSION.tar.gz, nailup_VERSION-1_ARCHITECTURE.deb and SHA256SUMS
set -eu
usage() { sed -n '/^# Usage/,/^#   FOLDER/s/^# \{0,1\}//p' "$0" >&2; exit 2; }
only_source=no
[ "${1-}" != --source ] || { only_source=yes; shift; }
case ${1-} in "" | -*) usage ;; esac
[ $# -eq 1 ] || usage
mkdir -p "$1"
folder=$(cd "$1" && pwd)
cd "$(dirname "$0")/.."
[ -z "$(git status --porcelain --untracked-files=no)" ] ||
    echo "$0: changed files are not part of the release; commit them first" >&2

version=$(sed -n 's/^project(nailup VERSION \([0-9.]*\) .*/\1/p' CMakeLists.txt)
name=nailup-$version
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH TZ=UTC LC_ALL=C
umask 022
git archive --format=tar --prefix="$name/" HEAD | gzip -9n >"$folder/$name.tar.gz"

if [ $only_source = no ]; then
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
    tar -xzf "$folder/$name.tar.gz" -C "$work"
    # No path of this machine may reach the programs. Debug information, which the package leaves out, would
    # bring the folder of the build into their build ids.
    map=-ffile-prefix-map=$work/$name=/usr/src/$name
    jobs=$(nproc)
    (
        cd "$work/$name"
        cmake --preset release -DNAILUP_TESTS=OFF -DCMAKE_C_FLAGS="$map" -DCMAKE_C_FLAGS_RELWITHDEBINFO="-O2 -DNDEBUG" >/dev/null
        cmake --build build/release -j "$jobs" --target nailupd nailupctl nailup-bench man completion schema >/dev/null
        cd build/release && cpack -G DEB >/dev/null
    )
    cp "$work/$name/build/release"/nailup_*.deb "$folder"
fi
cd "$folder"
if [ $only_source = yes ]; then
    sha256sum "$name.tar.gz" >SHA256SUMS
else
    sha256sum "$name.tar.gz" nailup_*.deb >SHA256SUMS
fi
cat SHA256SUMS
