/// A service as a layer uses it for a while: its settings, and the base URL read from them once.
///
/// Every call uses the configuration at the time when it is made: a later change does not affect calls in flight.
final class ServiceConfiguration: Sendable {
    let service: any APIService.Type
    let settings: ServiceSettings
    /// The session of ``ServiceSettings/account``.
    let session: AccountSession
    let baseURL: Result<BaseURL, NetworkError>
    /// The service's own transport; `nil` if it uses the layer's.
    let transport: TransportLink?
    /// Distinguishes its calls from those of other configurations, before their requests are made.
    let callIdentity: ServiceIdentity
    /// Distinguishes its requests, once they are made, from those of other configurations.
    let requestIdentity: ServiceIdentity

    init(_ settings: ServiceSettings, of service: any APIService.Type, in session: AccountSession) {
        self.service = service
        self.settings = settings
        self.session = session
        baseURL = Result { () throws(NetworkError) in try settings.baseURL(of: service) }
        transport = settings.transport.map(TransportLink.init)
        callIdentity = ServiceIdentity(settings, of: service, at: try? baseURL.get())
        requestIdentity = ServiceIdentity(settings, of: service)
    }
}
