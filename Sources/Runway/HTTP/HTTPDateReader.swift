/// Parses the three formats of an HTTP date, byte by byte. A text that does not match the grammar is invalid.
struct HTTPDateReader {
    private var rest: Substring.UTF8View

    init(_ text: String) { rest = text[...].utf8 }

    /// Returns the seconds since 1970, or `nil` if the text is not a date.
    mutating func read(now: HTTPDate) -> Int64? {
        guard let weekday = weekday() else { return nil }
        let seconds: Int64?
        if take(", ") {
            seconds = weekday.isLong ? rfc850(now: now) : imf()
        } else {
            seconds = !weekday.isLong && take(" ") ? asctime() : nil
        }
        return rest.isEmpty ? seconds : nil
    }

    /// Parses a date such as `06 Nov 1994 08:49:37 GMT`.
    private mutating func imf() -> Int64? {
        guard let day = digits(2), take(" "), let month = month(), take(" "), let year = digits(4), take(" "),
            let time = time(), take(" GMT")
        else { return nil }
        return seconds(year, month, day, time)
    }

    /// Parses a date such as `06-Nov-94 08:49:37 GMT`.
    private mutating func rfc850(now: HTTPDate) -> Int64? {
        guard let day = digits(2), take("-"), let month = month(), take("-"), let shortYear = digits(2), take(" "),
            let time = time(), take(" GMT")
        else { return nil }
        let days = (now.seconds >= 0 ? now.seconds : now.seconds - 86_399) / 86_400
        let today = HTTPDate.calendarDay(days)
        let latest =
            HTTPDate.days(year: today.year + 50, month: today.month, day: today.day) * 86_400 + now.seconds - days
            * 86_400
        var year = today.year / 100 * 100 + 100 + shortYear
        // The century decides whether 29 February exists, so the date is checked last.
        while HTTPDate.days(year: year, month: month, day: day) * 86_400 + time > latest { year -= 100 }
        return seconds(year, month, day, time)
    }

    /// Parses a date such as `Nov  6 08:49:37 1994`.
    private mutating func asctime() -> Int64? {
        guard let month = month(), take(" "), let day = take(" ") ? digits(1) : digits(2), take(" "),
            let time = time(), take(" "), let year = digits(4)
        else { return nil }
        return seconds(year, month, day, time)
    }

    /// Parses the time of day. Returns its seconds since midnight.
    private mutating func time() -> Int64? {
        guard let hour = digits(2), take(":"), let minute = digits(2), take(":"), let second = digits(2),
            hour < 24, minute < 60, second <= 60
        else { return nil }
        return hour * 3600 + minute * 60 + min(second, 59)
    }

    private func seconds(_ year: Int64, _ month: Int64, _ day: Int64, _ time: Int64) -> Int64? {
        guard day >= 1, day <= HTTPDate.dayCount(year: year, month: month) else { return nil }
        return HTTPDate.days(year: year, month: month, day: day) * 86_400 + time
    }

    private mutating func weekday() -> (isLong: Bool, Void)? {
        for name in HTTPDate.weekdays where take(name) { return (true, ()) }
        for name in HTTPDate.weekdays where take(name.prefix(3)) { return (false, ()) }
        return nil
    }

    private mutating func month() -> Int64? {
        for (index, name) in HTTPDate.months.enumerated() where take(name) { return Int64(index + 1) }
        return nil
    }

    private mutating func digits(_ count: Int) -> Int64? {
        var value: Int64 = 0
        var position = rest.startIndex
        for _ in 0..<count {
            guard position < rest.endIndex, (0x30...0x39).contains(rest[position]) else { return nil }
            value = value * 10 + Int64(rest[position] - 0x30)
            position = rest.index(after: position)
        }
        rest = rest[position...]
        return value
    }

    /// Consumes `text` if it comes next, without regard to case. Otherwise returns `false`.
    private mutating func take(_ text: some StringProtocol) -> Bool {
        var position = rest.startIndex
        for byte in text.utf8 {
            guard position < rest.endIndex, rest[position].lowercasedASCII == byte.lowercasedASCII else { return false }
            position = rest.index(after: position)
        }
        rest = rest[position...]
        return true
    }
}

extension UInt8 {
    /// The byte in lower case if it is an ASCII letter; otherwise the byte itself.
    var lowercasedASCII: UInt8 { (0x41...0x5A).contains(self) ? self | 0x20 : self }
}
