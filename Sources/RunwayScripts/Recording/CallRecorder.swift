import Foundation
import RunwayJSON
import Synchronization

#if canImport(Darwin)
    import Darwin
    import Runway
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// Appends calls of native functions to a file, one JSON object a line, on a queue of its own: no caller waits for the
/// disk.
///
/// `docs/formats.md` has the form of the file.
final class CallRecorder: Sendable {
    struct Limits: Sendable {
        var fileByteCount = 16 << 20
        var lineCount = 10_000
        /// The maximum size of a call's arguments and result together, in bytes. Its line may have 1,024 more.
        var callByteCount = 256 << 10
        /// The most bytes that wait for the disk.
        var pendingByteCount = 8 << 20
    }

    private struct State {
        var byteCount = 0
        var lineCount = 0
        /// Whether the lines that an earlier process left are counted.
        var isCounted = false
    }

    private static let fullLine = Array("{\"full\":true}\n".utf8)

    private let queue = DispatchQueue(label: "runway.scripts.calls", qos: .utility)
    private let file: LockedFile
    private let redaction: JSONRedaction
    private let limits: Limits
    /// Guards the length of the file. Only the queue writes it.
    private let state = Mutex(State())
    private let pendingByteCount = Atomic(0)
    /// The number of calls that were left out since the last line.
    private let omitted = Atomic(0)
    /// Whether nothing more is written, because of a limit or a failure of the disk.
    private let isFull = Atomic(false)

    /// Opens or creates the file. Later lines are appended to those of earlier processes.
    ///
    /// - Throws: ``ScriptError/Kind/recordsUnusable``.
    init(_ url: URL, redaction: JSONRedaction, limits: Limits = Limits()) throws(ScriptError) {
        file = try LockedFile(url, O_APPEND, inUse: .recordsUnusable, unusable: .recordsUnusable)
        self.redaction = redaction
        self.limits = limits
        var first: UInt8 = 0
        if pread(file.descriptor, &first, 1, 0) == 1, first != UInt8(ascii: "{") {
            throw ScriptError(.recordsUnusable, "The file \(url.path) is not one of recorded calls")
        }
        #if canImport(Darwin)
            do { try PrivateFolder.protect(url) } catch {
                throw ScriptError(.recordsUnusable, "The file \(url.path) can't be protected: \(error)")
            }
        #endif
    }

    /// Enqueues a call. Encodes its arguments and its result at once. A call that can't be encoded, that is too large,
    /// or for which there is no space is left out and counted.
    func record(_ slot: PatchSlot, _ arguments: () throws -> [[UInt8]], _ result: () throws -> NativeResult) {
        guard !isFull.load(ordering: .relaxed), let arguments = try? arguments(), let result = try? result() else {
            return omit()
        }
        let returned = if case .returned(let bytes) = result { bytes.count } else { 0 }
        let byteCount = arguments.reduce(returned) { $0 + $1.count }
        guard byteCount <= limits.callByteCount else { return omit() }
        // A small call costs memory, too.
        let cost = byteCount + 1_024
        guard pendingByteCount.wrappingAdd(cost, ordering: .relaxed).newValue <= limits.pendingByteCount else {
            pendingByteCount.wrappingSubtract(cost, ordering: .relaxed)
            return omit()
        }
        let now = Date().timeIntervalSince1970
        queue.async { [self] in
            write(slot, arguments, result, at: now)
            pendingByteCount.wrappingSubtract(cost, ordering: .relaxed)
        }
    }

    /// Waits until all calls so far are in the file.
    func flush() async {
        await withCheckedContinuation { continuation in queue.async { continuation.resume() } }
    }

    private func omit() { omitted.wrappingAdd(1, ordering: .relaxed) }

    private func write(_ slot: PatchSlot, _ arguments: [[UInt8]], _ result: NativeResult, at time: Double) {
        let omitted = omitted.exchange(0, ordering: .relaxed)
        // A line that could not be read again is left out, such as one that is too deep.
        guard let line = try? line(slot, arguments, result, at: time, omitted),
            line.utf8.count <= limits.callByteCount + 1_024, (try? JSONDocument(line)) != nil,
            append(Array(line.utf8) + [0x0A])
        else { return leaveOut(omitted) }
    }

    /// Masks secrets in the values only: a name such as `ListReformer<UserToken>` looks like one, too.
    private func line(
        _ slot: PatchSlot, _ arguments: [[UInt8]], _ result: NativeResult, at time: Double, _ omitted: Int
    ) throws(JSONError) -> String {
        func shown(_ value: [UInt8]) throws(JSONError) -> String {
            redaction.redactedText(of: try JSONDocument(value).root, maximumByteCount: .max, isIndented: false)
        }
        var values: [String] = []
        for (index, argument) in arguments.enumerated() {
            let isName = slot.isReformer && index == 0
            values.append(isName ? String(decoding: argument, as: UTF8.self) : try shown(argument))
        }
        let outcome =
            switch result {
            case .returned(let bytes): "\"result\":\(try shown(bytes))"
            case .threw(let error): "\"threw\":\(Self.text(error))"
            }
        return """
            {"point":\(Self.text(slot.name)),"version":\(slot.version),"now":\(Int64(time * 1_000)),\
            "arguments":[\(values.joined(separator: ","))],\(outcome)\(omitted > 0 ? ",\"omitted\":\(omitted)" : "")}
            """
    }

    private func leaveOut(_ others: Int) { omitted.wrappingAdd(others + 1, ordering: .relaxed) }

    private static func text(_ string: String) -> String {
        var writer = JSONWriter()
        writer.string(string)
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    /// Appends a line, or the note that there is no space for it. Returns whether it was appended.
    private func append(_ line: [UInt8]) -> Bool {
        state.withLock { state in
            if !state.isCounted { count(&state) }
            if isFull.load(ordering: .relaxed) { return false }
            if state.lineCount < limits.lineCount,
                state.byteCount + line.count + Self.fullLine.count <= limits.fileByteCount
            {
                return write(line, &state)
            }
            isFull.store(true, ordering: .relaxed)
            if state.lineCount <= limits.lineCount, state.byteCount + Self.fullLine.count <= limits.fileByteCount {
                _ = write(Self.fullLine, &state)
            }
            return false
        }
    }

    /// Writes a line as a whole. A disk that refuses it ends the recording.
    private func write(_ line: [UInt8], _ state: inout State) -> Bool {
        let written = line.withUnsafeBytes { Foundation.write(file.descriptor, $0.baseAddress, $0.count) }
        guard written == line.count else {
            _ = ftruncate(file.descriptor, off_t(state.byteCount))
            isFull.store(true, ordering: .relaxed)
            return false
        }
        state.byteCount += line.count
        state.lineCount += 1
        return true
    }

    /// Counts the lines in the file, and removes a torn one at its end. A file that can't be read stays as it is.
    private func count(_ state: inout State) {
        state.isCounted = true
        var (buffer, offset) = ([UInt8](repeating: 0, count: 1 << 16), 0)
        while true {
            let count = buffer.withUnsafeMutableBytes {
                pread(file.descriptor, $0.baseAddress, $0.count, off_t(offset))
            }
            guard count >= 0 else { return isFull.store(true, ordering: .relaxed) }
            if count == 0 { break }
            for (index, byte) in buffer[..<count].enumerated() where byte == 0x0A {
                state.byteCount = offset + index + 1
                state.lineCount += 1
            }
            offset += count
        }
        if ftruncate(file.descriptor, off_t(state.byteCount)) != 0 { isFull.store(true, ordering: .relaxed) }
    }
}
