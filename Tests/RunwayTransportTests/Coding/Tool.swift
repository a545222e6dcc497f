import Subprocess

/// Programs that nobody of this project wrote.
enum Tool {
    struct Failed: Error {
        let status: TerminationStatus
    }

    /// What a program writes when it reads these bytes, all of them.
    static func run(_ name: String, _ arguments: [String], _ input: [UInt8]) async throws -> [UInt8] {
        let end = try await Subprocess.run(
            .name(name), arguments: Arguments(arguments), input: .array(input), output: .bytes(limit: .max))
        guard end.terminationStatus.isSuccess else { throw Failed(status: end.terminationStatus) }
        return end.standardOutput
    }
}
