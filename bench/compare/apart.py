# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
"""Runs a play in a separate process, which may enter namespaces and leaves nothing behind."""

import multiprocessing


class Play:
    """A play: target(job, pipe) sends (word, value) over its end of the pipe, or ("failed", why)."""

    def __init__(self, target, job, label, has_children=False):
        self.label, self.result, self.trouble = label, None, None
        self.pipe, theirs = multiprocessing.Pipe()
        self.process = multiprocessing.Process(target=target, args=(job, theirs),
                                               daemon=not has_children)
        self.process.start()
        theirs.close()

    def expect(self, word, seconds):
        """Returns the value that comes with this word. Returns None if it does not come, and then `trouble` has a
        reason."""
        said, what = "failed", f"no word within {seconds:.0f} s"
        try:
            if self.pipe.poll(seconds):
                said, what = self.pipe.recv()
        except EOFError:
            what = "the process ended"
        if said != word:
            self.trouble = what
        return what if said == word else None

    def end(self):
        self.process.join(10)
        if self.process.is_alive():
            self.process.kill()
            self.process.join()
        self.pipe.close()
