"""Chromium's EventSource against EventStreamRoute, whose server is killed and started again, for Scripts/event-streams.sh.

    event_source.py TOOL CHROMIUM FOLDER

TOOL is RunwayCrashTest, whose `event-server` publishes numbers. Exits with 1 unless the browser received every number after the first
connection once and in order, and saw how each connection began.
"""

import subprocess
import sys
import time

from playwright.sync_api import sync_playwright

TOOL, CHROMIUM, FOLDER = sys.argv[1:4]
KILLS = 3

PAGE = """<script>
window.log = []
const source = new EventSource("/events?padding=2048")
source.onmessage = event => log.push(["number", event.data, event.lastEventId])
for (const type of ["reset", "resumed", "gap", "live"])
    source.addEventListener("runway." + type, event => log.push([type, event.data, event.lastEventId]))
source.onerror = () => log.push(["error", "", ""])
</script>"""


def serve(port):
    """Starts the server; returns it and its port."""
    server = subprocess.Popen(
        [TOOL, "event-server", "--file", f"{FOLDER}/events.sqlite", "--port", str(port), "--pace", "20"],
        stdout=subprocess.PIPE, text=True,
    )
    return server, int(server.stdout.readline().split()[0])


def main():
    server, port = serve(0)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = browser.new_page()
        # The page alone is made up; the stream comes from the server.
        page.route("**/page", lambda route: route.fulfill(content_type="text/html", body=PAGE))
        page.goto(f"http://127.0.0.1:{port}/page")
        count = lambda kind: page.evaluate("kind => log.filter(entry => entry[0] == kind).length", kind)
        page.wait_for_function("log.filter(entry => entry[0] == 'number').length > 20")
        for kill in range(1, KILLS + 1):
            server.kill()
            server.wait()
            server, port = serve(port)
            page.wait_for_function(f"log.filter(entry => entry[0] == 'resumed').length >= {kill}", timeout=60000)
            seen = count("number")
            page.wait_for_function(f"log.filter(entry => entry[0] == 'number').length > {seen + 20}", timeout=60000)
        log = page.evaluate("log")
        browser.close()
    server.kill()
    numbers = [int(data) for kind, data, _ in log if kind == "number"]
    ids = [int(last.split("-")[1]) for kind, _, last in log if kind == "number"]
    kinds = [kind for kind, _, _ in log if kind in ("reset", "resumed", "gap", "live")]
    expected = ["reset", "live"] + ["resumed", "live"] * KILLS
    is_fine = numbers == list(range(numbers[0], numbers[0] + len(numbers))) and ids == numbers and kinds == expected
    print(f"Chromium's EventSource: {len(numbers)} events over {KILLS} kills, {'each once' if is_fine else kinds}")
    sys.exit(0 if is_fine else 1)


main()
