import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import Synchronization

/// Runs the requests of an envelope through the app's router, in the same process.
struct EnvelopeRunner<Context: RequestContext>: Sendable {
    let rules: ItemRules
    let clock: any Clock<Duration>
    let itemContext: @Sendable (Context, MergedItem) throws -> Context

    private var limits: MergingLimits { rules.limits }

    func respond(_ request: Request, _ context: Context, with responder: RouterResponder<Context>) async -> Response {
        do {
            guard Self.isJSON(request.headers[.contentType]) else {
                throw EnvelopeRequest.Refusal(
                    status: .unsupportedMediaType, message: "Merged requests are of the type application/json.")
            }
            let tooLarge = EnvelopeRequest.Refusal(
                status: .contentTooLarge,
                message: "The envelope has more than \(limits.maximumRequestByteCount) bytes.")
            if let length = request.headers[.contentLength].flatMap({ Int($0) }),
                length > limits.maximumRequestByteCount
            {
                throw tooLarge
            }
            let buffer: ByteBuffer
            do {
                buffer = try await BodyCollector.shared.collect(request.body, upTo: limits.maximumRequestByteCount)
            } catch is NIOTooManyBytesError {
                throw tooLarge
            } catch let refusal as BodyRefusal {
                throw EnvelopeRequest.Refusal(status: refusal.status, message: "The envelope could not be received.")
            }
            let envelope = try EnvelopeRequest(Array(buffer.readableBytesView), in: request.head, checking: rules)
            let responses = await run(envelope.items, context, with: responder)
            return Self.json(EnvelopeResponse.body(of: responses), status: .ok)
        } catch let refusal as EnvelopeRequest.Refusal {
            return Self.json(EnvelopeResponse.errorBody(refusal.message), status: refusal.status)
        } catch {
            return Self.json(EnvelopeResponse.errorBody("The envelope could not be received."), status: .badRequest)
        }
    }

    /// Runs a limited number of requests concurrently, until all have a response or the total time has passed.
    private func run(
        _ items: [EnvelopeRequest.Item], _ context: Context, with responder: RouterResponder<Context>
    ) async -> [(id: String, response: MergedResponse)] {
        var responses: [(id: String, response: MergedResponse)] = items.map { item in
            switch item {
            case .run(let item): (item.id, .tooSlow)
            case .refuse(let id, let response): (id, response)
            }
        }
        let budget = ByteBudget(limits.maximumTotalResponseByteCount)
        await withTaskGroup(of: (index: Int, response: MergedResponse)?.self) { group in
            let (clock, totalTime) = (clock, limits.totalTime)
            group.addTask {
                try? await clock.sleep(for: totalTime)
                return nil
            }
            var waiting = items.enumerated().compactMap { index, item in
                if case .run(let item) = item { (index: index, item: item) } else { nil }
            }[...]
            var runningCount = 0
            func startNext() {
                guard let (index, item) = waiting.popFirst() else { return }
                runningCount += 1
                group.addTask { (index, await timedResponse(to: item, context, with: responder, within: budget)) }
            }
            for _ in 0..<max(1, limits.maximumConcurrentItems) { startNext() }
            while runningCount > 0, let result = await group.next() {
                // `nil` means that the total time has passed or the client has disconnected.
                guard let (index, response) = result else { break }
                responses[index].response = response
                runningCount -= 1
                startNext()
            }
            // Cancels the running requests without waiting for them.
            group.cancelAll()
        }
        return responses
    }

    /// Returns the response to one request within the time limit. A handler that ignores cancellation is abandoned.
    private func timedResponse(
        to item: MergedItem, _ context: Context, with responder: RouterResponder<Context>, within budget: ByteBudget
    ) async -> MergedResponse {
        let first = FirstResponse()
        let work = Task {
            first.settle(await respond(to: item, context, with: responder, within: budget))
        }
        let timer = Task { [clock, limits] in
            if (try? await clock.sleep(for: limits.timePerItem)) != nil { first.settle(.tooSlow) }
        }
        defer {
            work.cancel()
            timer.cancel()
        }
        return await withTaskCancellationHandler {
            await first.value()
        } onCancel: {
            first.settle(.tooSlow)
        }
    }

    private func respond(
        to item: MergedItem, _ outer: Context, with responder: RouterResponder<Context>, within budget: ByteBudget
    ) async -> MergedResponse {
        // The copy has the values that middleware stored for the envelope, such as its user, but must not share the
        // router's state.
        var context = outer
        context.coreContext = CoreRequestContextStorage(source: outer)
        context.logger[metadataKey: "runway.item"] = "\(item.position)"
        let request = Request(head: item.head, body: RequestBody(buffer: ByteBuffer(bytes: item.body)))
        do {
            context = try itemContext(context, item)
            let response = try await responder.respond(to: request, context: context)
            return try await respond(response, to: item, within: budget)
        } catch let error as any HTTPResponseError {
            if let response = try? error.response(from: request, context: context),
                let shortened = try? await respond(response, to: item, within: budget)
            {
                return shortened
            }
            return MergedResponse(status: error.status)
        } catch is GatheredBody.TooLarge {
            return MergedResponse(refusal: .internalServerError, "The response is too large to be merged.")
        } catch {
            context.logger.debug("a merged request failed", metadata: ["error": "\(type(of: error))"])
            return MergedResponse(refusal: .internalServerError, "The request failed.")
        }
    }

    private func respond(
        _ response: Response, to item: MergedItem, within budget: ByteBudget
    ) async throws -> MergedResponse {
        // A 1xx response makes no sense in an envelope.
        guard response.status.code >= 200 else {
            return MergedResponse(refusal: .internalServerError, "The response can't be put into an envelope.")
        }
        guard item.head.method != .head else {
            return MergedResponse(status: response.status, headers: response.headers)
        }
        let body = GatheredBody(upTo: limits.maximumResponseByteCount, within: budget)
        try await body.gather(response.body)
        return MergedResponse(status: response.status, headers: response.headers, body: body.bytes)
    }

    private static func isJSON(_ contentType: String?) -> Bool {
        let essence = contentType?.prefix { $0 != ";" && $0 != " " && $0 != "\t" }.lowercased()
        return essence == "application/json"
    }

    private static func json(_ bytes: [UInt8], status: HTTPResponse.Status) -> Response {
        Response(
            status: status,
            headers: [.contentType: "application/json; charset=utf-8", .cacheControl: "no-store"],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: bytes)))
    }
}

extension MergedResponse {
    fileprivate static var tooSlow: MergedResponse {
        MergedResponse(refusal: .gatewayTimeout, "The request took longer than merged requests may.")
    }
}

/// Holds the first of several responses.
private final class FirstResponse: Sendable {
    private struct State {
        var response: MergedResponse?
        var continuation: CheckedContinuation<MergedResponse, Never>?
    }

    /// Guards the response and the waiting continuation.
    private let state = Mutex(State())

    func value() async -> MergedResponse {
        await withCheckedContinuation { continuation in
            let response = state.withLock { state in
                if state.response == nil { state.continuation = continuation }
                return state.response
            }
            if let response { continuation.resume(returning: response) }
        }
    }

    func settle(_ response: MergedResponse) {
        let continuation = state.withLock { state in
            guard state.response == nil else { return nil as CheckedContinuation<MergedResponse, Never>? }
            state.response = response
            defer { state.continuation = nil }
            return state.continuation
        }
        continuation?.resume(returning: response)
    }
}
