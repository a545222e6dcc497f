import HTTPTypes

/// Identifies the user that responses belong to. A response that is stored in one partition is never returned in
/// another.
///
/// A partition consists of the account, the sender fields and the cookies of a request. The fields separate responses
/// even if an account is set, because a single call may act for another person. The access token is added after the
/// cache, so calls with it are separated from calls without it. No other request field is part of the partition: a
/// response's `Vary` names the fields that select it (RFC 9111 §4.1).
struct CachePartition: Hashable, Sendable {
    let service: ObjectIdentifier
    let serviceName: String
    let environment: ServiceEnvironment
    let account: String?
    private let senderFields: [HTTPField]
    private let carriesToken: Bool
    /// The version of the sender's cookies: ``Flight/cookieVersion``.
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

    /// Whether the partition identifies the same user in other launches of the app, so that the disk tier may store its
    /// responses.
    var isPersistable: Bool { cookieVersion == 0 }
}

extension CanonicalForm {
    /// Adds a partition that identifies the same user in every launch of the app.
    mutating func add(_ partition: CachePartition) { partition.add(to: &self) }
}

extension CachePartition {
    fileprivate func add(to form: inout CanonicalForm) {
        precondition(isPersistable, "cookies of this launch identify nobody in another one")
        form.add(serviceName)
        form.add(environment.name)
        // An account with an empty name must differ from no account.
        form.add(account.map { "=\($0)" } ?? "")
        form.add(HTTPFields(senderFields))
        if carriesToken { form.add("token") }
    }
}
