import HTTPTypes

/// Identifies the user that responses belong to: a response that is stored in one partition is never returned in
/// another.
///
/// The app sets the account; the requests contain the sender fields and the cookies. These separate responses even if
/// an account is set, since a caller may act for another person in one call. Calls with the access token, which is
/// added below the cache, are separated from calls without it. No other field of a request is part of the partition: a
/// response's `Vary` names the fields that select it (RFC 9111 §4.1).
struct CachePartition: Hashable, Sendable {
    let service: ObjectIdentifier
    let serviceName: String
    let environment: ServiceEnvironment
    let account: String?
    /// The fields of the request that authenticate it.
    private let senderFields: [HTTPField]
    private let carriesToken: Bool
    /// ``Flight/cookieVersion``.
    private let cookieVersion: UInt64

    init(
        service: any APIService.Type, environment: ServiceEnvironment, account: String?,
        senderFields: [HTTPField] = [], carriesToken: Bool = false, cookieVersion: UInt64 = 0
    ) {
        self.service = ObjectIdentifier(service)
        serviceName = service.name
        self.environment = environment
        self.account = account
        self.senderFields = senderFields
        self.carriesToken = carriesToken
        self.cookieVersion = cookieVersion
    }

    init(_ request: Request, in flight: Flight) {
        self.init(
            service: flight.service, environment: flight.environment, account: flight.account,
            senderFields: request.senderFields(in: flight), carriesToken: flight.authorization != .none,
            cookieVersion: flight.cookieVersion)
    }

    /// Whether the partition stands for the same user in other launches of the app, so that a tier may store its
    /// responses.
    var isPersistable: Bool { cookieVersion == 0 }
}

extension CanonicalForm {
    /// Adds a partition that is persistable.
    mutating func add(_ partition: CachePartition) { partition.add(to: &self) }
}

extension CachePartition {
    fileprivate func add(to form: inout CanonicalForm) {
        precondition(isPersistable, "cookies of this launch identify nobody in another one")
        form.add(serviceName)
        form.add(environment.name)
        // An account without a name is not the same as none.
        form.add(account.map { "=\($0)" } ?? "")
        form.add(HTTPFields(senderFields))
        if carriesToken { form.add("token") }
    }
}
