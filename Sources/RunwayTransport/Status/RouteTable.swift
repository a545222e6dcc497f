import Runway

/// The links and default routes of a machine, and the network status that follows from them.
struct RouteTable {
    struct Link {
        var name: String
        var isUp: Bool
        var isLoopback: Bool
    }

    struct DefaultRoute {
        var link: UInt32
        var gateway: String?
        var metric: UInt32
        var isV6: Bool
    }

    private(set) var links: [UInt32: Link] = [:]
    private(set) var routes: [DefaultRoute] = []

    /// Reads one message of a table.
    mutating func read(_ message: NetlinkMessage) {
        switch message.kind {
        case NetlinkMessage.Kind.newLink: readLink(message)
        case NetlinkMessage.Kind.newRoute: readRoute(message)
        default: break
        }
    }

    /// Returns the status for the default route with the lowest metric whose link is up, or "no network" if there is no
    /// such route.
    ///
    /// - Parameter kind: Returns the kind of link for an interface name.
    func status(_ kind: (String) -> NetworkStatus.Link) -> NetworkStatus {
        let usable = routes.filter { route in links[route.link].map { $0.isUp && !$0.isLoopback } ?? false }
        let best = usable.min { ($0.isV6 ? 1 : 0, $0.metric, $0.link) < ($1.isV6 ? 1 : 0, $1.metric, $1.link) }
        guard let best, let link = links[best.link] else { return .none }
        let linkKind = kind(link.name)
        return NetworkStatus(
            linkKind, isExpensive: linkKind == .cellular,
            identity: best.gateway.map { "\($0) on \(link.name)" } ?? link.name)
    }

    /// Reads a struct ifinfomsg: family, padding, type, index, flags, change.
    private mutating func readLink(_ message: NetlinkMessage) {
        guard let index = message.content.number(at: 4, as: UInt32.self),
            let flags = message.content.number(at: 8, as: UInt32.self)
        else { return }
        let (isUp, isLoopback, isRunning): (UInt32, UInt32, UInt32) = (0x1, 0x8, 0x40)
        // The name of a link has at most 15 bytes (IFNAMSIZ).
        let name = message.attributes(after: 16)[3]?.prefix { $0 != 0 }.prefix(15)
        links[index] = Link(
            name: name.map { String(decoding: $0, as: UTF8.self) } ?? "link \(index)",
            isUp: flags & (isUp | isRunning) == isUp | isRunning, isLoopback: flags & isLoopback != 0)
    }

    /// Reads a struct rtmsg: family, length of destination, length of source, tos, table, protocol, scope, type, flags.
    private mutating func readRoute(_ message: NetlinkMessage) {
        let content = message.content
        guard content.count >= 12, let family = content.number(at: 0, as: UInt8.self),
            let length = content.number(at: 1, as: UInt8.self), let table = content.number(at: 4, as: UInt8.self),
            let type = content.number(at: 7, as: UInt8.self)
        else { return }
        let (mainTable, unicast, v4, v6): (UInt8, UInt8, UInt8, UInt8) = (254, 1, 2, 10)
        guard length == 0, table == mainTable, type == unicast, family == v4 || family == v6 else { return }
        let attributes = message.attributes(after: 12)
        // A route over several links lists them in attribute 9 (struct rtnexthop: length, flags, hops, link). Only the
        // first one is used.
        let link = attributes[4]?.number(at: 0, as: UInt32.self) ?? attributes[9]?.number(at: 4, as: UInt32.self)
        guard let link else { return }
        routes.append(
            DefaultRoute(
                link: link, gateway: attributes[5].flatMap(Self.text),
                metric: attributes[6]?.number(at: 0, as: UInt32.self) ?? 0,
                isV6: family == v6))
    }

    /// Returns an address as text, or `nil` if the bytes are not an address.
    private static func text(_ bytes: ArraySlice<UInt8>) -> String? {
        guard bytes.count == 4 || bytes.count == 16 else { return nil }
        if bytes.count == 4 { return bytes.map { String($0) }.joined(separator: ".") }
        let words = stride(from: bytes.startIndex, to: bytes.endIndex - 1, by: 2).map { index in
            String(UInt16(bytes[index]) << 8 | UInt16(bytes[index + 1]), radix: 16)
        }
        let text = words.joined(separator: ":")
        return IPAddress(text)?.description ?? text
    }
}
