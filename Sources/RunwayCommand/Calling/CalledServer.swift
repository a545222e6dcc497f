import HTTPTypes
import Runway

/// The server of a call, whichever it is: a response is judged by its status alone.
enum CalledServer: APIService {
    static let name = "call"
    // The URL on the command line is absolute.
    static let environments: [ServiceEnvironment: String] = [:]
    // A user who enters a URL without TLS accepts that.
    static let allowsPlainHTTP = true
    // For the requests of redirects, and of the calls of one session.
    static let cookies: CookiePolicy = .jar()

    static func judge(_ head: HTTPResponse, rawData: RawData?) -> Verdict {
        // What is refused may be a name and a password; the layer has no token that it could renew.
        head.status == .unauthorized ? .refused : Verdict(status: head.status, headerFields: head.headerFields)
    }
}
