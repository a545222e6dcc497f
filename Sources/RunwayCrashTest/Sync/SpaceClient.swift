import Foundation
import RunwaySyncCore

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Sends requests for one space to servers, each to any of them.
struct SpaceClient: Sendable {
    let ports: [Int]

    /// Returns the response; `nil` if there is none.
    func send(_ request: SyncRequest) async -> SyncResponse? {
        let wire = request.wire
        let query = wire.query.map { "\($0.name)=\($0.value)" }.joined(separator: "&")
        let port = ports.randomElement() ?? 0
        let space = "00000000-0000-0000-0000-000000000001"
        guard let url = URL(string: "http://127.0.0.1:\(port)/sync/\(space)/\(wire.name)?\(query)") else { return nil }
        var message = URLRequest(url: url)
        message.httpMethod = wire.method.rawValue
        if wire.method == .post { message.httpBody = Data(wire.body) }
        guard let (body, head) = try? await URLSession.shared.data(for: message),
            let status = (head as? HTTPURLResponse)?.statusCode
        else { return nil }
        return try? SyncResponse(WireResponse(status: status, body: Array(body)), to: request)
    }

    /// Reads the whole log.
    ///
    /// - Throws: ``CrashFailure`` if a server does not respond with a page.
    func entries() async throws -> [LogEntry] {
        var (entries, cursor) = ([LogEntry](), Cursor.none)
        while true {
            let response = await send(.pull(PullRequest(device: Self.reader, cursor: cursor, offset: 0)))
            guard case .page(let page)? = response, page.parts.first?.isLast ?? true else {
                throw CrashFailure("the log can't be read: \(String(describing: response))")
            }
            // An entry that the end of a page divides is whole in the next page.
            entries += page.parts.filter(\.isLast).map(\.entry)
            guard let last = entries.last, last.number < page.head else { return entries }
            cursor = Cursor(epoch: page.epoch, number: last.number, tag: last.tag)
        }
    }

    /// Reads all rows by a snapshot.
    ///
    /// - Throws: ``CrashFailure`` if a server does not respond with a page.
    func rows() async throws -> [RowKey: Row] {
        var (rows, after, start) = ([RowKey: Row](), RowKey?.none, Cursor?.none)
        while true {
            let request = SnapshotRequest(device: Self.reader, start: start, after: after, pending: [])
            let response = await send(.snapshot(request))
            guard case .snapshot(let page)? = response else {
                throw CrashFailure("the rows can't be read: \(String(describing: response))")
            }
            for row in page.rows { rows[row.key] = row.row }
            if page.isLast { return rows }
            (after, start) = (page.rows.last?.key, page.start)
        }
    }

    private static let reader = Identifier(high: 9, low: 9)
}
