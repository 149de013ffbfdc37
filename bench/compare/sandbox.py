# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
"""The place of the servers: a network namespace with nothing but loopback (and the cable), on their own CPUs.

A server that asks for more than its upstream (root servers, update services) finds no route, and the kernel
counts the attempts."""

import ctypes
import fcntl
import os
import pathlib
import shutil
import signal
import socket
import struct
import sys
import tempfile

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
from free_ports import is_free  # noqa: E402

CLONE_NEWUSER, CLONE_NEWNET = 0x10000000, 0x40000000
PR_SET_PDEATHSIG = 1
NICE_OF_HONEST = -8  # the priority of honest clients beside attackers
SIOCGIFFLAGS, SIOCSIFFLAGS, IFF_UP = 0x8913, 0x8914, 1
SIOCSIFADDR, SIOCSIFNETMASK = 0x8916, 0x891C
LIBC = ctypes.CDLL(None, use_errno=True)
SHM = pathlib.Path("/dev/shm")
SHM_NEEDED = 1 << 30  # the caches of Knot Resolver: 128 MB for each server


def bring_up_loopback():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        request = struct.pack("16sH14s", b"lo", 0, b"")
        flags = struct.unpack("16sH14s", fcntl.ioctl(any_socket, SIOCGIFFLAGS, request))[1]
        fcntl.ioctl(any_socket, SIOCSIFFLAGS, struct.pack("16sH14s", b"lo", flags | IFF_UP, b""))


def add_network(address, netmask):
    """Gives this machine every address of the network. Call it in a new namespace only. Returns False if that fails."""
    try:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
            for call, ip in ((SIOCSIFADDR, address), (SIOCSIFNETMASK, netmask)):
                fcntl.ioctl(any_socket, call, struct.pack("16sHH4s8s", b"lo:1", socket.AF_INET, 0,
                                                          socket.inet_aton(ip), b""))
    except OSError:
        return False
    return True


def become_root_of_the_namespace(uid, gid):
    pathlib.Path("/proc/self/setgroups").write_text("deny", encoding="ascii")
    pathlib.Path("/proc/self/uid_map").write_text(f"0 {uid} 1", encoding="ascii")
    pathlib.Path("/proc/self/gid_map").write_text(f"0 {gid} 1", encoding="ascii")


def widen_limits():
    """Makes the kernel of this namespace forget closed connections early. Otherwise a port stays in use for a minute,
    and a server that opens a connection for each query runs out of ports within seconds."""
    for name, value in (("ip_local_port_range", "30000 65535"), ("tcp_max_tw_buckets", "2000")):
        try:
            pathlib.Path(f"/proc/sys/net/ipv4/{name}").write_text(value, encoding="ascii")
        except OSError:
            pass  # on an old kernel, the setting belongs to the whole machine


def enter_namespace():
    """Enters a new namespace. Returns True if this process, and each process that it starts, now sees only its own
    loopback."""
    uid, gid = os.getuid(), os.getgid()
    try:
        if LIBC.unshare(CLONE_NEWNET) != 0:
            if LIBC.unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0:
                return False
            become_root_of_the_namespace(uid, gid)
        bring_up_loopback()
        widen_limits()
    except OSError:
        return False
    return sorted(name for _, name in socket.if_nameindex()) == ["lo"]


def packets_without_route():
    """Returns how often a program in this namespace has tried to send beyond loopback."""
    names, values = [line.split() for line in
                     pathlib.Path("/proc/net/snmp").read_text(encoding="ascii").splitlines()
                     if line.startswith("Ip:")]
    tried = int(dict(zip(names, values))["OutNoRoutes"])
    try:
        lines = pathlib.Path("/proc/net/snmp6").read_text(encoding="ascii").splitlines()
    except OSError:  # the kernel has no IPv6
        return tried
    return tried + sum(int(line.split()[1]) for line in lines if line.startswith("Ip6OutNoRoutes"))


def die_with_parent():
    """Runs in a child before its exec. The child then ends even if the script is killed."""
    LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def go_first():
    """Gives this process, which plays another machine, precedence over attackers on its CPU. Without the right to do
    so, nothing happens."""
    try:
        os.nice(NICE_OF_HONEST)
    except PermissionError:
        pass


def take_precedence():
    """Gives this process and its children precedence over all processes that do not have it."""
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    except PermissionError as error:
        raise SystemExit("compare: --realtime takes CAP_SYS_NICE") from error


def working_directory():
    """Returns a folder in memory if there is room. The manual of Knot Resolver recommends that for the cache."""
    in_memory = SHM.is_dir() and os.access(SHM, os.W_OK) and \
        shutil.disk_usage(SHM).free >= SHM_NEEDED
    return tempfile.TemporaryDirectory(prefix="nailup-compare-", dir=SHM if in_memory else None)


def apparmor_is_on():
    try:
        text = pathlib.Path("/sys/module/apparmor/parameters/enabled").read_text(encoding="ascii")
    except OSError:
        return False
    return text.startswith("Y")


def without_profile(program, directory):
    """Returns the program to run. AppArmor profiles of Debian confine named and unbound, by their paths, to the
    files of the installed service. With AppArmor a copy elsewhere runs, so that it may read our configuration."""
    if not apparmor_is_on():
        return program
    path = pathlib.Path(program).absolute()
    copy = pathlib.Path(directory, "programs", *path.parts[1:])  # two versions of a program have the same name
    if not copy.exists():
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(program, copy)
    return str(copy)


class Ports:
    """Free ports of 127.0.0.1. Each port is given out once."""

    def __init__(self):
        self.next = 20000 + os.getpid() % 5000  # below the ports of clients

    def take(self):
        while True:
            self.next += 1
            if is_free(self.next, "127.0.0.1"):
                return self.next


def cpus(wanted_server, wanted_load, wanted_upstream):
    """Returns (CPU of the servers, of the load, of the upstream): three different CPUs if the machine has three."""
    free = sorted(os.sched_getaffinity(0))
    if len(free) < 2:
        raise SystemExit("compare: this needs two CPUs, one of them for the servers alone")
    server = free[0] if wanted_server is None else wanted_server
    rest = [cpu for cpu in free if cpu != server]
    load = rest[0] if wanted_load is None else wanted_load
    upstream = (rest[1] if len(rest) > 1 else load) if wanted_upstream is None else wanted_upstream
    for cpu in (server, load, upstream):
        if cpu not in free:
            raise SystemExit(f"compare: there is no CPU {cpu} for this process")
    if server in (load, upstream):
        raise SystemExit("compare: the servers need their own CPU")
    return server, load, upstream
