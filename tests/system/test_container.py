# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
"""The container: its build file, and its daemon in the same conditions: without root, without capabilities, on a
read-only file system. With a Docker daemon, the tests use the image itself. With buildah and NAILUP_ROOTS, the folder
of tools/debian_roots.sh, they use it, too."""

import json
import os
import pathlib
import re
import shutil
import subprocess

import pytest

from conftest import ROOT, program

DOCKERFILE = ROOT / "packaging/container/Dockerfile"
CONFIG = ROOT / "conf/examples/container.yaml"

RUN = r"""
set -e
work=$1 nailupd=$2 nailupctl=$3
mount --make-rprivate /
mount -t proc none /proc
mount -t tmpfs none /run && mount -t tmpfs none /var/lib
mkdir -p /run/nailup /var/lib/nailup
mount -t tmpfs -o mode=755,uid=65534,gid=65534 none /run/nailup
mount -t tmpfs -o mode=700,uid=65534,gid=65534 none /var/lib/nailup
ip link set lo up
sysctl -qw net.ipv4.ip_unprivileged_port_start=0
mount --bind / / && mount -o remount,bind,ro /
drop="setpriv --reuid 65534 --regid 65534 --clear-groups --bounding-set -all --inh-caps -all --no-new-privs"
touch /in-the-root 2>/dev/null && echo "the root can be written"
$drop "$nailupd" -c "$work/container.yaml" >/run/nailup/log 2>&1 &
daemon=$!
for _ in $(seq 100); do $drop "$nailupctl" status --check >/dev/null 2>&1 && break; sleep 0.1; done
check=0; $drop "$nailupctl" status --check || check=$?
echo "check $check"
required=0; $drop "$nailupctl" status --check --require-upstream >/dev/null || required=$?
echo "required $required"
echo "answer $(dig @127.0.0.1 localhost A +short +tries=1 +timeout=5)"
kill "$daemon"; stopped=0; wait "$daemon" || stopped=$?
echo "stopped $stopped"
cat /run/nailup/log
"""


def test_the_image_is_small_and_its_user_is_not_root():
    text = DOCKERFILE.read_text()
    last = text[text.rindex("\nFROM "):]
    assert last.startswith("\nFROM debian:bookworm-slim\n")
    assert re.search(r"^USER nailup$", last, re.M)
    assert 'CMD ["nailupctl", "status", "--check"]' in last
    assert last.index("USER nailup") < last.index("ENTRYPOINT")
    for source in re.findall(r"^COPY (?!--from)(\S+) ", text, re.M):
        assert (ROOT / source).exists(), source


def test_its_daemon_runs_without_root_on_a_read_only_file_system(tmp_path):
    for tool in ("unshare", "setpriv", "ip", "dig", "sysctl"):
        if not shutil.which(tool):
            pytest.skip(f"needs {tool}")
    if subprocess.run(["unshare", "-mn", "mount", "-t", "tmpfs", "none", "/mnt"],
                      capture_output=True).returncode:
        pytest.skip("needs namespaces and mounts, which this kernel or container refuses")
    work = tmp_path / "work"
    work.mkdir()
    for folder in (tmp_path, *tmp_path.parents[:-2]):  # /tmp itself must stay as it is
        folder.chmod(0o755)
    shutil.copy(CONFIG, work)
    for name in ("nailupd", "nailupctl"):
        shutil.copy(program(name), work)
    done = subprocess.run(["unshare", "-mnp", "--fork", "--kill-child", "sh", "-c", RUN, "sh", work,
                           work / "nailupd", work / "nailupctl"], text=True, capture_output=True, timeout=60)
    everything = done.stdout + done.stderr
    assert "the root can be written" not in done.stdout, everything
    assert "check 0\n" in done.stdout, everything
    assert "required 1\n" in done.stdout, everything  # this namespace has no route to the Internet
    assert "no route to any upstream" in done.stdout, everything
    assert "answer 127.0.0.1\n" in done.stdout and "stopped 0\n" in done.stdout, everything


def test_docker_builds_and_runs_the_image():
    docker = shutil.which("docker")
    if not docker or subprocess.run([docker, "info"], capture_output=True).returncode:
        pytest.skip("no Docker daemon answers")
    build = subprocess.run([docker, "build", "-q", "-f", DOCKERFILE, ROOT], text=True,
                           capture_output=True, timeout=1800)
    assert build.returncode == 0, build.stderr
    run = subprocess.run([docker, "run", "--rm", "--read-only", "--tmpfs", "/run/nailup",
                          "--cap-drop", "all", "--entrypoint", "sh", build.stdout.strip(), "-c",
                          "nailupd & sleep 3; nailupctl status --check; id -u"],
                         text=True, capture_output=True, timeout=120)
    assert run.returncode == 0 and "953" in run.stdout, run.stdout + run.stderr


# Runs the image's commands in its file system as an engine does: read-only, as its user, without capabilities, in a
# separate network, with a volume whose owner is that of the folder in the image.
RUN_IMAGE = r"""
set -e
image=$1 user=$2 health=$3 entry=$4
mount --make-rprivate /
mount --bind "$image" "$image"
mount -t proc proc "$image/proc"
mount --rbind /dev "$image/dev"
mkdir -p "$image/run/nailup"
volume=$(stat -c 'mode=%a,uid=%u,gid=%g' "$image/var/lib/nailup")
mount -t tmpfs -o "mode=${volume#mode=}" none "$image/var/lib/nailup"
mount -t tmpfs -o mode=1777 none "$image/run/nailup"
mount -o remount,bind,ro "$image"
ip link set lo up
sysctl -qw net.ipv4.ip_unprivileged_port_start=0
number=$(chroot "$image" id -u "$user")
inside="chroot $image setpriv --reuid $number --regid $number --clear-groups --bounding-set -all --inh-caps -all"
inside="$inside --no-new-privs"
$inside touch /in-the-root 2>/dev/null && echo "the root can be written"
$inside $entry &
daemon=$!
for _ in $(seq 300); do $inside $health >/dev/null 2>&1 && break; sleep 0.1; done
check=0; $inside $health || check=$?
echo "user $number check $check"
echo "answer $(dig @127.0.0.1 localhost A +short +tries=1 +timeout=10)"
kill "$daemon"; stopped=0; wait "$daemon" || stopped=$?
echo "stopped $stopped"
echo "kept $($inside ls /var/lib/nailup | tr '\n' ' ')"
"""


def test_buildah_builds_the_image_and_it_runs(tmp_path):
    base = pathlib.Path(os.environ.get("NAILUP_ROOTS", "/nonexistent")) / "bookworm.base"
    if not shutil.which("buildah") or not base.exists():
        pytest.skip("needs buildah, and NAILUP_ROOTS with the folder of tools/debian_roots.sh")
    for tool in ("unshare", "ip", "dig", "sysctl"):
        if not shutil.which(tool):
            pytest.skip(f"needs {tool}")

    def buildah(*words):
        done = subprocess.run(["buildah", "--root", tmp_path / "images", "--runroot", tmp_path / "run", *words],
                              text=True, capture_output=True, timeout=3600)
        assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
        return done.stdout.strip()

    source = tmp_path / "source"
    source.mkdir()
    subprocess.run(f"git -C {ROOT} archive HEAD | tar -x -C {source}", shell=True, check=True, timeout=120)
    (source / "build").mkdir()
    (source / "build/CMakeCache.txt").write_text("of another machine")
    try:
        scratch = buildah("from", "scratch")
        subprocess.run(["cp", "-a", f"{base}/.", buildah("mount", scratch)], check=True, timeout=300)
        buildah("commit", "--rm", scratch, "docker.io/library/debian:bookworm-slim")
        buildah("build", "--isolation", "chroot", "--pull=never", "--format", "docker", "-t", "nailup",
                "-f", f"{source}/packaging/container/Dockerfile", source)
        config = json.loads(buildah("inspect", "--type", "image", "nailup"))["Docker"]["config"]
        image = buildah("mount", buildah("from", "--pull-never", "localhost/nailup"))
        run_image(image, config)
    finally:
        buildah("rm", "--all")


def run_image(image, config):
    health = config["Healthcheck"]["Test"]
    assert health[0] == "CMD" and list(config["Volumes"]) == ["/var/lib/nailup"], config
    done = subprocess.run(["unshare", "-mnp", "--fork", "--kill-child", "sh", "-c", RUN_IMAGE, "sh", image,
                           config["User"], " ".join(health[1:]), " ".join(config["Entrypoint"])],
                          text=True, capture_output=True, timeout=120)
    everything = done.stdout + done.stderr
    assert "the root can be written" not in everything, everything
    for line in ("user 953 check 0", "answer 127.0.0.1", "stopped 0", "kept cache.snapshot "):
        assert line in done.stdout, everything
