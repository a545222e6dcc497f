import HTTPTypes
import Runway

/// A service that is judged by the status of its responses alone.
enum Library: APIService {
    static let name = "library"
    static let allowsPlainHTTP = true
    static let environments: [ServiceEnvironment: String] = [
        .development: "http://dev.library.test:8080/v1",
        .releaseCandidate: "https://rc.library.test/v1/",
        .release: "https://library.test/v1",
        "staging-7": "https://[2001:db8::7]:8443",
    ]
}

struct BookSearch: Endpoint {
    static let service = Library.self
    var path: EndpointPath { "books" }
    var title = "Momo"
    var page: Int?
}

/// A call with the parameters that a test gives, in the query.
struct QueryCall: Endpoint {
    static let service = Library.self
    var path: EndpointPath { "query" }
    @Unencoded var given: Parameters = [:]
    @Unencoded var fields: [String: String] = [:]
    var parameters: Parameters { given }
    var headers: [String: String] { fields }
}

/// A call with the parameters that a test gives, as a form.
struct FormCall: Endpoint {
    static let service = Library.self
    static let method = HTTPRequest.Method.post
    static let encoding = ParameterEncoding.form()
    var path: EndpointPath { "form" }
    @Unencoded var given: Parameters = [:]
    var parameters: Parameters { given }
}

/// A call with the parameters that a test gives, as JSON.
struct JSONCall: Endpoint {
    static let service = Library.self
    static let method = HTTPRequest.Method.post
    var path: EndpointPath { "json" }
    @Unencoded var given: Parameters = [:]
    @Unencoded var fields: [String: String] = [:]
    var parameters: Parameters { given }
    var headers: [String: String] { fields }
}

/// A call whose body a test gives.
struct RawCall: Endpoint {
    static let service = Library.self
    static let method = HTTPRequest.Method.put
    static let encoding = ParameterEncoding.raw(contentType: "image/png")
    var path: EndpointPath { "raw" }
    @Unencoded var given: Parameters = [:]
    @Unencoded var bytes: RequestBody = .none
    var parameters: Parameters { given }
    var content: RequestBody { bytes }
}
