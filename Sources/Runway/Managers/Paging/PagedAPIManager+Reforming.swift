public import HTTPTypes
import RunwayJSON

extension PagedAPIManager {
    /// The endpoint type that the manager calls.
    public var endpointType: any Endpoint.Type { E.self }
    /// The status and header fields of the response that was delivered last; `nil` if no page was delivered.
    public var response: HTTPResponse? { list.response?.rawData.response }

    /// All rows in memory as one response: the response of the last page, with its rows replaced by all rows in memory.
    /// `nil` if no page was delivered.
    ///
    /// A reformer that reads one page can also read this response, and then shows the whole list.
    public var rawData: RawData? { list.response?.rawData }

    /// Uses a reformer to convert all rows in memory into a value for a view. Runs in the caller's isolation.
    ///
    /// - Throws: A ``NetworkError`` of the step ``FlightStep/reforming`` if the reformer throws or no page was
    ///   delivered. The record of the request whose result was delivered last contains the error, too.
    public func fetch<R: Reformer>(_ reformer: R) throws(NetworkError) -> R.Value {
        try reform(list.response?.rawData, reformer)
    }

    /// Uses a reformer to convert the body of the response that made the last load fail; see
    /// ``APIManaging/fetchFailure(_:)``.
    public func fetchFailure<R: Reformer>(_ reformer: R) throws(NetworkError) -> R.Value {
        try (error == nil ? nil : lastRequest).reformFailure(of: E.self, reformer)
    }

    /// Uses a reformer to convert only the rows that the last load added, for a view that appends them.
    ///
    /// - Throws: The errors of ``fetch(_:)``.
    public func fetchNewest<R: Reformer>(_ reformer: R) throws(NetworkError) -> R.Value {
        try reform(list.response?.newestRawData, reformer)
    }

    /// Uses a reformer to convert all rows in memory into a value for a view. Runs off the main actor.
    ///
    /// - Throws: The errors of ``fetch(_:)``.
    public func fetchConcurrently<R: Reformer & Sendable>(
        _ reformer: R
    ) async throws(NetworkError) -> R.Value where R.Value: Sendable {
        guard let response = list.response else { throw nothingToReform }
        return try await response.flight.reform(response.rawData, of: response.endpoint, with: reformer)
    }

    private func reform<R: Reformer>(_ rawData: RawData?, _ reformer: R) throws(NetworkError) -> R.Value {
        guard let response = list.response, let rawData else { throw nothingToReform }
        do {
            return try reformer.reform(rawData, from: response.endpoint)
        } catch {
            throw response.flight.reformingFailed(R.self, rawData, error)
        }
    }

    private var nothingToReform: NetworkError {
        NetworkError(.invalidResponse, in: .reforming, "There is no page of \(E.name) to reform: none has landed.")
    }
}
