public import AppleDispatch
public import Synchronization

// developer.apple.com: NWInterface
public struct NWInterface: Hashable, Sendable {
    // developer.apple.com: NWInterface.InterfaceType
    public enum InterfaceType: Sendable { case other, wifi, cellular, wiredEthernet, loopback }
    public let type: InterfaceType
    public let name: String
    public let index: Int
    public init(fake type: InterfaceType, _ name: String) { (self.type, self.name, index) = (type, name, 0) }
}

// developer.apple.com: IPv4Address, IPv6Address
public struct IPv4Address: Hashable, Sendable, CustomDebugStringConvertible {
    public init() {}
    public var debugDescription: String { "10.0.0.1" }
}
public struct IPv6Address: Hashable, Sendable, CustomDebugStringConvertible {
    public var debugDescription: String { "fe80::1" }
}

// developer.apple.com: NWEndpoint
public enum NWEndpoint: Hashable, Sendable {
    case hostPort(host: Host, port: Port)
    case service(name: String, type: String, domain: String, interface: NWInterface?)
    case unix(path: String)
    // developer.apple.com: NWEndpoint.Host
    public enum Host: Hashable, Sendable, CustomDebugStringConvertible {
        case name(String, NWInterface?)
        case ipv4(IPv4Address)
        case ipv6(IPv6Address)
        public var debugDescription: String {
            switch self {
            case .name(let name, _): name
            case .ipv4(let address): address.debugDescription
            case .ipv6(let address): address.debugDescription
            }
        }
    }
    // developer.apple.com: NWEndpoint.Port
    public struct Port: Hashable, Sendable, RawRepresentable {
        public let rawValue: UInt16
        public init?(rawValue: UInt16) { self.rawValue = rawValue }
    }
}

// developer.apple.com: NWPath
public struct NWPath: Equatable, Sendable {
    // developer.apple.com: NWPath.Status
    public enum Status: Sendable { case satisfied, unsatisfied, requiresConnection }
    public let status: Status
    public let availableInterfaces: [NWInterface]
    public let isExpensive: Bool
    public let isConstrained: Bool
    public let gateways: [NWEndpoint]
    public init(
        fake status: Status, _ interfaces: [NWInterface] = [], gateways: [NWEndpoint] = [], isConstrained: Bool = false
    ) {
        (self.status, availableInterfaces, self.gateways) = (status, interfaces, gateways)
        (isExpensive, self.isConstrained) = (interfaces.first?.type == .cellular, isConstrained)
    }
    // developer.apple.com: NWPath.usesInterfaceType(_:)
    public func usesInterfaceType(_ type: NWInterface.InterfaceType) -> Bool {
        availableInterfaces.contains { $0.type == type }
    }
}

// developer.apple.com: NWPathMonitor
public final class NWPathMonitor: @unchecked Sendable {
    public init() {}
    public init(requiredInterfaceType: NWInterface.InterfaceType) {}
    // developer.apple.com: NWPathMonitor.currentPath
    public var currentPath: NWPath { Self.fakePath.withLock(\.self) }
    // developer.apple.com: NWPathMonitor.pathUpdateHandler
    public var pathUpdateHandler: (@Sendable (_ newPath: NWPath) -> Void)?
    // developer.apple.com: NWPathMonitor.start(queue:)
    public func start(queue: DispatchQueue) {
        queue.async(group: Self.reports) { [pathUpdateHandler] in pathUpdateHandler?(Self.fakePath.withLock(\.self)) }
    }
    // developer.apple.com: NWPathMonitor.cancel()
    public func cancel() {}

    /// Returns when every monitor has reported.
    public static func waitForReports() { reports.wait() }
    private static let reports = DispatchGroup()
    /// What every monitor of the fakes reports when it starts.
    public static let fakePath = Mutex(NWPath(fake: .satisfied, [NWInterface(fake: .wifi, "en0")]))
}
