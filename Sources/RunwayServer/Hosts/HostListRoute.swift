import Foundation
import HTTPTypes
public import Hummingbird

/// Serves the addresses of hosts, for apps that fetch them once a day:
/// `{"hosts":{"api.example.com":["203.0.113.7","2001:db8::7"]},"ttl":86400}`.
///
/// ```swift
/// HostListRoute { ["api.example.com": ["203.0.113.7", "2001:db8::7"]] }.add(to: router.group("v1"))
/// ```
public struct HostListRoute: Sendable {
    private struct Content: Encodable {
        var hosts: [String: [String]]
        var ttl: Int
    }

    private let lifetime: Duration
    private let hosts: @Sendable () async throws -> [String: [String]]

    /// Creates a route that returns a list of host addresses.
    ///
    /// - Parameters:
    ///   - lifetime: The time for which apps may use the list before they fetch it again, at least one minute. The
    ///     default is one day.
    ///   - hosts: Returns the addresses of every host, in order of preference. Called for every request. If it throws,
    ///     or returns no host or a host without an address, the response is 503, and apps continue with their current
    ///     list.
    public init(
        lifetime: Duration = .seconds(86_400), hosts: @escaping @Sendable () async throws -> [String: [String]]
    ) {
        self.lifetime = max(lifetime, .seconds(60))
        self.hosts = hosts
    }

    /// Adds the route to a router or a router group.
    ///
    /// - Parameters:
    ///   - router: The router or group.
    ///   - path: The path below the group's. The default is `hosts`.
    public func add<Context: RequestContext>(to router: some RouterMethods<Context>, path: RouterPath = "hosts") {
        router.get(path) { _, _ in try await response() }
    }

    private func response() async throws -> Response {
        let hosts: [String: [String]]
        do {
            hosts = try await self.hosts()
        } catch {
            throw HTTPError(.serviceUnavailable, message: "The list of hosts is not available now.")
        }
        guard !hosts.isEmpty, hosts.values.allSatisfy({ !$0.isEmpty }) else {
            throw HTTPError(.serviceUnavailable, message: "The list of hosts is empty.")
        }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let bytes = try encoder.encode(Content(hosts: hosts, ttl: Int(clamping: lifetime.components.seconds)))
        return Response(
            status: .ok, headers: [.contentType: "application/json", .cacheControl: "no-cache"],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: bytes)))
    }
}
