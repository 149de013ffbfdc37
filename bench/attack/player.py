# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
"""Plays one attack to one resolver, in its own process."""

import os
import signal
import traceback

import arena
import sandbox


def play(job, pipe):
    """The body of a process. job: (bench, directory, certificates, system, peer, row, quick). Sends ("played",
    figures) or ("failed", why) to the runner."""
    sandbox.die_with_parent()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    where = None
    try:
        bench, directory, certificates, system, peer, row, quick = job
        os.makedirs(directory)
        where = arena.Arena(bench, directory, certificates)
        where.start(system, peer, row.tags)
        figures = row.play(where, row, quick)
        where.check_others()
        figures["ended"] = where.server.process.poll()
        pipe.send(("played", figures))
    except Exception as error:  # the runner reports the exception
        words = where.server.last_words() if where and where.server else ""
        pipe.send(("failed", f"{error} {words}\n{traceback.format_exc()}"))
    finally:
        if where:
            where.close()
        os._exit(0)  # does not wait for threads of a failed attack
