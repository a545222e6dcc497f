/// The number of rows in one transaction of a staging, by the time that the last one took. It is pure.
struct StagingPace {
    /// The aim for one transaction, for which other writes wait: half of the 10 ms that they may.
    static let aim = Duration.milliseconds(5)
    /// The number of rows in the next transaction.
    private(set) var rowCount = 8

    mutating func didMove(_ count: Int, in duration: Duration) {
        let fitting = Double(count) * (Self.aim / max(duration, .nanoseconds(1)))
        rowCount = Int(min(max(fitting, 1), Double(count) * 2, 2000))
    }
}
