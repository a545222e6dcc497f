/// What of a service's settings tells its answers from those that it gives with other settings.
final class ServiceIdentity: Sendable {
    let service: any APIService.Type
    let environment: ServiceEnvironment
    let account: String?
    /// Service, environment and account, base URL, and the parameters and header fields common to all calls.
    let form: [UInt8]
    /// The hash of all that.
    let digest: Int

    init(_ settings: ServiceSettings, of service: any APIService.Type, at baseURL: BaseURL?) {
        self.service = service
        environment = settings.environment
        account = settings.account
        var form = CanonicalForm()
        form.add(service.name)
        form.add(environment.name)
        // An account without a name is not the same as none.
        form.add(account.map { "=\($0)" } ?? "")
        form.add(baseURL?.scheme ?? "")
        form.add(baseURL?.authority ?? "")
        form.add(baseURL?.pathPrefix ?? "")
        form.add(settings.commonParameters)
        form.add(settings.commonHeaders)
        self.form = form.bytes
        digest = form.bytes.hashValue
    }
}

extension ServiceIdentity: Equatable {
    static func == (lhs: ServiceIdentity, rhs: ServiceIdentity) -> Bool {
        // Calls between two changes of the settings share one.
        lhs === rhs || lhs.service == rhs.service && lhs.form == rhs.form
    }
}
