import RunwayTesting
import Testing

@testable import RunwayTUF

struct BundleReleaseTests {
    private func rollout(_ share: Int64, _ salt: String = "shop#7") throws -> Rollout {
        try Rollout(share: share, salt: salt)
    }

    /// `printf 'shop#7\0device-1' | sha256sum`, its first 16 digits modulo 10,000.
    @Test(arguments: [("shop#7", "device-1", 9264), ("shop#8", "device-1", 4031), ("", "", 3192)])
    func bucketsAreThoseOfTheFormat(_ salt: String, _ device: String, _ bucket: Int64) throws {
        #expect(try rollout(0, salt).bucket(of: device) == bucket)
        #expect(try rollout(bucket, salt).includes(device) == false)
        #expect(try rollout(bucket + 1, salt).includes(device))
    }

    @Test func sharesOfDevicesAreIncluded() throws {
        var random = SeededGenerator(seed: 1)
        let devices = (0..<20_000).map { _ in String(UInt64.random(in: 0 ... .max, using: &random)) }
        for share in [0, 1, 3_000, 5_000, 9_999, 10_000] as [Int64] {
            let included = try devices.filter { try rollout(share).includes($0) }.count
            // Six standard deviations are at most 425 of 20,000.
            #expect(abs(included - Int(share) * 2) <= 425, "\(share)")
            if [0, 10_000].contains(share) { #expect(included == Int(share) * 2) }
        }
    }

    @Test func largerSharesIncludeSmallerOnes() throws {
        let (small, large, other) = (try rollout(3_000), try rollout(5_000), try rollout(3_000, "shop#8"))
        let devices = (0..<2_000).map(String.init)
        #expect(devices.filter(small.includes).allSatisfy(large.includes))
        // Another salt chooses other devices.
        #expect(!devices.filter(small.includes).allSatisfy(other.includes))
    }

    @Test func releasesAreReadAsTheyAreWritten() throws {
        var release = BundleRelease(version: 7, floor: 3, rollout: try rollout(3_000))
        let text = #"{"floor":3,"rollout":{"salt":"shop#7","share":3000},"version":7}"#
        #expect(String(decoding: CanonicalValue.object(release.custom()).canonicalBytes, as: UTF8.self) == text)
        #expect(try BundleRelease(release.custom()) == release)
        release.isStopped = true
        #expect(try BundleRelease(release.custom()) == release)
        // What is unknown stays, and the switch is removed with its member.
        var custom = release.custom(over: ["x": "y"])
        #expect(custom["stopped"] != nil)
        release.isStopped = false
        custom = release.custom(over: custom)
        #expect(custom["stopped"] == nil && custom["x"] != nil)
    }

    @Test(arguments: [
        "{}", #"{"floor":0,"rollout":{"salt":"","share":10001},"version":1}"#,
        #"{"floor":0,"rollout":{"salt":"","share":-1},"version":1}"#,
        #"{"floor":0,"rollout":{"share":1},"version":1}"#, #"{"floor":0,"rollout":{"salt":"","share":1},"version":0}"#,
        #"{"floor":-1,"rollout":{"salt":"","share":1},"version":1}"#,
        #"{"floor":0,"rollout":{"salt":"","share":1},"stopped":1,"version":1}"#, #"{"floor":0,"version":1}"#,
        #"{"floor":0,"rollout":{"salt":"\#(String(repeating: "a", count: 1_025))","share":1},"version":1}"#,
    ])
    func invalidReleasesAreRefused(_ text: String) throws {
        guard case .object(let custom) = try CanonicalValue(reading: Array(text.utf8), maximumByteCount: 10_000) else {
            Issue.record("the text is no object")
            return
        }
        #expect(throws: MalformedMetadata.self) { try BundleRelease(custom) }
    }
}
