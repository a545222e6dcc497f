import HTTPTypes
import Synchronization

/// Whose responses these are: a response that is stored for one is never returned to another.
///
/// The account is what the app says; the sender fields and the cookies are what the requests say themselves, and split also where an
/// account is set, since a caller may act for somebody else in one call.
struct CachePartition: Hashable, Sendable {
    let service: ObjectIdentifier
    let serviceName: String
    let environment: ServiceEnvironment
    let account: String?
    /// The fields of the request that may authenticate it.
    private let senderFields: [HTTPField]
    /// The state of the cookie jar when the call first asked, where no account stands for it; 0 where no jar is in use.
    private let cookieVersion: UInt64

    init(
        service: any APIService.Type, environment: ServiceEnvironment, account: String?,
        senderFields: [HTTPField] = [], cookieVersion: UInt64 = 0
    ) {
        self.service = ObjectIdentifier(service)
        serviceName = service.name
        self.environment = environment
        self.account = account
        self.senderFields = senderFields
        self.cookieVersion = cookieVersion
    }

    init(_ request: Request, in flight: Flight) {
        self.init(
            service: flight.service, environment: flight.environment, account: flight.account,
            senderFields: request.senderFields, cookieVersion: flight.cookieVersion)
    }
}

extension Flight {
    /// The state of the jar that identifies the sender where no account does; the same during all of the call, so that its response is
    /// stored for the sender of its request, also where it changes the cookies.
    fileprivate var cookieVersion: UInt64 {
        guard account == nil, case .jar = configuration.settings.cookies else { return 0 }
        let date = clock.date
        let version =
            layer.cookieJars.withJar(of: self) { jar -> UInt64 in
                jar.removeEnded(at: date)
                return jar.version
            } ?? 0
        return caching.withLock { caching in
            if caching.cookieVersion == nil { caching.cookieVersion = version }
            return caching.cookieVersion ?? version
        }
    }
}
