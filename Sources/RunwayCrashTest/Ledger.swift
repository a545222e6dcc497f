import Foundation
import HTTPTypes
import Hummingbird
import Synchronization

/// Executes the changes of clients, and writes down what it did.
///
/// A kill between an effect and the stored response has a change executed again: the server that has the effect
/// recognises its key, as any server has to whose effects and keys are not in one transaction. Several servers may
/// share the file.
final class Ledger: Sendable {
    /// What a change did.
    struct Effect: Sendable {
        var client: String
        /// The account that sent it; empty for nobody.
        var account: String
        var number: Int
        var key: String
    }

    /// A line of the file.
    enum Entry {
        /// The execution of a request with this key has begun.
        case begun(key: String)
        case effect(Effect)
        /// The response is stored, so that the key must never be executed again.
        case completed(key: String)

        /// Reads ``line``; `nil` for any other text.
        init?(_ line: Substring) {
            let words = line.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
            switch (words.first, words.count) {
            case ("begun", 2): self = .begun(key: words[1])
            case ("completed", 2): self = .completed(key: words[1])
            case ("effect", 5):
                guard let number = Int(words[3]) else { return nil }
                self = .effect(Effect(client: words[1], account: words[2], number: number, key: words[4]))
            default: return nil
            }
        }

        var line: String {
            switch self {
            case .begun(let key): "begun \(key)"
            case .effect(let effect): "effect \(effect.client) \(effect.account) \(effect.number) \(effect.key)"
            case .completed(let key): "completed \(key)"
            }
        }
    }

    private struct Change: Decodable {
        var client: String
        var number: Int
    }

    private struct State {
        /// The keys that had their effect.
        var keys: Set<String> = []
        /// How much of the file was read.
        var offset: UInt64 = 0
    }

    private let url: URL
    private let file: AppendedFile
    /// Guards what was read of the file.
    private let state = Mutex(State())

    init(_ url: URL) throws {
        self.url = url
        file = try AppendedFile(url)
    }

    /// Adds an effect, unless this or another server has it.
    private func add(_ effect: Effect) throws {
        try state.withLock { state in
            try file.locked {
                let reader = try FileHandle(forReadingFrom: url)
                defer { try? reader.close() }
                try reader.seek(toOffset: state.offset)
                let bytes = try reader.readToEnd() ?? Data()
                // Another server may be writing the last line.
                let lines = bytes[..<(bytes.lastIndex(of: 0x0A).map { $0 + 1 } ?? bytes.startIndex)]
                state.offset += UInt64(lines.count)
                for line in String(decoding: lines, as: UTF8.self).split(separator: "\n") {
                    if case .effect(let effect) = Entry(line) { state.keys.insert(effect.key) }
                }
                if state.keys.contains(effect.key) { return }
                try file.append(line: Entry.effect(effect).line)
            }
        }
    }

    /// Executes a change, below the middleware that reads its key.
    func execute(_ request: Request, _ context: some RequestContext) async throws -> Response {
        let (key, account) = (Self.key(of: request.headers), Self.account(of: request.headers) ?? "")
        try file.append(line: Entry.begun(key: key).line)
        let change = try await request.decode(as: Change.self, context: context)
        let effect = Effect(client: change.client, account: account, number: change.number, key: key)
        try add(effect)
        return Response(
            status: .ok, headers: [.contentType: "application/json"],
            body: ResponseBody(byteBuffer: ByteBuffer(string: "{}")))
    }

    /// The response is stored.
    func complete(_ fields: HTTPFields) throws {
        try file.append(line: Entry.completed(key: Self.key(of: fields)).line)
    }

    fileprivate static func key(of fields: HTTPFields) -> String {
        HTTPField.Name("Idempotency-Key").flatMap { fields[$0] }?.filter { $0 != "\"" } ?? ""
    }

    /// The account of a request, by its token.
    static func account(of fields: HTTPFields) -> String? {
        fields[.authorization].map { String($0.dropFirst("Bearer \(CrashToken.prefix)".count)) }
    }
}

/// Writes down which responses are stored. It is above the middleware that stores them.
struct CompletionMiddleware<Context: RequestContext>: RouterMiddleware {
    let ledger: Ledger

    func handle(
        _ request: Request, context: Context, next: @concurrent (Request, Context) async throws -> Response
    ) async throws -> Response {
        let response = try await next(request, context)
        let isReplayed = HTTPField.Name("Idempotency-Replayed").map { response.headers.contains($0) } ?? false
        if response.status == .ok, !isReplayed { try ledger.complete(request.headers) }
        return response
    }
}

/// Refuses some requests whose key it has seen before, as a gateway that knows no keys: a deployment, a lost role, a
/// body that is too large.
final class GatewayMiddleware<Context: RequestContext>: RouterMiddleware {
    /// Guards the keys that came.
    private let keys = Mutex<Set<String>>([])

    func handle(
        _ request: Request, context: Context, next: @concurrent (Request, Context) async throws -> Response
    ) async throws -> Response {
        let isKnown = keys.withLock { !$0.insert(Ledger.key(of: request.headers)).inserted }
        if isKnown, Int.random(in: 0..<5) == 0 {
            throw HTTPError([.badRequest, .forbidden, .notFound, .contentTooLarge].randomElement() ?? .forbidden)
        }
        return try await next(request, context)
    }
}
