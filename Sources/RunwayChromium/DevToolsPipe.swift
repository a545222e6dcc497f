import Foundation
import Synchronization

/// A Chromium process, and the DevTools protocol over its pipes.
///
/// The browser ends by itself when its pipe is closed, also because this process was killed.
final class DevToolsPipe: Sendable {
    typealias Handler = @Sendable (_ method: String, _ parameters: DevToolsValue, _ session: String) -> Void

    private struct State {
        var lastID = 0
        var pending: [Int: CheckedContinuation<DevToolsValue, any Error>] = [:]
        var isClosed = false
        var handler: Handler?
        var end: (@Sendable () -> Void)?
    }

    /// Guards the commands that wait for their replies, and who receives events.
    private let state = Mutex(State())
    private let process: Process
    private let input: FileHandle
    // Chromium stops reading while nobody reads what it writes, so a write must not block the thread that reads.
    private let writing = DispatchQueue(label: "runway.chromium.writing")

    /// Starts a browser. Its process receives the pipes as descriptors 3 and 4.
    ///
    /// - Parameter profile: A folder that is removed when the browser has ended, also if this process was killed.
    init(program: String, arguments: [String], removing profile: URL) throws {
        let (commands, replies) = (Pipe(), Pipe())
        process = Process()
        process.executableURL = URL(filePath: "/bin/sh")
        // Ctrl-C in a terminal reaches the shell, too, which has work to do after it.
        let script = "trap '' INT TERM; \"$@\" 3<&0 4>&1 </dev/null >/dev/null 2>&1; rm -rf \"$0\""
        process.arguments = ["-c", script, profile.path, program] + arguments
        process.standardInput = commands
        process.standardOutput = replies
        process.standardError = FileHandle.nullDevice
        input = commands.fileHandleForWriting
        try process.run()
        let reader = replies.fileHandleForReading
        // A read blocks for an unknown time, so it has its own thread.
        Thread.detachNewThread { [weak self] in
            var buffer: [UInt8] = []
            var start = 0
            while case let data = reader.availableData, !data.isEmpty {
                buffer += data
                while let count = Self.messageByteCount(buffer[start...]), buffer.count - start >= count {
                    self?.receive(Array(buffer[start..<(start + count)]))
                    start += count
                }
                buffer.removeFirst(start)
                start = 0
            }
            self?.fail()
        }
    }

    /// Returns the size of the message that begins here: that of its envelope, after 7 bytes of head.
    private static func messageByteCount(_ bytes: ArraySlice<UInt8>) -> Int? {
        guard bytes.count >= 7 else { return nil }
        return 7 + bytes.dropFirst(3).prefix(4).reduce(0) { $0 << 8 | Int($1) }
    }

    /// Sets the functions that receive the events, one at a time and in order, and then the end of the browser.
    func onEvent(_ handler: @escaping Handler, end: @escaping @Sendable () -> Void) {
        state.withLock { ($0.handler, $0.end) = (handler, end) }
    }

    /// Sends a command without waiting for its reply.
    func post(_ method: String, _ parameters: DevToolsValue = [:], in session: String = "") {
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        write(id, method, parameters, session)
    }

    /// Sends a command, and returns its result.
    ///
    /// - Throws: ``ChromiumError`` with the browser's message, or if the browser has ended.
    func send(
        _ method: String, _ parameters: DevToolsValue = [:], in session: String = ""
    ) async throws -> DevToolsValue {
        try await withCheckedThrowingContinuation { continuation in
            let id: Int? = state.withLock { state in
                if state.isClosed { return nil }
                state.lastID += 1
                state.pending[state.lastID] = continuation
                return state.lastID
            }
            guard let id else { return continuation.resume(throwing: ChromiumError.ended) }
            write(id, method, parameters, session)
        }
    }

    private func write(_ id: Int, _ method: String, _ parameters: DevToolsValue, _ session: String) {
        var message: [String: DevToolsValue] = [
            "id": .integer(id), "method": .string(method), "params": parameters,
        ]
        if !session.isEmpty { message["sessionId"] = .string(session) }
        let bytes = DevToolsValue.object(message).message
        // An error means that the browser has ended, which the reader notices.
        writing.async { [input] in try? input.write(contentsOf: bytes) }
    }

    private func receive(_ bytes: [UInt8]) {
        guard let message = try? DevToolsReader.value(of: bytes) else { return }
        if let id = message["id"].integer {
            let continuation = state.withLock { $0.pending.removeValue(forKey: id) }
            if let text = message["error"]["message"].string {
                continuation?.resume(throwing: ChromiumError(text))
            } else {
                continuation?.resume(returning: message["result"])
            }
        } else if let method = message["method"].string {
            let handler = state.withLock { $0.handler }
            handler?(method, message["params"], message["sessionId"].string ?? "")
        }
    }

    private func fail() {
        let (pending, end) = state.withLock { state in
            defer { state.pending = [:] }
            state.isClosed = true
            return (state.pending.values, state.end)
        }
        end?()
        for continuation in pending { continuation.resume(throwing: ChromiumError.ended) }
    }

    /// Ends the browser, and waits for its end.
    func close() {
        writing.sync { try? input.close() }
        process.waitUntilExit()
    }
}

/// The browser refused a command, could not load a page, or has ended.
package struct ChromiumError: Error, CustomStringConvertible {
    /// The message of the browser.
    package let description: String

    init(_ description: String) { self.description = description }

    static let ended = ChromiumError("the browser has ended")

    /// Whether the tab is just replacing its page, so that a command about the page shown has none to act on.
    var isBetweenPages: Bool { description == "Not attached to an active page" }
}
