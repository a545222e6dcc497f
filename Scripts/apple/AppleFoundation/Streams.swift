import Synchronization

// developer.apple.com: Stream
open class Stream: NSObject {
    // developer.apple.com: Stream.Event
    public struct Event: OptionSet, Sendable {
        public let rawValue: UInt
        public init(rawValue: UInt) { self.rawValue = rawValue }
        public static let openCompleted = Event(rawValue: 1)
        public static let hasBytesAvailable = Event(rawValue: 2)
        public static let hasSpaceAvailable = Event(rawValue: 4)
        public static let errorOccurred = Event(rawValue: 8)
        public static let endEncountered = Event(rawValue: 16)
    }

    fileprivate let pipe: FakePipe
    fileprivate init(_ pipe: FakePipe) { self.pipe = pipe }

    // developer.apple.com: Stream.delegate, which is not retained, and not set to nil when it is gone.
    open unowned(unsafe) var delegate: (any StreamDelegate)?
    open func open() {}
    open func close() {}

    // developer.apple.com: Stream.getBoundStreams(withBufferSize:inputStream:outputStream:)
    open class func getBoundStreams(
        withBufferSize bufferSize: Int, inputStream: UnsafeMutablePointer<InputStream?>?,
        outputStream: UnsafeMutablePointer<OutputStream?>?
    ) {
        let pipe = FakePipe(bufferSize)
        inputStream?.pointee = InputStream(pipe)
        outputStream?.pointee = OutputStream(pipe)
    }
}

// developer.apple.com: StreamDelegate. Its method is optional there.
public protocol StreamDelegate: NSObjectProtocol {
    // developer.apple.com: StreamDelegate.stream(_:handle:)
    func stream(_ aStream: Stream, handle eventCode: Stream.Event)
}

// developer.apple.com: InputStream
open class InputStream: Stream {
    // developer.apple.com: InputStream.read(_:maxLength:); 0 at the end, -1 for an error.
    open func read(_ buffer: UnsafeMutablePointer<UInt8>, maxLength len: Int) -> Int { pipe.read(buffer, len) }
    open var hasBytesAvailable: Bool { pipe.hasBytes }
    open override func close() { pipe.close(.input) }
}

// developer.apple.com: OutputStream
open class OutputStream: Stream {
    // developer.apple.com: OutputStream.write(_:maxLength:); it blocks while there is no space, -1 for an error.
    open func write(_ buffer: UnsafePointer<UInt8>, maxLength len: Int) -> Int { pipe.write(buffer, len) }
    open var hasSpaceAvailable: Bool { pipe.hasSpace }
    open override func open() { pipe.open(self) }
    open override func close() { pipe.close(.output) }
}

// developer.apple.com: CFWriteStream, which is bridged with OutputStream.
public typealias CFWriteStream = OutputStream
// developer.apple.com: CFWriteStreamSetDispatchQueue(_:_:)
public func CFWriteStreamSetDispatchQueue(_ stream: CFWriteStream!, _ q: DispatchQueue!) { stream.pipe.setQueue(q) }

// Unchecked: the reference is read and set under the lock of the pipe.
private struct FakeWriter: @unchecked Sendable {
    weak var stream: OutputStream?
    init(_ stream: OutputStream? = nil) { self.stream = stream }
}

/// The memory between two bound streams.
final class FakePipe: Sendable {
    enum End { case input, output }

    private struct State {
        var bytes: [UInt8] = []
        var closed: Set<End> = []
        var output = FakeWriter()
        var queue: DispatchQueue?
        var isSpaceReported = false
    }

    private let byteCount: Int
    private let state = Mutex(State())
    private let changed = FakeCondition()

    init(_ byteCount: Int) { self.byteCount = byteCount }

    var hasBytes: Bool { state.withLock { !$0.bytes.isEmpty } }
    var hasSpace: Bool { state.withLock { $0.bytes.count < byteCount && $0.closed.isEmpty } }

    func open(_ stream: OutputStream) {
        state.withLock { [writer = FakeWriter(stream)] in $0.output = writer }
        report(.openCompleted)
        reportSpace()
    }

    func setQueue(_ queue: DispatchQueue?) { state.withLock { $0.queue = queue } }

    func close(_ end: End) {
        state.withLock { _ = $0.closed.insert(end) }
        changed.broadcast()
        if end == .input { report(.errorOccurred) }
    }

    /// Blocks while there is nothing to read.
    func read(_ buffer: UnsafeMutablePointer<UInt8>, _ count: Int) -> Int {
        let read = changed.wait { [self] in
            state.withLock { state -> [UInt8]? in
                if state.closed.contains(.input) { return [] }
                guard !state.bytes.isEmpty else { return state.closed.contains(.output) ? [] : nil }
                let part = Array(state.bytes.prefix(count))
                state.bytes.removeFirst(part.count)
                return part
            }
        }
        for (index, byte) in read.enumerated() { buffer[index] = byte }
        changed.broadcast()
        reportSpace()
        return read.count
    }

    /// Blocks while there is no space.
    func write(_ buffer: UnsafePointer<UInt8>, _ count: Int) -> Int {
        let part = Array(UnsafeBufferPointer(start: buffer, count: count))
        let written = changed.wait { [self] in
            state.withLock { state -> Int? in
                guard state.closed.isEmpty else { return -1 }
                let space = byteCount - state.bytes.count
                guard space > 0 else { return nil }
                state.bytes += part.prefix(space)
                return min(space, part.count)
            }
        }
        changed.broadcast()
        state.withLock { $0.isSpaceReported = false }
        reportSpace()
        return written
    }

    /// Reports space once for each write, as the system does.
    private func reportSpace() {
        let isToReport = state.withLock { state in
            guard state.closed.isEmpty, state.bytes.count < byteCount, !state.isSpaceReported,
                state.output.stream != nil
            else { return false }
            state.isSpaceReported = true
            return true
        }
        if isToReport { report(.hasSpaceAvailable) }
    }

    private func report(_ event: Stream.Event) {
        guard let queue = state.withLock(\.queue) else { return }
        queue.async { [self] in
            guard !state.withLock({ $0.closed.contains(.output) }), let output = state.withLock({ $0.output.stream })
            else { return }
            output.delegate?.stream(output, handle: event)
        }
    }
}

/// Waits until a closure returns a value; asked again after each broadcast.
final class FakeCondition: Sendable {
    private let condition = NSCondition()

    func wait<Value>(_ value: () -> Value?) -> Value {
        condition.lock()
        defer { condition.unlock() }
        while true {
            if let value = value() { return value }
            condition.wait()
        }
    }

    func broadcast() {
        condition.lock()
        condition.broadcast()
        condition.unlock()
    }
}
