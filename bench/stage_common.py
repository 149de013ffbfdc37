# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
"""Shared by the scripts of this folder: free ports, the resources that a process has used, and the servers that
scripts start."""

import json
import os
import pathlib
import random
import shutil
import socket
import struct
import subprocess
import sys
import time

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
from free_ports import free_port  # noqa: E402

CPU_CLOCK_OF_PROCESS = 2  # the kind of clock in a clockid_t that contains a pid (see cpu_us())


def give_up(sentence):
    """Ends the script with exit code 2: it measured nothing. A missed goal has another code."""
    print(f"{pathlib.Path(sys.argv[0]).name}: {sentence}", file=sys.stderr)
    raise SystemExit(2)


class Programs:
    """The paths of the programs in the build folder."""

    def __init__(self, build):
        self.nailupd = self.path(build, "src/nailupd")
        self.nailupctl = self.path(build, "src/nailupctl")
        self.bench = self.path(build, "bench/nailup-bench")

    @staticmethod
    def path(build, name):
        path = pathlib.Path(build, name)
        if not os.access(path, os.X_OK):
            give_up(f"{path} is missing; --build takes a folder that nailup was built in")
        return str(path)


def find_program(name, package=None):
    """Returns the path of an installed program, or ends the script."""
    places = os.environ.get("PATH", "") + ":/usr/local/sbin:/usr/sbin:/sbin"
    found = shutil.which(name, path=places)
    if not found:
        give_up(f"{name} is not installed" + (f" (Debian: {package})" if package else ""))
    return found


# ---- resources of a process ----

def status_bytes(pid, key):
    with open(f"/proc/{pid}/status", encoding="ascii") as status:
        return next(int(line.split()[1]) * 1024 for line in status if line.startswith(key + ":"))


def resident_bytes(pid):
    return status_bytes(pid, "VmRSS")


def private_bytes(pid):
    """Returns the process's own memory. Pages of libraries come and go, which would disturb a difference."""
    return status_bytes(pid, "RssAnon")


def cpu_us(pid):
    """Returns the CPU time of all threads of a process. The kernel's clock has nanoseconds."""
    return time.clock_gettime_ns((~pid << 3) | CPU_CLOCK_OF_PROCESS) / 1e3


def stat_us(path):
    """Returns (user, system) from a stat file in /proc, which has ticks of 10 ms."""
    fields = pathlib.Path(path).read_text(encoding="utf-8").rpartition(")")[2].split()
    tick_us = 1e6 / os.sysconf("SC_CLK_TCK")
    return int(fields[11]) * tick_us, int(fields[12]) * tick_us


def user_system_us(pid):
    return stat_us(f"/proc/{pid}/stat")


def threads_us(pid):
    """Returns {thread: CPU time}. The kernel counts ticks, so a thread that did little shows 0."""
    return {int(task): sum(stat_us(f"/proc/{pid}/task/{task}/stat"))
            for task in os.listdir(f"/proc/{pid}/task")}


# ---- asking ----

def make_query(name, kind=1, number=None):
    number = random.randrange(65536) if number is None else number
    labels = b"".join(bytes([len(part)]) + part.encode() for part in name.rstrip(".").split("."))
    return struct.pack(">6H", number, 0x0100, 1, 0, 0, 0) + labels + struct.pack(">BHH", 0, kind, 1)


def ask(port, name, timeout_s=0.3, ip="127.0.0.1"):
    """Sends a query over UDP. Returns the answer, or None."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
        client.settimeout(timeout_s)
        try:
            client.sendto(make_query(name), (ip, port))
            return client.recv(65535)
        except OSError:
            return None


def await_answer(port, seconds=10, name="start.example", is_alive=lambda: True):
    """Returns True once a query to port is answered with NOERROR."""
    until = time.monotonic() + seconds
    while time.monotonic() < until and is_alive():
        answer = ask(port, name)
        if answer and answer[3] & 15 == 0:
            return True
        time.sleep(0.05)
    return False


def load(bench, port, *options, ip="127.0.0.1", wrapper=()):
    """Runs `nailup-bench load` and returns its report. wrapper: words that start it, such as taskset."""
    done = subprocess.run([*wrapper, bench, "load", "--server", f"{ip}@{port}", "--json", "--quiet",
                           *map(str, options)], capture_output=True, text=True, check=False)
    if done.returncode:
        give_up(f"nailup-bench load failed: {done.stderr.strip()}")
    return json.loads(done.stdout)


# ---- servers ----

class Process:
    """A process that ends with its `with` block. The subclass starts it."""

    process = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()

    def stop(self):
        """Ends the process. Returns its exit code."""
        self.process.terminate()
        try:
            code = self.process.wait(60)
        except subprocess.TimeoutExpired:
            self.process.kill()
            code = self.process.wait()
        if self.process.stdout:
            self.process.stdout.close()
        return code

    @property
    def pid(self):
        return self.process.pid


class Responder(Process):
    """The upstream at `port` of each of the addresses. options are those of `nailup-bench responder`. The word PORT in
    them becomes the port."""

    def __init__(self, bench, folder, addresses, *options):
        self.bench, self.addresses, self.port = bench, list(addresses), free_port()
        self.control = f"{folder}/responder-{self.port}.sock"
        listens = [word for ip in addresses for word in ("--listen", f"{ip}@{self.port}")]
        self.process = subprocess.Popen(
            [bench, "responder", *listens, "--control", self.control,
             *(str(option).replace("PORT", str(self.port)) for option in options)],
            stdout=subprocess.PIPE, text=True)
        if not self.process.stdout.readline().startswith("ready"):
            give_up("the responder did not start")

    @property
    def servers(self):
        return [f"{ip}@{self.port}" for ip in self.addresses]

    def tell(self, *words):
        return subprocess.run([self.bench, "control", self.control, *words], check=True, text=True,
                              capture_output=True).stdout

    def stats(self):
        return json.loads(self.tell("stats"))


class Nailupd(Process):
    """A daemon with this configuration (a dict: JSON is YAML). The context begins when it is ready to answer."""

    def __init__(self, program, folder, config, nailupctl=None, wrapper=()):
        self.port, self.nailupctl = free_port(), nailupctl
        self.socket = f"{folder}/nailup-{self.port}.sock"
        path = pathlib.Path(folder) / f"nailup-{self.port}.yaml"
        path.write_text(json.dumps(self.completed(config)), encoding="utf-8")
        self.started_at = time.monotonic()
        self.process = subprocess.Popen([*wrapper, program, "-c", str(path)])

    def completed(self, config):
        config = json.loads(json.dumps(config))
        config.setdefault("server", {}).update(listen=[f"127.0.0.1@{self.port}"])
        config["control"] = {"socket": self.socket}
        config.setdefault("log", {"level": "warning"})
        config.setdefault("dnssec", {"validate": "no"})  # the responder signs nothing
        return config

    def __enter__(self):
        if not await_answer(self.port, is_alive=lambda: self.process.poll() is None):
            self.stop()
            give_up("nailupd does not answer")
        return self

    def metrics(self):
        """Returns the metrics as {'cache_hits_total': 0, 'queries_total{protocol="udp"}': 1, ...}."""
        done = subprocess.run([self.nailupctl, "-s", self.socket, "--json", "stats"], check=True,
                              capture_output=True, text=True)
        return {row["metric"].removeprefix("nailup_") + (f"{{{row['labels']}}}" if row["labels"] else ""):
                row["value"] for row in json.loads(done.stdout)["metrics"]}


class Peer(Process):
    """Another server. Its output goes to a file. `text` is its configuration."""

    def __init__(self, name, folder, text, command, port):
        """command: its words, in which {conf} becomes the path of the configuration."""
        self.name, self.port = name, port
        conf, self.log = pathlib.Path(folder) / f"{name}-{port}.conf", f"{folder}/{name}-{port}.log"
        conf.write_text(text, encoding="utf-8")
        self.started_at = time.monotonic()
        with open(self.log, "w", encoding="utf-8") as log:
            self.process = subprocess.Popen([word.replace("{conf}", str(conf)) for word in command],
                                            stdout=log, stderr=subprocess.STDOUT)

    def __enter__(self):
        if not await_answer(self.port, is_alive=lambda: self.process.poll() is None):
            self.stop()
            tail = pathlib.Path(self.log).read_text(encoding="utf-8", errors="replace")[-600:]
            give_up(f"{self.name} does not answer: {tail}")
        return self
