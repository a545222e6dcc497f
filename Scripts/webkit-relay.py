#!/usr/bin/env python3
"""Runs runway.js on real pages in WebKitGTK, the engine of WKWebView, and checks what reaches the app.

WebKitGTK reports no frame and no origin with a message, as WKWebView does. So a line in the relay's world adds the origin
and the frame of its own document, which no script of the page can change. Called by Scripts/webkit-relay.sh.
"""
import base64, http.server, json, pathlib, sys, threading

import gi

gi.require_version("Gdk", "3.0")
gi.require_version("Gtk", "3.0")
gi.require_version("WebKit2", "4.1")
from gi.repository import Gdk, GLib, Gtk, WebKit2

WORLD = "runway"
RELAY = pathlib.Path(__file__).parent.parent.joinpath("Sources/RunwayBridge/runway.js").read_text()
SENDER = """
globalThis.runwayNative = text => webkit.messageHandlers.runwayNative
  .postMessage(JSON.stringify({ text, origin: self.origin, isMainFrame: window === top }))
  .then(replies => { for (const reply of JSON.parse(replies)) runwayReply(...reply) })
"""
CALL = "const kind = () => runway.call('echo', { text: 'x' }).then(value => value.text, error => error.kind)"
PAGES = {
    "/": f"<script>{CALL}</script><p>hello",
    "/patched": f"""<script>{CALL}
        const fail = () => {{ throw new Error('patched') }}
        const spared = new Set(['constructor', 'then', 'forEach', 'call', 'apply', 'bind'])
        for (const type of [MessagePort, EventTarget, Event, MessageEvent, Map, Array, String, Number, Object, Function])
          for (const name of Object.getOwnPropertyNames(type.prototype))
            if (!spared.has(name) && name[0] !== '_')
              try {{ if (typeof type.prototype[name] === 'function') type.prototype[name] = fail }} catch {{}}
        const data = Object.getOwnPropertyDescriptor(MessageEvent.prototype, 'data').get
        Object.defineProperty(MessageEvent.prototype, 'data', {{ get() {{ globalThis.stolen = 1; return data.call(this) }} }})
        globalThis.stringify = JSON.stringify
        JSON.parse = JSON.stringify = globalThis.MessageChannel = globalThis.atob = globalThis.fetch = fail
        globalThis.isPatched = true
        </script>""",
    "/frames": f"""<script>
        {CALL}
        globalThis.kinds = {{}}
        addEventListener('message', event => kinds[event.data[0]] = event.data[1])
        const script = name => '<script>runway.call("echo", {{}}).then(() => "done", error => error.kind)'
          + '.then(kind => top.postMessage(["' + name + '", kind], "*"))</' + 'script>'
        const add = (name, members) => {{
          const frame = Object.assign(document.createElement('iframe'), members)
          document.documentElement.append(frame)
          return frame
        }}
        addEventListener('load', () => {{
          add('same', {{ src: '/child' }})
          add('other', {{ src: 'ELSEWHERE/child' }})
          add('srcdoc', {{ srcdoc: script('srcdoc') }})
          add('sandbox', {{ sandbox: 'allow-scripts', srcdoc: script('sandbox') }})
          add('data', {{ src: 'data:text/html,' + encodeURIComponent(script('data')) }})
          add('blob', {{ src: URL.createObjectURL(new Blob([script('blob')], {{ type: 'text/html' }})) }})
        }})
        </script>""",
    "/next": f"<script>{CALL}</script><p>next",
    "/child": """<script>runway.call('echo', {}).then(() => 'done', error => error.kind)
        .then(kind => top.postMessage([location.hostname, kind], '*'))</script>""",
    "/sandboxed": f"<script>{CALL}</script>",
}


class Site(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        body = PAGES.get(self.path, "").replace("ELSEWHERE", f"http://localhost:{self.server.server_port}").encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        if self.path == "/sandboxed":
            self.send_header("Content-Security-Policy", "sandbox allow-scripts")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Site)
threading.Thread(target=server.serve_forever, daemon=True).start()
home = f"http://127.0.0.1:{server.server_port}"

calls, gestures, failures = [], [], []
manager = WebKit2.UserContentManager()
manager.register_script_message_handler_with_reply("runwayNative", WORLD)
for source in (SENDER, RELAY):
    manager.add_script(
        WebKit2.UserScript.new_for_world(
            source, WebKit2.UserContentInjectedFrames.ALL_FRAMES, WebKit2.UserScriptInjectionTime.START, WORLD, None, None))
manager.add_script(
    WebKit2.UserScript.new(
        RELAY, WebKit2.UserContentInjectedFrames.ALL_FRAMES, WebKit2.UserScriptInjectionTime.START, None, None))


def receive(_, value, reply):
    """Does what the app does: runs `echo` for the main frame of one origin, holds `wait`, and refuses others."""
    message = json.loads(value.to_string())
    head, _, text = message["text"].partition("\n")
    head = json.loads(head)
    replies = []
    if head["type"] == "gesture":
        gestures.append((message["origin"], message["isMainFrame"]))
    if head["type"] == "call":
        calls.append((message["origin"], message["isMainFrame"], head, text))
        values = [head["document"], head["generation"]]
        if not message["isMainFrame"]:
            replies.append([*values, "failed", head["id"], "foreignFrame", "refused"])
        elif message["origin"] != home:
            replies.append([*values, "failed", head["id"], "opaqueOrigin", "refused"])
        elif head["name"] == "echo":
            replies.append([*values, "done", head["id"], "", text])
    reply.return_value(type(value).new_string(value.get_context(), json.dumps(replies)))
    return True


manager.connect("script-message-with-reply-received::runwayNative", receive)
view = WebKit2.WebView(user_content_manager=manager)
window = Gtk.OffscreenWindow()
window.add(view)
window.show_all()


def run(begin):
    """Runs the main loop until what `begin` has begun calls the function that it is passed, and returns that value."""
    loop, result = GLib.MainLoop(), []

    def end(value):
        result.append(value)
        loop.quit()

    begin(end)
    timer = GLib.timeout_add_seconds(30, loop.quit)
    if not result:
        loop.run()
    GLib.source_remove(timer) if result else sys.exit("webkit-relay: no result within 30 s")
    return result[0]


def load(address):
    def begin(end):
        def changed(_, event):
            if event == WebKit2.LoadEvent.FINISHED:
                view.disconnect(handler)
                end(None)

        handler = view.connect("load-changed", changed)
        view.load_uri(address)

    run(begin)


def evaluate(body, world=None):
    """Runs the body of an asynchronous function in the main frame, and returns its value."""
    def begin(end):
        def done(_, result):
            try:
                end(json.loads(view.call_async_javascript_function_finish(result).to_string()))
            except GLib.Error as error:
                end(error.message)

        text = f"return (globalThis.stringify ?? JSON.stringify)(await (async () => {{ {body} }})()) ?? 'null'"
        view.call_async_javascript_function(text, -1, None, world, None, None, done)

    return run(begin)


def check(claim, value, expected):
    if value != expected:
        failures.append(claim)
    print(f"webkit-relay: {claim}: {'yes' if value == expected else f'NO, {value}'}")


load(home + "/")
check("100 calls of the main frame resolve", evaluate("return await Promise.all(Array.from({ length: 100 }, kind))"), ["x"] * 100)
check("each with the origin of its document", {(call[0], call[1]) for call in calls}, {(home, True)})
check("and an id of its own", sorted(call[2]["id"] for call in calls), list(range(1, 101)))
check(
    "the page sees neither handler nor relay",
    evaluate("return [typeof globalThis.webkit?.messageHandlers?.runwayNative, typeof runwayNative, typeof runwayReply]"),
    ["undefined"] * 3)
check("the page can't replace the bridge", evaluate("try { globalThis.runway = 1 } catch {} return typeof runway"), "object")
evaluate("""const { port1, port2 } = new MessageChannel(); port1.onmessage = () => globalThis.stolen = true
    dispatchEvent(new MessageEvent('runway', { ports: [port2] })); port1.postMessage({ type: 'call', id: 999, name: 'echo', text: '{}' })
    await kind()""")
check("a forged port is not used", [call for call in calls if call[2]["id"] == 999], [])



def press():
    """Presses a key in the page, which is a gesture of the user."""
    event = Gdk.Event.new(Gdk.EventType.KEY_PRESS)
    event.window, event.keyval, event.send_event = view.get_window(), Gdk.KEY_a, False
    event.set_device(Gdk.Display.get_default().get_default_seat().get_keyboard())
    view.event(event)


evaluate("globalThis.keys = 0; addEventListener('keydown', event => { keys += event.isTrusted })")
press()
evaluate("while (!keys) await new Promise(done => setTimeout(done, 5)); await kind()")
check("the app learns of a gesture", gestures, [(home, True)])
evaluate("dispatchEvent(new KeyboardEvent('keydown', { key: 'a' })); await kind()")
check("and of none that a script made", len(gestures), 1)


def waiting(call):
    """Begins a call that stays in flight, and returns its message."""
    evaluate(call + "; await kind()")
    return next(call[2] for call in reversed(calls) if call[2]["name"] == "wait")


# A reply that was meant for a document that is gone.
old = waiting("globalThis.old = runway.call('wait')")
load(home + "/next")
new = waiting("globalThis.new = runway.call('wait')")
late = json.dumps([old["document"], old["generation"], "done", new["id"], "", '"late"'])
check("no reply reaches another document", evaluate(f"return runwayReply(...{late})", WORLD), False)

# Bytes in chunks, each of which is awaited.
head = waiting("globalThis.bytes = runway.call('wait').then(buffer => [...new Uint8Array(buffer)].join())")
reply = lambda kind, text: json.dumps([head["document"], head["generation"], kind, head["id"], "", text])
chunk = lambda values: base64.b64encode(bytes(values)).decode()
check("the page takes a chunk", evaluate(f"return runwayReply(...{reply('chunk', chunk([1, 2, 255]))})", WORLD), True)
check("and the next one", evaluate(f"return runwayReply(...{reply('chunk', chunk([4]))})", WORLD), True)
evaluate(f"runwayReply(...{reply('bytes', '')})", WORLD)
check("and joins them", evaluate("return await bytes"), "1,2,255,4")
head = waiting("""globalThis.controller = new AbortController()
    runway.call('wait', {}, { signal: controller.signal }).catch(() => {})""")
evaluate("controller.abort(); await kind()")
check("a call that was cancelled takes none", evaluate(f"return runwayReply(...{reply('chunk', chunk([1]))})", WORLD), False)

load(home + "/patched")
check("patched prototypes change nothing", evaluate("return await kind()"), "x")
check("all of them", evaluate("return isPatched"), True)
check("and see no reply", evaluate("return typeof stolen"), "undefined")

load(home + "/frames")
expected = {"127.0.0.1", "localhost", "srcdoc", "sandbox", "data", "blob"}
kinds = evaluate(f"while (Object.keys(kinds).length < {len(expected)}) await new Promise(done => setTimeout(done, 5)); return kinds")
check("child frames of every kind are refused", kinds, dict.fromkeys(expected, "foreignFrame"))
check("and the main frame beside them is not", evaluate("return await kind()"), "x")

load(home + "/sandboxed")
check("a sandboxed page has no origin", (evaluate("return await kind()"), calls[-1][0]), ("opaqueOrigin", "null"))
load(f"data:text/html,<script>{CALL}</script>")
check("nor has a data URL", (evaluate("return await kind()"), calls[-1][0]), ("opaqueOrigin", "null"))

print(f"webkit-relay: WebKitGTK {WebKit2.get_major_version()}.{WebKit2.get_minor_version()}.{WebKit2.get_micro_version()}, "
      f"{len(calls)} calls, {len(failures)} failed")
sys.exit(bool(failures))
