import Foundation
import HTTPTypes
public import Hummingbird
import NIOCore
import RunwayFormats
import RunwayJSON

/// Serves the conversations of a ``ChatService``; the format is in `docs/formats.md`.
///
/// ```swift
/// ChatRoutes(chat) { request, context, conversation in
///     guard let account = context.account else { throw HTTPError(.unauthorized) }
///     guard account.conversations.contains(conversation) else { throw HTTPError(.notFound) }
///     return account.id
/// }.add(to: router)
/// ```
///
/// | request | effect |
/// |---|---|
/// | `POST {conversation}/messages` | stores a message; 201, or 200 if it had been stored before |
/// | `GET {conversation}/messages` | at most `limit` messages: the last, or those `after` or `before` a number |
/// | `POST {conversation}/marks` | moves the mark of the member |
/// | `GET {conversation}/members` | the marks of the members |
///
/// Clients receive new messages over the event stream of the hub. The route of this stream asks the app separately
/// which topics a client may follow.
///
/// A refusal is a ``ChatProblem``, or the error that the closure throws. An `HTTPError` with status 401, 403 or 404 and
/// without a message becomes a ``ChatProblem``.
public struct ChatRoutes<Context: RequestContext>: Sendable {
    /// Returns the member who sends a request, if the member may use the conversation.
    ///
    /// It throws `HTTPError(.notFound)` both for a forbidden conversation and for one that does not exist, so that
    /// nobody learns which conversations exist. It is called before the body of a request is read, and again
    /// afterwards, since the member may have been removed in between.
    public typealias Authorization = @Sendable (Request, Context, _ conversation: String) async throws -> String

    private let service: ChatService
    private let authorize: Authorization

    /// Creates routes for a service.
    ///
    /// - Parameters:
    ///   - service: The service that handles the requests.
    ///   - authorize: Returns the member who sends a request, or throws.
    public init(_ service: ChatService, authorize: @escaping Authorization) {
        (self.service, self.authorize) = (service, authorize)
    }

    /// Adds the routes to a router or a router group.
    ///
    /// - Parameters:
    ///   - router: The router or group.
    ///   - path: The path below the group's. The default is `chat`.
    public func add(to router: some RouterMethods<Context>, path: RouterPath = "chat") {
        router.post("\(path)/:conversation/messages") { request, context in
            // JSON may encode one byte of text as an escape of six bytes.
            let maximumByteCount = 6 * service.limits.maximumTextByteCount + 1024
            return try await respond(request, context, upTo: maximumByteCount) { try await send($0, $1, as: $2) }
        }
        router.get("\(path)/:conversation/messages") { request, context in
            try await respond(request, context) { try await page(request, $0) }
        }
        router.post("\(path)/:conversation/marks") { request, context in
            try await respond(request, context, upTo: 1024) { try await mark($0, $1, as: $2) }
        }
        router.get("\(path)/:conversation/members") { request, context in
            try await respond(request, context) { conversation in
                let page = try await service.page(of: conversation, .latest, upTo: 1)
                return Response(json: ChatMark.json(page.marks))
            }
        }
    }

    /// Authorizes a request without a body, and creates its response.
    private func respond(
        _ request: Request, _ context: Context, _ response: (_ conversation: String) async throws -> Response
    ) async throws -> Response {
        let (conversation, _) = try await authorized(request, context)
        return try await hidingStoreErrors { try await response(conversation) }
    }

    /// Authorizes a request with a body, and creates its response.
    private func respond(
        _ request: Request, _ context: Context, upTo maximumByteCount: Int,
        _ response: (_ json: JSONValue, _ conversation: String, _ member: String) async throws -> Response
    ) async throws -> Response {
        // The first check refuses a request without reading its body.
        _ = try await authorized(request, context)
        let json = try await body(of: request, upTo: maximumByteCount)
        // The second check is needed because the permission may change while a slow body arrives.
        let (conversation, member) = try await authorized(request, context)
        return try await hidingStoreErrors { try await response(json, conversation, member) }
    }

    private func authorized(
        _ request: Request, _ context: Context
    ) async throws -> (conversation: String, member: String) {
        let conversation = try context.parameters.require("conversation")
        guard ChatService.isConversation(conversation) else { throw ChatProblem(.conversation) }
        do {
            return (conversation, try await authorize(request, context, conversation))
        } catch let error as HTTPError {
            throw ChatProblem(refusal: error) ?? error as any Error
        }
    }

    /// Responds with 503 if the store throws an error, without showing the error's text.
    private func hidingStoreErrors(_ response: () async throws -> Response) async throws -> Response {
        do { return try await response() } catch {
            if error is any HTTPResponseError || error is CancellationError { throw error }
            throw ChatProblem(.store)
        }
    }

    private func send(_ json: JSONValue, _ conversation: String, as member: String) async throws -> Response {
        guard let id = json["id"].string.flatMap({ UUID(uuidString: $0) }) else {
            throw ChatProblem(.malformed, "The body has no `id` that is a UUID.")
        }
        guard let text = json["text"].string else { throw ChatProblem(.malformed, "The body has no `text`.") }
        let submission = ChatSubmission(conversation: conversation, sender: member, id: id, text: text)
        let (message, isNew) = try await service.send(submission)
        return Response(json: message.json(epoch: try await service.epoch()), status: isNew ? .created : .ok)
    }

    private func page(_ request: Request, _ conversation: String) async throws -> Response {
        func number(_ name: Substring) throws -> Int64? {
            guard let text = request.uri.queryParameters[name] else { return nil }
            guard let number = Int64(text), ChatMessage.numbers.contains(number) else {
                throw ChatProblem(.malformed, "The parameter `\(name)` is not a whole number from 0 to 2^53.")
            }
            return number
        }
        let (after, before) = (try number("after"), try number("before"))
        guard after == nil || before == nil else {
            throw ChatProblem(.malformed, "There are both the parameters `after` and `before`.")
        }
        let range = after.map { ChatRange.after($0) } ?? before.map { .before($0) } ?? .latest
        let count = Int(clamping: try number("limit") ?? 50)
        var page = try await service.page(of: conversation, range, upTo: count)
        page.presence = await page.reachesLast ? service.present(in: conversation) : nil
        page.epoch = try await service.epoch()
        return Response(json: page.json)
    }

    private func mark(_ json: JSONValue, _ conversation: String, as member: String) async throws -> Response {
        guard let delivered = json["delivered"].int64, let read = json["read"].int64 else {
            throw ChatProblem(.malformed, ChatService.invalidMark)
        }
        let mark = ChatMark(member: member, delivered: delivered, read: read)
        return Response(json: try await service.mark(mark, in: conversation).json(in: conversation))
    }

    private func body(of request: Request, upTo byteCount: Int) async throws -> JSONValue {
        do {
            let body = try await BodyCollector.shared.collect(request.body, upTo: byteCount)
            return try JSONDocument(Array(body.readableBytesView)).root
        } catch is NIOTooManyBytesError {
            throw ChatProblem(.tooLarge, "The body has more than \(byteCount) bytes.")
        } catch is JSONError {
            throw ChatProblem(.malformed, "The body is not JSON.")
        }
    }
}
