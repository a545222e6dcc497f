import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import Synchronization

/// Runs the requests of an envelope through the app's own router, in this process.
struct EnvelopeRunner<Context: RequestContext>: Sendable {
    let rules: ItemRules
    let clock: any Clock<Duration>
    let itemContext: @Sendable (Context, MergedItem) throws -> Context

    private var limits: MergingLimits { rules.limits }

    /// Answers an envelope.
    func answer(_ request: Request, _ context: Context, with responder: RouterResponder<Context>) async -> Response {
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
                buffer = try await request.body.collect(upTo: limits.maximumRequestByteCount)
            } catch is NIOTooManyBytesError {
                throw tooLarge
            }
            let envelope = try EnvelopeRequest(Array(buffer.readableBytesView), in: request.head, checking: rules)
            let answers = await run(envelope.items, context, with: responder)
            return Self.json(EnvelopeResponse.body(of: answers), status: .ok)
        } catch let refusal as EnvelopeRequest.Refusal {
            return Self.json(EnvelopeResponse.errorBody(refusal.message), status: refusal.status)
        } catch {
            return Self.json(EnvelopeResponse.errorBody("The envelope could not be received."), status: .badRequest)
        }
    }

    /// Runs a few requests at once, until all have a response or their time is over.
    private func run(
        _ items: [EnvelopeRequest.Item], _ context: Context, with responder: RouterResponder<Context>
    ) async -> [(id: String, answer: MergedResponse)] {
        var answers: [(id: String, answer: MergedResponse)] = items.map { item in
            switch item {
            case .run(let item): (item.id, .tooSlow)
            case .refuse(let id, let answer): (id, answer)
            }
        }
        let budget = ByteBudget(limits.maximumTotalResponseByteCount)
        await withTaskGroup(of: (index: Int, answer: MergedResponse)?.self) { group in
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
                group.addTask { (index, await answer(to: item, context, with: responder, within: budget)) }
            }
            for _ in 0..<max(1, limits.maximumConcurrentItems) { startNext() }
            while runningCount > 0, let result = await group.next() {
                // The time of all is over, or the client is gone.
                guard let (index, answer) = result else { break }
                answers[index].answer = answer
                runningCount -= 1
                startNext()
            }
            // Requests that still run are cancelled, and not waited for.
            group.cancelAll()
        }
        return answers
    }

    /// The response to one request, in time: a handler that does not listen to its cancellation is left behind.
    private func answer(
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
        // A copy has what was found out about the envelope, such as whose it is, but must not share what the router writes down.
        var context = outer
        context.coreContext = CoreRequestContextStorage(source: outer)
        context.logger[metadataKey: "runway.item"] = "\(item.position)"
        let request = Request(head: item.head, body: RequestBody(buffer: ByteBuffer(bytes: item.body)))
        do {
            context = try itemContext(context, item)
            let response = try await responder.respond(to: request, context: context)
            return try await answer(response, to: item, within: budget)
        } catch let error as any HTTPResponseError {
            if let response = try? error.response(from: request, context: context),
                let answer = try? await answer(response, to: item, within: budget)
            {
                return answer
            }
            return MergedResponse(status: error.status)
        } catch is GatheredBody.TooLarge {
            return MergedResponse(refusal: .internalServerError, "The response is too large to be merged.")
        } catch {
            context.logger.debug("a merged request failed", metadata: ["error": "\(type(of: error))"])
            return MergedResponse(refusal: .internalServerError, "The request failed.")
        }
    }

    private func answer(
        _ response: Response, to item: MergedItem, within budget: ByteBudget
    ) async throws -> MergedResponse {
        // A response that only prepares for another has no meaning in an envelope.
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

/// Lets the first of several answers count.
private final class FirstResponse: Sendable {
    private struct State {
        var answer: MergedResponse?
        var continuation: CheckedContinuation<MergedResponse, Never>?
    }

    /// Guards the response and who waits for it.
    private let state = Mutex(State())

    func value() async -> MergedResponse {
        await withCheckedContinuation { continuation in
            let answer = state.withLock { state in
                if state.answer == nil { state.continuation = continuation }
                return state.answer
            }
            if let answer { continuation.resume(returning: answer) }
        }
    }

    func settle(_ answer: MergedResponse) {
        let continuation = state.withLock { state in
            guard state.answer == nil else { return nil as CheckedContinuation<MergedResponse, Never>? }
            state.answer = answer
            defer { state.continuation = nil }
            return state.continuation
        }
        continuation?.resume(returning: answer)
    }
}
