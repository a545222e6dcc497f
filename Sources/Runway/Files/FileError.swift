import Foundation

/// The failure of an operation on a file, as the system or Runway reports it.
package struct FileError: DescribedError {
    let path: String
    /// The operation that failed, such as `can't be written`.
    let problem: String
    /// The reason in the system's words, such as `No space left on device`, or in Runway's own.
    let reason: String
    /// The system's error number, such as `ENOSPC`; `nil` for an error of Runway's own.
    let code: CInt?

    init(_ path: String, _ problem: String, reason: String) {
        self.init(path: path, problem: problem, reason: reason, code: nil)
    }

    /// Creates the error of the system call that just failed on this thread.
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
    /// Creates the error of an operation on a file.
    init(_ error: FileError, in step: FlightStep) { self.init(.storage, in: step, "\(error)", underlying: error) }
}
