package import RunwayJSON

/// A request of a device as HTTP carries it: the method, the last component of the path, the query and the body.
package struct WireRequest: Hashable, Sendable {
    package enum Method: String, Hashable, Sendable {
        case get = "GET"
        case post = "POST"
    }

    package struct QueryItem: Hashable, Sendable {
        package let name: String
        package let value: String

        package init(_ name: String, _ value: String) { (self.name, self.value) = (name, value) }
    }

    package var method: Method
    /// The component of the path after the space: `push`, `pull` or `snapshot`.
    package var name: String
    /// The parameters. Their values have only characters that need no escape in a URL.
    package var query: [QueryItem]
    /// The JSON of a `POST`; empty for a `GET`.
    package var body: [UInt8]

    package init(method: Method, name: String, query: [QueryItem] = [], body: [UInt8] = []) {
        (self.method, self.name, self.query, self.body) = (method, name, query, body)
    }
}

/// A response as HTTP carries it.
package struct WireResponse: Hashable, Sendable {
    package var status: Int
    /// JSON.
    package var body: [UInt8]

    package init(status: Int, body: [UInt8]) { (self.status, self.body) = (status, body) }
}

extension SyncRequest {
    /// The request as HTTP carries it.
    package var wire: WireRequest {
        switch self {
        case .push(let packet): WireRequest(method: .post, name: "push", body: packet.encoded())
        case .snapshot(let request): WireRequest(method: .post, name: "snapshot", body: request.encoded())
        case .pull(let request):
            WireRequest(
                method: .get, name: "pull",
                query: [
                    .init("device", "\(request.device)"), .init("epoch", "\(request.cursor.epoch)"),
                    .init("number", "\(request.cursor.number)"), .init("tag", HexWord(request.cursor.tag).text),
                    .init("offset", "\(request.offset)"), .init("schema", "\(request.schema)"),
                ])
        }
    }

    /// Reads a request.
    ///
    /// - Throws: ``WireError`` for a request that is malformed or exceeds a bound of ``WireBounds``. The server then
    ///   responds with ``SyncResponse/invalid``.
    package init(_ wire: WireRequest) throws(WireError) {
        switch (wire.method, wire.name) {
        case (.post, "push"): self = .push(try Packet(encoded: wire.body))
        case (.post, "snapshot"): self = .snapshot(try SnapshotRequest(encoded: wire.body))
        case (.get, "pull"):
            let cursor = Cursor(
                epoch: try wire.parameter("epoch", Identifier.init(lowercase:)),
                number: Int64(try wire.parameter("number", WireRequest.count)),
                tag: try wire.parameter("tag", HexWord.init(text:)).word)
            self = .pull(
                PullRequest(
                    device: try wire.parameter("device", Identifier.init(lowercase:)), cursor: cursor,
                    offset: try wire.parameter("offset", WireRequest.count),
                    schema: Int64(try wire.parameter("schema", WireRequest.count))))
        default: throw WireError("\(wire.method.rawValue): expected POST push, GET pull or POST snapshot")
        }
    }
}

extension WireRequest {
    /// Returns the value of a parameter that the request has once.
    fileprivate func parameter<Value>(_ name: String, _ read: (String) -> Value?) throws(WireError) -> Value {
        let items = query.filter { $0.name == name }
        guard items.count == 1, let value = read(items[0].value) else {
            throw WireError("\(name): expected a valid parameter, once")
        }
        return value
    }

    /// Reads an integer from 0 to 2^53, in its shortest form.
    fileprivate static func count(_ text: String) -> Int? {
        Int64(text).flatMap { 0...WireBounds.number ~= $0 && String($0) == text ? Int(exactly: $0) : nil }
    }
}

extension SnapshotRequest: WireCodable {
    /// The largest number of transactions that a request names. The server looks up each of them.
    package static let maximumPending = 20_000

    package func write(to writer: inout JSONWriter) {
        writer.object {
            $0.member("device", device)
            $0.member("start", ifPresent: start)
            $0.member("after", ifPresent: after)
            if !pending.isEmpty { $0.list("pending", pending) }
            $0.member("schema", schema)
        }
    }

    package init(_ value: JSONValue) throws(WireError) {
        try self.init(
            device: value.read("device"), start: value.readIfPresent("start"), after: value.readIfPresent("after"),
            pending: value["pending"].exists ? value.readList("pending", limit: Self.maximumPending) : [],
            schema: value.read("schema"))
    }
}

extension LogPage: WireCodable {
    package func write(to writer: inout JSONWriter) {
        writer.object {
            $0.list("parts", parts)
            $0.member("head", head)
            $0.member("end", end)
            $0.member("epoch", epoch)
            $0.member("digest", digest)
            $0.member("horizon", horizon)
            $0.member("backup", backup)
        }
    }

    package init(_ value: JSONValue) throws(WireError) {
        try self.init(
            parts: value.readList("parts", limit: LogEntry.maximumChanges), head: value.read("head"),
            end: value.read("end"), epoch: value.read("epoch"), digest: value.read("digest"),
            horizon: value.read("horizon"), backup: value.read("backup"))
    }
}

extension SnapshotPage: WireCodable {
    package func write(to writer: inout JSONWriter) {
        writer.object {
            $0.member("start", start)
            $0.list("rows", rows)
            $0.flag("more", !isLast)
            $0.member("head", head)
            $0.member("end", end)
            if !decided.isEmpty { $0.list("decided", decided) }
            $0.member("horizon", horizon)
        }
    }

    package init(_ value: JSONValue) throws(WireError) {
        try self.init(
            start: value.read("start"), rows: value.readList("rows", limit: LogEntry.maximumChanges),
            isLast: !value.readFlag("more"), head: value.read("head"), end: value.read("end"),
            decided: value["decided"].exists
                ? value.readList("decided", limit: SnapshotRequest.maximumPending) : [],
            horizon: value.read("horizon"))
    }
}
