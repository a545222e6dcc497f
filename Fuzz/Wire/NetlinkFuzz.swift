@testable import Runway
@testable import RunwayTransport

/// What the kernel says of links and routes.
enum NetlinkFuzz {
    static func run(_ input: FuzzInput) {
        var table = RouteTable()
        var byteCount = 0
        for message in NetlinkMessage.messages(in: input.bytes) {
            byteCount += 16 + message.content.count
            for fixed in [12, 16] {
                let attributes = message.attributes(after: fixed)
                let within = attributes.values.allSatisfy {
                    $0.startIndex >= message.content.startIndex && $0.endIndex <= message.content.endIndex
                }
                check(within, "an attribute outside of its message")
            }
            table.read(message)
        }
        check(byteCount <= input.bytes.count, "messages longer than all that came")
        check(16 * (table.links.count + table.routes.count) <= input.bytes.count, "more links than came")
        let status = table.status { $0.hasPrefix("w") ? .wifi : .wired }
        check(status.isReachable == (status.identity != nil), "a network without a name")
        check((status.identity ?? "").utf8.count <= 100, "a long name")
        check(table.routes.allSatisfy { ($0.gateway ?? "").utf8.count <= 45 }, "a gateway that is no address")
    }
}
