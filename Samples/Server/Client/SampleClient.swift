import Foundation
import HTTPTypes
import Runway
import RunwayChat
import RunwaySigning
import RunwayStorage
import RunwayStreams
import RunwayTransport

/// An appointment, which the device signs, and which is made once however often it is sent.
private struct ViewingRequest: Endpoint {
    static let service = Listings.self
    static let method = HTTPRequest.Method.post
    static let sendsIdempotencyKey = true
    var path: EndpointPath { "viewings" }
    var rental: Int
}

/// What concerns an account.
private struct AccountEvents: EventStreamEndpoint {
    static let service = Listings.self
    var path: EndpointPath { "events" }
    var topics: Set<String>?
    func encode(to encoder: any Encoder) {}
}

/// An app of one account, over files of its own.
@MainActor private struct App {
    let name: String
    let network: NetworkLayer
    let keys: DeviceKeys
    private let folder: URL

    init(of name: String, in folder: URL, at url: String, sinks: [any EventSink] = []) throws {
        self.name = name
        self.folder = folder.appending(path: name)
        try FileManager.default.createDirectory(at: self.folder, withIntermediateDirectories: true)
        keys = DeviceKeys(in: FileTokenStore(folder: self.folder.appending(path: "keys")))
        var pipeline = RequestPipeline()
        let policy = SigningPolicy(.signature(tag: "sample"))
        pipeline.insert(SigningStage(for: Listings.self, policy, keys: keys), before: .signing)
        network = NetworkLayer(
            transport: try NIOTransport(), pipeline: pipeline, sinks: sinks,
            tokens: FileTokenStore(folder: self.folder.appending(path: "tokens")))
        network.configure(Listings.self) { $0.baseURLs = [.release: url + "/v1"] }
    }

    func signIn(_ password: String) async throws {
        let response = try await network.call(TokenRequest(name: name, password: password))
        try await network.signIn(TokenRequest.token(in: response, of: name, on: network), to: Listings.self)
    }

    func conversation(_ id: String) -> (client: ChatClient<AccountEvents>, conversation: ChatConversation) {
        let client = ChatClient(
            member: name, on: network, stream: AccountEvents(topics: []),
            store: FileChatStateStore(folder: folder.appending(path: "chat")),
            cursors: FileStreamCursorStore(file: folder.appending(path: "cursors")))
        defer { client.start() }
        return (client, client.conversation(id))
    }

    func log() -> ActionLog {
        ActionLog(at: folder.appending(path: "actions.sqlite"), sendingTo: Listings.self, at: "log", over: network)
    }
}

/// `SampleClient URL FOLDER [PICTURES]` uses every part of the sample server at a URL, as anna with the password `secret` and ben
/// with `other`. With a folder for pictures it also visits the shop in Chromium.
@main @MainActor
struct SampleClient {
    static func expect(_ isTrue: Bool, _ claim: String) {
        guard isTrue else { fatalError("not so: \(claim)") }
        print(claim)
    }

    static func wait(_ claim: String, _ condition: () async -> Bool) async throws {
        let end = ContinuousClock.now + .seconds(300)
        while await !condition() {
            guard ContinuousClock.now < end else { fatalError("not so: \(claim)") }
            try await Task.sleep(for: .milliseconds(20))
        }
        print(claim)
    }

    private static func status(of call: () async throws -> Void) async -> Int? {
        do { try await call() } catch { return (error as? NetworkError)?.status?.code }
        return nil
    }

    static func main() async throws {
        let (url, folder) = (CommandLine.arguments[1], URL(filePath: CommandLine.arguments[2]))
        let flights = ShopFlights()
        let anna = try App(of: "anna", in: folder, at: url, sinks: [flights])
        let ben = try App(of: "ben", in: folder, at: url)
        let refused = await status { try await anna.signIn("guess") }
        expect(refused == 401, "a name alone signs nobody in")
        try await anna.signIn("secret")
        try await ben.signIn("other")
        let rentals = try await anna.network.call(RentalList(city: "Ghent"))
        expect(rentals["total"].int == 25 && rentals["items"].count == 20, "an account sees homes, page after page")

        let film = folder.appending(path: "film.mp4")
        try Data((0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }).write(to: film)
        _ = try await anna.network.call(FilmUpload(film: film, id: 7))
        let received = try await anna.network.call(RentalFilm(id: 7))
        expect(received.bytes.elementsEqual(try Data(contentsOf: film)), "an uploaded film comes back")

        let unsigned = await status { _ = try await anna.network.call(ViewingRequest(rental: 7)) }
        expect(unsigned == 401, "a device without a key makes no appointment")
        try await DeviceEnrolment(at: Listings.self, in: anna.network, keys: anna.keys).enrol()
        let events = anna.network.events(of: AccountEvents(topics: ["viewings/anna"]))
        var iterator = events.makeAsyncIterator()
        _ = try await iterator.next()
        _ = try await anna.network.call(ViewingRequest(rental: 7))
        var viewing: Int?
        while viewing == nil, let element = try await iterator.next() {
            if case .event(let event) = element { viewing = event.rawData["rental"].int }
        }
        expect(viewing == 7, "an enrolled device makes one, which the account's stream announces")

        let (annas, bens) = (anna.conversation("anna-ben"), ben.conversation("anna-ben"))
        annas.conversation.send("Shall we see it?")
        try await wait("ben receives the message of anna") {
            bens.conversation.entries.map(\.text) == ["Shall we see it?"]
        }
        for client in [annas.client, bens.client] {
            client.stop()
            await client.flush()
        }

        let log = anna.log()
        try await log.record("viewed", ["rental": 7]).committed()
        await log.flush()
        try await wait("the server has the log of anna") { await log.currentState.sentCount == 1 }
        await log.close()

        guard let pictures = CommandLine.arguments.dropFirst(3).first else { return }
        try await ShopVisit.run(at: url, over: anna.network, flights, pictures: URL(filePath: pictures))
    }
}
