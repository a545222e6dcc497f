import HTTPTypes
import RunwayTesting
import Testing

@testable import Runway

/// The lines and the text of a streamed body.
@Suite(.timeLimit(.minutes(5)))
struct BodyTextTests {
    private struct Broken: Error {}

    /// A body of these parts, which may fail after the last.
    private func body(_ parts: [[UInt8]], failing error: (any Error)? = nil) -> BodyStream {
        BodyStream {
            var rest = parts
            return {
                if !rest.isEmpty { return rest.removeFirst() }
                if let error { throw error }
                return nil
            }
        }
    }

    private func body(_ text: String, in size: Int) -> BodyStream {
        let bytes = Array(text.utf8)
        return body(stride(from: 0, to: bytes.count, by: size).map { Array(bytes[$0..<min($0 + size, bytes.count)]) })
    }

    private func all(_ texts: some AsyncSequence<String, any Error>) async throws -> [String] {
        var all: [String] = []
        for try await text in texts { all.append(text) }
        return all
    }

    /// What comes before an error, and the error, after which nothing comes.
    private func readToTheError(_ texts: some AsyncSequence<String, any Error>) async -> ([String], (any Error)?) {
        var all: [String] = []
        var iterator = texts.makeAsyncIterator()
        do {
            while let text = try await iterator.next(isolation: #isolation) { all.append(text) }
            return (all, nil)
        } catch {
            if let text = try? await iterator.next(isolation: #isolation) { all.append(text) }
            return (all, error)
        }
    }

    @Test(arguments: 1...9) func lfOrCRLFEndsLinesAcrossParts(size: Int) async throws {
        let text = "a\r\n\nb\rc\n上海 🏠\r\r\n\r\nend"
        #expect(try await all(body(text, in: size).lines) == ["a", "", "b\rc", "上海 🏠\r", "", "end"])
        #expect(try await all(body(text + "\n", in: size).lines).last == "end")
        #expect(try await all(body(text, in: size).textParts).joined() == text)
    }

    @Test func bodyWithoutBytesHasNoLines() async throws {
        #expect(try await all(body([]).lines).isEmpty)
        #expect(try await all(body([]).textParts).isEmpty)
        #expect(try await all(body([Array("\n".utf8)]).lines) == [""])
    }

    @Test(arguments: 1...4) func byteOrderMarkIsOmittedOnlyAtStart(size: Int) async throws {
        let text = "\u{FEFF}a\n\u{FEFF}b"
        #expect(
            try await all(body(text, in: size).lines).map { Array($0.utf8) }
                == ["a", "\u{FEFF}b"].map { Array($0.utf8) })
        let parts = try await all(body(text, in: size).textParts)
        #expect(Array(parts.joined().utf8) == Array("a\n\u{FEFF}b".utf8))
    }

    @Test(arguments: [[0xFF], [0xE4, 0xB8], [0xC3]] as [[UInt8]]) func invalidUTF8IsReplaced(_ bytes: [UInt8])
        async throws
    {
        let parts = [Array("a".utf8) + bytes, Array("\nb".utf8) + bytes]
        #expect(try await all(body(parts).lines) == ["a\u{FFFD}", "b\u{FFFD}"])
        #expect(try await all(body(parts).textParts).joined() == "a\u{FFFD}\nb\u{FFFD}")
    }

    @Test func charactersAreNeverDivided() async throws {
        for size in 1...4 {
            for part in try await all(body("aé上🏠", in: size).textParts) {
                #expect("aé上🏠".contains(part) && !part.isEmpty)
            }
        }
    }

    @Test(arguments: [1, 3, 100]) func lineThatIsTooLongIsAnError(size: Int) async throws {
        let fitting = try await all(body("1234\r\n5678", in: size).lines(upTo: 4))
        #expect(fitting == ["1234", "5678"])
        for text in ["ok\n12345\n", "ok\n12345", "ok\n1234567890123"] {
            let (lines, error) = await readToTheError(body(text, in: size).lines(upTo: 4))
            let found = try #require(error as? NetworkError)
            #expect(lines == ["ok"] && found.kind == .invalidResponse)
            #expect(found.detail == "A line of the body is longer than the 4 bytes that its reader allows.")
        }
    }

    @Test func longLineIsNotReadToItsEnd() async throws {
        let endless = BodyStream { { [UInt8](repeating: 7, count: 1000) } }
        await #expect(throws: NetworkError.self) { try await all(endless.lines) }
    }

    @Test func bodyFailureIsThrownAfterItsLines() async throws {
        let (lines, error) = await readToTheError(body([Array("a\nb".utf8)], failing: Broken()).lines)
        #expect(lines == ["a"] && error is Broken)
    }

    @Test func cancelledLineReaderCancelsTheCall() async throws {
        let gate = ScriptedGate()
        let layer = StubbedLayer { _ in
            let body = BodyStream {
                var isFirst = true
                return {
                    defer { isFirst = false }
                    if isFirst { return Array("a\nb".utf8) }
                    try await gate.pass()
                    return nil
                }
            }
            return Response(head: HTTPResponse(status: .ok), body: .stream(body))
        }
        let reader = Task {
            var seen: [String] = []
            do {
                for try await line in try await layer.network.stream(QueryCall()).body.lines { seen.append(line) }
            } catch {
                return (seen, error as? NetworkError)
            }
            return (seen, nil)
        }
        try await gate.waitForArrivals()
        reader.cancel()
        let (seen, error) = await reader.value
        #expect(seen == ["a"] && error?.kind == .cancelled)
        #expect(try await layer.record().outcome.name == "cancelled")
    }
}
