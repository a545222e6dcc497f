import Foundation

#if canImport(Darwin)
    import Darwin
#endif

/// Identifies the time since the last boot. Bytes that were written in the current session can't have been lost in a
/// power failure.
package enum BootSession {
    /// The name of the current session; `nil` if the system does not report it.
    package static var name: String? {
        #if canImport(Darwin)
            var bytes = [UInt8](repeating: 0, count: 64)
            var count = bytes.count
            guard sysctlbyname("kern.bootsessionuuid", &bytes, &count, nil, 0) == 0 else { return nil }
            return String(decoding: bytes.prefix(while: { $0 != 0 }), as: UTF8.self)
        #else
            guard let file = try? OpenFile("/proc/sys/kernel/random/boot_id", O_RDONLY),
                let bytes = try? file.read(64, at: 0), !bytes.isEmpty
            else { return nil }
            return String(decoding: bytes.prefix(while: { $0 > 0x20 }), as: UTF8.self)
        #endif
    }
}
