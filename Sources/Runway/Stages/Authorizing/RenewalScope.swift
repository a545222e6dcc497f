/// Marks the calls that a renewal makes: none of them waits for the token that is being renewed, and all belong to the session
/// of that token, even if another account has signed in since.
struct RenewalScope: Sendable {
    private let context: ObjectIdentifier
    /// What the calls to the service use whose token is renewed.
    let configuration: ServiceConfiguration

    /// The renewals that the current task is part of, the outermost first. A detached task is part of none.
    @TaskLocal private static var current: [RenewalScope] = []

    /// The refreshes of a layer's tokens that the current task is part of.
    static func scopes(of context: FlightContext) -> [RenewalScope] {
        let scopes = current
        // Hardly any call is part of one.
        return scopes.isEmpty ? [] : scopes.filter { $0.context == ObjectIdentifier(context) }
    }

    /// Runs a renewal on behalf of a call.
    static func run<Value>(
        for flight: Flight, _ refresh: () async throws -> Value
    ) async throws -> Value {
        let scope = RenewalScope(context: ObjectIdentifier(flight.context), configuration: flight.configuration)
        return try await $current.withValue(current + [scope], operation: refresh)
    }
}
