import Foundation
import Runway
import RunwayJSON
import Synchronization
import Testing

@testable import RunwayBridge

struct DeviceFunctionsTests {
    private typealias Device = DeviceFunctions

    /// Runs a command, and returns what it sends and its output.
    private func parts(of command: Command, _ input: String = "{}", until count: Int = .max) async throws -> [String] {
        let parts = Mutex<[String]>([])
        let call = CommandCall(origin: .bundle("help"), idempotencyKey: "key") { (json) throws(BridgeError) in
            let isFull = parts.withLock { parts in
                parts.append(String(decoding: json, as: UTF8.self))
                return parts.count >= count
            }
            if isFull { throw BridgeError(.cancelled, "The page has enough.") }
        }
        do {
            switch try await command.run(try JSONDocument(input), call) {
            case .json(let json): parts.withLock { $0.append(String(decoding: json, as: UTF8.self)) }
            case .bytes(let data): parts.withLock { $0.append("\(data.count) bytes") }
            }
        } catch let error as BridgeError where error.kind == .cancelled {}
        return parts.withLock { $0 }
    }

    @Test func aFakeDoesWhatItStates() async throws {
        let shared = Mutex<[Device.SharedItem]>([])
        let felt = Mutex<[Device.Haptic]>([])
        let device = Device.fake(
            location: .success(Device.Position(latitude: 52.5, longitude: 13.25, accuracy: 10)),
            motions: [Device.Motion(roll: 0, pitch: 1, yaw: 2, acceleration: [0, 0, 1])],
            photo: .success(Data([1, 2, 3])), onShare: { item in shared.withLock { $0.append(item) } },
            onHaptic: { haptic in felt.withLock { $0.append(haptic) } })
        let position = try await parts(of: device.location)
        #expect(
            try position.map { try JSONDecoder().decode(Device.Position.self, from: Data($0.utf8)).latitude } == [52.5])
        #expect(try await parts(of: device.motion).count == 2)
        #expect(try await parts(of: device.photo) == ["3 bytes"])
        #expect(try await parts(of: device.share, #"{"url":"https://m.example.com/7"}"#) == ["null"])
        #expect(try await parts(of: device.haptic, #"{"kind":"success"}"#) == ["null"])
        #expect(shared.withLock { $0.map(\.url) } == ["https://m.example.com/7"])
        #expect(felt.withLock { $0 } == [.success])
        #expect(device.commands.allSatisfy { $0.usesDevice && $0.name.hasPrefix("device.") })
        #expect(device.commands.filter(\.isUnsafe).map(\.name) == ["device.photo", "device.share"])
    }

    @Test func whatIsNotPermittedIsATypedError() async throws {
        let device = Device.fake()
        await #expect { _ = try await parts(of: device.location) } throws: {
            ($0 as? BridgeError)?.kind == .notPermitted
        }
        await #expect { _ = try await parts(of: device.photo) } throws: { ($0 as? BridgeError)?.kind == .closed }
    }

    @Test func changesOfTheNetworkAreSent() async throws {
        let status = SettableNetworkStatus(.wifi)
        let device = Device.fake(networkStatus: status)
        let call = CommandCall(origin: .bundle("help"), idempotencyKey: "key") { (json) throws(BridgeError) in
            let text = String(decoding: json, as: UTF8.self)
            if text.contains("none") { throw BridgeError(.cancelled, "The page has enough.") }
            #expect(text.contains(#""link":"wifi""#))
            status.set(.none)
        }
        await #expect(throws: BridgeError(.cancelled, "The page has enough.")) {
            _ = try await device.networkStatus.run(try JSONDocument("{}"), call)
        }
    }

    @Test(arguments: [
        "{}", #"{"url":"http://m.example.com"}"#, #"{"url":"javascript:alert(1)"}"#, #"{"url":"https://"}"#,
    ])
    func badItemsAreNotShared(_ item: String) async throws {
        let device = Device.fake(onShare: { _ in Issue.record("shared") })
        await #expect { _ = try await parts(of: device.share, item) } throws: {
            ($0 as? BridgeError)?.kind == .invalidInput
        }
    }

    @Test func onlyEmbeddedOrApprovedPagesUseTheDevice() throws {
        let home = RunwayBridge.Origin(PageFixture.home)
        let origin = try #require(home)
        let refused = Capability(origin, commands: [Device.fake().location])
        var page = PageFixture(commands: refused.commands)
        #expect(page.call("device.location").refusal == "notEmbedded")
        let approved = Capability(
            origin, commands: [Device.fake().location], device: .approved("The map of the shops shows the nearest one.")
        )
        page = PageFixture(commands: approved.commands)
        #expect(page.call("device.location").started.count == 1)
        let embedded = Capability(.bundle("help"), commands: [Device.fake().location])
        #expect(embedded.commands.allSatisfy { $0.refusal == nil })
    }

    @Test func aFloodOfHapticsIsRefused() {
        var page = PageFixture(commands: [Device.fake().haptic])
        let kinds = (0..<11).map { _ in page.call("device.haptic", input: #"{"kind":"light"}"#).refusal }
        #expect(kinds == Array(repeating: nil, count: 10) + ["tooFast"])
    }
}
