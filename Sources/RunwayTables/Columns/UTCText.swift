import Foundation

/// A date as SQLite's date functions and GRDB write it, `2026-11-29 01:23:07.250` in UTC.
///
/// Milliseconds are rounded and not cut off, so that a date that was read is written as the same text. The calendar is
/// that of ISO 8601, also before 1582.
struct UTCText {
    let date: Date
    let text: String

    /// Returns `nil` for a date outside the years 0 to 9999.
    init?(_ date: Date) {
        let time = (date.timeIntervalSince1970 * 1000).rounded()
        // From the first to the last millisecond of these years.
        guard time >= Double(-62_167_219_200_000), time <= Double(253_402_300_799_999) else { return nil }
        let milliseconds = Int64(time)
        let day = milliseconds.flooredQuotient(86_400_000)
        let rest = milliseconds - day * 86_400_000
        // Days are counted from 1 March of year 0, so that the leap day is the last of its year.
        let shifted = day + 719_468
        let era = shifted.flooredQuotient(146_097)
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        let parts: [(value: Int64, digits: Int, end: String)] = [
            (year, 4, "-"), (month, 2, "-"), (dayOfYear - (153 * shiftedMonth + 2) / 5 + 1, 2, " "),
            (rest / 3_600_000, 2, ":"), (rest / 60_000 % 60, 2, ":"), (rest / 1000 % 60, 2, "."), (rest % 1000, 3, ""),
        ]
        var text = ""
        text.reserveCapacity(23)
        for part in parts {
            let digits = String(part.value)
            for _ in digits.utf8.count..<part.digits { text += "0" }
            text += digits + part.end
        }
        self.text = text
        self.date = Date(timeIntervalSince1970: Double(milliseconds) / 1000)
    }

    /// Reads a date; `nil` if the text has another form.
    init?(_ text: String) {
        let bytes = Array(text.utf8)
        guard bytes.count == 23 else { return nil }
        func number(_ range: Range<Int>) -> Int64? {
            var number: Int64 = 0
            for byte in bytes[range] {
                guard byte >= 0x30, byte <= 0x39 else { return nil }
                number = number * 10 + Int64(byte - 0x30)
            }
            return number
        }
        guard bytes[4] == 0x2D, bytes[7] == 0x2D, bytes[10] == 0x20, bytes[13] == 0x3A, bytes[16] == 0x3A,
            bytes[19] == 0x2E, let year = number(0..<4), let month = number(5..<7), let day = number(8..<10),
            let hour = number(11..<13), let minute = number(14..<16), let second = number(17..<19),
            let millisecond = number(20..<23), (1...12).contains(month), (1...31).contains(day), hour < 24, minute < 60,
            second < 60
        else { return nil }
        let shiftedYear = month <= 2 ? year - 1 : year
        let era = shiftedYear.flooredQuotient(400)
        let yearOfEra = shiftedYear - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        let days = era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
        let seconds = days * 86400 + hour * 3600 + minute * 60 + second
        self.text = text
        date = Date(timeIntervalSince1970: Double(seconds * 1000 + millisecond) / 1000)
    }
}

extension Int64 {
    /// Returns the quotient, rounded towards negative infinity.
    fileprivate func flooredQuotient(_ divisor: Int64) -> Int64 {
        let quotient = self / divisor
        return self % divisor < 0 ? quotient - 1 : quotient
    }
}
