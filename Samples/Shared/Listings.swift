import Foundation
import HTTPTypes
import Runway
import RunwayJSON

/// The service of the samples: homes to rent.
enum Listings: APIService {
    static let environments: [ServiceEnvironment: String] = [.release: "https://api.example.com/v1"]
    static let credentials: (any Credentials)? = ListingsCredentials()
}

/// Homes of a city, page after page.
struct RentalList: PagedEndpoint {
    static let service = Listings.self
    static let paging = PageStyle.offset
    static let cache = CachePolicy.timeToLive()
    var path: EndpointPath { "rentals" }
    var city: String
    var offset = 0
    var limit = 20

    mutating func ask(for page: PageRequest) { (offset, limit) = (page.offset, page.size) }

    func read(_ rawData: RawData) throws -> PageContent {
        try PageContent(rows: rawData["items"], id: "id", total: rawData["total"].int)
    }
}

/// One home.
struct RentalDetails: Endpoint {
    static let service = Listings.self
    @Unencoded var id: Int
    var path: EndpointPath { "rentals/\(id)" }
}

/// Sends a film of a home, from its file.
struct FilmUpload: Endpoint {
    static let service = Listings.self
    static let method = HTTPRequest.Method.put
    static let encoding = ParameterEncoding.raw(contentType: "video/mp4")
    @Unencoded var film: URL
    @Unencoded var id: Int
    var path: EndpointPath { "rentals/\(id)/film" }
    var content: RequestBody { get throws { try .file(film) } }
}

/// The film of a home.
struct RentalFilm: Endpoint {
    static let service = Listings.self
    @Unencoded var id: Int
    var path: EndpointPath { "rentals/\(id)/film" }
}

/// A message to the owner of a home.
struct RentalMessage: Endpoint {
    static let service = Listings.self
    static let method = HTTPRequest.Method.post
    @Unencoded var id: Int
    var path: EndpointPath { "rentals/\(id)/messages" }
    var text: String
}

/// Asks for an access token, by a password or a refresh token.
struct TokenRequest: Endpoint {
    static let service = Listings.self
    static let method = HTTPRequest.Method.post
    static let authorization = AuthorizationPolicy.none
    var path: EndpointPath { "tokens" }
    var name: String?
    var password: String?
    var refreshToken: String?

    static func token(in response: RawData, of account: String, on network: NetworkLayer) throws -> AccessToken {
        AccessToken(
            try response["access_token"].require(), account: account,
            expiry: network.clock.date.addingTimeInterval(try response["expires_in"].require()),
            refreshToken: response["refresh_token"].string)
    }
}

struct ListingsCredentials: Credentials {
    func refresh(_ token: AccessToken, on network: NetworkLayer) async throws -> AccessToken {
        let response = try await network.call(TokenRequest(refreshToken: token.refreshToken))
        return try TokenRequest.token(in: response, of: token.account, on: network)
    }
}

extension NetworkLayer {
    /// Signs in with a password. The layer's token store has the token and the account: nothing is to be done at the next launch.
    ///
    /// - Returns: What to tell the user.
    func signInToListings(as name: String, _ password: String) async -> String {
        do {
            let response = try await call(TokenRequest(name: name, password: password))
            try await signIn(TokenRequest.token(in: response, of: name, on: self), to: Listings.self)
            return "Signed in as \(name)"
        } catch {
            return (error as? NetworkError)?.detail ?? "The response has no token."
        }
    }

    /// Signs out, of the next launches, too.
    ///
    /// - Returns: What to tell the user.
    func signOutOfListings() async -> String {
        do {
            try await signOut(of: Listings.self)
            return "Signed out"
        } catch {
            return error.detail
        }
    }
}

/// A row of the list.
struct RentalRow: Identifiable, Hashable {
    let id: Int
    let title: String

    init(id: Int, title: String) { (self.id, self.title) = (id, title) }

    init?(_ row: JSONValue) {
        guard let id = row["id"].int else { return nil }
        self.init(id: id, title: row["title"].string ?? "A home")
    }
}
