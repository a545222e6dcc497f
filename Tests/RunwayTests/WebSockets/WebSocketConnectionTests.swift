import Testing

@testable import Runway

/// What the WebSockets of all transports have in common.
struct WebSocketConnectionTests {
    @Test(arguments: [
        ("", 0), (String(repeating: "a", count: 123), 123), (String(repeating: "a", count: 124), 123),
        (String(repeating: "é", count: 62), 122), (String(repeating: "😀", count: 31), 120),
    ])
    func reasonIsCutBetweenCharacters(_ reason: String, byteCount: Int) {
        let bytes = WebSocketClose(1000, reason).reasonBytes
        #expect(bytes.count == byteCount)
        #expect(String(validating: bytes, as: UTF8.self).map { reason.hasPrefix($0) } == true)
    }

    /// An `Int` of a watch can't count more than 2 GiB.
    @Test func byteCountsHave64BitsOnEverySystem() {
        let status = WebSocketStatus()
        let counts: [Int64] = [status.receivedByteCount, status.sentByteCount]
        #expect(counts == [0, 0])
    }
}
