/// The kind and the properties of the network that the device uses.
public struct NetworkStatus: Sendable, Hashable, CustomStringConvertible {
    /// The way in which the device is connected to the network.
    public enum Link: String, Sendable, Hashable {
        /// A cable.
        case wired
        /// Wi-Fi.
        case wifi
        /// A mobile network.
        case cellular
        /// No link: no host can be reached.
        case none
        /// The link is not known. Hosts are assumed to be reachable.
        case unknown
    }

    /// The way in which the device is connected to the network.
    public var link: Link
    /// Whether bytes may cost the user money, for example on a mobile network.
    public var isExpensive: Bool
    /// Whether the user wants little data to be sent, as in Low Data Mode.
    public var isConstrained: Bool
    /// An identifier that distinguishes this network from others of its kind, such as the address of its gateway; `nil`
    /// if it is not known. Measurements of the addresses of hosts are stored for each network separately.
    public var identity: String?

    /// The generation of a mobile network, from 2 to 5; `nil` for any other link, or if the system does not report it.
    /// Measurements are stored for each generation separately. A change of the generation does not count as a change of
    /// network: connections stay in use.
    public var generation: Int?

    /// Creates the status of a network, for a test or a source of the app's own.
    ///
    /// - Parameters:
    ///   - link: The way in which the device is connected to the network.
    ///   - isExpensive: Whether bytes may cost the user money.
    ///   - isConstrained: Whether the user wants little data to be sent.
    ///   - identity: An identifier that distinguishes this network from others of its kind.
    ///   - generation: The generation of a mobile network.
    public init(
        _ link: Link, isExpensive: Bool = false, isConstrained: Bool = false, identity: String? = nil,
        generation: Int? = nil
    ) {
        self.link = link
        self.isExpensive = isExpensive
        self.isConstrained = isConstrained
        self.identity = identity
        self.generation = generation
    }

    /// A cable.
    public static let wired = NetworkStatus(.wired)
    /// Wi-Fi.
    public static let wifi = NetworkStatus(.wifi)
    /// A mobile network, whose bytes may cost money.
    public static let cellular = NetworkStatus(.cellular, isExpensive: true)
    /// No network.
    public static let none = NetworkStatus(.none)
    /// An unknown network.
    public static let unknown = NetworkStatus(.unknown)

    /// Whether a call may reach its host: `false` only if there is no network.
    public var isReachable: Bool { link != .none }

    /// The link's name, its generation, and whether it is expensive or constrained.
    public var description: String {
        link.rawValue + (generation.map { " \($0)G" } ?? "") + (isExpensive ? ", expensive" : "")
            + (isConstrained ? ", constrained" : "")
    }
}
