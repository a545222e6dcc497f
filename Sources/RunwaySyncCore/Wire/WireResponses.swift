import RunwayJSON

extension SyncResponse {
    /// The response as HTTP carries it.
    package var wire: WireResponse {
        switch self {
        case .verdicts(let verdicts, let head):
            .ok {
                $0.list("verdicts", verdicts)
                $0.member("head", head)
            }
        case .page(let page): WireResponse(status: 200, body: page.encoded())
        case .snapshot(let page): WireResponse(status: 200, body: page.encoded())
        case .gap(let end): .error(409, "gap") { $0.member("end", end) }
        case .forked: .error(409, "forked")
        case .horizon: .error(410, "horizon")
        case .history: .error(410, "history")
        case .revoked(let decisions): .error(403, "space-revoked") { $0.list("decisions", decisions) }
        case .deviceTaken: .error(403, "device-taken")
        case .tooLarge: .error(413, "tooLarge")
        case .invalid: .error(422, "invalid")
        case .upgrade: .error(426, "upgrade")
        case .tooManyDevices:
            // A device that does not know the name waits, too.
            .error(429, "too-many-devices") { $0.member("milliseconds", 3_600_000 as Int64) }
        case .wait(let milliseconds): .error(503, "wait") { $0.member("milliseconds", max(milliseconds, 0)) }
        }
    }

    /// Reads the response to a request.
    ///
    /// - Throws: ``WireError`` for a response that is malformed, or that no server of Runway makes, such as a page of a
    ///   proxy. The device then handles the request as lost.
    package init(_ wire: WireResponse, to request: SyncRequest) throws(WireError) {
        if wire.status == 200 {
            switch request {
            case .push: self = .verdicts(try Verdicts(encoded: wire.body))
            case .pull: self = .page(try LogPage(encoded: wire.body))
            case .snapshot: self = .snapshot(try SnapshotPage(encoded: wire.body))
            }
        } else {
            self = try ErrorBody(encoded: wire.body).response(status: wire.status)
        }
    }

    private static func verdicts(_ body: Verdicts) -> SyncResponse { .verdicts(body.verdicts, head: body.head) }
}

extension WireResponse {
    fileprivate static func ok(_ write: (inout JSONWriter) -> Void) -> WireResponse {
        var writer = JSONWriter()
        writer.object(write)
        return WireResponse(status: 200, body: writer.bytes)
    }

    fileprivate static func error(
        _ status: Int, _ name: String, _ write: (inout JSONWriter) -> Void = { _ in }
    ) -> WireResponse {
        var writer = JSONWriter()
        writer.object {
            $0.text("error", name)
            write(&$0)
        }
        return WireResponse(status: status, body: writer.bytes)
    }
}

/// The body of a response with verdicts.
private struct Verdicts: WireCodable {
    let verdicts: [Verdict]
    let head: Int64

    func write(to writer: inout JSONWriter) {}

    init(_ value: JSONValue) throws(WireError) {
        verdicts = try value.readList("verdicts", limit: WireBounds.transactions)
        head = try value.read("head")
    }
}

/// The body of a response that is an error.
private struct ErrorBody: WireCodable {
    let name: String
    let value: JSONValue

    func write(to writer: inout JSONWriter) {}

    init(_ value: JSONValue) throws(WireError) {
        name = try value.member("error").name()
        self.value = value
    }

    func response(status: Int) throws(WireError) -> SyncResponse {
        switch (status, name) {
        case (409, "gap"): .gap(try value.read("end"))
        case (409, "forked"): .forked
        case (410, "horizon"): .horizon
        case (410, "history"): .history
        case (403, "space-revoked"):
            .revoked(try value.readList("decisions", limit: WireBounds.transactions))
        case (403, "device-taken"): .deviceTaken
        case (413, _): .tooLarge
        case (422, _): .invalid
        case (426, _): .upgrade
        case (429, "too-many-devices"): .tooManyDevices
        case (429, _), (503, _): .wait(milliseconds: try value.read("milliseconds"))
        default: throw WireError("an unknown error")
        }
    }
}
