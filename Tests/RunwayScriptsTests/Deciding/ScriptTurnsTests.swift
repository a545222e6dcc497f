import Testing

@testable import RunwayScripts

struct ScriptTurnsTests {
    private var turns = ScriptTurns()

    private mutating func submit() throws -> Int {
        let call = turns.submit()
        return try #require(call)
    }

    /// Submits a call and begins it.
    private mutating func begin() throws -> Int {
        let call = try submit()
        #expect(turns.begin() == call)
        return call
    }

    @Test mutating func callsBeginInTheirOrder() {
        let calls = (1...3).map { _ in turns.submit() }
        for call in calls {
            #expect(turns.begin() == call)
            turns.end()
        }
        #expect(turns.begin() == nil)
    }

    @Test mutating func expiredCallThatWaitsNeverBegins() throws {
        let (_, second) = (try begin(), try submit())
        #expect(turns.expire(second) == .withdrawn)
        turns.end()
        #expect(turns.begin() == nil)
    }

    @Test mutating func overdueScriptKeepsOthersOut() throws {
        let call = try begin()
        #expect(turns.expire(call) == .overdue)
        #expect(turns.submit() == nil)
        turns.end()
        #expect(turns.submit() != nil)
    }

    @Test mutating func resultAtTheDeadlineIsUsed() throws {
        let call = try begin()
        turns.end()
        #expect(turns.expire(call) == .finished)
    }

    @Test mutating func scriptThatDoesNotEndTurnsScriptsOff() throws {
        let (call, waiting) = (try begin(), try submit())
        #expect(turns.expire(call) == .overdue)
        let isHung = turns.turnOff(ifRunning: call)
        #expect(isHung && turns.isOff)
        #expect(turns.expire(waiting) == .withdrawn)
        // Also if it ends after all.
        turns.end()
        #expect(turns.submit() == nil)
        #expect(turns.begin() == nil)
    }

    @Test mutating func endedScriptTurnsNothingOff() throws {
        let call = try begin()
        turns.end()
        let isHung = turns.turnOff(ifRunning: call)
        #expect(!isHung && !turns.isOff)
    }

    @Test mutating func waitingCallsAreBounded() {
        let calls = (1...100).compactMap { _ in turns.submit() }
        #expect(calls.count == ScriptTurns.maximumWaiting)
    }
}
