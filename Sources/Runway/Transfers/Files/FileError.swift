import Foundation

/// What the system says to an operation on a file.
struct FileError: Error, CustomStringConvertible {
    let path: String
    /// What could not be done, such as `can't be written`.
    let deed: String
    /// The system's words, such as `No space left on device`, or Runway's own.
    let reason: String

    init(_ path: String, _ deed: String, reason: String) {
        self.path = path
        self.deed = deed
        self.reason = reason
    }

    /// Of the system's call that just failed on this thread.
    init(_ path: String, _ deed: String) { self.init(path, deed, reason: String(cString: strerror(errno))) }

    var description: String { "The file \(path) \(deed): \(reason)." }
}

extension NetworkError {
    /// The error of an operation on a file.
    init(_ error: FileError, in step: FlightStep) { self.init(.storage, in: step, "\(error)", underlying: error) }
}
