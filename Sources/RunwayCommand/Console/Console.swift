import Foundation
import Synchronization

/// One of the process's two output streams, and what may be drawn on it.
///
/// Text goes out unbuffered. Whatever is written to a terminal wipes the progress line first; see ``ProgressLine``. A terminal acts
/// on control characters, which a server may have put into whatever it sends: text is shown there with them escaped.
struct Console: Sendable {
    /// Standard output: what was asked for.
    static let output = Console(descriptor: STDOUT_FILENO)
    /// Standard error: what a person should know besides.
    static let error = Console(descriptor: STDERR_FILENO)

    let descriptor: Int32
    /// Whether a person looks at the stream.
    let isTerminal: Bool
    /// Whether the cursor can be moved: on a terminal that is not called dumb.
    let canRedraw: Bool
    /// Whether colours are wanted: where the cursor can be moved, unless `NO_COLOR` is set to anything (no-color.org).
    let usesColour: Bool

    private init(descriptor: Int32) {
        let environment = ProcessInfo.processInfo.environment
        self.descriptor = descriptor
        isTerminal = isatty(descriptor) == 1
        canRedraw = isTerminal && environment["TERM"] != "dumb"
        usesColour = canRedraw && (environment["NO_COLOR"] ?? "").isEmpty
    }

    /// The width of the terminal in columns; 80 where it is not known.
    var columns: Int {
        var size = winsize()
        guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
        return Int(size.ws_col)
    }

    /// Writes text as UTF-8: to a terminal with its control characters escaped, elsewhere as it is.
    ///
    /// - Throws: As ``write(_:)-([UInt8])``.
    func write(_ text: String) throws { try write(ConsoleText(text, for: self)) }

    /// Writes text with styles in it.
    ///
    /// - Throws: As ``write(_:)-([UInt8])``.
    func write(_ text: ConsoleText) throws { try write(Array(text.rendered.utf8)) }

    /// Writes bytes as they are, all of them.
    ///
    /// - Throws: ``BrokenPipe`` when nobody reads any more, ``CommandFailure`` when the system takes no more.
    func write(_ bytes: [UInt8]) throws {
        if isTerminal { ProgressLine.wipe() }
        do {
            try descriptor.writeAll(bytes)
        } catch  where error.code == EPIPE {
            throw BrokenPipe()
        } catch {
            throw CommandFailure("The output can't be written: \(error).")
        }
    }

    /// Writes a sentence about what went wrong. An error of this write can't be reported.
    func report(_ message: String) {
        var text = ConsoleText("runway:", .red, for: self)
        text.append(" \(message)\n")
        try? write(text)
    }

    /// Writes a remark in a line of its own, dimmed.
    func remark(_ remark: String) {
        var text = ConsoleText(remark, .dim, for: self)
        text.append("\n")
        try? write(text)
    }

    /// How text looks (ECMA-48 §8.3.117).
    enum Style: String, Sendable {
        case bold = "1"
        case dim = "2"
        case red = "31"
        case green = "32"
        case yellow = "33"
        case blue = "34"
        case magenta = "35"
        case cyan = "36"
    }
}

/// The reader of an output stream went away, as `head` does: nothing is wrong, and nothing more is wanted.
struct BrokenPipe: Error {}

/// What the system says to a call that failed.
struct SystemError: Error, CustomStringConvertible {
    /// The system's number, such as `ENOENT`.
    var code: Int32

    /// The system's words, such as `No such file or directory`.
    var description: String { String(cString: strerror(code)) }

    /// The error of the call that just failed on this thread.
    static var current: SystemError { SystemError(code: errno) }
}

extension Int32 {
    /// Writes all bytes to this file descriptor.
    ///
    /// - Throws: ``SystemError``.
    func writeAll(_ bytes: [UInt8]) throws(SystemError) {
        var start = 0
        while start < bytes.count {
            let written = bytes.withUnsafeBytes { buffer in
                Foundation.write(self, buffer.baseAddress.map { $0 + start }, buffer.count - start)
            }
            if written >= 0 {
                start += written
            } else if errno == EAGAIN {
                // Somebody else made the stream non-blocking; it is waited for as if nobody had.
                var request = pollfd(fd: self, events: Int16(POLLOUT), revents: 0)
                _ = poll(&request, 1, -1)
            } else if errno != EINTR {
                throw .current
            }
        }
    }
}
