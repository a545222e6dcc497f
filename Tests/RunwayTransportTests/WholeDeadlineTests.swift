import Foundation
import Runway
import RunwayTestServer
import RunwayTesting
import Testing

/// Calls with streamed bodies, which may take no longer than their whole deadline, however often a byte arrives.
@Suite(.timeLimit(.minutes(10)), .overEveryTransport)
struct WholeDeadlineTests {
    private let options = CallOptions(retry: .off, wholeDeadline: .seconds(20))

    /// Every part waits for one of these.
    private func dripping(_ gates: [ScriptedGate]) -> ScriptedResponse {
        gates.enumerated().reduce(.chunks((0...gates.count).map { "\($0)" })) { response, gate in
            response.pausing(.beforeChunk(gate.offset + 1), .gate(gate.element))
        }
    }

    @Test func wholeDeadlineEndsADrippingStream() async throws {
        try await withScriptedOrigin { origin in
            let (clock, records) = (ManualClock(), RecordCollector())
            let gates = [ScriptedGate(), ScriptedGate(), ScriptedGate()]
            origin.on("/a", respond: dripping(gates))
            let network = try NetworkLayer(to: origin.baseURL, clock: LayerClock(clock), sinks: [records])
            let response = try await network.stream(Fetch<GET>("a"), options: options)
            var parts = response.body.makeAsyncIterator()
            #expect(try await parts.next() == Array("0".utf8))
            for gate in gates.dropLast() {
                clock.advance(by: .seconds(7))
                gate.open()
                #expect(try await parts.next() != nil)
            }
            // Nothing was silent for longer than 7 seconds.
            let gate = gates[2]
            async let passed: Void = {
                try await gate.waitForArrivals()
                clock.advance(by: .seconds(7))
            }()
            for _ in 0..<2 {
                do {
                    _ = try await parts.next()
                    Issue.record("The stream went on.")
                } catch {
                    let error = error as? NetworkError
                    #expect(error?.kind == .timedOut)
                    #expect(error?.detail == "The call did not end within 20 s.")
                }
            }
            try await passed
            try await origin.waitForDisconnects(count: 1)
            let record = try #require(try await records.records(count: 1).first)
            guard let failure = record.outcome.error else {
                Issue.record("\(record.outcome)")
                return
            }
            #expect(failure.kind == .timedOut)
        }
    }

    @Test func streamThatEndsInTimeIsNotTouched() async throws {
        try await withScriptedOrigin { origin in
            let clock = ManualClock()
            origin.on("/a", respond: .chunks(["one", "two"]))
            let network = try NetworkLayer(to: origin.baseURL, clock: LayerClock(clock))
            let response = try await network.stream(Fetch<GET>("a"), options: options)
            clock.advance(by: .seconds(19))
            #expect(try await response.body.text() == "onetwo")
        }
    }

    @Test func aLateReaderGetsATimeout() async throws {
        try await withScriptedOrigin { origin in
            let clock = ManualClock()
            origin.on("/a", respond: .chunks(["one", "two"]))
            let network = try NetworkLayer(to: origin.baseURL, clock: LayerClock(clock))
            let response = try await network.stream(Fetch<GET>("a"), options: options)
            clock.advance(by: .seconds(20))
            #expect(try await response.body.failure().kind == .timedOut)
        }
    }

    @Test func headThatDoesNotComeEndsWithIt() async throws {
        try await withScriptedOrigin { origin in
            let clock = ManualClock()
            origin.on("/a", respond: .never)
            let network = try NetworkLayer(to: origin.baseURL, clock: LayerClock(clock))
            let options = options
            let call = Task { try await network.stream(Fetch<GET>("a"), options: options) }
            try await origin.waitForRequests(count: 1)
            clock.advance(by: .seconds(20))
            let error = await #expect(throws: NetworkError.self) { _ = try await call.value }
            #expect(error?.kind == .timedOut && error?.detail == "The call did not end within 20 s.")
        }
    }

    @Test func wholeDeadlineEndsASilentDownload() async throws {
        let folder = try TransferFolder()
        try await withScriptedOrigin { origin in
            let (clock, gate) = (ManualClock(), ScriptedGate())
            origin.on("/film", respond: .chunks(["one", "two"]).pausing(.betweenChunks, .gate(gate)))
            let network = try NetworkLayer(to: origin.baseURL, clock: LayerClock(clock))
            let options = options
            let download = Task {
                try await network.download(Fetch<GET>("film"), to: folder.file, options: options)
            }
            try await gate.waitForArrivals()
            clock.advance(by: .seconds(20))
            let error = await #expect(throws: NetworkError.self) { _ = try await download.value }
            #expect(error?.kind == .timedOut && error?.detail == "The call did not end within 20 s.")
        }
    }
}
