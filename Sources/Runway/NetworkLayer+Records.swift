extension NetworkLayer {
    /// The number of records that were dropped because the sinks were too slow: more than 4,096 records were pending.
    public var droppedRecordCount: Int { events.droppedRecordCount }

    /// Waits until the sinks have received every record that was made before this call, or until the task is cancelled.
    public func flushRecords() async { await events.flush() }
}
