import Foundation
import RunwayTesting
import Testing

@testable import Runway

struct HTTPDateTests {
    /// 2026-01-01T00:00:00Z
    private let now = HTTPDate(seconds: 1_767_225_600)

    private func seconds(_ text: String) -> Int64? { HTTPDate(text, now: now)?.seconds }

    @Test(arguments: [
        "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
    ])
    func threeFormatsAreRead(_ text: String) {
        #expect(seconds(text) == 784_111_777)
    }

    @Test(arguments: ["sun, 06 nov 1994 08:49:37 gmt", "SUNDAY, 06-NOV-94 08:49:37 GMT", "sUN nOV  6 08:49:37 1994"])
    func caseHasNoMeaning(_ text: String) {
        #expect(seconds(text) == 784_111_777)
    }

    @Test func edgesOfYearsAndCountersAreRead() {
        #expect(seconds("Thu, 01 Jan 1970 00:00:00 GMT") == 0)
        #expect(seconds("Wed, 31 Dec 1969 23:59:59 GMT") == -1)
        #expect(seconds("Thu, 31 Dec 2026 23:59:59 GMT") == 1_798_761_599)
        #expect(seconds("Tue, 19 Jan 2038 03:14:07 GMT") == 2_147_483_647)
        #expect(seconds("Tue, 19 Jan 2038 03:14:08 GMT") == 2_147_483_648)
        #expect(seconds("Thu, 29 Feb 2024 12:00:00 GMT") == 1_709_208_000)
        #expect(seconds("Tue, 29 Feb 2000 00:00:00 GMT") == 951_782_400)
        #expect(seconds("Fri, 31 Dec 9999 23:59:59 GMT") == 253_402_300_799)
    }

    @Test func leapSecondIsTheSecondBeforeIt() {
        #expect(seconds("Sat, 31 Dec 2016 23:59:60 GMT") == 1_483_228_799)
        #expect(seconds("Sat, 31 Dec 2016 23:59:61 GMT") == nil)
    }

    @Test func yearOfTwoDigitsIsWithinFiftyYears() {
        // 2076, which is fifty years ahead to the second, and 1976.
        #expect(HTTPDate("Wednesday, 01-Jan-76 00:00:00 GMT", now: now)?.seconds == 3_345_062_400)
        #expect(HTTPDate("Thursday, 01-Jan-76 00:00:01 GMT", now: now)?.seconds == 189_302_401)
        #expect(HTTPDate("Friday, 31-Dec-99 23:59:59 GMT", now: now)?.seconds == 946_684_799)
        #expect(HTTPDate("Saturday, 29-Feb-20 00:00:00 GMT", now: now)?.seconds == 1_582_934_400)
        // At the end of a century a small year is the next one's.
        let late = HTTPDate(seconds: 4_070_908_800)  // 2099-01-01
        #expect(HTTPDate("Monday, 01-Jan-01 00:00:00 GMT", now: late)?.seconds == 4_133_980_800)
    }

    @Test(arguments: [
        "", "0", "-1", "tomorrow", "Sun, 06 Nov 1994 08:49:37", "Sun, 06 Nov 1994 08:49:37 UTC",
        "Sun, 06 Nov 1994 08:49:37 +0000", "Sun, 06 Nov 1994 08:49:37 AEST", "Sun, 6 Nov 1994 08:49:37 GMT",
        "Sun, 06 Nov 94 08:49:37 GMT", "Sun, 06 Nov 1994 8:49:37 GMT", "Sun, 06-Nov-1994 08:49:37 GMT",
        "Sun 06 Nov 1994 08:49:37 GMT", "Sun,  06 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 24:00:00 GMT",
        "Sun, 06 Nov 1994 08:60:37 GMT", "Sun, 31 Nov 1994 08:49:37 GMT", "Wed, 29 Feb 2023 08:49:37 GMT",
        "Thu, 29 Feb 1900 00:00:00 GMT", "Sun, 00 Nov 1994 08:49:37 GMT", "Sun, 06 Foo 1994 08:49:37 GMT",
        "Foo, 06 Nov 1994 08:49:37 GMT", "06 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37 GMT x",
        "Sun, ０6 Nov 1994 08:49:37 GMT", "1994-11-06T08:49:37Z", "784111777", "Sun, 06 Nov 1994",
    ])
    func malformedDateIsInvalid(_ text: String) {
        #expect(seconds(text) == nil)
    }

    @Test func everyDayIsWrittenAsByFoundation() {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(identifier: "GMT")
        formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
        var random = SeededGenerator(seed: 4)
        for _ in 0..<2000 {
            let seconds = Int64.random(in: -2_208_988_800...7_258_118_400, using: &random)
            let text = HTTPDate(seconds: seconds).text
            #expect(text == formatter.string(from: Date(timeIntervalSince1970: Double(seconds))))
            #expect(self.seconds(text) == seconds)
        }
    }

    @Test func fractionOfASecondIsLeftOut() {
        #expect(HTTPDate(Date(timeIntervalSince1970: 1.9)).seconds == 1)
        #expect(HTTPDate(Date(timeIntervalSince1970: -0.1)).seconds == -1)
    }
}
