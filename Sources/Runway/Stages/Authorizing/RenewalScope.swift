/// Marks the calls that a renewal makes: none of them waits for the token that is being renewed, and all belong to the
/// session of that token, even if another account has signed in since.
struct RenewalScope: Sendable {
    private let context: ObjectIdentifier
    /// The configuration of calls to the service whose token is renewed.
    let configuration: ServiceConfiguration

    /// The renewals that the current task is part of, the outermost first. A detached task is part of none.
    @TaskLocal private static var current: [RenewalScope] = []

    /// Returns the renewals of a layer's tokens that the current task is part of.
    ///
    /// - Parameter context: The context of the layer's flights, which identifies the layer.
    static func scopes(of context: AnyObject) -> [RenewalScope] {
        let scopes = current
        // Hardly any call is part of a renewal.
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

extension StageValues {
    /// Returns the stage values of a call that these renewals make; empty if there are no renewals, so that other calls
    /// allocate nothing.
    static func renewing(_ scopes: [RenewalScope]) -> StageValues {
        var values = StageValues()
        if !scopes.isEmpty {
            values[RenewedServices.self] = scopes.map { ObjectIdentifier($0.configuration.service) }
        }
        return values
    }
}

extension Flight {
    /// The services whose access tokens are being renewed by the code that makes this call; empty for all other calls.
    ///
    /// If a call waits for one of these tokens, it waits for this call: a stage must not make this call wait for it in
    /// turn.
    var renewing: [ObjectIdentifier] { traits[RenewedServices.self] }
}

/// The services whose access tokens a call helps to renew.
private enum RenewedServices: StageValueKey {
    static var defaultValue: [ObjectIdentifier] { [] }
}
