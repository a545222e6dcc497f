/// The result of reading a response for a load.
enum PageReading<E: PagedEndpoint>: Sendable {
    /// The load needs another page.
    case query(PageQuery, any PageLoad)
    /// The load ends with this list.
    case list(PageList<E>)
    /// The pages of the load can't be combined.
    case unconnected(PagingFailure)
    /// The response contains no valid page.
    case failure(NetworkError)

    /// Reads and combines pages. Runs off the main actor, since pages may be long.
    ///
    /// - Parameters:
    ///   - rawData: The response.
    ///   - endpoint: The endpoint of the request.
    ///   - flight: The call of the request.
    ///   - pages: The load that receives the page.
    ///   - items: The rows that are in memory.
    @concurrent
    static func reading(
        of rawData: RawData, of endpoint: E, _ flight: Flight, for pages: any PageLoad, after items: [PageItem]
    ) async -> Self {
        do {
            let page = PageList<E>.Page(rawData: rawData, content: try endpoint.read(rawData))
            var pages = pages
            switch pages.take(page.content, isCached: rawData.source != .network) {
            case .ask(let query): return .query(query, pages)
            case .land(let window): return .list(PageList(window, after: items, by: flight, endpoint, page))
            case .fail(let failure): return .unconnected(failure)
            }
        } catch {
            return .failure(flight.locate(.invalidResponse(in: .checking, rawData, error)))
        }
    }
}
