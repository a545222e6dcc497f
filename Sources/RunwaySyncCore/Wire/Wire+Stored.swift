package import RunwayJSON

// Values that only stores hold, in the coding of the messages.

extension DeviceRecord: WireCodable {
    package func write(to writer: inout JSONWriter) {
        writer.object {
            $0.member("end", end)
            $0.member("time", time)
            $0.list("lastPacket", lastPacket)
            $0.flag("closed", isClosed)
            if refusalCount > 0 { $0.member("refusals", refusalCount) }
        }
    }

    package init(_ value: JSONValue) throws(WireError) {
        self.init()
        (end, time) = (try value.read("end"), try value.read("time"))
        lastPacket = try value.readList("lastPacket", limit: WireBounds.transactions)
        isClosed = try value.readFlag("closed")
        refusalCount = try value.readIfPresent("refusals") ?? 0
    }
}

extension History: WireCodable {
    /// The largest number of epochs: each restore of the server begins one.
    private static let maximumEpochs = 10_000

    package func write(to writer: inout JSONWriter) {
        writer.object {
            $0.list("earlier", earlier)
            $0.member("head", head)
            $0.member("horizon", horizon)
            $0.member("digest", digest)
            $0.member("backup", backup)
        }
    }

    package init(_ value: JSONValue) throws(WireError) {
        let head: Cursor = try value.read("head")
        self.init(epoch: head.epoch)
        (self.head, horizon) = (head, try value.read("horizon"))
        earlier = try value.readList("earlier", limit: Self.maximumEpochs)
        (digest, backup) = (try value.read("digest"), try value.read("backup"))
        guard horizon.epoch == epoch, horizon.number <= head.number else {
            throw WireError(value, expected: "a horizon of the epoch, not past the head")
        }
    }
}

extension WaitingOperation: WireCodable {
    package func write(to writer: inout JSONWriter) {
        writer.object {
            $0.member("operation", operation)
            $0.member("device", sender.device)
            if let subject = sender.subject { $0.text("subject", subject) }
            $0.member("time", time)
            $0.member("basis", basis)
        }
    }

    package init(_ value: JSONValue) throws(WireError) {
        let subject = value["subject"]
        if subject.exists, subject.kind != .string { throw WireError(subject, expected: "a string") }
        try self.init(
            operation: value.read("operation"),
            sender: Sender(device: value.read("device"), subject: subject.string),
            time: value.read("time"), basis: value.read("basis"))
    }
}

/// The operations that wait beside one row.
package struct WaitingList: WireCodable {
    package let operations: [WaitingOperation]

    package init(_ operations: [WaitingOperation]) { self.operations = operations }

    package func write(to writer: inout JSONWriter) { writer.object { $0.list("operations", operations) } }

    package init(_ value: JSONValue) throws(WireError) {
        operations = try value.readList("operations", limit: LogEntry.maximumChanges)
    }
}

extension Outgoing: WireCodable {
    package func write(to writer: inout JSONWriter) {
        writer.object {
            $0.member("sequence", sequence)
            $0.member("packet", packet)
            $0.member("transaction", transaction)
            if case .decided(let verdict, let time) = status {
                $0.member("verdict", verdict)
                $0.member("decided", time)
            }
            $0.flag("settled", isSettled)
            if let withdrawal { $0.text("withdrawal", withdrawal.name) }
            $0.flag("offered", isOffered)
            $0.flag("accepted", isAccepted)
            $0.flag("sentAgain", isSentAgain)
        }
    }

    package init(_ value: JSONValue) throws(WireError) {
        try self.init(
            sequence: value.read("sequence"), packet: value.read("packet"), transaction: value.read("transaction"))
        if let verdict: Verdict = try value.readIfPresent("verdict") {
            status = .decided(verdict, at: try value.read("decided"))
        }
        isSettled = try value.readFlag("settled")
        (isOffered, isAccepted) = (try value.readFlag("offered"), try value.readFlag("accepted"))
        isSentAgain = try value.readFlag("sentAgain")
        let withdrawal = value["withdrawal"]
        if withdrawal.exists { self.withdrawal = Refusal(name: try withdrawal.name()) }
    }
}

extension DeviceState: WireCodable {
    package func write(to writer: inout JSONWriter) {
        writer.object {
            $0.member("device", device)
            $0.member("end", end)
            $0.member("acknowledged", acknowledged)
            $0.member("cursor", cursor)
            if !parts.isEmpty { $0.list("parts", parts) }
            $0.member("clock", clock.last)
            $0.member("sequence", sequence)
            $0.member("sentPacket", sentPacket)
            $0.member("snapshot", ifPresent: snapshot)
            $0.member("digest", digest)
            $0.member("stagedDigest", stagedDigest)
            $0.member("horizon", horizon)
            $0.member("backup", backup)
            $0.flag("revoked", isRevoked)
            if mismatchCount > 0 { $0.member("mismatches", mismatchCount) }
            $0.member("mismatch", ifPresent: lastMismatch)
        }
    }

    package init(_ value: JSONValue) throws(WireError) {
        self.init(device: try value.read("device"))
        (end, acknowledged) = (try value.read("end"), try value.read("acknowledged"))
        (cursor, sequence) = (try value.read("cursor"), try value.read("sequence"))
        if value["parts"].exists { parts = try value.readList("parts", limit: LogEntry.maximumChanges) }
        clock.receive(try value.read("clock"))
        sentPacket = try value.read("sentPacket")
        snapshot = try value.readIfPresent("snapshot")
        (digest, stagedDigest) = (try value.read("digest"), try value.read("stagedDigest"))
        (horizon, backup) = (try value.read("horizon"), try value.read("backup"))
        isRevoked = try value.readFlag("revoked")
        mismatchCount = try value.readIfPresent("mismatches") ?? 0
        lastMismatch = try value.readIfPresent("mismatch")
    }
}

extension SnapshotProgress: WireCodable {
    package func write(to writer: inout JSONWriter) {
        writer.object {
            switch self {
            case .rows(let start, let head, let after, let decided):
                $0.member("start", ifPresent: start)
                $0.member("head", ifPresent: head)
                $0.member("after", ifPresent: after)
                $0.list("decided", decided.sorted())
            case .log(let cursor, let end, let decided):
                $0.member("cursor", cursor)
                $0.member("end", end)
                $0.list("decided", decided.sorted())
            }
        }
    }

    package init(_ value: JSONValue) throws(WireError) {
        let decided = Set<Identifier>(try value.readList("decided", limit: SnapshotRequest.maximumPending))
        if let cursor: Cursor = try value.readIfPresent("cursor") {
            self = .log(cursor: cursor, end: try value.read("end"), decided: decided)
        } else {
            self = .rows(
                start: try value.readIfPresent("start"), head: try value.readIfPresent("head"),
                after: try value.readIfPresent("after"), decided: decided)
        }
    }
}
