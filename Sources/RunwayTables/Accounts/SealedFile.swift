import Foundation
import RunwayStorage

/// Replaces a file with its sealed form, and back. At most two pieces of the file are in memory at a time.
///
/// The sealed file is a sequence of pieces, each after its length in four bytes, least significant first. A piece is
/// sealed together with its file, its number, and whether it is the last one. No piece can therefore be exchanged,
/// moved or cut off.
enum SealedFile {
    static let pathExtension = "sealed"
    /// The extension of a file that was not written to its end.
    static let partialExtension = "partial"
    /// The bytes of a piece before they are sealed.
    private static let pieceByteCount = 1 << 20
    /// The most bytes of a piece that is sealed.
    private static let maximumByteCount = 2 << 20

    /// - Parameters:
    ///   - folder: The folder of all accounts; the path below it is authenticated.
    ///   - isCancelled: Whether the task was cancelled, which is asked at each piece.
    static func seal(
        _ file: URL, in folder: URL, with sealing: any PayloadSealing, _ isCancelled: () -> Bool
    ) throws {
        try replace(file, by: file.appendingPathExtension(pathExtension)) { input, output in
            var (index, piece) = (0, try read(pieceByteCount, from: input))
            while true {
                if isCancelled() { throw CancellationError() }
                let next = try read(pieceByteCount, from: input)
                let context = context(of: file, in: folder, index, isLast: next.isEmpty)
                guard let sealed = try? sealing.seal(piece, for: context), sealed.count <= maximumByteCount else {
                    throw unavailable(file)
                }
                try output.write(
                    contentsOf: withUnsafeBytes(of: UInt32(sealed.count).littleEndian) { Data($0) } + sealed)
                if next.isEmpty { return }
                (index, piece) = (index + 1, next)
            }
        }
    }

    static func open(
        _ sealedFile: URL, in folder: URL, with sealings: [any PayloadSealing], _ isCancelled: () -> Bool
    ) throws {
        let file = sealedFile.deletingPathExtension()
        try replace(sealedFile, by: file) { input, output in
            var (index, header) = (0, try read(4, from: input))
            repeat {
                if isCancelled() { throw CancellationError() }
                let count = header.reversed().reduce(0) { $0 << 8 | Int($1) }
                guard header.count == 4, count <= maximumByteCount else { throw unavailable(file) }
                let sealed = try read(count, from: input)
                header = try read(4, from: input)
                let context = context(of: file, in: folder, index, isLast: header.isEmpty)
                guard let piece = sealings.lazy.compactMap({ try? $0.open(sealed, for: context) }).first else {
                    throw unavailable(file)
                }
                try output.write(contentsOf: Data(piece))
                index += 1
            } while !header.isEmpty
        }
    }

    private static func context(of file: URL, in folder: URL, _ index: Int, isLast: Bool) -> [UInt8] {
        Array("\(file.path.dropFirst(folder.path.count))\0\(index)\0\(isLast)".utf8)
    }

    // No text of the app's error is used: it may contain anything.
    private static func unavailable(_ file: URL) -> TableError {
        TableError(
            .keyUnavailable,
            "The key of \(file.lastPathComponent) can't be read now, or is another one, or the sealed file is damaged.")
    }

    private static func read(_ count: Int, from file: FileHandle) throws -> [UInt8] {
        #if canImport(Darwin)
            return try autoreleasepool { Array(try file.read(upToCount: count) ?? Data()) }
        #else
            return Array(try file.read(upToCount: count) ?? Data())
        #endif
    }

    /// Writes a private file beside another one, and removes that one when the new one is on the drive.
    private static func replace(
        _ source: URL, by target: URL, _ copy: (_ input: FileHandle, _ output: FileHandle) throws -> Void
    ) throws {
        let partial = target.appendingPathExtension(partialExtension)
        try Data().write(to: partial)
        do {
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: partial.path)
            let (input, output) = (try FileHandle(forReadingFrom: source), try FileHandle(forWritingTo: partial))
            try copy(input, output)
            try FileFolder.sync(output)
            try output.close()
        } catch {
            try? FileManager.default.removeItem(at: partial)
            throw error
        }
        guard rename(partial.path, target.path) == 0 else { throw CocoaError(.fileWriteUnknown) }
        // The new name is on the drive before the other one is gone.
        try FileFolder.sync(FileFolder.open(target.deletingLastPathComponent().path, O_RDONLY))
        try FileManager.default.removeItem(at: source)
    }
}
