import HTTPTypes
import Runway

/// The server of a call, any server: a response is judged only by its status.
enum CalledServer: APIService {
    static let name = "call"
    // The URL on the command line is absolute.
    static let environments: [ServiceEnvironment: String] = [:]
    // A user who enters a URL without TLS accepts that.
    static let allowsPlainHTTP = true
    // For the requests of redirects, and of the calls of one session.
    static let cookies: CookiePolicy = .jar()

    static func judge(_ head: HTTPResponse, rawData: RawData?) -> Verdict {
        // The refused credentials may be a name and a password; the layer has no token to renew.
        head.status == .unauthorized ? .refused : Verdict(status: head.status, headerFields: head.headerFields)
    }
}
