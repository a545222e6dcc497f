/// Marks the calls that a renewal makes: none of them waits for the token that is being renewed, and all belong to the session
/// of that token, even if another account has signed in since.
struct RenewalScope: Sendable {
    private let context: ObjectIdentifier
    private let configuration: ServiceConfiguration

    /// The renewals that the current task is part of, the outermost first. A detached task is part of none.
    @TaskLocal private static var current: [RenewalScope] = []

    /// The services of a layer whose tokens the current task renews.
    static func services(of context: FlightContext) -> [ObjectIdentifier] {
        let scopes = current
        if scopes.isEmpty { return [] }
        return scopes.filter { $0.context == ObjectIdentifier(context) }.map {
            ObjectIdentifier($0.configuration.service)
        }
    }

    /// The configuration that the current task's calls to a service use, if the task renews the token of that service.
    static func configuration(of service: any APIService.Type, _ context: FlightContext) -> ServiceConfiguration? {
        let scopes = current
        if scopes.isEmpty { return nil }
        return scopes.last { $0.context == ObjectIdentifier(context) && $0.configuration.service == service }?
            .configuration
    }

    /// Runs a renewal on behalf of a call.
    static func run<Value>(
        for flight: Flight, _ refresh: () async throws -> Value
    ) async throws -> Value {
        let scope = RenewalScope(context: ObjectIdentifier(flight.context), configuration: flight.configuration)
        return try await $current.withValue(current + [scope], operation: refresh)
    }
}
