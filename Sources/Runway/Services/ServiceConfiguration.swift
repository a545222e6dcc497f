import HTTPTypes

/// A service as a layer uses it for a while: its settings, and the base URL read from them once.
///
/// Every call uses the configuration at the time when it is made: a later change does not affect calls in flight.
final class ServiceConfiguration: Sendable {
    let service: any APIService.Type
    let settings: ServiceSettings
    /// The session of ``ServiceSettings/account``.
    let session: AccountSession
    /// The reason why the account that was signed in when the app ended is not known, until an account signs in or out;
    /// otherwise `nil`.
    let accountProblem: NetworkError?
    let baseURL: Result<BaseURL, NetworkError>
    /// The service's own transport; `nil` if it uses the layer's.
    let transport: TransportLink?
    /// The fields that authenticate its requests: those that the service declares, and those that its credentials set.
    let authenticatingFields: Set<HTTPField.Name>
    /// Distinguishes calls with this configuration from those with others, before their requests are made.
    let callIdentity: ServiceIdentity
    /// Distinguishes requests with this configuration, once they are made, from those with others.
    let requestIdentity: ServiceIdentity

    init(
        _ settings: ServiceSettings, of service: any APIService.Type, in session: AccountSession,
        accountProblem: NetworkError? = nil
    ) {
        self.accountProblem = accountProblem
        self.service = service
        self.settings = settings
        self.session = session
        baseURL = Result { () throws(NetworkError) in try settings.baseURL(of: service) }
        transport = settings.transport.map(TransportLink.init)
        // A name that no field can have is of no request.
        let declared = Set(settings.authenticatingFields.compactMap { HTTPField.Name($0) })
        authenticatingFields = declared.union(service.credentials?.fields ?? [])
        callIdentity = ServiceIdentity(settings, of: service, at: try? baseURL.get())
        requestIdentity = ServiceIdentity(settings, of: service)
    }
}
