# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
"""Who is on the stage: three upstream processes, and two nailupd that differ in three lines."""

from demo_programs import Responder, await_true, start_daemon

PLANTS = [f"127.0.0.{n}" for n in range(65, 73)]
KILLED, RECYCLED = "127.0.0.97", "127.0.0.98"
NEAR_MS, FAR_MS = 1, 40  # round trips
MAX_REQUESTS = 50

NAILED = f"""\
tcp-upstream-keepalive:
  - 127.0.0.64/27
  - {KILLED}
  - {{prefix: {RECYCLED}, max-requests: {MAX_REQUESTS}}}
"""

CONFIG = """\
server: {workers: 1, listen: [127.0.0.1@PORT]}
control: {socket: "SOCKET"}
log: {level: warning}
"""


def zone(name, server, *settings):
    keys = [f"name: {name}", f"upstreams: [{server}]", *settings]
    return f"  - {{{', '.join(keys)}}}\n"


class Stage:
    """Programs end with the stack they were started in."""

    def __init__(self, build, folder, stack, claims, watch):
        self.build, self.folder, self.stack = build, folder, stack
        self.claims, self.watch = claims, watch
        self.plants = self.responder("plants", PLANTS, NEAR_MS)
        self.killed = self.responder("killed", [KILLED], FAR_MS)
        self.recycled = self.responder("recycled", [RECYCLED], FAR_MS)
        self.plain = self.daemon("plain", CONFIG + self.plain_zones())
        self.nailed = self.daemon("nailed", CONFIG + NAILED + self.nailed_zones())

    def responder(self, name, addresses, delay_ms):
        return self.stack.enter_context(
            Responder(self.build, self.folder, name, addresses, delay_ms))

    def daemon(self, name, config):
        return self.stack.enter_context(start_daemon(self.build, self.folder, name, config))

    def plain_zones(self):
        """The plants once over TCP as needed, once over UDP."""
        return "forward-zones:\n" + "".join(
            zone(f"plant{i}.example", server, "transport: tcp") + zone(f"udp{i}.example", server)
            for i, server in enumerate(self.plants.servers))

    def nailed_zones(self):
        plants = [zone(f"plant{i}.example", s) for i, s in enumerate(self.plants.servers)]
        return "forward-zones:\n" + "".join(plants) + zone(
            "killed.example", self.killed.servers[0]) + zone(
                "recycled.example", self.recycled.servers[0])

    def await_nailed(self, seconds=10):
        """Until a connection to each upstream in a prefix is ready, before any query was asked."""
        servers = {*self.plants.servers, *self.killed.servers, *self.recycled.servers}
        return await_true(lambda: servers <= self.ready_servers(), seconds)

    def ready_servers(self):
        return {c["upstream"] for c in self.nailed.connections() if c["state"] == "ready"}

    def logs(self):
        return "".join(f"--- {p.name}\n{p.read_text(errors='replace')[-2000:]}"
                       for p in sorted(self.folder.glob("*.log")) if p.stat().st_size)
