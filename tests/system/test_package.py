# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
"""The Debian package: made from a release build by cpack, checked by lintian, and taken through its life in a copy
of this system's root (an overlay that goes away with the test), with its own network. NAILUP_RELEASE names
the build directory. Without it the build under test counts, or build/release if that one has sanitizers.
With NAILUP_ROOTS, the folder of tools/debian_roots.sh, its packages live in its roots too."""

import fcntl
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


def make_package(folder, **more):
    """Makes the package with cpack. Returns its path."""
    release = find_release()
    if not release:
        pytest.skip("there is no release build with manuals: tools/setup.sh build release")
    if not os.access(release, os.W_OK):
        pytest.skip("the release build belongs to another user")
    for tool in ("cpack", "dpkg-shlibdeps", "strip", "file"):
        if not shutil.which(tool):
            pytest.skip(f"needs {tool}")
    with open(release / "check-package.lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # cpack writes into the build, and tests run in parallel
        done = run("cpack", "-G", "DEB", "--config", release / "CPackConfig.cmake", "-B", folder, **more)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr
    return next(folder.glob("nailup_*.deb"))


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    """Returns the path of the package."""
    return make_package(tmp_path_factory.mktemp("package"))


def test_the_same_build_gives_the_same_package(tmp_path):
    """tools/release.sh sets the time and the umask. The user's language and time zone may differ."""
    epoch = {"SOURCE_DATE_EPOCH": "1790000000"}
    packages = []
    for name, more in (("one", {"TZ": "UTC"}), ("two", {"TZ": "Asia/Tokyo", "LANG": "de_DE.UTF-8"})):
        folder = tmp_path / name
        folder.mkdir()
        packages.append(make_package(folder, umask=0o022, env={**os.environ, **epoch, **more}))
    assert packages[0].read_bytes() == packages[1].read_bytes()
    dates = run("dpkg-deb", "-c", packages[0], env={**os.environ, "TZ": "UTC"}).stdout
    assert set(re.findall(r" (\d{4}-\d\d-\d\d) ", dates)) == {"2026-09-21"}, dates


def test_lintian_accepts_the_package_and_nothing_is_missing(package):
    listed = run("dpkg-deb", "-c", package).stdout
    for path in ("./usr/sbin/nailupd", "./usr/sbin/nailupctl", "./usr/bin/nailup-bench",
                 "./etc/nailup/nailup.yaml", "./usr/lib/systemd/system/nailupd.service",
                 "./usr/lib/systemd/system/nailupd.socket", "./usr/lib/sysusers.d/nailup.conf",
                 "./usr/lib/tmpfiles.d/nailup.conf", "./usr/share/man/man8/nailupd.8.gz",
                 "./usr/share/man/man5/nailup.yaml.5.gz", "./usr/share/man/man7/nailup-metrics.7.gz",
                 "./usr/share/doc/nailup/examples/prometheus/nailup.rules.yml",
                 "./usr/share/doc/nailup/examples/grafana/nailup.json",
                 "./usr/share/doc/nailup/examples/nailup.yaml.reference",
                 "./usr/share/nailup/nailup.schema.json",
                 "./usr/share/doc/nailup/host.md", "./usr/share/doc/nailup/operating.md",
                 "./usr/share/doc/nailup/examples/host/nailup-host",
                 "./usr/share/doc/nailup/examples/host/resolv.conf",
                 "./usr/share/doc/nailup/examples/host/dhclient/zz-nailup",
                 "./usr/share/doc/nailup/examples/host/networkmanager/90-nailup",
                 "./usr/share/doc/nailup/examples/host/networkmanager/nailup.conf",
                 "./usr/share/doc/nailup/examples/host/resolvconf/nailup.conf",
                 "./usr/share/doc/nailup/examples/host/systemd/nailup-host.conf",
                 "./usr/share/doc/nailup/examples/host/systemd-resolved/nailup.conf"):
        assert f" {path}\n" in listed, path
    assert "/examples/nailup.yaml\n" not in listed  # nailupd does not use this folder
    for script in ("nailup-host", "networkmanager/90-nailup"):
        assert re.search(f"^-rwxr-xr-x .*/examples/host/{script}$", listed, re.M), script
    assert run("dpkg-deb", "--ctrl-tarfile", package, errors="replace").stdout
    assert "/etc/nailup/nailup.yaml" in run("dpkg-deb", "-I", package, "conffiles").stdout
    if not shutil.which("lintian"):
        pytest.skip("the rest needs lintian")
    done = run("lintian", "--allow-root", "--fail-on", "error,warning", package)
    assert done.returncode == 0, done.stdout


def test_the_package_says_what_it_is_and_needs_no_systemd(package):
    def field(name):
        return run("dpkg-deb", "-f", package, name).stdout.strip()

    assert field("Homepage").startswith("https://"), field("Homepage")
    assert re.fullmatch(r".+ <\S+@\S+>", field("Maintainer")), field("Maintainer")
    for word in ("DNS resolver", "nailed", "TLS", "DNSSEC", "nailupctl"):
        assert word in field("Description"), word
    # apt takes the first alternative, so that must not be all of systemd
    assert "systemd-standalone-sysusers | systemd-sysusers" in field("Depends"), field("Depends")
    assert not re.search(r"(^|, )systemd\b(?!-)", field("Depends")), field("Depends")


def test_installed_pages_name_installed_files(package, tmp_path):
    assert run("dpkg-deb", "-x", package, tmp_path).returncode == 0
    docs = tmp_path / "usr/share/doc/nailup"
    for page in ("host.md", "operating.md", "fleet.md", "harness.md"):
        text = (docs / page).read_text()
        assert not re.search(r"(?<!doc/nailup/)\bconf/", text) and "](../" not in text, page
        for path in re.findall(r"/usr/share/doc/nailup/[\w./-]*\w", text):
            assert (tmp_path / path[1:]).exists(), (page, path)
    assert "/usr/share/doc/nailup/examples/host/nailup-host" in (docs / "host.md").read_text()


# These scripts run in separate namespaces for mounts, processes and network. They print facts, and Python judges them.
COPY_OF_ROOT = r"""
set -eu
work=$1 old=$2 new=$3 lower=$4
say() { echo "== $*"; }
mount --make-rprivate /
mount -t tmpfs none "$work" && mkdir "$work/upper" "$work/work" "$work/root"
mount -t overlay -o "lowerdir=$lower,upperdir=$work/upper,workdir=$work/work" none "$work/root" ||
    { say no overlay over the root; exit 0; }
root=$work/root
mount -t proc proc "$root/proc"
mount -t tmpfs -o mode=755 none "$root/run"
mount -t tmpfs -o mode=1777 none "$root/tmp"
ip link set lo up
cp "$old" "$root/tmp/old.deb"
cp "$new" "$root/tmp/new.deb"
in_root() { chroot "$root" "$@"; }
"""

LIFE = COPY_OF_ROOT + r"""
mount --rbind /dev "$root/dev"
rm -f "$root/usr/bin/systemd-tmpfiles" # a minimal Debian has none
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
ask() { dig @127.0.0.1 "$1" A +short +tries=1 +timeout=10; }
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
sed -i -e '$a dnssec: {validate: no}' -e 's/^    upstreams: .*/    upstreams: [127.0.0.1@5300]/' -e 's/^    transport: tls/    trust-ad: no/' \
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
    """Makes the same package with the next version."""
    tree = folder / "tree"
    assert run("dpkg-deb", "-R", package, tree).returncode == 0
    control = tree / "DEBIAN/control"
    control.write_text(re.sub(r"^(Version: .*-)1$", r"\g<1>2", control.read_text(), flags=re.M))
    made = folder / "successor.deb"
    done = run("dpkg-deb", "--root-owner-group", "-Zgzip", "-b", tree, made)
    assert done.returncode == 0, done.stderr
    return made


def play(script, namespaces, package, folder, root="/"):
    """Runs a script in a copy of the root. Returns its values, and all of its output."""
    for tool in ("unshare", "ip", "setpriv", "dig", "systemd-sysusers", "deb-systemd-helper"):
        if not shutil.which(tool):
            pytest.skip(f"needs {tool}")
    if run("unshare", namespaces, "--fork", "mount", "-t", "tmpfs", "none", "/mnt").returncode:
        pytest.skip("needs namespaces and mounts, which this kernel or container refuses")
    (folder / "work").mkdir()
    successor = make_successor(package, folder)
    done = run("unshare", namespaces, "--fork", "--kill-child", "sh", "-c", script, "sh",
               folder / "work", package, successor, root)
    said = dict(line[3:].partition(" ")[::2] for line in done.stdout.splitlines()
                if line.startswith("== "))
    if "no" in said:
        pytest.skip(f"this kernel or container has no {said['no']}")
    assert done.returncode == 0, done.stdout + done.stderr
    return said, done.stdout + done.stderr


def roots_of(kind):
    """Returns the suites for which NAILUP_ROOTS has a root of this kind."""
    folder = pathlib.Path(os.environ.get("NAILUP_ROOTS", "/nonexistent"))
    return [pytest.param(path.with_suffix(".deb"), path, id=path.stem) for path in sorted(folder.glob(f"*.{kind}"))] or [
        pytest.param(None, None, marks=pytest.mark.skip(reason="NAILUP_ROOTS names no folder of tools/debian_roots.sh"))]


needs_root = pytest.mark.skipif(os.geteuid() != 0,
                                reason="needs root, for a copy of the system's root")


@needs_root
def test_it_installs_starts_upgrades_with_its_cache_and_leaves_nothing(package, tmp_path):
    live(package, tmp_path, "/")


@needs_root
@pytest.mark.parametrize("built, root", roots_of("root"))
def test_the_same_in_a_minimal_debian_without_systemd(built, root, tmp_path):
    assert not (root / "usr/bin/systemctl").exists() and not (root / "usr/bin/kill").exists()
    live(built, tmp_path, root)


def live(package, folder, root):
    said, everything = play(LIFE, "-mnp", package, folder, root)
    assert said["user"] == "/var/lib/nailup:/usr/sbin/nologin", everything
    assert said["enabled"].endswith("nailupd.service")
    assert said["state"].endswith(" 700") and len(set(said["uid"].split())) == 1, everything
    assert said["fresh"] == "127.0.0.1", everything
    assert said["owner"] == said["uid"].split()[0] + " 660"
    assert "cache.snapshot" in said["kept"], everything
    assert re.fullmatch(r"[\d.]+", said["answer"]), everything
    assert said["version"].endswith("-2") and said["edited"] == "1", everything
    assert said["again"] == said["answer"], everything  # the answer comes although no server is reachable
    assert "nailup.yaml" in said["removed"] and "cache.snapshot" in said["removed"], everything
    assert "purged" in said, everything
    assert everything.count("== exit 0\n") == 3, everything


# This copy has its own systemd, which must change nothing in the kernel: no modules, clock or settings.
BOOT = COPY_OF_ROOT + r"""
mount -t tmpfs -o mode=755 none "$root/dev"
for device in null zero full random urandom tty; do
    : >"$root/dev/$device"
    mount --bind "/dev/$device" "$root/dev/$device"
done
ln -s pts/ptmx "$root/dev/ptmx"
mkdir "$root/dev/shm" "$root/dev/pts"
unshare -mC sh -c 'mount -t cgroup2 none "$0/sys" && mount -t sysfs -o ro none "$0/sys"' "$root" ||
    { say no control groups of its own; exit 0; }
rm -f "$root/usr/sbin/policy-rc.d" # containers have one, so that packages start nothing
cp "$work/../ours.sh" "$root/"
in_root sh /ours.sh >"$root/before" || true
in_root dpkg --no-triggers -i /tmp/old.deb >/dev/null 2>&1
etc=$root/etc/systemd/system
rm -rf "$root"/usr/lib/systemd/system/*.wants "$etc"/*.wants
mkdir -p "$etc/nailupd.service.d" "$etc/nailupd.socket.d" "$root/mnt/old"
printf '%s\n' '[Service]' WatchdogSec=3 TimeoutAbortSec=1 >"$etc/nailupd.service.d/test.conf"
printf '%s\n' '[Socket]' ListenStream= ListenDatagram= ListenStream=127.0.0.1:53 \
    ListenDatagram=127.0.0.1:53 >"$etc/nailupd.socket.d/test.conf"
sed -i 's/^  listen: .*/  listen: [127.0.0.1]\n  user: nailup/' "$root/etc/nailup/nailup.yaml"
cp "$work/../probe.sh" "$root/"
cp -r "$work/../host" "$root/"
printf '%s\n' '[Unit]' After=nailupd.service DefaultDependencies=no '[Service]' Type=oneshot \
    StandardOutput=file:/probe.out 'ExecStart=/bin/sh /probe.sh' \
    'ExecStopPost=/bin/touch /probe.end' >"$etc/probe.service"
printf '%s\n' '[Unit]' DefaultDependencies=no AllowIsolate=yes \
    'Wants=systemd-journald.service nailupd.service probe.service' >"$etc/probe.target"
unshare -mpC --fork --kill-child --propagation private sh -ec '
    cd "$0"
    mount -t proc none proc
    mount --bind proc/sys proc/sys
    mount -o remount,bind,ro proc/sys
    mount -t sysfs -o ro none sys
    mount -t cgroup2 none sys/fs/cgroup
    mount -t tmpfs none dev/shm
    pivot_root . mnt/old
    umount -l /mnt/old
    exec env -i container=test PATH=/usr/sbin:/usr/bin:/sbin:/bin setpriv \
        --bounding-set -sys_module,-sys_time,-sys_boot,-sys_rawio \
        /lib/systemd/systemd --unit=probe.target --log-target=journal --show-status=no
    ' "$root" >/dev/null 2>&1 &
for _ in $(seq 1800); do
    [ ! -e "$root/probe.end" ] && kill -0 $! 2>/dev/null || break
    sleep 0.1
done
kill -9 $! || true
if [ -e "$root/probe.out" ]; then cat "$root/probe.out"; else say no systemd that boots; fi
"""

PROBE = r"""
say() { echo "== $*"; }
show() { systemctl show -p "$1" --value nailupd; }
ask() { dig @127.0.0.1 localhost A +short +tries=1 +timeout=10 "$@"; }
other() { dig @127.0.0.1 www.example.org A +short +tries=1 +timeout=10; }
rm -f /bin/kill /usr/bin/kill # a minimal Debian has none
say active "$(show ActiveState)" "$(ask)"
say status "$(show StatusText)"
systemctl reload nailupd && say reload "$(show ActiveState)"
echo nonsense >>/etc/nailup/nailup.yaml
systemctl reload nailupd || say error "$(show ActiveState)" "$(ask)"
sleep 1
say reason "$(journalctl -u nailupd --no-pager -o cat | grep -c 'nailup.yaml:[0-9]')"
sed -i '$d' /etc/nailup/nailup.yaml
kill -STOP "$(show MainPID)"
for _ in $(seq 300); do [ "$(show NRestarts)" = 0 ] || break; sleep 0.1; done
for _ in $(seq 300); do [ "$(show ActiveState)" = active ] && break; sleep 0.1; done
say watchdog "$(show NRestarts)" "$(ask)"
sed -i 's/^  listen: .*/  listen: [192.0.2.77]/' /etc/nailup/nailup.yaml
systemctl restart nailupd
for _ in $(seq 600); do [ "$(show NRestarts)" -gt 6 ] && break; sleep 0.1; done
ip address add 192.0.2.77/32 dev lo
for _ in $(seq 100); do [ "$(show ActiveState)" = active ] && break; sleep 0.1; done
say late "$(show ActiveState)"
sed -i 's/^  listen: .*/  listen: [127.0.0.1]/' /etc/nailup/nailup.yaml
systemctl restart nailupd
systemctl stop nailupd
say stopped "$(show Result)" "$(ls /var/lib/nailup | tr '\n' ' ')"
systemctl start nailupd.socket
say sockets "$(ask)" "$(ask +tcp)"
(for _ in $(seq 20); do ask; done) >/answers &
systemctl restart nailupd
wait
say restart "$(grep -c '^127.0.0.1$' /answers)"

cp /host/nailup-host /usr/local/sbin/
cp /host/systemd/nailup-host.conf /etc/systemd/system/nailupd.service.d/
systemctl daemon-reload
nailup-host set vpn0 vpn0 corp.example 192.0.2.1
nailup-bench responder --listen 127.0.0.1@5300 >/dev/null &
sed -i -e '$a dnssec: {validate: no}' -e 's/^    upstreams: .*/    upstreams: [127.0.0.1@5300]/' -e 's/^    transport: tls/    trust-ad: no/' \
    /etc/nailup/nailup.yaml
systemctl restart nailupd
say replayed "$(nailupctl forward | grep -c corp.example)"
for _ in $(seq 100); do answer=$(other); [ -z "$answer" ] || break; sleep 0.1; done
say answer "$answer"
kill $!
wait $!
systemctl enable nailupd.socket
before=$(show MainPID)
dpkg --no-triggers -i /tmp/new.deb </dev/null
say upgraded "$(dpkg-query -W -f '${Version}' nailup)" "$(show ActiveState)"
[ "$before" = "$(show MainPID)" ] || say another process
[ "$(other)" = "$answer" ] && say cached "$(nailupctl forward | grep -c corp.example)"
cp /etc/nailup/nailup.yaml /saved.yaml
echo nonsense >>/etc/nailup/nailup.yaml
dpkg --no-triggers -i /tmp/new.deb </dev/null 2>/installed
say unstarted "$(grep -c 'nailupd did not start' /installed)" "$(grep -c 'nailup.yaml:[0-9]' /installed)" \
    "$(dpkg-query -W -f '${Status}' nailup)"
cat /installed
cp /saved.yaml /etc/nailup/nailup.yaml
systemctl reset-failed nailupd.socket nailupd
systemctl start nailupd.socket nailupd
dpkg --no-triggers -r nailup
say gone "$(show ActiveState)" "$(systemctl show -p ActiveState --value nailupd.socket)"
rm -r /usr/local/sbin/nailup-host /etc/systemd/system/nailupd.service.d /etc/systemd/system/nailupd.socket.d
dpkg --no-triggers -P nailup
sh /ours.sh | diff /before - && say purged
journalctl -u nailupd --no-pager -o cat | tail -n 60
"""

OURS = """
find /etc /usr /var -xdev -name '*nailup*' | sort
getent passwd nailup
getent group nailup
"""


@needs_root
def test_the_hardened_unit_does_its_work_under_systemd(package, tmp_path):
    work_under_systemd(package, tmp_path, "/")


@needs_root
@pytest.mark.parametrize("built, root", roots_of("booted"))
def test_the_same_under_systemd_of_another_debian(built, root, tmp_path):
    work_under_systemd(built, tmp_path, root)


def work_under_systemd(package, folder, root):
    (folder / "probe.sh").write_text(PROBE)
    (folder / "ours.sh").write_text(OURS)
    shutil.copytree(ROOT / "conf/host", folder / "host")
    said, everything = play(BOOT, "-mnpui", package, folder, root)
    if "status=226/NAMESPACE" in everything:
        pytest.skip("systemd cannot make the unit's namespaces here")
    assert said["active"] == "active 127.0.0.1", everything
    assert "connections to upstreams ready" in said["status"], everything
    assert said["reload"] == "active", everything
    assert said["late"] == "active", everything  # the address came after more starts than systemd allows by default
    assert said["error"] == "active 127.0.0.1", everything  # the reload failed and changed nothing
    assert int(said["reason"]) > 0, everything
    assert said["watchdog"] == "1 127.0.0.1", everything
    assert said["stopped"] == "success cache.snapshot sessions ", everything
    assert said["sockets"] == "127.0.0.1 127.0.0.1", everything
    assert said["restart"] == "20", everything  # no query was lost
    assert said["replayed"] == "1", everything
    assert re.fullmatch(r"[\d.]+", said["answer"]), everything
    assert re.fullmatch(r"\S+-2 active", said["upgraded"]), everything
    assert said["another"] == "process", everything
    assert said["cached"] == "1", everything  # the answer comes although no server is reachable
    assert re.fullmatch(r"1 [1-9]\d* install ok installed", said["unstarted"]), everything
    assert said["gone"] == "inactive inactive", everything
    # the purge also removed the link of the socket unit, which the operator had enabled
    assert "purged" in said, everything
