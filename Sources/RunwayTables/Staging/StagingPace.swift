/// The number of rows in one transaction of a staging, computed from the time that the last one took.
struct StagingPace {
    /// The intended time of one transaction, for which other writes wait. They may wait 10 ms, also while other
    /// programs use the processors, and while SQLite moves the log.
    static let aim = Duration.milliseconds(2)
    /// The number of rows in the next transaction.
    private(set) var rowCount = 8

    mutating func didMove(_ count: Int, in duration: Duration) {
        let fitting = Double(count) * (Self.aim / max(duration, .nanoseconds(1)))
        rowCount = Int(min(max(fitting, 1), Double(count) * 2, 2000))
    }
}
