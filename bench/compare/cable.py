# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
"""The distance between the servers and their upstream: a running `nailup-bench cable`."""

import json
import subprocess

import sandbox

HERE, THERE = "198.18.0.1", "198.18.0.2"  # RFC 2544 gives this network to benchmarks. Listeners are HERE
AT_ONCE = {"delay": "0", "loss": "0"}


class Cable:
    def __init__(self, process):
        self.process = process

    def tell(self, sentence):
        self.process.stdin.write(sentence + "\n")
        self.process.stdin.flush()
        said = self.process.stdout.readline().strip()
        if not said or said.startswith("error"):
            raise SystemExit(f"compare: the cable does not take {sentence}: {said}")
        return said

    def set(self, settings):
        for name, value in settings.items():
            self.tell(f"{name} {value}")

    def reset_stats(self):
        self.tell("reset-stats")

    def stats(self):
        return json.loads(self.tell("stats"))

    def figures(self):
        """Returns the cable's columns of a CSV row, counted since reset_stats()."""
        stats = self.stats()
        return {"cable_packets": stats["packets"], "cable_lost": stats["lost"],
                "cable_dropped": stats["dropped_full"] + stats["refused"] + stats["overruns"],
                "cable_late_p99_us": stats["late_us"]["p99"],
                "cable_cpu_percent": round(stats["cpu_us"] / stats["seconds"] / 1e4, 2)}

    def stop(self):
        self.process.terminate()
        self.process.wait(10)
        self.process.stdin.close()
        self.process.stdout.close()


def laid(command, in_namespace):
    """Returns (Cable, None), or (None, the reason why there is no cable). Only a process in its own new namespace has
    one."""
    if not in_namespace:
        return None, "that takes a network namespace"
    process = subprocess.Popen([*command, "cable", "--here", HERE, "--there", THERE, "--stdin"], text=True,
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               preexec_fn=sandbox.die_with_parent)
    if process.stdout.readline().startswith("ready"):
        process.stderr.close()
        return Cable(process), None
    why = process.communicate()[1].strip().removeprefix("nailup-bench cable: ")
    return None, why or "nailup-bench cable does not start"
