import HTTPTypes

/// Identifies the user that responses belong to: a response that is stored in one partition is never returned in another.
///
/// The app sets the account; the requests contain the sender fields and the cookies. These separate responses also if an
/// account is set, since a caller may act for somebody else in one call.
struct CachePartition: Hashable, Sendable {
    let service: ObjectIdentifier
    let serviceName: String
    let environment: ServiceEnvironment
    let account: String?
    /// The fields of the request that may authenticate it.
    private let senderFields: [HTTPField]
    /// ``Flight/cookieVersion``.
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
