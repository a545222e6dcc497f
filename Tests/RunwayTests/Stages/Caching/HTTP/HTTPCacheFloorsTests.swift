import HTTPTypes
import Testing

@testable import Runway

/// What is not kept any more after clears and changes, and what becomes of what is kept beside it.
struct HTTPCacheFloorsTests {
    private enum Other: APIService {
        static let name = "other"
        static let environments: [ServiceEnvironment: String] = [:]
    }

    /// A way to clear, which concerns Kim's answers of the other service.
    private struct Clearing {
        let concernsNobody: Bool
        let clear: (HTTPCacheStore) -> Void
    }

    private let store = HTTPCacheStore(limits: HTTPCacheLimits())
    private let head = HTTPRequest(method: .get, scheme: "https", authority: "a.test", path: "/a")
    private var uri: HTTPCacheURI { HTTPCacheURI(head) }
    private let nobody = CachePartition(
        service: Library.self, environment: .release, account: nil)
    private let kim = CachePartition(
        service: Other.self, environment: .release, account: "kim")

    private func clearings() -> [Clearing] {
        let uri = uri
        return [
            Clearing(concernsNobody: true) { $0.removeAll() }, Clearing(concernsNobody: true) { $0.clear(.everything) },
            Clearing(concernsNobody: true) { $0.clear(uri) },
            Clearing(concernsNobody: false) { $0.removeAll(ofAccount: "kim") },
            Clearing(concernsNobody: false) { $0.removeAll(of: Other.self) },
            Clearing(concernsNobody: false) { $0.clear(.service("other")) },
            Clearing(concernsNobody: false) { $0.clear(.endpoint("any", service: "other")) },
            Clearing(concernsNobody: false) { $0.clear(.account("kim", service: "other")) },
            Clearing(concernsNobody: false) { $0.clear(.account("kim", service: nil)) },
        ]
    }

    /// Keeps an answer of the request with a ticket, unless it may not be kept.
    private func keep(
        _ ticket: UInt64, from mark: UInt64? = nil, in partition: CachePartition? = nil, language: String = "de"
    ) -> Bool {
        let response = HTTPResponse(status: .ok, headerFields: [.vary: "Accept-Language"])
        var asked = head
        asked.headerFields[.acceptLanguage] = language
        let answer = StoredResponse(
            response, .whole(RawData([], response: response)), to: asked, in: partition ?? nobody,
            times: ExchangeTimes(
                requested: .seconds(Int64(ticket)), received: .seconds(Int64(ticket) + 1),
                receivedDate: HTTPDate(seconds: 1_767_225_600)),
            verdict: .fine, isVerbatim: true, ticket: ticket)
        return store.keep(answer, of: uri, from: mark ?? ticket)
    }

    private func kept(in partition: CachePartition? = nil) -> [UInt64] {
        store.answers(of: uri, for: partition ?? nobody).map(\.ticket)
    }

    @Test func noAnswerIsKeptAfterAClearOfACallThatTookOffBeforeIt() {
        for (index, clearing) in clearings().enumerated() {
            let (mark, early) = (store.takeTicket(), store.takeTicket())
            clearing.clear(store)
            #expect(!keep(early, from: mark, in: kim), "\(index): its request left before, too")
            #expect(!keep(store.takeTicket(), from: mark, in: kim), "\(index): its request left after")
            #expect(!keep(early, from: store.takeTicket(), in: kim), "\(index): it joined a request of before")
            #expect(store.count == 0)
            #expect(keep(store.takeTicket(), in: kim), "\(index): a call of after")
        }
    }

    @Test func aClearConcernsTheAnswersThatItNamesAlone() {
        for (index, clearing) in clearings().enumerated() {
            let mark = store.takeTicket()
            clearing.clear(store)
            #expect(keep(store.takeTicket(), from: mark) == !clearing.concernsNobody, "\(index)")
        }
        let mark = store.takeTicket()
        store.clear(.account("kim", service: "library"))
        store.removeAll(ofAccount: nil)
        #expect(keep(store.takeTicket(), from: mark, in: kim))
        #expect(!keep(store.takeTicket(), from: mark))
    }

    @Test func aChangeConcernsTheRequestsThatLeftBeforeIt() {
        let (mark, early) = (store.takeTicket(), store.takeTicket())
        store.invalidate(uri)
        #expect(!keep(early, from: mark))
        #expect(keep(store.takeTicket(), from: mark))
    }

    @Test func anAnswerThatIsNotKeptLeavesNoOlderOneInItsPlace() {
        #expect(keep(store.takeTicket()))
        #expect(keep(store.takeTicket(), language: "fr"))
        #expect(keep(store.takeTicket(), in: kim))
        let newer = store.takeTicket()
        // An answer of Kim's that came later and may not be kept.
        store.drop(uri, for: kim, matching: head, ticket: store.takeTicket())
        #expect(kept().count == 2, "what is Kim's says nothing of them")
        #expect(!keep(newer))
        #expect(kept().count == 1, "the one in another language stays")
        #expect(store.answers(of: uri, for: nobody).allSatisfy { $0.requestFields[.acceptLanguage] == "fr" })
    }

    @Test func anAnswerThatIsNotKeptLeavesTheNewerOneInItsPlace() {
        let early = store.takeTicket()
        store.invalidate(uri)
        let later = store.takeTicket()
        #expect(keep(later))
        #expect(!keep(early))
        #expect(kept() == [later])
    }

    @Test func anAnswerThatIsNotKeptKeepsOutAnOlderOneThatComesAfterIt() {
        let mark = store.takeTicket()
        store.removeAll()
        let (older, newer) = (store.takeTicket(), store.takeTicket())
        #expect(!keep(newer, from: mark))
        #expect(!keep(older))
        #expect(keep(store.takeTicket()))
    }

    @Test func aHostOfClearsIsRememberedInBoundedMemory() {
        let mark = store.takeTicket()
        for number in 0...2 * HTTPCacheFloors.maximumCount { store.removeAll(ofAccount: "account \(number)") }
        #expect(!keep(store.takeTicket(), from: mark), "what can't be told apart any more is not kept")
        #expect(keep(store.takeTicket()))
    }

    @Test func aClearOfATargetThatIsForgottenHoldsForAll() {
        let mark = store.takeTicket()
        store.clear(uri)
        for number in 0...HTTPCacheFloors.maximumCount {
            var other = head
            other.path = "/\(number)"
            store.invalidate(HTTPCacheURI(other))
        }
        #expect(!keep(store.takeTicket(), from: mark))
        #expect(keep(store.takeTicket()))
    }
}
