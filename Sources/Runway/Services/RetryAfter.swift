import HTTPTypes

import struct Foundation.Date

/// The time at which a server allows the next request, from `Retry-After` (RFC 9110 §10.2.3).
enum RetryAfter: Equatable {
    case wait(Duration)
    case date(HTTPDate)

    /// The maximum wait, 68 years. Longer waits are reduced to it.
    private static let longestWait = Duration.seconds(Int64(Int32.max))

    /// Parses a field's value: digits or an HTTP date. Returns `nil` for anything else.
    init?(_ text: String, now: HTTPDate) {
        if !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) {
            self = .wait(Int64(text).map { min(.seconds($0), Self.longestWait) } ?? Self.longestWait)
        } else if let date = HTTPDate(text, now: now) {
            self = .date(date)
        } else {
            return nil
        }
    }

    /// Returns the remaining wait at a date.
    func wait(from reference: HTTPDate) -> Duration {
        switch self {
        case .wait(let duration): duration
        case .date(let date): max(.zero, min(date.since(reference), Self.longestWait))
        }
    }
}

extension HTTPFields {
    /// Returns the wait that the server requests, or `nil` if the field is absent or invalid.
    ///
    /// A date in the past means no wait. A date is compared with the server's own `Date`, if present, so that a device
    /// with a wrong clock waits just as long. If there are several fields, which RFC 9110 does not allow, the longest
    /// wait counts.
    ///
    /// - Parameter now: The device's date.
    func retryAfter(now date: Date) -> Duration? {
        let now = HTTPDate(date)
        var longest: Duration?
        for field in self where field.name == .retryAfter {
            guard let retryAfter = RetryAfter(field.value, now: now) else { continue }
            let wait = retryAfter.wait(from: self[.date].flatMap { HTTPDate($0, now: now) } ?? now)
            if wait >= longest ?? .zero { longest = wait }
        }
        return longest
    }
}

extension Response {
    /// Returns the wait that the server requests, in the header field or in the body of the response. Returns `nil` if
    /// it requests none.
    func retryAfter(now: Date) -> Duration? {
        if let wait = verdict?.retryAfter { return max(.zero, wait) }
        return head.headerFields.retryAfter(now: now)
    }
}
