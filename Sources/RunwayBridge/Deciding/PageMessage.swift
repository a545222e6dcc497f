import RunwayJSON

/// One message of the relay of `runway.js`: a line with the header as JSON, and then the input of a call, unread.
struct PageMessage {
    enum Content {
        case opened
        case hidden
        case shown
        /// The user has pressed a key, or lifted a finger or the button of a mouse.
        case gesture
        case call(Call)
        case abort(id: Int)
        case acknowledge(id: Int)
        /// The relay has refused calls of the page without passing them to the app.
        case refused(BridgeError.Kind, command: String, count: Int)
    }

    struct Call {
        let id: Int
        let name: String
        /// The number of the newest gesture in the document; `nil` if it is older than 1 s.
        let gesture: Int?
        let input: [UInt8]
    }

    /// The random name that the relay has chosen for its document.
    let document: String
    let generation: Int
    let content: Content

    private static let refusals: [BridgeError.Kind] = [.malformed, .tooLarge, .busy]

    /// Returns `nil` if the text is nothing that the relay sends.
    init?(_ text: String) {
        let bytes = Array(text.utf8)
        let end = bytes.firstIndex(of: UInt8(ascii: "\n")) ?? bytes.endIndex
        guard let header = try? JSONDocument(Array(bytes[..<end]), limits: JSONLimits(maximumByteCount: 4096)).root,
            let document = header["document"].string, (1...64).contains(document.utf8.count),
            let generation = header["generation"].int, generation > 0
        else { return nil }
        self.document = document
        self.generation = generation
        let id = header["id"].int
        switch (header["type"].string, id) {
        case ("opened", _): content = .opened
        case ("hidden", _): content = .hidden
        case ("shown", _): content = .shown
        case ("gesture", _): content = .gesture
        case ("call", let id?):
            guard let name = header["name"].string, end < bytes.endIndex else { return nil }
            let age = header["age"].int ?? .max
            content = .call(
                Call(
                    id: id, name: name, gesture: (0...1000).contains(age) ? header["gesture"].int : nil,
                    input: Array(bytes[(end + 1)...])))
        case ("abort", let id?): content = .abort(id: id)
        case ("acknowledge", let id?): content = .acknowledge(id: id)
        case ("refused", _):
            guard let kind = Self.refusals.first(where: { header["kind"].isString($0.description) }),
                let count = header["count"].int, (1...1_000_000).contains(count)
            else { return nil }
            content = .refused(kind, command: header["name"].string ?? "", count: count)
        default: return nil
        }
    }
}

/// A reply to the relay. The shell passes its members as values to the function `runwayReply` of the context.
package struct PageReply: Sendable, Equatable {
    /// The kinds of replies. A part and a chunk of bytes are followed by others, and the other kinds end the call.
    package enum Kind: String, Sendable {
        case done, bytes, failed, part, chunk
    }

    /// The document and the generation that made the call. The relay of any other drops the reply.
    package let document: String
    /// See ``document``.
    package let generation: Int
    /// The id that the page chose for its call.
    package let id: Int
    /// How the relay treats the reply.
    package let kind: Kind
    /// The kind of the error; empty unless the call failed.
    package let errorKind: String
    /// JSON, the address of bytes, a chunk of them in base64, or the sentence of an error. An end without an address
    /// follows the chunks.
    package let text: String
}
