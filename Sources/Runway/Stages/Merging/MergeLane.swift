import HTTPTypes

/// The destination of a service's merged requests. The abilities of its server are recorded for each route.
struct MergeRoute: Hashable, Sendable {
    let origin: Origin
    let environment: ServiceEnvironment
    /// The path of the route, from the root of the origin.
    let path: String
}

/// The values that have to be equal for two requests to be merged.
struct MergeLane: Hashable, Sendable {
    /// The session of the account, so that calls before and after a sign-out never share an envelope.
    let session: AccountSession
    let route: MergeRoute
}

extension Flight {
    /// Creates a flight that carries the requests of these calls, until the last of them has ended.
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

    /// Whether the flight is not a call of the app, but an envelope with the requests of several calls.
    var isEnvelope: Bool { traits[IsEnvelope.self] }
}

/// Whether a flight carries the requests of several calls.
private enum IsEnvelope: StageValueKey {
    static var defaultValue: Bool { false }
}

/// The endpoint of a flight that carries the requests of several calls.
struct MergedRequests<Service: APIService>: Endpoint {
    static var service: Service.Type { Service.self }
    static var name: String { "merged requests" }
    static var method: HTTPRequest.Method { .post }
    static var isMergeable: Bool { false }
    var path: EndpointPath { "" }
}
