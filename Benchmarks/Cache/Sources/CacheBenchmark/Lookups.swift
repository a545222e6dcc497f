import Foundation
import HTTPTypes
import Synchronization

@testable import Runway

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Responses found by an existing key.
struct Lookups {
    let contenders: [Contender]

    init() async throws {
        let network = try await filledNetwork(InstantTransport(byteCount: 1024))
        let requests = try lists.map { list in
            let flight = network.makeFlight(RentalList.self, .standard)
            var draft = try network.draft(list, in: flight)
            guard let key = draft.key, let stored = network.cache.lookUp(key).response else {
                throw UnexpectedResponse()
            }
            return (key: key, url: try draft.request(in: flight).url, stored: stored)
        }
        contenders = [
            Self.dictionary(requests.map(\.url), requests.map(\.stored)),
            Self.lookup(network.cache, requests.map(\.key)),
            Self.objectCache(requests.map(\.url), requests.map(\.stored)),
            try Self.urlCache(requests.map(\.url)),
        ]
    }

    /// What a programmer would write in a minute: a dictionary by URL, and a lock.
    private static func dictionary(_ keys: [String], _ responses: [TimeToLiveResponse]) -> Contender {
        let locked = LockedDictionary(Dictionary(uniqueKeysWithValues: zip(keys, responses)))
        return timed(Name.dictionary, keys) { locked.value(for: $0) != nil }
    }

    private static func lookup(_ cache: ResponseCache, _ keys: [CacheKey]) -> Contender {
        timed(Name.lookup, keys) { cache.lookUp($0).response != nil }
    }

    private static func objectCache(_ keys: [String], _ responses: [TimeToLiveResponse]) -> Contender {
        let cache = NSCache<NSString, TimeToLiveResponse>()
        let keys = keys.map { NSString(string: $0) }
        for (key, response) in zip(keys, responses) { cache.setObject(response, forKey: key) }
        return timed(Name.objectCache, keys) { cache.object(forKey: $0) != nil }
    }

    private static func urlCache(_ urls: [String]) throws -> Contender {
        let cache = URLCache(memoryCapacity: 64 << 20, diskCapacity: 0, diskPath: nil)
        let requests = try urls.map { text in
            guard let url = URL(string: text) else { throw UnexpectedResponse() }
            return URLRequest(url: url)
        }
        for request in requests {
            guard let url = request.url,
                let response = HTTPURLResponse(url: url, statusCode: 200, httpVersion: "HTTP/1.1", headerFields: [:])
            else { throw UnexpectedResponse() }
            cache.storeCachedResponse(
                CachedURLResponse(response: response, data: Data(count: 1024)), for: request)
        }
        return timed(Name.urlCache, requests) { cache.cachedResponse(for: $0) != nil }
    }

    private static func timed<Key>(_ name: String, _ keys: [Key], _ find: @escaping (Key) -> Bool) -> Contender {
        Contender(name: name) { count in
            var found = 0
            let start = threadTime()
            for number in 0..<count where find(keys[number & 511]) { found += 1 }
            let time = threadTime() - start
            guard found == count else { throw UnexpectedResponse() }
            return time
        }
    }
}

/// A dictionary behind a lock.
private final class LockedDictionary: Sendable {
    /// Guards the responses.
    private let responses: Mutex<[String: TimeToLiveResponse]>

    init(_ responses: [String: TimeToLiveResponse]) { self.responses = Mutex(responses) }

    func value(for key: String) -> TimeToLiveResponse? { responses.withLock { $0[key] } }
}
