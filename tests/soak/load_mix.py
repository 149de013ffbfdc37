# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
"""A run of load over one daemon, and its end. churn.py and edge.py define the queries, the changes meanwhile and the
rules."""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))
import stage_common as stage  # noqa: E402

TIMEOUT_MS = 5000
SAMPLES_MIN = 6  # the fewest samples of memory; a run of more minutes takes one a minute


def judge_load(suffix, transport, rcode, report):
    print(f"{suffix} over {transport}: {report['answered']} of {report['sent']} answered, p50 "
          f"{report['latency_us']['p50']:.0f} us, p99 {report['latency_us']['p99']:.0f} us")
    odd = {key: report[key] for key in ("lost", "lost_by_close", "unsent", "unexpected", "truncated") if report[key]}
    is_wrong = odd or set(report["rcodes"]) != {rcode}
    return [f"{suffix}: {odd}, rcodes {report['rcodes']}"] if is_wrong else []


class LoadRun:
    """A load over a daemon. Subclasses set responder and daemon. They define run(), and sample(began), which appends
    to samples."""

    def __init__(self, args):
        self.args, self.programs = args, stage.Programs(args.build)
        self.loads, self.samples = [], []
        self.daemon = self.responder = None

    def start_load(self, suffix, transport, rate, seconds, *words):
        command = [self.programs.bench, "load", "--server", f"127.0.0.1@{self.daemon.port}", "--transport", transport,
                   "--rate", rate, "--duration", seconds, "--suffix", suffix, "--timeout", TIMEOUT_MS,
                   "--connections", 2, *words, "--json", "--quiet"]
        self.loads.append(subprocess.Popen([str(word) for word in command], text=True, stdout=subprocess.PIPE))

    def end_loads(self, *expected):
        """Waits for the loads. Returns their faults as sentences. expected: (suffix, transport, response code) of each
        load. None: the answers do not matter."""
        reports = [json.loads(load.communicate()[0]) for load in self.loads]
        self.loads = []
        return [fault for one, report in zip(expected, reports) for fault in judge_load(*one, report)]

    def watch(self, seconds, began):
        """Takes samples until the loads have ended. Returns the faults as sentences."""
        every = min(60, seconds / SAMPLES_MIN)
        while any(load.poll() is None for load in self.loads):
            if self.daemon.process.poll() is not None:
                return [f"the daemon ended with {self.daemon.process.returncode}"]
            if time.monotonic() >= began + every * (len(self.samples) + 1):
                self.sample(began)
            time.sleep(0.1)
        return []

    def stop(self):
        """Stops the programs. Returns the exit code of the daemon."""
        for load in self.loads:
            load.kill()
        self.responder.stop()
        return self.daemon.stop()


def play(name, make, success, description, *options):
    """Runs make(args, folder) from the command line. options: (option, type, default, help). Returns the exit code."""
    parser = argparse.ArgumentParser(description=description.splitlines()[0])
    parser.add_argument("--build", required=True, help="build folder of the programs")
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--rate", type=int, default=2000, help="queries a second")
    for option, kind, default, text in options:
        parser.add_argument(option, type=kind, default=default, help=text)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix=f"nailup-{name}.") as folder:
        run, wrong = make(args, folder), ["it was interrupted"]
        try:
            with run.daemon:
                wrong = run.run()
        finally:
            code = run.stop()
    wrong += [f"the daemon ended with {code}"] if code else []
    for sentence in wrong:
        print(f"NOT: {sentence}")
    print(f"{name}: " + ("failed" if wrong else success))
    return 1 if wrong else 0
