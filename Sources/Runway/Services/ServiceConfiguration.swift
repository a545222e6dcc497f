import HTTPTypes

/// An unchangeable copy of a service's settings, with the base URL parsed from them.
///
/// Every call uses the configuration of the time at which it is made. A later change does not affect calls in flight.
final class ServiceConfiguration: Sendable {
    let service: any APIService.Type
    let settings: ServiceSettings
    let session: AccountSession
    /// The reason why the last signed-in account could not be restored after a launch; otherwise `nil`. It is also
    /// `nil` after an account has signed in or out.
    let accountProblem: NetworkError?
    let baseURL: Result<BaseURL, NetworkError>
    /// The service's own transport; `nil` if the layer's transport is used.
    let transport: TransportLink?
    /// The fields that authenticate the service's requests. The service declares them, or its credentials set them.
    let authenticatingFields: Set<HTTPField.Name>
    /// Distinguishes calls under this configuration from calls under other configurations. Used before the requests of
    /// the calls are created.
    let callIdentity: ServiceIdentity
    /// Distinguishes requests under this configuration from requests under other configurations. Unlike
    /// ``callIdentity`` it has no base URL, because the request contains the address.
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
        // An invalid name is ignored, because no request can contain such a field.
        let declared = Set(settings.authenticatingFields.compactMap { HTTPField.Name($0) })
        authenticatingFields = declared.union(service.credentials?.fields ?? [])
        callIdentity = ServiceIdentity(settings, of: service, at: try? baseURL.get())
        requestIdentity = ServiceIdentity(settings, of: service)
    }
}
