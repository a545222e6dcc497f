import Foundation
import HTTPTypes
import Hummingbird
import Synchronization

/// Executes the changes of clients, and writes their effects to a file. Several servers may share the file.
///
/// If a server is killed after an effect and before it has stored the response, the change is executed again. The
/// ledger then recognises the key of the change. Every server whose effects and keys are not stored in one transaction
/// has to do the same.
final class Ledger: Sendable {
    struct Effect: Sendable {
        var client: String
        /// The account that sent the change; empty if nobody was signed in.
        var account: String
        var number: Int
        var key: String
    }

    enum Entry {
        /// A request with this key is being executed.
        case begun(key: String)
        case effect(Effect)
        /// The response is stored, so a request with this key must never be executed again.
        case completed(key: String)

        /// Parses a ``line``. Returns `nil` for any other text.
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
        var keys: Set<String> = []
        /// The number of bytes read so far.
        var offset: UInt64 = 0
    }

    private let url: URL
    private let file: AppendedFile
    /// Guards the part of the file that was read.
    private let state = Mutex(State())

    init(_ url: URL) throws {
        self.url = url
        file = try AppendedFile(url)
    }

    /// Adds an effect if neither this server nor another one has added it.
    private func add(_ effect: Effect) throws {
        try state.withLock { state in
            try file.locked {
                let reader = try FileHandle(forReadingFrom: url)
                defer { try? reader.close() }
                try reader.seek(toOffset: state.offset)
                let bytes = try reader.readToEnd() ?? Data()
                // The last line may be incomplete, since another server may be writing it.
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

    /// Executes a change. The idempotency middleware runs before it.
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

    func complete(_ fields: HTTPFields) throws {
        try file.append(line: Entry.completed(key: Self.key(of: fields)).line)
    }

    fileprivate static func key(of fields: HTTPFields) -> String {
        HTTPField.Name("Idempotency-Key").flatMap { fields[$0] }?.filter { $0 != "\"" } ?? ""
    }

    static func account(of fields: HTTPFields) -> String? {
        fields[.authorization].map { String($0.dropFirst("Bearer \(CrashToken.prefix)".count)) }
    }
}

/// Records which responses were stored. It encloses the middleware that stores them.
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

/// Refuses some requests that repeat an idempotency key. It simulates a gateway that does not support idempotency keys,
/// and that refuses a request because of a deployment, a revoked role, or a body that is too large.
final class GatewayMiddleware<Context: RequestContext>: RouterMiddleware {
    /// Guards the received keys.
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
