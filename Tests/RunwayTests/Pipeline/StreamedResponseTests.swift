import HTTPTypes
import Runway
import RunwayTesting
import Testing

struct StreamedResponseTests {
    /// A layer whose responses are streams of the given parts, which may fail at the end.
    private func layer(_ parts: [[UInt8]], failing error: (any Error)? = nil) -> StubbedLayer {
        StubbedLayer { _ in
            Response(
                head: HTTPResponse(status: .ok),
                body: .stream(
                    BodyStream {
                        var rest = parts
                        return {
                            if !rest.isEmpty { return rest.removeFirst() }
                            if let error { throw error }
                            return nil
                        }
                    }))
        }
    }

    @Test func recordClosesAtTheEndOfTheStream() async throws {
        let layer = layer([[1, 2], [3]])
        let response = try await layer.network.stream(QueryCall())
        #expect(response.response.status == .ok)
        #expect(layer.transport.requests.first?.delivery == .streamed)
        await layer.network.flushRecords()
        #expect(layer.records.records.isEmpty)

        layer.clock.advance(by: .seconds(2))
        #expect(try await response.body.collect(upTo: 100) == [1, 2, 3])
        let record = try await layer.record()
        #expect(record.outcome.name == "succeeded")
        #expect(record.source == .network)
        #expect(record.attempts.first?.responseByteCount == 3)
        #expect(record.attempts.first?.end == .seconds(2))
        #expect(record.duration == .seconds(2))
    }

    @Test func bodyFailureClosesTheRecordWithItsError() async throws {
        let lost = NetworkError(.noNetwork, in: .transporting, "The connection was lost.")
        let layer = layer([[1, 2]], failing: lost)
        do {
            let response = try await layer.network.stream(QueryCall())
            let error = await #expect(throws: NetworkError.self) { try await response.body.collect(upTo: 100) }
            #expect(error?.kind == .noNetwork)
            #expect(error?.request == "GET https://library.test/v1/query")
            #expect(error?.attempt == 1)
        }
        let record = try await layer.record()
        #expect(record.outcome.name == "failed")
        #expect(record.attempts.first?.failure == "The connection was lost.")
        #expect(record.attempts.first?.responseByteCount == 2)
    }

    @Test func streamThrowsOnlyNetworkErrors() async throws {
        struct Broken: Error {}
        let response = try await layer([], failing: Broken()).network.stream(QueryCall())
        let error = await #expect(throws: NetworkError.self) { try await response.body.collect(upTo: 1) }
        #expect(error?.kind == .noNetwork)
        #expect(error?.underlying is Broken)
    }

    @Test func cancelledReaderCancelsTheCall() async throws {
        let layer = layer([[1]], failing: CancellationError())
        let response = try await layer.network.stream(QueryCall())
        let error = await #expect(throws: NetworkError.self) { try await response.body.collect(upTo: 1) }
        #expect(error?.kind == .cancelled)
        #expect(try await layer.record().outcome.name == "cancelled")
    }

    @Test func unreadDiscardedBodyIsRecordedAsCancelled() async throws {
        let layer = layer([[1, 2], [3], [4]])
        do {
            let response = try await layer.network.stream(QueryCall())
            var iterator = response.body.makeAsyncIterator()
            #expect(try await iterator.next() == [1, 2])
        }
        let record = try #require(try await layer.records.records(count: 1).first)
        #expect(record.outcome.name == "cancelled")
        #expect(record.attempts.first?.responseByteCount == 2)
    }

    @Test func releaseAfterTheEndChangesNoRecord() async throws {
        let layer = layer([[9]], failing: NetworkError(.timedOut, in: .transporting, "Too slow."))
        do {
            let response = try await layer.network.stream(QueryCall())
            await #expect(throws: NetworkError.self) { try await response.body.collect(upTo: 5) }
            layer.clock.advance(by: .seconds(50))
        }
        let record = try await layer.record()
        #expect(record.outcome.name == "failed")
        #expect(record.attempts.first?.failure == "Too slow.")
        #expect(record.attempts.first?.end == .zero)
    }

    @Test func wholeBodyIsReturnedAsAStream() async throws {
        let layer = StubbedLayer { _ in .json("[1]") }
        let response = try await layer.network.stream(QueryCall())
        #expect(try await response.body.collect(upTo: 3) == Array("[1]".utf8))
        #expect(try await layer.record().attempts.first?.responseByteCount == 3)
    }

    @Test func serviceJudgesTheHeadOfAStreamAlone() async throws {
        let refusing = StubbedLayer { _ in
            Response(head: HTTPResponse(status: .notFound), body: .stream(BodyStream([1])))
        }
        let error = await #expect(throws: NetworkError.self) { try await refusing.network.stream(PaintingList()) }
        #expect(error?.kind == .refused)
        #expect(error?.status == .notFound)
        #expect(try await refusing.record().outcome.name == "failed")
        // A body that no envelope reads passes by its head.
        let fine = StubbedLayer { _ in
            Response(head: HTTPResponse(status: .ok), body: .stream(BodyStream([1])))
        }
        #expect(try await fine.network.stream(PaintingList()).body.collect(upTo: 1) == [1])
    }

    @Test func streamInsteadOfAWholeResponseIsInvalid() async throws {
        let error = try await layer([[1]]).failure(of: QueryCall())
        #expect(error.kind == .invalidResponse)
        #expect(error.step == .checking)
    }
}
