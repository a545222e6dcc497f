/// Grants commands to the pages of one origin.
///
/// ```swift
/// let shop = Capability(Origin("https://m.example.com")!, commands: [listOrders, cancelOrder])
/// let help = Capability(.bundle("help"), commands: [location])
/// ```
///
/// Every script that runs in a page of the origin has its rights, also one that the page loads from another server. A
/// frame of the same origin can call the functions of its parent page. So grant few commands, and serve pages that have
/// capabilities with a strict content security policy; see <doc:PagesThatCallTheApp>.
public struct Capability: Sendable {
    /// States whether pages of a web server may use functions of the device, such as its position.
    public struct DeviceAccess: Sendable {
        let isGranted: @Sendable (Origin) -> Bool

        /// Only pages of a bundle of the app may use them. The default.
        public static let embedded = DeviceAccess { $0.isEmbedded }

        /// Pages of this origin may use them, also if it is a web server. The App Review Guidelines (4.7.2) require a
        /// reason.
        ///
        /// - Parameter reason: One sentence for the readers of the source code. It is not shown to users.
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
