"""A server of WebSockets by PyPI's websockets, for Scripts/websockets.sh: prints its port, and serves until it is killed.

Below any base path: echo returns every message, fragments sends messages in fragments and closes, pings sends five pings and says how many
were responded to, quiet sends one message after 75 s of silence. It sends no pings of its own accord.
"""

import asyncio
import sys

import websockets


async def fragments(connection):
    await connection.send(["fragment é "] * 100)
    await connection.send([bytes([7]) * 1000] * 100)
    await connection.close(4001, "all sent")


async def pings(connection):
    waiters = [await connection.ping(str(n)) for n in range(5)]
    for waiter in waiters:
        await waiter
    await connection.send(f"{len(waiters)} pongs")
    await connection.wait_closed()


async def quiet(connection):
    await asyncio.sleep(75)
    await connection.send("still here")
    await connection.wait_closed()


async def echo(connection):
    async for message in connection:
        await connection.send(message)


async def serve(connection):
    name = connection.request.path.split("?")[0].rsplit("/", 1)[-1]
    await {"fragments": fragments, "pings": pings, "quiet": quiet}.get(name, echo)(connection)


async def main():
    port = int(sys.argv[1]) if len(sys.argv) > 1 else 0
    async with websockets.serve(serve, "127.0.0.1", port, max_size=1 << 24, ping_interval=None) as server:
        print(server.sockets[0].getsockname()[1], flush=True)
        await asyncio.get_running_loop().create_future()


asyncio.run(main())
