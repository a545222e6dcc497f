import ArgumentParser
import Foundation
import Synchronization

/// One of the process's two output streams, and its capabilities.
///
/// Text is written unbuffered. Output to a terminal first removes the progress line; see ``ProgressLine``. On a
/// terminal, control characters are escaped: a server may have sent them, and the terminal would interpret them; see
/// ``escapesControls``.
struct Console: Sendable {
    /// Standard output, for the requested content.
    static let output = Console(descriptor: STDOUT_FILENO)
    /// Standard error, for messages to a person.
    static let error = Console(descriptor: STDERR_FILENO)

    let descriptor: Int32
    let isTerminal: Bool
    /// Whether the cursor can be moved. It is `true` on a terminal, unless `TERM` is `dumb`.
    let canRedraw: Bool
    /// Whether colours are used if the command line does not decide. It is `true` if the cursor can be moved and
    /// `NO_COLOR` is not set (no-color.org).
    private let usesColourByDefault: Bool

    private init(descriptor: Int32) {
        let environment = ProcessInfo.processInfo.environment
        self.descriptor = descriptor
        isTerminal = isatty(descriptor) == 1
        canRedraw = isTerminal && environment["TERM"] != "dumb"
        usesColourByDefault = canRedraw && (environment["NO_COLOR"] ?? "").isEmpty
    }

    var usesColour: Bool {
        switch ColourMode.current {
        case .always: true
        case .auto: usesColourByDefault
        case .never: false
        }
    }

    /// Whether control characters are escaped. It is `true` on a terminal. It is also `true` if colours are forced,
    /// since a pager may pass the output on to a terminal.
    var escapesControls: Bool { isTerminal || ColourMode.current == .always }

    /// The width of the terminal in columns; 80 if it is unknown.
    var columns: Int {
        var size = winsize()
        guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
        return Int(size.ws_col)
    }

    /// Writes text as UTF-8. Escapes its control characters on a terminal.
    ///
    /// - Throws: The errors of ``write(_:)-([UInt8])``.
    func write(_ text: String) throws { try write(ConsoleText(text, for: self)) }

    /// Writes styled text.
    ///
    /// - Throws: The errors of ``write(_:)-([UInt8])``.
    func write(_ text: ConsoleText) throws { try write(Array(text.rendered.utf8)) }

    /// Writes all bytes unchanged.
    ///
    /// - Throws: ``BrokenPipe`` if the reader has closed the stream, ``CommandFailure`` if the write fails.
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

    /// Writes an error message. A failure of this write can't be reported.
    func report(_ message: String) {
        var text = ConsoleText("runway:", .red, for: self)
        text.append(" \(message)\n")
        try? write(text)
    }

    /// Writes a warning on a separate line. A failure of this write can't be reported.
    func warn(_ message: String) {
        var text = ConsoleText("runway: warning:", .yellow, for: self)
        text.append(" \(message)\n")
        try? write(text)
    }

    /// Writes a dimmed remark on a separate line.
    func remark(_ remark: String) {
        var text = ConsoleText(remark, .dim, for: self)
        text.append("\n")
        try? write(text)
    }

    /// A style of text (ECMA-48 §8.3.117).
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

/// The reader of an output stream has closed it, as `head` does. This is not an error: the reader needs no more output.
struct BrokenPipe: Error {}

struct SystemError: Error, CustomStringConvertible {
    /// The error number, such as `ENOENT`.
    var code: Int32

    /// The system's message, such as `No such file or directory`.
    var description: String { String(cString: strerror(code)) }

    static var current: SystemError { SystemError(code: errno) }
}

extension Int32 {
    /// Writes all bytes to this file descriptor.
    ///
    /// - Throws: ``SystemError`` if a write fails.
    func writeAll(_ bytes: [UInt8]) throws(SystemError) {
        var start = 0
        while start < bytes.count {
            let written = bytes.withUnsafeBytes { buffer in
                Foundation.write(self, buffer.baseAddress.map { $0 + start }, buffer.count - start)
            }
            if written >= 0 {
                start += written
            } else if errno == EAGAIN {
                // Another process made the stream non-blocking. The write waits as it would on a blocking stream.
                var request = pollfd(fd: self, events: Int16(POLLOUT), revents: 0)
                _ = poll(&request, 1, -1)
            } else if errno != EINTR {
                throw .current
            }
        }
    }
}

/// Determines when the output is coloured. The option `--color` sets the mode of the whole process.
enum ColourMode: String, ExpressibleByArgument, CaseIterable, Sendable {
    case always
    /// Uses colours on a terminal that supports them, unless `NO_COLOR` is set.
    case auto
    case never

    /// Guards the colour mode of the process.
    private static let mode = Mutex(ColourMode.auto)

    static var current: ColourMode {
        get { mode.withLock { $0 } }
        set { mode.withLock { $0 = newValue } }
    }
}

/// The option `--color`, which several commands share.
struct ColourOption: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "When to use colours: always, never, or auto, which is on a terminal.", valueName: "when"))
    var color = ColourMode.auto

    /// Sets the mode now, so that it also applies to error messages about the rest of the command line.
    func validate() { ColourMode.current = color }
}
