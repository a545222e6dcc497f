"""Processes that are killed and stopped, and the network between them, for Scripts/sync-probes.py."""

import asyncio
import contextlib
import ctypes
import pathlib
import random
import signal
import socket
import struct


class Failure(Exception):
    """The test can't run."""


class Died(Exception):
    """The process ended before it responded."""


def child_of_this():
    """Ends a child with this process, also if this process is killed."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)


def free_port():
    """Returns a port below those that connections of others take, so that a server finds it free again after a kill."""
    while True:
        port = random.randrange(20_000, 32_000)
        with socket.socket() as server, contextlib.suppress(OSError):
            server.bind(("127.0.0.1", port))
            return port


class Child:
    """A process that is killed, stopped and started again."""

    def __init__(self, log):
        self.process, self.log = None, log
        # Whether it was killed and has not begun again; whether it has, and its rows were not read since.
        self.is_down, self.is_fresh = False, False

    async def spawn(self, *command, **pipes):
        with open(self.log, "ab") as log:
            self.process = await asyncio.create_subprocess_exec(
                *map(str, command), stderr=log, start_new_session=True, preexec_fn=child_of_this, limit=1 << 24,
                **{"stdin": asyncio.subprocess.DEVNULL, "stdout": log, **pipes},
            )

    @property
    def is_alive(self):
        return self.process is not None and self.process.returncode is None

    def processor_wait(self):
        """Returns how many seconds the threads of the process have waited for a processor; 0 where the system does not count them."""
        total = 0
        for path in pathlib.Path(f"/proc/{self.process.pid}/task").glob("*/schedstat"):
            # A thread may have ended.
            with contextlib.suppress(OSError):
                total += int(path.read_text().split()[1])
        return total / 1e9

    def signal(self, number):
        with contextlib.suppress(ProcessLookupError):
            if self.is_alive:
                self.process.send_signal(number)

    async def kill(self):
        self.signal(signal.SIGKILL)
        if self.process:
            await self.process.wait()


class Server(Child):
    def __init__(self, run, number):
        super().__init__(run.folder / f"server-{number}.log")
        self.run = run
        self.port = free_port()

    async def start(self):
        await self.spawn(self.run.tool, "serve", "--sync", self.run.place, "--plain", "--port", self.port)
        for _ in range(2400):
            with contextlib.suppress(OSError):
                _, writer = await asyncio.open_connection("127.0.0.1", self.port)
                writer.close()
                return
            if not self.is_alive:
                raise Failure(f"a server ended: {self.log.read_text()[-2000:]}")
            await asyncio.sleep(0.05)
        raise Failure("a server does not listen")


class Connection:
    """One connection of a device, and the one to the server behind it."""

    def __init__(self, *writers):
        self.writers, self.is_lost = writers, False

    def close(self):
        for writer in self.writers:
            writer.close()

    def reset(self):
        for writer in self.writers:
            with contextlib.suppress(OSError):
                # With this option, the close sends RST.
                writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            writer.transport.abort()


class Link:
    """The network of one device: a proxy before the servers. Its directions stall and delay; its connections are reset, or lost in silence."""

    def __init__(self, run, rng):
        self.run, self.rng, self.delay, self.connections = run, rng, 0, set()
        self.open = {"up": asyncio.Event(), "down": asyncio.Event()}
        self.heal()

    async def start(self):
        self.listener = await asyncio.start_server(self.accept, "127.0.0.1", 0)
        self.port = self.listener.sockets[0].getsockname()[1]

    def heal(self):
        self.delay = 0
        for event in self.open.values():
            event.set()

    def reset(self):
        for connection in list(self.connections):
            connection.reset()

    def lose(self):
        """Forgets all connections, as a router that was started again: neither end hears of it, and new ones work."""
        for connection in self.connections:
            connection.is_lost = True

    async def accept(self, reader, writer):
        server = self.rng.choice(self.run.servers)
        try:
            upstream_reader, upstream = await asyncio.open_connection("127.0.0.1", server.port)
        except OSError:
            # As by a host without a listener.
            return Connection(writer).reset()
        connection = Connection(writer, upstream)
        self.connections.add(connection)
        pumps = [self.pump("up", reader, upstream, connection), self.pump("down", upstream_reader, writer, connection)]
        pumps = [asyncio.ensure_future(pump) for pump in pumps]
        try:
            await asyncio.wait(pumps, return_when=asyncio.FIRST_COMPLETED)
            if connection.is_lost:
                await asyncio.wait(pumps)
        finally:
            for pump in pumps:
                pump.cancel()
            self.connections.discard(connection)
            connection.close()

    async def pump(self, direction, reader, writer, connection):
        with contextlib.suppress(OSError):
            while data := await reader.read(1 << 16):
                if self.delay:
                    await asyncio.sleep(self.delay)
                await self.open[direction].wait()
                if not connection.is_lost:
                    writer.write(data)
                    await writer.drain()
