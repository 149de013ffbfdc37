# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
"""The eight servers from Debian's packages, one row of ROWS for each, with their own defaults for everything that
concerns connections. Each has its own address, and answers plain DNS at port 53 and DNS over TLS at port
853.

A server that speaks no TLS has haproxy or stunnel in front of it. The four resolvers ask an NSD behind them.
Each server knows two zones, so that one daemon can ask it over TCP and over TLS: `tcp.NAME.test` and
`tls.NAME.test`, in which every name has one address record."""

import os
import pathlib
import signal
import string
import subprocess
import tempfile

import sandbox
from conftest import eventually
from peers import NSD_CONFIG, UNBOUND_CONFIG, Authority, Server, need, query, rcode_of, udp_ask

HERE = pathlib.Path(__file__).resolve().parent
BEHIND = "10.53.2.1"  # the NSD behind the resolvers
TRANSPORTS = ("tcp", "tls")
PORTS = {"tcp": 53, "tls": 853}
ZONE = """$TTL 3600
@ SOA ns hm 1 3600 600 86400 60
@ NS ns
ns A 192.0.2.53
* A 192.0.2.1
"""

# name: (program, words of its command line, name of its file, whether it resolves, the program that speaks TLS). {conf}
# is the path of its file, {folder} that of its folder.
ROWS = {
    "nsd": ("nsd", ["-d", "-c", "{conf}"], "nsd.conf", False, "itself"),
    "knotd": ("knotd", ["-c", "{conf}"], "knot.conf", False, "haproxy"),
    "bind": ("named", ["-g", "-n", "1", "-c", "{conf}"], "named.conf", False, "itself"),
    "unbound": ("unbound", ["-d", "-c", "{conf}"], "unbound.conf", True, "itself"),
    "kresd": ("kresd", ["-n", "-c", "{conf}", "{folder}"], "kresd.conf", True, "itself"),
    "pdns": ("pdns_server", ["--config-dir={folder}"], "pdns.conf", False, "stunnel"),
    "recursor": ("pdns_recursor", ["--config-dir={folder}"], "recursor.conf", True, "haproxy"),
    "dnsdist": ("dnsdist", ["-C", "{conf}", "--supervised", "--disable-syslog"], "dnsdist.conf", True, "itself"),
}
FRONTS = {"haproxy": ("haproxy", ["-db", "-f", "{conf}"], "haproxy.cfg"),
          "stunnel": ("stunnel4", ["{conf}"], "stunnel.conf")}


def add_address(ip):
    """Adds an address to the interface. BIND listens only on such addresses, and a route that makes a whole network
    local is not enough."""
    subprocess.run(["ip", "addr", "replace", f"{ip}/32", "dev", "lo"], check=True, capture_output=True)


def zone_of(name, transport):
    return f"{transport}.{name}.test"


def indented(lines, by):
    return "".join(" " * by + line + "\n" for line in lines)


def write_zones(folder, zones):
    for zone in zones:
        (folder / f"{zone}.zone").write_text(ZONE)
    (folder / "zones.conf").write_text("".join(  # for servers that read BIND's syntax
        f'zone "{zone}" {{ type master; file "{folder}/{zone}.zone"; }};\n' for zone in zones))


def conf_of(name, values):
    """Returns the configuration of tests/system if it has one, else that of a file below peers/."""
    zones, folder = values["zones"], values["folder"]
    if name in ("nsd", "behind"):
        options = [f"ip-address: {values['ip']}@853", "tls-port: 853", f'tls-service-pem: "{values["pem"]}"',
                   f'tls-service-key: "{values["key"]}"'] if name == "nsd" else []
        return NSD_CONFIG.format(address=f"{values['ip']}@53", folder=folder, options=indented(options, 2)) + "".join(
            f"zone:\n  name: {zone}\n  zonefile: {zone}.zone\n" for zone in zones)
    if name == "unbound":
        options = [f"interface: {values['ip']}@853", "tls-port: 853", f'tls-service-pem: "{values["pem"]}"',
                   f'tls-service-key: "{values["key"]}"', "access-control: 10.53.0.0/16 allow", 'local-zone: "test." nodefault']
        return UNBOUND_CONFIG.format(
            address=f"{values['ip']}@53", folder=folder, options=indented(options, 2),
            more="".join(f'forward-zone:\n  name: "{zone}"\n  forward-addr: {BEHIND}@53\n' for zone in zones))
    text = (HERE / "peers" / ROWS.get(name, FRONTS.get(name))[2]).read_text(encoding="utf-8")
    return string.Template(text).substitute(values)


class RealServer(Server):
    """One of the eight servers. ip: its address; front: the program that speaks TLS for it, or None."""

    def __init__(self, name, ip, folder, authority, fronts):
        program, words, file_name, self.resolves, self.speaks_tls = ROWS[name]
        self.name, self.zones = name, {way: zone_of(name, way) for way in TRANSPORTS}
        self.ca_file = authority.ca_file
        values = values_of(name, ip, folder, authority, list(self.zones.values()))
        conf = prepare(name, file_name, values)
        super().__init__(folder, (ip, 53), *command_of(program, words, conf, folder))
        self.ca_file = authority.ca_file
        self.front = None
        if self.speaks_tls != "itself":
            fronts.append(start_front(self.speaks_tls, values))

    def start(self):
        """Starts the server in a process group, because some servers have several processes."""
        self.process = subprocess.Popen(self.command, cwd=self.folder, stdin=subprocess.DEVNULL, stdout=self.log,
                                        stderr=subprocess.STDOUT, start_new_session=True,
                                        preexec_fn=sandbox.die_with_parent)

    def kill(self):
        """Kills the server, as a crash would."""
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait(5)

    def terminate(self):
        """Ends the server, as a service manager would."""
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.kill()

    def address(self, transport):
        return f"{self.ip}@{PORTS[transport]}"

    def answers(self):
        """Returns whether the server answers for both of its zones over UDP."""
        def one(zone):
            answer = udp_ask(self, query(f"ready.{zone}"), timeout=0.3)
            return answer and rcode_of(answer) == 0
        return all(map(one, self.zones.values()))

    def wait_until_ready(self):
        def ready():
            assert self.process.poll() is None, f"{self.name} ended:\n{self.log_path.read_text()[-2000:]}"
            return self.answers()
        try:
            eventually(ready, within=30)
        except AssertionError:
            print(f"{self.name} said:\n{self.log_path.read_text()[-2000:]}")
            raise


def values_of(name, ip, folder, authority, zones):
    pem, key = authority.sign(f"IP:{ip}")
    both = folder / "both.pem"  # haproxy needs the chain and its key in one file
    both.write_text(pem.read_text() + key.read_text())
    first, second = zones
    return {"name": name, "ip": ip, "folder": folder, "behind": BEHIND, "pem": pem, "key": key, "both": both,
            "zones": zones, "first": first, "second": second}


def prepare(name, file_name, values):
    write_zones(values["folder"], values["zones"])
    conf = values["folder"] / file_name
    conf.write_text(conf_of(name, values))
    return conf


def command_of(program, words, conf, folder):
    path = sandbox.without_profile(need(program), folder)
    return [path, *(word.format(conf=conf, folder=folder) for word in words)]


def start_front(kind, values):
    program, words, file_name = FRONTS[kind]
    folder = values["folder"] / kind
    folder.mkdir()
    conf = folder / file_name
    conf.write_text(conf_of(kind, values))
    return Server(folder, (values["ip"], 853), *command_of(program, words, conf, folder))


class Servers:
    """All eight servers. Their folders have short names, because the path of a control socket has at most 107 bytes."""

    def __init__(self, folder):
        self.folder, self.by_name, self.others = folder, {}, []
        self.short = tempfile.TemporaryDirectory(prefix="nailup-real-")

    def __enter__(self):
        try:
            self.start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def start(self):
        self.authority = Authority(self.folder / "authority")
        add_address(BEHIND)
        self.others.append(self.start_behind())
        for number, name in enumerate(ROWS, 1):
            folder = pathlib.Path(self.short.name) / name
            folder.mkdir()
            add_address(f"10.53.1.{number}")
            self.by_name[name] = RealServer(name, f"10.53.1.{number}", folder, self.authority, self.others)
        for one in self.by_name.values():
            one.wait_until_ready()

    def start_behind(self):
        folder = pathlib.Path(self.short.name) / "behind"
        folder.mkdir()
        zones = [zone_of(name, way) for name, row in ROWS.items() if row[3] for way in TRANSPORTS]
        conf = prepare("behind", "nsd.conf", {"zones": zones, "folder": folder, "ip": BEHIND})
        return Server(folder, (BEHIND, 53), *command_of("nsd", ["-d", "-c", "{conf}"], conf, folder))

    def __exit__(self, *_):
        for one in (*self.by_name.values(), *self.others):
            one.stop()
        self.short.cleanup()
