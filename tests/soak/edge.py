#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
"""An hour at the edge of a datacenter: zones change at a real primary, and views, response policy and local data change by
reloads, all under load.

| what changes | how | what must hold |
|---|---|---|
| zones held here | dynamic updates at BIND several times a second, NOTIFY, IXFR | no version is older than the one before |
| the primary | it is killed, and comes back | its zones are served meanwhile, and the newest versions arrive afterwards |
| views | each reload adds or removes one | a client of a view gets the answers of its view, and no other client does |
| response policy | each reload has other rules | the rules of the last reload apply when it answers |
| local data | each reload has other records | exactly those of the last reload answer |

Usage: tests/soak/edge.py --build BUILD [--minutes 60] [--rate 2000]

Exits 1 if a query of the load is lost or has another response code than expected, if one of the rules above is broken, if the daemon
ends, or if memory grew."""

import json
import pathlib
import random
import socket
import struct
import subprocess
import sys
import threading
import time

from load_mix import TIMEOUT_MS, LoadRun, play, stage

ZONES = ["held0.edge.test", "held1.edge.test", "held2.edge.test"]
HOSTS = 2000           # how many records each zone has
CHANGED = 20           # how many records an update changes
UPDATE_S = 0.2
RELOAD_S = 3
CHECK_S = 0.02
DEATH_S = (20, 40)     # the time between two deaths of the primary, and how long it is dead
DEAD_S = (1, 8)
SETTLE_S = 30          # after the last change, the newest versions must arrive within this time
GUEST, EXTRA, OTHER = "127.0.0.2", "127.0.0.3", "127.0.0.4"  # the addresses of clients
TXT, CONSTANT_RULES = 16, 20000
GROWTH_LIMIT = 1.10    # the growth of resident memory, from the samples after the one below to the last ones
SETTLED_SAMPLE = 3

# (suffix, share of the rate in percent, transport, further words) of the clients' queries
MIX = [
    ("long.edge.example", 60, "udp", ["--zipf", "1", "--names", 1000]),
    ("ttl5.edge.example", 15, "udp", ["--zipf", "0", "--names", 5000]),
    (f"any.{ZONES[0]}", 15, "udp", ["--zipf", "0", "--names", 1000]),
    (f"any.{ZONES[1]}", 10, "tcp", ["--zipf", "0", "--names", 1000]),
]


# ---- messages ----

def skip_name(message, at):
    while message[at] and message[at] < 0xC0:
        at += 1 + message[at]
    return at + (2 if message[at] else 1)


def read_txt(message):
    """Returns (response code, text of the first TXT record in the answer, or None)."""
    at = skip_name(message, 12) + 4
    for _ in range(struct.unpack_from(">H", message, 6)[0]):
        at = skip_name(message, at)
        kind, size = struct.unpack_from(">H", message, at)[0], struct.unpack_from(">H", message, at + 8)[0]
        if kind == TXT:
            return message[3] & 15, message[at + 11:at + 11 + message[at + 10]].decode()
        at += 10 + size
    return message[3] & 15, None


class Client:
    """A client with one address and port, so that one worker answers it."""

    def __init__(self, ip, port):
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind((ip, 0))
        self.socket.connect(("127.0.0.1", port))
        self.socket.settimeout(TIMEOUT_MS / 1000)

    def ask(self, name):
        """Returns (response code, text or None). Raises OSError if no answer comes."""
        query = stage.make_query(name, TXT)
        self.socket.send(query)
        while True:
            answer = self.socket.recv(65535)
            if answer[:2] == query[:2]:
                return read_txt(answer)


# ---- the primary ----

class Primary(stage.Peer):
    """A BIND with all zones, which notifies nailupd of each change."""

    def __init__(self, folder, port, nailup_port):
        self.nsupdate, self.named = stage.find_program("nsupdate"), stage.find_program("named")
        self.folder, self.port, zones = pathlib.Path(folder), port, ""
        for zone in ZONES:
            (self.folder / f"{zone}.zone").write_text(
                f"$ORIGIN {zone}.\n$TTL 60\n@ SOA ns mail 1 10 2 3600 60\n@ NS ns\nns A 127.0.0.1\nversion TXT 0\n"
                "*.any A 192.0.2.1\n" + "".join(f"h{i} A 192.0.2.2\n" for i in range(HOSTS)))
            zones += f"""zone "{zone}" {{ type primary; file "{zone}.zone"; allow-transfer {{ any; }};
  allow-update {{ any; }}; also-notify {{ 127.0.0.1 port {nailup_port}; }}; notify explicit; max-journal-size 1M; }};\n"""
        self.text = f"""options {{ directory "{folder}"; listen-on port {self.port} {{ 127.0.0.1; }};
  listen-on-v6 {{ none; }}; pid-file none; session-keyfile none; recursion no; dnssec-validation no; notify-delay 0; }};
controls {{ }};
{zones}"""
        self.start()

    def start(self):
        super().__init__("named", self.folder, self.text, [self.named, "-g", "-c", "{conf}"], self.port)

    def kill(self):
        self.process.kill()
        self.process.wait()

    def update(self, zone, number):
        """Updates a zone. Returns whether it has this version now."""
        rows = [f"update delete version.{zone}. TXT", f"update add version.{zone}. 60 TXT {number}"]
        for host in random.sample(range(HOSTS), CHANGED):
            rows += [f"update delete h{host}.{zone}. A", f"update add h{host}.{zone}. 60 A 192.0.2.{number % 250}"]
        text = "\n".join([f"server 127.0.0.1 {self.port}", f"zone {zone}", *rows, "send", ""])
        return subprocess.run([self.nsupdate, "-t", "2"], input=text, text=True, capture_output=True,
                              check=False).returncode == 0


# ---- threads beside the load ----

class Side(threading.Thread):
    """Repeats a step until it is stopped. wrong has the breaches of a rule."""

    def __init__(self, soak, pause_s):
        super().__init__(daemon=True)
        self.soak, self.pause_s, self.done, self.wrong, self.steps = soak, pause_s, threading.Event(), [], 0

    def run(self):
        while not self.done.wait(self.pause_s):
            try:
                self.step()
            except (OSError, struct.error, IndexError, subprocess.SubprocessError) as error:
                self.wrong.append(f"{type(self).__name__}: {error!r}")
            self.steps += 1

    def end(self):
        self.done.set()
        self.join()


class Changes(Side):
    """Changes zones, and sometimes kills the primary."""

    def __init__(self, soak):
        super().__init__(soak, UPDATE_S)
        self.versions, self.deaths, self.next_death = dict.fromkeys(ZONES, 0), 0, time.monotonic() + DEATH_S[0]

    def step(self):
        zone = random.choice(ZONES)
        if self.soak.primary.update(zone, self.versions[zone] + 1):
            self.versions[zone] += 1
        if time.monotonic() < self.next_death:
            return
        self.soak.primary.kill()
        self.done.wait(random.uniform(*DEAD_S))
        self.soak.primary.start()
        self.deaths += 1
        self.next_death = time.monotonic() + random.uniform(*DEATH_S)


class Versions(Side):
    """Queries the versions of zones. Each must be at least as new as the one before. It may be newer than
    expected, because an update without an answer may have taken effect."""

    def __init__(self, soak):
        super().__init__(soak, CHECK_S)
        self.client, self.newest = Client(OTHER, soak.daemon.port), dict.fromkeys(ZONES, 0)

    def step(self):
        zone = random.choice(ZONES)
        rcode, text = self.client.ask(f"version.{zone}")
        if rcode or not text or int(text) < self.newest[zone]:
            self.wrong.append(f"{zone}: version {text}, response code {rcode}, after version {self.newest[zone]}")
        else:
            self.newest[zone] = int(text)


class Leaks(Side):
    """Queries names as clients of all views. The views have different answers for these names."""

    def __init__(self, soak):
        super().__init__(soak, CHECK_S)
        self.clients = {ip: Client(ip, soak.daemon.port) for ip in (GUEST, OTHER)}
        self.words = {GUEST: "guests", OTHER: "all"}

    def step(self):
        ip = random.choice([GUEST, OTHER])
        answer = self.clients[ip].ask("who.edge.test")
        if answer != (0, self.words[ip]):
            self.wrong.append(f"who.edge.test for {ip}: {answer}")
        rcode, _ = self.clients[ip].ask("blocked.long.edge.example")
        if rcode != (3 if ip == GUEST else 0):
            self.wrong.append(f"blocked.long.edge.example for {ip}: response code {rcode}")


class Reloads(Side):
    """Changes the configuration and reloads it. Exactly the new configuration must then be in force, with its rules."""

    def __init__(self, soak):
        super().__init__(soak, RELOAD_S)
        self.number = 0
        self.clients = {ip: Client(ip, soak.daemon.port) for ip in (EXTRA, OTHER)}

    def expect(self, ip, name, answer):
        found = self.clients[ip].ask(name)
        if found != answer:
            self.wrong.append(f"{name} for {ip}: {found} instead of {answer} after reload {self.number}")

    def step(self):
        self.number += 1
        has_extra = self.soak.configure(self.number)
        self.soak.reload()
        self.expect(EXTRA, "who.edge.test", (0, "extra" if has_extra else "all"))
        for ip in (EXTRA, OTHER):
            self.expect(ip, "number.edge.test", (0, f"number {self.number}"))
            self.expect(ip, "rule.edge.example", (0, f"rule {self.number}"))


# ---- the soak ----

class Edge(LoadRun):
    def __init__(self, args, folder):
        super().__init__(args)
        self.folder, self.sides = pathlib.Path(folder), []
        self.responder = stage.Responder(self.programs.bench, folder, ["127.0.0.2"], "--ttl", 86400)
        self.primary_port = stage.free_port()
        (self.folder / "transfers").mkdir()
        (self.folder / "blocked").write_text("blocked.long.edge.example\n")
        self.write_rules(0)
        self.daemon = stage.Nailupd(self.programs.nailupd, folder, self.config(0, False), self.programs.nailupctl)
        self.primary = Primary(folder, self.primary_port, self.daemon.port)

    def write_rules(self, number):
        rules = "".join(f"name{i}.blocked CNAME .\n" for i in range(CONSTANT_RULES))
        path = self.folder / "rpz.new"
        path.write_text(f"$ORIGIN rpz.test.\n$TTL 60\n@ SOA . . {number} 1 1 1 1\n@ NS .\n{rules}"
                        f"rule.edge.example TXT \"rule {number}\"\n")
        path.replace(self.folder / "rpz.zone")

    def config(self, number, has_extra):
        def who(word):
            return [f"who.edge.test 60 TXT {word}"]

        views = [{"name": "guests", "clients": [f"{GUEST}/32"], "local-data": who("guests"),
                  "block-lists": [{"file": str(self.folder / "blocked")}]}]
        if has_extra:
            views.append({"name": "extra", "clients": [f"{EXTRA}/32"], "local-data": who("extra")})
        return {
            "server": {"workers": 2}, "cache": {"size": "8MiB"}, "views": views,
            "forward-zones": [{"name": ".", "upstreams": self.responder.servers}],
            "local-data": [*who("all"), f'number.edge.test 60 TXT "number {number}"'],
            "rpz": [{"name": "rpz.test", "file": str(self.folder / "rpz.zone")}],
            "transfer-directory": str(self.folder / "transfers"),
            "auth-zones": [{"name": zone, "primaries": [f"127.0.0.1@{self.primary_port}"], "for": "clients"}
                           for zone in ZONES],
        }

    def configure(self, number):
        """Writes the configuration with this number. Returns whether it has the view `extra`."""
        has_extra = bool(number % 2)
        self.write_rules(number)
        path = self.folder / f"nailup-{self.daemon.port}.yaml"
        path.write_text(json.dumps(self.daemon.completed(self.config(number, has_extra))))
        return has_extra

    def reload(self):
        subprocess.run([self.programs.nailupctl, "-s", self.daemon.socket, "reload"], check=True, capture_output=True,
                       timeout=60)

    def await_zones(self):
        client, until = Client(OTHER, self.daemon.port), time.monotonic() + SETTLE_S
        for zone in ZONES:
            while client.ask(f"version.{zone}")[0]:
                if time.monotonic() > until:
                    stage.give_up(f"{zone} does not come from its primary")
                time.sleep(0.1)

    def start_loads(self, seconds):
        for suffix, share, transport, words in MIX:
            self.start_load(suffix, transport, self.args.rate * share / 100, seconds, *words)

    def sample(self, began):
        metrics = self.daemon.metrics()
        self.samples.append(stage.resident_bytes(self.daemon.pid))
        count = {end: metrics[f'zone_transfers_total{{result="{end}"}}'] for end in ("whole", "changes", "failed")}
        print(f"{(time.monotonic() - began) / 60:5.1f} min  resident {self.samples[-1] // 1024} KiB  "
              f"{self.reloads.steps} reloads, {self.changes.steps} updates, {self.changes.deaths} deaths, "
              f"{self.versions.steps} versions read, transfers: {count['whole']} whole, {count['changes']} changes, "
              f"{count['failed']} failed", flush=True)

    def run(self):
        """Runs the soak. Returns the faults as sentences."""
        self.await_zones()
        self.changes, self.reloads, self.versions = Changes(self), Reloads(self), Versions(self)
        self.sides = [self.changes, self.reloads, self.versions, Leaks(self)]
        seconds, began = self.args.minutes * 60, time.monotonic()
        for side in self.sides:
            side.start()
        self.start_loads(seconds)
        if wrong := self.watch(seconds, began):
            return wrong
        for side in (self.changes, self.reloads):
            side.end()
        wrong = self.judge_end()
        for side in self.sides:
            side.end()
        self.sample(began)
        return sum((side.wrong[:10] for side in self.sides), wrong) + self.judge_loads() + self.judge_memory()

    def judge_end(self):
        """Checks that the newest versions arrive after the last change."""
        until = time.monotonic() + SETTLE_S
        while time.monotonic() < until:
            if all(self.versions.newest[zone] >= self.changes.versions[zone] for zone in ZONES):
                return []
            time.sleep(0.1)
        return [f"versions {self.versions.newest} instead of {self.changes.versions}"]

    def judge_loads(self):
        return self.end_loads(*((suffix, transport, "NOERROR") for suffix, _, transport, _ in MIX))

    def judge_memory(self):
        """Checks the memory. A reload has two sets of rules for a moment, so a single sample says little."""
        third = max(1, len(self.samples) // 3)
        most, least = max(self.samples[SETTLED_SAMPLE - 1:][:third]), min(self.samples[-third:])
        print(f"resident at most {most // 1024} KiB in the samples after the second, at least {least // 1024} in the last "
              f"third, ratio {least / most:.4f}")
        return [f"memory grew from {most} to {least} bytes"] if least > GROWTH_LIMIT * most else []

    def stop(self):
        for side in self.sides:
            side.end()
        code = super().stop()
        self.primary.stop()
        return code


def main():
    return play("edge", Edge, "no rule was broken, memory flat", __doc__)


if __name__ == "__main__":
    sys.exit(main())
