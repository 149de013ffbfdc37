# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
"""Who is compared, how each is started, and what each can do. The settings are in peers/*.conf."""

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


class Peer:
    """One program. `arguments` has {conf} and {directory}; `cannot` says why a transport or
    recycling (by a setting of its own) is not measured; roles are those of cells.py."""

    def __init__(self, name, program, package, arguments, conf_name, version, cannot):
        self.name, self.program, self.package = name, program, package
        self.arguments, self.conf_name, self.version_arguments = arguments, conf_name, version
        self.cannot = cannot
        self.path = self.version = None

    def find(self, given=None):
        """Finds the program and its version; False where it is not installed."""
        self.path = given or shutil.which(self.program, path="/usr/local/sbin:/usr/local/bin:"
                                          "/usr/sbin:/usr/bin:/sbin:/bin")
        if self.path is None or not pathlib.Path(self.path).exists():
            return False
        said = subprocess.run([self.path, *self.version_arguments], capture_output=True, text=True,
                              check=False)
        found = re.search(r"\b\d+\.\d+(\.\d+)?\b", re.sub(r"\d+:\d+:\d+", "", said.stdout + said.stderr))
        self.version = found.group(0) if found else "?"
        return True

    def command(self, conf, directory, path):
        return [path] + [word.format(conf=conf, directory=directory) for word in self.arguments]

    def template(self):
        return (HERE / "peers" / f"{self.name}.conf").read_text(encoding="utf-8")


NO_RECYCLING = "has no limit of queries on a connection of its own"


def all_peers():
    """In the order in which they are listed. The first is ours."""
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
             {"tls": "9.18 forwards in plain text only", "recycle": NO_RECYCLING}),
        Peer("dnsmasq", "dnsmasq", "dnsmasq-base", ["-k", "--log-facility=-", "-C", "{conf}"],
             "dnsmasq.conf", ["-v"],
             {"tcp": "asks over TCP only for clients that came over TCP",
              "tls": "speaks no TLS", "recycle": NO_RECYCLING}),
    ]


def found_systems(known, wanted, build, command):
    """([(System, Peer)], {program: version}, sentences about those that are missing). A System has label, slug, peer and
    is_ours; wanted: slugs with commas between, or None for all."""
    peers, slugs = {peer.name: peer for peer in all_peers()}, [one.slug for one in known]
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
    """All rows, or those with the names."""
    known = {one.name: one for one in rows}
    for name in names or []:
        if name not in known:
            raise SystemExit(f"{command}: there is no row {name}; there are: {' '.join(known)}")
    return [one for one in rows if not names or one.name in names]


def rendered(template, tags, values):
    """The configuration for a server: tagged lines only where one of their tags is among `tags`,
    and $names replaced."""
    lines = []
    for line in template.splitlines():
        match = TAGGED_LINE.fullmatch(line)
        if match is None:
            lines.append(line)
        elif tags & set(match.group(1).split(",")):
            lines.append(match.group(2))
    return string.Template("\n".join(lines) + "\n").substitute(values)
