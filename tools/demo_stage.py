# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
"""The stage: upstreams that serve UDP, TCP and TLS, and four nailupd that query them over TCP and over TLS, each with
and without the few lines of NAILED."""

from demo_programs import Responder, await_true, start_daemon

PLANTS = [f"127.0.0.{n}" for n in range(65, 77)]
KILLED, RECYCLED = "127.0.0.97", "127.0.0.98"
STRICT, OPPORTUNISTIC = "127.0.0.99", "127.0.0.100"
NEAR_MS, FAR_MS = 1, 40  # round-trip times
MAX_REQUESTS = 50

NAILED = f"""\
tcp-upstream-keepalive:
  - 127.0.0.64/27
  - 127.0.0.96/29
  - {{prefix: {RECYCLED}, max-requests: {MAX_REQUESTS}}}
"""

# The responders sign nothing. Part 7 shows validation.
CONFIG = """\
server: {workers: 1, listen: [127.0.0.1@PORT]}
control: {socket: "SOCKET"}
log: {level: warning}
dnssec: {validate: no}
"""

TLS_CONFIG = CONFIG + """\
upstream: {ca-bundle: "FOLDER/authorities.pem", session-file: "FOLDER/NAME.sessions"}
"""


def zone(name, server, *settings):
    keys = [f"name: {name}", f'upstreams: ["{server}"]', *settings]
    return f"  - {{{', '.join(keys)}}}\n"


def tls_zone(name, responder, index=0, *settings):
    """Returns a zone over TLS with the profile strict, unless the settings say otherwise."""
    return zone(name, f"{responder.tls_servers[index]}#{responder.tls_name}", "transport: tls",
                *settings)


class Stage:
    """Starts programs, which end with the stack in which they were started."""

    def __init__(self, build, folder, stack, claims, watch):
        self.build, self.folder, self.stack = build, folder, stack
        self.claims, self.watch = claims, watch
        self.plants = self.responder("plants", PLANTS, NEAR_MS)
        self.killed = self.responder("killed", [KILLED], FAR_MS)
        self.recycled = self.responder("recycled", [RECYCLED], FAR_MS)
        self.secured = self.responder("secured", [STRICT, OPPORTUNISTIC], FAR_MS)
        self.trust_authorities()
        self.start_daemons()

    def responder(self, name, addresses, delay_ms):
        return self.stack.enter_context(
            Responder(self.build, self.folder, name, addresses, delay_ms))

    def trust_authorities(self):
        responders = [self.plants, self.killed, self.recycled, self.secured]
        bundle = "".join(responder.tls_ca_file.read_text() for responder in responders)
        (self.folder / "authorities.pem").write_text(bundle)

    # ---- nailupd ----

    def start_daemons(self):
        self.on_demand = self.daemon("on-demand", CONFIG + self.on_demand_zones())
        self.nailed = self.daemon("nailed", CONFIG + NAILED + self.nailed_zones())
        self.on_demand_tls = self.daemon(
            "on-demand-tls", TLS_CONFIG + "forward-zones:\n" + self.plant_tls_zones())
        self.nailed_tls = self.daemon("nailed-tls", TLS_CONFIG + NAILED + self.nailed_tls_zones())

    def daemon(self, name, config):
        return self.stack.enter_context(start_daemon(self.build, self.folder, name, config))

    def stop_daemons(self):
        """Stops the daemons. Returns their exit codes."""
        return [daemon.stop() for daemon in
                (self.on_demand, self.nailed, self.on_demand_tls, self.nailed_tls)]

    def restart_nailed_tls(self):
        """Restarts the daemon. Returns the exit code of the previous one."""
        code = self.nailed_tls.stop()
        self.nailed_tls = self.daemon("nailed-tls", TLS_CONFIG + NAILED + self.nailed_tls_zones())
        return code

    def on_demand_zones(self):
        """Returns zones of the plants, once over TCP on demand and once over UDP."""
        return "forward-zones:\n" + "".join(
            zone(f"plant{i}.example", server, "transport: tcp") + zone(f"udp{i}.example", server)
            for i, server in enumerate(self.plants.servers))

    def nailed_zones(self):
        plants = [zone(f"plant{i}.example", s) for i, s in enumerate(self.plants.servers)]
        return "forward-zones:\n" + "".join(plants) + zone(
            "killed.example", self.killed.servers[0]) + zone(
                "recycled.example", self.recycled.servers[0])

    def plant_tls_zones(self):
        return "".join(tls_zone(f"plant{i}.example", self.plants, i) for i in range(len(PLANTS)))

    def nailed_tls_zones(self):
        plain_port = self.secured.servers[1].split("@")[1]
        return "forward-zones:\n" + self.plant_tls_zones() + "".join([
            tls_zone("recycled.example", self.recycled),
            tls_zone("strict.example", self.secured, 0),
            tls_zone("opportunistic.example", self.secured, 1, "profile: opportunistic",
                     f"fallback-port: {plain_port}")])

    # ---- readiness ----

    def missing(self):
        """Returns the upstreams in a prefix that have no ready connection."""
        over_tcp = {*self.plants.servers, *self.killed.servers, *self.recycled.servers}
        over_tls = {*self.plants.tls_servers, *self.recycled.tls_servers,
                    *self.secured.tls_servers}
        return (over_tcp - ready_servers(self.nailed)) | (over_tls - ready_servers(self.nailed_tls))

    def await_nailed(self, seconds=10):
        """Waits until each upstream in a prefix has a ready connection, before the first query."""
        return await_true(lambda: not self.missing(), seconds)

    def logs(self):
        return "".join(f"--- {p.name}\n{p.read_text(errors='replace')[-2000:]}"
                       for p in sorted(self.folder.glob("*.log")) if p.stat().st_size)


def ready_servers(daemon):
    return {c["upstream"] for c in daemon.connections() if c["state"] == "ready"}
