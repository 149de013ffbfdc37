#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
"""Splits the time of a hit and of a miss into items, in nanoseconds and beside the floor.

perf samples each server of hit_miss.py while it is saturated. Each sample belongs to an item: a part of the
kernel by the functions on its stack, or a folder of src by the executed line. The shares are multiplied by the
CPU time per query of rounds without perf. Then strace counts the system calls. This needs the right to sample
the kernel (root, or kernel.perf_event_paranoid <= 1 and kernel.kptr_restrict = 0) and debug information (-g) in
nailupd.

Without a hardware counter perf samples by a timer, and a sample that falls into a stretch without interrupts
counts where they are on again. Wake-ups and their locks then look some per cent more expensive than the code
around them; items are larger than that.
"""

import argparse
import collections
import json
import pathlib
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time

import hit_miss
from instructions import module_of

SERVERS = ("udp-floor", "nailupd", "nailupd-tcp", "nailupd-tls", "nailupd-udp")
TITLES = {"udp-floor": "floor", "nailupd": "hit", "nailupd-tcp": "miss, nailed TCP",
          "nailupd-tls": "miss, nailed TLS", "nailupd-udp": "miss, UDP"}

# A sample belongs to the first line whose functions are all on its stack. Deeper functions come first, because the
# kernel delivers to the receiver within our send.
KERNEL_ITEMS = [
    ("interrupts", ("asm_sysvec_apic_timer_interrupt",)),
    ("page faults", ("asm_exc_page_fault",)),
    ("send: buffers that other CPUs gave back", ("skb_defer_free_flush",)),
    ("send: delivery to the receiver (loopback)", ("net_rx_action",)),
    ("send: telling epoll that there is room", ("sock_wfree",)),
    ("send: to a stream", ("tcp_sendmsg",)),
    ("send: device and queue (loopback)", ("ip_finish_output2",)),
    ("send: buffer, route, headers (UDP)", ("udp_sendmsg",)),
    ("receive: from a stream", ("tcp_recvmsg",)),
    ("receive: queue and copy (UDP)", ("udp_recvmsg",)),
    ("connect: the peer and its route, a port", ("__x64_sys_connect",)),
    ("epoll and sleeping", ("__x64_sys_epoll_wait",)),
    ("epoll and sleeping", ("__x64_sys_epoll_pwait",)),
    ("epoll and sleeping", ("__x64_sys_epoll_ctl",)),
    ("send: headers of the call", ("__x64_sys_sendmmsg",)),
    ("send: headers of the call", ("__x64_sys_sendto",)),
    ("send: headers of the call", ("__x64_sys_write",)),
    ("receive: headers of the call", ("__x64_sys_recvmmsg",)),
    ("receive: headers of the call", ("__x64_sys_recvfrom",)),
    ("receive: headers of the call", ("__x64_sys_read",)),
    ("entering and leaving the kernel", ("do_syscall_64",)),
    ("entering and leaving the kernel", ("entry_SYSCALL_64_after_hwframe",)),
]
WRAPPERS = re.compile(r"sendmmsg|recvmmsg|sendto|recvfrom|__send$|__libc_(send|recv|connect)|epoll_wait|"
                      r"asynccancel")


def kernel_item(stack):
    for item, functions in KERNEL_ITEMS:
        if all(function in stack for function in functions):
            return item
    return "kernel, other"


def samples_of(data):
    """Yields each sample of a recording as [(address, function, binary), ...], with the innermost function first."""
    done = subprocess.run(["perf", "script", "-i", data, "-F", "ip,sym,dso"], capture_output=True,
                          text=True, check=True)
    for block in done.stdout.split("\n\n"):
        frames = re.findall(r"^\s*([0-9a-f]+) (\S+).*\((.*)\)$", block, re.MULTILINE)
        if frames:
            yield frames


def modules_of(binary, addresses):
    """Returns {address: folder of src}, from nailupd's debug information."""
    done = subprocess.run(["addr2line", "-a", "-i", "-e", binary], input="\n".join(addresses),
                          capture_output=True, text=True, check=True)
    found, address = {}, None
    for line in done.stdout.splitlines():
        if line.startswith("0x"):
            address = f"{int(line, 16):x}"
        elif address not in found:  # the innermost line of our own code
            module = module_of(line.split(":")[0], "", "")
            if module != "unknown":
                found[address] = module
    return found


def items_of(data, nailupd):
    """Returns {item: share of the samples}."""
    items, own = collections.Counter(), collections.Counter()
    for frames in samples_of(data):
        address, function, binary = frames[0]
        if "kernel" in binary:
            items[kernel_item({name.split("+")[0] for _, name, _ in frames})] += 1
        elif pathlib.Path(binary).name == "nailupd":
            own[address] += 1
        elif WRAPPERS.search(function):
            items["user: libc's calls of the kernel"] += 1
        else:
            items[f"user: {module_of('', '', binary).strip('[]')}"] += 1
    modules = modules_of(nailupd, list(own)) if own else {}
    for address, count in own.items():
        items[f"user: {modules.get(address, 'elsewhere')}"] += count
    total = sum(items.values())
    return {item: count / total for item, count in items.items()} if total else {}


class Recording:
    """Records a server with perf or strace during `with`."""

    def __init__(self, command, pid):
        self.command = [*command, "-p", str(pid)]

    def __enter__(self):
        self.process = subprocess.Popen(self.command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                        text=True)
        time.sleep(0.3)
        return self

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGINT)
        said = self.process.communicate(timeout=60)[1]
        if self.process.returncode not in (0, -signal.SIGINT):
            print(f"time_split: {self.command[0]}: {said.strip()[-300:]}", file=sys.stderr)


def calls_of(file, answers):
    """Returns {system call: calls per answer}. A row of strace is: % seconds us/call calls [errors] name."""
    calls = {}
    for line in pathlib.Path(file).read_text(encoding="utf-8").splitlines():
        words = line.split()
        if len(words) >= 5 and words[3].isdigit() and words[-1] != "total":
            calls[words[-1]] = int(words[3]) / answers
    return {name: count for name, count in calls.items() if count >= 0.001}


def counted(measurement, server, seconds, command):
    """Runs a measurement while the command records it. Its report does not count as a round."""
    with Recording(command, server.process.pid):
        measurement.measure(server, seconds)
    return server.rounds.pop()


def profile_all(args, directory):
    measurement = hit_miss.Measurement(args, directory)
    figures, shares = {}, collections.defaultdict(list)
    try:
        measurement.start_all()
        servers = [server for server in measurement.servers if server.name in SERVERS]
        for _ in range(args.rounds):
            for server in servers:
                measurement.measure(server, args.seconds)
                data = f"{directory}/{server.name}.data"
                counted(measurement, server, args.seconds,
                        ["perf", "record", "-q", "-e", args.event, "-F", str(args.frequency), "-g",
                         "-o", data])
                shares[server.name].append(items_of(data, args.nailupd))
        for server in servers:
            trace = f"{directory}/{server.name}.calls"
            report = counted(measurement, server, args.seconds, ["strace", "-c", "-f", "-o", trace])
            seconds_all = args.seconds + args.warmup
            answers = report["answered"] * seconds_all / args.seconds
            figures[server.name] = {"calls": calls_of(trace, answers)}
    finally:
        measurement.stop()
    for server in servers:
        names = {item for round_ in shares[server.name] for item in round_}
        figures[server.name].update(
            us_per_query=server.median("server_cpu_us_per_query"),
            its_cpu_percent=server.median("server_cpu_percent"),
            share={item: statistics.mean(round_.get(item, 0) for round_ in shares[server.name])
                   for item in names})
    return figures


def rows(figures):
    """Returns the items in the order of the kernel's list, then those of user space with the most expensive first."""
    names = {item for figure in figures.values() for item in figure["share"]}
    kernel = [item for item in dict.fromkeys(item for item, _ in KERNEL_ITEMS) if item in names]
    rest = sorted(names - set(kernel),
                  key=lambda item: -max(figure["share"].get(item, 0) for figure in figures.values()))
    return kernel + [item for item in rest if item.startswith("kernel")] + \
        [item for item in rest if not item.startswith("kernel")]


def table(figures, least_share):
    """Returns ns and share of each item. The last column is the hit minus the floor."""
    has_both = "udp-floor" in figures and "nailupd" in figures
    head = ["item", *(TITLES[name] for name in figures), *(["hit less floor, ns"] if has_both else [])]
    lines = ["| " + " | ".join(head) + " |", "|---" * len(head) + "|"]

    def ns(name, item):
        return figures[name]["share"].get(item, 0) * figures[name]["us_per_query"] * 1000

    for item in rows(figures):
        if max(figure["share"].get(item, 0) for figure in figures.values()) < least_share / 100:
            continue
        cells = [f"{ns(name, item):.0f} ({100 * figure['share'].get(item, 0):.1f} %)"
                 for name, figure in figures.items()]
        lines.append("| " + " | ".join([item, *cells, *(
            [f"{ns('nailupd', item) - ns('udp-floor', item):+.0f}"] if has_both else [])]) + " |")
    total = [figure["us_per_query"] * 1000 for figure in figures.values()]
    floor = figures.get("udp-floor", {}).get("us_per_query")
    lines.append("| " + " | ".join(["all", *(f"{value:.0f}" for value in total), *(
        [f"{1000 * (figures['nailupd']['us_per_query'] - floor):+.0f}"] if has_both else [])]) + " |")
    if floor:
        lines.append("| to the floor | " + " | ".join(f"{value / 1000 / floor:.2f}" for value in total) +
                     (" | |" if has_both else " |"))
    return "\n".join(lines)


def call_table(figures):
    lines = ["| path | system calls per answer |", "|---|---|"]
    for name, figure in figures.items():
        calls = sorted(figure["calls"].items(), key=lambda call: -call[1])
        words = ", ".join(f"{call} {count:.3f}" for call, count in calls)
        lines.append(f"| {TITLES[name]} | {words} |")
    return "\n".join(lines)


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add = parser.add_argument
    add("--build", required=True, help="folder of an optimised build with -g")
    add("--seconds", type=float, default=3, help="seconds of each measurement; perf and strace run for as long again")
    add("--rounds", type=int, default=3)
    add("--frequency", type=int, default=4999, help="samples a second")
    add("--event", default="cpu-clock", help="event of perf; use 'cycles' if the machine has hardware counters")
    add("--least", type=float, default=0.3, help="items below this percentage have no row")
    add("--json", help="file for all figures")
    add("--server-cpu", type=int, default=0)
    add("--load-cpu", type=int, default=1)
    args = parser.parse_args()
    build = pathlib.Path(args.build)
    args.nailupd, args.bench = str(build / "src/nailupd"), str(build / "bench/nailup-bench")
    args.upstream_cpu, args.unbound, args.kresd = args.load_cpu, None, None
    args.warmup, args.in_flight, args.connections = 0.5, 100, 4
    return args


def main():
    args = parse_arguments()
    if pathlib.Path("/proc/sys/kernel/kptr_restrict").read_text(encoding="ascii").strip() == "2":
        print("time_split: kernel.kptr_restrict is 2: perf cannot name the kernel's functions", file=sys.stderr)
    with tempfile.TemporaryDirectory(prefix="time-split-") as directory:
        figures = profile_all(args, directory)
    print(table(figures, args.least))
    print()
    print(call_table(figures))
    if any(figure["its_cpu_percent"] < 90 for figure in figures.values()):
        print("\nSomething else used the server's CPU, or the load was the limit: batches differ from "
              "those of a quiet machine.")
    if args.json:
        pathlib.Path(args.json).write_text(json.dumps(figures, indent=1), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
