import Synchronization

/// The disk tier for responses stored by the rules of HTTP caching. For each target and each user, the tier contains
/// the responses that memory contained last. Responses in memory are therefore never older than responses in the tier.
extension ResponseCache {
    /// Loads the responses of a target for one user from the disk tier into memory, unless the target has changed since
    /// the call started.
    func load(_ uri: HTTPCacheURI, _ partition: CachePartition, in flight: Flight) async {
        let responses: [HTTPStoredResponse]
        switch await findOnDisk(.target(uri, partition), in: flight) {
        case .nothing: return
        case .failed(let detail): return flight.note(CacheDecision.tierFailed(detail))
        case .timedOut: return flight.note(CacheDecision.tierTimedOut)
        case .pending(.call): preconditionFailure("a target's key has a target's responses")
        case .pending(.target(_, _, let pending)): responses = pending
        case .found(let entry):
            let reading = TargetRecord.Reading(
                partition: partition, launch: launch, now: clock.now, date: clock.date)
            guard let read = TargetRecord.responses(of: entry, reading) else {
                return flight.note(CacheDecision.tierFailed("its entry is malformed"))
            }
            responses = read.map { response in
                var response = response
                response.kind = flight.endpoint.cacheKind
                return response
            }
        }
        state.withLock { state in
            let start = flight.reading.start
            let others = state.targets.peek(uri)?.responses ?? []
            guard state.generations.allows(uri, in: partition, start, from: start),
                !others.contains(where: { $0.partition == partition })
            else { return }
            state.update(uri, others.suffix(max(0, limits.maximumHTTPVariants - responses.count)) + responses)
        }
    }

    /// Copies the responses of a target for one user from memory to the disk tier. If memory contains none, removes the
    /// responses in the tier.
    func writeThrough(_ uri: HTTPCacheURI, _ partition: CachePartition, _ state: inout State) {
        guard tier != nil, partition.isPersistable else { return }
        let responses = (state.targets.peek(uri)?.responses ?? []).filter {
            $0.partition == partition && $0.isOnDisk && TargetRecord.canHold($0)
        }
        if responses.isEmpty {
            state.writeBehind.add(.remove(.target(uri, partition)))
        } else {
            state.writeBehind.add(.store(.target(uri, partition, responses)))
        }
    }
}
