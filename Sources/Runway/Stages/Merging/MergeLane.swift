import HTTPTypes

/// The route at which a service's server accepts merged requests. The known facts about the server are recorded for
/// each route.
struct MergeRoute: Hashable, Sendable {
    let origin: Origin
    let environment: ServiceEnvironment
    /// The absolute path of the route at the origin.
    let path: String
}

/// The values that two requests must have in common to be merged.
struct MergeLane: Hashable, Sendable {
    /// The session of the account. It prevents calls before and after a sign-out from sharing a merged request.
    let session: AccountSession
    let route: MergeRoute
}

extension Flight {
    /// Creates a call that sends the merged requests of these calls. It ends when the last of them has ended, at the
    /// latest.
    func makeEnvelopeFlight(for flights: [Flight]) -> Flight {
        func endpoint<Service: APIService>(_ service: Service.Type) -> any Endpoint.Type {
            MergedRequests<Service>.self
        }
        let deadline = flights.map(\.deadline).max() ?? clock.now
        var traits = StageValues()
        traits[IsEnvelope.self] = true
        let flight = Flight(
            id: context.makeID(), endpoint: endpoint(service), configuration: configuration, options: .standard,
            lifetime: max(.zero, deadline - clock.now), context: context, retainedLayer: retainedLayer, traits: traits)
        flight.recorder.setHoldsMessages()
        return flight
    }

    /// Whether this call was not made by the app, but sends the merged requests of several calls.
    var isEnvelope: Bool { traits[IsEnvelope.self] }
}

private enum IsEnvelope: StageValueKey {
    static var defaultValue: Bool { false }
}

/// The endpoint of a call that sends the merged requests of several calls.
struct MergedRequests<Service: APIService>: Endpoint {
    static var service: Service.Type { Service.self }
    static var name: String { "merged requests" }
    static var method: HTTPRequest.Method { .post }
    static var isMergeable: Bool { false }
    var path: EndpointPath { "" }
}
