public import Runway
import RunwayJSON

/// A reformer that a script may replace by the name of its type. ``ScriptRuntime/patchable(_:version:)`` creates it.
///
/// The script receives the name of the endpoint's type and the body of the response:
///
/// ```js
/// patch("PropertyListReformer", 1, (endpoint, body) => body.result.items.map(item => ({ title: item.name })))
/// ```
public struct PatchableReformer<Base: Reformer>: Reformer where Base.Value: Codable {
    let base: Base
    let slot: PatchSlot

    /// Calls the script that patches the reformer, or the reformer itself, also if the body is not JSON.
    ///
    /// - Throws: The reformer's error.
    public func reform(_ rawData: RawData, from endpoint: any Endpoint) throws -> Base.Value {
        if slot.isPatched, let value = patched(rawData, from: endpoint) { return value }
        return try base.reform(rawData, from: endpoint)
    }

    @inline(never)
    private func patched(_ rawData: RawData, from endpoint: any Endpoint) -> Base.Value? {
        guard let patch = slot.patch, rawData.json.exists else { return nil }
        let name = Array("\"\(type(of: endpoint))\"".utf8)
        return patch.output(Base.Value.self, of: { [name, Array(rawData.json.rawBytes)] })
    }
}

extension PatchableReformer: Sendable where Base: Sendable {}

extension ScriptRuntime {
    /// Returns a reformer that scripts may replace by the name of its type, such as `PropertyListReformer`.
    ///
    /// Use the returned reformer wherever it is needed: it is a programming error to open one name twice.
    ///
    /// - Parameters:
    ///   - reformer: The reformer of the app.
    ///   - version: The version of its input, its value and its meaning.
    public func patchable<Base: Reformer>(_ reformer: Base, version: Int) -> PatchableReformer<Base> {
        let slot = PatchSlot(name: "\(Base.self)", version: version)
        open(slot)
        return PatchableReformer(base: reformer, slot: slot)
    }
}
