import NIOHPACK
import RunwayTestServer

/// What an origin saw of a request.
struct SeenRequest: Sendable {
    let line: String
    let fields: [String]
    let body: [UInt8]
    let isComplete: Bool

    init(_ request: ReceivedRequest) {
        line = "\(request.method) \(request.target) \(request.version)"
        fields = request.fields.map { "\($0.name.lowercased()): \($0.value)" }.sorted()
        body = request.body
        isComplete = request.isComplete
    }

    /// A request over HTTP/2 that came in full.
    init(_ head: HPACKHeaders, _ body: [UInt8]) {
        line = "\(head.first(name: ":method") ?? "") \(head.first(name: ":path") ?? "") HTTP/2"
        fields = head.filter { ![":method", ":path"].contains($0.name) }.map { "\($0.name): \($0.value)" }.sorted()
        self.body = body
        isComplete = true
    }

    /// Whether an origin could not distinguish the two, except for one difference: for an empty body some send `Content-Length:
    /// 0`, and some nothing. RFC 9110 §8.6 requires it if the method anticipates a body (POST, PUT, PATCH), and leaves it open
    /// elsewhere. A request whose response was sent before its end may have been received up to any byte.
    func isLike(_ other: SeenRequest) -> Bool {
        line == other.line && received == other.received && (!isComplete || !other.isComplete || body == other.body)
    }

    private var received: [String] {
        ["POST", "PUT", "PATCH"].contains { line.hasPrefix($0) } ? fields : fields.filter { $0 != "content-length: 0" }
    }
}
