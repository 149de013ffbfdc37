# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
"""Eleven unbound.conf files in the styles that operators publish: the imported file answers as Unbound does with the same
file. The files are our own. Each serves the same address twice, first with Unbound and then with nailupd, over the
hierarchy of real servers."""

import subprocess

import pytest
from conftest import BUILD, program
from hierarchy import run
from hierarchy.zones import BADS

pytestmark = pytest.mark.skipif(BUILD is None, reason="nailupd is not built")

PORT, PLAIN = 5311, 5312
REFUSES = next(address for address, bad in BADS.items() if bad.behaviour == "refuses" and ":" not in address)

# A public resolver: recursion over the hierarchy, in plain text and over TLS, and some local names.
PUBLIC = """\
server:
  interface: 127.0.0.1@5312
  interface: 127.0.0.1@8853
  tls-port: 8853
  tls-service-key: "{folder}/key.pem"
  tls-service-pem: "{folder}/cert.pem"
  username: ""
  chroot: ""
  directory: "{folder}"
  pidfile: ""
  use-syslog: no
  do-not-query-localhost: no
  module-config: "iterator"
  root-hints: "{hints}"
  local-data: "rebind.example. 60 A 10.1.2.3"
  local-data: "rebind6.example. 60 AAAA fd12::3"
  local-data: "mapped.example. 60 AAAA ::ffff:192.0.2.9"
  local-data: "corp.rebind.example. 60 A 10.1.2.4"
  local-data: "plain.example. 60 A 192.0.2.9"
remote-control:
  control-enable: no
"""

# Unbound needs these lines in order to run in a test.
COMMON = """
server:
  username: ""
  chroot: ""
  directory: "{folder}"
  pidfile: ""
  use-syslog: no
  do-daemonize: no
  do-not-query-localhost: no
  module-config: "iterator"
remote-control:
  control-enable: no
"""

STYLES = {
    "behind a filter on the same machine": """
server:
    verbosity: 0
    interface: 127.0.0.1
    port: 5311
    do-ip4: yes
    do-ip6: no
    do-udp: yes
    do-tcp: yes
    prefer-ip6: no
    root-hints: "{hints}"
    harden-glue: yes
    harden-dnssec-stripped: yes
    use-caps-for-id: no
    edns-buffer-size: 1232
    prefetch: yes
    num-threads: 1
    so-rcvbuf: 1m
    private-address: 192.168.0.0/16
    private-address: 10.0.0.0/8
    private-address: fd00::/8
""",
    "TLS to a provider, every private prefix": """
server:
    interface: 127.0.0.1@5311
    access-control: 127.0.0.1/32 allow
    access-control: 192.168.0.0/16 allow
    tls-cert-bundle: "{folder}/cert.pem"
    qname-minimisation: yes
    rrset-roundrobin: no
    minimal-responses: yes
    unwanted-reply-threshold: 10000
    val-clean-additional: yes
    private-address: 10.0.0.0/8
    private-address: 172.16.0.0/12
    private-address: 192.168.0.0/16
    private-address: fd00::/8
    private-address: fe80::/10
    private-address: ::ffff:0:0/96
forward-zone:
    name: "."
    forward-addr: 127.0.0.1@8853#dns.test
    forward-tls-upstream: yes
""",
    "a home with its own names": """
server:
    interface: 127.0.0.1@5311
    access-control: 127.0.0.0/8 allow
    hide-identity: yes
    hide-version: yes
    tls-cert-bundle: "{folder}/cert.pem"
    local-zone: "home.example." static
    local-data: "router.home.example. IN A 10.9.0.1"
    local-data: "nas.home.example. IN A 10.9.0.2"
    local-data: "nas.home.example. IN AAAA fd00::2"
    local-data-ptr: "10.9.0.1 router.home.example"
    local-zone: "9.10.in-addr.arpa." nodefault
    private-domain: "home.example"
forward-zone:
    name: "."
    forward-tls-upstream: yes
    forward-addr: 127.0.0.1@8853#dns.test
""",
    "a list of blocked names in its own file": """
server:
    interface: 127.0.0.1
    port: 5311
    access-control: 0.0.0.0/0 refuse
    access-control: 127.0.0.0/8 allow_snoop
    cache-min-ttl: 3600
    cache-max-ttl: 86400
    so-reuseport: yes
    msg-cache-size: 50m
    rrset-cache-size: 100m
    include: "{folder}/block*.conf"
forward-zone:
    name: "."
    forward-addr: 127.0.0.1@5312
""",
    "an office with a zone at its own servers": """
server:
    interface: 127.0.0.1@5311
    access-control: 0.0.0.0/0 allow
    num-threads: 2
    local-zone: "10.in-addr.arpa" nodefault
stub-zone:
    name: "plant.one"
    stub-addr: 127.50.1.65
    stub-prime: no
forward-zone:
    name: "."
    forward-addr: 127.0.0.1@5312
""",
    "forward first, then recursion": """
server:
    interface: 127.0.0.1@5311
    root-hints: "{hints}"
    do-ip6: no
forward-zone:
    name: "good.one"
    forward-first: yes
    forward-addr: {refuses}
""",
    "a tunnel's resolver": """
server:
num-threads: 1
verbosity: 1
interface: 127.0.0.1@5311
max-udp-size: 3072
access-control: 0.0.0.0/0                 refuse
access-control: 127.0.0.0/24                 allow
private-address: 10.7.0.0/24
hide-identity: yes
hide-version: yes
harden-referral-path: no
unwanted-reply-threshold: 10000000
val-log-level: 1
cache-min-ttl: 1800
cache-max-ttl: 14400
prefetch: yes
prefetch-key: yes
 forward-zone:
  name: "."
      forward-addr: 127.0.0.1@5312
""",
    "a container with stale answers": """
server:
  logfile: ""
  interface: 127.0.0.1
  port: 5311
  serve-expired: yes
  serve-expired-ttl: 86400
  serve-expired-client-timeout: 1800
  aggressive-nsec: yes
  rrset-roundrobin: no
  edns-buffer-size: 1232
  msg-cache-slabs: 4
  outgoing-range: 950
  private-address: 10.0.0.0/8
  private-domain: "corp.rebind.example"
  local-zone: "lan." transparent
  local-data: "printer.lan. A 10.4.0.9"
forward-zone:
  name: "."
  forward-addr: 127.0.0.1@5312
  forward-no-cache: no
""",
    "a recursive resolver of a provider": """
server:
    interface: 127.0.0.1@5311
    access-control: 127.0.0.0/8 allow
    root-hints: "{hints}"
    outgoing-num-tcp: 50
    incoming-num-tcp: 50
    jostle-timeout: 325
    infra-cache-numhosts: 20000
    use-caps-for-id: yes
    harden-below-nxdomain: yes
    harden-algo-downgrade: no
    deny-any: yes
    minimal-responses: yes
    ratelimit: 0
    extended-statistics: yes
    neg-cache-size: 4m
    local-zone: "wild.two." always_nxdomain
    local-zone: "big.one." refuse
""",
    "a split of zones over three kinds of servers": """
server:
    interface: 127.0.0.1@5311
    root-hints: "{hints}"
    tls-cert-bundle: "{folder}/cert.pem"
    local-zone: "pinned.example." redirect
    local-data: "pinned.example. 300 IN A 192.0.2.200"
forward-zone:
    name: "one"
    forward-addr: 127.0.0.1@5312
    forward-tcp-upstream: yes
forward-zone:
    name: "example"
    forward-tls-upstream: yes
    forward-addr: 127.0.0.1@8853#dns.test
stub-zone:
    name: "plant.one"
    stub-addr: 127.50.1.65
    stub-no-cache: yes
""",
    "local zones above zones with servers": """
server:
    interface: 127.0.0.1@5311
    root-hints: "{hints}"
    unblock-lan-zones: yes
    local-zone: "10.in-addr.arpa" static
    local-data-ptr: "10.9.0.1 router.home.example"
    local-zone: "one" redirect
    local-data: "one 60 IN A 192.0.2.77"
    local-zone: "big.one" always_transparent
    local-data: "*.two. 60 IN A 192.0.2.78"
    local-zone: "example" transparent
    local-data: "plain.example 60 IN A 192.0.2.9"
    local-data: "printer.lan. A 10.4.0.9"
    local-data: "router.home.example. A 10.9.0.1"
stub-zone:
    name: "plant.one"
    stub-addr: 127.50.1.65
forward-zone:
    name: "good.one"
    forward-addr: 127.0.0.1@5312
""",
}

BLOCKED = """\
server:
  local-zone: "www.good.one" always_nxdomain
  local-zone: "ads.example" redirect
  local-data: "ads.example A 0.0.0.0"
  local-zone: "wild.two" refuse
"""

QUESTIONS = [(name, kind) for name in (
    "www.good.one.", "any.below.wild.good.one.", "ent.good.one.", "x.nothing.good.one.", "www.plant.one.", "one.",
    "www.moved.good.one.", "www.away.one.", "www.chain.one.", "x.wild.two.", "www.big.one.", "plain.example.",
    "rebind.example.", "rebind6.example.", "mapped.example.", "corp.rebind.example.", "router.home.example.",
    "nas.home.example.", "none.home.example.", "x.ads.example.", "printer.lan.", "x.pinned.example.",
    "1.0.9.10.in-addr.arpa.", "localhost.") for kind in ("A", "AAAA", "TXT", "PTR")]


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    """Yields the hierarchy, with the public resolver in it."""
    folder = tmp_path_factory.mktemp("styles")
    try:
        with run.Place() as place, run.Hierarchy(folder, place) as tree:
            subprocess.run([run.need("openssl"), "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "30",
                            "-subj", "/CN=dns.test", "-addext", "subjectAltName=DNS:dns.test", "-keyout",
                            folder / "key.pem", "-out", folder / "cert.pem"], check=True, capture_output=True)
            (folder / "public.conf").write_text(PUBLIC.format(folder=folder, hints=tree.hints))
            (folder / "block1.conf").write_text(BLOCKED)
            command = [run.need("unbound"), "-d", "-c", folder / "public.conf"]
            with run.Resolver(tree, "public", command, ("127.0.0.1", PLAIN)):
                yield tree
    except run.CannotRun as error:
        pytest.skip(str(error))


def answers_of(tree, name, command):
    with run.Resolver(tree, name, command, ("127.0.0.1", PORT)) as resolver:
        got = tree.ask(resolver.address, QUESTIONS)
    return {question: (one["rcode"], one["rows"]) for question, one in zip(QUESTIONS, got)}


@pytest.mark.parametrize("style", STYLES)
def test_the_imported_file_answers_as_unbound_does(tree, style):
    conf, made = tree.folder / "style.conf", tree.folder / "style.yaml"
    conf.write_text((STYLES[style] + COMMON).format(folder=tree.folder, hints=tree.hints, refuses=REFUSES))
    imported = subprocess.run([program("nailupd"), "--import-unbound", conf], capture_output=True, text=True, timeout=60)
    assert (imported.returncode, imported.stderr) == (0, ""), imported.stderr
    made.write_text(imported.stdout)
    theirs = answers_of(tree, "unbound", [run.need("unbound"), "-d", "-c", conf])
    ours = answers_of(tree, "nailupd", [program("nailupd"), "-c", made])
    differ = [f"{' '.join(one)}: Unbound {theirs[one]}, nailupd {ours[one]}" for one in QUESTIONS
              if theirs[one] != ours[one]]
    assert not differ, "\n".join(differ)
    assert sum(rcode == "NOERROR" and bool(rows) for rcode, rows in ours.values()) >= 8
