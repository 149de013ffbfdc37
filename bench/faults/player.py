# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
"""Plays one fault against one system, in a separate process: place, server, steady load, fault, points."""

import dataclasses
import os
import pathlib
import signal
import threading
import time
import traceback

import systems  # must come first, because it finds bench/compare

import place
import rows
import sandbox
import series
import stage

PATIENCE_S = 5.0
SETTLE_S = 1.0
START_S = 15


@dataclasses.dataclass(frozen=True)
class Times:
    """The times of a play, in seconds since the load began."""
    begin_s: float
    end_s: float
    total_s: float
    rate: int


FULL, QUICK = Times(5, 15, 25, 100), Times(1, 3, 5, 50)


class Client(series.Client):
    """Queries new names. One query in big_share has a large answer."""

    def __init__(self, port, prefix, big_share=0):
        super().__init__(port, prefix)
        self.big_share = big_share

    def name_of(self, number):
        is_big = self.big_share and number % self.big_share == 0
        return f"{'big.' if is_big else ''}{super().name_of(number)}"


class Stagehand:
    """Does the steps of a fault when they are due, while the load runs."""

    def __init__(self, where, one, times):
        self.where, self.trouble = where, None
        self.steps = rows.schedule(one, times.begin_s, times.end_s)
        self.is_over = threading.Event()
        self.thread = threading.Thread(target=self.work, daemon=True)

    def begin(self, start):
        self.start = start
        self.thread.start()

    def work(self):
        try:
            for at_s, step in self.steps:
                time.sleep(max(0.0, self.start + at_s - time.monotonic()))
                self.act(step)
        except Exception:  # the player reports the exception, because the points are then worthless
            self.trouble = traceback.format_exc()
        self.is_over.wait()  # the processes of this thread end with the thread

    def end(self):
        self.is_over.set()
        self.thread.join()
        if self.trouble:
            raise RuntimeError(self.trouble)

    def act(self, step):
        acts = {"nft": self.where.far_nft, "near": self.where.near_ip, "signal": self.where.signal_upstream,
                "start": lambda _: self.where.start_upstream(), "raise-link": lambda _: self.where.raise_link(),
                "cable": self.where.tell_cables}
        acts[step.what](step.words)


def await_start(where, port):
    if not stage.await_answer(where.server, port, START_S):
        raise RuntimeError("the server does not answer before the fault")


def play(job, pipe):
    """The body of a process. job: (bench, directory, certificates, system, peer, row, times). Sends ("ready", None),
    waits for the instant of the start, and sends ("played", result) or ("failed", why)."""
    sandbox.die_with_parent()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    where = None
    try:
        bench, directory, certificates, system, peer, one, times = job
        os.makedirs(directory)
        where = place.Place(bench, directory, certificates)
        command = systems.configured(system, peer, directory, certificates[0], one.has_two)
        where.start_server(command, f"{directory}/log")
        await_start(where, systems.PORT)
        series.drive([Client(systems.PORT, "settle")], SETTLE_S, times.rate)
        pipe.send(("ready", None))
        start = pipe.recv()
        pipe.send(("played", perform(where, one, times, start)))
    except Exception as error:
        words = "" if not where or not where.server else \
            pathlib.Path(directory, "log").read_text(encoding="utf-8", errors="replace")[-600:]
        pipe.send(("failed", f"{error} {words}\n{traceback.format_exc()}"))
    finally:
        if where:
            where.close()


def perform(where, one, times, start):
    client = Client(systems.PORT, "q", one.big_share)
    hand = Stagehand(where, one, times)
    time.sleep(max(0.0, start - time.monotonic()))
    hand.begin(start)
    series.drive([client], times.total_s, times.rate, PATIENCE_S)
    ended = where.server.poll()
    hand.end()
    return {"points": client.points, "ended": ended}
