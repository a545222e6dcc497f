#if Command
    import HTTPTypes
    import HummingbirdCore

    /// The second-hand team's API, `esf_*`: prices in 万 (ten thousand yuan) as numbers, `page` and `page_size`,
    /// a bad parameter is status 400, any other error of the service status 200.
    struct SecondHandAPI: TeamAPI {
        static let name = "esf"

        let book: ListingBook

        private struct ListEnvelope: Encodable {
            struct Content: Encodable {
                let list: [SecondHandItem]
                let total: Int
                let page: Int
            }
            let status = "ok"
            let data: Content
        }

        private struct DetailEnvelope: Encodable {
            let status = "ok"
            let data: SecondHandItem
        }

        private struct ErrorEnvelope: Encodable {
            struct Content: Encodable {
                let code: Int
                let message: String
            }
            let status = "error"
            let error: Content
        }

        func list(_ query: QueryParameters) throws -> Response {
            let filter = try query.filter(maximumPrice: "price_max", yuanPerUnit: 10_000)
            let page = try query.integer("page", in: 1...100_000) ?? 1
            let size = try query.integer("page_size", in: 1...100) ?? 30
            let found = book.catalogue.page(of: .secondHand, filter: filter, offset: (page - 1) * size, limit: size)
            return try .json(
                ListEnvelope(
                    data: .init(list: found.listings.map(SecondHandItem.init), total: found.total, page: page)))
        }

        func detail(id: String) throws -> Response {
            guard let number = SecondHandItem.number(of: id),
                let listing = book.catalogue.listing(.secondHand, number: number)
            else { throw BackendFailure.noSuchListing(id) }
            return try .json(DetailEnvelope(data: SecondHandItem(listing)))
        }

        func respond(to failure: BackendFailure) throws -> Response {
            let status: HTTPResponse.Status =
                switch failure {
                case .badParameter: .badRequest
                case .noSuchListing: .notFound
                case .unknownPlace, .tokenExpired, .loginRequired, .housekeeping: .ok
                }
            return try .json(
                ErrorEnvelope(error: .init(code: failure.code, message: failure.message)), status: status)
        }
    }
#endif
