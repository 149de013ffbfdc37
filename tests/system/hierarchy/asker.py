# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
"""A client inside the hierarchy's network namespace. It sends queries over UDP, and over TCP after a truncated answer.

    python3 -m hierarchy.asker

Each line of its input is a job in JSON, {"id": ID, "server": [IP, PORT], "questions": [[NAME, TYPE], ...],
"parallel": N, "timeout": S}. At the end of the job it prints a line with {"id", "answers"}. "answers" is a list with
{"rcode", "rows", "flags", "ttls", "errors"} for each question; rcode is null if no answer came. "flags" and "dnssec_ok" of
a job apply to its queries. Jobs run in parallel. The client ends with its input."""

import asyncio
import json
import random
import struct
import sys

from .wire import RCODES, TC, Message, pack_query


class Once(asyncio.DatagramProtocol):
    """Waits for the answer to one query."""

    def __init__(self, number, answered):
        self.number, self.answered = number, answered

    def datagram_received(self, data, _):
        if len(data) >= 12 and data[:2] == self.number.to_bytes(2, "big") and not self.answered.done():
            self.answered.set_result(data)

    def error_received(self, error):
        if not self.answered.done():
            self.answered.set_exception(error)


async def ask_udp(server, number, query):
    loop = asyncio.get_running_loop()
    answered = loop.create_future()
    transport, _ = await loop.create_datagram_endpoint(lambda: Once(number, answered), remote_addr=tuple(server))
    try:
        transport.sendto(query)
        return await answered
    finally:
        transport.close()


async def ask_tcp(server, query):
    reader, writer = await asyncio.open_connection(*server)
    try:
        writer.write(struct.pack(">H", len(query)) + query)
        return await reader.readexactly(struct.unpack(">H", await reader.readexactly(2))[0])
    finally:
        writer.close()


async def ask(server, name, kind, flags, dnssec_ok):
    number = random.getrandbits(16)
    query = pack_query(number, name, kind, flags, dnssec_ok=dnssec_ok)
    message = Message(await ask_udp(server, number, query))
    return Message(await ask_tcp(server, query)) if message.flags & TC else message


async def ask_one(job, question, turns):
    async with turns:
        try:
            got = await asyncio.wait_for(ask(job["server"], *question, job.get("flags", 0x100),
                                             job.get("dnssec_ok", False)), job["timeout"])
        except (OSError, asyncio.TimeoutError, asyncio.IncompleteReadError):
            return {"rcode": None, "rows": [], "flags": 0, "errors": []}
    rows = [[one.name, one.type, one.data] for one in got.answer]
    return {"rcode": RCODES[got.rcode] if got.rcode < len(RCODES) else str(got.rcode), "rows": rows,
            "flags": got.flags, "ttls": [one.ttl for one in got.answer], "errors": got.errors()}


async def do(job):
    turns = asyncio.Semaphore(job["parallel"])
    answers = await asyncio.gather(*(ask_one(job, one, turns) for one in job["questions"]))
    print(json.dumps({"id": job["id"], "answers": answers}), flush=True)


async def main():
    loop, running = asyncio.get_running_loop(), set()
    while line := await loop.run_in_executor(None, sys.stdin.readline):
        task = loop.create_task(do(json.loads(line)))
        running.add(task)
        task.add_done_callback(running.discard)


if __name__ == "__main__":
    asyncio.run(main())
