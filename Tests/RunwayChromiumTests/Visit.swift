import Foundation
import HTTPTypes
import Runway
import RunwayBridge
import RunwayChromium
import RunwayTestServer
import RunwayTesting
import Synchronization
import Testing

/// One browser for all tests, since its start takes a second. It ends with the process.
enum SharedBrowser {
    /// With `RUNWAY_REQUIRE_BROWSER` the tests run, and fail, also without a browser.
    static let isInstalled =
        ChromiumBrowser.installed != nil || ProcessInfo.processInfo.environment["RUNWAY_REQUIRE_BROWSER"] == "1"
    private static let browser = Task { try await ChromiumBrowser(program: ChromiumBrowser.installed ?? "") }

    static var value: ChromiumBrowser { get async throws { try await browser.value } }
}

/// Collects records, and waits for them.
final class BridgeRecords: BridgeSink {
    /// Guards the records, oldest first.
    private let records = Mutex<[BridgeRecord]>([])
    private let count = AwaitedValue(0)

    var all: [BridgeRecord] { records.withLock { $0 } }

    func receive(_ record: BridgeRecord) {
        records.withLock { $0.append(record) }
        count.update { $0 += 1 }
    }

    /// Waits for so many records, and returns them.
    func first(_ number: Int) async throws -> [BridgeRecord] {
        try await count.wait(atLeast: number, within: .seconds(20), subject: "records of the bridge")
        return Array(all.prefix(number))
    }
}

/// A web site of two origins, and a page of the browser that visits it.
struct Visit {
    let page: ChromiumPage
    let bridge: Bridge
    let records = BridgeRecords()
    let site: ScriptedOrigin
    /// The origin that is granted the commands.
    let home: String
    /// The same server under another host.
    let elsewhere: String

    /// - Parameter pages: The pages of the site, by path, as HTML.
    init(
        _ pages: [String: String] = [:], headerFields: HTTPFields = [:], limits: BridgeLimits = BridgeLimits(),
        clock: LayerClock = .system, commands: [Command] = [.echo], others: [Capability] = [],
        bundles: [BundleFiles] = []
    ) async throws {
        site = try await ScriptedOrigin.start()
        (home, elsewhere) = ("http://127.0.0.1:\(site.port)", "http://localhost:\(site.port)")
        site.otherwise { [elsewhere] request in
            let path = String(request.path.prefix { $0 != "?" })
            if path == "/redirect" { return .redirect(to: elsewhere + "/") }
            let html = (pages[path] ?? "<p>hello").replacing("ELSEWHERE", with: elsewhere)
            var fields = headerFields
            fields[.contentType] = "text/html"
            return ScriptedResponse(headerFields: fields, chunks: [Array(html.utf8)])
        }
        let granted = RunwayBridge.Origin(home)
        let origin = try #require(granted)
        bridge = Bridge(
            capabilities: [Capability(origin, commands: commands)] + others, bundles: bundles, limits: limits,
            sinks: [records], clock: clock)
        page = try await SharedBrowser.value.openPage(bridge)
        try await page.load(home + "/")
        _ = try await page.evaluate(
            "document.readyState !== 'loading' || new Promise(done => addEventListener('DOMContentLoaded', done))")
    }

    /// Runs the test, and closes the page.
    func run(_ test: (Visit) async throws -> Void) async throws {
        do { try await test(self) } catch {
            try? await page.close()
            throw error
        }
        try await page.close()
        await site.shutdown()
    }

    /// Returns the kind of the error of a call that the page makes.
    func kind(of call: String) async throws -> String {
        try await page.evaluate("\(call).then(() => 'done', error => error.kind ?? String(error))")
    }

    /// Returns a value of the page, as soon as it has one.
    func value(of expression: String) async throws -> String {
        try await page.evaluate(
            """
            new Promise(done => {
              const look = () => { const value = \(expression); value === undefined ? setTimeout(look, 5) : done(value) }
              look()
            })
            """)
    }
}

struct Text: Codable, Sendable {
    var text = ""
}

extension Command {
    static let echo = Command("echo") { (input: Text, _) in Text(text: input.text + "!") }
}
