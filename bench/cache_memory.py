#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
"""Bytes per cached answer, everything counted: fills a cache with a million one-record answers.

Usage: bench/cache_memory.py --build BUILD [--entries 1000000] [--size 300MiB]
Prints what `nailupctl stats` counts and what the process has resident. Exits 1 above 300 bytes.
"""

import argparse
import json
import os
import socket
import subprocess
import sys
import tempfile
import time

CONFIG = """
server: {{workers: 1, listen: ["127.0.0.1@{listen}"]}}
cache: {{size: {size}}}
tcp-upstream-keepalive: [127.0.0.2]
forward-zones:
  - {{name: ., upstreams: ["127.0.0.2@{upstream}"]}}
control: {{socket: {folder}/control.sock}}
log: {{level: warning}}
"""


def free_port():
    with socket.socket() as probe:
        probe.bind(("0.0.0.0", 0))
        return probe.getsockname()[1]


def resident_bytes(pid):
    with open(f"/proc/{pid}/status") as status:
        return next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmRSS"))


def stats(build, folder):
    out = subprocess.run([f"{build}/src/nailupctl", "-s", f"{folder}/control.sock", "--json", "stats"],
                         check=True, capture_output=True, text=True).stdout
    return {row["metric"].removeprefix("nailup_"): row["value"] for row in json.loads(out)["metrics"]
            if row["metric"].startswith("nailup_cache_")}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", required=True)
    parser.add_argument("--entries", type=int, default=1_000_000)
    parser.add_argument("--size", default="300MiB")
    args = parser.parse_args()
    bench, listen, upstream = f"{args.build}/bench/nailup-bench", free_port(), free_port()
    with tempfile.TemporaryDirectory(prefix="nailup-cache.") as folder:
        config = os.path.join(folder, "nailup.yaml")
        with open(config, "w") as file:
            file.write(CONFIG.format(listen=listen, upstream=upstream, size=args.size, folder=folder))
        responder = subprocess.Popen([bench, "responder", "--listen", f"127.0.0.2@{upstream}",
                                      "--ttl", "86400"], stdout=subprocess.PIPE, text=True)
        responder.stdout.readline()
        daemon = subprocess.Popen([f"{args.build}/src/nailupd", "-c", config])
        try:
            time.sleep(1)
            empty, seen = resident_bytes(daemon.pid), {}
            while seen.get("cache_entries", 0) < args.entries:
                subprocess.run([bench, "load", "--server", f"127.0.0.1@{listen}", "--max",
                                "--unique", "--duration", "2", "--connections", "4", "--quiet"],
                               check=True, stdout=subprocess.DEVNULL)
                seen = stats(args.build, folder)
            resident = resident_bytes(daemon.pid)
        finally:
            daemon.terminate()
            daemon.wait(30)
            responder.kill()
    entries, counted = seen["cache_entries"], seen["cache_bytes"]
    print(f"entries {entries}, evicted {seen['cache_evictions_total']}")
    print(f"counted against cache.size: {counted / entries:.1f} bytes an entry")
    print(f"resident: {resident / entries:.1f} bytes an entry, {empty} bytes when empty")
    return 1 if counted / entries > 300 or resident / entries > 300 else 0


if __name__ == "__main__":
    sys.exit(main())
