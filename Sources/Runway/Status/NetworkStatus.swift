/// The kind and the properties of the network that the device uses.
public struct NetworkStatus: Sendable, Hashable, CustomStringConvertible {
    /// The kind of connection between the device and the network.
    public enum Link: String, Sendable, Hashable {
        /// A wired network, such as Ethernet.
        case wired
        /// A Wi-Fi network.
        case wifi
        /// A mobile network.
        case cellular
        /// There is no network, so no host can be reached.
        case none
        /// The kind of connection is unknown. Hosts are assumed to be reachable.
        case unknown
    }

    /// The kind of connection between the device and the network.
    public var link: Link
    /// Whether sending or receiving bytes may cost the user money, as on a mobile network. The default is `false`.
    public var isExpensive: Bool
    /// Whether the user wants little data to be used, as in Low Data Mode. The default is `false`.
    public var isConstrained: Bool
    /// An identifier that distinguishes this network from others of its kind, such as the address of its gateway; `nil`
    /// if it is unknown. Measurements of host addresses are stored separately for each network.
    public var identity: String?

    /// The generation of a mobile network, from 2 to 5; `nil` for other networks, or if the system does not report it.
    /// Measurements are stored separately for each generation. A change of the generation is not a change of network,
    /// so connections stay in use.
    public var generation: Int?

    /// Creates the status of a network, for a test or an app's own source.
    ///
    /// - Parameters:
    ///   - link: The kind of connection between the device and the network.
    ///   - isExpensive: Whether sending or receiving bytes may cost the user money.
    ///   - isConstrained: Whether the user wants little data to be used.
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

    /// A wired network, such as Ethernet.
    public static let wired = NetworkStatus(.wired)
    /// A Wi-Fi network.
    public static let wifi = NetworkStatus(.wifi)
    /// A mobile network that is expensive: bytes may cost the user money.
    public static let cellular = NetworkStatus(.cellular, isExpensive: true)
    /// The status without a network.
    public static let none = NetworkStatus(.none)
    /// The status while the network is unknown.
    public static let unknown = NetworkStatus(.unknown)

    /// Whether hosts may be reachable; `false` only if there is no network.
    public var isReachable: Bool { link != .none }

    /// The name of the link, the generation, and whether the network is expensive or constrained.
    public var description: String {
        link.rawValue + (generation.map { " \($0)G" } ?? "") + (isExpensive ? ", expensive" : "")
            + (isConstrained ? ", constrained" : "")
    }
}
