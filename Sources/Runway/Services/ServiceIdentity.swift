/// What of a service's settings tells its answers from those that it gives with other settings.
final class ServiceIdentity: Sendable {
    let service: any APIService.Type
    let environment: ServiceEnvironment
    let account: String?
    /// Scheme, authority and path prefix of the base URL.
    let scheme: String
    let authority: String
    let pathPrefix: String
    let commonParameters: Parameters
    let commonHeaders: [String: String]

    init(_ settings: ServiceSettings, of service: any APIService.Type, at baseURL: BaseURL?) {
        self.service = service
        environment = settings.environment
        account = settings.account
        scheme = baseURL?.scheme ?? ""
        authority = baseURL?.authority ?? ""
        pathPrefix = baseURL?.pathPrefix ?? ""
        commonParameters = settings.commonParameters
        commonHeaders = settings.commonHeaders
    }
}

extension ServiceIdentity: Hashable {
    static func == (lhs: ServiceIdentity, rhs: ServiceIdentity) -> Bool {
        // Calls between two changes of the settings share one.
        if lhs === rhs { return true }
        return lhs.service == rhs.service && lhs.environment == rhs.environment && lhs.account == rhs.account
            && lhs.scheme == rhs.scheme && lhs.authority == rhs.authority && lhs.pathPrefix == rhs.pathPrefix
            && lhs.commonParameters.isIdentical(to: rhs.commonParameters)
            && lhs.commonHeaders.isIdentical(to: rhs.commonHeaders)
    }

    /// What is left out rarely tells two apart.
    func hash(into hasher: inout Hasher) { hasher.combine(account) }
}
