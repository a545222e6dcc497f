// libFuzzer's target for what comes from the network. One program for all of it, so that it is linked once.

import Foundation

/// Reads bytes as what `RUNWAY_FUZZ` names; whatever does not hold ends the process.
@_cdecl("LLVMFuzzerTestOneInput")
public func takeInput(_ data: UnsafePointer<UInt8>, _ size: Int) -> CInt {
    target(FuzzInput(Array(UnsafeBufferPointer(start: data, count: size))))
    return 0
}

private let target: @Sendable (FuzzInput) -> Void =
    switch ProcessInfo.processInfo.environment["RUNWAY_FUZZ"] ?? "" {
    case "http1": { HTTP1Fuzz.run($0) }
    case "http2": { HTTP2Fuzz.run($0) }
    case "connection": { HTTP2ConnectionFuzz.run($0) }
    case "proxy": { ProxyFuzz.run($0) }
    case "netlink": { NetlinkFuzz.run($0) }
    case "hosts": { HostListFuzz.run($0) }
    case "coding": { CodingFuzz.run($0) }
    case "fields": { FieldFuzz.run($0) }
    case "merged": { MergedFuzz.run($0) }
    case "websocket": { WebSocketFuzz.run($0) }
    case "events": { EventFuzz.run($0) }
    case let name: preconditionFailure("RUNWAY_FUZZ names no target: \(name)")
    }

/// What libFuzzer made of it: a byte of switches, the lengths of pieces, the bytes.
struct FuzzInput {
    private let switches: UInt8
    private let lengths: [Int]
    let bytes: [UInt8]

    init(_ data: [UInt8]) {
        switches = data.first ?? 0
        let count = data.count > 1 ? Int(data[1] & 7) : 0
        lengths = data.dropFirst(2).prefix(count).map { Int($0) + 1 }
        bytes = Array(data.dropFirst(2 + count))
    }

    /// Whether one of eight switches is on.
    func isOn(_ number: Int) -> Bool { switches >> number & 1 == 1 }

    var whole: [ArraySlice<UInt8>] { bytes.isEmpty ? [] : [bytes[...]] }

    /// The bytes in pieces of the lengths that the input names, over and over.
    var pieces: [ArraySlice<UInt8>] {
        var pieces: [ArraySlice<UInt8>] = []
        var rest = bytes[...]
        while !rest.isEmpty {
            let length = lengths.isEmpty ? rest.count : lengths[pieces.count % lengths.count]
            pieces.append(rest.prefix(length))
            rest = rest.dropFirst(length)
        }
        return pieces
    }

    /// The bytes one by one.
    var single: [ArraySlice<UInt8>] { bytes.indices.map { bytes[$0...$0] } }
}

/// The input found a mistake unless `condition` holds.
func check(_ condition: @autoclosure () -> Bool, _ message: @autoclosure () -> String) {
    precondition(condition(), message())
}
