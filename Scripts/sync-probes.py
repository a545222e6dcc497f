"""Devices as processes, which write to one space while they, their server and the network between them fail; then all have to agree.

    sync-probes.py TOOL [--seconds N] [--probes N] [--runs N] [--seed N] [--place PLACE] [--servers N] [--restore] [--plant BUG]
        [--verbose]

TOOL is `runway`. Its servers (`runway serve --sync PLACE`; a SQLite file of this script's without PLACE) are reached through a proxy of this
script's, that cuts one direction, delays, and resets or forgets connections. Processes are killed and stopped, and clocks are a day ahead or behind.
The last device has two processes on its file, if there are more than two devices.
Then the faults end, and nothing is written any more. Within 11 s, in which no time counts that these processes wait for a processor,

- every device has the same rows, and nothing waits or is refused;
- every row that one device alone writes has what it wrote last, and its partner of the same transaction has the same;
- every acknowledged transaction of such rows is in the log once, and one that a kill cut off at most once;
- a client of another language has the same rows, by a snapshot and by the log, and computes the digest of the server.

Exits with 0 if that holds, with 1 if it does not, and with 2 if the test itself fails. BUG is one that must be found: lostWrite (a write
that was acknowledged is removed from the file of a device), changedRow (a row is changed behind the back of a device), deaf (nothing
reaches the server from a device any more) or repeated (a write comes to the server twice, under two ids).
"""

import argparse
import asyncio
import collections
import contextlib
import json
import pathlib
import random
import shutil
import signal
import sqlite3
import sys
import tempfile
import time
import uuid

for name in ("peers", "probes"):
    sys.path.insert(0, str(pathlib.Path(__file__).parent / name))
from device import PAIRS, Probe  # noqa: E402
from processes import Died, Failure, Server  # noqa: E402
from sync_client import SyncClient, digest  # noqa: E402

AGREEMENT = 11
BUGS = ["lostWrite", "changedRow", "deaf", "repeated"]
COLUMNS = ["a", "b", "c", "n", "rank"]


class Stopwatch:
    """Counts seconds, without those that the devices, the servers or this script waited for a processor: so a machine that is busy is no
    stall of theirs. With a planted bug all seconds count."""

    def __init__(self, run):
        self.run, self.seconds, self.lateness = run, 0, 0
        self.last, self.waits = time.monotonic(), self.read()

    def read(self):
        return [[child.processor_wait() for child in children] for children in (self.run.probes, self.run.servers)]

    async def sleep(self, seconds):
        begin = time.monotonic()
        await asyncio.sleep(seconds)
        self.lateness = time.monotonic() - begin - seconds
        self.stop()

    def stop(self):
        now, waits = time.monotonic(), self.read()
        longest = [max(new - old for new, old in zip(*pair)) for pair in zip(waits, self.waits)]
        excused = 0 if self.run.options.plant else self.lateness + sum(longest)
        self.seconds += max(now - self.last - excused, 0)
        self.last, self.waits, self.lateness = now, waits, 0


class Run:
    def __init__(self, options, seed):
        self.tool, self.seed, self.options = options.tool, seed, options
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="sync-probes-"))
        self.place = options.place or self.folder / "spaces.sqlite"
        self.rng = random.Random(seed)
        self.space = str(uuid.UUID(int=self.rng.getrandbits(128), version=4))
        self.servers = [Server(self, number) for number in range(options.servers)]
        self.probes = [Probe(self, number) for number in range(options.probes)]
        self.stoppable = self.probes[:]
        if options.probes > 2:
            # Two processes with an engine on one file. One that is stopped in a transaction would make the other one wait.
            self.probes.append(Probe(self, options.probes, self.stoppable.pop()))
        self.shared_texts, self.findings, self.faults = set(), [], collections.Counter()
        self.begin = time.monotonic()
        # Long runs also have outages in which the deadlines of requests grow, and whose connections are lost.
        self.is_long = options.seconds >= 300

    def find(self, text):
        if text not in self.findings:
            self.findings.append(text)
            self.say(f"FOUND {text}", always=True)

    def say(self, text, always=False):
        if always or self.options.verbose:
            print(f"{time.monotonic() - self.begin:7.2f}  {text}", flush=True)

    async def perform(self):
        try:
            await asyncio.gather(*(server.start() for server in self.servers))
            await asyncio.gather(*(probe.link.start() for probe in self.probes))
            await asyncio.gather(*(probe.start() for probe in self.probes))
            await asyncio.gather(*(probe.perform("state") for probe in self.probes))
            self.say(f"{len(self.probes)} devices and {len(self.servers)} servers are up")
            end = time.monotonic() + self.options.seconds
            await asyncio.gather(*(probe.drive(end) for probe in self.probes), self.fail(end))
            await self.plant()
            await self.end_faults()
            seconds = await self.agree()
            if self.options.restore and not self.findings:
                await self.restore()
            if not self.findings:
                await self.check_end()
            return seconds
        except Died:
            # The finding is recorded.
            return None
        finally:
            for child in self.probes + self.servers:
                with contextlib.suppress(Exception):
                    await child.kill()
            for probe in self.probes:
                if hasattr(probe.link, "listener"):
                    probe.link.reset()
                    probe.link.listener.close()
            if self.findings:
                print(f"The files are in {self.folder}", flush=True)
            else:
                shutil.rmtree(self.folder, ignore_errors=True)

    async def fail(self, end):
        """Makes one fault after the other until the end; they overlap."""
        tasks = []
        faults = [self.kill_probe] * 4 + [self.stop_probe] * 2 + [self.cut] * 5 + [self.delay] * 2 + [self.reset] * 3 + [self.lose] * 2
        faults += [self.kill_server] * 2 + [self.stop_server]
        pace = 4 / len(self.probes)
        while (left := end - time.monotonic()) > 0:
            await asyncio.sleep(min(self.rng.uniform(0.2, 1.8) * pace, left))
            fault = self.rng.choice(faults)
            self.faults[fault.__name__] += 1
            seconds = self.rng.choice([0.1, 0.5, 1, 3, 6] * 3 + ([20, 60] if self.is_long else []))
            tasks.append(asyncio.ensure_future(fault(min(seconds, max(left, 0)))))
        await asyncio.gather(*tasks)

    async def kill_probe(self, seconds):
        await self.kill(self.rng.choice(self.probes), seconds)

    async def kill_server(self, seconds):
        await self.kill(self.rng.choice(self.servers), seconds)

    async def kill(self, child, seconds):
        if child.is_down:
            return
        self.say(f"kill {child.log.stem} for {seconds:.1f} s")
        child.is_down = True
        await child.kill()
        await asyncio.sleep(seconds)
        await child.start()
        child.is_down, child.is_fresh = False, True

    async def stop_probe(self, seconds):
        await self.stop(self.rng.choice(self.stoppable), seconds)

    async def stop_server(self, seconds):
        await self.stop(self.rng.choice(self.servers), seconds)

    async def stop(self, child, seconds):
        self.say(f"stop {child.log.stem} for {seconds:.1f} s")
        child.signal(signal.SIGSTOP)
        await asyncio.sleep(seconds)
        child.signal(signal.SIGCONT)

    async def cut(self, seconds):
        probe, direction = self.rng.choice(self.probes), self.rng.choice(["up", "down"])
        self.say(f"cut {direction} of {probe.log.stem} for {seconds:.1f} s")
        probe.link.open[direction].clear()
        await asyncio.sleep(seconds)
        probe.link.open[direction].set()
        if self.rng.random() < 0.5:
            probe.link.reset()

    async def delay(self, seconds):
        probe = self.rng.choice(self.probes)
        probe.link.delay = self.rng.choice([0.02, 0.15, 0.5])
        await asyncio.sleep(seconds)
        probe.link.delay = 0

    async def lose(self, seconds):
        probe = self.rng.choice(self.probes)
        self.say(f"lose the connections of {probe.log.stem}")
        probe.link.lose()

    async def reset(self, seconds):
        self.rng.choice(self.probes).link.reset()

    async def end_faults(self):
        for child in self.servers + self.probes:
            if not child.is_alive:
                await child.start()
        for probe in self.probes:
            if self.options.plant != "deaf" or probe.number:
                if self.is_long and self.rng.random() < 0.3:
                    probe.link.lose()
                probe.link.heal()
        # A process that was just started opens its file before it synchronises; its first line is in time.
        for probe in self.probes:
            await probe.perform("connect")
        self.say(f"the faults ended; {sum(probe.acknowledged for probe in self.probes)} transactions were acknowledged")

    async def agree(self):
        """Waits until all devices have equal rows and nothing waits. Returns the seconds; finds a stall after 11 s, and waits for a minute."""
        begin, reason, is_late, stopwatch = time.monotonic(), "", False, Stopwatch(self)
        while (seconds := stopwatch.seconds) < (60 if not self.options.plant else AGREEMENT + 2) and time.monotonic() < begin + 300:
            states = await asyncio.gather(*(probe.perform("state") for probe in self.probes))
            waiting = [state.get("waiting") for state in states]
            cursors = [state.get("cursor") for state in states]
            # Reading all rows all the time would take the processors from the devices.
            is_close = not any(waiting) and len(set(cursors)) == 1
            rows = await asyncio.gather(*(probe.read() for probe in self.probes)) if is_close else []
            refused = {reason for state in states for reason in state.get("refused", [])}
            contents = {json.dumps([[key, row["values"]] for key, row in sorted(one.items())], sort_keys=True) for one in rows}
            pending = sum(row["pending"] for one in rows for row in one.values())
            if refused:
                self.find(f"writes were refused: {refused}")
                return None
            if any(state.get("mismatches") for state in states):
                self.find("the rows of a device differed from those of the server at the same entry")
                return None
            if len(contents) == 1 and not any(waiting) and not pending:
                stopwatch.stop()
                self.waited = time.monotonic() - begin - stopwatch.seconds
                if is_late:
                    self.say(f"they agree after {stopwatch.seconds:.1f} s", always=True)
                elif stopwatch.seconds > AGREEMENT:
                    self.find(f"the devices agree only after {stopwatch.seconds:.1f} s")
                return stopwatch.seconds
            problems = [state.get("problem") for state in states]
            reason = f"{len(contents)} contents, {pending} pending, waiting {waiting}, cursors {cursors}, problems {problems}"
            if seconds > AGREEMENT and not is_late:
                is_late = True
                self.find(f"the devices do not agree after {AGREEMENT} s: {reason}")
            await stopwatch.sleep(0.25)
        self.say(f"they never agree: {reason}", always=True)
        if not is_late:
            self.find(f"the devices do not agree after five minutes: {reason}")
        return None

    async def restore(self):
        """Puts an earlier file of a device back, as a backup does; what the device has written since then is at the server."""
        probe, saved = self.probes[0], self.folder / "saved.sqlite"

        async def copy(source, target):
            await probe.kill()
            for end in ("", "-wal", "-shm"):
                target.with_name(target.name + end).unlink(missing_ok=True)
                if end != "-shm" and (file := source.with_name(source.name + end)).exists():
                    shutil.copyfile(file, target.with_name(target.name + end))
            await probe.start()

        await copy(probe.file, saved)
        for pair in range(PAIRS // 2):
            await probe.write_pair(1, pair)
        if await self.agree() is None:
            return
        probe.link.open["up"].clear()
        await copy(saved, probe.file)
        for pair in range(PAIRS // 2, PAIRS):
            await probe.write_pair(1, pair)
        await self.probes[-1].write_pair()
        probe.link.heal()
        if (seconds := await self.agree()) is not None:
            self.say(f"they agree {seconds:.1f} s after an earlier file of a device came back", always=True)

    async def check_end(self):
        rows = await self.probes[0].read()
        for probe in self.probes:
            await probe.check_own(rows)
        own = {row for probe in self.probes for pair in range(PAIRS) for row in probe.rows(pair)}
        for key, row in rows.items():
            values = row["values"]
            if key not in own and any(values[name] not in self.shared_texts | {None} for name in ["a", "b", "c", "rank"]):
                self.find(f"a value of {values} was never written")
        await asyncio.to_thread(self.check_log, rows)

    def check_log(self, shown):
        """Compares with a client of another language, and counts transactions in the log."""
        url = f"http://127.0.0.1:{self.servers[0].port}/sync"
        snapshot, log, counts = SyncClient(url, self.space), SyncClient(url, self.space), collections.Counter()

        def count(entry):
            for change in entry["changes"]:
                for cells in change.get("cells", []):
                    # Each transaction of a pair writes its text into c.
                    if cells[0] == entry["number"] and "c" in cells[4]:
                        counts[change["key"][1], cells[4]["c"]] += 1

        snapshot.snapshot()
        log.pull(count)
        plain = lambda values: {name: values.get(name) for name in COLUMNS}
        rows = {key: plain(row["values"]) for key, row in shown.items()}
        for name, client in (("snapshot", snapshot), ("log", log)):
            if {key[1]: plain(values) for key, values in client.live().items()} != rows:
                self.find(f"the rows by the {name} are not those of the devices")
            if digest(client.rows) != client.digest:
                self.find(f"the digest of the rows by the {name} is {digest(client.rows)}, not the server's {client.digest}")
        for probe in self.probes:
            for text, was_acknowledged in probe.texts.items():
                found = sorted(number for (row, other), number in counts.items() if other == text)
                if found not in ([[1, 1]] if was_acknowledged else [[1, 1], []]):
                    self.find(f"the transaction {text} of device {probe.number} is in the log {found} times, not once for each row")
        self.log_length, self.row_count = log.cursor["number"], len(rows)

    async def plant(self):
        """Breaks one device, or its writes, where the product can't see it."""
        bug, probe = self.options.plant, self.probes[0]
        if bug is None:
            return
        if bug == "repeated":
            await asyncio.to_thread(self.repeat)
            return
        for event in probe.link.open.values():
            event.clear()
        await probe.perform("connect")
        await probe.write_pair(1)
        if bug == "deaf":
            return
        await probe.kill()
        statements = {
            "lostWrite": [f"DELETE FROM runway_sync_{name}" for name in ["outgoing", "change", "write"]],
            "changedRow": ["UPDATE item SET a = 'changed' WHERE a IS NOT NULL"],
        }
        with contextlib.closing(sqlite3.connect(probe.file)) as database:
            triggers = database.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall()
            for name, _ in triggers:
                database.execute(f'DROP TRIGGER "{name}"')
            for statement in statements[bug]:
                database.execute(statement)
            for _, sql in triggers:
                database.execute(sql)
            database.commit()

    def repeat(self):
        """Writes what a device wrote once more, as a gateway would that repeats a request with ids of its own."""
        client = SyncClient(f"http://127.0.0.1:{self.servers[0].port}/sync", self.space)
        client.snapshot()
        own = {row for probe in self.probes for pair in range(PAIRS) for row in probe.rows(pair)}
        client.write([next((*key, values) for key, values in client.live().items() if key[1] in own)])


async def main():
    parser = argparse.ArgumentParser(formatter_class=argparse.RawDescriptionHelpFormatter, description=__doc__)
    parser.add_argument("tool", help="the program runway")
    parser.add_argument("--seconds", type=float, default=60, help="the length of the faults of a run; 60 by default")
    parser.add_argument("--probes", type=int, default=4, help="the number of devices; 4 by default")
    parser.add_argument("--runs", type=int, default=1, help="the number of runs, each with its own seed and space")
    parser.add_argument("--seed", type=int, default=int(time.time()), help="the first seed")
    parser.add_argument("--place", help="a PostgreSQL URL; a SQLite file without it")
    parser.add_argument("--servers", type=int, default=1, help="the number of servers, with --place")
    parser.add_argument("--restore", action="store_true", help="after the faults, put an earlier file of a device back")
    parser.add_argument("--plant", choices=BUGS, help="a bug that has to be found")
    parser.add_argument("--verbose", action="store_true", help="print each fault")
    options = parser.parse_args()
    if options.servers > 1 and not options.place:
        parser.error("several servers need a PostgreSQL database")
    print(f"seed {options.seed}", flush=True)
    times, late = [], 0
    for seed in range(options.seed, options.seed + options.runs):
        run = Run(options, seed)
        seconds = await run.perform()
        if run.findings:
            late += 1
            print(f"seed {seed}: {len(run.findings)} findings; the first: {run.findings[0]}", flush=True)
            continue
        times.append(seconds)
        acknowledged = sum(probe.acknowledged for probe in run.probes)
        faults = ", ".join(f"{count} {name}" for name, count in sorted(run.faults.items()))
        print(
            f"seed {seed}: {len(run.probes)} devices agree {seconds:.1f} s after the faults"
            f" (and {run.waited:.1f} s for which they waited for a processor), on {run.row_count} rows of"
            f" {run.log_length} log entries; {acknowledged} acknowledged; faults: {faults}", flush=True,
        )
    if options.runs > 1:
        times.sort()
        longest = f", longest {times[-1]:.1f} s, median {times[len(times) // 2]:.1f} s" if times else ""
        print(f"{options.runs} runs, {late} with findings{longest}", flush=True)
    return 1 if late else 0


if __name__ == "__main__":
    try:
        sys.exit(asyncio.run(main()))
    except KeyboardInterrupt:
        sys.exit(130)
    except (Failure, OSError, sqlite3.Error) as failure:
        print(f"sync-probes: {failure}", file=sys.stderr)
        sys.exit(2)
