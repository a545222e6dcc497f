#if Command
    import HTTPTypes
    import Hummingbird
    import NIOCore
    import Runway

    /// The APIs of the three teams. They serve one catalogue with different names, prices, paging and envelopes.
    ///
    /// | path | prices | pages | errors |
    /// |---|---|---|---|
    /// | `esf` | 万 (10,000 yuan), as numbers | `page` and `page_size` | by number; status 400 for a bad parameter |
    /// | `zf` | yuan a month, as numbers | `page` and `page_size` | by number; status 200 for a bad parameter |
    /// | `xinfang` | yuan a square metre, as text | `offset` and `limit` | by name; status 400 for a bad parameter |
    ///
    /// An unknown id has status 404, any other error of a service status 200.
    extension Listing.Kind {
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

        /// Runs `body`, and returns its response. If `body` throws a ``BackendFailure``, returns the error in the
        /// team's format.
        func responding(_ body: () async throws -> Response) async throws -> Response {
            do { return try await body() } catch let failure as BackendFailure { return try refusal(failure) }
        }

        /// Creates the response for a failure, with the JSON format and the status that the team uses.
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

    /// The reasons for which the backend refuses requests. Each team has its own JSON format and status for them.
    enum BackendFailure: Error, Equatable {
        /// A parameter is malformed or out of bounds.
        case badParameter(name: String, found: String, expected: String)
        /// The catalogue does not have this city, or the city does not have this district.
        case unknownPlace(String)
        case noSuchListing(String)
        /// The access token has expired. The caller should get a new one without involving the user.
        case tokenExpired
        /// The user must log in again.
        case loginRequired
        /// A notice that only the client's infrastructure should process, and not its business code.
        case housekeeping

        /// The error number, for teams with numeric codes.
        var number: Int64 { facts.number }
        /// The error name, for teams without numeric codes.
        var name: String { facts.name }
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
        /// Creates a response with a JSON object. The names of its members are sorted, so that equal objects have equal
        /// bytes.
        static func json(_ object: Runway.Parameters, status: HTTPResponse.Status = .ok) throws -> Response {
            .json(bytes: ByteBuffer(bytes: try object.json(dates: .iso8601)), status: status)
        }

        /// Creates a response with the media type of JSON. The bytes need not be valid JSON.
        static func json(bytes: ByteBuffer, status: HTTPResponse.Status = .ok) -> Response {
            Response(
                status: status, headers: [.contentType: "application/json; charset=utf-8"],
                body: ResponseBody(byteBuffer: bytes))
        }
    }
#endif
