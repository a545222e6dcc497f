import Foundation
import RunwayTestServer

/// The built `runway` while it runs, with what it writes as it comes.
final class RunningTool {
    /// Where its three streams are.
    enum Streams {
        /// Standard output and standard error on one pipe.
        case pipe
        /// All on a pseudo-terminal, so that a person seems to look.
        case terminal
    }

    /// What came instead of what was waited for.
    struct Ended: Error {
        var output: String
    }

    /// Everything it wrote so far that was waited for.
    private(set) var output = ""

    /// The number of its process.
    var processIdentifier: Int32 { process.processIdentifier }

    private let process = Process()
    /// Where a person would type; `nil` without a terminal.
    private var keyboard: FileHandle?
    private var parts: AsyncStream<[UInt8]>.Iterator
    private var endings: AsyncStream<Int32>.Iterator
    private var bytes: [UInt8] = []

    /// Starts it.
    convenience init(_ arguments: String..., streams: Streams = .pipe) throws {
        try self.init(arguments, streams: streams, environment: [:])
    }

    /// Starts it in an environment with changes.
    init(_ arguments: [String], streams: Streams, environment: [String: String]) throws {
        let (partStream, part) = AsyncStream<[UInt8]>.makeStream()
        let (endingStream, ending) = AsyncStream<Int32>.makeStream()
        parts = partStream.makeAsyncIterator()
        endings = endingStream.makeAsyncIterator()
        process.executableURL = URL(fileURLWithPath: Tool.path)
        process.arguments = arguments
        process.environment = Tool.environment(environment)
        process.terminationHandler = { process in
            ending.yield(process.terminationReason == .exit ? process.terminationStatus : -process.terminationStatus)
        }
        let reader: FileHandle
        switch streams {
        case .pipe:
            process.standardInput = FileHandle.nullDevice
            reader = try process.startWithPipe(includingErrors: true)
        case .terminal:
            let terminal = try PseudoTerminal()
            process.standardInput = terminal.inside
            process.standardOutput = terminal.inside
            process.standardError = terminal.inside
            reader = terminal.outside
            keyboard = terminal.outside
            try process.start()
            // As long as this side has it open too, its end would never be seen.
            try terminal.inside.close()
        }
        // A thread of its own: a read waits for as long as the process likes.
        Thread.detachNewThread {
            var buffer = [UInt8](repeating: 0, count: 1 << 16)
            // At its end a pipe returns nothing, and a pseudo-terminal fails.
            while case let count = read(reader.fileDescriptor, &buffer, buffer.count), count > 0 {
                part.yield(Array(buffer[..<count]))
            }
            part.finish()
            withExtendedLifetime(reader) {}
        }
    }

    deinit {
        // Whatever a test makes of it, nothing of it stays.
        if process.isRunning { kill(process.processIdentifier, SIGKILL) }
    }

    /// Waits until it has written `text`; returns everything so far.
    @discardableResult
    func wait(for text: String) async throws -> String {
        while !output.contains(text) {
            guard let part = await parts.next(isolation: #isolation) else { throw Ended(output: output) }
            append(part)
        }
        return output
    }

    /// Types a line on the terminal.
    func type(_ line: String) throws { try keyboard?.write(contentsOf: Data("\(line)\n".utf8)) }

    /// Sends a signal.
    func signal(_ signal: Int32) { kill(process.processIdentifier, signal) }

    /// Waits until it has ended and all its output is read; returns the exit code, or the negated signal that ended it.
    func end() async -> Int32 {
        while let part = await parts.next(isolation: #isolation) { append(part) }
        return await endings.next(isolation: #isolation) ?? -1
    }

    private func append(_ part: [UInt8]) {
        bytes += part
        output = String(decoding: bytes, as: UTF8.self)
    }
}

/// Both ends of a pseudo-terminal.
private struct PseudoTerminal {
    /// The end that looks like a terminal.
    let inside: FileHandle
    /// The end at which the person would be.
    let outside: FileHandle

    init() throws {
        var descriptors: (outside: Int32, inside: Int32) = (-1, -1)
        guard openpty(&descriptors.outside, &descriptors.inside, nil, nil, nil) == 0 else {
            throw CocoaError(.fileReadUnknown)
        }
        outside = FileHandle(fileDescriptor: descriptors.outside, closeOnDealloc: true)
        inside = FileHandle(fileDescriptor: descriptors.inside, closeOnDealloc: true)
    }
}
