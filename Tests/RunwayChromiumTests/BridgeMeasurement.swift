import Foundation
import RunwayBridge
import Synchronization
import Testing

@testable import RunwayChromium

/// Compares the bridge with the least that a page's call can cost. Runs by `Scripts/bridge.sh` only, and prints.
@Suite(.enabled(if: SharedBrowser.isMeasured), .serialized)
struct BridgeMeasurement {
    /// Makes calls one after the other, and returns the time of each in milliseconds.
    private static func timing(_ count: Int, _ call: String) -> String {
        """
        (async () => {
          const times = []
          for (let i = 0; i < \(count); i++) {
            const start = performance.now()
            await \(call)
            times.push(performance.now() - start)
          }
          return times
        })()
        """
    }

    private static func times(_ json: String) throws -> [Double] {
        try JSONDecoder().decode([Double].self, from: Data(json.utf8))
    }

    @Test func callsCostLittleMoreThanABareBinding() async throws {
        let bare = try await BareBinding()
        let limits = BridgeLimits(callsPerSecond: 1_000_000)
        try await Visit(limits: limits).run { (visit) async throws in
            var (bridged, unbridged): ([Double], [Double]) = ([], [])
            let call = "runway.call('echo', { text: 'x' })"
            for _ in 0..<20 {
                unbridged += try Self.times(await bare.evaluate(Self.timing(500, #"call('{"text":"x"}')"#)))
                bridged += try Self.times(await visit.page.evaluate(Self.timing(500, call)))
            }
            let (mean, bareMean) = (bridged.reduce(0, +) / 10_000, unbridged.reduce(0, +) / 10_000)
            let (sorted, bareSorted) = (bridged.sorted(), unbridged.sorted())
            print("calls: \(mean) ms each, bare \(bareMean) ms, ratio \(mean / bareMean)")
            print("median \(sorted[5000]) and \(bareSorted[5000]) ms, p99 \(sorted[9900]) and \(bareSorted[9900]) ms")
            #expect(mean / bareMean <= 1.4 && sorted[9900] <= 2.5)
        }
        bare.pipe.close()
    }

    @Test func bytesAreFasterThanBase64() async throws {
        let data = Data((0..<(16 << 20)).map { UInt8(truncatingIfNeeded: ($0 &* 2_654_435_761) >> 7) })
        let bytes = Command(bytes: "bytes") { (_: NoValue, _) in data }
        let text = Command("base64") { (_: NoValue, _) in data.base64EncodedString() }
        try await Visit(commands: [bytes, text]).run { (visit) async throws in
            let decoding = "Uint8Array.from(atob(text), letter => letter.charCodeAt(0))"
            var (fast, slow): ([Double], [Double]) = ([], [])
            for _ in 0..<5 {
                fast += try Self.times(await visit.page.evaluate(Self.timing(1, "runway.call('bytes')")))
                slow += try Self.times(
                    await visit.page.evaluate(
                        Self.timing(
                            1, "runway.call('base64').then(text => Uint8Array.fromBase64?.(text) ?? \(decoding))")))
            }
            let (median, slowMedian) = (fast.sorted()[2], slow.sorted()[2])
            print("16 MB: \(median) ms, base64 \(slowMedian) ms, \(slowMedian / median) times faster")
            let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
            print(status.split(separator: "\n").filter { $0.hasPrefix("VmHWM") || $0.hasPrefix("VmRSS") })
            #expect(slowMedian / median >= 7)
        }
    }
}

/// A binding of an isolated world and a reply to its context, without anything between them.
private final class BareBinding: Sendable {
    let pipe: DevToolsPipe
    private let session: String
    private let context: String

    init() async throws {
        let profile = URL.temporaryDirectory.appending(path: "runway-chromium-\(UUID().uuidString)")
        let arguments = ["--remote-debugging-pipe=cbor", "--user-data-dir=\(profile.path)", "--headless=new"]
        pipe = try DevToolsPipe(
            program: ChromiumBrowser.installed ?? "", arguments: arguments + (geteuid() == 0 ? ["--no-sandbox"] : []),
            removing: profile)
        let created = Mutex("")
        let (contexts, opened) = AsyncStream<String>.makeStream()
        pipe.onEvent { [pipe] method, parameters, session in
            if method == "Runtime.executionContextCreated", parameters["context"]["name"].string == "bare" {
                let id = parameters["context"]["uniqueId"].string ?? ""
                created.withLock { $0 = id }
                opened.yield(id)
            } else if method == "Runtime.bindingCalled" {
                pipe.post(
                    "Runtime.callFunctionOn",
                    [
                        "functionDeclaration": "function (text) { reply(text) }", "silent": true,
                        "uniqueContextId": .string(created.withLock { $0 }),
                        "arguments": [["value": parameters["payload"]]],
                    ], in: session)
            }
        } end: {
        }
        let target = try await pipe.send("Target.createTarget", ["url": "about:blank"])["targetId"]
        let attached = try await pipe.send("Target.attachToTarget", ["targetId": target, "flatten": true])
        session = attached["sessionId"].string ?? ""
        pipe.post("Runtime.enable", in: session)
        pipe.post("Runtime.addBinding", ["name": "native", "executionContextName": "bare"], in: session)
        pipe.post("Page.createIsolatedWorld", ["frameId": target, "worldName": "bare"], in: session)
        context = await contexts.first { _ in true } ?? ""
        let call =
            "globalThis.reply = text => settle(text); globalThis.call = text => new Promise(done => { globalThis.settle = done; native(text) })"
        _ = try await evaluate("(() => { \(call) })()")
    }

    func evaluate(_ expression: String) async throws -> String {
        let result = try await pipe.send(
            "Runtime.evaluate",
            [
                "expression": .string("(async () => JSON.stringify(await (\(expression))))()"), "awaitPromise": true,
                "returnByValue": true, "uniqueContextId": .string(context),
            ], in: session)
        return result["result"]["value"].string ?? "undefined"
    }
}
