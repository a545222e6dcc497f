import Foundation
import Runway
import RunwaySQLite
import RunwayStorage
import RunwayZlib

/// The format of a file: two letters, the version, a checksum of eight bytes, and the packed value. See
/// docs/formats.md.
extension FileMedium {
    private static let version: UInt8 = 1

    /// The first bytes of the file; `nil` if the file has only the bytes of its value.
    private var letters: [UInt8]? {
        switch form {
        case .plain: nil
        case .archive: Array("RA".utf8)
        case .sealed: Array("RS".utf8)
        }
    }

    func packed(_ bytes: Data, _ name: String) throws -> [UInt8] {
        let content: [UInt8]
        switch form {
        case .plain: return Array(bytes)
        case .archive:
            guard let encoder = GzipEncoder(level: 6) else { throw TableError(.unavailable, "There is no memory.") }
            content = encoder.encode(Array(bytes), isLast: true)
        case .sealed(let secrets): content = try secrets.sealed(Array(bytes), named: name)
        }
        return (letters ?? []) + [Self.version] + Self.checksum(content) + content
    }

    /// - Throws: ``TableError/Kind/corrupted``, ``TableError/Kind/newerSchema`` or ``TableError/Kind/keyUnavailable``.
    func unpacked(_ file: Data, _ name: String) throws -> Data {
        guard let letters else { return file }
        let damage = TableError(.corrupted, "The stored value \(name) is damaged.")
        let bytes = Array(file)
        guard bytes.count >= 11, bytes.starts(with: letters) else { throw damage }
        if bytes[2] > Self.version {
            throw TableError(.newerSchema, "The stored value \(name) is of a later version.")
        }
        let content = Array(bytes[11...])
        guard bytes[2] == Self.version, Array(bytes[3..<11]) == Self.checksum(content) else { throw damage }
        if case .sealed(let secrets) = form { return Data(try secrets.opened(content, named: name)) }
        guard let inflated = Self.inflated(content, upTo: maximumByteCount) else { throw damage }
        return Data(inflated)
    }

    private static func checksum(_ bytes: [UInt8]) -> [UInt8] {
        var sum = RowChecksum()
        sum.add(bytes)
        return withUnsafeBytes(of: sum.value.littleEndian) { Array($0) }
    }

    /// Returns the bytes of a complete gzip stream; `nil` if it is malformed, or has more bytes than the limit.
    private static func inflated(_ bytes: [UInt8], upTo maximumByteCount: Int) -> [UInt8]? {
        // 15 is the largest window, and 16 more select the gzip format.
        guard let inflater = runway_inflater_create(15 + 16) else { return nil }
        defer { runway_inflater_destroy(inflater) }
        var (inflated, rest, status): ([UInt8], ArraySlice<UInt8>, _) = ([], bytes[...], RUNWAY_INFLATE_GOES_ON)
        while status == RUNWAY_INFLATE_GOES_ON {
            var used = 0
            let part = [UInt8](unsafeUninitializedCapacity: 1 << 16) { output, count in
                guard let room = output.baseAddress else { return }
                rest.withUnsafeBufferPointer { input in
                    status = runway_inflater_run(
                        inflater, input.baseAddress, input.count, &used, room, output.count, &count)
                }
            }
            if used == 0, part.isEmpty, status != RUNWAY_INFLATE_ENDED { return nil }
            rest = rest.dropFirst(used)
            inflated += part
            if inflated.count > maximumByteCount { return nil }
        }
        return status == RUNWAY_INFLATE_ENDED && rest.isEmpty ? inflated : nil
    }
}

extension SecretSealing {
    /// Seals a value under its name.
    fileprivate func sealed(_ bytes: [UInt8], named name: String) throws -> [UInt8] {
        guard let sealed = try? current?.seal(bytes, for: Self.context(name)) else { throw Self.unavailable(name) }
        return sealed
    }

    fileprivate func opened(_ sealed: [UInt8], named name: String) throws -> [UInt8] {
        for sealing in [current].compactMap({ $0 }) + former {
            if let opened = try? sealing.open(sealed, for: Self.context(name)) { return opened }
        }
        throw Self.unavailable(name)
    }

    private static func context(_ name: String) -> [UInt8] { Array("runway stored value\0\(name)".utf8) }

    private static func unavailable(_ name: String) -> TableError {
        TableError(.keyUnavailable, "The key of the stored value \(name) can't be read now, or is another one.")
    }
}
