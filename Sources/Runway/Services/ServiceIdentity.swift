/// Identifies the settings of a service on which its responses depend.
final class ServiceIdentity: Sendable {
    let service: any APIService.Type
    let environment: ServiceEnvironment
    let account: String?
    /// Bytes that represent the service, the environment and the account. The identity for calls also contains the base
    /// URL, and the common parameters and header fields.
    let form: [UInt8]
    let digest: Int

    /// Creates the identity for complete requests, which contain their target and all their fields.
    convenience init(_ settings: ServiceSettings, of service: any APIService.Type) {
        self.init(settings, of: service) { _ in }
    }

    /// Creates the identity for calls with these settings.
    convenience init(_ settings: ServiceSettings, of service: any APIService.Type, at baseURL: BaseURL?) {
        self.init(settings, of: service) { form in
            form.add(baseURL?.scheme ?? "")
            form.add(baseURL?.authority ?? "")
            form.add(baseURL?.pathPrefix ?? "")
            form.add(settings.commonParameters.leavingOut(settings.unkeyedParameters))
            form.add(settings.commonHeaders)
        }
    }

    private init(
        _ settings: ServiceSettings, of service: any APIService.Type, _ complete: (inout CanonicalForm) -> Void
    ) {
        self.service = service
        environment = settings.environment
        account = settings.account
        var form = CanonicalForm()
        form.add(service.name)
        form.add(environment.name)
        // An account with an empty name must differ from no account.
        form.add(account.map { "=\($0)" } ?? "")
        complete(&form)
        self.form = form.bytes
        digest = form.bytes.hashValue
    }
}

extension ServiceIdentity: Equatable {
    static func == (lhs: ServiceIdentity, rhs: ServiceIdentity) -> Bool {
        // All calls between two changes of the settings share one object.
        lhs === rhs || lhs.service == rhs.service && lhs.form == rhs.form
    }
}
