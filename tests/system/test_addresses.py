# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
"""Addresses with more than a number: link-local addresses with their zone, and addresses that appear later. Each test
has its own network namespace with a cable (veth) from va to vb."""
import os
import shutil
import subprocess
import textwrap

import pytest

from conftest import program

BEGIN = """
set -e
ip link set lo up
ip link add va type veth peer name vb
ip link set va up
ip link set vb up
ip -6 addr add fe80::53/64 dev va nodad
ip -6 addr add fe80::54/64 dev vb nodad
"$NAILUPD" -c nailup.yaml 2>daemon.log &
daemon=$!
trap 'kill $daemon; cat daemon.log >&2' EXIT
for try in $(seq 300); do grep -q 'listening on' daemon.log && break; sleep 0.1; done
ask() { dig +time=10 +tries=2 +noall +comments "$@" localhost | sed -n 's/.*status: \\([A-Z]*\\),.*/\\1/p'; }
"""

UNSHARE = ["unshare", "-n"] if os.geteuid() == 0 else ["unshare", "-r", "-n"]


@pytest.fixture
def in_namespace(tmp_path):
    """Runs a script beside a daemon with this configuration. Returns the words of its output."""
    if not shutil.which("ip") or not shutil.which("dig"):
        pytest.skip("needs ip (iproute2) and dig")
    probe = [*UNSHARE, "ip", "link", "add", "va", "type", "veth", "peer", "name", "vb"]
    if subprocess.run(probe, capture_output=True, timeout=20).returncode != 0:
        pytest.skip("needs a network namespace (unshare -n), which this user or kernel refuses")

    def run(config, script):
        (tmp_path / "nailup.yaml").write_text(textwrap.dedent(config))
        env = dict(os.environ, NAILUPD=program("nailupd"), NAILUPCTL=program("nailupctl"))
        done = subprocess.run([*UNSHARE, "bash", "-c", BEGIN + textwrap.dedent(script)], text=True,
                              cwd=tmp_path, env=env, capture_output=True, timeout=120)
        assert done.returncode == 0, done.stderr
        return done.stdout.split()
    return run


def test_a_link_local_address_is_served_and_its_clients_are_distinguished_by_link(in_namespace):
    config = """
        server:
          workers: 2
          listen: ["fe80::53%va", "::@5353"]
          access:
            - {prefix: "fe80::54%va", action: allow}
            - {prefix: "fe80::53%vb", action: allow}
        forward-zones: [{name: ., upstreams: ["fe80::54%va@5400"]}]
        tcp-upstream-keepalive: ["fe80::54%va"]
        control: {socket: ""}
        """
    said = in_namespace(config, """
        ask @fe80::53%vb
        ask +tcp @fe80::53%vb
        ask -p 5353 @fe80::54%va
        grep -c 'nailed: fe80::54%va' daemon.log
        """)
    assert said[:2] == ["NOERROR", "NOERROR"]
    # A query over the cable to fe80::53 on vb.
    assert said[2] == "NOERROR"
    assert said[3] == "1"


def test_a_client_on_another_link_is_not_the_one_that_may_ask(in_namespace):
    config = """
        server:
          listen: ["fe80::53%va"]
          access: [{prefix: "fe80::54%vb", action: allow}]
        forward-zones: [{name: ., upstreams: [127.0.0.1@5400]}]
        control: {socket: ""}
        """
    assert in_namespace(config, "ask @fe80::53%vb; ask +tcp @fe80::53%vb") == ["REFUSED"] * 2


def test_an_address_can_be_bound_before_the_machine_has_it(in_namespace):
    config = """
        server:
          workers: 2
          freebind: yes
          listen: [192.0.2.99, "2001:db8::99"]
          access: [{prefix: 0.0.0.0/0, action: allow}, {prefix: "::/0", action: allow}]
        forward-zones: [{name: ., upstreams: [127.0.0.1@5400]}]
        control: {socket: ""}
        """
    said = in_namespace(config, """
        ip addr add 192.0.2.99/32 dev lo
        ip addr add 2001:db8::99/128 dev lo
        for at in 192.0.2.99 2001:db8::99; do ask @$at; ask +tcp @$at; done
        """)
    assert said == ["NOERROR"] * 4
