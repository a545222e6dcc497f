/// Marks the calls that a refresh makes: none of them waits for the token that it is there to bring, and all are of the session whose
/// token is renewed, whoever has signed in meanwhile.
struct RenewalScope: Sendable {
    private let context: ObjectIdentifier
    /// What the calls to the service use whose token is renewed.
    let configuration: ServiceConfiguration

    /// The refreshes that the current task is part of, the outermost first. A detached task leaves them.
    @TaskLocal private static var current: [RenewalScope] = []

    /// The refreshes of a layer's tokens that the current task is part of.
    static func scopes(of context: FlightContext) -> [RenewalScope] {
        let scopes = current
        // Hardly any call is part of one.
        return scopes.isEmpty ? [] : scopes.filter { $0.context == ObjectIdentifier(context) }
    }

    /// Runs a refresh on behalf of a call.
    static func run<Value>(
        for flight: Flight, _ refresh: () async throws -> Value
    ) async throws -> Value {
        let scope = RenewalScope(context: ObjectIdentifier(flight.context), configuration: flight.configuration)
        return try await $current.withValue(current + [scope], operation: refresh)
    }
}
