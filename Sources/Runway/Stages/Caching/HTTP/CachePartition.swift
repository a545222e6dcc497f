import HTTPTypes

/// Whose answers these are: what is kept for one is never given to another.
struct CachePartition: Hashable, Sendable {
    let service: ObjectIdentifier
    let serviceName: String
    let environment: ServiceEnvironment
    let account: String?
    /// The credentials that the caller wrote into the request itself, where no account stands for them.
    let authorization: String?
    /// The cookies that the caller wrote into the request itself, where no account stands for them: `private` may mean their owner.
    let cookie: String?

    init(
        service: any APIService.Type, environment: ServiceEnvironment, account: String?, authorization: String?,
        cookie: String?
    ) {
        self.service = ObjectIdentifier(service)
        serviceName = service.name
        self.environment = environment
        self.account = account
        self.authorization = account == nil ? authorization : nil
        self.cookie = account == nil ? cookie : nil
    }

    init(_ request: Request, in flight: Flight) {
        self.init(
            service: flight.service, environment: flight.environment, account: flight.account,
            authorization: request.head.headerFields[.authorization], cookie: request.head.headerFields[.cookie])
    }
}
