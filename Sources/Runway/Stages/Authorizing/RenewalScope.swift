/// Marks the calls that a refresh makes, so that none of them waits for the token that it is there to bring.
struct RenewalScope: Sendable {
    private let layer: ObjectIdentifier
    private let service: ObjectIdentifier

    /// The refreshes that the current task is part of, the outermost first. A detached task leaves them.
    @TaskLocal private static var current: [RenewalScope] = []

    /// The services of a layer whose tokens the current task renews.
    static func services(of layer: NetworkLayer) -> [ObjectIdentifier] {
        let scopes = current
        if scopes.isEmpty { return [] }
        return scopes.filter { $0.layer == ObjectIdentifier(layer) }.map(\.service)
    }

    /// Runs a refresh.
    static func run<Value>(
        _ service: any APIService.Type, of layer: NetworkLayer, _ refresh: () async throws -> Value
    ) async throws -> Value {
        let scope = RenewalScope(layer: ObjectIdentifier(layer), service: ObjectIdentifier(service))
        return try await $current.withValue(current + [scope], operation: refresh)
    }
}
