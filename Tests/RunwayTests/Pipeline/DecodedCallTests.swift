import HTTPTypes
import Runway
import RunwayJSON
import RunwayTesting
import Testing

/// Calls whose response is decoded into a model.
struct DecodedCallTests {
    private struct Book: Decodable, Equatable {
        var title: String
    }

    private func layer(_ body: String) -> StubbedLayer { StubbedLayer { _ in .json(body) } }

    @Test func theRootIsDecodedByDefault() async throws {
        let layer = layer(#"{"title":"阁楼","pages":3}"#)
        #expect(try await layer.network.call(BookSearch(), as: Book.self) == Book(title: "阁楼"))
    }

    @Test func namesOfAPathAreSeparatedByDots() async throws {
        let layer = layer(#"{"data":{"list":[{"title":"a"},{"title":"b"}]}}"#)
        let books = try await layer.network.call(BookSearch(), as: [Book].self, at: "data.list")
        #expect(books.map(\.title) == ["a", "b"])
    }

    @Test(arguments: [
        (#"{"data":{}}"#, "data.list"), ("[1,", ""), (#"{"title":1}"#, ""), ("{}", ".."), (#"{"data":{}}"#, "data."),
    ])
    func whatDoesNotFitIsAnInvalidResponse(body: String, path: String) async throws {
        let layer = layer(body)
        let error = try #require(
            await #expect(throws: NetworkError.self) {
                try await layer.network.call(BookSearch(), as: Book.self, at: path)
            })
        #expect(error.kind == .invalidResponse && error.step == .reforming)
        #expect(error.rawData?.bytes == Array(body.utf8))
        await layer.network.flushRecords()
        let record = try #require(layer.records.records.last)
        #expect(record.decisions.contains { $0.name == "reformingFailed" })
    }

    @Test func aFailedCallIsNotDecoded() async throws {
        let layer = StubbedLayer { _ in .json("{}", status: .notFound) }
        let error = try #require(
            await #expect(throws: NetworkError.self) { try await layer.network.call(BookSearch(), as: Book.self) })
        #expect(error.kind == .refused)
    }
}
