public import Runway

/// Shows the response that would result if the server had executed the waiting changes. It stores nothing.
///
/// ```swift
/// let rename = OptimisticChange(of: RenameNote.self) { rename, list in list.renaming(rename.id, to: rename.title) }
/// let shown = OptimisticChange.preview(list, with: try await queue.changes(of: Notes.self, on: network), [rename])
/// ```
///
/// The response itself is not changed, so nothing has to be undone. A change that the server refuses is not in the next
/// preview; nor are changes that are held because of it. Make a preview whenever the list or the queue changes.
public struct OptimisticChange: Sendable {
    /// Returns a copy of a response that shows the effect of a change.
    public typealias Apply = @Sendable (QueuedChange, RawData) -> RawData

    private let service: String
    private let endpoint: String
    private let apply: Apply

    /// Describes the effect of an endpoint's calls on a response.
    ///
    /// - Parameters:
    ///   - endpoint: The endpoint of the changes.
    ///   - apply: Returns the response with one change applied. It must depend only on its parameters, and must be
    ///     idempotent: the server may have executed a change whose response was lost, so the response may show its
    ///     effect already. For example, set a title, or insert a note if none has its id; do not append.
    public init<E: Endpoint>(of endpoint: E.Type, apply: @escaping Apply) {
        service = E.Service.name
        self.endpoint = endpoint.name
        self.apply = apply
    }

    /// Describes the effect of a `Decodable` endpoint's calls on a response. A call that can't be restored
    /// (`QueuedChange.call(as:)`) is not applied.
    ///
    /// - Parameters:
    ///   - endpoint: The endpoint of the changes.
    ///   - applyCall: Like `apply` of ``init(of:apply:)``, with the call instead of the change.
    public init<E: Endpoint & Decodable>(of endpoint: E.Type, applyCall: @escaping @Sendable (E, RawData) -> RawData) {
        self.init(of: endpoint) { (change: QueuedChange, rawData: RawData) in
            change.call(as: endpoint).map { applyCall($0, rawData) } ?? rawData
        }
    }

    /// Returns a copy of a response that shows the effects of all waiting changes, in their order. Refused, expired and
    /// held changes are not applied, and neither are changes of endpoints that `effects` does not contain.
    public static func preview(
        _ rawData: RawData, with changes: [QueuedChange], _ functions: [OptimisticChange]
    ) -> RawData {
        changes.filter { $0.state == .waiting || $0.state == .sending }.reduce(rawData) { shown, change in
            let function = functions.first { $0.service == change.service && $0.endpoint == change.endpoint }
            return function?.apply(change, shown) ?? shown
        }
    }
}
