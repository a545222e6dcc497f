import ArgumentParser

/// The most seconds that an option of a command takes.
enum TimeoutLimit: Double {
    case minute = 60
    /// The largest limit is a year; the system's clocks can't count all values of a Double.
    case year = 31_536_000

    /// Refuses a number of seconds that is not above 0 or is past the limit.
    func check(_ seconds: Double, of option: String) throws {
        guard seconds > 0, seconds <= rawValue else {
            throw ValidationError("\(option) needs a number of seconds above 0 and of at most a \(self).")
        }
    }
}
