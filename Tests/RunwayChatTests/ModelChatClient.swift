import Foundation
import RunwayFormats
import RunwayJSON

@testable import RunwayChat
@testable import RunwayStreams

/// A client of a simulation: the machines of the product, and what its shells do with them.
final class ModelChatClient {
    unowned let world: ChatWorld
    let index: Int
    let latency: ClosedRange<Int>
    let options: ChatOptions
    var isOnline = true
    /// The texts that were written, and whether they were stored by the server or on disk.
    var written: [Int: Bool] = [:]

    var machine: ChatMachine
    private var stream: StreamMachine
    private var intake: EventIntake
    var isAlive = false
    /// Counts the starts, so that nothing of an earlier run goes on.
    var startCount = 0
    private var clockOffset = 0
    private var linkCount = 0
    var link: Int?
    private var lastByte = Duration.zero
    /// What has come and was not taken.
    private var buffer: [(output: EventIntake.Output, link: Int)] = []
    private var isTaking = false
    /// The place up to which events were taken.
    var taken = ""
    /// The last event that the server had when the link was opened.
    var lastAtOpening: EventID?
    var isWriting = false
    private var dueTicks: Set<Duration> = []
    /// Whether something has changed since the state was last stored.
    var isDirty = false
    var checkedScreen: [Int] = []
    // What survives a kill.
    var storedState: ChatState?
    var storedPlace = ""
    var queue: [ChatDraft] = []
    var isDraining = false

    var member: String { "m\(index)" }

    init(_ world: ChatWorld, _ index: Int, _ options: ChatOptions) {
        (self.world, self.index, self.options) = (world, index, options)
        latency = world.chance(0.2) ? 500...4000 : 5...150
        machine = ChatMachine(member: "m\(index)", options: options, random: world.random)
        stream = StreamMachine(StreamOptions(), random: world.random)
        intake = EventIntake(after: nil)
    }

    var now: Duration { .milliseconds(world.now + clockOffset) }

    func start() {
        guard !isAlive else { return }
        (isAlive, startCount) = (true, startCount + 1)
        machine = ChatMachine(member: member, options: options, random: world.random)
        if let storedState {
            machine.restore(storedState, isCurrent: !storedPlace.isEmpty && storedState.place == storedPlace)
        }
        var network = StreamOptions()
        network.maximumBackoff = .seconds(8)
        stream = StreamMachine(network, isReachable: isOnline, random: world.random)
        intake = EventIntake(after: storedPlace.isEmpty ? nil : StreamCursor(stream: "chat", lastEventID: storedPlace))
        (buffer, taken, isWriting, dueTicks, isDraining) = ([], storedPlace, false, [], false)
        perform(stream.start())
        drainSoon()
    }

    func kill(for duration: Int) {
        guard isAlive, !world.isCalm else { return }
        dropLink()
        isAlive = false
        isTaking = false
        world.after(duration) { [self] in start() }
    }

    /// The monotonic clock jumps, as after a sleep of the device; nothing else does.
    func jump(by milliseconds: Int) {
        clockOffset += milliseconds
        dueTicks = []
        arm()
    }

    func comeOnline() {
        isOnline = true
        guard isAlive else { return }
        perform(stream.networkDidChange(to: "", isReachable: true, isElsewhere: true, at: now))
        drainSoon()
    }

    func calmDown() {
        isOnline = true
        start()
        perform(stream.networkDidChange(to: "", isReachable: true, isElsewhere: false, at: now))
        drainSoon()
    }

    func write() {
        guard isAlive else { return }
        let number = written.count
        let draft = ChatDraft(id: world.uuid(), text: "\(number)", date: .distantPast)
        guard let actions = machine.write(draft, at: now) else { return }
        written[number] = false
        perform(actions)
    }

    /// What is not as it has to be at the end; `nil` if nothing is.
    var incompleteness: String? {
        guard isAlive else { return "does not run" }
        let messages = machine.window.messages
        if messages != world.server.messages.map({ ShownMessage($0) }) {
            return "shows \(messages.map(\.number)) of \(world.server.messages.count)"
        }
        if !machine.outbox.drafts.isEmpty { return "has unsent messages: \(machine.outbox.drafts.map(\.state))" }
        for (member, mark) in world.server.marks where machine.marks.all[MemberName(member)] != mark {
            return "has the mark \(String(describing: machine.marks.all[MemberName(member)])) and not \(mark)"
        }
        if machine.marks.all[MemberName(member)]?.delivered != Int64(world.server.messages.count) {
            return "did not acknowledge all"
        }
        return nil
    }

    /// What the member does at the end: loads all messages, and sends those again that the queue does not have any more.
    func settle() {
        guard isAlive else { return }
        for draft in machine.outbox.drafts where draft.state == .queued && queue.isEmpty {
            perform(machine.retry(draft.id, at: now))
        }
        if machine.window.hasOlder { perform(machine.loadOlder(at: now)) }
    }
}

// The stream.
extension ModelChatClient {
    /// The link breaks. A silent cut is noticed by the silence alone.
    func cut(isSilent: Bool) {
        guard isAlive, let link else { return }
        world.server.close(index, link: link)
        guard !isSilent else { return }
        dropLink()
        perform(stream.ended(.transient(retryAfter: nil), at: now))
    }

    func receive(_ item: EventParser.Item, link: Int) {
        guard isAlive, link == self.link else { return }
        lastByte = now
        for output in intake.read(item) {
            if case .continuity = output { stream.continued() }
            switch output {
            case .event(_, let id), .continuity(_, let id), .caughtUp(let id):
                if world.mistake == .placeStoredBeforeTaken { storePlace(id) }
            case .position, .retry, .connection: break
            }
            buffer.append((output, link))
        }
        takeSoon()
    }

    private func storePlace(_ id: String) {
        (storedState, storedPlace) = (machine.state(at: id), id)
    }

    private func takeSoon() {
        guard !isTaking, !buffer.isEmpty else { return }
        isTaking = true
        // The mistake shows only where a client is killed before it takes the last message: it takes longer for that.
        let isSlow = world.chance(world.mistake == .placeStoredBeforeTaken ? 0.5 : 0.1)
        world.after(isSlow ? world.int(10...800) : 1) { [self, startCount] in
            guard isAlive, startCount == self.startCount else { return }
            isTaking = false
            take()
            takeSoon()
        }
    }

    private func take() {
        let (output, link) = buffer.removeFirst()
        switch output {
        case .event(let event, let id):
            let json = try? JSONDocument(Array(event.data.utf8)).root
            let (message, mark) = (json.flatMap { ChatMessage($0) }, json.flatMap { ChatMark($0) })
            taken = id
            if event.type == "chat.message", let message { perform(machine.received(message, at: now)) }
            if event.type == "chat.mark", let mark { perform(machine.received(mark, at: now)) }
            if world.chance(0.3), let last = machine.window.last { perform(machine.read(upTo: last, at: now)) }
        case .continuity(let continuity, let id):
            taken = id
            machine.setExclusion(nil)
            perform(machine.connected(continuity, at: now))
            if world.mistake == .liveBeforeReplay { perform(machine.caughtUp(at: now)) }
        case .caughtUp(let id):
            taken = id
            perform(link == self.link ? machine.caughtUp(at: now) : [])
        case .position(let id):
            taken = id
            perform([] as [ChatMachine.Action])
        case .retry, .connection: break
        }
    }

    private func perform(_ actions: [StreamMachine.Action]) {
        for action in actions {
            switch action {
            case .connect: connect()
            case .disconnect:
                if let link, isOnline { world.server.close(index, link: link) }
                dropLink()
            case .probe:
                guard isOnline, let link else { break }
                world.after(world.int(latency)) { [self] in world.server.prove(index, link: link) }
            case .end: world.fail("the stream of client \(index) ended")
            }
        }
        if link == nil { machine.disconnected() }
        arm()
    }

    private func connect() {
        linkCount += 1
        let number = linkCount
        link = number
        world.after(world.int(latency)) { [self, startCount] in
            guard isAlive, startCount == self.startCount, link == number else { return }
            lastByte = now
            guard isOnline, let last = world.server.open(index, link: number, after: intake.lastEventID) else {
                dropLink()
                return perform(stream.ended(.transient(retryAfter: nil), at: now))
            }
            _ = intake.begin("chat")
            lastAtOpening = last
            perform(stream.opened(LinkFacts(heartbeat: .seconds(25), statesContinuity: true), at: now))
        }
    }

    private func dropLink() {
        link = nil
        machine.disconnected()
    }

    func arm() {
        for deadline in [stream.deadline, machine.deadline].compactMap({ $0 }) where dueTicks.insert(deadline).inserted
        {
            let wait = Int(((deadline - now) / .milliseconds(1)).rounded(.up))
            world.after(wait) { [self, startCount] in
                guard isAlive, startCount == self.startCount else { return }
                dueTicks.remove(deadline)
                perform(stream.tick(at: now, activity: .init(last: lastByte)))
                perform(machine.tick(at: now))
            }
        }
    }
}
