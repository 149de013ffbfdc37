# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
"""Part 7: DNSSEC. Three servers have a small hierarchy that ldns signs with fresh keys. Some of its zones are
deliberately broken. nailupd resolves from the root, and trusts only the key of that root."""

import contextlib
import datetime

from demo_asker import NOERROR, SERVFAIL, ask_flags
from demo_programs import Broken, Program, await_true, free_port, run, start_daemon
from demo_report import say, title

ALGORITHM = "ECDSAP256SHA256"
ROOT, PARENT, CHILDREN = "127.0.2.1", "127.0.2.2", "127.0.2.3"
RIGHT, FORGED = "192.0.2.80", "203.0.113.66"
DNSSEC_BOGUS, SIGNATURE_EXPIRED, RRSIGS_MISSING = 6, 7, 10  # codes of RFC 8914
RCODES = {NOERROR: "NOERROR", SERVFAIL: "SERVFAIL"}

CONFIG = """\
server: {workers: 1, listen: [127.0.0.1@PORT]}
recursion: {root-hints: "FOLDER/hints", port: AUTHORITATIVE, do-not-query: []}
dnssec: {validate: yes, trust-anchor-file: "FOLDER/anchor"}
control: {socket: "SOCKET"}
log: {level: warning}
"""

NSD = """\
server:
  username: ""
  chroot: ""
  pidfile: ""
  database: ""
  xfrdfile: ""
  zonelistfile: "{folder}/{name}.list"
  xfrdir: "{folder}"
  server-count: 1
  rrl-ratelimit: 0
  ip-address: {ip}@{port}
remote-control:
  control-enable: no
{zones}"""

APEX = "{zone} 300 IN SOA {server} x. 1 3600 600 86400 300\n{zone} 300 IN NS {server}\n"
DELEGATION = "{zone} 300 IN NS {server}\n"


class Zones:
    """Writes zone files into a folder. A zone comes before its parent, which needs the zone's DS record."""

    def __init__(self, folder):
        self.folder = folder

    def path(self, zone):
        return self.folder / f"zone-{zone}"

    def keygen(self, zone):
        """Makes a key. Returns its base name."""
        name = run("ldns-keygen", "-k", "-a", ALGORITHM, zone, cwd=self.folder).strip()
        return self.folder / name

    def write(self, zone, server, records):
        self.path(zone).write_text(APEX.format(zone=zone, server=server) + records, encoding="utf-8")

    def sign(self, zone, key, *dates):
        """Signs the file in place. Returns the DS record."""
        out = self.folder / "signed"
        run("ldns-signzone", *dates, "-o", zone, "-f", out, self.path(zone), key, cwd=self.folder)
        out.replace(self.path(zone))
        return key.with_suffix(key.suffix + ".ds").read_text(encoding="utf-8")

    def child(self, zone, *dates):
        """Makes a signed zone with the name www."""
        self.write(zone, "ns.children.", f"www.{zone} 300 IN A {RIGHT}\n")
        return self.sign(zone, self.keygen(zone), *dates)

    def change(self, zone, function):
        """Changes the lines of a signed zone, as an attacker on the path would."""
        lines = self.path(zone).read_text(encoding="utf-8").splitlines(keepends=True)
        self.path(zone).write_text("".join(filter(None, map(function, lines))), encoding="utf-8")


def days_ago(days):
    return (datetime.datetime.now(datetime.timezone.utc) - datetime.timedelta(days=days)).strftime("%Y%m%d%H%M%S")


def make_zones(folder):
    """Makes all files: the zones, the trust anchor and the root hints."""
    zones = Zones(folder)
    ds = {zone: zones.child(f"{zone}.demo.") for zone in ("secure", "forged", "stripped")}
    # The signature ended more than a day ago, because nailupd tolerates clocks that are wrong by a day.
    ds["expired"] = zones.child("expired.demo.", "-i", days_ago(20), "-e", days_ago(3.1))
    zones.write("insecure.demo.", "ns.children.", f"www.insecure.demo. 300 IN A {RIGHT}\n")
    zones.change("forged.demo.", lambda line: line.replace(RIGHT, FORGED))
    zones.change("stripped.demo.", lambda line: "" if "\tRRSIG\t" in line else line)
    below = "".join(DELEGATION.format(zone=f"{zone}.demo.", server="ns.children.") for zone in [*ds, "insecure"])
    zones.write("demo.", "ns.parent.", below + "".join(ds.values()))
    parent_ds, key = zones.sign("demo.", zones.keygen("demo.")), zones.keygen(".")
    glue = f"ns.root. 300 IN A {ROOT}\nns.parent. 300 IN A {PARENT}\nns.children. 300 IN A {CHILDREN}\n"
    zones.write(".", "ns.root.", DELEGATION.format(zone="demo.", server="ns.parent.") + parent_ds + glue)
    anchor = zones.sign(".", key)
    (folder / "anchor").write_text(anchor, encoding="utf-8")
    (folder / "hints").write_text(f". 3600 NS ns.root.\nns.root. 3600 A {ROOT}\n", encoding="utf-8")
    return {ROOT: ["."], PARENT: ["demo."], CHILDREN: [f"{zone}.demo." for zone in [*ds, "insecure"]]}


def start_server(folder, stack, ip, port, zones):
    text = "".join(f'zone:\n  name: "{zone}"\n  zonefile: "{folder}/zone-{zone}"\n' for zone in zones)
    path = folder / f"nsd-{ip}"
    path.write_text(NSD.format(folder=folder, name=ip, ip=ip, port=port, zones=text), encoding="utf-8")
    return stack.enter_context(Program(folder / f"{ip}.log", "nsd", "-d", "-c", path))


def start(stage, stack):
    """Starts nailupd above running servers, and returns it."""
    folder, port = stage.folder / "dnssec", free_port()
    folder.mkdir(exist_ok=True)
    for ip, zones in make_zones(folder).items():
        start_server(folder, stack, ip, port, zones)
    config = CONFIG.replace("FOLDER", str(folder)).replace("AUTHORITATIVE", str(port))
    daemon = stack.enter_context(start_daemon(stage.build, stage.folder, "dnssec", config))
    if await_true(lambda: ask_flags(daemon.port, "ns.root").rcode == NOERROR, 10) is None:
        raise Broken("the signed root does not answer")
    return daemon


def in_words(answer):
    """Returns the response code, AD and the extended errors as text."""
    why = "; ".join(f"EDE {code}: {text}" for code, text in answer.errors)
    return RCODES.get(answer.rcode, f"response code {answer.rcode}"), "AD" if answer.is_ad else "no AD", why


def show_dnssec(stage):
    title("7. DNSSEC: a signed hierarchy from its own root, with zones that are broken on purpose")
    with contextlib.ExitStack() as stack:
        daemon = start(stage, stack)
        names = [f"www.{zone}.demo" for zone in ("secure", "insecure", "forged", "expired", "stripped")]
        answers = {name.split(".")[1]: ask_flags(daemon.port, name) for name in names}
        show_answers(answers)
        claim_verdicts(stage.claims, answers)
        say("\n  nailupctl anchors")
        say(indented(daemon.control("anchors")))
        claim_exception(stage.claims, daemon)
        code = daemon.stop()
        stage.claims.check(code == 0, "the validating nailupd stops cleanly", f"exit code {code}")


def indented(text):
    return "".join(f"  {line}\n" for line in text.rstrip().splitlines()).rstrip()


def show_answers(answers):
    for zone, answer in answers.items():
        rcode, flag, why = in_words(answer)
        say(f"  {f'www.{zone}.demo':20}{rcode:10}{flag:7}{why}".rstrip())


def claim_verdicts(claims, answers):
    def seen(zone):
        return " ".join(in_words(answers[zone])[:2])

    secure, insecure = answers["secure"], answers["insecure"]
    claims.check(secure.rcode == NOERROR and secure.is_ad, "a signed zone: the answer has AD", seen("secure"))
    claims.check(insecure.rcode == NOERROR and not insecure.is_ad, "an unsigned zone: the answer has no AD", seen("insecure"))
    for zone, code, what in (("forged", DNSSEC_BOGUS, "a changed record"),
                             ("expired", SIGNATURE_EXPIRED, "an expired signature"),
                             ("stripped", RRSIGS_MISSING, "removed signatures")):
        answer = answers[zone]
        held = answer.rcode == SERVFAIL and [error for error, _ in answer.errors] == [code]
        claims.check(held and f"{zone}.demo" in answer.errors[0][1], f"{what}: SERVFAIL, and the EDE names the zone",
                     seen(zone))


def claim_exception(claims, daemon):
    daemon.control("nta", "add", "expired.demo", "1h")
    answer = ask_flags(daemon.port, "www.expired.demo")
    claims.check(answer.rcode == NOERROR and not answer.is_ad, "nailupctl nta add expired.demo 1h: its names resolve again",
                 " ".join(in_words(answer)[:2]))
