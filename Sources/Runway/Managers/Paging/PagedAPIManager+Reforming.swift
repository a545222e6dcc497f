public import HTTPTypes
import RunwayJSON

extension PagedAPIManager {
    /// The endpoint that the manager calls.
    public var endpointType: any Endpoint.Type { E.self }
    /// The head of the answer to the request that landed last.
    public var response: HTTPResponse? { list.answer?.rawData.response }

    /// The rows in memory as one answer: the last page's, with all the rows in the place of its own.
    ///
    /// A reformer that reads one page reads this too, and shows the whole list.
    public var rawData: RawData? { list.answer?.rawData }

    /// Lets a reformer make what a view shows from all rows in memory, here and now, in the isolation of the caller.
    ///
    /// - Throws: One ``NetworkError`` of the step ``FlightStep/reforming``: what the reformer threw, or that nothing has landed. It is
    ///   on the record of the request that landed last.
    public func fetch<R: Reformer>(_ reformer: R) throws(NetworkError) -> R.Value {
        try reform(list.answer?.rawData, reformer)
    }

    /// Lets a reformer make what a view shows from the rows that the last load brought, for a view that adds them to what it shows.
    ///
    /// - Throws: As ``fetch(_:)``.
    public func fetchNewest<R: Reformer>(_ reformer: R) throws(NetworkError) -> R.Value {
        try reform(list.answer?.newestRawData, reformer)
    }

    /// Lets a reformer make what a view shows from all rows in memory, off the main actor.
    ///
    /// - Throws: As ``fetch(_:)``.
    public func fetchConcurrently<R: Reformer & Sendable>(
        _ reformer: R
    ) async throws(NetworkError) -> R.Value where R.Value: Sendable {
        guard let answer = list.answer else { throw nothingToReform }
        return try await Self.reform(answer.rawData, of: answer.endpoint, in: answer.flight, reformer)
    }

    @concurrent
    private nonisolated static func reform<R: Reformer & Sendable>(
        _ rawData: RawData, of endpoint: E, in flight: Flight, _ reformer: R
    ) async throws(NetworkError) -> R.Value where R.Value: Sendable {
        do {
            return try reformer.reform(rawData, from: endpoint)
        } catch {
            throw flight.reformingFailed(R.self, rawData, error)
        }
    }

    private func reform<R: Reformer>(_ rawData: RawData?, _ reformer: R) throws(NetworkError) -> R.Value {
        guard let answer = list.answer, let rawData else { throw nothingToReform }
        do {
            return try reformer.reform(rawData, from: answer.endpoint)
        } catch {
            throw answer.flight.reformingFailed(R.self, rawData, error)
        }
    }

    private var nothingToReform: NetworkError {
        NetworkError(.invalidResponse, in: .reforming, "There is no page of \(E.name) to reform: none has landed.")
    }
}
