import InMemoryLogging
import Logging
import Testing

@testable import Runway

struct LogSinkTests {
    private func entries(_ outcome: FlightOutcome, at level: Logger.Level = .info) -> [InMemoryLogHandler.Entry] {
        var handler = InMemoryLogHandler()
        handler.logLevel = level
        LogSink(logger: Logger(label: "test") { [handler] _ in handler }).receive(.sample(outcome))
        return handler.entries
    }

    @Test func everyOutcomeHasItsLogLevel() {
        let service = ServiceError(code: "1")
        let expected: [(FlightOutcome, Logger.Level)] =
            [
                (.succeeded, .info), (.cancelled, .debug), (.replaced, .debug), (.vetoed, .notice),
                (.absorbed(service), .notice), (.ignored(running: FlightID(number: 1)), .debug),
            ]
            + [
                (.invalidConfiguration, .error), (.invalidParameters, .error), (.invalidResponse, .error),
                (.notTrusted, .error), (.storage, .error), (.notCached, .debug), (.noNetwork, .warning),
                (.timedOut, .warning),
                (.refused, .warning), (.service, .warning), (.needsLogin, .warning),
                (.needsAccessToken, .warning), (.overloaded, .warning), (.unavailable, .warning), (.cancelled, .debug),
                (.loginCancelled, .debug),
            ].map { (kind: NetworkError.Kind, level: Logger.Level) in
                (.failed(NetworkError(kind, in: .transporting, "x")), level)
            }
        for (outcome, level) in expected {
            let entries = entries(outcome, at: .debug)
            #expect(entries.first?.level == level, "\(outcome)")
            #expect("\(entries.first?.message ?? "")" == FlightRecord.sample(outcome).summary)
        }
    }

    @Test func informationIsOneLineWithItsMetadata() {
        let entries = entries(.succeeded)
        #expect(entries.count == 1)
        #expect(entries.first?.message == "#7 library BookSearch succeeded after 12 ms, 2 requests, 3 bytes")
        #expect(
            entries.first?.metadata
                == ["network": "default", "service": "library", "endpoint": "BookSearch", "outcome": "succeeded"])
        #expect(self.entries(.cancelled).isEmpty)
    }

    @Test func serverTextAddsNoEntries() {
        let message = "gone\r\n#8 library forged"
        let shown = #"gone\u{D}\u{A}#8 library forged"#
        let absorbed = entries(.absorbed(ServiceError(code: "1", message: message)))
        #expect(
            absorbed.map { "\($0.message)" }
                == ["#7 library BookSearch absorbed: 1: \(shown) after 12 ms, 2 requests, 3 bytes"])
        let handler = InMemoryLogHandler()
        var amendment = FlightRecord.sample()
        amendment.isAmendment = true
        amendment.decisions[0].decision = CallDecision.reformingFailed(reformer: "Books", detail: message)
        LogSink(logger: Logger(label: "test") { [handler] _ in handler }).receive(amendment)
        #expect(handler.entries.map { "\($0.message)" } == ["#7 Books failed: \(shown)"])
    }

    @Test func amendmentIsOneLineWithTheLastDecision() {
        let handler = InMemoryLogHandler()
        var amendment = FlightRecord.sample()
        amendment.isAmendment = true
        LogSink(logger: Logger(label: "test") { [handler] _ in handler }).receive(amendment)
        #expect(handler.entries.map { "\($0.message)" } == ["#7 following 302, hop 1"])
        #expect(handler.entries.map(\.level) == [.warning])
    }

    @Test func debuggingAddsACurlLineForEveryRequest() {
        let entries = entries(.succeeded, at: .debug)
        #expect(entries.map(\.level) == [.info, .debug, .debug])
        #expect(entries[1].message == "#7 curl --globoff 'https://library.test/v1/books'")
        #expect(entries[2].message == "#7 curl --globoff 'https://library.test/next'")
    }

    @Test func tracingAddsEveryDecision() {
        let entries = entries(.succeeded, at: .trace)
        #expect(entries.map(\.level) == [.info, .debug, .debug, .trace])
        #expect("\(entries[3].message)".contains("redirecting: following 302, hop 1"))
        #expect(
            "\(entries[3].message)".contains("transporting: GET https://library.test/next → 200 over HTTP/2 in 2 ms"))
    }
}
