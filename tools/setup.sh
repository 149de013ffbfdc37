#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
#
# Installs missing packages (Debian 12, root or sudo) and builds a preset of CMakePresets.json.
# Usage: tools/setup.sh build|demo|test|check PRESET...
#   build  the programs and manual pages, ready for cpack
#   demo   the same, and the programs that the demonstration starts beside them
#   test   these, the tests, and the programs that the tests use
#   check  the same, but of the preset release only the tests that ./check runs
set -eu
cd "$(dirname "$0")/.."

build_packages="gcc libc6-dev cmake ninja-build pkg-config libuv1-dev libldns-dev libssl-dev libyaml-dev libnghttp2-dev
  libcmocka-dev liburcu-dev libxxhash-dev libsystemd-dev libfstrm-dev python3 dpkg-dev file"
demo_packages="nsd ldnsutils"
test_packages="$demo_packages dnsperf unbound knot bind9 knot-resolver pdns-server pdns-backend-bind pdns-recursor dnsdist stunnel4 haproxy nftables
  bind9-dnsutils bind9-utils knot-dnsutils python3-pytest python3-pytest-xdist python3-jsonschema python3-yaml python3-jinja2 clang
  libclang-rt-14-dev mandoc mkdocs faketime iproute2 openssl procps git prometheus curl lintian systemd zsh fish fstrm-bin shellcheck
  dns-root-data nghttp2-client python3-h2 clang-format-14 clang-tidy-14 cppcheck mold"

case "${1-} ${2-}" in
"build "?* | "demo "?* | "test "?* | "check "?*) ;;
*)
    echo "usage: tools/setup.sh build|demo|test|check PRESET..." >&2
    exit 2
    ;;
esac

packages=$build_packages
what=$1
case $what in
demo) packages="$packages $demo_packages" ;;
test | check) packages="$packages $test_packages" ;;
esac
shift

# targets_of PRESET: the targets that a preset builds; of the tests, only the ones that run with it.
targets_of() {
    case "$what $1" in
    "build "* | "demo "*) echo nailupd nailupctl nailup-bench man completion schema ;;
    *" fuzz") echo fuzz_targets ;;
    *" tsan") echo thread_tests ;;
    "check release") echo optimised_tests ;;
    *) echo all ;;
    esac
}

missing=""
for package in $packages; do
    dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null | grep -qx installed ||
        missing="$missing $package"
done
if [ -n "$missing" ]; then
    echo "installing:$missing"
    as_root=""
    [ "$(id -u)" -eq 0 ] || as_root=sudo
    # Servers come along for the tests; none of them shall be started as a service here.
    $as_root sh -ec '
        policy=/usr/sbin/policy-rc.d
        made=no
        [ -e "$policy" ] || { printf "#!/bin/sh\nexit 101\n" >"$policy"; chmod 755 "$policy"; made=yes; }
        status=0
        { apt-get -qq update && DEBIAN_FRONTEND=noninteractive apt-get -qq -y --no-install-recommends \
            install "$@" >/dev/null; } || status=$?
        [ "$made" = no ] || rm -f "$policy"
        exit $status' setup $missing
fi

for preset in "$@"; do
    cmake --preset "$preset" >/dev/null
    # shellcheck disable=SC2046 # several targets
    cmake --build "build/$preset" --target $(targets_of "$preset")
done
