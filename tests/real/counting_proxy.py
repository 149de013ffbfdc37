# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
"""A proxy between the daemon and the servers that counts the DNS messages of each connection.

Over TLS it ends the daemon's connection and opens another one to the server. Each message leaves it in its own record,
because some servers stall on records with several: this counts messages, test_bursts.py looks at records."""

import asyncio
import ssl
import struct
import threading


class FrameCounter:
    """Cuts a stream of bytes into messages and counts them. RFC 1035 section 4.2.2: the length precedes each
    message."""

    def __init__(self):
        self.held, self.frames = bytearray(), 0

    def feed(self, data):
        """Yields each message that is now complete, with its length."""
        self.held += data
        while len(self.held) >= 2:
            end = 2 + struct.unpack_from(">H", self.held)[0]
            if len(self.held) < end:
                return
            self.frames += 1
            yield bytes(self.held[:end])
            del self.held[:end]


class CountingProxy:
    """Passes connections on and counts their messages. counters: {(name of the server, transport): [FrameCounter of
    each connection that carried bytes]}"""

    def __init__(self, authority):
        self.authority, self.counters, self.listeners, self.tasks = authority, {}, [], set()
        self.loop = asyncio.new_event_loop()
        self.thread = threading.Thread(target=self.loop.run_forever, daemon=True)
        self.thread.start()

    def call(self, coroutine):
        return asyncio.run_coroutine_threadsafe(coroutine, self.loop).result(10)

    def stand_before(self, server, transport, ip, port):
        """From now on, sends everything that arrives at that address to the server."""
        inside = outside = None
        if transport == "tls":
            inside = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
            inside.load_cert_chain(*self.authority.sign(f"IP:{ip}"))
            inside.set_alpn_protocols(["dot"])
            outside = ssl.create_default_context(cafile=str(server.ca_file))
        connections = self.counters.setdefault((server.name, transport), [])
        there, at_port = server.address(transport).split("@")

        async def serve(reader, writer):
            self.tasks.add(asyncio.current_task())
            counter = FrameCounter()
            connections.append(counter)
            try:
                to_reader, to_writer = await asyncio.open_connection(there, int(at_port), ssl=outside)
            except OSError:
                writer.close()
                return
            ways = [asyncio.ensure_future(copy(reader, to_writer, counter)),
                    asyncio.ensure_future(copy(to_reader, writer, None))]
            await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
            for way in ways:
                way.cancel()
            writer.close()
            to_writer.close()

        self.listeners.append(self.call(asyncio.start_server(serve, ip, port, ssl=inside)))

    def frames(self, server, transport):
        """Returns the number of messages on each connection that carried any."""
        return [one.frames for one in self.counters[server.name, transport] if one.frames]

    def close(self):
        async def cancel():
            for listener in self.listeners:
                listener.close()
            for task in self.tasks:
                task.cancel()
        self.call(cancel())
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join(10)


async def copy(reader, writer, counter):
    try:
        while data := await reader.read(65536):
            for part in counter.feed(data) if counter else [data]:
                writer.write(part)
            await writer.drain()
    except OSError:  # a reset at one end ends both
        pass
