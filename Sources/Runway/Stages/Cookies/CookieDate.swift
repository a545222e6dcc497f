import Foundation

/// Parses dates in cookies, which follow more lenient rules than dates in other fields (RFC 6265bis §5.1.1).
enum CookieDate {
    /// Returns the date in a text, or `nil` if the text contains none.
    static func date(_ text: String) -> Date? {
        var time: (hour: Int, minute: Int, second: Int)?
        var (day, month, year): (Int?, Int?, Int?)
        for token in text.utf8.split(whereSeparator: \.isDateDelimiter) {
            if time == nil, let found = clock(token) {
                time = found
            } else if day == nil, let found = number(token, digits: 1...2) {
                day = found
            } else if month == nil, let found = months.firstIndex(where: { token.prefix(3).lowercasedText == $0 }) {
                month = found + 1
            } else if year == nil, let found = number(token, digits: 2...4) {
                year = found
            }
        }
        guard let time, let day, let month, var year else { return nil }
        if (70...99).contains(year) { year += 1900 } else if (0...69).contains(year) { year += 2000 }
        guard (1...31).contains(day), year >= 1601, time.hour <= 23, time.minute <= 59, time.second <= 59 else {
            return nil
        }
        let components = DateComponents(
            timeZone: .gmt, year: year, month: month, day: day, hour: time.hour, minute: time.minute,
            second: time.second)
        let calendar = Calendar(identifier: .gregorian)
        // The calendar would convert an impossible date such as 30 February to another date.
        guard let date = calendar.date(from: components) else { return nil }
        var gmt = calendar
        gmt.timeZone = .gmt
        return gmt.component(.day, from: date) == day ? date : nil
    }

    private static let months = [
        "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
    ]

    /// Returns the number at the start of a token, if it is not followed by another digit.
    private static func number(_ token: Substring.UTF8View.SubSequence, digits: ClosedRange<Int>) -> Int? {
        let start = token.prefix(while: \.isDigit)
        guard digits.contains(start.count) else { return nil }
        return Int(Substring(start))
    }

    private static func clock(_ token: Substring.UTF8View.SubSequence) -> (Int, Int, Int)? {
        let fields = token.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
        guard fields.count == 3, fields[0].allSatisfy(\.isDigit), fields[1].allSatisfy(\.isDigit),
            let hour = number(fields[0], digits: 1...2), let minute = number(fields[1], digits: 1...2),
            let second = number(fields[2], digits: 1...2)
        else { return nil }
        return (hour, minute, second)
    }
}

extension UInt8 {
    fileprivate var isDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }

    fileprivate var isDateDelimiter: Bool {
        switch self {
        case 0x09, 0x20...0x2F, 0x3B...0x40, 0x5B...0x60, 0x7B...0x7E: true
        default: false
        }
    }
}

extension Substring.UTF8View.SubSequence {
    fileprivate var lowercasedText: String { String(decoding: self, as: UTF8.self).lowercased() }
}
