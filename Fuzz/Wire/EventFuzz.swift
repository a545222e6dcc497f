@testable import RunwayStreams

/// Streams of events: the same is found whatever pieces the bytes come in, and what reaches an app never goes back.
enum EventFuzz {
    static func run(_ input: FuzzInput) {
        let limits =
            input.isOn(0) ? EventLimits(maximumLineByteCount: 64, maximumEventByteCount: 100) : EventLimits()
        let whole = parse(input.whole, limits)
        check(parse(input.pieces, limits) == whole, "something else is found in pieces")
        if input.bytes.count <= 1024 {
            check(parse(input.single, limits) == whole, "something else is found byte by byte")
        }
        for item in whole.items {
            guard case .event(let event) = item else { continue }
            check(!event.type.isEmpty && !event.type.utf8.contains { $0 == 10 || $0 == 13 }, "a type of several lines")
            check(!event.id.unicodeScalars.contains("\0"), "an id with NULL")
        }
        for isRunway in [true, false] { takeIn(whole.items, isRunway: isRunway, resumes: input.isOn(1)) }
    }

    private struct Parsed: Equatable {
        var items: [EventParser.Item] = []
        var failure: EventLimitExceeded?
        var lastEventID = ""
    }

    private static func parse(_ pieces: [ArraySlice<UInt8>], _ limits: EventLimits) -> Parsed {
        var parsed = Parsed()
        var parser = EventParser(limits: limits)
        do throws(EventLimitExceeded) {
            for piece in pieces {
                parser.add(Array(piece))
                while let item = try parser.next() { parsed.items.append(item) }
            }
        } catch {
            parsed.failure = error
        }
        parsed.lastEventID = parser.lastEventID
        return parsed
    }

    /// Passes what was found to an intake, as two connections.
    private static func takeIn(_ items: [EventParser.Item], isRunway: Bool, resumes: Bool) {
        var intake = EventIntake(after: resumes ? StreamCursor(stream: "news", lastEventID: "e-3") : nil)
        var place = resumes ? EventID("e-3") : nil
        for _ in 0..<2 {
            var hasBegun = false
            // After a reset any place may follow, the one before the first included.
            var isFresh = false
            var catchUps = 0
            func follow(_ outputs: [EventIntake.Output]) {
                for output in outputs {
                    switch output {
                    case .continuity(let continuity, let id):
                        hasBegun = true
                        if case .reset = continuity { (place, isFresh) = (EventID(id), true) }
                        if case .gap(let from, let to) = continuity {
                            check(from.epoch == to.epoch && from.offset <= to.offset, "a gap that ends too early")
                            check(follows(to, place), "a gap of what was received")
                            place = to
                        }
                    case .event(_, let id):
                        check(hasBegun, "an event before the connection said how it continues")
                        guard isRunway else { break }
                        let new = EventID(id)
                        check(isFresh || follows(new, place), "an event again")
                        (place, isFresh) = (new, false)
                    case .position(let id): if isRunway { place = EventID(id) }
                    case .caughtUp: catchUps += 1
                    case .retry, .connection: break
                    }
                }
                let id = intake.lastEventID.utf8
                check(id.count <= EventIntake.maximumIDByteCount, "an id that is too long to be sent")
                check(id.allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }, "an id that can't be sent")
            }
            follow(intake.begin(isRunway ? "news" : nil))
            for item in items { follow(intake.read(item)) }
            check(catchUps <= (isRunway ? 1 : 0), "the end of the replay twice")
        }
    }

    private static func follows(_ new: EventID?, _ place: EventID?) -> Bool {
        guard let new, let place else { return false }
        return new.epoch == place.epoch && new.offset > place.offset
    }
}
