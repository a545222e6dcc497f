import Foundation
import HTTPTypes
import RunwayTesting
import Testing

@testable import Runway

struct RetryAfterTests {
    private let now = Date(timeIntervalSince1970: 784_111_777)  // Sun, 06 Nov 1994 08:49:37 GMT

    private func wait(_ values: String..., date: String? = nil) -> Duration? {
        var fields = HTTPFields()
        for value in values { fields.append(HTTPField(name: .retryAfter, value: value)) }
        fields[.date] = date
        return fields.retryAfter(now: now)
    }

    @Test func secondsAreRead() {
        #expect(wait("0") == .zero)
        #expect(wait("120") == .seconds(120))
        #expect(wait("007") == .seconds(7))
    }

    @Test(arguments: [
        "2147483648", "9223372036854775807", "99999999999999999999999999", String(repeating: "9", count: 9000),
    ])
    func hugeSecondsAreTheLongestWait(_ text: String) {
        #expect(wait(text) == .seconds(Int64(Int32.max)))
    }

    @Test(arguments: ["", " ", "-1", "+5", "1.5", "1e3", "0x10", "soon", "12 s", "٣", "5, 10", "\u{0}"])
    func valueNeitherSecondsNorDateIsIgnored(_ text: String) {
        #expect(wait(text) == nil)
    }

    @Test func dateIsAWaitUntilThen() {
        #expect(wait("Sun, 06 Nov 1994 08:50:07 GMT") == .seconds(30))
        #expect(wait("Sunday, 06-Nov-94 08:50:07 GMT") == .seconds(30))
        #expect(wait("Sun Nov  6 08:50:07 1994") == .seconds(30))
    }

    @Test func dateThatHasPassedIsNow() {
        #expect(wait("Sun, 06 Nov 1994 08:49:36 GMT") == .zero)
        #expect(wait("Thu, 01 Jan 1970 00:00:00 GMT") == .zero)
    }

    @Test func dateFarAheadIsTheLongestWait() {
        #expect(wait("Fri, 31 Dec 9999 23:59:59 GMT") == .seconds(Int64(Int32.max)))
    }

    @Test func dateIsComparedWithTheServersOwnClock() {
        // The device is three hours fast; the server means half a minute all the same.
        #expect(wait("Sun, 06 Nov 1994 05:50:07 GMT", date: "Sun, 06 Nov 1994 05:49:37 GMT") == .seconds(30))
        #expect(wait("Sun, 06 Nov 1994 08:50:07 GMT", date: "yesterday") == .seconds(30))
    }

    @Test func longestOfSeveralFieldsCounts() {
        #expect(wait("5", "60", "7") == .seconds(60))
        #expect(wait("soon", "5") == .seconds(5))
        #expect(wait("soon", "later") == nil)
        #expect(wait() == nil)
    }

    @Test func envelopesWaitWinsOverTheField() {
        var response = Response.json("{}")
        response.head.headerFields[.retryAfter] = "9"
        #expect(response.retryAfter(now: now) == .seconds(9))
        response.verdict = .overloaded(retryAfter: .seconds(3))
        #expect(response.retryAfter(now: now) == .seconds(3))
        response.verdict = .overloaded(retryAfter: nil)
        #expect(response.retryAfter(now: now) == .seconds(9))
        response.verdict = .overloaded(retryAfter: .seconds(-3))
        #expect(response.retryAfter(now: now) == .zero)
    }
}
