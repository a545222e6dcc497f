"""A server of events by PyPI's aiohttp-sse, over TLS and HTTP/1.1, for the benchmark of streams.

    event_server.py FOLDER PAUSE BYTES

Prints its port. For each line of its input it waits PAUSE milliseconds and sends one event, whose data are the nanoseconds of
CLOCK_MONOTONIC just before, filled up to BYTES. Ends with its input. FOLDER has server.pem and server.key.
"""

import asyncio
import socket
import ssl
import sys
import time

from aiohttp import web
from aiohttp_sse import sse_response

FOLDER, PAUSE, BYTES = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])

responses = set()


async def page(_):
    """A page whose script may read its clock in steps of 5 instead of 100 µs, since it is isolated from other origins."""
    return web.Response(
        text="events",
        headers={"Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Embedder-Policy": "require-corp"},
    )


async def events(request):
    async with sse_response(request) as response:
        responses.add(response)
        try:
            await response.wait()
        finally:
            responses.discard(response)
    return response


async def main():
    app = web.Application()
    app.router.add_get("/", page)
    app.router.add_get("/events", events)
    runner = web.AppRunner(app)
    await runner.setup()
    listener = socket.create_server(("127.0.0.1", 0))
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(f"{FOLDER}/server.pem", f"{FOLDER}/server.key")
    await web.SockSite(runner, listener, ssl_context=context).start()
    print(listener.getsockname()[1], flush=True)
    lines = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(lines), sys.stdin)
    while await lines.readline():
        # A client may know that its stream is open before this process has added it.
        while not responses:
            await asyncio.sleep(0.001)
        await asyncio.sleep(PAUSE / 1000)
        data = str(time.monotonic_ns()).ljust(BYTES, ".")
        for response in responses:
            await response.send(data)


asyncio.run(main())
