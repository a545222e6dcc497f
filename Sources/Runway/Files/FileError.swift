import Foundation

/// What the system says to an operation on a file.
struct FileError: DescribedError {
    let path: String
    /// What could not be done, such as `can't be written`.
    let deed: String
    /// The system's words, such as `No space left on device`, or Runway's own.
    let reason: String
    /// The system's number for it, such as `ENOSPC`; `nil` for what Runway itself says.
    let code: CInt?

    init(_ path: String, _ deed: String, reason: String) {
        self.init(path: path, deed: deed, reason: reason, code: nil)
    }

    /// Of the system's call that just failed on this thread.
    init(_ path: String, _ deed: String) {
        let code = errno
        self.init(path: path, deed: deed, reason: String(cString: strerror(code)), code: code)
    }

    private init(path: String, deed: String, reason: String, code: CInt?) {
        self.path = path
        self.deed = deed
        self.reason = reason
        self.code = code
    }

    var description: String { "The file \(path) \(deed): \(reason)." }
}

extension NetworkError {
    /// The error of an operation on a file.
    init(_ error: FileError, in step: FlightStep) { self.init(.storage, in: step, "\(error)", underlying: error) }
}
