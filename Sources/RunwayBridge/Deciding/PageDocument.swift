import Runway
import RunwayJSON

/// Decides about the calls of one document. Pure: it has no clock, no tasks, and sends nothing.
///
/// A document is a context of the browser with the origin that was recorded when the context was created. A call
/// belongs to a *generation* of its document, which ends when the page is left. The shell performs the actions that the
/// functions return, in their order.
struct PageDocument {
    enum Action {
        case start(Start)
        /// Cancel the task of a call that has already ended for the page.
        case cancel(id: Int)
        /// The command of a call may send one more part.
        case resume(id: Int)
        case reply(PageReply)
        /// The sinks receive a record. It is made after the actions before it: redaction must not delay a reply.
        case record(@Sendable () -> BridgeRecord)
    }

    struct Start {
        let id: Int
        let command: Command
        let input: JSONDocument
        let idempotencyKey: String
    }

    private struct Call {
        let name: String
        let input: JSONDocument
        let start: Duration
        let deadline: Duration
        /// The parts that were sent and not yet acknowledged.
        var partsAhead = 0
        var isWaiting = false
        var flights: [FlightID] = []
    }

    let number: Int
    let origin: String
    private let commands: [String: Command]
    /// The reason why every call is refused; `nil` if calls are allowed.
    private let closed: BridgeError?
    private let limits: BridgeLimits
    private let names: JSONRedaction

    private var document: String?
    private var generation = 1
    private var isHidden = false
    private var lastID = 0
    private var lastGesture = 0
    private var calls: [Int: Call] = [:]
    private var bucket: RateBucket
    /// The rates of calls of commands that have their own rate limit, by the name of the command.
    private var buckets: [String: RateBucket] = [:]
    private var refusals = RefusalCounter()

    /// - Parameters:
    ///   - number: The number of the document in its bridge.
    ///   - origin: The origin that the browser recorded when it created the context.
    ///   - isMainFrame: Whether the context belongs to the main frame of its page.
    init(
        number: Int, origin: String, isMainFrame: Bool, grants: [Origin: [String: Command]], limits: BridgeLimits,
        names: JSONRedaction
    ) {
        self.number = number
        self.limits = limits
        self.names = names
        bucket = RateBucket(perSecond: limits.callsPerSecond)
        let known = Origin(serialized: origin)
        self.origin = origin == "://" || origin.isEmpty ? "null" : String(origin.prefix(300))
        commands = known.flatMap { grants[$0] } ?? [:]
        closed =
            if !isMainFrame {
                BridgeError(.foreignFrame, "Only the main frame of a page may call the app.")
            } else if known == nil {
                BridgeError(.opaqueOrigin, "The page has no origin that could be granted a command.")
            } else { nil }
    }

    /// The instant at which ``wake(at:)`` has to be called; `nil` if there is nothing to wait for.
    var nextWake: Duration? {
        let deadline = calls.values.lazy.map(\.deadline).min()
        return [refusals.nextTotals, deadline].compactMap { $0 }.min()
    }

    // MARK: Messages of the page

    mutating func receive(_ text: String, at now: Duration) -> [Action] {
        guard let message = PageMessage(text) else { return refuse("", .malformed, "The message is malformed.", now) }
        // The first of these messages names the document. One that may call nothing needs no name: a shell that does not
        // learn which frames are gone has one context for several.
        let namesDocument =
            switch message.content {
            case .opened, .shown: document == nil
            default: false
            }
        if namesDocument || closed != nil { (document, generation) = (message.document, message.generation) }
        // Numbers of contexts repeat across processes, so that a late message may come from an earlier document. It must
        // not end what the new one has begun.
        guard message.document == document else {
            return refuse("", .ended, "The message comes from a document that is gone.", now)
        }
        switch message.content {
        case .opened, .gesture: return []
        case .shown:
            guard message.generation > generation else { return [] }
            defer { (generation, isHidden) = (message.generation, false) }
            return end(.ended, "The page was left while the call was in flight.", at: now)
        case .hidden:
            defer { isHidden = true }
            return end(.ended, "The page was left while the call was in flight.", at: now)
        case .refused(let kind, let command, let count):
            return record(refused: BridgeError(kind, "The page sent what no app has to read."), command, "", count, now)
        case .call(let call): return receive(call, in: message.generation, at: now)
        case .abort(let id):
            guard message.generation == generation, calls[id] != nil else { return [] }
            return [.cancel(id: id)] + finish(id, .failure(BridgeError(.cancelled, "The page cancelled it.")), at: now)
        case .acknowledge(let id):
            guard message.generation == generation, var call = calls[id], call.partsAhead > 0 else { return [] }
            call.partsAhead -= 1
            let resumes = call.isWaiting
            call.isWaiting = false
            calls[id] = call
            return resumes ? [.resume(id: id)] : []
        }
    }

    private mutating func receive(_ call: PageMessage.Call, in generation: Int, at now: Duration) -> [Action] {
        do throws(BridgeError) {
            if let closed { throw closed }
            guard generation == self.generation, !isHidden else { throw BridgeError(.ended, "The page was left.") }
            guard call.id > lastID else { throw BridgeError(.malformed, "The id of the call was used before.") }
            lastID = call.id
            guard bucket.take(at: now) else { throw BridgeError(.tooFast, "The page makes too many calls.") }
            guard calls.count < limits.maximumCallsInFlight else {
                throw BridgeError(.busy, "Too many calls are in flight.")
            }
            guard let command = commands[call.name] else {
                throw BridgeError(.notGranted, "The origin of the page was not granted the command.")
            }
            if let refusal = command.refusal { throw refusal }
            if let rate = command.callsPerSecond {
                guard buckets[command.name, default: RateBucket(perSecond: rate)].take(at: now) else {
                    throw BridgeError(.tooFast, "The page calls the command too often.")
                }
            }
            let input = try read(call.input)
            if command.isUnsafe {
                guard let gesture = call.gesture, gesture > lastGesture else {
                    throw BridgeError(.gestureNeeded, "The command needs a gesture, which no other call has used.")
                }
                lastGesture = gesture
            }
            calls[call.id] = Call(
                name: call.name, input: input, start: now, deadline: now + command.deadline)
            let key = "\(document ?? "")-\(generation)-\(call.id)"
            return [.start(Start(id: call.id, command: command, input: input, idempotencyKey: key))]
        } catch {
            let input = names.redactedText(of: call.input.prefix(1024), maximumByteCount: 1024)
            return [.reply(reply(to: call.id, in: generation, .failed, error.message, error.kind.description))]
                + record(refused: error, call.name, input, 1, now)
        }
    }

    private func read(_ input: [UInt8]) throws(BridgeError) -> JSONDocument {
        if input.count > limits.maximumInputByteCount {
            throw BridgeError(.tooLarge, "The input of the call is too large.")
        }
        do throws(JSONError) {
            return try JSONDocument(input, limits: JSONLimits(maximumDepth: limits.maximumDepth))
        } catch {
            throw error.kind == .limitExceeded
                ? BridgeError(.tooDeep, "The input of the call is nested too deeply.")
                : BridgeError(.malformed, "The input of the call is not JSON.")
        }
    }

    // MARK: Commands

    /// Whether the command of a call may send a part now. If not, and the call is in flight, ``Action/resume(id:)``
    /// follows.
    ///
    /// - Returns: `nil` if the call is over.
    mutating func mayPart(_ id: Int) -> Bool? {
        guard var call = calls[id] else { return nil }
        let may = call.partsAhead < limits.partsAhead
        if may { call.partsAhead += 1 } else { call.isWaiting = true }
        calls[id] = call
        return may
    }

    /// Notes a call of a network layer that the command of a call has made.
    mutating func add(_ flight: FlightID, to id: Int) {
        guard var call = calls.removeValue(forKey: id) else { return }
        if call.flights.count < 8 { call.flights.append(flight) }
        calls[id] = call
    }

    /// Whether a call waits for the page to take a part.
    func isWaiting(_ id: Int) -> Bool { calls[id]?.isWaiting ?? false }

    func part(_ id: Int, _ json: [UInt8]) -> [Action] {
        guard calls[id] != nil else { return [] }
        return [.reply(reply(to: id, in: generation, .part, String(decoding: json, as: UTF8.self)))]
    }

    /// The output of a command, with the address of bytes in place of the bytes.
    enum Output {
        case json([UInt8])
        case bytes(address: String, count: Int)
    }

    /// Ends a call. Does nothing if it is over.
    mutating func finish(_ id: Int, _ result: Result<Output, BridgeError>, at now: Duration) -> [Action] {
        guard let call = calls.removeValue(forKey: id) else { return [] }
        let (reply, error, count): (PageReply, BridgeError?, Int) =
            switch result {
            case .success(.json(let json)):
                (self.reply(to: id, in: generation, .done, String(decoding: json, as: UTF8.self)), nil, json.count)
            case .success(.bytes(let address, let count)):
                (self.reply(to: id, in: generation, .bytes, address), nil, count)
            case .failure(let error):
                (self.reply(to: id, in: generation, .failed, error.message, error.kind.description), error, 0)
            }
        return (call.isWaiting ? [.resume(id: id)] : []) + (isHidden ? [] : [.reply(reply)]) + [
            .record { [number, origin, names] in
                BridgeRecord(
                    document: number, origin: origin, command: call.name,
                    input: names.redactedText(of: call.input.root, maximumByteCount: 1024, isIndented: false),
                    error: error, isRefusal: false, count: 1, duration: now - call.start, outputByteCount: count,
                    flights: call.flights)
            }
        ]
    }

    // MARK: Ends

    /// Ends the generation: cancels all calls. Nothing is sent to the page, which is gone or knows it.
    mutating func end(_ kind: BridgeError.Kind, _ message: String, at now: Duration) -> [Action] {
        let wasHidden = isHidden
        isHidden = true
        defer { isHidden = wasHidden }
        return calls.keys.sorted().flatMap { id in
            [.cancel(id: id)] + finish(id, .failure(BridgeError(kind, message)), at: now)
        }
    }

    /// Ends the calls whose deadlines have passed, and reports totals that are due.
    mutating func wake(at now: Duration) -> [Action] {
        let error = BridgeError(.deadlineExceeded, "The command did not end in time.")
        let expired = calls.filter { $0.value.deadline <= now }.keys.sorted().flatMap { id in
            [.cancel(id: id)] + finish(id, .failure(error), at: now)
        }
        return expired + (refusals.nextTotals.map { $0 <= now } == true ? takeTotals() : [])
    }

    /// Returns the totals of the refusals that were not recorded whole.
    mutating func takeTotals() -> [Action] {
        refusals.takeTotals().map { kind, count in
            let record = refusal(BridgeError(kind, "The calls were refused."), "", "", count)
            return .record { record }
        }
    }

    // MARK: Refusals

    /// Refuses something that needs no reply.
    mutating func refuse(
        _ command: String, _ kind: BridgeError.Kind, _ message: String, _ now: Duration
    ) -> [Action] {
        record(refused: BridgeError(kind, message), command, "", 1, now)
    }

    private mutating func record(
        refused error: BridgeError, _ command: String, _ input: String, _ count: Int, _ now: Duration
    ) -> [Action] {
        guard refusals.add(error.kind, count: count, at: now) else { return [] }
        let record = refusal(error, command, input, count)
        return [.record { record }]
    }

    private func refusal(_ error: BridgeError, _ command: String, _ input: String, _ count: Int) -> BridgeRecord {
        BridgeRecord(
            document: number, origin: origin, command: command, input: input, error: error, isRefusal: true,
            count: count, duration: .zero, outputByteCount: 0, flights: [])
    }

    private func reply(
        to id: Int, in generation: Int, _ kind: PageReply.Kind, _ text: String, _ errorKind: String = ""
    ) -> PageReply {
        PageReply(
            document: document ?? "", generation: generation, id: id, kind: kind, errorKind: errorKind, text: text)
    }
}

/// Bounds the rate of calls: a burst, and then so many a second.
struct RateBucket {
    private let perSecond: Int
    private var tokens: Double
    private var last = Duration.zero

    init(perSecond: Int) {
        self.perSecond = perSecond
        tokens = Double(perSecond)
    }

    mutating func take(at now: Duration) -> Bool {
        tokens = min(Double(perSecond), tokens + (now - last) / .seconds(1) * Double(perSecond))
        last = now
        guard tokens >= 1 else { return false }
        tokens -= 1
        return true
    }
}
