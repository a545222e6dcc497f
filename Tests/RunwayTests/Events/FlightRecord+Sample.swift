import Foundation
import HTTPTypes
import ServiceContextModule

@testable import Runway

extension FlightRecord {
    /// A call that was redirected once.
    static func sample(_ outcome: FlightOutcome = .succeeded, traceContext: ServiceContext? = nil) -> FlightRecord {
        FlightRecord(
            id: FlightID(number: 7), network: "default", service: "library", endpoint: "BookSearch",
            date: Date(timeIntervalSince1970: 1_767_225_600), duration: .milliseconds(12),
            parameters: ["title": "Momo"],
            decisions: [
                Decision(
                    elapsed: .milliseconds(5), step: .redirecting,
                    decision: RedirectDecision.followed(status: 302, hop: 1))
            ],
            attempts: [
                Attempt(
                    method: .get, url: "https://library.test/v1/books", headerFields: [:], requestByteCount: 0,
                    start: .milliseconds(1), end: .milliseconds(5), status: .found, responseByteCount: 0),
                Attempt(
                    method: .get, url: "https://library.test/next", headerFields: [:], requestByteCount: 0,
                    start: .milliseconds(6), end: .milliseconds(8), status: .ok, responseByteCount: 3,
                    httpVersion: "HTTP/2"),
            ],
            source: .network, outcome: outcome, traceContext: traceContext)
    }
}
