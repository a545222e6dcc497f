import Runway

/// The exit codes of the process. The help of every command lists them.
enum ExitStatus {
    static let fine: Int32 = 0
    /// The server refused the call, the response is a failure, or a response declared as JSON is not valid JSON.
    static let refused: Int32 = 1
    /// The command line is invalid, or a file that it names can't be used.
    static let unusable: Int32 = 2
    static let noResponse: Int32 = 3

    /// Returns the exit code for a process that a signal ended, by the convention of shells.
    static func signalled(_ signal: Int32) -> Int32 { 128 + signal }
}

/// The failure of a command: a message for standard error, and an exit code.
struct CommandFailure: Error, Sendable {
    /// The message, one sentence.
    var message: String
    /// The exit code. The default is ``ExitStatus/unusable``.
    var status: Int32

    init(_ message: String, status: Int32 = ExitStatus.unusable) {
        self.message = message.withOneFullStop
        self.status = status
    }
}
