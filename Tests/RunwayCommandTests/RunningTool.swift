import Foundation
import Subprocess
import Testing

#if canImport(System)
    import System
#else
    import SystemPackage
#endif

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
    let processIdentifier: Int32

    private let process: Task<Int32, any Error>
    private var parts: AsyncStream<[UInt8]>.Iterator
    private var bytes: [UInt8] = []

    /// Starts it.
    convenience init(_ arguments: String..., streams: Streams = .pipe) async throws {
        try await self.init(arguments, streams: streams, environment: [:])
    }

    /// Starts it in an environment with changes.
    init(_ arguments: [String], streams: Streams, environment: [String: String]) async throws {
        let (partStream, part) = AsyncStream<[UInt8]>.makeStream()
        parts = partStream.makeAsyncIterator()
        let ours: FileDescriptor
        let input: FileDescriptorInput
        let output: FileDescriptorOutput
        switch streams {
        case .pipe:
            let pipe = try FileDescriptor.pipe()
            ours = pipe.readEnd
            input = .fileDescriptor(try FileDescriptor.open("/dev/null", .readOnly), closeAfterSpawningProcess: true)
            output = .fileDescriptor(pipe.writeEnd, closeAfterSpawningProcess: true)
        case .terminal:
            let terminal = try PseudoTerminal()
            ours = terminal.outside
            // As long as this side has the inside open too, its end would never be seen: it is closed once.
            input = .fileDescriptor(terminal.inside, closeAfterSpawningProcess: false)
            output = .fileDescriptor(terminal.inside, closeAfterSpawningProcess: true)
        }
        // A thread of its own: a read waits for as long as the process likes.
        Thread.detachNewThread {
            var buffer = [UInt8](repeating: 0, count: 1 << 16)
            // At its end a pipe gives nothing, and a pseudo-terminal fails.
            while case let count = read(ours.rawValue, &buffer, buffer.count), count > 0 {
                part.yield(Array(buffer[..<count]))
            }
            part.finish()
            try? ours.close()
        }
        let (starts, start) = AsyncThrowingStream<Int32, any Error>.makeStream()
        process = Task {
            do {
                let end = try await Subprocess.run(
                    .path(FilePath(Tool.path)), arguments: Arguments(arguments),
                    environment: Tool.environment(environment), input: input, output: output,
                    error: .combinedWithOutput
                ) { start.yield($0.processIdentifier.value) }
                return end.terminationStatus.code
            } catch {
                start.finish(throwing: error)
                throw error
            }
        }
        processIdentifier = try #require(try await starts.first { _ in true })
    }

    deinit {
        // Whatever a test makes of it, nothing of it stays: whom its task leaves is killed.
        process.cancel()
    }

    /// Waits until it has written `text`; gives everything so far.
    @discardableResult
    func wait(for text: String) async throws -> String {
        while !output.contains(text) {
            guard let part = await parts.next(isolation: #isolation) else { throw Ended(output: output) }
            append(part)
        }
        return output
    }

    /// Sends a signal.
    func signal(_ signal: Int32) { kill(processIdentifier, signal) }

    /// Waits until it ended and all it wrote is read; gives the exit code, or the negated signal that ended it.
    func end() async throws -> Int32 {
        while let part = await parts.next(isolation: #isolation) { append(part) }
        return try await process.value
    }

    private func append(_ part: [UInt8]) {
        bytes += part
        output = String(decoding: bytes, as: UTF8.self)
    }
}

/// Both ends of a pseudo-terminal.
private struct PseudoTerminal {
    /// The end that looks like a terminal.
    let inside: FileDescriptor
    /// The end at which the person would be.
    let outside: FileDescriptor

    init() throws {
        var descriptors: (outside: Int32, inside: Int32) = (-1, -1)
        guard openpty(&descriptors.outside, &descriptors.inside, nil, nil, nil) == 0 else {
            throw Errno(rawValue: errno)
        }
        outside = FileDescriptor(rawValue: descriptors.outside)
        inside = FileDescriptor(rawValue: descriptors.inside)
    }
}
