import Foundation
import HTTPTypes
import RunwayFormats
import RunwayJSON
import Testing

/// What one half writes, the other half reads as the same value.
struct FormatTests {
    private func json(_ bytes: [UInt8]) throws -> JSONValue { try JSONDocument(bytes).root }

    @Test func pageIsReadAsWritten() throws {
        let message = ChatMessage(
            conversation: "harbour-7", number: 3, sender: "ada", id: UUID(), text: "\"é\"", time: 1_790_000_000_123)
        var page = ChatPage(
            messages: [message], first: 1, last: 3, marks: [ChatMark(member: "bob", delivered: 2, read: 1)])
        page.epoch = "e1"
        page.presence = ChatPage.Presence(run: "r", members: ["ada"])
        #expect(try ChatPage(json(page.json)) == page)
        #expect(try ChatMessage(json(message.json(epoch: "e1"))) == message)
        #expect(try ChatMark(json(page.marks[0].json(in: "harbour-7"))) == page.marks[0])
        let event = PresenceEvent(member: "ada", isPresent: false, run: "r")
        #expect(try PresenceEvent(json(event.json)) == event)
    }

    @Test func pageBeforeTheLastMessageHasNoMarks() throws {
        let message = ChatMessage(conversation: "c", number: 1, sender: "ada", id: UUID(), text: "", time: 0)
        let page = ChatPage(messages: [message], first: 1, last: 2, marks: [ChatMark(member: "bob")])
        #expect(try json(page.json)["marks"].kind == .missing)
    }

    @Test func verdictsAreReadAsWritten() throws {
        var response = BatchResponse(stream: UUID(), number: 7)
        let ids = [UUID(), UUID(), UUID()]
        response.verdicts = [(ids[0], .stored), (ids[1], .duplicate), (ids[2], .refused("no"))]
        (response.wait, response.sampleRate) = (60, 0.5)
        let read = try #require(try BatchResponse(json(response.json)))
        #expect(read.stream == response.stream && read.number == 7 && read.expected == nil)
        #expect(read.verdicts.map(\.id) == ids)
        #expect(read.verdicts.map(\.verdict) == [.stored, .duplicate, .refused("no")])
        #expect(read.wait == 60 && read.sampleRate == 0.5)
        response.expected = 5
        #expect(try BatchResponse(json(response.json))?.expected == 5)
    }

    @Test func secretReadBackNamesItsInstallation() {
        #expect(ErasureRequest.secret(in: ErasureRequest.json(secret: "AAAA")) == "AAAA")
        // The vector of docs/formats.md: SHA-256 of 32 zero bytes.
        let digest: [UInt8] = [
            0x66, 0x68, 0x7a, 0xad, 0xf8, 0x62, 0xbd, 0x77, 0x6c, 0x8f, 0xc1, 0x8b, 0x8e, 0x9f, 0x8e, 0x20,
        ]
        let id = ErasureRequest.installation(ofDigest: digest)
        #expect(id.uuidString.lowercased() == "66687aad-f862-8d77-ac8f-c18b8e9f8e20")
    }

    @Test func eventOfTheStreamIsReadAsWritten() throws {
        let (from, to) = (EventID(epoch: "e", offset: 4), EventID(epoch: "e", offset: 9))
        let control = StreamControl(.gap, connection: "c", from: from, to: to, refusedTopics: ["b", "a"])
        let read = try #require(StreamControl(type: control.kind.rawValue, data: control.data))
        #expect(read.kind == .gap && read.connection == "c" && read.from == from && read.to == to)
        #expect(read.refusedTopics == ["a", "b"])
        #expect(StreamControl(type: "runway.other", data: "{}") == nil)
        #expect(StreamControl(type: "runway.live", data: "no JSON")?.kind == .live)
    }

    @Test func enrolmentIsReadAsWritten() throws {
        let read = try json(EnrolmentMember.json([.key: "k", .replacedProof: "q"]))
        #expect(read[.key].string == "k" && read[.replacedProof].string == "q")
        #expect(read[.replaces].kind == .missing)
    }

    @Test func itemIsReadAsWritten() throws {
        let fields: HTTPFields = [.accept: "text/plain", .cookie: "a=b"]
        for body in [[], Array("text".utf8), [0xFF, 0x00]] as [[UInt8]] {
            let bytes = EnvelopeItem.envelope("requests", of: [0]) { writer, _ in writer.item(fields, body) }
            let item = try json(bytes)["requests"][0]
            #expect(EnvelopeItem.headers(item) == fields && EnvelopeItem.body(item) == body)
        }
    }

    @Test(arguments: [nil, .v3, .v8] as [UploadVersion?])
    func completionIsReadAsWritten(_ version: UploadVersion?) {
        for isComplete in [true, false] {
            var fields: HTTPFields = [.uploadOffset: "12", .uploadLimit: "max-size=100, max-append-size=10"]
            fields.setComplete(isComplete, version)
            fields[.uploadDraftInteropVersion] = version.map { "\($0.rawValue)" }
            let (request, response) = (UploadFields(request: fields), UploadFields(response: fields))
            #expect(request.isComplete == isComplete && response.isComplete == isComplete)
            #expect(response.offset == 12 && response.maximumByteCount == 100 && response.maximumAppendByteCount == 10)
        }
    }

    @Test func reasonOfAProblemIsReadAsWritten() throws {
        let problem = Problem(type: Problem.Family.log.type("full"), "No space.", .serviceUnavailable)
        let read = try json(problem.json())
        #expect(Problem.Family.log.reason(of: read) == "full" && Problem.Family.chat.reason(of: read) == nil)
        #expect(read["status"].int == 503 && read["detail"].kind == .missing)
    }
}
