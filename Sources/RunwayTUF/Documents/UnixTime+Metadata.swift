package import RunwaySignatures

extension UnixTime {
    /// Reads a time of metadata (§4.2): `2030-01-01T00:00:00Z`. Returns `nil` for any other form or an invalid date.
    package init?(metadata text: String) {
        let (bytes, form) = (Array(text.utf8), Array("0000-00-00T00:00:00Z".utf8))
        guard bytes.count == form.count else { return nil }
        for (byte, expected) in zip(bytes, form) {
            let isDigit = (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
            guard expected == UInt8(ascii: "0") ? isDigit : byte == expected else { return nil }
        }
        func number(_ range: Range<Int>) -> Int64 {
            bytes[range].reduce(0) { $0 * 10 + Int64($1 - UInt8(ascii: "0")) }
        }
        let (year, month, day) = (number(0..<4), number(5..<7), number(8..<10))
        let (hour, minute, second) = (number(11..<13), number(14..<16), number(17..<19))
        guard year >= 1970, (1...12).contains(month), hour < 24, minute < 60, second < 60 else { return nil }
        let time = UnixTime(
            seconds: Self.days(year, month, day) * 86_400 + hour * 3_600 + minute * 60 + second)
        // A day that the month does not have is written as another date.
        guard time.metadataText == text else { return nil }
        self = time
    }

    /// The time in the form of metadata. Times before 1970 and after 9999 are written as the nearest that can be.
    package var metadataText: String {
        let seconds = min(max(seconds, 0), Int64(253_402_300_799))
        let (days, rest) = (seconds / 86_400, seconds % 86_400)
        var year = 1970 + days / 366
        while Self.days(year + 1, 1, 1) <= days { year += 1 }
        var month: Int64 = 1
        while month < 12, Self.days(year, month + 1, 1) <= days { month += 1 }
        let day = days - Self.days(year, month, 1) + 1
        func padded(_ number: Int64, _ count: Int = 2) -> String {
            let digits = String(number)
            return String(repeating: "0", count: count - digits.count) + digits
        }
        return "\(padded(year, 4))-\(padded(month))-\(padded(day))"
            + "T\(padded(rest / 3_600)):\(padded(rest / 60 % 60)):\(padded(rest % 60))Z"
    }

    /// Returns the days from 1970-01-01 to a date of the Gregorian calendar.
    private static func days(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
        let before = year - 1
        let leapDays = before / 4 - before / 100 + before / 400 - 477
        let isLeap = year.isMultiple(of: 4) && (!year.isMultiple(of: 100) || year.isMultiple(of: 400))
        let start: Int64 = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334][Int(clamping: month) - 1]
        return (year - 1970) * 365 + leapDays + start + (isLeap && month > 2 ? 1 : 0) + day - 1
    }
}
