# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
"""The programs that are compared: how each is started, and what each can do. Their settings are in peers/."""

import copy
import pathlib
import re
import shutil
import string
import subprocess

HERE = pathlib.Path(__file__).resolve().parent
TAGGED_LINE = re.compile(r"@([a-z,]+) (.*)")
TRANSPORTS = ("udp", "tcp", "tls")
TRANSPORT_NAMES = {"udp": "UDP", "tcp": "TCP", "tls": "DoT"}
OURS = "nailupd"
FLOOR = "udp-floor"


def label(name, version):
    """Returns a server's name for tables and charts, with its version once."""
    return name if not version or name.endswith(f" {version}") else f"{name} {version}"


class Peer:
    """One version of one program.

    kind is the program, such as "unbound". name is the kind, followed by the version where a run has several of the kind.
    `arguments` has {conf} and {directory}. `cannot` says why a transport or recycling
    is not measured; `since` has the version that ended such a restriction. Roles are those of cells.py."""

    def __init__(self, kind, program, package, arguments, conf_name, version, cannot, since=()):
        self.kind, self.program, self.package = kind, program, package
        self.arguments, self.conf_name, self.version_arguments = arguments, conf_name, version
        self.cannot, self.since = cannot, dict(since)
        self.name = kind
        self.path = self.version = None

    @property
    def slug(self):
        """The name as it appears in file names."""
        return self.name.replace(" ", "-")

    def another(self, path):
        """Returns the peer of the same kind at that path, or None if there is no program."""
        other = copy.copy(self)
        if not other.find(path):
            return None
        return other

    def name_by_version(self):
        self.name = f"{self.kind} {self.version}"

    def find(self, given=None):
        """Finds the program and its version. Returns False if the program is missing."""
        self.path = given or shutil.which(self.program, path="/usr/local/sbin:/usr/local/bin:"
                                          "/usr/sbin:/usr/bin:/sbin:/bin")
        if self.path is None or not pathlib.Path(self.path).exists():
            return False
        said = subprocess.run([self.path, *self.version_arguments], capture_output=True, text=True,
                              check=False)
        found = re.search(r"\b\d+\.\d+(\.\d+)?\b", re.sub(r"\d+:\d+:\d+", "", said.stdout + said.stderr))
        self.version = found.group(0) if found else "?"
        self.cannot = {what: why for what, why in self.cannot.items()
                       if what not in self.since or self.is_before(self.since[what])}
        return True

    def is_before(self, version):
        """Returns whether the program is older than that version. An unknown version counts as old."""
        numbers = [tuple(map(int, re.findall(r"\d+", one or ""))) for one in (self.version, version)]
        return numbers[0] < numbers[1]

    def command(self, conf, directory, path):
        return [path] + [word.format(conf=conf, directory=directory) for word in self.arguments]

    def template(self):
        """Returns the text of the first of these files that exists: peers/KIND-MAJOR.MINOR.conf, KIND-MAJOR.conf,
        KIND.conf."""
        numbers = (self.version or "").split(".")
        names = [f"{self.kind}-{'.'.join(numbers[:count])}.conf" for count in (2, 1)] + [f"{self.kind}.conf"]
        path = next(path for path in (HERE / "peers" / name for name in names) if path.exists())
        return path.read_text(encoding="utf-8")


NO_RECYCLING = "has no limit of queries on a connection"


def all_peers():
    """Returns one peer of each kind, in the order of the tables. The first peer is nailupd."""
    return [
        Peer(OURS, "nailupd", None, ["-c", "{conf}"], "nailup.yaml", ["--version"], {}),
        Peer("unbound", "unbound", "unbound", ["-d", "-c", "{conf}"], "unbound.conf", ["-V"],
             {"recycle": NO_RECYCLING}),
        Peer("knot-resolver", "kresd", "knot-resolver", ["-n", "-c", "{conf}", "{directory}"],
             "kresd.conf", ["-V"], {"recycle": NO_RECYCLING}),
        Peer("pdns-recursor", "pdns_recursor", "pdns-recursor", ["--config-dir={directory}"],
             "recursor.conf", ["--version"],
             {"tcp": "no setting has it ask a forwarder over TCP"}),
        Peer("dnsdist", "dnsdist", "dnsdist", ["-C", "{conf}", "--supervised", "--disable-syslog"],
             "dnsdist.conf", ["--version"], {"recycle": NO_RECYCLING}),
        Peer("bind9", "named", "bind9", ["-g", "-n", "1", "-c", "{conf}"], "named.conf", ["-v"],
             {"tls": "forwards in plain text only before 9.20", "recycle": NO_RECYCLING}, {"tls": "9.20"}),
        Peer("dnsmasq", "dnsmasq", "dnsmasq-base", ["-k", "--log-facility=-", "-C", "{conf}"],
             "dnsmasq.conf", ["-v"],
             {"tcp": "asks over TCP only for clients that came over TCP",
              "tls": "speaks no TLS", "recycle": NO_RECYCLING}),
    ]


def found_systems(known, wanted, build, command):
    """Returns ([(System, Peer)], {program: version}, sentences about missing ones). A System has label, slug, peer
    and is_ours. wanted: slugs with commas between, or None for all."""
    peers, slugs = {peer.kind: peer for peer in all_peers()}, [one.slug for one in known]
    wanted = wanted.split(",") if wanted else slugs
    for slug in wanted:
        if slug not in slugs:
            raise SystemExit(f"{command}: there is no system {slug}")
    found, missing = [], []
    for one in known:
        peer = peers[one.peer]
        if one.slug not in wanted:
            continue
        if peer.find(pathlib.Path(build, "src/nailupd").resolve() if one.is_ours else None):
            found.append((one, peer))
        elif one.is_ours:
            raise SystemExit(f"{command}: nailupd is not built in {build}; run tools/setup.sh build release")
        else:
            missing.append(f"{one.label}: not installed (package {peer.package})")
    return found, {peer.name: peer.version for _, peer in found}, missing


def chosen_rows(rows, names, command):
    """Returns the rows with these names, or all rows."""
    known = {one.name: one for one in rows}
    for name in names or []:
        if name not in known:
            raise SystemExit(f"{command}: there is no row {name}; there are: {' '.join(known)}")
    return [one for one in rows if not names or one.name in names]


def rendered(template, tags, values):
    """Returns the configuration of a server. A tagged line remains if one of its tags is among `tags`. $names are
    replaced."""
    lines = []
    for line in template.splitlines():
        match = TAGGED_LINE.fullmatch(line)
        if match is None:
            lines.append(line)
        elif tags & set(match.group(1).split(",")):
            lines.append(match.group(2))
    return string.Template("\n".join(lines) + "\n").substitute(values)
