import Foundation
import HTTPTypes
import Testing

@testable import Runway
@testable import RunwayDemo

/// Why a call made no request, read from its record.
struct GroundingTests {
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
        var flown = record(.succeeded)
        flown.attempts = [FlightRecord.Attempt(method: .get, url: "", headerFields: [:], start: .zero)]
        #expect(Grounding(flown) == nil)
    }

    @Test func everyReasonIsReadFromItsDecision() {
        let first = FlightID(number: 1)
        let open = Admission.refused(.circuitOpen(host: "a", for: .seconds(1)))
        let overloaded = NetworkError(.overloaded, in: .stage(.admission), "")
        #expect(Grounding(record(.succeeded, source: .cache)) == .fromCache)
        #expect(Grounding(record(.succeeded, source: .staleCache)) == .fromCache)
        #expect(Grounding(record(.succeeded, source: .network, decisions: [SharingDecision.joined(first)])) == .joined)
        #expect(
            Grounding(record(.succeeded, decisions: [Merge.carried(position: 1, count: 2, by: first)])) == .merged)
        #expect(Grounding(record(.ignored(running: first))) == .ignored)
        #expect(Grounding(record(.failed(overloaded), decisions: [open])) == .circuitOpen)
        #expect(
            Grounding(record(.failed(overloaded), decisions: [Admission.refused(.queueFull(maximum: 1))]))
                == .notAdmitted)
        #expect(Grounding(record(.failed(NetworkError(.invalidParameters, in: .validating, "")))) == .badParameters)
        #expect(
            Grounding(record(.failed(NetworkError(.needsLogin, in: .stage(.authorizing), "")))) == .withoutToken)
        #expect(Grounding(record(.vetoed)) == .vetoed)
        #expect(Grounding(record(.cancelled)) == .ended)
        #expect(Grounding(record(.replaced)) == .ended)
    }

    @Test func aSuccessThatNothingExplainsIsSaidToBeSo() {
        #expect(Grounding(record(.succeeded, source: .network)) == .unexplained)
        #expect(Grounding(record(.failed(NetworkError(.timedOut, in: .transporting, "")))) == .unexplained)
    }
}
