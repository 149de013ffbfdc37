# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
"""The place of one system during one fault: two separate network namespaces, joined by a link.

The near one holds the resolver and its client. The far one holds the upstream, behind a cable (a TUN device with
delay and loss), and acts as the router in the middle: nftables in its forward hook plays firewalls and broken
links. The resolver reaches the upstream at THERE and nothing else."""

import ctypes
import os
import pathlib
import signal
import subprocess

import cable
import sandbox

CLONE_NEWNET = sandbox.CLONE_NEWNET
MTU = 1500
ROUND_TRIP_MS = 10
NEAR, NEAR_MOVED, ROUTER = "10.9.0.1", "10.9.0.2", "10.9.0.254"
FAR_NET = "198.18.0.0/15"
# The second upstream is behind a separate cable, so that it has its own address.
HERE, THERE = (cable.HERE, "198.18.1.1"), (cable.THERE, "198.18.1.2")
AUTH_NAME = "upstream.test"

ROUTER_RULES = """
table ip middle {
  chain leaving {
    type nat hook postrouting priority srcnat; policy accept;
    oifname "cable*" masquerade
  }
}
"""


def write_setting(name, value):
    pathlib.Path("/proc/sys/net", name).write_text(value, encoding="ascii")


def run(*command, **more):
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, check=False, **more)
    if done.returncode:
        raise RuntimeError(f"{' '.join(map(str, command))}: {done.stderr.strip()}")
    return done.stdout


def make_certificates(directory):
    """Makes the certificates. Returns (authority, certificate, key). The upstream keeps its identity over a restart."""
    ca, ca_key, certificate, key, request = (f"{directory}/{name}" for name in (
        "ca.pem", "ca.key", "upstream.pem", "upstream.key", "upstream.csr"))
    extensions = pathlib.Path(directory, "extensions")
    extensions.write_text(f"subjectAltName=DNS:{AUTH_NAME}\n", encoding="ascii")
    curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    run("openssl", "req", "-x509", *curve, "-keyout", ca_key, "-out", ca, "-days", 30, "-subj", "/CN=authority")
    run("openssl", "req", *curve, "-keyout", key, "-out", request, "-subj", f"/CN={AUTH_NAME}")
    run("openssl", "x509", "-req", "-in", request, "-CA", ca, "-CAkey", ca_key, "-CAcreateserial",
        "-out", certificate, "-days", 30, "-extfile", extensions)
    return ca, certificate, key


class Place:
    """A place. Only a process that is new to its namespace may make it. The process ends up in the near namespace."""

    def __init__(self, bench, directory, certificates):
        self.bench, self.directory, self.certificates = bench, directory, certificates
        self.upstream, self.cables, self.server = None, [], None
        if not sandbox.enter_namespace():
            raise RuntimeError("cannot make a network namespace")
        self.far = os.open("/proc/self/ns/net", os.O_RDONLY)
        self.lay_far_side()
        self.move_near()

    def lay_far_side(self):
        write_setting("ipv4/ip_forward", "1")
        # The router must accept sequence numbers that loss and reordering have affected.
        write_setting("netfilter/nf_conntrack_tcp_be_liberal", "1")
        for number, (here, there) in enumerate(zip(HERE, THERE)):
            process = subprocess.Popen(
                [self.bench, "cable", "--name", f"cable{number}", "--here", here, "--there", there, "--mtu", str(MTU),
                 "--delay", str(ROUND_TRIP_MS), "--stdin"], text=True, stdin=subprocess.PIPE,
                stdout=subprocess.PIPE, preexec_fn=sandbox.die_with_parent)
            if not process.stdout.readline().startswith("ready"):
                raise RuntimeError("the cable does not start")
            self.cables.append(cable.Cable(process))
        run("nft", "-f", "-", input=ROUTER_RULES)
        self.start_upstream()

    def move_near(self):
        run("ip", "link", "add", "link1", "type", "veth", "peer", "name", "link0")
        if sandbox.LIBC.unshare(CLONE_NEWNET) != 0:
            raise RuntimeError("cannot make a second network namespace: "
                               + os.strerror(ctypes.get_errno()))
        sandbox.bring_up_loopback()
        self.far_ip(f"link set link0 netns {os.getpid()}", f"addr add {ROUTER}/24 dev link1", "link set link1 up")
        self.near_ip(f"addr add {NEAR}/24 dev link0")
        self.raise_link()

    def raise_link(self):
        self.near_ip("link set link0 up", f"route replace {FAR_NET} via {ROUTER}")

    def near_ip(self, *sentences):
        for sentence in sentences:
            run("ip", *sentence.split())

    def there(self):
        """Returns the first words of a command that runs in the far namespace."""
        return ["nsenter", f"--net=/proc/{os.getpid()}/fd/{self.far}"]

    def far_ip(self, *sentences):
        for sentence in sentences:
            run(*self.there(), "ip", *sentence.split())

    def far_nft(self, rules):
        return run(*self.there(), "nft", "-f", "-", input=rules)

    def tell_cables(self, sentence):
        for one in self.cables:
            one.tell(sentence)

    def start_upstream(self):
        """Starts the upstream, also again after a kill, from the near namespace."""
        _, certificate, key = self.certificates
        listens = [word for ip in HERE for word in ("--listen", f"{ip}@53", "--listen-tls", f"{ip}@853")]
        inside = self.there() if self.upstream else []
        self.upstream = subprocess.Popen(
            [*inside, self.bench, "responder", *listens, "--ttl", "86400", "--tls-certificate", certificate,
             "--tls-key", key], stdout=subprocess.PIPE, text=True, preexec_fn=sandbox.die_with_parent)
        if not self.upstream.stdout.readline().startswith("ready"):
            raise RuntimeError("the upstream does not start")

    def signal_upstream(self, name):
        self.upstream.send_signal(getattr(signal, name))
        if name == "SIGKILL":
            self.upstream.wait()
            self.upstream.stdout.close()

    def start_server(self, command, log):
        with open(log, "w", encoding="utf-8") as out:
            self.server = subprocess.Popen([*map(str, command)], stdin=subprocess.DEVNULL, stdout=out,
                                           stderr=subprocess.STDOUT, preexec_fn=sandbox.die_with_parent)

    def close(self):
        for process in (self.server, self.upstream):
            if process and process.poll() is None:
                process.kill()
                process.wait()
        for one in self.cables:
            one.stop()
        os.close(self.far)
