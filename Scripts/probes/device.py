"""One device as a process, and what it must have, for Scripts/sync-probes.py."""

import asyncio
import contextlib
import json
import random
import signal
import time
import uuid

from processes import Child, Died, Link

PAIRS, SHARED, DAY = 6, 12, 86_400


def row_id(name):
    return str(uuid.uuid5(uuid.NAMESPACE_OID, name))


class Probe(Child):
    """A device, and what it must have: for each pair of rows that only it writes, the contents that are possible.

    It may be a second process on the file of another device."""

    def __init__(self, run, number, other=None):
        super().__init__(run.folder / f"probe-{number}.log")
        self.run, self.number = run, number
        self.rng = random.Random(run.seed * 1000 + number)
        self.link = Link(run, random.Random(run.seed * 1000 + number + 500))
        self.file = other.file if other else run.folder / f"probe-{number}.sqlite"
        # The processes of a device begin with one clock.
        self.offset = other.offset if other else [0, DAY, -DAY][number % 3]
        self.lock, self.count, self.acknowledged = asyncio.Lock(), 0, 0
        # The contents (text, rank) of a pair; None is a deleted one. Two are possible after a kill.
        self.possible = [{None} for _ in range(PAIRS)]
        # Texts of pairs by whether they were acknowledged.
        self.texts = {}

    def rows(self, pair):
        return [row_id(f"{self.number} {pair} {half}") for half in "xy"]

    async def start(self):
        pipes = {"stdin": asyncio.subprocess.PIPE, "stdout": asyncio.subprocess.PIPE}
        await self.spawn(
            self.run.tool, "sync-probe", "--server", f"http://127.0.0.1:{self.link.port}", "--space", self.run.space,
            "--file", self.file, f"--device-clock-offset={self.offset}", **pipes,
        )

    async def perform(self, do, timeout=300, **arguments):
        """Performs a line; throws Died if the process ends first, and Failure if it refuses the line."""
        async with self.lock:
            process = self.process
            try:
                process.stdin.write(json.dumps({"do": do, **arguments}).encode() + b"\n")
                await process.stdin.drain()
                line = await asyncio.wait_for(process.stdout.readline(), timeout)
            except (OSError, asyncio.IncompleteReadError):
                line = b""
            except asyncio.TimeoutError:
                self.run.find(f"device {self.number} does not respond to {do} within {timeout} s")
                raise Died from None
            if not line.endswith(b"\n"):
                await process.wait()
                if process.returncode != -signal.SIGKILL:
                    self.run.find(f"device {self.number} ended by itself ({process.returncode}): {self.log.read_text()[-500:]}")
                raise Died
        response = json.loads(line)
        if "error" in response:
            self.run.find(f"device {self.number} refuses {do} {arguments}: {response['error']}")
        return response

    def text(self):
        self.count += 1
        return f"{self.number}.{self.count}"

    async def transact(self, *changes):
        await self.perform("txn", set=[{"table": "item", "row": row, **change} for row, change in changes])
        self.acknowledged += 1

    async def write_pair(self, kind=None, pair=None):
        """Writes both rows of a pair in one transaction; from 0 to 1, the kind decides whether they are deleted, reordered or saved."""
        pair = self.rng.randrange(PAIRS) if pair is None else pair
        kind = self.rng.random() if kind is None else kind
        known = next(iter(self.possible[pair])) if len(self.possible[pair]) == 1 else None
        rank = "".join(self.rng.choice("abcdefghijklmnop") for _ in range(6))
        text = self.text()
        if kind < 0.15:
            change, content, text = {"delete": True}, None, None
        elif kind < 0.35 and known:
            change, content, text = {"values": {"rank": rank, "c": text}}, (known[0], rank, text), text
        else:
            change, content = {"values": {"a": text, "rank": rank, "c": text}}, (text, rank, text)
        self.possible[pair].add(content)
        if text:
            self.texts[text] = False
        await self.transact(*((row, change) for row in self.rows(pair)))
        self.possible[pair] = {content}
        if text:
            self.texts[text] = True

    async def write_shared(self):
        row, kind, text = row_id(f"shared {self.rng.randrange(SHARED)}"), self.rng.random(), self.text()
        self.run.shared_texts.add(text)
        if kind < 0.2:
            await self.transact((row, {"delete": True}))
        elif kind < 0.6:
            await self.transact((row, {"values": {"a": text, "n": self.rng.randrange(10)}}))
        elif kind < 0.75:
            other = row_id(f"shared {self.rng.randrange(SHARED)}")
            changes = {row: {"values": {"c": text}}, other: {"values": {"rank": text}}}
            await self.transact(*changes.items())
        else:
            condition = [["n", self.rng.choice(["<", "=", ">="]), self.rng.randrange(10)]]
            await self.perform("batch", where=condition, values={"b": text})

    async def read(self):
        response = await self.perform("read", table="item")
        return {row["row"]: row for row in response.get("rows", [])}

    async def check_own(self, rows=None):
        """Own rows never revert on the screen, and survive a kill: each pair has a possible content, which is the only one then."""
        rows = await self.read() if rows is None else rows
        for pair in range(PAIRS):
            contents = []
            for row in self.rows(pair):
                values = rows.get(row, {}).get("values")
                contents.append(values and (values["a"], values["rank"], values["c"]))
            if contents[0] != contents[1]:
                self.run.find(f"device {self.number} shows half of a transaction: {contents} in pair {pair}")
            elif contents[0] not in self.possible[pair]:
                self.run.find(f"device {self.number} shows {contents[0]} in its pair {pair}, not {self.possible[pair]}")
            self.possible[pair] = {contents[0]}

    async def drive(self, end):
        """Writes until the faults end, also after kills."""
        actions = [self.write_pair] * 12 + [self.write_shared] * 8 + [self.check_own] * 2
        while time.monotonic() < end:
            await asyncio.sleep(self.rng.uniform(0.005, 0.3))
            if not self.is_alive:
                continue
            with contextlib.suppress(Died):
                if self.is_fresh:
                    self.is_fresh = False
                    await self.check_own()
                elif self.rng.random() < 0.03:
                    await self.perform(self.rng.choice(["connect", "disconnect", "sync", "connect"]))
                elif self.rng.random() < 0.02:
                    await self.perform("clock", offset=self.rng.choice([0, DAY, -DAY, 3]))
                else:
                    await self.rng.choice(actions)()
