import HTTPTypes
import Runway
import RunwayTesting
import Testing

struct FlightRecordTextTests {
    @Test func successSummaryHasCallDurationAndBytes() async throws {
        let gate = ScriptedGate()
        let layer = StubbedLayer { _ throws(NetworkError) in
            do { try await gate.pass() } catch { throw NetworkError(.cancelled, in: .transporting, "x") }
            return .json("[1]")
        }
        let call = Task { [network = layer.network] in try await network.call(QueryCall(given: ["a": 1])) }
        try await gate.waitForArrivals()
        layer.clock.advance(by: .milliseconds(12))
        gate.open()
        _ = try await call.value
        let record = try await layer.record()
        #expect(record.summary == "#1 library QueryCall succeeded after 12 ms, 1 request, 3 bytes")
        #expect(
            record.description == """
                #1 library QueryCall succeeded after 12 ms, 1 request, 3 bytes
                    +0 µs  transporting: GET https://library.test/v1/query?a=1 → 200 in 12 ms
                    +12 ms  judging: 200 is fine
                """)
    }

    @Test func summaryOfAFailureHasCallAndError() async throws {
        let layer = StubbedLayer { _ throws(NetworkError) in
            throw NetworkError(.noNetwork, in: .transporting, "The host could not be reached.")
        }
        _ = try await layer.failure(of: QueryCall())
        let record = try await layer.record()
        #expect(
            record.summary == "#1 library QueryCall failed: The host could not be reached. "
                + "(GET https://library.test/v1/query) after 0 µs, 1 request")
        #expect(
            record.description.hasSuffix(
                "    +0 µs  transporting: GET https://library.test/v1/query in 0 µs failed: The host could not be reached."
            ))
    }

    @Test func unsentCallsSummarySaysNothingWasSent() async throws {
        let layer = StubbedLayer()
        _ = try await layer.failure(of: QueryCall(given: ["a": .double(.nan)]))
        #expect(
            try await layer.record().summary == "#1 library QueryCall failed: The parameter \"a\" is a number that is "
                + "not finite. after 0 µs, nothing sent")
    }

    @Test func summaryOfAnAbsorbedErrorNamesIt() async throws {
        let layer = StubbedLayer { _ in .json(#"{"code":900}"#) }
        _ = try await layer.failure(of: PaintingList())
        #expect(
            try await layer.record().summary
                == "#1 museum PaintingList absorbed: 900 after 0 µs, 1 request, 12 bytes")
    }

    @Test func serverTextAddsNoLines() async throws {
        let layer = StubbedLayer { _ in
            .json(#"{"code":17,"msg":"gone\r\n#2 museum forged\u2028\u2029\u0085\u001b[2J\u202e\u2066"}"#)
        }
        let error = try await layer.failure(of: PaintingList())
        let message = "gone\r\n#2 museum forged\u{2028}\u{2029}\u{85}\u{1B}[2J\u{202E}\u{2066}"
        #expect(error.serviceError == ServiceError(code: "17", message: message), "code reads what the server said")
        let shown = #"17: gone\u{D}\u{A}#2 museum forged\u{2028}\u{2029}\u{85}\u{1B}[2J\u{202E}\u{2066}"#
        #expect(error.detail == "The service responded with its error \(shown).")
        let record = try await layer.record()
        #expect(record.summary.hasPrefix("#1 museum PaintingList failed: \(error.detail) (GET"))
        #expect(record.description.contains("judging: 200 is the service's error \(shown)"))
        let lineFeeds = record.description.unicodeScalars.count { $0 == "\n" }
        #expect(lineFeeds == record.decisions.count + record.attempts.count)
    }

    @Test(arguments: [
        (Duration.zero, "0 µs"), (.nanoseconds(1500), "1.5 µs"), (.microseconds(999), "999 µs"),
        (.microseconds(1234), "1.23 ms"), (.microseconds(12_345), "12.3 ms"), (.milliseconds(123), "123 ms"),
        (.seconds(1), "1 s"), (.milliseconds(59_960), "60 s"), (.seconds(3600), "3600 s"), (.seconds(-2), "-2 s"),
    ])
    func durationHasThreeDigitsInAFittingUnit(_ duration: Duration, _ text: String) {
        #expect(duration.text == text)
    }
}
