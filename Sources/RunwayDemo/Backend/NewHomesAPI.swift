#if Command
    import HTTPTypes
    import HummingbirdCore

    /// The new-homes team's API, `xinfang_*`: prices a square metre as text, `offset` and `limit`, errors by name,
    /// a bad parameter is status 400, any other error of the service status 200.
    struct NewHomesAPI: TeamAPI {
        static let name = "xinfang"

        let book: ListingBook

        private struct ErrorContent: Encodable {
            let name: String
            let detail: String
        }

        private struct ListEnvelope: Encodable {
            var error: ErrorContent?
            let xinfang: [NewHomeItem]
            let has_more: Bool

            enum CodingKeys: CodingKey {
                case error, xinfang, has_more
            }

            // Written out so that a missing error is null, not left away.
            func encode(to encoder: any Encoder) throws {
                var container = encoder.container(keyedBy: CodingKeys.self)
                try container.encode(error, forKey: .error)
                try container.encode(xinfang, forKey: .xinfang)
                try container.encode(has_more, forKey: .has_more)
            }
        }

        func list(_ query: QueryParameters) throws -> Response {
            let filter = try query.filter(maximumPrice: "average_price_max", yuanPerUnit: 1)
            let offset = try query.integer("offset", in: 0...10_000_000) ?? 0
            let limit = try query.integer("limit", in: 1...100) ?? 30
            let found = book.catalogue.page(of: .newHome, filter: filter, offset: offset, limit: limit)
            return try .json(
                ListEnvelope(xinfang: found.listings.map(NewHomeItem.init), has_more: found.hasMore))
        }

        func detail(id: String) throws -> Response {
            guard let number = NewHomeItem.number(of: id),
                let listing = book.catalogue.listing(.newHome, number: number)
            else { throw BackendFailure.noSuchListing(id) }
            return try .json(ListEnvelope(xinfang: [NewHomeItem(listing)], has_more: false))
        }

        func respond(to failure: BackendFailure) throws -> Response {
            let status: HTTPResponse.Status =
                switch failure {
                case .badParameter: .badRequest
                case .noSuchListing: .notFound
                case .unknownPlace, .tokenExpired, .loginRequired, .housekeeping: .ok
                }
            return try .json(
                ListEnvelope(
                    error: ErrorContent(name: failure.name, detail: failure.message), xinfang: [], has_more: false),
                status: status)
        }
    }
#endif
