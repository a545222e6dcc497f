import Foundation
import RunwayTesting
import Testing

@testable import Runway

/// The texts of decisions are for people: no name of a case stands in one.
struct DecisionTextTests {
    private static let flight = FlightID(number: 7)
    private static let second = Duration.seconds(1)
    private static let causes: [RetryCause] =
        [SendState.notSent, .sent, .unknown].flatMap { [.noNetwork($0), .timedOut($0)] } + [.overloaded, .status(503)]

    private static let kinds: [NetworkError.Kind] = [
        .invalidConfiguration, .invalidParameters, .noNetwork, .notCached, .timedOut, .cancelled, .notTrusted, .refused,
        .service, .needsLogin, .loginCancelled, .needsAccessToken, .invalidResponse, .overloaded, .unavailable,
        .storage,
        .queued,
    ]

    /// Decisions with every value that is a case of something.
    private static let decisions: [any StageDecision] = {
        var all: [any StageDecision] = []
        let refusals: [AdmissionRefusal] = [
            .noNetwork, .tooManyWaitForNetwork(maximum: 1), .flood(maximum: 1, within: second, refusedFor: second),
            .circuitOpen(host: "a.test", endpoint: "Homes", for: second), .queueFull(maximum: 1),
            .circuitOpen(host: "a.test", endpoint: nil, for: second),
        ]
        all += refusals.map { AdmissionDecision.refused($0) }
        all += [CallPriority.low, .normal, .high, .urgent].map { AdmissionDecision.waitedForSlot(second, priority: $0) }
        let queueCauses = kinds.map { QueueingDecision.Cause.failed($0) } + [.others, .status(503)]
        all += queueCauses.map { QueueingDecision.stored(change: UUID(), cause: $0) }
        all += queueCauses.map { QueueingDecision.failed(cause: $0) }
        all += kinds.map { AuthorizingDecision.notRenewed($0) }
        let reasons: [RetryDecision.Reason] = [
            .attemptsUsed(3), .notRepeatable, .bodyUsed, .budgetSpent, .circuitOpen, .deadline(wait: second),
        ]
        for cause in causes {
            all += reasons.map { RetryDecision.gaveUp($0, cause: cause) }
            all.append(RetryDecision.again(attempt: 2, wait: second, cause: cause, retryAfter: second))
            all.append(TransferDecision.interrupted(at: 1, wait: second, cause: cause))
            all.append(UploadDecision.interrupted(at: 1, wait: second, cause: cause))
        }
        all.append(UploadDecision.heldByCircuit(at: 1, wait: second))
        let mismatches: [TransferDecision.Mismatch] = [
            .whole, .range, .validator, .coding, .unsatisfied, .surplus, .digest, .complete,
        ]
        all += mismatches.map { TransferDecision.startedOver($0) }
        all += [HedgeDecision.Reason.budgetSpent, .circuitOpen, .constrained].map { HedgeDecision.notStarted($0) }
        all += [MergeDecision.Reason.endpoint, .unsuited, .http2, .noRoute].map { MergeDecision.notMerged($0) }
        let verdicts: [Verdict] = [
            .fine, .tokenRefused, .loginNeeded, .refused, .overloaded(retryAfter: second),
            .redirected,
        ]
        all += verdicts.map { JudgingDecision(status: 200, verdict: $0) }
        let unchanged: [CompressionDecision.Reason] = [
            .small(byteCount: 1), .coded, .compressedContents, .noGain, .stream,
        ]
        all += unchanged.map { CompressionDecision.unchanged($0) }
        let stale: [StaleReason] = [.requestAllows, .whileRevalidating, .responseAllows, .afterError, .disconnected]
        all += stale.map { HTTPCacheDecision.stale(by: second, $0) }
        let notStored: [NotStoredReason] = [
            .method, .status, .noStore, .notCacheable, .varies, .notFine, .partial, .tooLarge, .outdated,
        ]
        all += notStored.map { HTTPCacheDecision.notStored($0) }
        let failures: [PagingFailure] = [
            .doesNotConnect(requests: 3), .nothingNew(requests: 3), .repeatedCursor, .repeatedPage,
            .tooManyRows(9, limit: 5), .tooManyPages(limit: 5),
        ]
        all += failures.map { PagingDecision.failed($0) }
        all += [
            CallDecision.vetoedBeforeCall, CallDecision.vetoedProvisional, CallDecision.replacedRunning(1),
            CallDecision.accountChanged, CallDecision.resumed(flight),
        ]
        return all
    }()

    @Test func noTextHasTheNameOfACase() {
        #expect(Self.decisions.count > 120)
        for decision in Self.decisions {
            let text = decision.entry.text
            #expect(!text.contains(/[a-z][A-Z]/), "\(type(of: decision)): \(text)")
        }
    }

    /// Programs compare these names, which stay the same if a case is renamed.
    @Test func fieldsNameReasonsInWords() {
        for decision in Self.decisions {
            let fields = decision.entry.fields.filter { ["reason", "cause"].contains($0.key) }
            #expect(!fields.values.contains { $0.contains(/[a-z][A-Z]/) }, "\(type(of: decision)): \(fields)")
        }
    }

    @Test func storedChangesCauseIsSaidInWords() {
        let decision = QueueingDecision.failed(cause: .failed(.noNetwork))
        #expect(decision.entry.text == "no network: could not be stored")
        #expect(decision.entry.fields == ["cause": "no network"])
    }
}
