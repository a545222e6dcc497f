import Foundation

extension DateStyle {
    /// Returns the date as text.
    ///
    /// - Throws: ``UnencodableParameter`` for a date that is not finite or that RFC 3339 can't represent (outside the
    ///   years 0 to 9999).
    func text(_ date: Date, at path: String) throws(UnencodableParameter) -> String {
        let seconds = try Self.seconds(of: date, at: path)
        return switch self {
        case .iso8601: Self.rfc3339(Int64(seconds.rounded(.down)))
        case .secondsSince1970: seconds.shortestText
        case .millisecondsSince1970: "\(Int64((seconds * 1000).rounded()))"
        }
    }

    /// Returns the seconds since 1970 of a date, if every style can represent it.
    ///
    /// - Throws: ``UnencodableParameter`` for a date that is not finite or outside the years 0 to 9999.
    static func seconds(of date: Date, at path: String) throws(UnencodableParameter) -> Double {
        let seconds = date.timeIntervalSince1970
        // The bounds are the first second of the year 0000 and the end of the year 9999, in UTC.
        guard (-62_167_219_200.0..<253_402_300_800.0).contains(seconds) else { throw .dateOutOfRange(path) }
        return seconds
    }

    /// Returns the time in the format of RFC 3339 §5.6, in UTC.
    ///
    /// RFC 3339 uses the Gregorian calendar for all times. Foundation's ISO 8601 style uses the Julian calendar before
    /// 1582.
    private static func rfc3339(_ seconds: Int64) -> String {
        let secondOfDay = (seconds % 86_400 + 86_400) % 86_400
        // Days are counted from 0000-03-01, so that a leap day is the last day of its year. The first two months of the
        // year 0000 come before that day. To avoid negative numbers, a cycle of 400 years (146 097 days) is added.
        let days = (seconds - secondOfDay) / 86_400 + 719_468 + 146_097
        let (cycle, day) = days.quotientAndRemainder(dividingBy: 146_097)
        let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365
        let dayOfYear = day - (365 * year + year / 4 - year / 100)
        // From March on, every five consecutive months have 153 days.
        let month = (5 * dayOfYear + 2) / 153
        let dayOfMonth = dayOfYear - (153 * month + 2) / 5 + 1
        let calendarMonth = month < 10 ? month + 3 : month - 9
        let calendarYear = year + (cycle - 1) * 400 + (calendarMonth <= 2 ? 1 : 0)
        func digits(_ value: Int64, _ count: Int = 2) -> String {
            let text = "\(value)"
            return String(repeating: "0", count: max(0, count - text.count)) + text
        }
        return "\(digits(calendarYear, 4))-\(digits(calendarMonth))-\(digits(dayOfMonth))"
            + "T\(digits(secondOfDay / 3600)):\(digits(secondOfDay / 60 % 60)):\(digits(secondOfDay % 60))Z"
    }
}
