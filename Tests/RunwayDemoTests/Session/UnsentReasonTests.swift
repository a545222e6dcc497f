import Foundation
import HTTPTypes
import Testing

@testable import Runway
@testable import RunwayDemo

/// Why a call made no request, read from its record.
struct UnsentReasonTests {
    private func record(
        _ outcome: FlightOutcome, source: ResponseSource? = nil, decisions: [any StageDecision] = []
    ) -> FlightRecord {
        FlightRecord(
            id: FlightID(number: 2), network: "demo", service: "rental", endpoint: "RentalList", date: Date(),
            duration: .zero, parameters: [:],
            decisions: decisions.map { FlightRecord.Decision(elapsed: .zero, step: .landing, decision: $0) },
            attempts: [], source: source, outcome: outcome)
    }

    @Test func aCallThatMadeARequestHasNone() {
        var sent = record(.succeeded)
        sent.attempts = [FlightRecord.Attempt(method: .get, url: "", headerFields: [:], start: .zero)]
        #expect(UnsentReason(sent) == nil)
    }

    @Test func everyReasonIsReadFromItsDecision() {
        let first = FlightID(number: 1)
        let open = AdmissionDecision.refused(.circuitOpen(host: "a", endpoint: "b", for: .seconds(1)))
        let overloaded = NetworkError(.overloaded, in: .admission, "")
        #expect(UnsentReason(record(.succeeded, source: .cache)) == .fromCache)
        #expect(UnsentReason(record(.succeeded, source: .staleCache)) == .fromCache)
        #expect(
            UnsentReason(record(.succeeded, source: .network, decisions: [SharingDecision.joined(first)])) == .joined)
        #expect(
            UnsentReason(record(.succeeded, decisions: [MergeDecision.carried(position: 1, count: 2, by: first)]))
                == .merged)
        #expect(UnsentReason(record(.ignored(running: first))) == .ignored)
        #expect(UnsentReason(record(.failed(overloaded), decisions: [open])) == .circuitOpen)
        #expect(
            UnsentReason(record(.failed(overloaded), decisions: [AdmissionDecision.refused(.queueFull(maximum: 1))]))
                == .notAdmitted)
        #expect(UnsentReason(record(.failed(NetworkError(.invalidParameters, in: .validating, "")))) == .badParameters)
        #expect(
            UnsentReason(record(.failed(NetworkError(.needsLogin, in: .authorizing, "")))) == .withoutToken)
        #expect(UnsentReason(record(.vetoed)) == .vetoed)
        #expect(UnsentReason(record(.cancelled)) == .ended)
        #expect(UnsentReason(record(.replaced)) == .ended)
    }

    @Test func anUnexplainedSuccessIsReported() {
        #expect(UnsentReason(record(.succeeded, source: .network)) == .unexplained)
        #expect(UnsentReason(record(.failed(NetworkError(.timedOut, in: .transporting, "")))) == .unexplained)
    }
}
