public import Runway
import RunwayJSON

/// A reformer that a script may replace by the name of its type. ``ScriptRuntime/patchable(_:version:)`` creates it.
///
/// The script receives the name of the endpoint's type and the body of the response:
///
/// ```js
/// patch("PropertyListReformer", 1, (endpoint, body) => body.result.items.map(item => ({ title: item.name })))
/// ```
public struct PatchableReformer<Base: Reformer & Sendable>: Reformer, Sendable
where Base.Value: Codable & SendableMetatype {
    let base: Base
    let slot: PatchSlot

    /// Calls the script that patches the reformer. Calls the reformer itself if there is none, if it fails, or if the
    /// body is not JSON.
    ///
    /// - Throws: The reformer's error.
    public func reform(_ rawData: RawData, from endpoint: any Endpoint) throws -> Base.Value {
        // Scripts and recorders have no bodies of another kind.
        if slot.isDirect || !rawData.json.exists { return try base.reform(rawData, from: endpoint) }
        return try slot.call({ [Array("\"\(type(of: endpoint))\"".utf8), Array(rawData.json.rawBytes)] }) {
            try base.reform(rawData, from: endpoint)
        }
    }
}

extension ScriptRuntime {
    /// Returns a reformer that scripts may replace by the name of its type, such as `PropertyListReformer`.
    ///
    /// Use the returned reformer wherever it is needed: it is a programming error to open one name twice.
    ///
    /// - Parameters:
    ///   - reformer: The reformer of the app.
    ///   - version: The version of its input, its value and its meaning.
    public func patchable<Base>(_ reformer: Base, version: Int) -> PatchableReformer<Base> {
        let function = NativeFunction(Base.Value.self) { arguments, endpoints in
            guard arguments.count == 2, let name = try JSONDocument(arguments[0]).root.string,
                let endpoint = endpoints.first(where: { "\(type(of: $0))" == name })
            else { return nil }
            return { try reformer.reform(RawData(arguments[1]), from: endpoint) }
        }
        let slot = PatchSlot(name: "\(Base.self)", version: version, isReformer: true, native: function)
        open(slot)
        return PatchableReformer(base: reformer, slot: slot)
    }
}
