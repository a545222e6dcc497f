import Testing

@testable import Runway

/// What a cancellation does while a transfer is being handed over.
struct BackgroundHandOversTests {
    private let handOvers = BackgroundHandOvers()

    /// Whether the task of a hand-over is started.
    private func starts(_ id: String) throws -> Bool {
        var isStarted = false
        try handOvers.start(id) { isStarted = true }
        return isStarted
    }

    @Test func cancelledHandOverStartsNothing() throws {
        try handOvers.begin("film")
        try handOvers.begin("other")
        handOvers.cancel("film")
        let error = #expect(throws: NetworkError.self) { try starts("film") }
        #expect(error?.kind == .cancelled && error?.sending == .notSent)
        #expect(try starts("other"))
    }

    @Test func idIsFreeOnlyAfterItsHandOver() throws {
        try handOvers.begin("film")
        handOvers.cancel("film")
        let error = #expect(throws: NetworkError.self) { try handOvers.begin("film") }
        #expect(error?.kind == .invalidParameters)
        handOvers.end("film")
        try handOvers.begin("film")
        #expect(try starts("film"), "the cancellation was that of the first")
    }

    @Test func cancellationBeforeAHandOverIsIgnored() throws {
        handOvers.cancel("film")
        try handOvers.begin("film")
        #expect(try starts("film"))
    }
}
