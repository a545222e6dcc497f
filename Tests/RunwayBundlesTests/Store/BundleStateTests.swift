import Foundation
import RunwayTUF
import RunwayTesting
import Testing

@testable import RunwayBundles

/// A device with a state, whose bundles may be damaged.
private struct Device {
    static let target = "shop/release/1/manifest.json"

    var state = BundleState(device: "d")
    var embedded: Int64 = 1
    var damaged: Set<BundleID> = []

    init() { _ = state.open(Self.target, over: embedded) }

    mutating func launch() -> [BundleRecord] {
        let damaged = damaged
        return state.open(Self.target, over: embedded) + state.launch { damaged.contains($0) ? .damaged : nil }
    }

    /// Installs a version, launches it and reports that it is ready.
    mutating func run(_ bundle: BundleID) {
        _ = state.install(bundle)
        _ = launch()
        _ = state.ready(bundle)
    }
}

private func bundle(_ version: Int64) -> BundleID {
    BundleID(version: version, digest: String(repeating: "0", count: 48) + String(format: "%016x", version))
}

private func kinds(_ records: [BundleRecord]) -> [BundleRecord.Kind] { records.map(\.kind) }

private func release(_ version: Int64, floor: Int64 = 0, share: Int64 = 10_000, isStopped: Bool = false) throws
    -> BundleRelease
{
    BundleRelease(
        version: version, floor: floor, rollout: try Rollout(share: share, salt: "s"), isStopped: isStopped)
}

struct BundleStateTests {
    private var device = Device()

    @Test mutating func theNextBundleRunsAtTheNextLaunch() {
        #expect(kinds(device.launch()) == [.launched])
        #expect(kinds(device.state.install(bundle(2))) == [.installed])
        #expect(device.state.running == nil)
        #expect(kinds(device.launch()) == [.launched])
        #expect(device.state.running == bundle(2))
    }

    @Test mutating func twoLaunchesWithoutReadinessCondemn() {
        device.run(bundle(2))
        _ = device.state.install(bundle(3))
        for _ in 0..<2 { #expect(device.launch().last?.bundle == bundle(3)) }
        #expect(kinds(device.launch()) == [.condemned, .rolledBack, .launched])
        #expect(device.state.running == bundle(2))
        // The last good one fails, too: then there is the embedded copy.
        _ = device.launch()
        #expect(kinds(device.launch()) == [.condemned, .launched])
        #expect(device.state.running == nil && device.state.installed.isEmpty)
    }

    @Test mutating func readinessOfAnotherBundleDoesNotCount() {
        device.run(bundle(2))
        _ = device.state.install(bundle(3))
        _ = device.launch()
        #expect(device.state.ready(bundle(2)).isEmpty)
        #expect(device.state.ready(BundleID(embedded: 1)).isEmpty)
        #expect(kinds(device.state.ready(bundle(3))) == [.ready])
        #expect(device.state.ready(bundle(3)).isEmpty)
    }

    @Test mutating func oneFailureBeforeReadinessIsForgiven() {
        device.run(bundle(2))
        for _ in 0..<5 {
            _ = device.launch()
            _ = device.launch()
            #expect(kinds(device.state.ready(bundle(2))) == [.ready])
        }
        #expect(device.state.running == bundle(2))
    }

    @Test mutating func bundlesThatWereNeverReadyAreNotGood() {
        device.run(bundle(2))
        _ = device.state.install(bundle(3))
        _ = device.launch()
        _ = device.state.install(bundle(4))
        _ = device.launch()
        #expect(device.state.running == bundle(4))
        #expect(device.state.lastGood == bundle(2))
    }

    @Test mutating func aNewerEmbeddedCopyWins() throws {
        device.run(bundle(2))
        device.run(bundle(3))
        device.embedded = 3
        #expect(kinds(device.launch()) == [.superseded, .superseded, .launched])
        #expect(device.state.running == nil)
        // An older app still has its embedded copy, and installs nothing as old as the newer one.
        device.embedded = 1
        _ = device.launch()
        #expect(device.state.refusal(of: bundle(2), try release(2))?.kind == .older)
        #expect(device.state.refusal(of: bundle(4), try release(4)) == nil)
    }

    @Test mutating func anotherTargetHasItsOwnBundles() throws {
        device.run(bundle(7))
        _ = device.state.install(bundle(8))
        for _ in 0..<3 { _ = device.launch() }
        #expect(device.state.condemned[Device.target] == bundle(8))
        #expect(kinds(device.state.open("shop/beta/1/manifest.json", over: 1)) == [.superseded])
        #expect(device.state.refusal(of: bundle(2), try release(2)) == nil)
        // What was condemned stays so when the app returns to the channel.
        _ = device.launch()
        #expect(device.state.refusal(of: bundle(8), try release(8))?.kind == .condemnedBefore)
    }

    @Test mutating func damagedBundlesAreReplacedAndInstalledAgain() throws {
        device.run(bundle(2))
        device.run(bundle(3))
        device.damaged = [bundle(3)]
        #expect(kinds(device.launch()) == [.damaged, .rolledBack, .launched])
        #expect(device.state.running == bundle(2))
        #expect(device.state.refusal(of: bundle(3), try release(3)) == nil)
        device.damaged = [bundle(2)]
        #expect(kinds(device.launch()) == [.damaged, .launched])
        #expect(device.state.running == nil)
    }

    @Test(arguments: [true, false])
    mutating func killSwitchesEndAtTheEmbeddedCopy(_ isLocal: Bool) throws {
        device.run(bundle(2))
        func turn(_ state: inout BundleState, _ isOn: Bool) -> [BundleRecord] {
            isLocal ? state.switchOff(isOn) : state.stop(isOn)
        }
        #expect(kinds(turn(&device.state, true)) == (isLocal ? [.stopped] : []))
        #expect(turn(&device.state, true).isEmpty)
        #expect(device.state.running == nil)
        for _ in 0..<5 { _ = device.launch() }
        #expect(kinds(turn(&device.state, false)) == [.resumed])
        // Launches of the embedded copy were not counted against the bundle.
        #expect(kinds(device.launch()) == [.launched])
        #expect(device.state.running == bundle(2))
    }

    @Test mutating func publishedVersionsAreRefusedForTheirReason() throws {
        device.run(bundle(5))
        func kind(_ version: Int64, _ release: BundleRelease) -> BundleRecord.Kind? {
            device.state.refusal(of: bundle(version), release)?.kind
        }
        #expect(kind(5, try release(5)) == .nothingNew)
        #expect(kind(4, try release(4)) == .older)
        #expect(kind(6, try release(6, floor: 2)) == .embeddedTooOld)
        #expect(kind(6, try release(6, floor: 1)) == nil)
        #expect(kind(6, try release(6, share: 0)) == .notIncluded)
        #expect(kind(6, try release(6, isStopped: true)) == .stopped)
        _ = device.state.switchOff(true)
        #expect(kind(6, try release(6)) == .switchedOff)
    }

    @Test mutating func unknownBundlesDoNotRunUncounted() {
        device.run(bundle(2))
        _ = device.state.install(bundle(3))
        _ = device.launch()
        #expect(device.state.runningUncounted == bundle(2))
        _ = device.state.ready(bundle(3))
        #expect(device.state.runningUncounted == bundle(3))
    }

    @Test func identifiersReadWhatTheyWrite() {
        for id in [bundle(7), BundleID(embedded: 3)] { #expect(BundleID(id.description) == id) }
        let digest = String(repeating: "a", count: 64)
        for text in ["", "7", "07-embedded", "7-../../x", "7-\(digest)0", "-1-embedded", "7-\(digest.uppercased())"] {
            #expect(BundleID(text) == nil, "\(text)")
        }
    }

    /// Random sequences of events, in which the device may be killed between any two of them.
    @Test(arguments: 0..<60)
    mutating func noSequenceOfEventsBreaksThePromises(_ seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var (published, condemned, unready) = (Int64(1), Set<BundleID>(), [BundleID: Int]())
        for _ in 0..<200 {
            var records: [BundleRecord] = []
            switch Int.random(in: 0..<12, using: &random) {
            case 0...3:
                if Int.random(in: 0..<20, using: &random) == 0 {
                    device.embedded = .random(in: 1...published, using: &random)
                }
                records = device.launch()
                for record in records where record.kind == .rolledBack { record.bundle.map { unready[$0] = 0 } }
                #expect(records.last?.bundle == device.state.running ?? BundleID(embedded: device.embedded))
                if let running = device.state.running {
                    unready[running, default: 0] += 1
                    #expect(unready[running, default: 0] <= BundleState.launchesUntilCondemned, "seed \(seed)")
                }
            case 4...5:
                if let running = device.state.running, !device.state.ready(running).isEmpty { unready[running] = 0 }
            case 6...8:
                if Bool.random(using: &random) { published += 1 }
                // Older versions are offered, too.
                let version = max(1, published - Int64.random(in: 0...2, using: &random))
                let terms = try release(version, floor: .random(in: 0...2, using: &random))
                if device.state.refusal(of: bundle(version), terms) == nil {
                    #expect(version > device.embedded && !condemned.contains(bundle(version)), "seed \(seed)")
                    device.damaged.remove(bundle(version))
                    unready[bundle(version)] = 0
                    records = device.state.install(bundle(version))
                }
            case 9: if let some = device.state.installed.randomElement(using: &random) { device.damaged.insert(some) }
            case 10: records = device.state.stop(Int.random(in: 0..<3, using: &random) == 0)
            default: records = device.state.switchOff(Int.random(in: 0..<3, using: &random) == 0)
            }
            condemned.formUnion(records.filter { $0.kind == .condemned }.compactMap(\.bundle))
            #expect(device.state.installed.isDisjoint(with: condemned), "seed \(seed)")
            #expect(device.state.installed.count <= 3)
            if let running = device.state.running {
                #expect(!device.state.isStopped && !device.state.isSwitchedOff)
                #expect(device.state.installed.contains(running))
                #expect(records.last?.kind != .launched || running.version > device.embedded, "seed \(seed)")
                #expect(records.last?.kind != .launched || !device.damaged.contains(running), "seed \(seed)")
            }
            // A kill: only the file is left.
            let file = try JSONEncoder().encode(device.state)
            device.state = try JSONDecoder().decode(BundleState.self, from: file)
        }
        #expect(published > 1)
    }
}
