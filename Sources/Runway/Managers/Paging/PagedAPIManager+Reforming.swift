public import HTTPTypes
import RunwayJSON

extension PagedAPIManager {
    /// The endpoint that the manager calls.
    public var endpointType: any Endpoint.Type { E.self }
    /// The head of the response to the request that landed last.
    public var response: HTTPResponse? { list.response?.rawData.response }

    /// The rows in memory as one response: the response of the last page, with all rows instead of its own.
    ///
    /// A reformer that reads one page reads this too, and shows the whole list.
    public var rawData: RawData? { list.response?.rawData }

    /// Converts all rows in memory into a value for a view by a reformer, in the isolation of the caller.
    ///
    /// - Throws: One ``NetworkError`` of the step ``FlightStep/reforming``: with the error of the reformer, or because
    ///   no page has landed. The record of the request that landed last has it too.
    public func fetch<R: Reformer>(_ reformer: R) throws(NetworkError) -> R.Value {
        try reform(list.response?.rawData, reformer)
    }

    /// Lets a reformer convert the body of the response that made the last load fail; see
    /// ``APIManaging/fetchFailure(_:)``.
    public func fetchFailure<R: Reformer>(_ reformer: R) throws(NetworkError) -> R.Value {
        try (error == nil ? nil : lastRequest).reformFailure(of: E.self, reformer)
    }

    /// Converts only the rows that the last load added by a reformer, for a view that appends them.
    ///
    /// - Throws: The errors of ``fetch(_:)``.
    public func fetchNewest<R: Reformer>(_ reformer: R) throws(NetworkError) -> R.Value {
        try reform(list.response?.newestRawData, reformer)
    }

    /// Converts all rows in memory into a value for a view by a reformer, off the main actor.
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
