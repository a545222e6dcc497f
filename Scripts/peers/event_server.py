"""A server of events by aiohttp-sse, for Scripts/event-streams.sh: numbers from 1, five on each connection.

    event_server.py PORT
"""

import asyncio
import json
import sys

from aiohttp import web
from aiohttp_sse import sse_response

LAST = 20
EACH = 5


async def numbers(request):
    """Sends the numbers after the last id; after all of them the status 204 ends the stream."""
    last = int(request.headers.get("Last-Event-ID", "0"))
    if last >= LAST:
        return web.Response(status=204)
    async with sse_response(request) as response:
        response.ping_interval = 1
        for number in range(last + 1, min(last + EACH, LAST) + 1):
            # The library writes a text of several lines as several fields.
            await response.send(
                json.dumps({"n": number}) + "\nzweite Zeile: äöü", id=str(number), event="number", retry=50
            )
            await asyncio.sleep(0.01)
    return response


app = web.Application()
app.router.add_get("/numbers", numbers)
web.run_app(app, host="127.0.0.1", port=int(sys.argv[1]), print=None)
