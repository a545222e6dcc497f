import Dispatch

extension DispatchSource {
    // developer.apple.com: DispatchSource.FileSystemEvent
    public struct FileSystemEvent: OptionSet, Sendable {
        public let rawValue: UInt
        public init(rawValue: UInt) { self.rawValue = rawValue }
        public static let delete = FileSystemEvent(rawValue: 1)
        public static let write = FileSystemEvent(rawValue: 2)
        public static let extend = FileSystemEvent(rawValue: 4)
    }

    // developer.apple.com: DispatchSource.makeFileSystemObjectSource(fileDescriptor:eventMask:queue:). It reports nothing here.
    public class func makeFileSystemObjectSource(
        fileDescriptor: Int32, eventMask: FileSystemEvent, queue: DispatchQueue? = nil
    ) -> any DispatchSourceFileSystemObject {
        makeUserDataAddSource(queue: queue) as! DispatchSource
    }
}

// developer.apple.com: DispatchSourceFileSystemObject
public protocol DispatchSourceFileSystemObject: DispatchSourceProtocol {}
extension DispatchSource: DispatchSourceFileSystemObject {}
