#if Command
    import HTTPTypes
    import HummingbirdCore

    /// The rental team's API, `zf_*`: rents in whole yuan, `page` and `page_size`, and status 200 for every error
    /// except an unknown id: the error is in `code` and `message`.
    struct RentalAPI: TeamAPI {
        static let name = "zf"

        let book: ListingBook

        private struct Envelope<Result: Encodable>: Encodable {
            var code = 0
            var message = ""
            let result: Result?

            enum CodingKeys: CodingKey {
                case code, message, result
            }

            // Written out so that a missing result is null, not left away.
            func encode(to encoder: any Encoder) throws {
                var container = encoder.container(keyedBy: CodingKeys.self)
                try container.encode(code, forKey: .code)
                try container.encode(message, forKey: .message)
                try container.encode(result, forKey: .result)
            }
        }

        private struct List: Encodable {
            let items: [RentalItem]
            let count: Int
        }

        func list(_ query: QueryParameters) throws -> Response {
            let filter = try query.filter(maximumPrice: "rent_max", yuanPerUnit: 1)
            let page = try query.integer("page", in: 1...100_000) ?? 1
            let size = try query.integer("page_size", in: 1...100) ?? 30
            let found = book.catalogue.page(of: .rental, filter: filter, offset: (page - 1) * size, limit: size)
            return try .json(
                Envelope(result: List(items: found.listings.map(RentalItem.init), count: found.total)))
        }

        func detail(id: String) throws -> Response {
            guard let number = RentalItem.number(of: id),
                let listing = book.catalogue.listing(.rental, number: number)
            else { throw BackendFailure.noSuchListing(id) }
            return try .json(Envelope(result: RentalItem(listing)))
        }

        func respond(to failure: BackendFailure) throws -> Response {
            let status: HTTPResponse.Status =
                switch failure {
                case .noSuchListing: .notFound
                case .badParameter, .unknownPlace, .tokenExpired, .loginRequired, .housekeeping: .ok
                }
            return try .json(
                Envelope<List>(code: failure.code, message: failure.message, result: nil), status: status)
        }
    }
#endif
