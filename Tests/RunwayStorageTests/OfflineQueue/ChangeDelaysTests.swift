import Foundation
import HTTPTypes
import Runway
import RunwayJSON
import Testing

@testable import RunwayStorage

struct ChangeDelaysTests {
    private typealias Schedule = SendSchedule<ChangeDelays>

    private func schedule() -> Schedule {
        let options = OfflineQueueOptions()
        return Schedule(
            ChangeDelays(), SendPace(gap: .zero, backoff: options.backoff, interval: options.interval),
            isNetworkAllowed: true, random: ExtremeGenerator(isGreatest: true))
    }

    private func step(
        _ schedule: inout Schedule, _ scopes: [String] = ["a"], others: Bool = false, network: Bool = true,
        at now: Duration = .zero
    ) -> SendStep {
        schedule.step(scopes, hasOthers: others, isNetworkAllowed: network, at: now)
    }

    @Test func delayedScopeSendsAfterTheLimit() {
        var schedule = schedule()
        let owner = UUID()
        schedule.policy.delay("a", owner: owner, upTo: .seconds(10))
        // It could not send before.
        #expect(step(&schedule, network: false, at: .seconds(5)) == .wait(until: .seconds(305)))
        #expect(step(&schedule, ["a", "b"], at: .seconds(20)) == .send("b"))
        #expect(step(&schedule, at: .seconds(25)) == .wait(until: .seconds(30)))
        #expect(step(&schedule, at: .seconds(30)) == .send("a"))
        schedule.didSend("a", .settled(), at: .seconds(30))
        schedule.policy.delay("a", owner: owner, upTo: .seconds(10))
        #expect(step(&schedule, at: .seconds(30)) == .send("a"), "one delay for all that waits")
    }

    @Test func scopeWaitsForAllOwnersOfDelays() {
        var schedule = schedule()
        let owners = [UUID(), UUID()]
        for (owner, limit) in zip(owners, [Duration.seconds(10), .seconds(20)]) {
            schedule.policy.delay("a", owner: owner, upTo: limit)
        }
        #expect(step(&schedule) == .wait(until: .seconds(20)))
        schedule.policy.delay("a", owner: owners[1], upTo: nil)
        #expect(step(&schedule) == .wait(until: .seconds(10)))
        // The account of the owner may have changed since.
        schedule.policy.delay("b", owner: owners[0], upTo: nil)
        #expect(step(&schedule) == .send("a"))
    }

    @Test func ownerDelaysOneScopeAtATime() {
        var schedule = schedule()
        let owner = UUID()
        schedule.policy.delay("a", owner: owner, upTo: .seconds(10))
        schedule.policy.delay("b", owner: owner, upTo: .seconds(10))
        #expect(step(&schedule, ["a", "b"]) == .send("a"))
        #expect(step(&schedule, ["b"]) == .wait(until: .seconds(10)))
    }

    @Test func delayWithoutAnAccountFollowsTheSignIn() {
        func scope(_ account: String?) -> String {
            ChangeScope(service: "notebook", environment: "release", account: account).text
        }
        var schedule = schedule()
        let owner = UUID()
        schedule.policy.delay(scope(nil), owner: owner, upTo: .seconds(10))
        #expect(step(&schedule, [scope("ada")]) == .wait(until: .seconds(10)))
        // The owner is notified of the sign-in later, and the wait does not begin anew.
        schedule.policy.delay(scope("ada"), owner: owner, upTo: .seconds(10))
        #expect(step(&schedule, [scope("ada")], at: .seconds(5)) == .wait(until: .seconds(10)))
        #expect(step(&schedule, [scope("bob")], at: .seconds(5)) == .send(scope("bob")))
    }

    @Test func delayRestartsBeforeTheNetworkIsReported() {
        var schedule = schedule()
        schedule.policy.delay("a", owner: UUID(), upTo: .seconds(10))
        #expect(step(&schedule) == .wait(until: .seconds(10)))
        #expect(step(&schedule, network: false, at: .seconds(20)) == .wait(until: .seconds(320)))
        #expect(step(&schedule, at: .seconds(30)) == .wait(until: .seconds(40)))
    }

    @Test func onlyTheEndOfADelayIsReported() {
        var schedule = schedule()
        let owner = UUID()
        let steps: [(scope: String, limit: Duration?)] = [
            ("a", nil), ("a", .seconds(10)), ("a", .seconds(10)), ("b", .seconds(10)), ("b", nil), ("b", nil),
        ]
        let ends = steps.map { schedule.policy.delay($0.scope, owner: owner, upTo: $0.limit) }
        #expect(ends == [false, false, false, true, true, false])
    }

    @Test func flushIgnoresDelays() {
        var schedule = schedule()
        schedule.policy.delay("a", owner: UUID(), upTo: .seconds(10))
        schedule.policy.note(.flushing(true))
        #expect(step(&schedule) == .send("a"))
        schedule.policy.note(.flushing(false))
        #expect(step(&schedule) == .wait(until: .seconds(10)))
    }

    @Test(arguments: [false, true]) func delayBeginsAnew(_ afterFailure: Bool) {
        var schedule = schedule()
        schedule.policy.delay("a", owner: UUID(), upTo: .seconds(10))
        #expect(step(&schedule) == .wait(until: .seconds(10)))
        #expect(step(&schedule, at: .seconds(10)) == .send("a"))
        if afterFailure {
            schedule.didSend("a", .failed(), at: .seconds(10))
        } else {
            schedule.networkDidChange(isAllowed: false)
            schedule.networkDidChange(isAllowed: true)
        }
        #expect(step(&schedule, at: .seconds(20)) == .wait(until: .seconds(30)))
    }

    // MARK: What depends on what

    private func change(
        _ subjects: Set<String>, refused: Bool = false, held: Bool = false, claimed: Bool = false
    ) -> ChangeHolds.Change {
        ChangeHolds.Change(id: UUID(), subjects: subjects, isRefused: refused, isHeld: held, isClaimed: claimed)
    }

    @Test func dependentsOfDependentsAreHeld() {
        let changes = [
            change(["x"]), change(["a"], refused: true), change(["a", "b"]), change(["b"]), change(["c"]), change([]),
        ]
        let (hold, release) = ChangeHolds.update(changes)
        #expect(hold == [changes[2].id, changes[3].id])
        #expect(release.isEmpty)
    }

    @Test func nothingIsHeldWithoutARefusal() {
        let changes = [change(["a"]), change(["a"], held: true), change(["b"], held: true)]
        let (hold, release) = ChangeHolds.update(changes)
        #expect(hold.isEmpty)
        #expect(release == [changes[1].id, changes[2].id])
    }

    @Test func earlierAndInFlightChangesAreNotHeld() {
        let changes = [change(["a"]), change(["a"], refused: true), change(["a"], claimed: true)]
        #expect(ChangeHolds.update(changes).hold.isEmpty)
    }

    // MARK: Verdicts and previews

    @Test func changeWithATransientStatusMaySucceedLater() {
        for code in RetryPolicy.transientStatuses.union([429]) {
            var error = NetworkError(.refused, in: .judging, "\(code)", status: HTTPResponse.Status(code: code))
            // A gateway does not say whether the server behind it is down, or fails on this change.
            #expect(
                ReplayVerdict(error) == ([502, 503, 504].contains(code) ? .lost : .failed(retryAfter: nil)), "\(code)")
            error.retryAfter = .seconds(1)
            #expect(ReplayVerdict(error) == .failed(retryAfter: .seconds(1)), "\(code)")
        }
    }

    @Test func lostResponseDiffersFromAnUnsentRequest() {
        for kind in [NetworkError.Kind.noNetwork, .timedOut] {
            let lost = NetworkError(kind, in: .transporting, "lost", sending: .sent)
            #expect(ReplayVerdict(lost) == .lost)
            let unsent = NetworkError(kind, in: .transporting, "unsent", sending: .notSent)
            #expect(ReplayVerdict(unsent) == .failed(retryAfter: nil))
        }
    }

    @Test func refusalThatNamesATimeIsSentLater() {
        for status in [HTTPResponse.Status.forbidden, .notFound, .contentTooLarge] {
            var error = NetworkError(.refused, in: .judging, "no", status: status)
            #expect(ReplayVerdict(error) == .refused)
            error.retryAfter = .seconds(9)
            #expect(ReplayVerdict(error) == .failed(retryAfter: .seconds(9)), "\(status)")
        }
    }

    @Test func changeOutlivesPortalsAndReportedOutages() {
        let portal = NetworkError(.refused, in: .judging, "no", status: .networkAuthenticationRequired)
        #expect(ReplayVerdict(portal) == .failed(retryAfter: nil))
        let outage = NetworkError(.service, in: .judging, "no", status: .serviceUnavailable)
        #expect(ReplayVerdict(outage) == .lost)
        let refusal = NetworkError(.service, in: .judging, "no", status: .internalServerError)
        #expect(ReplayVerdict(refusal) == .refused)
        let unknown = NetworkError(.refused, in: .judging, "no", status: .notImplemented)
        #expect(ReplayVerdict(unknown) == .refused)
    }

    @Test func changeWaitsForLoginAndDevice() {
        for kind in [NetworkError.Kind.needsLogin, .needsAccessToken, .loginCancelled] {
            #expect(ReplayVerdict(NetworkError(kind, in: .authorizing, "no")) == .unauthorized, "\(kind)")
        }
        for kind in [NetworkError.Kind.storage, .invalidConfiguration, .notTrusted, .unavailable] {
            #expect(ReplayVerdict(NetworkError(kind, in: .signing, "no")) == .failed(retryAfter: nil), "\(kind)")
        }
        #expect(ReplayVerdict(NetworkError(.invalidParameters, in: .preparing, "no")) == .refused)
        #expect(ReplayVerdict(NetworkError(.cancelled, in: .offlineQueue, "no")) == .stopped)
    }

    @Test func conflictIsDistinguishedFromARequestInProgress() {
        var error = NetworkError(.refused, in: .judging, "409", status: .conflict)
        #expect(ReplayVerdict(error) == .conflicting && !error.outlook.mayHaveTakenEffect)
        var head = HTTPResponse(status: .conflict)
        head.headerFields[.contentType] = "application/problem+json"
        error.rawData = RawData(Array(#"{"title":"The Idempotency-Key is in use"}"#.utf8), response: head)
        // An earlier attempt with the key may be in progress.
        #expect(ReplayVerdict(error) == .faulted(retryAfter: nil) && error.outlook.mayHaveTakenEffect)
        error.rawData = RawData(Array(#"{"type":"urn:runway:idempotency:notStored"}"#.utf8), response: head)
        #expect(ReplayVerdict(error) == .executed)
        error.retryAfter = .seconds(2)
        #expect(ReplayVerdict(error) == .failed(retryAfter: .seconds(2)))
    }

    @Test func previewAppliesWhatWaitsInOrder() {
        let append = OptimisticChange(of: WriteNote.self) { change, list in
            let text = list["text"].string ?? ""
            return RawData(Array(#"{"text":"\#(text)\#(change.parameters["text"].string ?? "")"}"#.utf8))
        }
        let states: [QueuedChange.State] = [.waiting, .refused, .sending, .held, .waiting]
        let changes = states.enumerated().map { index, state in
            QueuedChange(
                id: UUID(), service: "notebook", environment: .release, account: nil, endpoint: "WriteNote",
                parameters: RawData(Array(#"{"text":"\#(index)"}"#.utf8)), date: Date(), state: state)
        }
        let list = RawData(Array(#"{"text":"-"}"#.utf8))
        #expect(OptimisticChange.preview(list, with: changes, [append])["text"].string == "-024")
        // The raw data is as it was, so that a refusal rolls back.
        #expect(list["text"].string == "-")
        #expect(OptimisticChange.preview(list, with: changes, [])["text"].string == "-")
    }
}
