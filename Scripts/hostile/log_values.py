"""Batches of 8 KB in gzip that are four million values of JSON, eight at a time."""

import concurrent.futures
import gzip
import os
import tempfile
import time
import uuid

from servers import Claims, Server, reason

claims = Claims("log-values")
head = (
    f'{{"installation":"{uuid.uuid4()}","stream":"{uuid.uuid4()}","batch":1,"sent":1,"records":[{{"seq":1,'
    f'"id":"{uuid.uuid4()}",'
    f'"time":1,"boot":"","uptime":1,"session":"{uuid.uuid4()}","name":"opened","properties":{{"a":[')
body = gzip.compress((head + "0," * 4_000_000 + "0]}}]}").encode())

with tempfile.TemporaryDirectory() as folder:
    with Server("serve", "--log", os.path.join(folder, "actions.sqlite"), "--plain") as server:
        before = server.peak_memory()
        start = time.monotonic()
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            replies = list(pool.map(
                lambda _: server.request("POST", server.path, body, {"Content-Encoding": "gzip"}), range(8)))
        found = sorted({(status, reason(answer)) for status, _, answer in replies})
        claims.note(
            f"8 batches of {len(body) / 1000:.0f} KB: {found}, {time.monotonic() - start:.1f} s, "
            f"peak memory from {before:.0f} to {server.peak_memory():.0f} MiB")
        claims.check("they are refused as too large", found == [(413, "tooLarge")])
claims.end()
