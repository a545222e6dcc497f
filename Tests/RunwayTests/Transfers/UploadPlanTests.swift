import HTTPTypes
import RunwayFormats
import Testing

@testable import Runway

/// What a resumable upload sends next, response by response.
struct UploadPlanTests {
    private static let url = "https://api.test/uploads/1"

    private func fields(_ pairs: [String: String]) -> UploadFields {
        var fields = HTTPFields()
        for (name, value) in pairs {
            if let name = HTTPField.Name(name) { fields[name] = value }
        }
        return UploadFields(response: fields)
    }

    /// A plan whose upload was interrupted after the server said where it continues.
    private func interrupted(byteCount: Int = 100, isRepeatable: Bool = false, isWholeSent: Bool = false) -> UploadPlan
    {
        var plan = UploadPlan(byteCount: byteCount, isRepeatable: isRepeatable)
        plan.take(interim: fields([:]), location: Self.url)
        plan.pass(upTo: isWholeSent ? byteCount : byteCount - 1)
        plan.takeFailure()
        return plan
    }

    private func take(
        _ plan: inout UploadPlan, _ code: Int, _ pairs: [String: String] = [:], location: String? = nil
    ) -> UploadPlan.Action {
        plan.take(HTTPResponse.Status(code: code), fields(pairs), location: location, to: plan.step)
    }

    @Test func responseToTheWholeFileLands() {
        for status in [200, 201, 303, 401, 422] {
            var plan = UploadPlan(byteCount: 100, isRepeatable: false)
            #expect(plan.step == .create(upTo: 100))
            #expect(take(&plan, status) == .land)
        }
    }

    @Test func interruptedUploadContinuesAtTheServersOffset() {
        var plan = interrupted()
        #expect(plan.step == .retrieve)
        #expect(take(&plan, 204, ["Upload-Offset": "40", "Upload-Complete": "?0"]) == .proceed)
        #expect(plan.step == .append(40..<100))
        #expect(take(&plan, 200, ["Upload-Complete": "?1"]) == .land)
    }

    @Test func limitOfTheLargestNumberSendsTheRest() {
        var plan = interrupted()
        var state = fields(["Upload-Offset": "40", "Upload-Complete": "?0"])
        // Where `Int` has 32 bits, a server can name it.
        state.maximumAppendByteCount = .max
        #expect(plan.take(.noContent, state, location: nil, to: .retrieve) == .proceed)
        #expect(plan.step == .append(40..<100))
    }

    @Test func uploadWithoutLocationStartsAnew() {
        var plan = UploadPlan(byteCount: 100, isRepeatable: false)
        plan.takeFailure()
        #expect(plan.step == .create(upTo: 100))
    }

    @Test func failureOfTheServerLeadsToTheOffset() {
        for status in [408, 429, 500, 503] {
            var plan = UploadPlan(byteCount: 100, isRepeatable: false)
            plan.take(interim: fields([:]), location: Self.url)
            #expect(take(&plan, status) == .wait && plan.step == .retrieve)
            #expect(take(&plan, status) == .wait && plan.step == .retrieve)
            #expect(take(&plan, 204, ["Upload-Offset": "1"]) == .proceed)
            #expect(take(&plan, status) == .wait && plan.step == .retrieve)
        }
    }

    @Test func failureOfTheHandlerEndsTheCall() {
        var plan = interrupted()
        #expect(take(&plan, 204, ["Upload-Offset": "1"]) == .proceed)
        #expect(take(&plan, 500, ["Upload-Complete": "?1"]) == .land)
        var older = interrupted()
        #expect(take(&older, 204, ["Upload-Offset": "1"]) == .proceed)
        #expect(take(&older, 500, ["Upload-Incomplete": "?0"]) == .land)
    }

    @Test func completeUploadWithLostResponseIsNotResent() {
        var plan = interrupted(isWholeSent: true)
        #expect(take(&plan, 204, ["Upload-Offset": "100", "Upload-Complete": "?1"]) == .landWithoutResponse)
    }

    @Test func emptyPartCompletesAWholeButIncompleteUpload() {
        var plan = interrupted()
        #expect(take(&plan, 204, ["Upload-Offset": "100", "Upload-Complete": "?0"]) == .proceed)
        #expect(plan.step == .append(100..<100))
    }

    @Test func goneUploadStartsOverUnlessPossiblyApplied() {
        var plan = interrupted()
        #expect(take(&plan, 404) == .startOver && plan.step == .create(upTo: 100))
        var sent = interrupted(isWholeSent: true)
        #expect(take(&sent, 404) == .fail)
        var repeatable = interrupted(isRepeatable: true, isWholeSent: true)
        #expect(take(&repeatable, 410) == .startOver)
    }

    @Test func earlierCallsGoneUploadMayHaveTakenEffect() {
        for mayHaveEffect in [false, true] {
            var plan = UploadPlan(
                byteCount: 100, isRepeatable: false, location: Self.url, mayHaveEffect: mayHaveEffect)
            #expect(plan.step == .retrieve && take(&plan, 404) == (mayHaveEffect ? .fail : .startOver))
        }
    }

    @Test func uploadStartsOverABoundedNumberOfTimes() {
        var plan = interrupted(isRepeatable: true)
        for _ in 0..<UploadPlan.maximumFreshStarts {
            #expect(take(&plan, 404) == .startOver)
            plan.take(interim: fields([:]), location: Self.url)
            plan.takeFailure()
        }
        #expect(take(&plan, 404) == .fail)
    }

    @Test func conflictLeadsToTheOffset() {
        var plan = interrupted()
        #expect(take(&plan, 204, ["Upload-Offset": "10"]) == .proceed)
        #expect(take(&plan, 409, ["Upload-Offset": "20"]) == .wait && plan.step == .retrieve)
    }

    @Test(arguments: [
        ["Upload-Offset": "101"], ["Upload-Offset": "-1"], ["Upload-Offset": "x"], [:],
        ["Upload-Offset": "1", "Upload-Length": "99"],
        ["Upload-Offset": "1", "Upload-Length": "99", "Upload-Complete": "?1"],
    ])
    func stateThatCannotBeIsRefused(pairs: [String: String]) {
        var plan = interrupted()
        guard case .contradict = take(&plan, 204, pairs) else {
            Issue.record("\(pairs) is accepted")
            return
        }
    }

    @Test func offsetMustNotDecrease() {
        var plan = interrupted()
        #expect(take(&plan, 204, ["Upload-Offset": "50"]) == .proceed)
        plan.takeFailure()
        guard case .contradict = take(&plan, 204, ["Upload-Offset": "49"]) else {
            Issue.record("a smaller offset is accepted")
            return
        }
    }

    @Test func announcedLimitBoundsEveryRequest() {
        var plan = UploadPlan(byteCount: 100, isRepeatable: false)
        #expect(take(&plan, 413, ["Upload-Limit": "max-size=1000, max-append-size=40"]) == .proceed)
        #expect(plan.step == .create(upTo: 40))
        #expect(take(&plan, 201, ["Upload-Complete": "?0", "Upload-Offset": "40"], location: Self.url) == .proceed)
        #expect(plan.step == .append(40..<80))
        #expect(take(&plan, 204, ["Upload-Complete": "?0"]) == .proceed)
        #expect(plan.step == .append(80..<100))
        #expect(take(&plan, 201, ["Upload-Complete": "?1"]) == .land)
    }

    @Test func limitsThatAlternateEndTheUpload() {
        var plan = interrupted()
        for (count, action) in [(50, UploadPlan.Action.proceed), (40, .fail)] {
            #expect(take(&plan, 204, ["Upload-Offset": "10", "Upload-Limit": "max-append-size=50"]) == .proceed)
            #expect(plan.step == .append(10..<10 + count))
            #expect(take(&plan, 413, ["Upload-Limit": "max-append-size=40"]) == action)
        }
    }

    @Test func oversizedUploadIsCancelledUnlessComplete() {
        var plan = UploadPlan(byteCount: 100, isRepeatable: false)
        plan.take(interim: fields(["Upload-Limit": "max-size=100"]), location: Self.url)
        #expect(plan.refusalOfSize == nil)
        plan.take(interim: fields(["Upload-Limit": "max-size=99"]), location: nil)
        #expect(plan.refusalOfSize?.contains("99 bytes") == true)
        plan.takeFailure()
        guard case .contradict = take(&plan, 204, ["Upload-Offset": "10"]) else {
            Issue.record("the upload continues")
            return
        }
        #expect(take(&plan, 204, ["Upload-Offset": "100", "Upload-Complete": "?1"]) == .landWithoutResponse)
    }

    @Test func partsAreNotResentForEver() {
        var plan = UploadPlan(byteCount: 100, isRepeatable: false)
        #expect(take(&plan, 413, ["Upload-Limit": "max-append-size=40"]) == .proceed)
        #expect(take(&plan, 201, ["Upload-Complete": "?0", "Upload-Offset": "40"], location: Self.url) == .proceed)
        #expect(take(&plan, 204, ["Upload-Complete": "?0", "Upload-Offset": "40"]) == .wait)
    }

    @Test func sizeRefusalWithoutALimitEndsTheCall() {
        var plan = UploadPlan(byteCount: 100, isRepeatable: true)
        #expect(take(&plan, 413) == .land)
    }

    @Test func firstLocationCounts() {
        var plan = interrupted()
        plan.take(interim: fields([:]), location: "https://api.test/uploads/2")
        #expect(plan.location == Self.url)
    }

    @Test func attemptWithConsiderableProgressIsNotCounted() {
        var plan = interrupted(byteCount: 1 << 20)
        #expect(take(&plan, 204, ["Upload-Offset": "262143"]) == .proceed)
        let hasAdvancedEarly = plan.hasAdvanced()
        #expect(!hasAdvancedEarly)
        plan.takeFailure()
        #expect(take(&plan, 204, ["Upload-Offset": "262144"]) == .proceed)
        let (first, second) = (plan.hasAdvanced(), plan.hasAdvanced())
        #expect(first && !second)
    }
    @Test func progressReportedBeforeAnInterruptionCounts() {
        var plan = interrupted(byteCount: 1 << 20)
        #expect(take(&plan, 204, ["Upload-Offset": "0"]) == .proceed)
        plan.take(interim: fields(["Upload-Offset": "300000"]), location: nil)
        plan.takeFailure()
        let (first, second) = (plan.hasAdvanced(), plan.hasAdvanced())
        #expect(first && !second)
        // What the server then says counts no second time, and its offset alone decides where the upload continues.
        #expect(take(&plan, 204, ["Upload-Offset": "290000"]) == .proceed)
        #expect(plan.step == .append(290_000..<1 << 20))
        let third = plan.hasAdvanced()
        #expect(!third)
    }
}
