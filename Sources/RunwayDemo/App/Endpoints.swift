#if Command
    import HTTPTypes
    import Runway
    import RunwayJSON

    /// A page of the second-hand homes of a city. A refresh is ignored while another one is in flight.
    struct SecondHandList: Endpoint {
        static let service = SecondHandService.self
        var path: EndpointPath { "esf/list" }
        var city: String
        var page = 1
        var page_size = 5

        func validate() throws {
            if page < 1 {
                throw NetworkError(.invalidParameters, in: .validating, "Pages are counted from 1, not from \(page).")
            }
        }
    }

    /// Rentals that match the user's filter. A call with a new filter replaces the call with the previous filter.
    struct RentalList: Endpoint {
        static let service = RentalService.self
        static let overlap = OverlapPolicy.cancelRunning
        var path: EndpointPath { "zf/list" }
        var city: String
        var maximumRent: Int?
        var pageSize = 5
        var delay: Int?

        enum CodingKeys: String, CodingKey {
            case city
            case maximumRent = "rent_max"
            case pageSize = "page_size"
            case delay = "delay_ms"
        }
    }

    struct NewHomesList: Endpoint {
        static let service = NewHomesService.self
        var path: EndpointPath { "xinfang/list" }
        var city: String
        var limit = 5
        var delay: Int?

        enum CodingKeys: String, CodingKey {
            case city
            case limit
            case delay = "delay_ms"
        }

        /// Converts the city that the user entered to the format of the team's API.
        mutating func complete() {
            city = city.lowercased()
        }
    }

    struct NewHomeDetail: Endpoint {
        static let service = NewHomesService.self
        @Unencoded var id: String
        var path: EndpointPath { "xinfang/detail/\(id)" }
    }

    /// Second-hand homes of a district. More pages are loaded as the user scrolls.
    struct SecondHandPages: PagedEndpoint {
        static let service = SecondHandService.self
        static let paging = PageStyle.number()
        static let pageSize = 10
        var path: EndpointPath { "esf/list" }
        var city: String
        var district: String
        var page = 1
        var page_size = pageSize

        mutating func ask(for page: PageRequest) {
            (self.page, page_size) = (page.number, page.size)
        }

        func read(_ rawData: RawData) throws -> PageContent {
            let data = rawData["data"]
            return try PageContent(rows: data["list"], id: "esf_id", total: data["total"].int)
        }
    }

    /// One second-hand home. It is cached, since it seldom changes and a user often opens it again.
    struct SecondHandDetail: Endpoint {
        static let service = SecondHandService.self
        static let cache = CachePolicy.timeToLive(diskLifetime: .seconds(86_400))
        @Unencoded var id: String
        var path: EndpointPath { "esf/detail/\(id)" }
    }

    /// A user's offer for a home. It is stored while there is no network, and sent later.
    struct SecondHandOffer: Endpoint {
        static let service = SecondHandService.self
        static let method = HTTPRequest.Method.post
        static let offline = OfflinePolicy.queued
        var path: EndpointPath { "esf/offer/\(id)" }
        var offlineSubjects: [String] { ["home \(id)"] }
        @Unencoded var id: String
        /// The price in 万, units of ten thousand yuan.
        var price: Int
    }

    /// A slow list. The call times out before the response arrives.
    struct SlowList: Endpoint {
        static let service = SecondHandService.self
        static let patience = Duration.milliseconds(300)
        static var deadline: Duration? { patience }
        var path: EndpointPath { "slow/list" }
        var delay_ms: Int
    }

    /// A route that responds with the requested status.
    struct FailingList: Endpoint {
        static let service = RentalService.self
        var path: EndpointPath { "failing/list" }
        var status: Int
    }

    struct TruncatedList: Endpoint {
        static let service = SecondHandService.self
        var path: EndpointPath { "failing/truncated" }
    }

    /// A route that responds with status 200. The JSON object of the response contains an error.
    struct FailingEnvelope: Endpoint {
        static let service = RentalService.self
        var path: EndpointPath { "failing/envelope" }
        var team = "zf"
        var error: String
    }
#endif
