/// Marks the calls that a renewal makes. None of them waits for the token that is being renewed. All belong to that
/// token's session, even if another account has signed in since.
struct RenewalScope: Sendable {
    private let context: ObjectIdentifier
    let configuration: ServiceConfiguration

    /// The renewals that the current task is part of, outermost first. A detached task is part of no renewal.
    @TaskLocal private static var current: [RenewalScope] = []

    /// Returns the renewals of a layer's tokens that the current task is part of.
    ///
    /// - Parameter context: The context that all calls of the layer share. It identifies the layer.
    static func scopes(of context: AnyObject) -> [RenewalScope] {
        let scopes = current
        // Very few calls are part of a renewal.
        return scopes.isEmpty ? [] : scopes.filter { $0.context == ObjectIdentifier(context) }
    }

    /// Runs a renewal that a call needs.
    static func run<Value>(
        for flight: Flight, _ refresh: () async throws -> Value
    ) async throws -> Value {
        let scope = RenewalScope(context: ObjectIdentifier(flight.context), configuration: flight.configuration)
        return try await $current.withValue(current + [scope], operation: refresh)
    }
}

extension StageValues {
    /// Returns the values to attach to a call that these renewals make. Without renewals there are no values, so
    /// nothing is allocated.
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
    /// Calls that wait for one of these tokens indirectly wait for this call. To avoid a deadlock, a stage must not
    /// make this call wait for one of those calls.
    var renewing: [ObjectIdentifier] { traits[RenewedServices.self] }
}

/// The services whose access tokens a call helps to renew.
private enum RenewedServices: StageValueKey {
    static var defaultValue: [ObjectIdentifier] { [] }
}
