# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
"""The faults: a row of the table for each. A fault is an event on the path or at the upstream, with its time."""

from dataclasses import dataclass, field

import programs
from place import NEAR, NEAR_MOVED, THERE

TO_UPSTREAM, TO_US = 'oifname "cable*"', 'iifname "cable*"'
FLOWS_FORGOTTEN_EVERY_S, FLOWS_RESET_EVERY_S = 2.5, 0.5
MOVE_TAKES_S = 1.0
SMALL_MTU = 1280

FAULTS = "table ip faults"


def rules(*lines):
    """Returns rules for the router in the middle, which apply while the fault lasts."""
    return "\n".join([FAULTS + " {", "  chain passing {",
                      "    type filter hook forward priority 0; policy accept;",
                      *[f"    {line}" for line in lines], "  }", "}", ""])


def new_flows_only(verdict_to_upstream, verdict_to_us):
    """Returns rules for packets of unknown connections. A client's port identifies its connection, from its SYN on."""
    lines = [f"tcp flags & (syn | ack) == syn {TO_UPSTREAM} add @known {{ tcp sport }}",
             f"{TO_UPSTREAM} ip protocol tcp tcp sport != @known {verdict_to_upstream}",
             f"{TO_US} ip protocol tcp tcp dport != @known {verdict_to_us}"]
    text = rules(*lines)
    return text.replace(" {\n", " {\n  set known { type inet_service; flags dynamic; size 65535; }\n", 1)


FORGET = "flush set ip faults known\n"
PASS_ALL = "delete table ip faults\n"
DROP, RESET = "drop", "reject with tcp reset"


@dataclass(frozen=True)
class Step:
    """One event. what: nft, cable, near (`ip` beside the resolver), raise-link, signal, start."""
    at_s: float  # seconds after the fault began
    what: str
    words: str = ""


@dataclass(frozen=True)
class Row:
    """since: `begin` if a path to the upstream exists all the time, so that answers could become normal from then
    on; else `end`. steps: events between begin and end. lasts_s: None means as long as all others."""
    name: str
    title: str
    since: str
    begin: tuple
    end: tuple
    every: tuple = ()  # (seconds, Step): a step that repeats in between
    lasts_s: float = None
    has_two: bool = False
    big_share: int = 0  # one query in this many has a large answer; 0: none has
    about: str = field(default="", compare=False)


def nft(text, at_s=0.0):
    return Step(at_s, "nft", text)


def dropped(*lines):
    return (nft(rules(*lines)),), (nft(PASS_ALL),)


ALL_TCP, ALL_UDP = "ip protocol tcp drop", "ip protocol udp drop"


def row(name, title, since, begin_and_end, **more):
    return Row(name, title, since, *begin_and_end, **more)


def moved_theirs():
    """The address is silent for a while. Then a host without any of our connections has it."""
    return ((nft(rules("drop")), nft(PASS_ALL, MOVE_TAKES_S), nft(new_flows_only(RESET, DROP), MOVE_TAKES_S)),
            (nft(PASS_ALL),))


def moved_ours():
    """The resolver's machine loses its address and gets another one after a while. Then the first one returns."""
    def move(away, to):
        return (Step(0, "near", f"addr del {away}/24 dev link0"), Step(MOVE_TAKES_S, "near", f"addr add {to}/24 dev link0"),
                Step(MOVE_TAKES_S, "raise-link"))
    return move(NEAR, NEAR_MOVED), move(NEAR_MOVED, NEAR)


def on_cable(begin, end):
    """Sets the cable at the begin and at the end. Settings are separated by `;`."""
    return tuple(Step(0, "cable", words) for words in begin.split("; ")), \
        tuple(Step(0, "cable", words) for words in end.split("; "))


def signals(begin, end):
    return (Step(0, "signal", begin),), ((Step(0, "signal", end) if end else Step(0, "start")),)


ROWS = [
    row("tcp-blackhole", "TCP black hole", "end", dropped(ALL_TCP),
        about="all TCP packets are dropped; UDP passes"),
    row("resets", "Resets", "begin", ((nft(new_flows_only(RESET, RESET)),), (nft(PASS_ALL),)),
        every=(FLOWS_RESET_EVERY_S, nft(FORGET)),
        about=f"every {FLOWS_RESET_EVERY_S} s all existing connections are reset at their next packet; new ones pass"),
    row("forgotten", "Established flows dropped", "begin",
        ((nft(new_flows_only(DROP, DROP)),), (nft(PASS_ALL),)), every=(FLOWS_FORGOTTEN_EVERY_S, nft(FORGET)),
        about=f"every {FLOWS_FORGOTTEN_EVERY_S} s a firewall forgets its flows: packets of existing connections are "
        "dropped from then on; new ones pass"),
    row("udp-dropped", "UDP dropped", "begin", dropped(ALL_UDP), about="all UDP packets are dropped; TCP passes"),
    row("all-dropped", "All traffic dropped", "end", dropped("drop"), about="every packet is silently dropped"),
    row("link-down", "Link down", "end", ((Step(0, "near", "link set link0 down"),), (Step(0, "raise-link"),)),
        about="the resolver's own interface goes down, and comes up again with its route"),
    row("moved-theirs", "Their address moves", "begin", moved_theirs(),
        about=f"after {MOVE_TAKES_S:g} s of silence another host has the upstream's address: it resets the old connections "
        "and takes new ones"),
    row("moved-ours", "Our address moves", "begin", moved_ours(),
        about=f"the resolver loses its address and gets another one {MOVE_TAKES_S:g} s later; at the end it changes "
        "back in the same way"),
    row("mtu", "MTU black hole", "begin", dropped(f"meta length > {SMALL_MTU} drop"), big_share=10,
        about=f"packets above {SMALL_MTU} bytes are dropped without a report; one query in ten has an answer of 3.2 kB"),
    row("loss-1", "Loss of 1 %", "begin", on_cable("loss 1", "loss 0"), about="of the packets in each direction"),
    row("loss-5", "Loss of 5 %", "begin", on_cable("loss 5", "loss 0"), about="of the packets in each direction"),
    row("reorder", "Reordering", "begin", on_cable("jitter 20; reorder on", "jitter 0; reorder off"),
        about="each packet takes up to 10 ms longer, and may overtake others"),
    row("one-way-out", "One-way loss, outbound", "end", dropped(f"{TO_UPSTREAM} drop"),
        about="packets from the resolver are dropped; packets from the upstream arrive"),
    row("one-way-in", "One-way loss, inbound", "end", dropped(f"{TO_US} drop"),
        about="packets from the upstream are dropped; packets from the resolver arrive"),
    row("stopped", "Upstream stopped", "end", signals("SIGSTOP", "SIGCONT"),
        about="SIGSTOP: its kernel acknowledges and accepts, its program does not answer"),
    row("killed", "Upstream killed", "end", signals("SIGKILL", None), about="SIGKILL, started again at the end"),
    row("restart", "Upstream back after 3 s", "end", signals("SIGKILL", None), lasts_s=3.0,
        about="SIGKILL, started again after 3 s"),
    row("one-dead", "One of two upstreams dead", "begin", dropped(f"ip daddr {THERE[0]} drop"), has_two=True,
        about="there are two upstreams; packets to the first one are dropped"),
]


def chosen(names):
    return programs.chosen_rows(ROWS, names, "faults")


def schedule(one, begin_s, end_s):
    """Returns [(second, Step)] in the order of time. The fault ends at end_s, or earlier if the row says so."""
    ends_s = end_of(one, begin_s, end_s)
    steps = [(begin_s + step.at_s, step) for step in one.begin]
    steps += [(ends_s + step.at_s, step) for step in one.end]
    if one.every:
        every_s, step = one.every
        count = 1
        while begin_s + count * every_s < ends_s - 0.05:
            steps.append((begin_s + count * every_s, step))
            count += 1
    return sorted(steps, key=lambda pair: pair[0])


def end_of(one, begin_s, end_s):
    return min(end_s, begin_s + one.lasts_s) if one.lasts_s else end_s
