"""Chromium's EventSource as a client, for the benchmark of streams.

    event_source.py CHROMIUM URL

Opens URL and follows `events` below it. Prints `open` and then, for each event, the nanoseconds from those that its data begin with,
of CLOCK_MONOTONIC, until the page's script received it. Ends with its input, and with 1 if the stream is interrupted.
"""

import asyncio
import sys

from playwright.async_api import async_playwright

CHROMIUM, URL = sys.argv[1:3]

# `origin` is the instant on CLOCK_MONOTONIC, in milliseconds, from which the page's clock counts.
FOLLOW = """origin => {
    const source = new EventSource("/events")
    source.onopen = () => report("open")
    source.onerror = () => report("error")
    source.onmessage = event => {
        const received = origin + performance.now()
        report(String(Math.round(received * 1e6 - parseFloat(event.data))))
    }
}"""


async def main():
    loop = asyncio.get_running_loop()
    lines = asyncio.StreamReader()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(lines), sys.stdin)
    failed = loop.create_future()

    def report(line):
        if line == "error" and not failed.done():
            failed.set_result(None)
        print(line, flush=True)

    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path=CHROMIUM, args=["--headless=new", "--no-sandbox"])
        page = await (await browser.new_context(ignore_https_errors=True)).new_page()
        await page.expose_function("report", report)
        await page.goto(URL)
        if not await page.evaluate("crossOriginIsolated"):
            sys.exit("the page's clock is too coarse")
        session = await page.context.new_cdp_session(page)
        await session.send("Performance.enable")
        metrics = (await session.send("Performance.getMetrics"))["metrics"]
        await session.detach()
        origin = next(metric["value"] for metric in metrics if metric["name"] == "NavigationStart")
        await page.evaluate(FOLLOW, origin * 1000)
        await asyncio.wait([asyncio.ensure_future(lines.read()), failed], return_when=asyncio.FIRST_COMPLETED)
        await browser.close()
    sys.exit(1 if failed.done() else 0)


asyncio.run(main())
