# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
"""The root key sentinel (RFC 8509) beside Unbound, over the same signed root."""

import pytest
from hierarchy.wire import Record
from peers import nsd, unbound  # noqa: F401
from signed_tree.build import anchor_line, text_of
from signed_tree.keys import Key
from signed_tree.signer import Signed, days, ds_records

WORDS = "is", "not"


@pytest.fixture
def root(nsd, tmp_path):  # noqa: F811
    """Yields a server of a signed root with sentinel names, the key, and a file with its DS record."""
    key = Key(13)
    tags = f"{key.tag:05}", f"{key.tag ^ 1:05}"
    records = [Record(".", "SOA", 300, "ns. mail. 1 3600 600 86400 60"), Record(".", "NS", 300, "ns."),
               Record("ns.", "A", 300, "127.0.0.1"), Record("www.", "A", 300, "192.0.2.1")]
    records += [Record(f"root-key-sentinel-{word}-ta-{tag}.", kind, 300, data) for word in WORDS for tag in tags
                for kind, data in (("A", "192.0.2.1"), ("AAAA", "2001:db8::1"), ("TXT", '"words"'))]
    anchors = tmp_path / "root.ds"
    anchors.write_text(anchor_line(ds_records(".", [key])[0]))
    server = nsd({".": text_of(Signed(".", records, [key], "nsec", days(-1, 20)).records)})
    server.tags, server.anchors = tags, anchors
    return server


def test_answers_are_those_of_unbound(root, nailupd, unbound, dig):  # noqa: F811
    daemon = nailupd({"dnssec": {"validate": "yes", "trust-anchor-file": str(root.anchors)}}, upstreams=[root.server])
    peer = unbound(f'forward-zone:\n  name: "."\n  forward-addr: {root.server}\n',
                   **{"module-config": '"validator iterator"', "trust-anchor-file": f'"{root.anchors}"',
                      "root-key-sentinel": "yes"})
    failures = 0
    for _ in range(2):
        for name in [f"root-key-sentinel-{word}-ta-{tag}." for word in WORDS for tag in root.tags] + ["www."]:
            for kind in ("A", "AAAA", "TXT"):
                for options in ([], ["+dnssec"], ["+cdflag"]):
                    ours, theirs = (dig(one, name, kind, *options) for one in (daemon, peer))
                    assert (ours.status, ours.data and ours.data[0]) == (theirs.status, theirs.data and theirs.data[0]), \
                        (name, kind, options)
                    failures += ours.status == "SERVFAIL"
    assert failures == 2 * 2 * 2 * 2  # rounds, wrong names, types, and queries without CD: two each
