import Foundation
import HTTPTypes
import Runway
import RunwayJSON
import RunwayTesting
import Testing

@testable import RunwayStorage

/// The cache below the memory of a layer.
struct DiskCacheLayerTests {
    private struct Chapter: Endpoint {
        static let service = Shelf.self
        var path: EndpointPath { "chapters" }
        var id = 1
    }

    private let folder = CacheFolder()

    /// A layer whose server responds with a number, or not at all.
    private func layer(_ cache: DiskCache, isOnline: Bool = true) -> NetworkLayer {
        let transport = StubTransport { _ throws(NetworkError) in
            guard isOnline else { throw NetworkError(.noNetwork, in: .transporting, "gone") }
            var response = Response.json(#"{"n":"a text of the server"}"#)
            response.head.headerFields[.cacheControl] = "max-age=3600"
            return response
        }
        var limits = LayerLimits()
        limits.tokenStoreDeadline = .seconds(300)
        return NetworkLayer(transport: transport, pipeline: .tested, limits: limits, diskCache: cache)
    }

    private static let policies: [CachePolicy] = [
        .timeToLive(.seconds(60), diskLifetime: .seconds(3600)), .untilEvicted(onDisk: true), .http(onDisk: true),
    ]

    @Test(arguments: policies) func aResponseOutlivesTheLaunch(policy: CachePolicy) async throws {
        let options = CallOptions(cache: policy)
        let first = folder.cache()
        let network = layer(first)
        #expect(try await network.call(Chapter(), options: options).source == .network)
        #expect(await network.cache.flush())
        #expect(first.count == 1)
        await first.close()
        let later = layer(folder.cache(), isOnline: false)
        let rawData = try await later.call(Chapter(), options: options)
        #expect(rawData.source == .cache && rawData["n"].string == "a text of the server")
        await #expect(throws: NetworkError.self) { try await later.call(Chapter(id: 2), options: options) }
    }

    @Test(arguments: [CachePolicy.timeToLive(), .untilEvicted(), .http()])
    func onlyPoliciesThatNameTheDiskUseIt(policy: CachePolicy) async throws {
        let cache = folder.cache()
        let network = layer(cache)
        _ = try await network.call(Chapter(), options: CallOptions(cache: policy))
        await network.cache.flush()
        #expect(cache.count == 0)
    }

    @Test(arguments: policies) func clearingAnAccountErasesPendingWrites(policy: CachePolicy) async throws {
        let cache = folder.cache()
        let network = layer(cache)
        network.configure(Shelf.self) { $0.account = "ann" }
        _ = try await network.call(Chapter(), options: CallOptions(cache: policy))
        network.cache.clear(account: "ann")
        #expect(await network.cache.flush())
        #expect(cache.count == 0)
        #expect(try !folder.contains("a text of the server"))
    }

    /// Under the rules of HTTP, the policy says whether such a response is stored.
    @Test(arguments: policies.dropLast()) func aCookieIsNotOnDisk(policy: CachePolicy) async throws {
        let cache = folder.cache()
        let transport = StubTransport { _ in
            let head = HTTPResponse(status: .ok, headerFields: [.setCookie: "session=hunter2"])
            let bytes = Array(#"{"n":"a text of the server"}"#.utf8)
            return Response(head: head, body: .whole(RawData(bytes, response: head)))
        }
        let network = NetworkLayer(transport: transport, pipeline: .tested, diskCache: cache)
        _ = try await network.call(Chapter(), options: CallOptions(cache: policy))
        #expect(await network.cache.flush())
        #expect(try folder.contains("a text of the server") && !folder.contains("hunter2"))
        await cache.close()
    }

    #if os(Linux) || os(macOS)
        @Test func aSignOutLeavesNothingAfterAKill() async throws {
            let folder = CacheFolder()
            await #expect(processExitsWith: .signal(SIGKILL)) { [path = folder.url.path as String] in
                let cache = DiskCache(in: URL(filePath: path))
                let network = DiskCacheLayerTests().layer(cache)
                try await network.signIn(AccessToken("token", account: "ann"), to: Shelf.self)
                _ = try await network.call(Chapter(), options: CallOptions(cache: .untilEvicted(onDisk: true)))
                #expect(await network.cache.flush())
                #expect(cache.count == 1)
                try await network.signOut(of: Shelf.self)
                kill(getpid(), SIGKILL)
            }
            #expect(try !folder.contains("a text of the server"))
            let cache = folder.cache()
            _ = try await cache.find(.named("chapters"))
            #expect(cache.count == 0)
            await cache.close()
        }
    #endif

    @Test(arguments: policies) func aFailureOfTheCacheIsAMiss(policy: CachePolicy) async throws {
        let holder = folder.cache()
        _ = try await holder.find(.named("a"))
        let network = layer(folder.cache())
        #expect(try await network.call(Chapter(), options: CallOptions(cache: policy)).source == .network)
        await network.cache.flush()
        #expect(network.cache.tierFailureCount > 0)
        await holder.close()
    }
}
