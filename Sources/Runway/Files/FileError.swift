import Foundation

/// The failure of a file operation, reported by the system or by Runway.
package struct FileError: DescribedError {
    let path: String
    /// The operation that failed, such as `can't be written`.
    let problem: String
    /// The reason: the system's text, such as `No space left on device`, or Runway's own text.
    let reason: String
    /// The system's error number, such as `ENOSPC`; `nil` if Runway reports the failure.
    package let code: CInt?

    init(_ path: String, _ problem: String, reason: String) {
        self.init(path: path, problem: problem, reason: reason, code: nil)
    }

    /// Creates the error from `errno` of the last system call on this thread.
    init(_ path: String, _ problem: String) {
        let code = errno
        self.init(path: path, problem: problem, reason: String(cString: strerror(code)), code: code)
    }

    private init(path: String, problem: String, reason: String, code: CInt?) {
        self.path = path
        self.problem = problem
        self.reason = reason
        self.code = code
    }

    package var description: String { "The file \(path) \(problem): \(reason)." }
}

extension NetworkError {
    init(_ error: FileError, in step: FlightStep) { self.init(.storage, in: step, "\(error)", underlying: error) }
}
