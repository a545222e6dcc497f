#if Command
    import HTTPTypes
    import Hummingbird
    import NIOCore
    import Runway

    /// The APIs of the three teams: one catalogue behind them, other names, prices, paging and envelopes.
    ///
    /// | path | prices | pages | errors |
    /// |---|---|---|---|
    /// | `esf` | 万 (10,000 yuan), as numbers | `page` and `page_size` | by number; status 400 for a bad parameter |
    /// | `zf` | yuan a month, as numbers | `page` and `page_size` | by number; status 200 for a bad parameter |
    /// | `xinfang` | yuan a square metre, as text | `offset` and `limit` | by name; status 400 for a bad parameter |
    ///
    /// An unknown id has status 404, any other error of a service status 200.
    extension Listing.Kind {
        /// Responds to `GET /<team>/list`.
        func list(_ query: QueryParameters, of catalogue: ListingCatalogue) throws -> Response {
            let (limit, yuanPerUnit) =
                switch self {
                case .secondHand: ("price_max", 10_000)
                case .rental: ("rent_max", 1)
                case .newHome: ("average_price_max", 1)
                }
            let filter = try query.filter(maximumPrice: limit, yuanPerUnit: yuanPerUnit)
            let hasOffsets = self == .newHome
            let first =
                try hasOffsets
                ? query.integer("offset", in: 0...10_000_000) ?? 0 : query.integer("page", in: 1...100_000) ?? 1
            let size = try query.integer(hasOffsets ? "limit" : "page_size", in: 1...100) ?? 30
            let accepted = catalogue[self].filter(filter.accepts)
            let rest = accepted.dropFirst(hasOffsets ? first : (first - 1) * size)
            let items = ParameterValue.array(rest.prefix(size).map(\.json))
            let total = ParameterValue.integer(Int64(accepted.count))
            return switch self {
            case .secondHand:
                try .json(
                    ["status": "ok", "data": ["list": items, "total": total, "page": .integer(Int64(first))]])
            case .rental: try .json(["code": 0, "message": "", "result": ["items": items, "count": total]])
            case .newHome: try .json(["error": nil, "xinfang": items, "has_more": .bool(rest.count > size)])
            }
        }

        /// Responds to `GET /<team>/detail/{id}`.
        func detail(id: String, of catalogue: ListingCatalogue) throws -> Response {
            guard id.hasPrefix(idPrefix), let number = Int(id.dropFirst(idPrefix.count)),
                let item = catalogue.listing(self, number: number - firstNumber)?.json
            else { throw BackendFailure.noSuchListing(id) }
            return switch self {
            case .secondHand: try .json(["status": "ok", "data": item])
            case .rental: try .json(["code": 0, "message": "", "result": item])
            case .newHome: try .json(["error": nil, "xinfang": [item], "has_more": false])
            }
        }

        /// Responds by `body`, or with its failure in the team's envelope.
        func responding(_ body: () async throws -> Response) async throws -> Response {
            do { return try await body() } catch let failure as BackendFailure { return try refusal(failure) }
        }

        /// Puts a failure into the team's envelope, with the status that the team uses for it.
        func refusal(_ failure: BackendFailure) throws -> Response {
            let status: HTTPResponse.Status =
                switch failure {
                case .noSuchListing: .notFound
                case .badParameter where self != .rental: .badRequest
                default: .ok
                }
            let (number, message) = (ParameterValue.integer(failure.number), ParameterValue.string(failure.message))
            let envelope: Runway.Parameters =
                switch self {
                case .secondHand: ["status": "error", "error": ["code": number, "message": message]]
                case .rental: ["code": number, "message": message, "result": nil]
                case .newHome:
                    [
                        "error": ["name": .string(failure.name), "detail": message], "xinfang": .array([]),
                        "has_more": false,
                    ]
                }
            return try .json(envelope, status: status)
        }
    }

    /// The reasons for which the backend refuses requests. Each team uses an envelope and a status of its own.
    enum BackendFailure: Error, Equatable {
        /// A parameter that can't be read or is out of bounds.
        case badParameter(name: String, found: String, expected: String)
        /// A city, or a district of a city, that the catalogue does not have.
        case unknownPlace(String)
        case noSuchListing(String)
        /// The caller should get a new token, without involving the user.
        case tokenExpired
        /// The caller's user must log in again.
        case loginRequired
        /// A remark of the service team to its client team, which does not concern business code.
        case housekeeping

        /// The number that teams with numeric codes use.
        var number: Int64 { facts.number }
        /// The word that teams without numeric codes use.
        var name: String { facts.name }
        /// A sentence in English for developers.
        var message: String { facts.message }

        private var facts: (number: Int64, name: String, message: String) {
            switch self {
            case .unknownPlace(let place): (1001, "unknown_place", "unknown city or district \"\(place)\"")
            case .badParameter(let name, let found, let expected):
                (1002, "bad_parameter", "parameter \"\(name)\" is \"\(found)\", expected \(expected)")
            case .noSuchListing(let id): (1404, "no_such_listing", "no listing \"\(id)\"")
            case .tokenExpired: (2001, "token_expired", "the access token has expired")
            case .loginRequired: (2002, "login_required", "the session has ended, please log in")
            case .housekeeping: (3001, "housekeeping", "this API moves to another host next month")
            }
        }
    }

    extension Response {
        /// A JSON object whose names are sorted, so that equal objects make equal bytes.
        static func json(_ object: Runway.Parameters, status: HTTPResponse.Status = .ok) throws -> Response {
            .json(bytes: ByteBuffer(bytes: try object.json(dates: .iso8601)), status: status)
        }

        /// A response that is declared to be JSON, whatever `bytes` are.
        static func json(bytes: ByteBuffer, status: HTTPResponse.Status = .ok) -> Response {
            Response(
                status: status, headers: [.contentType: "application/json; charset=utf-8"],
                body: ResponseBody(byteBuffer: bytes))
        }
    }
#endif
