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
}
