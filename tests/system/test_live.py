# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
"""nailup on a real system: the user and rights of the daemon, access to its control socket, messages from and to
the service manager. Tests for root are skipped for other users. test_package.py tests the package."""

import ctypes
import fcntl
import grp
import json
import os
import pathlib
import pwd
import re
import shutil
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import time

import pytest

from conftest import ROOT, eventually, free_address, program

ZONE = [{"name": ".", "upstreams": ["127.0.0.1@9"]}]
NOBODY = pwd.getpwnam("nobody")
BIND_SERVICE = 1 << 10
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to give its rights away")


def can_make_network():
    return subprocess.run(["unshare", "-n", "true"], capture_output=True).returncode == 0


def statuses(pid):
    """Returns the status of each thread: {"Name": "worker-0", "Uid": "65534   65534 ...", ...}."""
    found = []
    for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
        lines = (task / "status").read_text().splitlines()
        found.append(dict(line.split(":\t", 1) for line in lines if ":\t" in line))
    return found


@pytest.fixture
def open_folder(tmp_path):
    """Yields a folder that every user of the machine may enter, unlike tmp_path."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="nailup-live-"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


# ---- user and rights ----


@needs_root
def test_every_thread_is_the_user_and_can_bind_low_ports_and_nothing_else(nailupd, open_folder):
    state = open_folder / "state"
    state.mkdir()
    os.chown(state, NOBODY.pw_uid, NOBODY.pw_gid)
    daemon = nailupd({"server": {"user": "nobody"},
                      "cache": {"snapshot": str(state / "cache")}},
                     upstreams=["127.0.0.1@9"], workers=3)
    threads = statuses(daemon.process.pid)
    names = {thread["Name"] for thread in threads}
    assert {"nailupd", "worker-0", "worker-1", "worker-2", "snapshot"} <= names
    uid, gid = str(NOBODY.pw_uid), str(NOBODY.pw_gid)
    for thread in threads:
        assert thread["Uid"].split() == [uid] * 4, thread
        assert thread["Gid"].split() == [gid] * 4, thread
        assert set(thread["Groups"].split()) <= {gid}, thread
        assert int(thread["CapEff"], 16) & ~BIND_SERVICE == 0, thread
        assert thread["CapPrm"] == thread["CapEff"], thread
        assert int(thread["CapBnd"], 16) == int(thread["CapAmb"], 16) == 0, thread
        assert int(thread["CapInh"], 16) == 0 and thread["NoNewPrivs"] == "1", thread
    assert "running as root" not in daemon.log()
    assert daemon.stop() == 0
    assert (state / "cache").stat().st_uid == NOBODY.pw_uid


@needs_root
def test_root_without_a_user_is_warned(nailupd):
    daemon = nailupd(upstreams=["127.0.0.1@9"])
    assert "warning: daemon: running as root" in daemon.log()
    assert statuses(daemon.process.pid)[0]["Uid"].split()[0] == "0"


@needs_root
def test_the_configured_user_only_loses_extra_rights(open_folder, make_config):
    config = make_config({"server": {"user": "nobody"},
                          "control": {"socket": str(open_folder / "control.sock")}},
                         upstreams=["127.0.0.1@9"])
    path = open_folder / "nailup.yaml"
    path.write_text(json.dumps(config))
    os.chown(open_folder, NOBODY.pw_uid, NOBODY.pw_gid)
    shutil.copy(program("nailupd"), open_folder)
    process = subprocess.Popen(
        ["setpriv", "--reuid", "nobody", "--regid", str(NOBODY.pw_gid), "--clear-groups",
         "--inh-caps", "+net_bind_service,+net_raw", "--ambient-caps",
         "+net_bind_service,+net_raw", str(open_folder / "nailupd"), "-c", str(path)],
        stderr=subprocess.PIPE, text=True)
    try:
        eventually(lambda: (open_folder / "control.sock").exists() or process.poll() is not None)
        eventually(lambda: all(int(one["CapPrm"], 16) == BIND_SERVICE
                               for one in statuses(process.pid)))
    finally:
        process.terminate()
        assert process.wait(60) == 0, process.stderr.read()
        process.stderr.close()


@pytest.mark.skipif(os.geteuid() == 0 and not shutil.which("setpriv"), reason="needs setpriv")
def test_without_root_the_user_cannot_change(open_folder, make_config):
    config = make_config({"server": {"user": "4242:4242"},
                          "control": {"socket": ""}}, upstreams=["127.0.0.1@9"])
    path = open_folder / "nailup.yaml"
    path.write_text(json.dumps(config))
    shutil.copy(program("nailupd"), open_folder)
    become = ["setpriv", "--reuid", "nobody", "--regid", str(NOBODY.pw_gid), "--clear-groups"]
    done = subprocess.run([*(become if os.geteuid() == 0 else []), str(open_folder / "nailupd"),
                           "-c", str(path)], text=True, capture_output=True, timeout=60)
    assert done.returncode == 3
    assert "server.user: user 4242, group 4242: " in done.stderr
    assert "start as root, or as that user" in done.stderr


@needs_root
def test_a_key_that_the_user_could_not_read_keeps_it_from_starting(open_folder, make_config):
    authorities = open_folder / "ca.pem"
    made = subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                           "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=test", "-keyout",
                           "/dev/null", "-out", str(authorities)], capture_output=True)
    assert made.returncode == 0, made.stderr
    config = make_config({"server": {"user": "nobody"}, "upstream": {"ca-bundle": str(authorities)},
                          "control": {"socket": str(open_folder / "control.sock")}},
                         upstreams=["127.0.0.1@9"])
    path = open_folder / "nailup.yaml"
    path.write_text(json.dumps(config))
    authorities.chmod(0o600)
    done = subprocess.run([program("nailupd"), "-c", str(path)], text=True, capture_output=True,
                          timeout=60)
    assert done.returncode == 3
    assert f"server.user cannot read {authorities}" in done.stderr
    authorities.chmod(0o644)
    path.chmod(0o600)  # the start may not read it, and only a reload would need it
    process = subprocess.Popen([program("nailupd"), "-c", str(path)], stderr=subprocess.PIPE,
                               text=True)
    wanted = f"server.user cannot read {path}, so a reload will fail"
    assert any(wanted in line for line in process.stderr)  # other lines may come first
    process.terminate()
    process.stderr.read()
    process.stderr.close()
    assert process.wait(60) == 0


@needs_root
def test_files_that_a_reload_does_without_are_not_said_to_stop_it(open_folder, make_config):
    zone = open_folder / "zone"
    zone.write_text("@ 60 SOA ns mail 1 60 60 60 60\n@ 60 NS ns\n")
    control = open_folder / "control.sock"
    config = make_config({"server": {"user": "nobody"}, "control": {"socket": str(control)},
                          "dnssec": {"trust-anchor-file": str(open_folder / "root.key"), "update-anchors": "yes"},
                          "auth-zones": [{"name": "held.example", "file": str(zone)}]}, upstreams=["127.0.0.1@9"])
    path = open_folder / "nailup.yaml"
    path.write_text(json.dumps(config))
    zone.chmod(0o600)
    process = subprocess.Popen([program("nailupd"), "-c", str(path)], stderr=subprocess.PIPE, text=True)
    try:
        eventually(lambda: subprocess.run([program("nailupctl"), "-s", str(control), "reload"]).returncode == 0)
    finally:
        process.terminate()
        log = process.stderr.read()
        process.stderr.close()
        assert process.wait(60) == 0
    assert f"server.user cannot read {zone}, so a reload will not change its zone" in log
    assert "so a reload will fail" not in log and "root.key" not in log


LOW_PORT = """
ip link set lo up
"$1" -c "$2" &
pid=$!
for i in $(seq 200); do [ -S "$3" ] && "$4" -s "$3" status >/dev/null 2>&1 && break; sleep 0.1; done
dig @127.0.0.1 -p 53 localhost A +short +tries=1 +timeout=5
dig @127.0.0.1 -p 53 localhost A +short +tcp +tries=1 +timeout=5
grep ^Uid /proc/$pid/status
kill $pid
wait $pid
echo exit $?
"""


@needs_root
def test_low_ports_are_served_without_root(open_folder):
    if not can_make_network():
        pytest.skip("needs a network namespace, which this kernel or container refuses")
    path, control = open_folder / "nailup.yaml", open_folder / "control.sock"
    path.write_text(json.dumps({"server": {"listen": ["127.0.0.1@53"], "user": "nobody"},
                                "control": {"socket": str(control)}, "forward-zones": ZONE}))
    done = subprocess.run(["unshare", "-n", "sh", "-c", LOW_PORT, "sh", program("nailupd"),
                           str(path), str(control), program("nailupctl")], text=True,
                          capture_output=True, timeout=120)
    lines = done.stdout.splitlines()
    assert lines[:2] == ["127.0.0.1"] * 2, done.stdout + done.stderr
    assert lines[2].split()[1] == str(NOBODY.pw_uid)
    assert lines[-1] == "exit 0"


# ---- access to the control socket ----


def test_the_control_socket_has_the_mode_that_is_wanted(nailupd):
    for mode in ("0600", "0666"):
        daemon = nailupd({"control": {"mode": mode}}, upstreams=["127.0.0.1@9"])
        assert stat.S_IMODE(os.stat(daemon.socket_path).st_mode) == int(mode, 8)


@needs_root
def test_the_group_of_the_control_socket_may_ask_and_others_learn_its_name(
        open_folder, make_config, nailupd):
    group = grp.getgrgid(1).gr_name  # the group named daemon
    daemon = nailupd({"control": {"socket": str(open_folder / "control.sock"), "owner": "nobody",
                                  "group": group}}, upstreams=["127.0.0.1@9"])
    found = os.stat(daemon.socket_path)
    assert (found.st_uid, found.st_gid, stat.S_IMODE(found.st_mode)) == (NOBODY.pw_uid, 1, 0o660)
    shutil.copy(program("nailupctl"), open_folder)

    def ask_as(uid, gid):
        return subprocess.run(["setpriv", "--reuid", str(uid), "--regid", str(gid),
                               "--clear-groups", str(open_folder / "nailupctl"), "-s",
                               daemon.socket_path, "status"], text=True, capture_output=True)

    assert ask_as(4242, 1).returncode == 0
    assert ask_as(NOBODY.pw_uid, 4242).returncode == 0
    refused = ask_as(4242, 4242)
    assert refused.returncode == 3
    assert f"members of the group {group} may run commands" in refused.stderr


# ---- messages to the service manager ----


class Manager:
    """A service manager's socket."""

    def __init__(self, folder):
        self.path = str(folder / "notify.sock")
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(self.path)
        self.socket.settimeout(30)

    def hear(self):
        """Returns the next message as a dict."""
        return dict(line.split("=", 1) for line in self.socket.recv(4096).decode().splitlines())

    def hear_of(self, what):
        """Returns the next message that contains this key."""
        while what not in (message := self.hear()):
            pass
        return message[what]

    def drain(self):
        self.socket.setblocking(False)
        try:
            while True:
                self.socket.recv(4096)
        except BlockingIOError:
            pass
        self.socket.settimeout(30)


@pytest.fixture
def manager(tmp_path, monkeypatch):
    """Yields a manager to which nailupd reports."""
    if "with: libsystemd" not in subprocess.run([program("nailupd"), "-V"], text=True,
                                                capture_output=True).stdout:
        pytest.skip("nailupd was built without libsystemd")
    one = Manager(tmp_path)
    monkeypatch.setenv("NOTIFY_SOCKET", one.path)
    yield one
    one.socket.close()


def test_ready_reloading_ready_and_stopping_are_sent_in_order(manager, nailupd, dig):
    daemon = nailupd(upstreams=["127.0.0.1@9"], workers=2)
    assert manager.hear() == {"READY": "1"}
    assert re.match(r"\d+ queries .*, \d+ connections to upstreams ready", manager.hear()["STATUS"])
    daemon.send(signal.SIGHUP)
    message = manager.hear()
    assert message["RELOADING"] == "1" and int(message["MONOTONIC_USEC"]) > 0
    assert manager.hear() == {"READY": "1"}
    assert daemon.stop() == 0
    assert manager.hear_of("STOPPING") == "1"


def test_a_ready_daemon_answers_at_once(manager, make_config, tmp_path):
    config = make_config(upstreams=["127.0.0.1@9"])
    path = tmp_path / "nailup.yaml"
    path.write_text(json.dumps(config))
    ip, _, port = config["server"]["listen"][0].rpartition("@")
    process = subprocess.Popen([program("nailupd"), "-c", str(path)], stderr=subprocess.DEVNULL)
    assert manager.hear() == {"READY": "1"}
    done = subprocess.run(["dig", f"@{ip}", "-p", port, "localhost", "+tries=1", "+timeout=20"],
                          text=True, capture_output=True)
    process.terminate()
    assert process.wait(60) == 0
    assert "ANSWER: " in done.stdout


def test_a_start_that_fails_is_never_ready(manager, tmp_path, make_config):
    path = tmp_path / "nailup.yaml"
    path.write_text(json.dumps(make_config({"server": {"listen": ["192.0.2.1@5353"]}},
                                           upstreams=["127.0.0.1@9"])))
    assert subprocess.run([program("nailupd"), "-c", str(path)], capture_output=True,
                          timeout=60).returncode == 3
    manager.socket.setblocking(False)
    with pytest.raises(BlockingIOError):
        manager.socket.recv(4096)


class Held:
    """Holds one thread of another process with ptrace(2) during `with`. The kernel requires that all calls come from
    one thread."""

    SEIZE, INTERRUPT, DETACH, WALL = 0x4206, 0x4207, 17, 0x40000000

    def __init__(self, thread):
        self.thread, self.libc = thread, ctypes.CDLL(None, use_errno=True)
        self.libc.ptrace.argtypes = [ctypes.c_long] * 4

    def __enter__(self):
        if self.libc.ptrace(self.SEIZE, self.thread, 0, 0) != 0:
            pytest.skip(f"cannot hold a thread: {os.strerror(ctypes.get_errno())}")
        assert self.libc.ptrace(self.INTERRUPT, self.thread, 0, 0) == 0
        os.waitpid(self.thread, self.WALL)

    def __exit__(self, *_):
        assert self.libc.ptrace(self.DETACH, self.thread, 0, 0) == 0


def test_the_watchdog_is_fed_as_long_as_every_worker_turns(manager, nailupd, monkeypatch):
    monkeypatch.setenv("WATCHDOG_USEC", "400000")
    daemon = nailupd(upstreams=["127.0.0.1@9"], workers=2)
    for _ in range(3):
        assert manager.hear_of("WATCHDOG") == "1"
    tasks = pathlib.Path(f"/proc/{daemon.process.pid}/task").iterdir()
    worker = next(int(task.name) for task in tasks
                  if (task / "comm").read_text().strip() == "worker-1")
    with Held(worker):
        manager.drain()
        time.sleep(1)  # pending messages arrive, and one more, because the letters have been read
        manager.drain()
        manager.socket.settimeout(2)  # five intervals of the watchdog
        with pytest.raises(TimeoutError):
            manager.hear_of("WATCHDOG")
        assert daemon.ctl("help").returncode == 0  # the main thread still turns
    manager.socket.settimeout(30)
    assert manager.hear_of("WATCHDOG") == "1"


def test_a_stalled_process_feeds_no_watchdog(manager, nailupd, monkeypatch):
    monkeypatch.setenv("WATCHDOG_USEC", "400000")
    daemon = nailupd(upstreams=["127.0.0.1@9"])
    assert manager.hear_of("WATCHDOG") == "1"
    daemon.send(signal.SIGSTOP)
    time.sleep(0.2)
    manager.drain()
    manager.socket.settimeout(1.5)
    with pytest.raises(TimeoutError):
        manager.hear()
    daemon.send(signal.SIGCONT)


def test_without_a_watchdog_none_is_fed(manager, nailupd):
    daemon = nailupd(upstreams=["127.0.0.1@9"])
    assert daemon.stop() == 0
    manager.socket.setblocking(False)
    with pytest.raises(BlockingIOError):
        while True:
            assert b"WATCHDOG" not in manager.socket.recv(4096)


# ---- sockets from the service manager ----


QUERY = b"\x12\x34\1\0\0\1\0\0\0\0\0\0\x09localhost\0\0\1\0\1"


# Takes two descriptors and a command, and does what systemd does between fork and exec.
HAND_OVER = """
import os, sys
os.dup2(int(sys.argv[1]), 3)
os.dup2(int(sys.argv[2]), 4)
os.environ.update(LISTEN_PID=str(os.getpid()), LISTEN_FDS="2")
os.execv(sys.argv[3], sys.argv[3:])
"""


class Sockets:
    """A UDP and a TCP socket of one address, as nailupd.socket makes them."""

    def __init__(self):
        self.ip, self.port = free_address()
        self.process = None
        self.udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.tcp = socket.create_server((self.ip, self.port))
        self.udp.bind((self.ip, self.port))

    def start(self, path):
        """Starts nailupd with the sockets as descriptors 3 and 4."""
        assert not self.process or self.process.poll() is not None
        kept = [fcntl.fcntl(one, fcntl.F_DUPFD, 20) for one in (self.udp, self.tcp)]
        self.process = subprocess.Popen([sys.executable, "-c", HAND_OVER, *map(str, kept),
                                         program("nailupd"), "-c", str(path)],
                                        pass_fds=kept, stderr=subprocess.PIPE, text=True)
        for one in kept:
            os.close(one)

    def end(self):
        """Ends nailupd. Returns its output and its exit code."""
        said = self.process.communicate(timeout=60)[1]
        return said, self.process.returncode

    def close(self):
        if self.process and self.process.poll() is None:
            self.process.kill()
            self.end()
        self.udp.close()
        self.tcp.close()


@pytest.fixture
def sockets():
    one = Sockets()
    yield one
    one.close()


def ask_both(sockets):
    """Sends a query over UDP and TCP. Returns the sockets that will get the answers."""
    udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    udp.settimeout(30)
    udp.sendto(QUERY, (sockets.ip, sockets.port))
    tcp = socket.create_connection((sockets.ip, sockets.port), 30)
    tcp.sendall(len(QUERY).to_bytes(2, "big") + QUERY)
    return udp, tcp


def expect_answers(udp, tcp):
    with udp, tcp:
        assert udp.recv(512)[-4:] == b"\x7f\0\0\1"
        assert tcp.recv(512)[-4:] == b"\x7f\0\0\1"


def test_queries_wait_in_sockets_of_the_service_manager_over_a_restart(
        manager, make_config, open_folder, sockets):
    user = {"user": "nobody"} if os.geteuid() == 0 else {}
    config = make_config({"server": {"listen": [f"{sockets.ip}@{sockets.port}"],
                                     "default-local-zones": "yes", "workers": 2, **user},
                          "control": {"socket": str(open_folder / "control.sock")}},
                         upstreams=["127.0.0.1@9"])
    path = open_folder / "nailup.yaml"
    path.write_text(json.dumps(config))
    for _ in range(2):
        asked = ask_both(sockets)  # without a daemon, the kernel keeps the queries
        sockets.start(path)
        expect_answers(*asked)
        sockets.process.terminate()
        said, code = sockets.end()
        assert code == 0 and f"listening on {sockets.ip}" in said, said


def test_sockets_of_addresses_that_are_not_served_are_refused(manager, make_config, tmp_path,
                                                              sockets):
    path = tmp_path / "nailup.yaml"
    path.write_text(json.dumps(make_config(upstreams=["127.0.0.1@9"])))
    sockets.start(path)
    said, code = sockets.end()
    assert code == 3
    assert "sockets from the service manager: " in said and sockets.ip in said


# ---- the unit ----


@pytest.fixture
def unit(tmp_path):
    """Writes the unit of an installation, with the programs of this build."""
    text = (ROOT / "packaging/systemd/nailupd.service.in").read_text()
    made = tmp_path / "nailupd.service"
    made.write_text(text.replace("@NAILUP_SBINDIR@/nailupd", program("nailupd"))
                    .replace("@NAILUP_SBINDIR@/nailupctl", program("nailupctl")))
    return made


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="needs systemd-analyze")
def test_the_unit_is_exposed_by_two_at_most(unit):
    done = subprocess.run(["systemd-analyze", "security", "--offline=true", "--threshold=20",
                           "--no-pager", str(unit)], text=True, capture_output=True, timeout=60)
    assert done.returncode == 0, done.stdout[-300:] + done.stderr


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="needs systemd-analyze")
def test_the_units_are_sound(unit, tmp_path):
    shutil.copy(ROOT / "packaging/systemd/nailupd.socket", tmp_path)
    done = subprocess.run(["systemd-analyze", "verify", "--man=no", str(unit),
                           str(tmp_path / "nailupd.socket")], text=True, capture_output=True,
                          timeout=60)
    ours = [line for line in (done.stdout + done.stderr).splitlines() if "nailup" in line]
    assert done.returncode == 0 and not ours, ours


@pytest.mark.skipif(not shutil.which("systemd-sysusers"), reason="needs systemd-sysusers")
def test_the_user_and_the_directories_are_made(tmp_path):
    root = tmp_path / "root"
    (root / "etc").mkdir(parents=True)
    systemd = ROOT / "packaging/systemd"
    done = subprocess.run(["systemd-sysusers", f"--root={root}", str(systemd / "nailup.sysusers")],
                          text=True, capture_output=True)
    assert done.returncode == 0, done.stderr
    assert re.search(r"^nailup:.*:/var/lib/nailup:/usr/sbin/nologin$",
                     (root / "etc/passwd").read_text(), re.M)
    if os.geteuid() == 0:
        done = subprocess.run(["systemd-tmpfiles", f"--root={root}", "--create",
                               str(systemd / "nailup.tmpfiles")], text=True, capture_output=True)
        assert done.returncode == 0, done.stderr
        assert stat.S_IMODE((root / "var/lib/nailup").stat().st_mode) == 0o700
