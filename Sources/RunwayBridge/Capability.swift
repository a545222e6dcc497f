/// Grants commands to the pages of one origin.
///
/// ```swift
/// let shop = Capability(Origin("https://m.example.com")!, commands: [listOrders, cancelOrder])
/// let help = Capability(.bundle("help"), commands: [location])
/// ```
///
/// All scripts of an origin have its rights, also foreign ones, and frames of the same origin act through their parent.
/// So grant little, and serve pages that have capabilities with a strict content security policy.
public struct Capability: Sendable {
    /// Whether remote pages may use functions of the device.
    public struct DeviceAccess: Sendable {
        let isGranted: @Sendable (Origin) -> Bool

        /// Only pages of a bundle that is embedded in the app. The default.
        public static let embedded = DeviceAccess { $0.isEmbedded }

        /// Also this remote origin, for a reason that the app can show (App Review Guidelines 4.7.2).
        ///
        /// - Parameter reason: One sentence, for the readers of the source.
        public static func approved(_ reason: String) -> DeviceAccess {
            precondition(!reason.isEmpty, "the reason of an approval is a sentence")
            return DeviceAccess { _ in true }
        }
    }

    let origin: Origin
    let commands: [Command]

    /// Grants commands to an origin.
    ///
    /// Functions of the device that `device` does not cover are refused (``BridgeError/Kind/notEmbedded``).
    public init(_ origin: Origin, commands: [Command], device: DeviceAccess = .embedded) {
        self.origin = origin
        self.commands = commands.map { command in
            var command = command
            if command.usesDevice, !device.isGranted(origin) {
                command.refusal = BridgeError(.notEmbedded, "Only pages of the app itself may use the device.")
            }
            return command
        }
    }
}
