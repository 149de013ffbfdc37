# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
"""Installs peers from the distribution (Debian, Ubuntu) without starting them as services."""

import os
import shutil
import subprocess
import sys

# Debian's packages start no service that policy-rc.d forbids. An existing policy remains.
SCRIPT = """
policy=/usr/sbin/policy-rc.d
made=no
[ -e "$policy" ] || { printf '#!/bin/sh\\nexit 101\\n' >"$policy"; chmod 755 "$policy"; made=yes; }
status=0
{ apt-get -qq update && DEBIAN_FRONTEND=noninteractive apt-get -qq -y --no-install-recommends \
    install "$@" >/dev/null; } || status=$?
[ "$made" = no ] || rm -f "$policy"
exit $status
"""


def install(missing):
    """Installs packages. A peer that cannot be installed is left out later, like any other missing peer."""
    packages = [peer.package for peer in missing]
    if not packages:
        return
    if not shutil.which("apt-get"):
        print("compare: there is no apt-get to install with: " + " ".join(packages), file=sys.stderr)
        return
    as_root = [] if os.geteuid() == 0 else ["sudo"]
    print("installing: " + " ".join(packages), file=sys.stderr)
    for package in packages:  # one by one, because an unknown name must not stop the others
        done = subprocess.run([*as_root, "sh", "-ec", SCRIPT, "install", package], check=False)
        if done.returncode:
            print(f"compare: {package} could not be installed", file=sys.stderr)
