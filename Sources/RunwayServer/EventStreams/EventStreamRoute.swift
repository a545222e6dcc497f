import Foundation
import HTTPTypes
public import Hummingbird
import NIOCore
import RunwayFormats
import RunwayJSON
import RunwaySignatures
import ServiceLifecycle

/// The topics that a client may follow, and the time for which the permission is valid.
public struct EventPermission: Sendable, Hashable {
    /// The topics that the client may follow; `nil` allows all.
    public var topics: Set<String>?
    /// The name of the client. Only a client with the same owner may change the topics of a connection.
    public var owner: String
    /// The time for which the permission is valid, such as until the token expires; `nil` if it does not expire. The
    /// connection ends when the permission expires. A time of zero or less is refused with 401.
    public var lifetime: Duration?

    /// Creates a permission. The properties describe the parameters. By default, it allows all topics, names no client
    /// and does not expire.
    public init(topics: Set<String>? = nil, owner: String = "", lifetime: Duration? = nil) {
        (self.topics, self.owner, self.lifetime) = (topics, owner, lifetime)
    }
}

/// Serves the events of a hub as server-sent events (WHATWG HTML §9.2); the format is in `docs/formats.md`.
///
/// ```swift
/// EventStreamRoute(hub, source: { _, context in context.remoteAddress?.ipAddress ?? "" }) { request, context in
///     guard let account = context.account else { throw HTTPError(.unauthorized) }
///     return EventPermission(topics: account.topics, owner: account.id, lifetime: account.tokenLifetime)
/// }.add(to: router, path: "events")
/// ```
///
/// `GET` opens a stream. `POST` to `topics` below the path of the route changes the topics of an open stream. Every
/// connection is authorized anew, before any event is replayed.
///
/// The client receives the requested topics that it may follow, and the opening names the refused topics. If the client
/// may follow none, the response is 403. The replay precedes new events. A connection ends at the server's graceful
/// shutdown.
///
/// An open connection keeps a withdrawn permission until the permission's lifetime ends, or until the client changes
/// its topics. If the new permission does not allow all topics of the connection, the connection ends, and the response
/// names the topics that are not allowed. The client reconnects without these topics.
public struct EventStreamRoute<Context: RequestContext>: Sendable {
    /// Returns the permission of a request, or throws, for example `HTTPError(.unauthorized)` or
    /// `HTTPError(.forbidden)`.
    public typealias Authorization = @Sendable (Request, Context) async throws -> EventPermission

    let hub: EventHub
    private let source: @Sendable (Request, Context) -> String
    private let authorize: Authorization

    /// Creates a route that sends the events of a hub to clients that `authorize` permits.
    ///
    /// - Parameters:
    ///   - hub: Publishes the events.
    ///   - source: Returns the name under which connections are counted and limited, such as an address or an account.
    ///     The default is the owner of the permission. With neither, all clients are one source: the 65th connection is
    ///     refused with 429, unless ``EventHubOptions/maximumConnectionsPerSource`` is raised.
    ///   - authorize: Returns the permission of a request.
    public init(
        _ hub: EventHub, source: @escaping @Sendable (Request, Context) -> String = { _, _ in "" },
        authorize: @escaping Authorization
    ) {
        (self.hub, self.source, self.authorize) = (hub, source, authorize)
    }

    /// Adds the route to a router or a router group.
    ///
    /// - Parameters:
    ///   - router: The router or group.
    ///   - path: The path below the group's. The default is `events`.
    public func add(to router: some RouterMethods<Context>, path: RouterPath = "events") {
        router.get(path) { request, context in try await open(request, context) }
        router.post("\(path)/topics") { request, context in try await change(request, context) }
    }

    private func open(_ request: Request, _ context: Context) async throws -> Response {
        let permission = try await permission(request, context)
        let asked = try topics(request.uri.queryParameters["topics"].map { $0.split(separator: ",").map(String.init) })
        let followed = permission.topics.map { allowed in asked?.intersection(allowed) ?? allowed } ?? asked
        let refused = asked?.subtracting(followed ?? []) ?? []
        // A client that may no longer follow one topic can still follow the other topics.
        if let asked, !asked.isEmpty, refused == asked { throw HTTPError(.forbidden) }
        let heartbeat = heartbeat(request)
        let source = source(request, context)
        let connection = EventConnection(
            id: UUID().uuidString.lowercased(), source: source.isEmpty ? permission.owner : source,
            owner: permission.owner, topics: followed, refused: refused, heartbeat: heartbeat,
            endTime: permission.lifetime.map { hub.clock.now + $0 }, epoch: hub.epoch,
            maximumByteCount: hub.options.maximumQueuedByteCount, at: hub.clock.now)
        do throws(EventHubError) {
            try hub.open(connection)
        } catch {
            return refusal(error)
        }
        let registration = EventRegistration(connection, in: hub)
        // The offset of a client that comes from another process may be ahead of this hub; without this read, the
        // client would receive a reset.
        guard await hub.catchUp(for: connection) else {
            connection.finish(.log)
            hub.metrics.refused(EventHubError.log.description)
            return refusal(.log)
        }
        // These fields ask proxies to forward bytes immediately and unchanged.
        var fields: HTTPFields = [
            .contentType: "text/event-stream", .cacheControl: "no-store, no-transform",
            HTTPField.Name("X-Accel-Buffering", known: ()): "no", .runwayStream: hub.name,
            .runwayHeartbeat: "\(heartbeat.components.seconds)",
            .runwayHeartbeatLimit: "\(hub.options.maximumHeartbeat.components.seconds)",
        ]
        fields[.runwayLifetime] = permission.lifetime.map { "\(max(1, $0.components.seconds))" }
        let body = EventBody(
            registration: registration, request: request.body, lastEventID: request.headers[.lastEventID],
            padding: padding(request))
        return Response(
            status: .ok, headers: fields, body: ResponseBody { writer in try await body.write(to: &writer) })
    }

    /// Authorizes a request. Throws `unauthorized` if the permission has expired, so that the client renews its token.
    private func permission(_ request: Request, _ context: Context) async throws -> EventPermission {
        let permission = try await authorize(request, context)
        if let lifetime = permission.lifetime, lifetime <= .zero { throw HTTPError(.unauthorized) }
        return permission
    }

    private func change(_ request: Request, _ context: Context) async throws -> Response {
        // The body is read before the permission, since the permission may change while a slow body arrives.
        let body = try await BodyCollector.shared.collect(request.body, upTo: 1 << 16)
        let permission = try await permission(request, context)
        guard let json = (try? JSONDocument(Array(body.readableBytesView)))?.root, let id = json["connection"].string,
            let added = try topics(json["add"].elements.compactMap(\.string)),
            let removed = try topics(json["remove"].elements.compactMap(\.string))
        else { throw HTTPError(.badRequest) }
        // Neither the response nor its timing reveals whether a connection of another client exists.
        guard let connection = hub.connection(id), connection.owner.isExactly(permission.owner), connection.end == nil
        else {
            // The connection may be in another process, where its topics are not changed. The client then reconnects
            // with its new topics.
            guard added.isEmpty, removed.isEmpty,
                let offset = await hub.probeOtherProcesses(for: id, owner: permission.owner)
            else { throw HTTPError(.notFound) }
            return changed(at: offset)
        }
        defer { hub.topicsDidChange(connection) }
        // The permission may end earlier than it did when the connection was opened.
        if let lifetime = permission.lifetime { connection.endBy(hub.clock.now + lifetime) }
        let maximumCount = hub.options.maximumTopicsPerConnection
        if let allowed = permission.topics {
            connection.narrow(to: allowed, upTo: maximumCount)
            if !added.isSubset(of: allowed) { return changed(.forbidden, refused: connection.refusedTopics) }
        }
        guard let offset = connection.change(adding: added, removing: removed, upTo: maximumCount) else {
            return changed(.badRequest, refused: connection.refusedTopics)
        }
        connection.queueHeartbeat()
        return changed(at: offset, refused: connection.refusedTopics)
    }

    /// Returns the response to a change of topics: the offset from which the change applies, and the topics that the
    /// client may not follow. These topics are named even if the change is refused, since the permission limits the
    /// connection in any case.
    private func changed(
        _ status: HTTPResponse.Status = .ok, at offset: Int64? = nil, refused: Set<String> = []
    ) -> Response {
        let json = JSONWriter.object { writer in
            writer.member("position", offset.map { EventID(of: hub.epoch, $0).description })
            writer.refusedTopics(refused)
        }
        return Response(json: json, status: status)
    }

    private func topics(_ names: [String]?) throws -> Set<String>? {
        guard let names else { return nil }
        guard names.count <= hub.options.maximumTopicsPerConnection,
            names.allSatisfy({ PublishedEvent.isTopic($0) })
        else { throw HTTPError(.badRequest) }
        return Set(names)
    }

    /// Returns the heartbeat interval that the client requests, clamped to the limits of the hub.
    private func heartbeat(_ request: Request) -> Duration {
        let asked = request.headers[.runwayHeartbeat].flatMap { Int32($0) }
        guard let asked else { return hub.options.heartbeat }
        return max(.seconds(1), min(.seconds(asked), hub.options.maximumHeartbeat))
    }

    /// Returns the number of padding bytes that the client requests. The number is in a header field or, for browsers,
    /// which cannot send the field, in the query.
    private func padding(_ request: Request) -> Int {
        let asked = request.headers[.runwayPadding] ?? request.uri.queryParameters["padding"].map(String.init)
        return min(max(0, asked.flatMap { Int($0) } ?? 0), 8192)
    }

    /// Returns a response without a body and with a random `Retry-After`, so that clients do not retry at the same
    /// time.
    private func refusal(_ error: EventHubError) -> Response {
        let wait = EventHubOptions.retryAfter * Double.random(in: 1...2)
        let status: HTTPResponse.Status = error == .tooManyOfSource ? .tooManyRequests : .serviceUnavailable
        return Response(status: status, headers: [.retryAfter: "\(max(1, wait.components.seconds))"])
    }
}
