import HTTPTypes
import Synchronization

struct HTTPCacheTarget {
    /// The responses, oldest first.
    var responses: [HTTPStoredResponse] = []
    /// A number that changes whenever the responses change.
    fileprivate(set) var version: UInt64 = 0

    var byteCount: Int { responses.reduce(0) { $0 + $1.byteCount } }
}

/// Responses stored under their target by the rules of HTTP caching (RFC 9111), as in a private cache.
extension ResponseCache {
    /// Returns the responses of a target for the user that the partition identifies, and a snapshot. The call later
    /// checks with the snapshot whether the responses have changed.
    func responses(
        of uri: HTTPCacheURI, for partition: CachePartition
    ) -> (responses: [HTTPStoredResponse], snapshot: Snapshot) {
        let (target, changes) = state.withLock { ($0.targets.value(for: uri), $0.targets.changeCount) }
        let snapshot = Snapshot.target(uri, version: target?.version ?? 0, changes: changes)
        return (target?.responses.filter { $0.partition == partition } ?? [], snapshot)
    }

    /// Stores a response in place of older ones that match the same request.
    ///
    /// If the response must not be stored, the older ones are removed nevertheless. A caller that received this
    /// response must not receive an older one later.
    ///
    /// - Parameter start: The value of ``lastSequenceNumber`` when the call started.
    /// - Returns: `false` if a newer response is stored, if the call started before a clear, or if the request was sent
    ///   before a change of the target.
    @discardableResult
    func store(_ response: HTTPStoredResponse, of uri: HTTPCacheURI, from start: UInt64) -> Bool {
        defer { startWriteBehind() }
        return state.withLock { state in
            // Even if the response is not stored, the tier must afterwards contain the same responses as memory.
            defer { writeThrough(uri, response.partition, &state) }
            guard
                state.generations.allows(uri, in: response.partition, response.sequenceNumber, from: start)
            else {
                state.supersede(
                    uri, in: response.partition, response.method, response.requestFields,
                    before: response.sequenceNumber)
                return false
            }
            var responses = state.targets.peek(uri)?.responses ?? []
            guard
                let merged = HTTPStoredResponseMerging.merged(
                    response, into: responses, upTo: limits.maximumHTTPBodyByteCount)
            else { return false }
            responses = merged
            // The endpoint of the newest part decides where a combined response is stored.
            responses[responses.endIndex - 1].isOnDisk = response.isOnDisk
            responses[responses.endIndex - 1].kind = response.kind
            let maximumByteCount = state.targets.maximumByteCount(of: response.kind)
            while responses.count > limits.maximumHTTPVariants
                || responses.count > 1
                    && responses.reduce(0, { $0 + $1.byteCount }) > maximumByteCount
            {
                responses.removeFirst()
            }
            state.update(uri, responses)
            return true
        }
    }

    /// Removes the responses that an unstored response supersedes. Older responses that are still in flight are refused
    /// later.
    func supersede(
        _ uri: HTTPCacheURI, in partition: CachePartition, matching request: HTTPRequest, before sequenceNumber: UInt64
    ) {
        state.withLock { state in
            state.supersede(uri, in: partition, request.method, request.headerFields, before: sequenceNumber)
            writeThrough(uri, partition, &state)
        }
        startWriteBehind()
    }

    /// Requires responses to be validated before they are used again.
    func requireValidation(of sequenceNumbers: [UInt64], of uri: HTTPCacheURI, in partition: CachePartition) {
        state.withLock { state in
            guard var responses = state.targets.peek(uri)?.responses else { return }
            for index in responses.indices
            where responses[index].partition == partition
                && sequenceNumbers.contains(responses[index].sequenceNumber)
            {
                responses[index].isInvalidated = true
            }
            state.update(uri, responses)
            writeThrough(uri, partition, &state)
        }
        startWriteBehind()
    }

    /// Removes all responses of changed targets, for every account. Responses whose requests are in flight are refused,
    /// and no later call joins these requests (RFC 9111 §4.4).
    ///
    /// - Returns: The number of stored responses that were removed.
    @discardableResult
    func invalidate(_ uris: Set<HTTPCacheURI>) -> Int {
        defer { startWriteBehind() }
        return state.withLock { state in
            reads.close { uris.contains(HTTPCacheURI($0.head)) }
            return uris.reduce(0) { $0 + invalidate($1, &state) }
        }
    }

    /// Removes all responses of a target, because a caller rejected one of them.
    func reject(_ uri: HTTPCacheURI) {
        state.withLock { state in _ = invalidate(uri, &state) }
        startWriteBehind()
    }

    private func invalidate(_ uri: HTTPCacheURI, _ state: inout State) -> Int {
        if tier != nil { state.writeBehind.add(.removeTarget(uri)) }
        return state.invalidate(uri, at: nextSequenceNumber())
    }
}

extension ResponseCache.State {
    mutating func update(_ uri: HTTPCacheURI, _ responses: [HTTPStoredResponse]) {
        targetChangeCount += 1
        if responses.isEmpty {
            targets.remove(uri)
        } else {
            let target = HTTPCacheTarget(responses: responses, version: targetChangeCount)
            // The newest response decides which budget its target uses.
            targets.insert(
                target, for: uri, of: responses.last?.kind ?? .standard,
                byteCount: target.byteCount + uri.text.utf8.count)
        }
    }

    /// Removes the matching responses of a target.
    mutating func remove(from uri: HTTPCacheURI, where shouldRemove: (HTTPStoredResponse) -> Bool) {
        guard var responses = targets.peek(uri)?.responses, responses.contains(where: shouldRemove) else { return }
        responses.removeAll(where: shouldRemove)
        update(uri, responses)
    }

    fileprivate mutating func invalidate(_ uri: HTTPCacheURI, at sequenceNumber: UInt64) -> Int {
        generations.change(uri, at: sequenceNumber)
        return targets.remove(uri)?.responses.count ?? 0
    }

    fileprivate mutating func supersede(
        _ uri: HTTPCacheURI, in partition: CachePartition, _ method: HTTPRequest.Method, _ fields: HTTPFields,
        before sequenceNumber: UInt64
    ) {
        generations.change(uri, at: max(sequenceNumber, 1) - 1)
        remove(from: uri) {
            $0.partition == partition && $0.sequenceNumber < sequenceNumber && $0.method == method
                && $0.vary.matches(fields)
        }
    }
}
