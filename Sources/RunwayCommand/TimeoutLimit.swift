import ArgumentParser

/// The most seconds that an option of a command takes.
enum TimeoutLimit: Double {
    case minute = 60
    /// Waits beyond a year are no waits; the system's clocks can't count all of what a Double can say.
    case year = 31_536_000

    /// Refuses a number of seconds that is not above 0 or is past the limit.
    func check(_ seconds: Double, of option: String) throws {
        guard seconds > 0, seconds <= rawValue else {
            throw ValidationError("\(option) wants a number of seconds above 0 and of at most a \(self).")
        }
    }
}
