import Dispatch

extension DispatchSource {
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
