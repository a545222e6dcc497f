@_exported import Dispatch
import Synchronization

// developer.apple.com: DispatchSource.MemoryPressureEvent
extension DispatchSource {
    public struct MemoryPressureEvent: OptionSet, Sendable {
        public let rawValue: UInt
        public init(rawValue: UInt) { self.rawValue = rawValue }
        public static let normal = MemoryPressureEvent(rawValue: 1)
        public static let warning = MemoryPressureEvent(rawValue: 2)
        public static let critical = MemoryPressureEvent(rawValue: 4)
        public static let all: MemoryPressureEvent = [.normal, .warning, .critical]
    }
}

// developer.apple.com: DispatchSourceMemoryPressure
public protocol DispatchSourceMemoryPressure: DispatchSourceProtocol, Sendable {}
extension DispatchSource: DispatchSourceMemoryPressure {}

extension DispatchSource {
    // developer.apple.com: DispatchSource.makeMemoryPressureSource(eventMask:queue:)
    public class func makeMemoryPressureSource(
        eventMask: MemoryPressureEvent, queue: DispatchQueue? = nil
    ) -> any DispatchSourceMemoryPressure {
        let source = makeUserDataAddSource(queue: queue) as! DispatchSource
        FakeMemory.sources.withLock { $0.append((eventMask, source)) }
        return source
    }
}

/// The memory of the fakes' system.
public enum FakeMemory {
    static let sources = Mutex<[(mask: DispatchSource.MemoryPressureEvent, source: DispatchSource)]>([])

    /// Reports pressure to every source that asked for this event.
    public static func press(_ event: DispatchSource.MemoryPressureEvent) {
        for (mask, source) in sources.withLock(\.self) where mask.contains(event) && !source.isCancelled {
            (source as any DispatchSourceUserDataAdd).add(data: 1)
        }
    }
}
