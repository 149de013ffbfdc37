# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
"""Starts the hierarchy and resolvers beside it, and sends them queries.

    with Place() as place, Hierarchy(folder, place) as tree, Unbound(tree) as unbound:
        answers = tree.ask(unbound.address, [("www.good.one.", "A")])

Everything runs in a network namespace with its own port 53 and IPv6 addresses, and nothing is left behind. Raises
CannotRun with the reason if a namespace or a program is missing."""

import json
import os
import pathlib
import queue
import shutil
import subprocess
import sys
import threading
import time

from .zones import HINTS, PLANTS, ZONES, zone_file

START_S = 20  # the longest time of a start; a quiet machine needs a tenth of it
PORT = 53  # Unbound can use no other port for servers
STOP_S = 5
NAILED_PREFIX = "127.50.1.64/27"  # contains both servers of plant.one


class CannotRun(Exception):
    """The test has to be skipped for this reason."""


def need(tool):
    found = shutil.which(tool, path="/usr/sbin:/usr/bin:/sbin:/bin:/usr/local/bin")
    if not found:
        raise CannotRun(f"{tool} is not installed")
    return found


class Place:
    """A network namespace, which an idle process keeps. enter: the words that run a command in it."""

    def __init__(self):
        as_root = ["--map-root-user"] if os.geteuid() else []
        self.holder = subprocess.Popen([need("unshare"), *as_root, "--net", "sh", "-c", "echo; exec cat"],
                                       stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        try:
            if not self.holder.stdout.readline():
                raise CannotRun(f"no network namespace: {self.holder.stderr.read().strip()}")
            self.enter = [need("nsenter"), "--target", str(self.holder.pid), "--net",
                          *(["--user", "--preserve-credentials"] if as_root else [])]
            self.has_ipv6 = self.set_up()
        except BaseException:
            self.close()
            raise

    def set_up(self):
        """Sets the namespace up. Returns whether it has IPv6 addresses, too."""
        self.run("link", "set", "lo", "up")
        addresses = sorted({one for plant in PLANTS.values() for one in plant.addresses if ":" in one})
        try:
            for address in addresses:
                self.run("addr", "add", f"{address}/128", "dev", "lo", "nodad")
        except CannotRun:
            return False
        return True

    def run(self, *words):
        done = subprocess.run([*self.enter, need("ip"), *words], capture_output=True, text=True, timeout=20)
        if done.returncode:
            raise CannotRun(f"ip {' '.join(words)}: {done.stderr.strip()}")

    def close(self):
        self.holder.stdin.close()
        self.holder.wait(STOP_S)
        self.holder.stdout.close()
        self.holder.stderr.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


class Program:
    """A program in the place, which ends at the latest with this process. Its output goes to a file in its folder."""

    def __init__(self, place, folder, name, command, **pipes):
        self.name, self.log_path = name, folder / f"{name}.log"
        with open(self.log_path, "ab") as log:
            self.process = subprocess.Popen(
                [*place.enter, need("setpriv"), "--pdeathsig", "TERM", *map(str, command)], cwd=folder, stderr=log,
                **{"stdin": subprocess.DEVNULL, "stdout": log, **pipes})

    def check_runs(self):
        if self.process.poll() is not None:
            raise RuntimeError(f"{self.name} ended with {self.process.returncode}:\n{self.log_path.read_text()}")

    def kill(self):
        """Kills the program, as a crash would."""
        self.process.kill()
        self.process.wait(STOP_S)

    def ask_to_stop(self):
        if self.process.poll() is None:
            self.process.terminate()

    def stop(self):
        self.ask_to_stop()
        try:
            self.process.wait(STOP_S)
        except subprocess.TimeoutExpired:
            self.kill()
        self.close_pipes()

    def close_pipes(self):
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe:
                pipe.close()


class PythonProgram(Program):
    """A Python module such as hierarchy.bad, which reads and prints lines."""

    def __init__(self, place, folder, module, *words):
        os_path = str(pathlib.Path(__file__).resolve().parents[1])
        super().__init__(place, folder, module, ["env", f"PYTHONPATH={os_path}", "PYTHONDONTWRITEBYTECODE=1",
                                                 sys.executable, "-m", module, *words],
                         stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def say(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def read(self):
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"{self.name} ended:\n{self.log_path.read_text()}")
        return line


# ---- servers ----

NSD = """\
server:
  username: ""
  chroot: ""
  zonesdir: "{folder}"
  pidfile: ""
  xfrdfile: ""
  zonelistfile: "{folder}/zone.list"
  xfrdir: "{folder}"
  database: ""
  server-count: 1
  rrl-ratelimit: 0
  answer-cookie: yes
{listen}
remote-control:
  control-enable: no
{zones}
"""

KNOT = """\
server:
    rundir: "{folder}"
    udp-workers: 1
    tcp-workers: 1
    background-workers: 1
    listen: [{listen}]
log:
  - target: stderr
    any: warning
database:
    storage: "{folder}"
    journal-db-max-size: 1M
template:
  - id: default
    storage: "{folder}"
    journal-content: none
    zonefile-sync: -1
    semantic-checks: off
    global-module: mod-cookies
zone:
{zones}
"""


def zone_path(name):
    return f"{'root' if name == '.' else name.rstrip('.')}.zone"


def plant_command(folder, name, addresses, zones, program, port):
    """Writes a real server's configuration. Returns the command that starts it."""
    own = folder / name
    own.mkdir(exist_ok=True)
    if program == "nsd":
        text = NSD.format(folder=own, listen="".join(f"  ip-address: {one}@{port}\n" for one in addresses),
                          zones="".join(f'zone:\n  name: "{zone}"\n  zonefile: "{folder / zone_path(zone)}"\n'
                                        for zone in zones))
        command = [need("nsd"), "-d", "-c", own / "conf"]
    else:
        text = KNOT.format(folder=own, listen=", ".join(f'"{one}@{port}"' for one in addresses),
                           zones="".join(f'  - domain: "{zone}"\n    file: "{folder / zone_path(zone)}"\n'
                                         for zone in zones))
        command = [need("knotd"), "-c", own / "conf"]
    (own / "conf").write_text(text)
    return command


class Asker(PythonProgram):
    """A client in the namespace (see asker.py). Any number of threads may use it at the same time."""

    def __init__(self, place, folder):
        super().__init__(place, folder, "hierarchy.asker")
        self.lock, self.jobs, self.waiting, self.has_ended = threading.Lock(), 0, {}, False
        self.reader = threading.Thread(target=self.hand_out, daemon=True)
        self.reader.start()

    def hand_out(self):
        """Passes each job's answers to its waiting thread, and None at the end."""
        for line in self.process.stdout:
            done = json.loads(line)
            with self.lock:
                waits = self.waiting.pop(done["id"])
            waits.put(done["answers"])
        with self.lock:
            self.has_ended = True
            for waits in self.waiting.values():
                waits.put(None)

    def ask(self, server, questions, parallel=32, timeout=30, **more):
        """Sends [(name, type), ...] to (IP, port). Returns [{"rcode", "rows", "flags", "ttls"}, ...]."""
        waits = queue.SimpleQueue()
        with self.lock:
            if self.has_ended:
                raise RuntimeError("the asker has ended")
            self.jobs += 1
            self.waiting[self.jobs] = waits
            self.say(json.dumps({"id": self.jobs, "server": server, "questions": questions, "parallel": parallel,
                                 "timeout": timeout, **more}))
        answers = waits.get()
        if answers is None:
            raise RuntimeError(f"the asker has ended:\n{self.log_path.read_text()}")
        for answer in answers:
            answer["rows"] = {tuple(row) for row in answer["rows"]}
        return answers

    def close_pipes(self):
        self.reader.join(STOP_S)
        super().close_pipes()


class Hierarchy:
    """All servers of the hierarchy, running. start_seconds: how long their start took; hints: the path of the root
    hints."""

    def __init__(self, folder, place, port=PORT):
        began = time.monotonic()
        self.folder, self.place, self.port, self.programs = pathlib.Path(folder), place, port, {}
        self.has_ipv6 = place.has_ipv6
        self.hints = self.folder / "hints"
        self.hints.write_text("".join(line + "\n" for line in HINTS.splitlines()
                                      if self.has_ipv6 or "AAAA" not in line))
        for zone in ZONES.values():
            (self.folder / zone_path(zone.name)).write_text(zone_file(zone))
        try:
            self.asker = Asker(place, self.folder)
            self.bad = PythonProgram(place, self.folder, "hierarchy.bad", port)
            for name in PLANTS:
                self.start(name)
            self.bad.read()
            self.wait_until_ready(PLANTS)
        except BaseException:
            self.close()
            raise
        self.start_seconds = time.monotonic() - began

    def addresses_of(self, name):
        return [one for one in PLANTS[name].addresses if self.has_ipv6 or ":" not in one]

    def start(self, name):
        """Starts one of zones.PLANTS, for example after kill()."""
        command = plant_command(self.folder, name, self.addresses_of(name), PLANTS[name].zones, PLANTS[name].program,
                                self.port)
        self.programs[name] = Program(self.place, self.folder, name, command)

    def kill(self, name):
        """Kills a plant, as a crash would."""
        self.programs[name].kill()

    def behave(self, address, behaviour):
        """Changes the behaviour of one of zones.BADS."""
        self.bad.say(f"{address} {behaviour}")

    def ask(self, *words, **more):
        """Sends queries to a resolver; see Asker."""
        return self.asker.ask(*words, **more)

    def serves(self, name):
        """Returns whether a plant answers for each of its zones at each of its addresses."""
        wanted = [(zone, "SOA") for zone in PLANTS[name].zones]
        return all(answer["rcode"] == "NOERROR" and answer["rows"] for address in self.addresses_of(name)
                   for answer in self.ask((address, self.port), wanted, timeout=1, flags=0))

    def wait_until_ready(self, names):
        deadline = time.monotonic() + START_S
        for name in names:
            while not self.serves(name):
                if time.monotonic() > deadline:
                    raise RuntimeError(f"{name} does not answer:\n{self.programs[name].log_path.read_text()}")
                if self.programs[name].process.poll() is not None:
                    self.start(name)  # a killed predecessor may have kept the port until now
                time.sleep(0.02)

    def close(self):
        running = [*self.programs.values(), *(getattr(self, one) for one in ("asker", "bad") if hasattr(self, one))]
        for one in running:
            one.ask_to_stop()
        for one in running:
            one.stop()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


# ---- resolvers ----


class Resolver(Program):
    """A resolver. It is ready when it answers."""

    def __init__(self, tree, name, command, address):
        self.tree, self.address = tree, address
        super().__init__(tree.place, tree.folder, name, command)
        deadline = time.monotonic() + START_S
        while tree.ask(address, [("top.", "TXT")], timeout=5)[0]["rcode"] != "NOERROR":
            self.check_runs()
            if time.monotonic() > deadline:
                self.stop()
                raise RuntimeError(f"{name} does not resolve:\n{self.log_path.read_text()}")
            time.sleep(0.02)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()


UNBOUND = """\
server:
  interface: 127.0.0.1@{port}
  username: ""
  chroot: ""
  directory: "{folder}"
  pidfile: ""
  use-syslog: no
  do-daemonize: no
  do-not-query-localhost: no
  do-ip6: {ip6}
  access-control: 127.0.0.0/8 allow
  module-config: "iterator"
  root-hints: "{hints}"
  num-threads: 1
  infra-keep-probing: yes
  infra-host-ttl: 10
  msg-cache-size: 4m
  rrset-cache-size: 4m
  cache-max-ttl: {max_ttl}
  cache-max-negative-ttl: {max_ttl}
remote-control:
  control-enable: no
"""

NAMED = """\
options {{
  directory "{folder}";
  port {authoritative};
  listen-on port {port} {{ 127.0.0.1; }};
  listen-on-v6 {{ none; }};
  pid-file none;
  session-keyfile none;
  managed-keys-directory "{folder}";
  recursion yes;
  dnssec-validation no;
  empty-zones-enable no;
  minimal-responses yes;
  notify no;
  max-cache-size 16m;
  max-cache-ttl {max_ttl};
  max-ncache-ttl {max_ttl};
  allow-query {{ 127.0.0.0/8; }};
}};
controls {{ }};
zone "." {{ type hint; file "{hints}"; }};
"""


def resolver_folder(tree, name):
    folder = tree.folder / name
    folder.mkdir(exist_ok=True)
    return folder


def start_unbound(tree, port=5301, max_ttl=3600):
    folder = resolver_folder(tree, "unbound")
    (folder / "conf").write_text(UNBOUND.format(folder=folder, hints=tree.hints, port=port, max_ttl=max_ttl,
                                                ip6="yes" if tree.has_ipv6 else "no"))
    return Resolver(tree, "unbound", [need("unbound"), "-d", "-c", folder / "conf"], ("127.0.0.1", port))


def start_named(tree, port=5302, max_ttl=3600):
    folder = resolver_folder(tree, "named")
    (folder / "conf").write_text(NAMED.format(folder=folder, hints=tree.hints, port=port, authoritative=tree.port,
                                              max_ttl=max_ttl))
    command = [need("named"), "-f", "-n", "1", "-L", folder / "log", "-c", folder / "conf"]
    if not tree.has_ipv6:
        command.append("-4")
    return Resolver(tree, "named", command, ("127.0.0.1", port))


def nailupd_config(tree, control, port=5303):
    """Returns a configuration with which nailupd recurses over the hierarchy and nails the plant."""
    return {"server": {"workers": 1, "listen": [f"127.0.0.1@{port}"], "default-local-zones": "no",
                       "access": [{"prefix": "127.0.0.0/8", "action": "allow"}]},
            "recursion": {"enabled": "yes", "root-hints": str(tree.hints), "port": tree.port, "do-not-query": []},
            "dnssec": {"validate": "no"},
            "tcp-upstream-keepalive": [NAILED_PREFIX],
            "control": {"socket": str(control)}}


RESOLVERS = {"unbound": start_unbound, "named": start_named}
