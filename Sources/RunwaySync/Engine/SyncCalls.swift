import Foundation
import HTTPTypes
import Runway
import RunwayStreams
import RunwaySyncCore

/// Sends the requests of spaces over a layer, as any call: signed, authorised and recorded.
struct SyncCalls: Sendable {
    enum Outcome: Sendable {
        /// The flight is that of the call; `nil` if the server refused the request.
        case response(SyncResponse, Flight?)
        /// No response of a server of this protocol arrived.
        case lost(SyncProblem)
    }

    let network: NetworkLayer
    private let perform:
        @Sendable (WireRequest, Identifier, Duration) async throws(NetworkError) -> (rawData: RawData, flight: Flight)
    private let follow: @Sendable (Set<String>) -> EventSequence?

    /// - Parameters:
    ///   - path: The path of the routes, relative to the service's base URL.
    ///   - eventsPath: The path of the event stream with the pokes; `nil` if there is none.
    init<Service: APIService>(_ network: NetworkLayer, _ service: Service.Type, path: String, eventsPath: String?) {
        self.network = network
        perform = { (request, space, deadline) async throws(NetworkError) in
            var options = CallOptions.standard
            options.deadline = deadline
            // The loop of a space has a backoff of its own.
            options.bypassesCircuit = true
            let place = EndpointPath(stringLiteral: "\(path)/\(space)/\(request.name)")
            return switch request.method {
            case .get:
                try await network.callWithFlight(SyncRead<Service>(path: place, request: request), options: options)
            case .post:
                try await network.callWithFlight(SyncWrite<Service>(path: place, request: request), options: options)
            }
        }
        follow = { topics in
            eventsPath.map { path in
                var options = StreamOptions()
                options.maximumBackoff = .seconds(4)
                return network.events(
                    of: PokeStream<Service>(path: EndpointPath(stringLiteral: path), topics: topics), options: options)
            }
        }
    }

    /// Follows the heads of spaces; `nil` if there is no event stream.
    func pokes(of spaces: Set<Identifier>) -> EventSequence? { follow(Set(spaces.map(Self.topic))) }

    static func topic(of space: Identifier) -> String { "sync/\(space)" }

    func send(_ request: SyncRequest, in space: Identifier, deadline: Duration) async -> Outcome {
        do throws(NetworkError) {
            let (rawData, flight) = try await perform(request.wire, space, deadline)
            let response = WireResponse(status: rawData.response.status.code, body: Array(rawData.bytes))
            do { return .response(try SyncResponse(response, to: request), flight) } catch {
                return .lost(.unreadable)
            }
        } catch {
            guard let status = error.status?.code else { return .lost(SyncProblem(error)) }
            if let response = try? SyncResponse(
                WireResponse(status: status, body: error.rawData.map { Array($0.bytes) } ?? []), to: request)
            {
                return .response(response, nil)
            }
            // A proxy may refuse a request, too.
            return switch status {
            case 413 where request.isPush: .response(.tooLarge, nil)
            case 426: .response(.upgrade, nil)
            case 429, 503:
                error.retryAfter.map { .response(.wait(milliseconds: $0.milliseconds), nil) } ?? .lost(.unavailable)
            default: .lost(SyncProblem(error))
            }
        }
    }

    /// Returns whether the server responds to a small request in any way.
    func isResponding(in space: Identifier, within deadline: Duration) async -> Bool {
        do throws(NetworkError) {
            _ = try await perform(WireRequest(method: .get, name: "pull"), space, deadline)
            return true
        } catch {
            return error.status != nil
        }
    }
}

extension SyncRequest {
    var isPush: Bool { if case .push = self { true } else { false } }
}

extension Flight {
    /// Adds to the record that the rows of this device differ from those of the server after this call.
    func noteMismatch() {
        note("mismatch", "the rows of this device differ from those of the server", in: .landing)
        amend()
    }
}

extension Duration {
    fileprivate var milliseconds: Int64 { components.seconds * 1000 + components.attoseconds / 1_000_000_000_000_000 }
}

/// A request that changes nothing.
private struct SyncRead<Service: APIService>: Endpoint {
    static var service: Service.Type { Service.self }
    static var name: String { "SyncRead" }
    static var retry: RetryPolicy { .off }
    static var hedging: HedgingPolicy { .off }
    static var coalesces: Bool { false }
    static var isMergeable: Bool { false }
    static var maximumResponseByteCount: Int { WireBounds.bodyBytes }

    let path: EndpointPath
    let request: WireRequest

    var parameters: Parameters {
        var parameters = Parameters()
        for item in request.query { parameters.append(item.name, .string(item.value)) }
        return parameters
    }
    func encode(to encoder: any Encoder) {}
}

/// A request with a body.
private struct SyncWrite<Service: APIService>: Endpoint {
    static var service: Service.Type { Service.self }
    static var name: String { "SyncWrite" }
    static var method: HTTPRequest.Method { .post }
    static var encoding: ParameterEncoding { .raw(contentType: "application/json") }
    static var retry: RetryPolicy { .off }
    static var isMergeable: Bool { false }
    static var maximumResponseByteCount: Int { WireBounds.bodyBytes }

    let path: EndpointPath
    let request: WireRequest

    var parameters: Parameters { [:] }
    var content: RequestBody { .bytes(request.body) }
    func encode(to encoder: any Encoder) {}
}

/// The heads of spaces, as they grow.
private struct PokeStream<Service: APIService>: EventStreamEndpoint {
    static var service: Service.Type { Service.self }
    static var name: String { "SyncPokes" }

    let path: EndpointPath
    let topics: Set<String>?

    var parameters: Parameters { [:] }
    func encode(to encoder: any Encoder) {}
}
