import ArgumentParser
import Foundation
import RunwayTesting

/// The options of a command that kills processes at random moments, and the frame in which the command runs.
///
/// An option must not share its name with an option of the test tool, since the tool would consume it.
struct KillingOptions<Bug: CaseIterable & ExpressibleByArgument & RawRepresentable<String> & Sendable>:
    ParsableArguments
{
    @Option(help: "How many seconds processes are killed.")
    var time = 10.0

    @Option(help: "Decides what is killed, and when.")
    var start = UInt64.random(in: 0...UInt64.max)

    @Option(help: "A bug that the check must find: \(Bug.allCases.map(\.rawValue).joined(separator: ", ")).")
    var bug: Bug?

    func validate() throws {
        guard time > 0 else { throw ValidationError("--time is above 0.") }
    }

    /// The arguments that plant the bug in a process.
    var bugArguments: [String] { bug.map { ["--bug", $0.rawValue] } ?? [] }

    /// Runs a check and reports its findings; see ``reporting(_:)``.
    ///
    /// - Parameter check: Receives an empty folder, which is removed afterwards, and the random numbers of the run.
    ///   Returns the problems, one sentence each.
    func run(_ check: (URL, inout SeededGenerator) async throws -> [String]) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "runway-crash-\(UUID().uuidString)")
        try await reporting {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(at: folder) }
            var random = SeededGenerator(seed: start)
            return try await check(folder, &random)
        }
    }

    /// Kills processes at random moments until the time is over or a kill reveals a problem, but at least once.
    ///
    /// - Parameters:
    ///   - gap: The range of the times between two kills, in milliseconds.
    ///   - random: The random numbers of the run.
    ///   - kill: Kills a process and starts it again. Returns the problems that it finds then, one sentence each.
    /// - Returns: The number of kills, and the problems.
    func kill(
        every gap: ClosedRange<Int>, _ random: inout SeededGenerator,
        _ kill: (inout SeededGenerator) async throws -> [String]
    ) async throws -> (count: Int, findings: [String]) {
        let end = ContinuousClock.now + .seconds(time)
        var (count, findings) = (0, [String]())
        repeat {
            try await Task.sleep(for: .milliseconds(Int.random(in: gap, using: &random)))
            findings = try await kill(&random)
            count += 1
        } while ContinuousClock.now < end && findings.isEmpty
        return (count, findings)
    }
}
