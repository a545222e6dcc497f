package import struct Foundation.Date

/// A date in HTTP (RFC 9110 §5.6.7): whole seconds since 1970 in UTC, independent of the device's locale and time zone.
package struct HTTPDate: Hashable, Comparable, Sendable {
    /// The seconds since 1970-01-01; negative for earlier dates.
    package let seconds: Int64

    init(seconds: Int64) { self.seconds = seconds }

    /// Rounds `date` down to a whole second.
    package init(_ date: Date) { seconds = Int64(date.timeIntervalSince1970.rounded(.down)) }

    /// Parses a date in any of HTTP's three formats. Names and the time zone are compared without regard to case (RFC
    /// 9111 §4.2).
    ///
    /// A leap second is replaced by the second before it. A two-digit year is the latest possible year that is not more
    /// than fifty years after `now`.
    package init?(_ text: String, now: HTTPDate) {
        var reader = HTTPDateReader(text)
        guard let seconds = reader.read(now: now) else { return nil }
        self.seconds = seconds
    }

    package static func < (lhs: HTTPDate, rhs: HTTPDate) -> Bool { lhs.seconds < rhs.seconds }

    /// Returns the time from `other` to this date; negative if this date is earlier.
    func since(_ other: HTTPDate) -> Duration { .seconds(seconds - other.seconds) }

    /// The date in the preferred format, such as `Sun, 06 Nov 1994 08:49:37 GMT`.
    package var text: String {
        let days = Self.floorDivided(seconds, by: 86_400)
        let second = seconds - days * 86_400
        let (year, month, day) = Self.calendarDay(days)
        func two(_ number: Int64) -> String { (number < 10 ? "0" : "") + String(number) }
        let fourDigitYear = String(String(10_000 + min(max(year, 0), 9999)).dropFirst())
        // 1970-01-01 was a Thursday.
        let weekday = Self.weekdays[Int(((days % 7) + 7 + 3) % 7)].prefix(3)
        return "\(weekday), \(two(day)) \(Self.months[Int(month - 1)]) \(fourDigitYear) "
            + "\(two(second / 3600)):\(two(second / 60 % 60)):\(two(second % 60)) GMT"
    }

    static var weekdays: [String] {
        ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]
    }
    static var months: [String] {
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
    }
}

extension HTTPDate {
    /// Returns the number of days from 1970-01-01 to a day of the Gregorian calendar.
    ///
    /// Years are counted from 1 March, so that a leap day is the last day of its year.
    static func days(year: Int64, month: Int64, day: Int64) -> Int64 {
        let marchYear = month > 2 ? year : year - 1
        let era = floorDivided(marchYear, by: 400)
        let yearOfEra = marchYear - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    /// Returns the day of the Gregorian calendar that is `days` after 1970-01-01.
    static func calendarDay(_ days: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let shifted = days + 719_468
        let era = floorDivided(shifted, by: 146_097)
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let marchMonth = (5 * dayOfYear + 2) / 153
        let month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9
        let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        return (year, month, dayOfYear - (153 * marchMonth + 2) / 5 + 1)
    }

    static func dayCount(year: Int64, month: Int64) -> Int64 {
        let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
        return month == 2 ? (isLeap ? 29 : 28) : [4, 6, 9, 11].contains(month) ? 30 : 31
    }

    private static func floorDivided(_ number: Int64, by divisor: Int64) -> Int64 {
        (number >= 0 ? number : number - divisor + 1) / divisor
    }
}

/// The times at which a request was sent and its response was received.
///
/// Durations are measured on the monotonic clock, so that a change of the wall clock does not affect the age of a
/// response. The wall clock is read once, for the comparison with the origin's `Date`.
struct ExchangeTimes: Sendable {
    /// The time on the layer's clock at which the request was sent.
    var requested: Duration
    /// The time on the layer's clock at which the response was received.
    var received: Duration
    var receivedDate: HTTPDate
}
