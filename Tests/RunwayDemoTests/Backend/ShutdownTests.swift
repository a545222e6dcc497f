import AsyncHTTPClient
import Foundation
import NIOCore
import NIOPosix
import RunwayTesting
import ServiceLifecycle
import Testing

@testable import RunwayDemo

/// Slow requests here sleep on a clock that stands still: whatever waited for them would wait for ever.
@Suite(.timeLimit(.minutes(10))) struct ShutdownTests {
    @Test(arguments: [HTTPClient.Configuration.HTTPVersion.automatic, .http1Only])
    func scopeEndsWithASlowRequestInFlight(version: HTTPClient.Configuration.HTTPVersion) async throws {
        let clock = HeldClock()
        let backend = try ListingsBackend(clock: clock)
        let configuration = try BackendClient.configuration(
            trusting: backend.certificate?.authorityDER, version: version)
        try await HTTPClient.withHTTPClient(configuration: configuration) { client in
            let slow = try await withListingsBackend(backend) { serving in
                let client = BackendClient(client: client, baseURL: serving.baseURL)
                let slow = Task { try await client.get("/slow/list") }
                for await _ in clock.sleepers { break }
                return slow
            }
            await #expect(throws: (any Error).self) { try await slow.value }
        }
        #expect(backend.statistics.total == .init(requests: 1, responses: 0, abandoned: 1, bodyBytes: 0))
    }

    @Test func theScopeEndsWithASilentConnectionOpen() async throws {
        let backend = try ListingsBackend()
        let silent = try await withListingsBackend(backend) { serving in
            let silent = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .connect(host: serving.host, port: serving.port).get()
            // One response over another connection shows that the first one was accepted before it.
            let configuration = try BackendClient.configuration(trusting: backend.certificate?.authorityDER)
            try await HTTPClient.withHTTPClient(configuration: configuration) { client in
                _ = try await BackendClient(client: client, baseURL: serving.baseURL).get("/zf/list")
            }
            // Each is counted on a thread of its own.
            try await waitUntil("both connections") { backend.statistics.connections == 2 }
            return silent
        }
        #expect(backend.statistics.connections == 2)
        try await silent.closeFuture.get()
    }

    @Test func nothingListensAfterTheScope() async throws {
        let port = try await withListingsBackend(ListingsBackend()) { $0.port }
        await #expect(throws: NIOConnectionError.self) {
            _ = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .connect(host: "127.0.0.1", port: port).get()
        }
    }

    @Test func theScopeThrowsWhatItsBodyThrows() async throws {
        struct Refusal: Error {}
        await #expect(throws: Refusal.self) {
            try await withListingsBackend(ListingsBackend()) { _ in throw Refusal() }
        }
    }

    @Test func cancellingTheTaskEndsRunWithoutAnError() async throws {
        let backend = try ListingsBackend()
        let (servings, serving) = AsyncStream<ServingBackend>.makeStream()
        let running = Task { try await backend.run { serving.yield($0) } }
        for await _ in servings { break }
        running.cancel()
        try await running.value
    }

    @Test func shutdownCompletesWithASlowRequestInFlight() async throws {
        struct BackendService: Service {
            let backend: ListingsBackend
            let onServing: @Sendable (ServingBackend) -> Void

            func run() async throws { try await backend.run(onServing: onServing) }
        }
        let clock = HeldClock()
        let backend = try ListingsBackend(clock: clock)
        let (servings, serving) = AsyncStream<ServingBackend>.makeStream()
        let group = ServiceGroup(services: [BackendService(backend: backend) { serving.yield($0) }])
        let configuration = try BackendClient.configuration(trusting: backend.certificate?.authorityDER)
        try await HTTPClient.withHTTPClient(configuration: configuration) { client in
            async let running: Void = group.run()
            var iterator = servings.makeAsyncIterator()
            let client = BackendClient(client: client, baseURL: try #require(await iterator.next()).baseURL)
            let slow = Task { try await client.get("/slow/list") }
            for await _ in clock.sleepers { break }
            await group.triggerGracefulShutdown()
            try await running
            await #expect(throws: (any Error).self) { try await slow.value }
        }
    }

    @Test func aTakenPortIsAnError() async throws {
        try await withListingsBackend(ListingsBackend()) { serving in
            let another = try ListingsBackend()
            await #expect(throws: (any Error).self) { try await another.run(port: serving.port) }
        }
    }
}
