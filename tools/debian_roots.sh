#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
#
# Builds the Debian package of the commit that is checked out in fresh minimal roots of other Debian releases, and
# prepares roots in which tests/system/test_package.py and test_host_networks.py install and run it.
# Usage: tools/debian_roots.sh FOLDER SUITE...
#   FOLDER  gets a few folders for each suite, 2.2 GB together; a second run builds again and keeps the rest
#   SUITE   bookworm, trixie
# Then: NAILUP_ROOTS=FOLDER python3 -m pytest tests/system/test_package.py tests/system/test_host_networks.py
# Needs root, debootstrap, and the network for Debian's packages.
set -eu
usage() { sed -n '/^# Usage/,/^# Needs/s/^# \{0,1\}//p' "$0" >&2; exit 2; }
[ $# -ge 2 ] || usage
for word; do case $word in -* | '') usage ;; esac; done
command -v debootstrap >/dev/null || { echo "$0: needs debootstrap" >&2; exit 1; }
mkdir -p "$1"
folder=$(cd "$1" && pwd)
shift
cd "$(dirname "$0")/.."
# shellcheck disable=SC2016 # apt's own variable
mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' | head -n 1)

# in_root ROOT COMMAND...: runs a command in a root. None of its processes survives, because their namespace ends.
in_root() {
    inside=$1
    shift
    unshare -mp --fork --kill-child --mount-proc="$inside/proc" chroot "$inside" env -i \
        PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive "$@"
}

install_in() {
    into=$1
    shift
    in_root "$into" apt-get -qq update
    in_root "$into" apt-get -qq -y --no-install-recommends install "$@" >/dev/null
}

# The steps are separate commands, because set -e does not stop for a failure on the left of &&.

# finish FROM TO: moves a root to its place, so that it appears only when it is complete.
finish() {
    rm -rf "$2"
    mv "$1" "$2"
}

for suite; do
    base=$folder/$suite.base
    if [ ! -d "$base" ]; then
        rm -rf "$base.new"
        debootstrap --variant=minbase "$suite" "$base.new" "$mirror" >"$folder/$suite.log"
        finish "$base.new" "$base"
    fi

    build=$folder/$suite.build
    if [ ! -d "$build" ]; then
        rm -rf "$build.new"
        cp -a "$base" "$build.new"
        finish "$build.new" "$build"
    fi
    rm -rf "$build/source"
    mkdir "$build/source"
    git archive HEAD | tar -x -C "$build/source"
    in_root "$build" sh -ec 'cd /source; tools/setup.sh build release; cd build/release; cpack -G DEB' >>"$folder/$suite.log"
    cp "$build"/source/build/release/nailup_*.deb "$folder/$suite.deb"
    install_in "$build" lintian
    in_root "$build" sh -c 'lintian --allow-root --fail-on error,warning /source/build/release/nailup_*.deb'

    # apt finds the libraries that the package needs.
    root=$folder/$suite.root
    if [ ! -d "$root" ]; then
        rm -rf "$root.new"
        cp -a "$base" "$root.new"
        cp "$folder/$suite.deb" "$root.new/nailup.deb"
        install_in "$root.new" /nailup.deb
        in_root "$root.new" dpkg --purge nailup >/dev/null
        rm "$root.new/nailup.deb"
        finish "$root.new" "$root"
    fi

    booted=$folder/$suite.booted
    if [ ! -d "$booted" ]; then
        rm -rf "$booted.new"
        cp -a "$root" "$booted.new"
        install_in "$booted.new" systemd systemd-sysv dbus iproute2 bind9-dnsutils network-manager \
            network-manager-openvpn openvpn openssl networkd-dispatcher procps
        finish "$booted.new" "$booted"
    fi
    echo "$suite: $(dpkg-deb -f "$folder/$suite.deb" Version), $(sha256sum "$folder/$suite.deb" | cut -d ' ' -f 1)"
done
