import Runway

/// The exit codes of the process, as every command's help lists them.
enum ExitStatus {
    /// The command succeeded.
    static let fine: Int32 = 0
    /// The server refused, the service judged the response a failure, or the response is declared to be JSON and is
    /// not.
    static let refused: Int32 = 1
    /// The command line, or a file that it names, can't be used.
    static let unusable: Int32 = 2
    /// There was no response.
    static let noResponse: Int32 = 3

    /// Returns the exit code for a process that a signal ended, as shells count it.
    static func signalled(_ signal: Int32) -> Int32 { 128 + signal }
}

/// The failure of a command: a sentence for standard error, and the code to exit with.
struct CommandFailure: Error, Sendable {
    /// The sentence for standard error.
    var message: String
    /// The exit code, by default ``ExitStatus/unusable``.
    var status: Int32

    init(_ message: String, status: Int32 = ExitStatus.unusable) {
        self.message = message.withOneFullStop
        self.status = status
    }
}
