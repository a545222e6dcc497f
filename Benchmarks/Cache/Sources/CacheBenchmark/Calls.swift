import Runway

/// Whole calls: those whose responses memory holds, with their key, the lookup and the record; and those that the transport responds to
/// at once, through all stages.
struct Calls {
    let contenders: [Contender]

    init() async throws {
        let transport = InstantTransport(byteCount: 1024)
        let network = try await filledNetwork(transport, sinks: [NewestRecords()])
        let managers = await Managers<RentalList>(network)
        let sending = NetworkLayer(
            transport: InstantTransport(byteCount: 1024), sinks: [NewestRecords()],
            // The same request is made over and over.
            limits: LayerLimits(admission: AdmissionLimits(maximumIdenticalRequests: nil)))
        let sent = Contender(name: Name.sentCall) { try await Self.sentCall(sending, count: $0) }
        let senders = await Managers<Photo>(sending)
        let sentLoad = Contender(name: Name.sentLoad) { count in
            try await senders.load(count: count) { _ in Photo(name: "1k") }.landed
        }
        contenders =
            [sent, sentLoad]
            + [
                Contender(name: Name.call) { try await Self.call(network, count: $0) },
                Contender(name: Name.load) { try await Self.load(managers, count: $0).returned },
                Contender(name: Name.landing) { try await Self.load(managers, count: $0).landed },
            ].map { contender in
                Contender(name: contender.name) { count in
                    let time = try await contender.run(count)
                    guard transport.sentCount == lists.count else { throw UnexpectedResponse() }
                    return time
                }
            }
    }

    /// What all threads took, the records made for the sink among it. Off the main actor, from which each call would be two wakes more.
    @concurrent private static func sentCall(_ network: NetworkLayer, count: Int) async throws -> Double {
        let start = processTime()
        for _ in 0..<count {
            guard try await network.call(Photo(name: "1k")).bytes.count == 1024 else { throw UnexpectedResponse() }
        }
        return processTime() - start
    }

    private static func call(_ network: NetworkLayer, count: Int) async throws -> Double {
        var byteCount = 0
        // What memory holds is found without leaving the caller's thread.
        let start = threadTime()
        for number in 0..<count { byteCount += try await network.call(lists[number & 511]).bytes.count }
        let time = threadTime() - start
        guard byteCount == 1024 * count else { throw UnexpectedResponse() }
        return time
    }

    @MainActor private static func load(
        _ managers: Managers<RentalList>, count: Int
    ) async throws -> (returned: Double, landed: Double) {
        let times = try await managers.load(count: count) { lists[$0 & 511] }
        guard managers.hadAllAtOnce else { throw UnexpectedResponse() }
        return times
    }
}

/// Controllers' managers, which load and notify.
@MainActor
private final class Managers<E: Endpoint>: APIManagerDelegate {
    private var managers: [APIManager<E>] = []
    private var awaited = 0
    private var continuation: CheckedContinuation<Void, Never>?
    /// Whether every response of the last loads was in its manager when `load` returned.
    private(set) var hadAllAtOnce = true

    init(_ network: NetworkLayer) {
        managers = (0..<32).map { _ in APIManager(on: network, delegate: self) }
    }

    /// The time until `load` returned; and the time of all threads until the delegate was notified, including the records for the
    /// sink.
    func load(count: Int, _ endpoint: (Int) -> E) async throws -> (returned: Double, landed: Double) {
        var (returned, landed, done) = (0.0, 0.0, 0)
        hadAllAtOnce = true
        while done < count {
            let batch = min(managers.count, count - done)
            awaited = batch
            var byteCount = 0
            let (start, startOfAll) = (threadTime(), processTime())
            for number in 0..<batch {
                managers[number].load(endpoint(done + number))
                byteCount += managers[number].rawData?.bytes.count ?? 0
            }
            returned += threadTime() - start
            if byteCount != 1024 * batch { hadAllAtOnce = false }
            await withCheckedContinuation { continuation = $0 }
            landed += processTime() - startOfAll
            done += batch
        }
        return (returned, landed)
    }

    func apiManagerDidSucceed(_ manager: any APIManaging) {
        awaited -= 1
        guard awaited == 0 else { return }
        continuation?.resume()
        continuation = nil
    }

    func apiManager(_ manager: any APIManaging, didFailWith error: NetworkError) {}
}
