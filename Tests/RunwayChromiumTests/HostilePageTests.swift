import Runway
import RunwayBridge
import RunwayTesting
import Synchronization
import Testing

@testable import RunwayChromium

@Suite(.enabled(if: SharedBrowser.isInstalled), .timeLimit(.minutes(5)))
struct HostilePageTests {
    /// Calls the bridge of a window, and sends the kind of the refusal to another window.
    private static func calling(_ caller: String, reportingTo reader: String) -> String {
        """
        <script>\(caller).runway.call('echo', { text: '' })
          .then(() => 'done', error => error.kind).then(kind => \(reader).postMessage({ kind }, '*'))</script>
        """
    }

    /// The beginning of a page that stores the first message.
    private static let reading =
        "<body><script>globalThis.kind = new Promise(done => addEventListener('message', e => done(e.data.kind)))</script>"

    private static let caller = calling("window", reportingTo: "parent")
    private static let escapedCaller = caller.utf8.map { "%u00" + ($0 < 16 ? "0" : "") + String($0, radix: 16) }
        .joined()

    @Test(arguments: [
        "<iframe src='ELSEWHERE/frame'></iframe>", "<iframe src='/frame'></iframe>",
        "<iframe sandbox='allow-scripts' src='/frame'></iframe>", "<iframe srcdoc=\"\(caller)\"></iframe>",
        "<iframe src=\"data:text/html,\(caller)\"></iframe>", "<iframe src=\"javascript:`\(caller)`\"></iframe>",
        """
        <script>
          const frame = document.createElement('iframe')
          frame.src = URL.createObjectURL(new Blob([unescape(`\(escapedCaller)`)], { type: 'text/html' }))
          document.body.append(frame)
        </script>
        """,
        "<iframe src='about:blank' id='blank'></iframe>\(calling("blank.contentWindow", reportingTo: "window"))",
        "<iframe id='blank'></iframe>\(calling("blank.contentWindow", reportingTo: "window"))",
    ])
    func framesAreRefused(_ frame: String) async throws {
        try await Visit(["/": Self.reading + frame, "/frame": Self.caller]).run { (visit) async throws in
            #expect(try await visit.page.evaluate("kind") == #""foreignFrame""#)
            let record = try await visit.records.first(1)[0]
            #expect(record.isRefusal && record.error?.kind == .foreignFrame && record.command == "echo")
        }
    }

    /// Documented, and not preventable: an origin is one trust domain. Only another origin ends it.
    @Test(arguments: [
        ("<iframe src='/frame'></iframe>", "done"), ("<iframe srcdoc=\"\(parentCaller)\"></iframe>", "done"),
        ("<iframe sandbox='allow-scripts allow-same-origin' src='/frame'></iframe>", "done"),
        ("<iframe sandbox='allow-scripts' src='/frame'></iframe>", "SecurityError"),
        ("<iframe src='ELSEWHERE/frame'></iframe>", "SecurityError"),
    ])
    func sameOriginFramesActThroughTheirParent(frame: String, kind: String) async throws {
        let pages = ["/": Self.reading + frame, "/frame": Self.parentCaller]
        try await Visit(pages).run { (visit) async throws in
            #expect(try await visit.page.evaluate("kind") == "\"\(kind)\"")
            let commands = kind == "done" ? ["echo"] : []
            // A record follows the reply that it is about.
            _ = try await visit.records.first(commands.count)
            #expect(visit.records.all.map(\.command) == commands)
        }
    }

    /// Calls the bridge of the parent, and sends the kind of the error to it.
    private static let parentCaller = """
        <script>(async () => parent.runway.call('echo', { text: '' }))()
          .then(() => 'done', error => error.kind ?? error.name).then(kind => parent.postMessage({ kind }, '*'))</script>
        """

    @Test func patchedPrototypesSeeNothing() async throws {
        let patches = """
            (() => {
              globalThis.seen = []
              const { apply } = Reflect
              const note = name => { seen[seen.length] = name }
              const spy = (object, name) => {
                const own = object[name]
                object[name] = function (...all) { note(name); return apply(own, this, all) }
              }
              spy(MessagePort.prototype, 'postMessage'); spy(EventTarget.prototype, 'dispatchEvent')
              spy(JSON, 'stringify'); spy(JSON, 'parse'); spy(globalThis, 'fetch')
              spy(Function.prototype, 'call'); spy(Array.prototype, 'push')
              Object.defineProperty(Array.prototype, Symbol.iterator, { get() { note('iterator') } })
              Object.defineProperty(Object.prototype, 'type', { set() { note('type') }, configurable: true })
              spy(Object, 'defineProperty')
              globalThis.Promise = class { constructor() { note('Promise') } }
              globalThis.MessageChannel = globalThis.MessageEvent = undefined
              runway = undefined; delete globalThis.runway
            })()
            """
        try await Visit().run { (visit) async throws in
            let call = "globalThis.result = await runway.call('echo', { text: 'a' }); globalThis.count = seen.length"
            _ = try await visit.page.evaluate("(async () => { \(patches); \(call) })()")
            #expect(try await visit.page.evaluate("result.text") == #""a!""#)
            let seen = try await visit.page.evaluate("seen.slice(0, count)")
            #expect(seen == "[]")
        }
    }

    @Test func forgedRepliesResolveNothing() async throws {
        let commands = WaitingCommand()
        let forgeries = """
            (() => {
              globalThis.state = 'pending'
              runway.call('wait').then(() => state = 'done', () => state = 'failed')
              const reply = { type: 'done', id: 1, text: '1' }
              const { port1, port2 } = new MessageChannel()
              dispatchEvent(new MessageEvent('runway', { ports: [port2], data: reply }))
              dispatchEvent(new MessageEvent('message', { data: reply }))
              postMessage(reply, '*'); port1.postMessage(reply)
              port1.postMessage({ type: 'call', id: 1, name: 'echo', text: '{"text":""}' })
              globalThis.runwayReply?.('', 1, 'done', 1, '', '1'); globalThis.runwayNative?.('')
              return [typeof runwayReply, typeof runwayNative]
            })()
            """
        try await Visit(commands: [commands.command, .echo]).run { (visit) async throws in
            #expect(try await visit.page.evaluate(forgeries) == #"["undefined","undefined"]"#)
            #expect(try await visit.kind(of: "runway.call('echo', { text: '' })") == #""done""#)
            #expect(try await visit.page.evaluate("state") == #""pending""#)
            #expect(visit.records.all.map(\.command) == ["echo"])
        }
    }

    @Test func repeatedRepliesHaveNoEffect() async throws {
        let errors = Mutex<[String]>([])
        try await Visit().run { (visit) async throws in
            visit.page.onLog { text in errors.withLock { $0.append(text) } }
            let world = try await SharedBrowser.value.pipe.send(
                "Page.createIsolatedWorld", ["frameId": .string(visit.page.target), "worldName": "runway"],
                in: visit.page.session)
            let twice = """
                (() => {
                  const reply = runwayReply
                  const before = []
                  globalThis.runwayReply = (...all) => {
                    before.push(all)
                    for (const each of before) { reply(...each); reply(each[0], each[1] + 1, ...each.slice(2)) }
                  }
                  return true
                })()
                """
            let isChanged = try await SharedBrowser.value.pipe.send(
                "Runtime.evaluate",
                ["expression": .string(twice), "contextId": world["executionContextId"], "returnByValue": true],
                in: visit.page.session)
            #expect(isChanged["result"]["value"] == true)
            let calls = "Promise.all([...'abc'].map(text => runway.call('echo', { text }).then(({ text }) => text)))"
            for _ in 0..<3 { #expect(try await visit.page.evaluate(calls) == #"["a!","b!","c!"]"#) }
            #expect(errors.withLock { $0 }.isEmpty)
            #expect(try await visit.records.first(9).allSatisfy { $0.error == nil })
        }
    }

    @Test func oneGestureAllowsOneCall() async throws {
        let change = Command("change", isUnsafe: true) { (_: NoValue, call) in call.idempotencyKey }
        let html = """
            <body style='margin: 0'><script>globalThis.clicks = 0; addEventListener('message', () => clicks += 1)</script>
            <iframe src='ELSEWHERE/ad' style='position: absolute; top: 100px; border: 0'></iframe>
            """
        let ad = "<script>addEventListener('pointerup', () => parent.postMessage(1, '*'))</script>"
        try await Visit(["/": html, "/ad": ad], commands: [change]).run { (visit) async throws in
            let call = "runway.call('change')"
            #expect(try await visit.kind(of: call) == #""gestureNeeded""#)
            // A script's click, a frame's click and the browser's "user activation" are no gestures of the page.
            let scripted = "(document.body.click(), dispatchEvent(new PointerEvent('pointerup')))"
            _ = try await visit.page.evaluate(scripted, asGesture: true)
            #expect(try await visit.kind(of: call) == #""gestureNeeded""#)
            // Until the frame is on the screen, a click at its place is one on the page, whose gesture is used here.
            repeat {
                try await visit.page.click(x: 50, y: 150)
                _ = try await visit.kind(of: call)
            } while try await visit.page.evaluate("clicks") == "0"
            try await visit.page.click(x: 50, y: 150)
            #expect(try await visit.value(of: "clicks > 1 ? 1 : undefined") == "1")
            #expect(try await visit.page.evaluate("navigator.userActivation.isActive") == "true")
            #expect(try await visit.kind(of: call) == #""gestureNeeded""#)
            try await visit.page.click(x: 50, y: 50)
            let twoCalls = "Promise.all([1, 2].map(() => \(call).then(() => 'done', error => error.kind)))"
            #expect(try await visit.page.evaluate(twoCalls) == #"["done","gestureNeeded"]"#)
            let later = "addEventListener('click', () => setTimeout(() => { globalThis.isLater = 1 }, 1050))"
            _ = try await visit.page.evaluate(later)
            try await visit.page.click(x: 50, y: 50)
            #expect(try await visit.value(of: "globalThis.isLater") == "1")
            #expect(try await visit.kind(of: call) == #""gestureNeeded""#)
        }
    }

    @Test func floodsAreRefusedAndCounted() async throws {
        let commands = WaitingCommand()
        let limits = BridgeLimits(maximumCallsInFlight: 5, callsPerSecond: 100_000)
        try await Visit(limits: limits, commands: [commands.command]).run { (visit) async throws in
            let flood = """
                (() => {
                  const calls = Array.from({ length: 3000 }, () => runway.call('wait').catch(error => error.kind))
                  return Promise.all(calls.slice(5)).then(kinds => [...new Set(kinds)])
                })()
                """
            #expect(try await visit.page.evaluate(flood) == #"["busy"]"#)
            let records = try await visit.records.first(11)
            #expect(records.allSatisfy { $0.isRefusal && $0.error?.kind == .busy })
            #expect(records.filter { $0.count == 1 }.count == 10)
            var number = 11
            while visit.records.all.reduce(0, { $0 + $1.count }) < 2995, number < 20 {
                number += 1
                _ = try await visit.records.first(number)
            }
            #expect(visit.records.all.reduce(0) { $0 + $1.count } == 2995)
            #expect(commands.started.value == 5)
        }
    }

    @Test func hugeAndDeepInputsAreRefused() async throws {
        try await Visit().run { (visit) async throws in
            #expect(try await visit.kind(of: "runway.call('echo', { text: 'x'.repeat(64 << 20) })") == #""tooLarge""#)
            let deep = "[...Array(10000)].reduce(value => [value], 0)"
            let deepKind = try await visit.kind(of: "(async () => runway.call('echo', \(deep)))()")
            #expect(deepKind == #""tooDeep""# || deepKind.contains("call stack"))
            #expect(
                try await visit.kind(of: "runway.call('echo', \(deep.replacing("10000", with: "2000")))")
                    == #""tooDeep""#)
            #expect(try await visit.records.first(2).map(\.error?.kind).prefix(2).contains(.tooLarge))
            #expect(try await visit.kind(of: "runway.call('echo', { text: '' })") == #""done""#)
        }
    }

    @Test func aPopupHasNoBridgeAndIsClosed() async throws {
        try await Visit().run { (visit) async throws in
            let open = "((globalThis.popup = window.open('/other')) !== null && popup.runway === undefined)"
            #expect(try await visit.page.evaluate(open, asGesture: true) == "true")
            #expect(try await visit.records.first(1).map(\.error?.kind) == [.popup])
            #expect(try await visit.value(of: "popup.closed ? 1 : undefined") == "1")
        }
    }
}
