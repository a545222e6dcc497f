"""A real browser, through `runway proxy`, at pages of nginx and httpbin: browse.py RUNWAY CHROMIUM

Ends with 0 when every check held. Scripts/browser.sh starts the servers that it needs.
"""

import os
import re
import shutil
import signal
import struct
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from pathlib import Path

from playwright.sync_api import sync_playwright

NGINX = os.environ["RUNWAY_NGINX_PLAIN"]
LOG = Path(os.environ["RUNWAY_NGINX_PROXIED_LOG"])
SITE = Path(os.environ["RUNWAY_NGINX_PROXIED"]) / "site"
SECONDS = 1400
# The longest that a page or the browser may take, in milliseconds.
PATIENCE = 300_000
# Uses no proxy, whatever the environment says.
DIRECT = urllib.request.build_opener(urllib.request.ProxyHandler({}))

PAGE = """<!doctype html><html><head><meta charset="utf-8"><title>loading</title>
<link rel="icon" href="data:,"><link rel="stylesheet" href="style.css?cc=max-age=3600">
<script src="script.js?cc=no-cache" defer></script></head>
<body><h1>Grüße, 你好</h1><img id="image" src="image.svg">
<form method="post" action="/httpbin/post" enctype="multipart/form-data">
<input name="city" value="上海"><input type="file" name="file"><button>Send</button></form></body></html>
"""
FILES = {
    "page.html": PAGE.encode(),
    "next.html": b"<!doctype html><title>next</title>" + b"<p>A page of another page.</p>" * 4000,
    "style.css": b"h1 { color: rgb(1, 2, 3) }\n" + b"/* padding */\n" * 5000,
    "script.js": b"document.title = 'ready';\n" + b"// padding\n" * 5000,
    "image.svg": b'<svg xmlns="http://www.w3.org/2000/svg" width="40" height="30"><rect width="40" height="30"/></svg>',
    "large.bin": bytes(range(256)) * (3 << 12),
}


def sound() -> bytes:
    """Silence of 8,000 samples a second: more than the proxy gathers, so that most of it passes as it comes."""
    size = 16_000 * SECONDS
    head = struct.pack("<4sI4s4sIHHIIHH4sI", b"RIFF", 36 + size, b"WAVE", b"fmt ", 16, 1, 1, 8000, 16_000, 2, 16,
                       b"data", size)
    return head + bytes(size)


class Proxy:
    """A `runway proxy` to nginx, and the lines that it printed."""

    def __init__(self, runway: str):
        self.process = subprocess.Popen([runway, "proxy", "--origin", NGINX], stdout=subprocess.PIPE, text=True)
        greeting = self.process.stdout.readline()
        self.url = re.search(r"Listening at (\S+)", greeting).group(1)
        self.port = int(self.url.rsplit(":", 1)[1])
        self.lines: list[str] = []
        self.reader = threading.Thread(target=self._read)
        self.reader.start()

    def _read(self):
        self.lines.extend(self.process.stdout)

    def end(self) -> int:
        self.process.send_signal(signal.SIGTERM)
        status = self.process.wait(300)
        self.reader.join()
        return status


def at_origin(name: str) -> list[str]:
    """The requests to nginx for a path that contains `name`, with the statuses of its responses: `GET 200`."""
    try:
        # One worker writes the log in the order in which it ends responses, so all earlier ones are in it.
        DIRECT.open(f"{NGINX}/proxied/", timeout=300).read()
    except urllib.error.HTTPError:
        pass
    words = [line.split() for line in LOG.read_text().splitlines()]
    return [f"{word[0]} {word[2]}" for word in words if name in word[1]]


def check(what: str, holds: bool, *details):
    print(("ok    " if holds else "FAILED"), what, *([] if holds else details), flush=True)
    if not holds:
        raise SystemExit(1)


def new_context(browser):
    context = browser.new_context()
    context.set_default_timeout(PATIENCE)
    return context


def load(context, proxy: Proxy, page=None):
    """Loads the page with all that it needs, and compares every byte with what nginx has."""
    page = page or context.new_page()
    bodies = {}
    page.on("response", lambda response: bodies.setdefault(Path(response.url.split("?")[0]).name, response))
    page.goto(f"{proxy.url}/proxied/site/page.html?cc=no-cache", wait_until="load")
    for name in ("page.html", "style.css", "script.js", "image.svg"):
        check(f"{name} came whole", bodies[name].status == 200 and bodies[name].body() == FILES[name])
    check("the script ran", page.title() == "ready", page.title())
    check("the style counts", page.evaluate("getComputedStyle(document.querySelector('h1')).color") == "rgb(1, 2, 3)")
    check("the image is there", page.evaluate("document.getElementById('image').naturalWidth") == 40)
    return page


def browse(browser, proxy: Proxy):
    print("-- a page, and the same page for another browser that has nothing of it")
    page = load(new_context(browser), proxy)
    for name in ("page.html", "style.css", "script.js", "image.svg"):
        check(f"nginx received one request for {name}", at_origin(name) == ["GET 200"], at_origin(name))
    page = load(new_context(browser), proxy)
    check("the page and the script cost one 304 each",
          at_origin("page.html") == at_origin("script.js") == ["GET 200", "GET 304"], at_origin("page.html"))
    check("the style and the image cost nothing", at_origin("style.css") == at_origin("image.svg") == ["GET 200"])
    page.goto(f"{proxy.url}/httpbin/redirect-to?url=/proxied/site/next.html")
    check("a redirect leads on", page.title() == "next" and page.url.endswith("/proxied/site/next.html"))
    page.go_back()
    check("and back", page.title() == "ready")

    print("-- a form with a file, and cookies")
    page.set_input_files("input[type=file]", files=[{"name": "a.bin", "mimeType": "x/y", "buffer": b"file\r\n" * 300_000}])
    with page.expect_navigation() as navigation:
        page.click("button")
    check("the form has a response", navigation.value.status == 200, navigation.value.status, navigation.value.text()[:200])
    echo = navigation.value.json()
    check("the fields of the form came", echo["form"] == {"city": "上海"}, echo["form"])
    check("the file came whole", echo["files"]["file"] == "file\r\n" * 300_000)
    check("nginx got one POST", at_origin("/httpbin/post") == ["POST 200"], at_origin("/httpbin/post"))
    page.goto(f"{proxy.url}/httpbin/response-headers?Set-Cookie=a%3D1&Set-Cookie=b%3D2")
    page.goto(f"{proxy.url}/httpbin/cookies")
    check("two cookies were set", '"a":"1"' in page.content() and '"b":"2"' in page.content(), page.content())
    headers = page.evaluate("fetch('/httpbin/headers?show_env=1').then(a => a.json())")["headers"]
    check("the origin receives the name of the proxy", headers["Via"] == f"1.1 runway-proxy-{proxy.port}", headers)

    print("-- ranges")
    ranges = """async ([path, range]) => {
        const response = await fetch(path, {headers: {Range: range}});
        return [response.status, response.headers.get('content-range'), [...new Uint8Array(await response.arrayBuffer())]];
    }"""
    path = "/proxied/dated/site/large.bin?cc=max-age=3600"
    size = len(FILES["large.bin"])
    last = """path => fetch(path).then(a => a.arrayBuffer()).then(
        b => [...new Uint8Array(b).slice(-3)].concat(b.byteLength))"""
    check("the whole came", page.evaluate(last, path) == [253, 254, 255, size])
    page = new_context(browser).new_page()
    page.goto(f"{proxy.url}/proxied/site/next.html")
    for text, start, end in (("bytes=5-9", 5, 10), ("bytes=-7", size - 7, size), (f"bytes={size - 2}-", size - 2, size)):
        status, content_range, part = page.evaluate(ranges, [path, text])
        check(f"{text} came", status == 206 and bytes(part) == FILES["large.bin"][start:end], status)
        check("it says where it belongs", content_range == f"bytes {start}-{end - 1}/{size}", content_range)
    check("all from stored responses", at_origin("large.bin") == ["GET 200"], at_origin("large.bin"))
    played = page.evaluate("""path => new Promise((resolve, reject) => {
        const audio = new Audio(path);
        audio.onerror = () => reject(audio.error.message);
        audio.onloadedmetadata = () => { audio.currentTime = audio.duration - 5; };
        audio.onseeked = () => resolve([audio.duration, audio.currentTime]);
    })""", "/proxied/site/sound.wav?cc=max-age=3600")
    check("a sound plays from near its end", played == [SECONDS, SECONDS - 5], played)
    check("by ranges", "GET 206" in at_origin("sound.wav"), at_origin("sound.wav"))

    print("-- other sites")
    page = new_context(browser).new_page()
    page.goto(f"{NGINX}/proxied/site/next.html")
    echo = page.evaluate("""url => fetch(url, {
        method: 'PUT', headers: {'X-Kind': 'a', 'Content-Type': 'application/json'}, body: '{"a":1}'
    }).then(a => a.json())""", f"{proxy.url}/httpbin/anything")
    check("what another site may ask for came", echo["json"] == {"a": 1} and echo["headers"]["X-Kind"] == "a", echo)
    check("after a preflight", at_origin("/httpbin/anything") == ["OPTIONS 200", "PUT 200"], at_origin("/httpbin/anything"))
    response = page.goto(f"http://rebound.test:{proxy.port}/proxied/site/page.html")
    check("a name that was pointed here is refused", response.status == 421, response.status)


def main(runway: str, chromium: str):
    SITE.mkdir()
    for name, content in (FILES | {"sound.wav": sound()}).items():
        (SITE / name).write_bytes(content)
        # Old enough to be fresh by estimate where nothing else is said (RFC 9111 §4.2.2).
        os.utime(SITE / name, (1_700_000_000, 1_700_000_000))
    proxy = Proxy(runway)
    try:
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(
                executable_path=chromium, timeout=PATIENCE,
                args=["--headless=new", "--no-sandbox", "--host-resolver-rules=MAP rebound.test 127.0.0.1"])
            browse(browser, proxy)
            browser.close()
    finally:
        status = proxy.end()
        shutil.rmtree(SITE)
        if os.environ.get("RUNWAY_BROWSER_VERBOSE"):
            print(*proxy.lines, sep="")
    check("the proxy stopped at the signal", status == 0, status)
    unclear = [line for line in proxy.lines if not re.match(r"#\d+ [A-Z]+ /\S* .*(succeeded|failed|cancelled) in ", line)]
    check("each call is a line", not unclear, *unclear)
    print(f"{len(proxy.lines)} calls through the proxy; nginx responded to {len(LOG.read_text().splitlines())}")


main(*sys.argv[1:])
