import Subprocess

/// The `curl` of the system, run as a process of its own.
struct Curl {
    let status: Int32
    let output: String
    let errors: String

    /// Runs curl with `arguments`, silent but for errors.
    static func run(_ arguments: String...) async throws -> Curl {
        let end = try await Subprocess.run(
            .name("curl"), arguments: Arguments(["--silent", "--show-error", "--no-progress-meter"] + arguments),
            output: .bytes(limit: .max), error: .bytes(limit: .max))
        guard case .exited(let status) = end.terminationStatus else { throw Killed() }
        return Curl(
            status: status, output: String(decoding: end.standardOutput, as: UTF8.self),
            errors: String(decoding: end.standardError, as: UTF8.self))
    }

    struct Killed: Error {}
}
