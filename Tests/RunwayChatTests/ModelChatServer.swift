import Foundation
import RunwayFormats
import RunwayStreams

@testable import RunwayChat

/// The server of a simulation: what it has stored survives a crash, its connections do not, and its events as long as the log has them.
final class ModelChatServer {
    private final class Link {
        let number: Int
        var offset: Int64
        var isLive = false
        /// When the last bytes arrive, which later ones do not overtake.
        var arrival = 0

        init(number: Int, offset: Int64) { (self.number, self.offset) = (number, offset) }
    }

    private struct Event {
        let type: String
        let data: String
    }

    private unowned let world: ChatWorld
    private(set) var messages: [ChatMessage] = []
    private(set) var marks: [String: ChatMark] = [:]
    private(set) var isUp = true
    private var numbers: [ShownMessage.Key: Int64] = [:]
    private var published: Int64 = 0
    private var isPublishing = false
    private var epoch = 0
    private var events: [Event] = []
    private var firstOffset: Int64 = 1
    private var links: [Int: Link] = [:]
    /// Counts the crashes, so that nothing of an earlier run goes on.
    private var run = 0

    init(_ world: ChatWorld) { self.world = world }

    private var lastOffset: Int64 { firstOffset + Int64(events.count) - 1 }
    private func id(_ offset: Int64) -> String { "e\(epoch)-\(offset)" }

    func crash() {
        guard isUp, !world.isCalm else { return }
        isUp = false
        run += 1
        isPublishing = false
        let cut = links.keys.sorted()
        links = [:]
        for client in cut { world.clients[client].cut(isSilent: world.chance(0.2)) }
        world.after(world.int(200...8000)) { [self] in restart() }
    }

    func restart() {
        guard !isUp else { return }
        isUp = true
        if world.chance(0.2) { (epoch, events, firstOffset) = (epoch + 1, [], 1) }
        publish()
    }
}

// The calls.
extension ModelChatServer {
    /// Stores a message, and returns its number; `nil` if the server is down.
    func store(sender: String, _ draft: ChatDraft) -> (number: Int64, date: Date)? {
        guard isUp else { return nil }
        let key = ShownMessage.Key(sender: MemberName(sender), id: draft.id)
        let date = Date(timeIntervalSince1970: Double(world.now) / 1000)
        if world.mistake != .noRecognition, let number = numbers[key] {
            return (number, messages[Int(number) - 1].date)
        }
        let number = Int64(messages.count) + 1
        if world.mistake == .acknowledgementBeforeCommit {
            world.after(world.int(0...500)) { [self, run] in
                if run == self.run { commit(key, draft.text, date) }
            }
        } else {
            commit(key, draft.text, date)
        }
        return (number, date)
    }

    private func commit(_ key: ShownMessage.Key, _ text: String, _ date: Date) {
        let number = Int64(messages.count) + 1
        messages.append(
            ChatMessage(
                conversation: "c", number: number, sender: key.sender.text, id: key.id, text: text,
                time: Int64((date.timeIntervalSince1970 * 1000).rounded())))
        numbers[key] = number
        guard !isPublishing else { return }
        isPublishing = true
        world.after(world.int(0...300)) { [self, run] in if run == self.run { publish() } }
    }

    private func publish() {
        isPublishing = false
        let upTo = Int64(messages.count)
        for number in published..<upTo { append("chat.message", Self.json(messages[Int(number)])) }
        // A crash before this is noted has them published again.
        if world.isCalm || world.chance(0.9) { published = upTo }
    }

    func mark(_ mark: ChatMark) -> ChatMark? {
        guard isUp else { return nil }
        let old = marks[mark.member] ?? ChatMark(member: mark.member, delivered: 0, read: 0)
        let last = Int64(messages.count)
        let read = max(old.read, min(mark.read, last))
        let new = ChatMark(
            member: mark.member, delivered: max(old.delivered, read, min(mark.delivered, last)), read: read)
        if new != old {
            marks[mark.member] = new
            append(
                "chat.mark",
                #"{"conversation":"c","member":"\#(new.member)","delivered":\#(new.delivered),"read":\#(new.read)}"#)
        }
        return new
    }

    func page(_ range: ChatRange, upTo count: Int) -> ChatPage? {
        guard isUp else { return nil }
        let last = messages.count
        let found =
            switch range {
            case .latest: messages.suffix(count)
            case .after(let number): messages.dropFirst(Int(number)).prefix(count)
            case .before(let number): messages.prefix(Int(number) - 1).suffix(count)
            }
        let isAtEnd = (found.last?.number ?? Int64(last)) >= Int64(last)
        return ChatPage(
            messages: Array(found), first: 1, last: Int64(last), marks: isAtEnd ? Array(marks.values) : [])
    }

    private static func json(_ message: ChatMessage) -> String {
        let (id, time) = (message.id.uuidString, Int64((message.date.timeIntervalSince1970 * 1000).rounded()))
        return """
            {"conversation":"c","number":\(message.number),"sender":"\(message.sender)","id":"\(id)","text":"\(message.text)","time":\(time)}
            """
    }
}

// The stream.
extension ModelChatServer {
    /// Opens a link; returns the place of the last event, or `nil` if the server is down.
    func open(_ client: Int, link number: Int, after lastEventID: String) -> EventID? {
        guard isUp else { return nil }
        let link = Link(number: number, offset: lastOffset)
        links[client] = link
        let place = EventID(lastEventID)
        if let place, place.epoch == "e\(epoch)", place.offset <= lastOffset {
            if place.offset + 1 >= firstOffset {
                link.offset = place.offset
                control("resumed", #"{"from":"\#(place)"}"#, link, client)
            } else {
                gap(after: place.offset, link, client)
            }
        } else {
            control("reset", "{}", link, client)
        }
        beat(client, link)
        replay(client, link)
        return EventID(epoch: "e\(epoch)", offset: lastOffset)
    }

    func close(_ client: Int, link: Int) { if links[client]?.number == link { links[client] = nil } }

    /// Sends a heartbeat.
    func prove(_ client: Int, link: Int) {
        if let found = links[client], found.number == link { send(.id(id(found.offset)), found, client) }
    }

    private func beat(_ client: Int, _ link: Link) {
        world.after(25_000) { [self] in
            guard links[client] === link else { return }
            prove(client, link: link.number)
            beat(client, link)
        }
    }

    /// Sends what was missed, a few events at a time, and then what comes.
    private func replay(_ client: Int, _ link: Link) {
        world.after(world.int(1...50)) { [self] in
            guard links[client] === link else { return }
            if link.offset + 1 < firstOffset { gap(after: link.offset, link, client) }
            for _ in 0..<3 where link.offset < lastOffset { sendNext(client, link) }
            guard link.offset >= lastOffset else { return replay(client, link) }
            link.isLive = true
            control("live", "{}", link, client)
        }
    }

    private func append(_ type: String, _ data: String) {
        events.append(Event(type: type, data: data))
        if events.count > 60 {
            events.removeFirst(20)
            firstOffset += 20
        }
        for (client, link) in links.sorted(by: { $0.key < $1.key }) where link.isLive { sendNext(client, link) }
    }

    private func sendNext(_ client: Int, _ link: Link) {
        link.offset += 1
        let event = events[Int(link.offset - firstOffset)]
        send(.event(ServerSentEvent(type: event.type, data: event.data, id: id(link.offset))), link, client)
    }

    private func gap(after offset: Int64, _ link: Link, _ client: Int) {
        link.offset = firstOffset - 1
        control("gap", #"{"from":"\#(id(offset + 1))","to":"\#(id(link.offset))"}"#, link, client)
    }

    private func control(_ type: String, _ data: String, _ link: Link, _ client: Int) {
        send(.event(ServerSentEvent(type: "runway." + type, data: data, id: id(link.offset))), link, client)
    }

    private func send(_ item: EventParser.Item, _ link: Link, _ client: Int) {
        let receiver = world.clients[client]
        link.arrival = max(link.arrival, world.now + world.int(receiver.latency))
        world.after(link.arrival - world.now) { receiver.receive(item, link: link.number) }
    }
}
