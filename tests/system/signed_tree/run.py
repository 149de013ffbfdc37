# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
"""Starts the signed hierarchy and validating resolvers beside it.

    with Place() as place, Tree(folder, place) as tree, RESOLVERS["unbound"](tree) as unbound:
        answers = tree.ask(unbound.address, [("www.nsec-13.sec.", "A")], dnssec_ok=True)

Everything is in a network namespace, with port 53 and addresses of 198.18.0.0/16 on its loopback device."""

import fcntl
import json
import pathlib
import shutil
import time

from hierarchy import run
from hierarchy.run import CannotRun, Program, PythonProgram, Resolver, need, plant_command, resolver_folder, zone_path

from . import zones as table
from .build import ANCHORS, HINTS, RECORDS, build

PORT = 53
START_S = 20
PROGRAMS = {"root": "nsd", "tld": "nsd", "leaf": "nsd", "other": "knotd"}


class Place(run.Place):
    """A network namespace with the addresses of all servers."""

    def set_up(self):
        self.run("link", "set", "lo", "up")
        for address in [*table.PLANT_IPS.values(), *table.LIAR_IPS.values()]:
            self.run("addr", "add", f"{address}/32", "dev", "lo")
        return False


def build_once(shared):
    """Makes the files once, in a folder that other processes share, because this takes seconds. Returns the folder."""
    shared.mkdir(exist_ok=True)
    with open(shared / "lock", "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (shared / "done").exists():
            build(shared)
            (shared / "done").touch()
    return shared


class Tree:
    """All servers, running. made: a folder of build_once(). Without it, the files go to `folder`."""

    def __init__(self, folder, place, made=None):
        self.folder, self.place, self.port, self.programs = pathlib.Path(folder), place, PORT, {}
        self.has_ipv6, self.hints = False, self.folder / HINTS
        if made:
            for path in [*pathlib.Path(made).glob("*.zone"), *pathlib.Path(made).glob("*.other"),
                         *(pathlib.Path(made, name) for name in (HINTS, ANCHORS, RECORDS))]:
                shutil.copy(path, self.folder)
        else:
            build(self.folder)
        try:
            self.asker = run.Asker(place, self.folder)
            self.liar = PythonProgram(place, self.folder, "signed_tree.liar", self.folder / RECORDS, PORT)
            for name in PROGRAMS:
                self.start(name)
            self.liar.read()
            self.wait_until_ready()
        except BaseException:
            self.close()
            raise

    @property
    def anchors(self):
        return (self.folder / ANCHORS).read_text().splitlines()

    def zones_at(self, name):
        return [zone.name for zone in table.ALL if zone.plant == name]

    def start(self, name):
        command = plant_command(self.folder, name, [table.PLANT_IPS[name]], self.zones_at(name), PROGRAMS[name], PORT)
        if name == "other":
            self.add_second_provider(pathlib.Path(command[-1]))
        self.programs[name] = Program(self.place, self.folder, name, command)

    def add_second_provider(self, conf):
        """At this server the zone of two providers has other keys. The servers here require no cookies."""
        path = (self.folder / zone_path(table.TWO_PROVIDERS)).with_suffix(".other")
        text = conf.read_text().replace("    global-module: mod-cookies\n", "")
        conf.write_text(text + f'  - domain: "{table.TWO_PROVIDERS}"\n    file: "{path}"\n')

    def kill(self, name):
        """Ends a server. After a crash, the processes of NSD would keep its port for a while."""
        self.programs[name].stop()

    def lie(self, zone, mood):
        """Changes the behaviour of a zone's lying server."""
        self.liar.say(f"{zone} {mood}")
        self.liar.read()

    def ask(self, *words, **more):
        return self.asker.ask(*words, **more)

    def is_ready(self, name):
        wanted = [(zone, "SOA") for zone in self.zones_at(name)]
        return all(answer["rcode"] == "NOERROR" and answer["rows"]
                   for answer in self.ask((table.PLANT_IPS[name], PORT), wanted, timeout=1, flags=0))

    def wait_until_ready(self):
        deadline = time.monotonic() + START_S
        for name, program in self.programs.items():
            while not self.is_ready(name):
                program.check_runs()
                if time.monotonic() > deadline:
                    raise RuntimeError(f"{name} does not answer:\n{program.log_path.read_text()}")
                time.sleep(0.05)

    def close(self):
        running = [*self.programs.values(), *(getattr(self, one) for one in ("asker", "liar") if hasattr(self, one))]
        for one in running:
            one.ask_to_stop()
        for one in running:
            one.stop()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


# ---- resolvers ----

UNBOUND = """\
server:
  interface: 127.0.0.1@{port}
  username: ""
  chroot: ""
  directory: "{folder}"
  pidfile: ""
  use-syslog: no
  do-daemonize: no
  do-not-query-localhost: no
  do-ip6: no
  access-control: 127.0.0.0/8 allow
  module-config: "{modules}"
  root-hints: "{hints}"
  num-threads: 1
  ede: yes
  aggressive-nsec: {aggressive}
  val-log-level: 2
  cache-max-negative-ttl: 3600
{anchors}
remote-control:
  control-enable: no
{forward}"""

NAMED = """\
options {{
  directory "{folder}";
  listen-on port {port} {{ 127.0.0.1; }};
  listen-on-v6 {{ none; }};
  pid-file none;
  session-keyfile none;
  managed-keys-directory "{folder}";
  recursion yes;
  dnssec-validation yes;
  synth-from-dnssec no;
  empty-zones-enable no;
  minimal-responses yes;
  notify no;
  max-cache-size 16m;
  allow-query {{ 127.0.0.0/8; }};
}};
controls {{ }};
trust-anchors {{
{anchors}}};
zone "." {{ type hint; file "{hints}"; }};
"""

KRESD = """\
net.listen('127.0.0.1', {port}, {{ kind = 'dns' }})
net.ipv6 = false
modules.unload('ta_update')
modules.unload('ta_signal_query')
modules.unload('ta_sentinel')
modules.unload('priming')
modules.unload('detect_time_skew')
modules.unload('detect_time_jump')
modules.load('hints > iterate')
hints.root_file('{hints}')
trust_anchors.remove('.')
{anchors}
cache.size = 16 * MB
log_level('notice')
"""


def start_unbound(tree, port=5301, name="unbound", is_validating=True, forward_to=None, aggressive="no"):
    """Starts Unbound. Without validation it is a plain recursor, to which others can forward. forward_to: such a
    recursor."""
    folder = resolver_folder(tree, name)
    anchors = "".join(f'  trust-anchor: "{one}"\n' for one in tree.anchors) if is_validating else ""
    modules = "validator iterator" if is_validating else "iterator"
    forward = "forward-zone:\n  name: .\n  forward-addr: %s@%d\n" % forward_to.address if forward_to else ""
    (folder / "conf").write_text(UNBOUND.format(folder=folder, hints=tree.hints, port=port, anchors=anchors,
                                                modules=modules, forward=forward, aggressive=aggressive))
    return Resolver(tree, name, [need("unbound"), "-d", "-c", folder / "conf"], ("127.0.0.1", port))


def start_named(tree, port=5302):
    folder = resolver_folder(tree, "named")
    anchors = ""
    for one in tree.anchors:
        owner, _, _, _, *numbers, digest = one.split()
        anchors += f'  "{owner}" static-ds {" ".join(numbers)} "{digest}";\n'
    (folder / "conf").write_text(NAMED.format(folder=folder, hints=tree.hints, port=port, anchors=anchors))
    command = [need("named"), "-4", "-f", "-n", "1", "-L", folder / "log", "-c", folder / "conf"]
    return Resolver(tree, "named", command, ("127.0.0.1", port))


def start_kresd(tree, port=5304):
    folder = resolver_folder(tree, "kresd")
    anchors = "".join(f"trust_anchors.add('{one}')\n" for one in tree.anchors)
    (folder / "conf").write_text(KRESD.format(hints=tree.hints, port=port, anchors=anchors))
    return Resolver(tree, "kresd", [need("kresd"), "-n", "-c", folder / "conf", folder], ("127.0.0.1", port))


def start_stripping(tree, port=5306):
    """Starts a recursor that queries servers without EDNS, and so gets no signatures to pass on."""
    folder = resolver_folder(tree, "stripping")
    text = NAMED.format(folder=folder, hints=tree.hints, port=port, anchors="")
    text = text.replace("dnssec-validation yes;", "dnssec-validation no;")
    (folder / "conf").write_text(text + "server 0.0.0.0/0 { edns no; };\n")
    command = [need("named"), "-4", "-f", "-n", "1", "-L", folder / "log", "-c", folder / "conf"]
    return Resolver(tree, "stripping", command, ("127.0.0.1", port))


def start_plain(tree, port=5305):
    """Starts a recursor without validation, to which others can forward."""
    return start_unbound(tree, port, "plain", is_validating=False)


def nailupd_config(tree, control, forward_to=None, also_to=(), is_nailed=False, port=5303, more=None, **dnssec):
    """Returns the configuration with which nailupd validates, by recursion or as a forwarder. more: further parts of
    it."""
    config = {"server": {"workers": 1, "listen": [f"127.0.0.1@{port}"], "default-local-zones": "no",
                         "access": [{"prefix": "127.0.0.0/8", "action": "allow"}]},
              "dnssec": {"validate": "yes", "trust-anchor-file": str(tree.folder / ANCHORS), **dnssec},
              "control": {"socket": str(control)}, **(more or {})}
    if not forward_to:
        return config | {"recursion": {"enabled": "yes", "root-hints": str(tree.hints), "do-not-query": []}}
    nails = {"tcp-upstream-keepalive": [forward_to.address[0]]} if is_nailed else {}
    return config | nails | {"recursion": {"enabled": "no"},
                            "forward-zones": [{"name": ".", "upstreams": ["%s@%d" % one.address for one in (forward_to, *also_to)]}]}


def start_nailupd(tree, program, **more):
    folder = resolver_folder(tree, "nailupd")
    config = nailupd_config(tree, folder / "control.sock", **more)
    (folder / "nailup.yaml").write_text(json.dumps(config))
    ip, _, port = config["server"]["listen"][0].partition("@")
    return Resolver(tree, "nailupd", [program, "-c", folder / "nailup.yaml"], (ip, int(port)))


RESOLVERS = {"unbound": start_unbound, "named": start_named, "kresd": start_kresd}
