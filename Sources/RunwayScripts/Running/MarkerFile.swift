import Foundation
import RunwayDigest
import Synchronization

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// The marker of running scripts, in a file that is mapped into memory.
///
/// Bytes that are written to the mapping are in the file however the process ends, `kill -9` included, since the system
/// owns the pages. Only a crash of the system itself can lose them.
final class MarkerFile: Sendable {
    private let file: LockedFile
    /// The mapping, whose byte at `MarkerContent.runningOffset` only the thread of the scripts writes.
    nonisolated(unsafe) private let mapping: UnsafeMutableRawPointer
    /// Guards the other bytes of the mapping, and is their copy.
    private let content: Mutex<MarkerContent>

    /// Opens or creates the file, and condemns the bundle whose script ran when the last process ended.
    ///
    /// - Throws: ``ScriptError/Kind/markerInUse`` if another process or runtime has the file;
    ///   ``ScriptError/Kind/markerUnusable`` if the system refuses.
    init(_ url: URL) throws(ScriptError) {
        let file = try LockedFile(url, 0, inUse: .markerInUse, unusable: .markerUnusable)
        let descriptor = file.descriptor
        var bytes = [UInt8](repeating: 0, count: MarkerContent.byteCount)
        let count = bytes.withUnsafeMutableBytes { pread(descriptor, $0.baseAddress, $0.count, 0) }
        guard count >= 0 else { throw file.failure("read") }
        let content = MarkerContent(reading: Array(bytes.prefix(count)))
        // Written in full, so that the file has its blocks: a store into the mapping can't fail on a full disk.
        let written = content.bytes.withUnsafeBytes { pwrite(descriptor, $0.baseAddress, $0.count, 0) }
        guard written == MarkerContent.byteCount, ftruncate(descriptor, off_t(written)) == 0, fsync(descriptor) == 0
        else { throw file.failure("written") }
        let mapped = mmap(nil, MarkerContent.byteCount, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0)
        guard let mapped, mapped != MAP_FAILED else { throw file.failure("mapped") }
        mapping = mapped
        self.file = file
        self.content = Mutex(content)
    }

    deinit { munmap(mapping, MarkerContent.byteCount) }

    /// Notes which bundle's script runs; 0 if none does. Only the thread of the scripts calls it.
    func run(_ number: Int) {
        let running = (mapping + MarkerContent.runningOffset).assumingMemoryBound(to: Atomic<UInt8>.self)
        running.pointee.store(UInt8(number), ordering: .sequentiallyConsistent)
    }

    /// Registers a bundle. Returns its number, or `nil` if 8 others are registered.
    ///
    /// - Throws: ``ScriptError/Kind/condemned`` if the bundle is condemned.
    func register(_ identity: ScriptIdentity) throws(ScriptError) -> Int? {
        let digest = identity.digest
        return try content.withLock { (content) throws(ScriptError) -> Int? in
            guard !content.isCondemned(digest) else {
                throw ScriptError(
                    .condemned, "A script of \(identity.bundle) ended the process, or did not end, in this build")
            }
            defer { store(content) }
            return content.register(digest)
        }
    }

    func unregister(_ number: Int) { change { $0.unregister(number) } }

    func condemn(_ number: Int) { change { $0.condemn(number) } }

    private func change(_ body: (inout MarkerContent) -> Void) {
        content.withLock { content in
            body(&content)
            store(content)
        }
    }

    private func store(_ content: MarkerContent) {
        let tables = MarkerContent.tables
        UnsafeMutableRawBufferPointer(start: mapping + tables.lowerBound, count: tables.count)
            .copyBytes(from: content.bytes[tables])
    }
}

/// Identifies for what a bundle is condemned: another version of the bundle, of its runtime or of the app is another
/// identity.
struct ScriptIdentity: Sendable {
    let bundle: String
    let runtime: String
    let build: String

    /// The SHA-256 of the three, each with its length.
    var digest: [UInt8] {
        var hash = runway_sha256()
        runway_sha256_begin(&hash)
        for part in [bundle, runtime, build] {
            let bytes = Array("\(part.utf8.count):\(part)".utf8)
            runway_sha256_update(&hash, bytes, bytes.count)
        }
        var digest = [UInt8](repeating: 0, count: 32)
        runway_sha256_finish(&hash, &digest)
        return digest
    }
}
