import HTTPTypes
import Testing

@testable import Runway

/// Which responses are removed and refused by clears and changes, and which are not.
struct ClearGenerationsTests {
    private enum Other: APIService {
        static let name = "other"
        static let environments: [ServiceEnvironment: String] = [:]
    }

    /// A way to clear, which concerns Kim's responses of the other service.
    private struct Clearing {
        let concernsNobody: Bool
        let clear: (ResponseCache) -> Void
    }

    private let store = ResponseCache(CacheLimits())
    private let head = HTTPRequest(method: .get, scheme: "https", authority: "a.test", path: "/a")
    private var uri: HTTPCacheURI { HTTPCacheURI(head) }
    private let nobody = CachePartition(
        service: Library.self, environment: .release, account: nil)
    private let kim = CachePartition(
        service: Other.self, environment: .release, account: "kim")

    private func clearings() -> [Clearing] {
        let uri = uri
        return [
            Clearing(concernsNobody: true) { $0.clear() }, Clearing(concernsNobody: true) { $0.clear(.everything) },
            Clearing(concernsNobody: true) { $0.remove(nil, of: uri) },
            Clearing(concernsNobody: false) { $0.clear(account: "kim") },
            Clearing(concernsNobody: false) { $0.clear(Other.self) },
            Clearing(concernsNobody: false) { $0.clear(.service("other")) },
            Clearing(concernsNobody: false) { $0.clear(.endpoint("any", service: "other")) },
            Clearing(concernsNobody: false) { $0.clear(.account("kim", service: "other")) },
            Clearing(concernsNobody: false) { $0.clear(.account("kim", service: nil)) },
        ]
    }

    /// Stores a response to the request with a sequence number, if that is allowed.
    private func store(
        _ sequenceNumber: UInt64, from mark: UInt64? = nil, in partition: CachePartition? = nil, language: String = "de"
    ) -> Bool {
        let response = HTTPResponse(status: .ok, headerFields: [.vary: "Accept-Language"])
        var asked = head
        asked.headerFields[.acceptLanguage] = language
        let stored = HTTPStoredResponse(
            response, .whole(RawData([], response: response)), to: asked, in: partition ?? nobody,
            times: ExchangeTimes(
                requested: .seconds(Int64(sequenceNumber)), received: .seconds(Int64(sequenceNumber) + 1),
                receivedDate: HTTPDate(seconds: 1_767_225_600)),
            verdict: .fine, isVerbatim: true, sequenceNumber: sequenceNumber)
        return store.store(stored, of: uri, from: mark ?? sequenceNumber)
    }

    private func stored(in partition: CachePartition? = nil) -> [UInt64] {
        store.responses(of: uri, for: partition ?? nobody).responses.map(\.sequenceNumber)
    }

    @Test func earlierCallsAreNotStoredAfterAClear() {
        for (index, clearing) in clearings().enumerated() {
            let (mark, early) = (store.nextSequenceNumber(), store.nextSequenceNumber())
            clearing.clear(store)
            #expect(!store(early, from: mark, in: kim), "\(index): its request left before, too")
            #expect(!store(store.nextSequenceNumber(), from: mark, in: kim), "\(index): its request left after")
            #expect(!store(early, from: store.nextSequenceNumber(), in: kim), "\(index): it joined a request of before")
            #expect(store.count == 0)
            #expect(store(store.nextSequenceNumber(), in: kim), "\(index): a call of after")
        }
    }

    @Test func aClearRemovesOnlyTheResponsesItNames() {
        for (index, clearing) in clearings().enumerated() {
            let mark = store.nextSequenceNumber()
            clearing.clear(store)
            #expect(store(store.nextSequenceNumber(), from: mark) == !clearing.concernsNobody, "\(index)")
        }
        let mark = store.nextSequenceNumber()
        store.clear(.account("kim", service: "library"))
        store.clear(account: nil)
        #expect(store(store.nextSequenceNumber(), from: mark, in: kim))
        #expect(!store(store.nextSequenceNumber(), from: mark))
    }

    @Test func changeConcernsTheRequestsThatLeftBeforeIt() {
        let (mark, early) = (store.nextSequenceNumber(), store.nextSequenceNumber())
        store.invalidate([uri])
        #expect(!store(early, from: mark))
        #expect(store(store.nextSequenceNumber(), from: mark))
    }

    @Test func anUnstoredResponseRemovesAnOlderOne() {
        #expect(store(store.nextSequenceNumber()))
        #expect(store(store.nextSequenceNumber(), language: "fr"))
        #expect(store(store.nextSequenceNumber(), in: kim))
        let newer = store.nextSequenceNumber()
        // A later response of Kim's that may not be stored.
        store.supersede(uri, in: kim, matching: head, before: store.nextSequenceNumber())
        #expect(stored().count == 2, "what is Kim's says nothing of them")
        #expect(!store(newer))
        #expect(stored().count == 1, "the one in another language stays")
        #expect(
            store.responses(of: uri, for: nobody).responses.allSatisfy { $0.requestFields[.acceptLanguage] == "fr" })
    }

    @Test func anUnstoredResponseLeavesANewerOne() {
        let early = store.nextSequenceNumber()
        store.invalidate([uri])
        let later = store.nextSequenceNumber()
        #expect(store(later))
        #expect(!store(early))
        #expect(stored() == [later])
    }

    @Test func unstoredResponsePreventsStoringALaterOlderOne() {
        let mark = store.nextSequenceNumber()
        store.clear()
        let (older, newer) = (store.nextSequenceNumber(), store.nextSequenceNumber())
        #expect(!store(newer, from: mark))
        #expect(!store(older))
        #expect(store(store.nextSequenceNumber()))
    }

    @Test func hostOfClearsIsRememberedInBoundedMemory() {
        let mark = store.nextSequenceNumber()
        for number in 0...2 * ClearGenerations.maximumCount { store.clear(account: "account \(number)") }
        #expect(!store(store.nextSequenceNumber(), from: mark), "responses of a forgotten target are not stored")
        #expect(store(store.nextSequenceNumber()))
    }

    @Test func aForgottenTargetClearAppliesToAll() {
        let mark = store.nextSequenceNumber()
        store.remove(nil, of: uri)
        for number in 0...ClearGenerations.maximumCount {
            var other = head
            other.path = "/\(number)"
            store.invalidate([HTTPCacheURI(other)])
        }
        #expect(!store(store.nextSequenceNumber(), from: mark))
        #expect(store(store.nextSequenceNumber()))
    }
}
