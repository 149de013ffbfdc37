# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
"""The servers that face the faults, and how each is configured (peers/*.conf)."""

import pathlib
import re
import sys
from dataclasses import dataclass

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "compare"))

import place  # noqa: E402
import programs  # noqa: E402

OURS = "nailup"
PORT = 5300  # the port of the server in its own namespace


@dataclass(frozen=True)
class System:
    """conf: the system's file below peers/; peer: its name in programs.py."""
    label: str
    peer: str
    conf: str
    transport: str  # tcp or tls: the transport to the upstream

    @property
    def is_ours(self):
        return self.label.startswith(OURS)

    @property
    def slug(self):
        return re.sub(r"[^a-z0-9]+", "-", self.label.lower())


SYSTEMS = [
    System("nailup TCP", "nailupd", "nailup.conf", "tcp"),
    System("nailup DoT", "nailupd", "nailup.conf", "tls"),
    System("Unbound TCP", "unbound", "unbound.conf", "tcp"),
    System("Unbound DoT", "unbound", "unbound.conf", "tls"),
    System("dnsdist TCP", "dnsdist", "dnsdist.conf", "tcp"),
    System("Knot Resolver DoT", "knot-resolver", "knot-resolver.conf", "tls"),
]


def configured(system, peer, directory, authority, has_two):
    """Writes the system's configuration. Returns the command that starts it."""
    template = (HERE / "peers" / system.conf).read_text(encoding="utf-8")
    count = "two" if has_two else "one"
    text = programs.rendered(template, {system.transport, count, system.transport + count}, {
        "port": PORT, "ip": place.THERE[0], "ip2": place.THERE[1], "ca": authority,
        "auth_name": place.AUTH_NAME, "directory": directory})
    conf = pathlib.Path(directory) / peer.conf_name
    conf.write_text(text, encoding="utf-8")
    return peer.command(conf, directory, peer.path)
