#if Command
    import HummingbirdCore

    /// The API of one of the three teams: same catalogue behind it, other names, prices, paging and envelopes.
    protocol TeamAPI: Sendable {
        /// The first component of the team's paths, and the prefix of its keys.
        static var name: String { get }

        var book: ListingBook { get }

        /// Responds to `GET /<name>/list`.
        func list(_ query: QueryParameters) throws -> Response

        /// Responds to `GET /<name>/detail/{id}`.
        func detail(id: String) throws -> Response

        /// Puts `failure` into the team's envelope, with the status that the team uses for it.
        func respond(to failure: BackendFailure) throws -> Response
    }
#endif
