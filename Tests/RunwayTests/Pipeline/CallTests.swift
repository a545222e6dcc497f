import Dispatch
import HTTPTypes
import Runway
import RunwayJSON
import RunwayTesting
import Testing

struct CallTests {
    private struct Own: Error, CustomStringConvertible { var description: String }

    private struct Completing: Endpoint {
        static let service = Library.self
        var path: EndpointPath { "c" }
        var city: String?
        var limit = 0
        mutating func complete() throws {
            if limit < 0 { throw Own(description: "A negative limit can't be completed.") }
            if city == nil { city = "上海" }
        }
        func validate() throws {
            if limit > 100 { throw Own(description: "The limit is \(limit), at most 100 is allowed.") }
        }
    }

    @Test func endpointCompletesItsParametersBeforeTheyAreChecked() async throws {
        let layer = StubbedLayer()
        _ = try await layer.network.call(Completing())
        #expect(layer.transport.requests.first?.head.path == "/v1/c?city=%E4%B8%8A%E6%B5%B7&limit=0")
    }

    @Test func badParameterNeverLeavesTheApp() async throws {
        let layer = StubbedLayer()
        let error = try await layer.failure(of: Completing(limit: 101))
        #expect(error.kind == .invalidParameters)
        #expect(error.step == .validating)
        #expect(error.detail == "Own")
        #expect(error.underlying is Own)
        let incomplete = try await layer.failure(of: Completing(limit: -1))
        #expect(incomplete.kind == .invalidParameters)
        #expect(incomplete.step == .preparing)
        #expect(layer.transport.requests.isEmpty)
    }

    @Test func endpointCheckNamesTheInvalidMember() async throws {
        struct Checked: Endpoint {
            static let service = Library.self
            var path: EndpointPath { "c" }
            func validate(response: RawData) throws { _ = try response["data"]["list"].require([String].self) }
        }
        let layer = StubbedLayer { _ in .json(#"{"data":{"list":["a",3]},"token":"hunter2"}"#) }
        let error = try await layer.failure(of: Checked())
        #expect(error.kind == .invalidResponse)
        #expect(error.step == .checking)
        #expect(error.status == .ok)
        #expect(error.host == "library.test")
        #expect(error.detail.contains("data.list[1]"))
        #expect(error.detail.contains("expected a string, found a number, 3"))
        #expect(!"\(error)".contains("hunter2"))
    }

    @MainActor @Test func responseIsCheckedOffTheMainActor() async throws {
        struct Watched: Endpoint {
            static let service = Library.self
            var path: EndpointPath { "watched" }
            func validate(response: RawData) throws {
                // A check on the main actor would wait for itself.
                let mainActorIsFree = DispatchSemaphore(value: 0)
                Task { @MainActor in mainActorIsFree.signal() }
                if mainActorIsFree.wait(timeout: .now() + 60) == .timedOut {
                    throw Refused("The main actor does nothing while the response is checked.")
                }
            }
        }
        // The check blocks a thread of all tasks.
        try await oneAtATime { _ = try await StubbedLayer().network.call(Watched()) }
    }

    @Test func groupOfCallsIsPlainStructuredConcurrency() async throws {
        let layer = StubbedLayer { request in .json("{\"path\":\"\(request.head.path ?? "")\"}") }
        let network = layer.network
        let paths = try await withThrowingTaskGroup(of: String?.self) { group in
            for page in 1...20 { group.addTask { try await network.call(BookSearch(page: page))["path"].string } }
            return try await group.reduce(into: Set<String>()) { paths, path in paths.insert(path ?? "") }
        }
        #expect(paths == Set((1...20).map { "/v1/books?page=\($0)&title=Momo" }))
        #expect(try await layer.records.records(count: 20).count == 20)
    }

    @Test func chainedCallUsesTheResponseBefore() async throws {
        let layer = StubbedLayer { request in
            request.head.path == "/v1/query" ? .json(#"{"next":"b c"}"#) : .json(#"{"done":true}"#)
        }
        let first = try await layer.network.call(QueryCall())
        let second = try await layer.network.call(BookSearch(title: first["next"].require()))
        #expect(second["done"].bool == true)
        #expect(layer.transport.requests.last?.head.path == "/v1/books?title=b%20c")
    }

    @Test func failedCallInAGroupCancelsTheOthers() async throws {
        let gate = ScriptedGate()
        let layer = StubbedLayer { request throws(NetworkError) in
            if request.head.path == "/v1/query" {
                do { try await gate.waitForArrivals() } catch { throw NetworkError(.cancelled, in: .transporting, "x") }
                return .json("{}", status: .notFound)
            }
            do { try await gate.pass() } catch { throw NetworkError(.cancelled, in: .transporting, "x") }
            return .json("{}")
        }
        let network = layer.network
        let error = await #expect(throws: NetworkError.self) {
            async let slow = network.call(BookSearch())
            async let failing = network.call(QueryCall())
            _ = try await failing
            _ = try await slow
        }
        #expect(error?.kind == .refused)
        let outcomes = try await layer.records.records(count: 2).map(\.outcome.name).sorted()
        #expect(outcomes == ["cancelled", "failed"])
        #expect(!gate.isOpen)
    }

    @Test func callIsCancelledWithItsTask() async throws {
        let gate = ScriptedGate()
        let layer = StubbedLayer { _ throws(NetworkError) in
            do { try await gate.pass() } catch { throw NetworkError(.cancelled, in: .transporting, "x") }
            return .json("{}")
        }
        let call = Task { [network = layer.network] in try await network.call(QueryCall()) }
        try await gate.waitForArrivals()
        call.cancel()
        let error = await #expect(throws: NetworkError.self) { try await call.value }
        #expect(error?.kind == .cancelled)
        #expect(try await layer.record().outcome.name == "cancelled")
    }

    @Test func callOfACancelledTaskSendsNoRequest() async throws {
        let layer = StubbedLayer()
        let gate = ScriptedGate()
        let call = Task { [network = layer.network] in
            try? await gate.pass()
            return try await network.call(QueryCall())
        }
        call.cancel()
        let error = await #expect(throws: NetworkError.self) { try await call.value }
        #expect(error?.kind == .cancelled)
        #expect(layer.transport.requests.isEmpty)
        #expect(try await layer.record().outcome.name == "cancelled")
    }

    @Test func flightsAreNumberedFromOneInEachLayer() async throws {
        for layer in [StubbedLayer(name: "a"), StubbedLayer(name: "b")] {
            for _ in 0..<3 { _ = try await layer.network.call(QueryCall()) }
            await layer.network.flushRecords()
            #expect(layer.records.records.map(\.id.number) == [1, 2, 3])
            #expect(layer.records.records.map(\.network) == Array(repeating: layer.network.name, count: 3))
        }
    }
}
