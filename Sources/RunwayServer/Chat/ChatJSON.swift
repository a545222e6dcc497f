import Foundation
import RunwayJSON

/// The JSON that a chat sends; `docs/formats.md` lists the members.
enum ChatJSON {
    /// Returns the JSON of a message in events, with the name of the numbering if the store has one.
    static func text(_ message: StoredChatMessage, epoch: String?) -> String {
        text { $0.message(message, epoch: epoch) }
    }

    /// Returns the JSON of a mark in events.
    static func text(_ mark: StoredChatMark, in conversation: String) -> String {
        text { writer in
            writer.beginObject()
            writer.name("conversation")
            writer.string(conversation)
            writer.members(of: mark)
            writer.endObject()
        }
    }

    /// A page. The page that has the last message also has the marks and the present members.
    static func text(_ page: ChatPage, epoch: String?, present: (members: [String], run: String)?) -> String {
        text { writer in
            writer.beginObject()
            writer.epoch(epoch)
            writer.name("first")
            writer.integer(page.first)
            writer.name("last")
            writer.integer(page.last)
            writer.name("messages")
            writer.beginArray()
            for message in page.messages { writer.message(message) }
            writer.endArray()
            if page.reachesLast {
                writer.name("marks")
                writer.marks(page.marks)
                if let present {
                    writer.name("run")
                    writer.string(present.run)
                    writer.name("present")
                    writer.beginArray()
                    for member in present.members { writer.string(member) }
                    writer.endArray()
                }
            }
            writer.endObject()
        }
    }

    /// The members of a conversation.
    static func text(_ marks: [StoredChatMark]) -> String {
        text { writer in
            writer.beginObject()
            writer.name("members")
            writer.marks(marks)
            writer.endObject()
        }
    }

    private static func text(_ write: (inout JSONWriter) -> Void) -> String {
        var writer = JSONWriter()
        write(&writer)
        return String(decoding: writer.bytes, as: UTF8.self)
    }
}

extension ChatPage {
    /// Whether the page has the last message of the conversation.
    var reachesLast: Bool { (messages.last?.number ?? last) >= last }
}

extension JSONWriter {
    fileprivate mutating func epoch(_ epoch: String?) {
        guard let epoch else { return }
        name("epoch")
        string(epoch)
    }

    fileprivate mutating func message(_ message: StoredChatMessage, epoch: String? = nil) {
        beginObject()
        self.epoch(epoch)
        name("conversation")
        string(message.conversation)
        name("number")
        integer(message.number)
        name("sender")
        string(message.sender)
        name("id")
        string(message.id.uuidString.lowercased())
        name("text")
        string(message.text)
        name("time")
        integer(message.time)
        endObject()
    }

    fileprivate mutating func marks(_ marks: [StoredChatMark]) {
        beginArray()
        for mark in marks {
            beginObject()
            members(of: mark)
            endObject()
        }
        endArray()
    }

    fileprivate mutating func members(of mark: StoredChatMark) {
        name("member")
        string(mark.member)
        name("delivered")
        integer(mark.delivered)
        name("read")
        integer(mark.read)
    }
}
