import HTTPTypes
import NIOCore
import NIOHPACK

@testable import Runway
@testable import RunwayTransport

/// Heads of HTTP/2: names and values as they come out of HPACK, and the lengths of frames.
enum HTTP2Fuzz {
    static func run(_ input: FuzzInput) {
        checkLengths(input)
        if input.isOn(0) {
            var decoder = HPACKDecoder(allocator: ByteBufferAllocator())
            var block = ByteBuffer(bytes: input.bytes)
            if let headers = try? decoder.decodeHeaders(from: &block) { checkHead(headers) }
        } else {
            // Names and values one after the other, each to a zero byte.
            let texts = input.bytes.split(separator: 0, omittingEmptySubsequences: false)
                .map { String(decoding: $0, as: UTF8.self) }
            var headers = HPACKHeaders()
            // From code NIO's list of headers takes no other names; what comes out of a block is looked at above.
            for index in stride(from: 0, to: texts.count - 1, by: 2) where texts[index].utf8.allSatisfy({ $0 < 0x80 }) {
                headers.add(name: texts[index], value: texts[index + 1])
            }
            checkHead(headers)
        }
    }

    private static func checkHead(_ headers: HPACKHeaders) {
        guard let (head, omittedFields) = headers.response else { return }
        check((100...999).contains(head.status.code), "a status that is none")
        check(headers.count(where: { $0.name.hasPrefix(":") }) == 1, "a head with another number of statuses")
        // A field whose octets are needed and lost is left out.
        check(omittedFields.allSatisfy { $0 == .location || $0 == .setCookie }, "a field that is left out")
        check(head.headerFields.count == headers.count - 1 - omittedFields.count, "a field that came and is not there")
        for field in head.headerFields {
            check(HTTPField.isValidValue(field.value), "a value that is none")
            check(!field.value.utf8.contains { $0 == 0 || $0 == 10 || $0 == 13 }, "a value that ends a line")
        }
        if let length = try? head.headerFields.contentLength() {
            check((0..<1_000_000_000_000_000_000).contains(length), "a length that is none")
        }
        let codings = ContentCoding.undoable(in: head.headerFields)
        let isCoded = !codings.isEmpty
        let bare = head.undoing(codings.count).headerFields
        check(!isCoded || bare[.contentLength] == nil, "the length of the coded body stays")
        check(
            bare.filter { $0.name != .contentEncoding && $0.name != .contentLength }
                == head.headerFields.filter { $0.name != .contentEncoding && $0.name != .contentLength },
            "another field goes with the coding")
    }

    private static func checkLengths(_ input: FuzzInput) {
        func found(_ pieces: [ArraySlice<UInt8>]) -> [[Int]] {
            var lengths = FrameLengths(skipping: input.isOn(1) ? 24 : 0)
            var found: [[Int]] = []
            for piece in pieces {
                _ = lengths.read(ByteBuffer(bytes: piece)) { stream, byteCount in
                    check(stream > 0 && byteCount >= 9, "a frame that is none")
                    found.append([stream, byteCount])
                }
            }
            return found
        }
        let whole = found(input.whole)
        check(found(input.pieces) == whole, "other frames in pieces")
        check(found(input.single) == whole, "other frames byte by byte")
        check(whole.count * 9 <= input.bytes.count, "more frames than came")
    }
}
