# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
"""The resolvers under attack, and how each is configured (peers/*.conf)."""

import pathlib
from dataclasses import dataclass

import programs

HERE = pathlib.Path(__file__).resolve().parent
OURS = "nailup"


@dataclass(frozen=True)
class System:
    """slug: the system's file below peers/; peer: its name in programs.py."""
    label: str
    slug: str
    peer: str

    @property
    def is_ours(self):
        return self.label == OURS


SYSTEMS = [System("nailup", "nailup", "nailupd"), System("Unbound", "unbound", "unbound"),
           System("Knot Resolver", "knot-resolver", "knot-resolver")]


def configured(system, peer, directory, tags, values):
    """Writes the system's configuration. Returns the command that starts it."""
    template = (HERE / "peers" / f"{system.slug}.conf").read_text(encoding="utf-8")
    conf = pathlib.Path(directory) / peer.conf_name
    conf.write_text(programs.rendered(template, set(tags), {"directory": directory, **values}), encoding="utf-8")
    return peer.command(conf, directory, peer.path)
