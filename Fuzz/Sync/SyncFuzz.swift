// libFuzzer's target for the messages of the synchronisation.

import RunwaySyncCore

/// Reads bytes as every message and stored value. If one is valid, it must read as it was written.
@_cdecl("LLVMFuzzerTestOneInput")
public func readAnyMessage(_ data: UnsafePointer<UInt8>, _ size: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: data, count: size))
    check(bytes, as: Packet.self)
    check(bytes, as: SnapshotRequest.self)
    check(bytes, as: LogPage.self)
    check(bytes, as: SnapshotPage.self)
    check(bytes, as: Outgoing.self)
    check(bytes, as: DeviceState.self)
    check(bytes, as: DeviceRecord.self)
    check(bytes, as: History.self)
    check(bytes, as: Row.self)
    check(bytes, as: SyncValue.self)
    let id = Identifier(high: 1, low: 1)
    let request = SyncRequest.pull(PullRequest(device: id, cursor: .none, offset: 0))
    for status in [200, 403, 409, 410, 413, 422, 426, 429, 503] {
        guard let response = try? SyncResponse(WireResponse(status: status, body: bytes), to: request) else { continue }
        let again = try? SyncResponse(response.wire, to: request)
        precondition(again == response, "a response reads otherwise")
    }
    handle(bytes)
    return 0
}

private func check<Value: WireCodable & Equatable>(_ bytes: [UInt8], as type: Value.Type) {
    guard let value = try? Value(encoded: bytes) else { return }
    let again = try? Value(encoded: value.encoded())
    precondition(again == value, "a value reads otherwise")
}

/// Lets an empty space handle a valid packet, which no one made for it.
private func handle(_ bytes: [UInt8]) {
    guard let packet = try? Packet(encoded: bytes) else { return }
    var tables = SpaceWork(History(epoch: Identifier(high: 1, low: 1)))
    _ = try? SpaceServer(ConflictPolicies()).handle(.push(packet), at: 1_727_740_800_000, in: &tables)
    _ = packet.isValid
}
