/// Marks the calls that a refresh makes: none of them waits for the token that it is there to bring, and all are of the session whose
/// token is renewed, whoever has signed in meanwhile.
struct RenewalScope: Sendable {
    private let context: ObjectIdentifier
    private let configuration: ServiceConfiguration

    /// The refreshes that the current task is part of, the outermost first. A detached task leaves them.
    @TaskLocal private static var current: [RenewalScope] = []

    /// The services of a layer whose tokens the current task renews.
    static func services(of context: FlightContext) -> [ObjectIdentifier] {
        let scopes = current
        if scopes.isEmpty { return [] }
        return scopes.filter { $0.context == ObjectIdentifier(context) }.map {
            ObjectIdentifier($0.configuration.service)
        }
    }

    /// What the calls of the current task to a service use, if it renews the token of that service.
    static func configuration(of service: any APIService.Type, _ context: FlightContext) -> ServiceConfiguration? {
        let scopes = current
        if scopes.isEmpty { return nil }
        return scopes.last { $0.context == ObjectIdentifier(context) && $0.configuration.service == service }?
            .configuration
    }

    /// Runs a refresh on behalf of a call.
    static func run<Value>(
        for flight: Flight, _ refresh: () async throws -> Value
    ) async throws -> Value {
        let scope = RenewalScope(context: ObjectIdentifier(flight.context), configuration: flight.configuration)
        return try await $current.withValue(current + [scope], operation: refresh)
    }
}
