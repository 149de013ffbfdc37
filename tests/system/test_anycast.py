# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
"""The anycast recipes of conf/fleet with BIRD and FRR: two instances announce the address of the service to a router, each in a
network namespace. They need root. tools/setup.sh does not install BIRD and FRR, so these tests are skipped without them."""

import itertools
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

import pytest

from conftest import BAD_WORDS, BUILD, ROOT, eventually, program

pytestmark = [pytest.mark.skipif(BUILD is None, reason="nailupd is not built"),
              pytest.mark.skipif(os.geteuid() != 0, reason="namespaces with routers need root")]

FLEET = ROOT / "conf/fleet"
SERVICE, SERVICE6 = "198.51.100.53", "2001:db8::53"
UPSTREAM = "10.99.0.1"  # inside the namespace of the router
SECOND = {"192.0.2.": "203.0.113.", "2001:db8:2::": "2001:db8:3::"}

ROUTER_CONFIG = """\
router id 192.0.2.1;
protocol device { }
protocol kernel { merge paths on; ipv4 { export all; }; }
protocol kernel { merge paths on; ipv6 { export all; }; }
# BIRD and FRR may connect to each other at once. They drop one connection, and by default BIRD then waits for a minute.
template bgp machine {
  local as 64511;
  connect delay time 1; connect retry time 1; error wait time 1, 2;
  ipv4 { import all; export none; }; ipv6 { import all; export none; };
}
protocol bgp one4 from machine { neighbor 192.0.2.7 as 64512; }
protocol bgp one6 from machine { neighbor 2001:db8:2::7 as 64512; }
protocol bgp two4 from machine { neighbor 203.0.113.7 as 64512; }
protocol bgp two6 from machine { neighbor 2001:db8:3::7 as 64512; }
"""

# A client sends a query every 20 ms from a new port, and repeats it if no answer comes within 0.5 s.
ASKER = """
import json, socket, struct, sys, time
address, seconds, family = sys.argv[1], float(sys.argv[2]), socket.AF_INET6 if ":" in sys.argv[1] else socket.AF_INET
def ask(number):
    message = struct.pack(">6H", number & 65535, 256, 1, 0, 0, 0) + b"\\x03www\\x07example\\x00" + struct.pack(">2H", 1, 1)
    with socket.socket(family, socket.SOCK_DGRAM) as one:
        one.settimeout(0.5)
        try:
            one.sendto(message, (address, 53))
            return one.recv(4096)[3] & 15
        except OSError:
            return None
report, number, end = {"asked": 0, "repeated": 0, "lost": 0, "rcodes": []}, 0, time.monotonic() + seconds
while time.monotonic() < end:
    number += 1
    rcode = ask(number)
    if rcode is None:
        report["repeated"] += 1
        rcode = ask(number)
    report["asked"] += 1
    report["lost"] += rcode is None
    report["rcodes"] = sorted({*report["rcodes"], -1 if rcode is None else rcode})
    time.sleep(0.02)
print(json.dumps(report))
"""


def found(name, *more):
    path = shutil.which(name) or next((one for one in more if os.path.exists(one)), None)
    if not path:
        pytest.skip(f"{name} is not installed")
    return path


class Space:
    """A network namespace and its programs, which end with it."""

    def __init__(self, folder):
        self.folder = folder
        folder.mkdir(parents=True)
        self.started, self.folders = [], []
        self.holder = subprocess.Popen(["unshare", "-n", "sh", "-c", "ip link set lo up && echo && exec sleep 600"],
                                       stdout=subprocess.PIPE)
        if not self.holder.stdout.readline():
            self.holder.kill()
            pytest.skip("no network namespaces")

    def words(self, *words):
        return ["nsenter", "-t", str(self.holder.pid), "-n", *map(str, words)]

    def run(self, *words):
        done = subprocess.run(self.words(*words), text=True, capture_output=True, timeout=30)
        assert done.returncode == 0, f"{words}: {done.stdout}{done.stderr}"
        return done.stdout

    def start(self, *words, log="log", env=None):
        with open(self.folder / log, "a") as output:
            self.started.append(subprocess.Popen(self.words(*words), stdout=output, stderr=subprocess.STDOUT,
                                                 cwd=self.folder, env={**os.environ, **(env or {})}))
        return self.started[-1]

    def close(self):
        for one in reversed(self.started):
            if one.poll() is None:
                one.terminate()
        for one in reversed(self.started):
            try:
                one.wait(15)
            except subprocess.TimeoutExpired:
                one.kill()
        self.holder.kill()
        self.holder.wait()
        for folder in self.folders:
            shutil.rmtree(folder)


class Instance:
    """nailupd, nailup-anycast, and a routing daemon with its recipe."""

    def __init__(self, space, replace):
        self.space, self.replace, self.daemon, self.anycast = space, replace, None, None
        self.socket = space.folder / "control.sock"
        (space.folder / "nailup.yaml").write_text(json.dumps({
            "server": {"listen": ["0.0.0.0", "::"], "workers": 1, "freebind": "yes", "access": [
                {"prefix": "0.0.0.0/0", "action": "allow"}, {"prefix": "::/0", "action": "allow"}]},
            "forward-zones": [{"name": ".", "upstreams": [UPSTREAM]}], "recursion": {"enabled": "no"},
            "dnssec": {"validate": "no"}, "control": {"socket": str(self.socket)}}))
        self.ctl_path = space.folder / "nailupctl"
        self.ctl_path.write_text(f'#!/bin/sh\nexec {program("nailupctl")} -s {self.socket} "$@"\n')
        self.ctl_path.chmod(0o755)

    def recipe(self, name):
        text = (FLEET / name).read_text()
        for before, after in self.replace.items():
            text = text.replace(before, after)
        path = self.space.folder / name
        path.write_text(text)
        return path

    def ctl(self, *words):
        return subprocess.run([self.ctl_path, *words], text=True, capture_output=True, timeout=20)

    def start_daemon(self):
        self.daemon = self.space.start(program("nailupd"), "-c", self.space.folder / "nailup.yaml", log="nailupd.log")
        eventually(lambda: self.ctl("status", "--check").returncode == 0, 20)

    def has_address(self):
        return SERVICE in (text := self.space.run("ip", "address", "show", "lo")) or SERVICE6 in text

    def answers(self, address):
        """True if nailupd answers a query from this machine to the address."""
        asked = subprocess.run(self.space.words("dig", "+tries=1", "+time=1", f"@{address}", "www.example"), check=False,
                               capture_output=True, text=True)
        return "status: NOERROR" in asked.stdout

    def start_anycast(self):
        self.anycast = self.space.start(FLEET / "nailup-anycast", f"{SERVICE}/32", f"{SERVICE6}/128", log="anycast.log",
                                        env={"NAILUPCTL": str(self.ctl_path), "INTERVAL": "0.2", "LINGER": "5"})

    def stop_daemon(self):
        self.daemon.terminate()
        assert self.daemon.wait(30) == 0, (self.space.folder / "nailupd.log").read_text()

    def start_bird(self):
        self.space.start(found("bird", "/usr/sbin/bird"), "-f", "-c", self.recipe("bird.conf"), "-s",
                         self.space.folder / "bird.ctl", log="bird.log")

    def start_frr(self):
        folder = pathlib.Path(tempfile.mkdtemp(prefix="nailup-frr-"))  # the user of FRR must have access
        self.space.folders.append(folder)
        (folder / "zebra.conf").write_text("")
        shutil.copy(self.recipe("frr.conf"), folder)
        for path in (folder, *folder.iterdir()):
            shutil.chown(path, "frr", "frr")
        common = ["-z", folder / "zserv", "--vty_socket", folder, "-P", "0"]
        self.space.start(found("zebra", "/usr/lib/frr/zebra"), "-f", folder / "zebra.conf", "-i", folder / "zebra.pid",
                         *common, log="zebra.log")
        eventually(lambda: (folder / "zserv").exists(), 10)
        self.space.start(found("bgpd", "/usr/lib/frr/bgpd"), "-f", folder / "frr.conf", "-i", folder / "bgpd.pid",
                         *common, log="bgpd.log")


class Site:
    """A router with clients and the upstream, and the two instances."""

    def __init__(self, folder, start_routing):
        self.spaces = [Space(folder / name) for name in ("router", "one", "two")]
        self.router = self.spaces[0]
        try:
            self.instances = [Instance(self.spaces[1], {}), Instance(self.spaces[2], SECOND)]
            self.connect()
            self.upstream = self.start_upstream()
            for one in self.instances:
                one.start_daemon()
                start_routing(one)
                one.start_anycast()
            (self.router.folder / "bird.conf").write_text(ROUTER_CONFIG)
            self.router.start(found("bird", "/usr/sbin/bird"), "-f", "-c", self.router.folder / "bird.conf", "-s",
                              self.router.folder / "bird.ctl", log="bird.log")
            self.await_paths(2)
        except BaseException:
            self.close()
            raise

    def connect(self):
        self.router.run("ip", "address", "add", f"{UPSTREAM}/32", "dev", "lo")
        self.router.run("sysctl", "-qw", "net.ipv4.fib_multipath_hash_policy=1", "net.ipv6.fib_multipath_hash_policy=1",
                        "net.ipv4.ip_forward=1")
        for number, (space, net, net6) in enumerate(((self.spaces[1], "192.0.2", "2001:db8:2:"),
                                                     (self.spaces[2], "203.0.113", "2001:db8:3:"))):
            link = f"to{number}"
            self.router.run("ip", "link", "add", link, "type", "veth", "peer", "name", "eth0", "netns", space.holder.pid)
            for where, device, last in ((self.router, link, 1), (space, "eth0", 7)):
                where.run("ip", "address", "add", f"{net}.{last}/24", "dev", device)
                where.run("ip", "-6", "address", "add", f"{net6}:{last}/64", "dev", device, "nodad")
                where.run("ip", "link", "set", device, "up")
            space.run("ip", "route", "add", "default", "via", f"{net}.1")

    def start_upstream(self):
        started = self.router.start(program("nailup-bench"), "responder", "--listen", f"{UPSTREAM}@53", log="upstream.log")
        time.sleep(0.3)
        assert started.poll() is None, (self.router.folder / "upstream.log").read_text()
        return started

    def paths(self):
        """Returns how many paths the router has to the service, over IPv4 and over IPv6."""
        counts = []
        for words in (("ip", "-4"), ("ip", "-6")):
            text = self.router.run(*words, "route", "show", SERVICE if words[1] == "-4" else SERVICE6)
            counts.append(text.count("via "))
        return tuple(counts)

    def await_paths(self, count):
        eventually(lambda: self.paths() == (count, count), 60)

    def start_asking(self, seconds, address=SERVICE):
        return subprocess.Popen(self.router.words(sys.executable, "-c", ASKER, address, seconds), text=True,
                                stdout=subprocess.PIPE)

    def ask(self, seconds=0.5, address=SERVICE):
        return json.loads(self.start_asking(seconds, address).communicate(timeout=60)[0])

    def close(self):
        for space in reversed(self.spaces):
            space.close()


@pytest.fixture(params=["bird", "frr"])
def site(request):
    found("bird", "/usr/sbin/bird")
    if request.param == "frr":
        found("bgpd", "/usr/lib/frr/bgpd")
    folder = pathlib.Path(tempfile.mkdtemp(prefix="nailup-anycast-"))  # a short path, because it contains sockets
    try:
        made = Site(folder, Instance.start_bird if request.param == "bird" else Instance.start_frr)
        yield made
        made.close()
        for path in folder.glob("*/nailupd.log"):
            assert not BAD_WORDS.search(path.read_text()), path.read_text()
    finally:
        shutil.rmtree(folder)


@pytest.mark.parametrize("address", ["198.51.100.53/32", "198.51.100.53/24", "2001:db8:53::53/128", "2001:db8:53::53/48"])
def test_a_route_accepts_queries_after_the_address_has_left(tmp_path, address):
    """The network of an address is often announced, because routers of the Internet accept nothing longer than /24 or /48."""
    space, host = Space(tmp_path / "space"), address.split("/")[0]
    route = ["ip", *(["-6"] if ":" in host else []), "route", "show", "table", "local", "proto", "static"]
    try:
        script = space.start(FLEET / "nailup-anycast", address, env={"NAILUPCTL": "true", "INTERVAL": "0.1", "LINGER": "4"})
        eventually(lambda: host in space.run("ip", "address", "show", "lo"))
        script.terminate()
        eventually(lambda: host not in space.run("ip", "address", "show", "lo") and f"local {host} dev lo" in space.run(*route))
        assert script.wait(20) == 0
        assert space.run(*route) == ""
    finally:
        space.close()


def test_a_planned_stop_loses_no_query(site):
    one = site.instances[0]
    asking = [site.start_asking(12, address) for address in (SERVICE, SERVICE6)]
    one.anycast.terminate()  # systemd does this before it stops nailupd (see nailup-anycast.service)
    eventually(lambda: not one.has_address())
    assert [one.answers(SERVICE), one.answers(SERVICE6)] == [True, True], "a query on its way to a withdrawn address is lost"
    assert one.anycast.wait(20) == 0
    assert site.paths() == (1, 1)
    one.stop_daemon()
    one.start_daemon()
    one.start_anycast()
    site.await_paths(2)
    for each in asking:
        report = json.loads(each.communicate(timeout=60)[0])
        assert (report["lost"], report["repeated"], report["rcodes"]) == (0, 0, [0]), report


def test_a_draining_or_dead_instance_is_withdrawn_and_comes_back(site):
    one, two = site.instances
    assert one.ctl("drain").returncode == 0
    site.await_paths(1)
    assert site.ask()["rcodes"] == [0]
    assert one.daemon.wait(30) == 0
    one.start_daemon()
    site.await_paths(2)
    two.daemon.kill()
    two.daemon.wait()
    site.await_paths(1)
    assert site.ask()["lost"] == 0 and site.ask(address=SERVICE6)["lost"] == 0


def await_degraded(site):
    """Queries new names until each instance has noticed that its upstream is gone."""
    numbers = itertools.count()

    def are_degraded():
        for one in site.instances:
            subprocess.run(one.space.words("dig", "+tries=1", "+time=1", "@127.0.0.1", f"n{next(numbers)}.example"),
                           capture_output=True, check=False)
        return all("degraded" in one.ctl("status", "--check").stdout for one in site.instances)

    eventually(are_degraded, 60)


def test_an_outage_of_the_internet_withdraws_no_instance(site):
    assert site.ask()["rcodes"] == [0]  # both instances have www.example in their caches now
    site.upstream.terminate()
    site.upstream.wait()
    site.router.run("ip", "address", "del", f"{UPSTREAM}/32", "dev", "lo")
    site.router.run("ip", "route", "add", "unreachable", f"{UPSTREAM}/32")
    await_degraded(site)
    time.sleep(1.5)  # time for several checks
    assert site.paths() == (2, 2)
    assert site.ask()["rcodes"] == [0]  # from the cache
    for one in site.instances:  # the same after a cold start
        one.stop_daemon()
        one.start_daemon()
    await_degraded(site)
    time.sleep(1.5)
    assert site.paths() == (2, 2)
