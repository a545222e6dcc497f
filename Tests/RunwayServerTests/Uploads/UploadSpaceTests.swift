import RunwaySignatures
import Testing

@testable import RunwayServer

/// The shares that clients have by default.
struct UploadSpaceTests {
    private static let small = UploadLimits(maximumByteCount: 5, maximumUploads: 100, maximumTotalByteCount: 1000)

    /// How many uploads a holder begins before it is refused.
    private func fill(_ space: inout UploadSpace, of holder: UploadSpace.Holder) -> Int {
        for count in 0...1000 {
            do { try space.add(announcing: 0, of: [holder]) } catch { return count }
        }
        return 1000
    }

    /// How many bytes of at most a thousand an upload of a holder takes, one by one.
    private func fillBytes(_ space: inout UploadSpace, of holder: UploadSpace.Holder) throws -> Int {
        try space.add(announcing: 0, of: [holder])
        for count in 0..<1000 where !space.reserve(1, of: [holder]) { return count }
        return 1000
    }

    @Test func sourceLeavesTheRestToOthers() {
        var space = UploadSpace(Self.small)
        let counts = (1...10).map { fill(&space, of: .source(ExactText("\($0)"))) }
        #expect(counts[0] == 10 && counts.reduce(0, +) <= 66)
        let ofOwner = fill(&space, of: .owner(ExactText("a")))
        #expect(ofOwner == 25)
    }

    @Test func sourceTakesATenthOfFreeBytes() throws {
        var space = UploadSpace(Self.small)
        let counts = try ["a", "b"].map { try fillBytes(&space, of: .source(ExactText($0))) }
        #expect(counts == [100, 90])
    }

    @Test func sharesFollowTheLimits() throws {
        var limits = Self.small
        limits.maximumUploads = 20
        limits.maximumTotalByteCount = 40
        var space = UploadSpace(limits)
        let owner = UploadSpace.Holder.owner(ExactText("a"))
        // One upload of the largest size fits a share in any case.
        let byteCounts = [
            try fillBytes(&space, of: owner), try fillBytes(&space, of: .source(ExactText("b"))),
        ]
        let count = fill(&space, of: owner)
        #expect(byteCounts == [10, 5] && count == 4)
    }
}
