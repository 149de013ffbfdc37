# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
"""The option that rotates addresses, as dig sees it behind a real server."""

from conftest import eventually
from peers import nsd  # noqa: F401 (a fixture)

ZONE = """$ORIGIN many.test.
$TTL 300
@ SOA ns.many.test. admin.many.test. 1 3600 600 86400 300
@ NS ns.many.test.
ns A 192.0.2.53
www CNAME pool
pool A 192.0.2.1
pool A 192.0.2.2
pool A 192.0.2.3
pool AAAA 2001:db8::1
pool AAAA 2001:db8::2
"""


def rotations(data):
    return {tuple(data[i:] + data[:i]) for i in range(len(data))}


def seen(dig, daemon, name, kind, *options):
    answer = dig(daemon, name, kind, *options)
    assert answer.status == "NOERROR"
    return tuple(answer.data)


def test_addresses_take_turns_and_aliases_stay_first(nailupd, nsd, dig):  # noqa: F811
    server = nsd({"many.test": ZONE})
    daemon = nailupd({"server": {"rotate-answers": "yes"}}, upstreams=[server.server])
    first = list(dig(daemon, "www.many.test").data)
    assert first[0] == "pool.many.test."
    for options in ([], ["+tcp"]):
        orders = set()

        def all_came():
            orders.add(seen(dig, daemon, "www.many.test", "A", *options)[1:])
            return len(orders) == 3 and orders == rotations(first[1:])

        eventually(all_came, 20)
    pair = list(dig(daemon, "pool.many.test", "AAAA").data)
    eventually(lambda: seen(dig, daemon, "pool.many.test", "AAAA") == tuple(pair[::-1]), 20)


def test_without_the_option_the_order_is_the_servers(nailupd, nsd, dig):  # noqa: F811
    server = nsd({"many.test": ZONE})
    daemon = nailupd(upstreams=[server.server])
    assert len({seen(dig, daemon, "pool.many.test", "A") for _ in range(12)}) == 1
