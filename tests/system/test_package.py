# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
"""The Debian package: made of a release build by cpack, read by lintian, and led through its life
in a copy of this system's root (an overlay that goes when the test ends), with a network of its
own. NAILUP_RELEASE names the build directory; else the one under test is taken, or build/release
where that one has sanitizers."""

import os
import pathlib
import re
import shutil
import subprocess

import pytest

from conftest import BUILD, ROOT


def is_release(build):
    cache = build and build / "CMakeCache.txt"
    return (cache and cache.exists() and (build / "CPackConfig.cmake").exists() and
            (build / "src/nailupd").exists() and (build / "man/nailupd.8").exists() and
            re.search(r"^NAILUP_SANITIZE:STRING=$", cache.read_text(), re.M) and
            re.search(r"^CMAKE_BUILD_TYPE:STRING=Rel", cache.read_text(), re.M))


def find_release():
    named = os.environ.get("NAILUP_RELEASE")
    places = [pathlib.Path(named)] if named else [BUILD, ROOT / "build/release"]
    return next((place for place in places if is_release(place)), None)


def run(*words, **more):
    return subprocess.run([*map(str, words)], text=True, capture_output=True, timeout=300, **more)


@pytest.fixture
def package(tmp_path):
    """The path of the package."""
    release = find_release()
    if not release:
        pytest.skip("there is no release build with manuals: tools/setup.sh build release")
    for tool in ("cpack", "dpkg-shlibdeps", "strip"):
        if not shutil.which(tool):
            pytest.skip(f"needs {tool}")
    done = run("cpack", "-G", "DEB", "--config", release / "CPackConfig.cmake", "-B", tmp_path / "p")
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr
    return next((tmp_path / "p").glob("nailup_*.deb"))


def test_lintian_accepts_the_package_and_nothing_is_missing(package):
    listed = run("dpkg-deb", "-c", package).stdout
    for path in ("./usr/sbin/nailupd", "./usr/sbin/nailupctl", "./usr/bin/nailup-bench",
                 "./etc/nailup/nailup.yaml", "./usr/lib/systemd/system/nailupd.service",
                 "./usr/lib/systemd/system/nailupd.socket", "./usr/lib/sysusers.d/nailup.conf",
                 "./usr/lib/tmpfiles.d/nailup.conf", "./usr/share/man/man8/nailupd.8.gz",
                 "./usr/share/man/man5/nailup.yaml.5.gz", "./usr/share/man/man7/nailup-metrics.7.gz",
                 "./usr/share/doc/nailup/examples/prometheus/nailup.rules.yml",
                 "./usr/share/doc/nailup/examples/grafana/nailup.json",
                 "./usr/share/doc/nailup/examples/nailup.yaml"):
        assert f" {path}\n" in listed, path
    assert run("dpkg-deb", "--ctrl-tarfile", package, errors="replace").stdout
    assert "/etc/nailup/nailup.yaml" in run("dpkg-deb", "-I", package, "conffiles").stdout
    if not shutil.which("lintian"):
        pytest.skip("the rest needs lintian")
    done = run("lintian", "--allow-root", "--fail-on", "error,warning", package)
    assert done.returncode == 0, done.stdout


# In namespaces of its own for mounts, processes and network. Says what it found; python judges.
LIFE = r"""
set -eu
work=$1 old=$2 new=$3
say() { echo "== $*"; }
mount --make-rprivate /
mount -t tmpfs none "$work" && mkdir "$work/upper" "$work/work" "$work/root"
mount -t overlay -o "lowerdir=/,upperdir=$work/upper,workdir=$work/work" none "$work/root" ||
    { say no overlay; exit 0; }
root=$work/root
mount -t proc proc "$root/proc"
mount --rbind /dev "$root/dev"
mount -t tmpfs -o mode=755 none "$root/run"
mount -t tmpfs -o mode=1777 none "$root/tmp"
ip link set lo up
cp "$old" "$root/tmp/old.deb"
cp "$new" "$root/tmp/new.deb"
in_root() { chroot "$root" "$@"; }
# As the unit would; $! is the daemon.
start() {
    chroot "$root" setpriv --reuid nailup --regid nailup --init-groups --bounding-set -all,+net_bind_service \
        --inh-caps -all,+net_bind_service --ambient-caps -all,+net_bind_service --no-new-privs \
        nailupd 2>>"$root/tmp/log" &
    daemon=$!
    for _ in $(seq 300); do in_root nailupctl status >/dev/null 2>&1 && return; sleep 0.1; done
    cat "$root/tmp/log"
    exit 1
}
stop() { kill "$daemon"; status=0; wait "$daemon" || status=$?; say exit $status; }
ask() { in_root dig @127.0.0.1 "$1" A +short +tries=1 +timeout=10; }
ours() {
    find "$root/etc" "$root/usr" "$root/var" "$root/run" -xdev -name '*nailup*' | sed "s,^$root,,"
    in_root getent passwd nailup || true
    in_root getent group nailup || true
}
ours >"$root/tmp/before"

in_root dpkg --no-triggers -i /tmp/old.deb
say user "$(in_root getent passwd nailup | cut -d: -f6,7)"
say enabled "$(ls "$root/etc/systemd/system/multi-user.target.wants/nailupd.service")"
say state "$(stat -c '%U %a' "$root/var/lib/nailup" | sed "s/^UNKNOWN/nailup/")"
say uid "$(stat -c %u "$root/var/lib/nailup")" "$(in_root id -u nailup)"
start
say fresh "$(ask localhost)"
say owner "$(stat -c '%u %a' "$root/run/nailup/control.sock")"
stop

chroot "$root" nailup-bench responder --listen 127.0.0.1@5300 >/dev/null &
responder=$!
sed -i -e 's/^    upstreams: .*/    upstreams: [127.0.0.1@5300]/' -e 's/^    transport: tls/    trust-ad: no/' \
    "$root/etc/nailup/nailup.yaml"
in_root nailupd -t
start
say answer "$(ask www.example.org)"
stop
kill $responder
wait $responder || true
say kept "$(ls "$root/var/lib/nailup" | tr '\n' ' ')"
in_root dpkg --no-triggers -i /tmp/new.deb </dev/null
say version "$(in_root dpkg-query -W -f '${Version}' nailup)"
say edited "$(grep -c 127.0.0.1@5300 "$root/etc/nailup/nailup.yaml")"
start
say again "$(ask www.example.org)"
stop

in_root dpkg --no-triggers -r nailup
say removed "$(ls "$root/etc/nailup" "$root/var/lib/nailup" | grep -v : | tr '\n' ' ')"
in_root dpkg --no-triggers -P nailup
ours >"$root/tmp/after"
diff "$root/tmp/before" "$root/tmp/after" && say purged
"""


def make_successor(package, folder):
    """The same package with the next version."""
    tree = folder / "tree"
    assert run("dpkg-deb", "-R", package, tree).returncode == 0
    control = tree / "DEBIAN/control"
    control.write_text(re.sub(r"^(Version: .*-)1$", r"\g<1>2", control.read_text(), flags=re.M))
    made = folder / "successor.deb"
    done = run("dpkg-deb", "--root-owner-group", "-Zgzip", "-b", tree, made)
    assert done.returncode == 0, done.stderr
    return made


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, for a copy of the system's root")
def test_it_installs_starts_upgrades_with_its_cache_and_leaves_nothing(package, tmp_path):
    for tool in ("unshare", "ip", "setpriv", "dig", "systemd-sysusers", "deb-systemd-helper"):
        if not shutil.which(tool):
            pytest.skip(f"needs {tool}")
    if run("unshare", "-mnp", "--fork", "mount", "-t", "tmpfs", "none", "/mnt").returncode:
        pytest.skip("needs namespaces and mounts, which this kernel or container refuses")
    work = tmp_path / "work"
    work.mkdir()
    successor = make_successor(package, tmp_path)
    done = run("unshare", "-mnp", "--fork", "--kill-child", "sh", "-c", LIFE, "sh", work, package,
               successor)
    said = dict(line[3:].partition(" ")[::2] for line in done.stdout.splitlines()
                if line.startswith("== "))
    everything = done.stdout + done.stderr
    if "no" in said:
        pytest.skip("this kernel or container mounts no overlay over its root")
    assert done.returncode == 0, everything
    assert said["user"] == "/var/lib/nailup:/usr/sbin/nologin", everything
    assert said["enabled"].endswith("nailupd.service")
    assert said["state"].endswith(" 700") and len(set(said["uid"].split())) == 1, everything
    assert said["fresh"] == "127.0.0.1", everything
    assert said["owner"] == said["uid"].split()[0] + " 660"
    assert "cache.snapshot" in said["kept"], everything
    assert re.fullmatch(r"[\d.]+", said["answer"]), everything
    assert said["version"].endswith("-2") and said["edited"] == "1", everything
    assert said["again"] == said["answer"], everything  # though nobody can be asked
    assert "nailup.yaml" in said["removed"] and "cache.snapshot" in said["removed"], everything
    assert "purged" in said, everything
    assert done.stdout.count("== exit 0\n") == 3, everything
