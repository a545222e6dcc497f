public import Foundation
public import Runway

/// Functions of the device that pages may call: of the system, or fakes.
///
/// ```swift
/// let help = Capability(.bundle("help"), commands: [device.location, device.share])
/// ```
///
/// ```js
/// const { latitude, longitude } = await runway.call("device.location")
/// for await (const { link } of runway.stream("device.networkStatus")) offline.hidden = link !== "none"
/// ```
///
/// Each property is a command. Remote origins are refused, unless they are approved; see ``Capability/DeviceAccess``. A
/// function that the user does not permit fails with ``BridgeError/Kind/notPermitted``, one that the device lacks with
/// ``BridgeError/Kind/unavailable``.
public struct DeviceFunctions: Sendable {
    /// The position of the device on the earth.
    public struct Position: Codable, Hashable, Sendable {
        /// Degrees to the north of the equator.
        public var latitude: Double
        /// Degrees to the east of Greenwich.
        public var longitude: Double
        /// The radius in metres within which the device is.
        public var accuracy: Double

        /// Creates a position.
        public init(latitude: Double, longitude: Double, accuracy: Double) {
            (self.latitude, self.longitude, self.accuracy) = (latitude, longitude, accuracy)
        }
    }

    /// The rotation and the acceleration of the device.
    public struct Motion: Codable, Hashable, Sendable {
        /// The rotation about the axis from the top to the bottom of the device, in radians.
        public var roll: Double
        /// The rotation about the axis from the left to the right, in radians.
        public var pitch: Double
        /// The rotation about the axis through the screen, in radians.
        public var yaw: Double
        /// The acceleration by the user along these three axes, in multiples of gravity.
        public var acceleration: [Double]

        /// Creates a motion.
        public init(roll: Double, pitch: Double, yaw: Double, acceleration: [Double]) {
            (self.roll, self.pitch, self.yaw, self.acceleration) = (roll, pitch, yaw, acceleration)
        }
    }

    /// A text and an address to share; at least one of them.
    public struct SharedItem: Codable, Hashable, Sendable {
        /// A text of at most 10,000 bytes.
        public var text: String?
        /// An address that begins with `https://`.
        public var url: String?
    }

    /// A short vibration of the device that the user feels.
    public enum Haptic: String, Codable, Hashable, Sendable {
        /// An impact of a strength.
        case light, medium, heavy
        /// The end of a task.
        case success, warning, error
    }

    private let status: any NetworkStatusSource
    private let locate: @Sendable () async throws -> Position
    private let move: @Sendable () async throws -> AsyncThrowingStream<Motion, any Error>
    private let pick: @Sendable () async throws -> Data
    private let present: @Sendable (SharedItem) async throws -> Void
    private let play: @Sendable (Haptic) async throws -> Void

    /// Creates the functions of a device.
    ///
    /// Each function throws a ``BridgeError`` for reasons that the page may know.
    ///
    /// - Parameters:
    ///   - networkStatus: The network of the device.
    ///   - location: Returns the position.
    ///   - motion: Returns motions until the stream is released.
    ///   - photo: Lets the user pick a picture, and returns it without the metadata of its file, which often contain
    ///     the place where a photograph was taken.
    ///   - share: Lets the user share something; throws ``BridgeError/Kind/closed`` if the user does not.
    ///   - haptic: Plays a vibration.
    public init(
        networkStatus: any NetworkStatusSource, location: @escaping @Sendable () async throws -> Position,
        motion: @escaping @Sendable () async throws -> AsyncThrowingStream<Motion, any Error>,
        photo: @escaping @Sendable () async throws -> Data,
        share: @escaping @Sendable (SharedItem) async throws -> Void,
        haptic: @escaping @Sendable (Haptic) async throws -> Void
    ) {
        (status, locate, move, pick, present, play) = (networkStatus, location, motion, photo, share, haptic)
    }

    /// Returns functions without a device, whose results a test or a preview states. It exists on every system.
    ///
    /// - Parameters:
    ///   - networkStatus: The network. The default is Wi-Fi.
    ///   - location: The position, or the error. The default is the error that the user does not permit it.
    ///   - motions: The motions, after which the stream ends. The default is none.
    ///   - photo: The picture, or the error. The default is the error that the user picks none.
    ///   - onShare: Is called with each item that the page shares. By default nothing is called.
    ///   - onHaptic: Is called with each vibration that the page plays. By default nothing is called.
    public static func fake(
        networkStatus: any NetworkStatusSource = SettableNetworkStatus(.wifi),
        location: Result<Position, BridgeError> = .failure(BridgeError(.notPermitted, "No location for pages.")),
        motions: [Motion] = [],
        photo: Result<Data, BridgeError> = .failure(BridgeError(.closed, "The user picked no picture.")),
        onShare: @escaping @Sendable (SharedItem) -> Void = { _ in },
        onHaptic: @escaping @Sendable (Haptic) -> Void = { _ in }
    ) -> DeviceFunctions {
        DeviceFunctions(
            networkStatus: networkStatus, location: { try location.get() },
            motion: {
                AsyncThrowingStream { continuation in
                    for motion in motions { continuation.yield(motion) }
                    continuation.finish()
                }
            }, photo: { try photo.get() }, share: { onShare($0) }, haptic: { onHaptic($0) })
    }

    /// All commands of the device.
    public var commands: [Command] { [networkStatus, location, motion, photo, share, haptic] }

    /// The command `device.networkStatus`: sends the status, and then each change of it.
    ///
    /// A status is `{ link: "wifi", isExpensive: false, isConstrained: false }`, where `link` is `wired`, `wifi`,
    /// `cellular`, `none` or `unknown`. The first value of `runway.stream` is the current status.
    public var networkStatus: Command {
        command("networkStatus", deadline: .seconds(86_400)) { [status] (_: NoValue, call) in
            let (changes, changed) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
            let observation = status.observe { changed.yield() }
            defer { withExtendedLifetime(observation) {} }
            changed.yield()
            var last: Status?
            for await _ in changes {
                let status = Status(status.current)
                if status != last { try await call.send(status) }
                last = status
            }
            return NoValue()
        }
    }

    /// The command `device.location`: returns a ``Position``.
    public var location: Command { command("location") { [locate] (_: NoValue, _) in try await locate() } }

    /// The command `device.motion`: sends each ``Motion``.
    ///
    /// While the page is busy, it receives only the newest motion and misses the ones before.
    public var motion: Command {
        command("motion", deadline: .seconds(86_400)) { [move] (_: NoValue, call) in
            for try await motion in try await move() { try await call.send(motion) }
            return NoValue()
        }
    }

    /// The command `device.photo`: returns a picture that the user picks. It needs a gesture.
    ///
    /// On a device the page receives the pixels as JPEG, and nothing else of the file: neither the place and the time
    /// at which a photograph was taken, nor the camera, nor transparency.
    public var photo: Command {
        Command(bytes: "device.photo", isUnsafe: true, usesDevice: true, deadline: .seconds(600)) {
            [pick] (_: NoValue, _) in try await pick()
        }
    }

    /// The command `device.share`: lets the user share a ``SharedItem``. It needs a gesture.
    public var share: Command {
        command("share", isUnsafe: true, deadline: .seconds(600)) { [present] (item: SharedItem, _) in
            guard item.text != nil || item.url != nil, (item.text ?? "").utf8.count <= 10_000,
                item.url.map({ $0.hasPrefix("https://") && URL(string: $0)?.host() != nil }) ?? true
            else { throw BridgeError(.invalidInput, "A page shares a text, or an address with https.") }
            try await present(item)
            return NoValue()
        }
    }

    /// The command `device.haptic`: plays the ``Haptic`` with the name in `kind`, at most 10 a second.
    public var haptic: Command {
        command("haptic", callsPerSecond: 10) { [play] (input: HapticInput, _) in
            try await play(input.kind)
            return NoValue()
        }
    }

    private func command<Input: Decodable & Sendable, Output: Encodable & Sendable>(
        _ name: String, isUnsafe: Bool = false, deadline: Duration = .seconds(30), callsPerSecond: Int? = nil,
        run: @escaping @Sendable (Input, CommandCall) async throws -> Output
    ) -> Command {
        var command = Command(
            "device.\(name)", isUnsafe: isUnsafe, usesDevice: true, deadline: deadline, run: run)
        command.callsPerSecond = callsPerSecond
        return command
    }
}

private struct HapticInput: Decodable, Sendable {
    let kind: DeviceFunctions.Haptic
}

private struct Status: Encodable, Equatable, Sendable {
    let link: String
    let isExpensive: Bool
    let isConstrained: Bool

    init(_ status: NetworkStatus) {
        (link, isExpensive, isConstrained) = (status.link.rawValue, status.isExpensive, status.isConstrained)
    }
}
