import Foundation
import Runway
import RunwayBridge
import RunwayChromium
import RunwayTesting
import Testing

@Suite(.enabled(if: SharedBrowser.isInstalled))
struct CallTests {
    @Test func callsReturnTheirOutput() async throws {
        try await Visit().run { (visit) async throws in
            let output = try await visit.page.evaluate("runway.call('echo', { text: 'ä\\u0000' })")
            #expect(output == #"{"text":"ä\u0000!"}"#)
            #expect(try await visit.kind(of: "runway.call('other')") == #""notGranted""#)
            #expect(try await visit.kind(of: "runway.call('echo', {})") == #""invalidInput""#)
            let records = try await visit.records.first(3)
            #expect(records.map(\.command) == ["echo", "other", "echo"])
            #expect(records.map(\.isRefusal) == [false, true, false])
            #expect(records.allSatisfy { $0.origin == visit.home })
        }
    }

    @Test func recordsNameTheFlights() async throws {
        let flights = RecordCollector()
        let network = NetworkLayer(transport: StubTransport { _ in .json("{}") }, sinks: [flights])
        let command = Command("shop.get", calling: Shop.self, below: ["orders"], on: network)
        try await Visit(commands: [command, .echo]).run { (visit) async throws in
            _ = try await network.call(Shop.get("orders"))
            #expect(try await visit.kind(of: "runway.call('shop.get', { path: 'orders/7' })") == #""done""#)
            #expect(try await visit.kind(of: "runway.call('shop.get', { path: 'orders/../7' })") == #""notGranted""#)
            #expect(try await visit.kind(of: "runway.call('echo', { text: '' })") == #""done""#)
            let named = try await visit.records.first(3).map(\.flights)
            #expect(named.map { $0.map(\.number) } == [[2], [], []])
            #expect(flights.records.map(\.id).contains(named[0]))
        }
    }

    @Test func bytesArriveUnderThePagesOrigin() async throws {
        let picture = Data((0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })
        let command = Command(bytes: "picture") { (_: NoValue, _) in picture }
        try await Visit(commands: [command]).run { (visit) async throws in
            let call = "runway.call('picture').then(b => new Uint8Array(b)).then(a => [a.length, a[77], a[2999999]])"
            #expect(try await visit.page.evaluate(call) == "[3000000,\(picture[77]),\(picture[2_999_999])]")
            #expect(try await visit.records.first(1).map(\.outputByteCount) == [picture.count])
        }
    }

    @Test func progressArrivesBeforeTheOutput() async throws {
        let command = Command("upload") { (_: NoValue, call) in
            for part in 1...20 { try await call.send(part) }
            return "done"
        }
        try await Visit(commands: [command]).run { (visit) async throws in
            let call = """
                (async () => {
                  const parts = []
                  const output = await runway.call('upload', {}, { onProgress: part => parts.push(part) })
                  return [...parts, output]
                })()
                """
            let parts = (1...20).map(String.init).joined(separator: ",")
            #expect(try await visit.page.evaluate(call) == "[\(parts),\"done\"]")
        }
    }

    @Test func aStreamWaitsForItsReader() async throws {
        let sent = AwaitedValue(0)
        let ended = AwaitedValue(0)
        let command = Command("ticks") { (_: NoValue, call) in
            defer { ended.update { $0 += 1 } }
            for number in 1... {
                try await call.send(number)
                sent.update { $0 += 1 }
            }
            return NoValue()
        }
        try await Visit(limits: BridgeLimits(partsAhead: 4), commands: [command]).run { (visit) async throws in
            let start = "(globalThis.ticks = runway.stream('ticks')).next().then(part => part.value)"
            #expect(try await visit.page.evaluate(start) == "1")
            try await sent.wait(atLeast: 5, within: .seconds(20), subject: "parts")
            // One part was taken, and four are ahead. More arrive only if the page asks.
            #expect(try await visit.page.evaluate("new Promise(done => setTimeout(done, 50, 0))") == "0")
            #expect(sent.value == 5)
            #expect(try await visit.page.evaluate("ticks.next().then(x => x.value)") == "2")
            try await sent.wait(atLeast: 6, within: .seconds(20), subject: "parts")
            #expect(try await visit.page.evaluate("ticks.return().then(x => x.done)") == "true")
            try await ended.wait(atLeast: 1, within: .seconds(20), subject: "the end of the command")
            #expect(try await visit.records.first(1).map(\.error?.kind) == [.cancelled])
        }
    }

    @Test func aSignalCancelsTheCommand() async throws {
        let commands = WaitingCommand()
        try await Visit(commands: [commands.command]).run { (visit) async throws in
            let start = """
                (() => {
                  globalThis.stop = new AbortController()
                  globalThis.call = runway.call('wait', {}, { signal: stop.signal }).catch(error => error)
                })()
                """
            _ = try await visit.page.evaluate(start)
            try await commands.started.wait(atLeast: 1, within: .seconds(20), subject: "the command")
            #expect(try await visit.page.evaluate("(stop.abort('enough'), call)") == #""enough""#)
            try await commands.cancelled.wait(atLeast: 1, within: .seconds(20), subject: "the cancellation")
            #expect(try await visit.records.first(1).map(\.error?.kind) == [.cancelled])
            let timedOut = try await visit.kind(of: "runway.call('wait', {}, { signal: AbortSignal.timeout(20) })")
            #expect(timedOut.contains("Timeout"))
        }
    }

    @Test func aCommandEndsAtItsDeadline() async throws {
        let clock = ManualClock()
        let commands = WaitingCommand()
        try await Visit(clock: LayerClock(clock), commands: [commands.command]).run { (visit) async throws in
            async let kind = visit.kind(of: "runway.call('wait')")
            try await commands.started.wait(atLeast: 1, within: .seconds(20), subject: "the command")
            try await clock.waitForSleepers()
            clock.advance(by: .seconds(30))
            #expect(try await kind == #""deadlineExceeded""#)
        }
    }
}

private enum Shop: APIService {
    static let environments: [ServiceEnvironment: String] = [.release: "https://shop.example"]
}

/// A command that ends when it is cancelled.
struct WaitingCommand: Sendable {
    let started = AwaitedValue(0)
    let cancelled = AwaitedValue(0)

    var command: Command {
        Command("wait") { [self] (_: NoValue, _) in
            started.update { $0 += 1 }
            do { try await Task.sleep(for: .seconds(600)) } catch { cancelled.update { $0 += 1 } }
            return NoValue()
        }
    }
}
