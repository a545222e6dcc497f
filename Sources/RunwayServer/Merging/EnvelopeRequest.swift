import HTTPTypes
import RunwayFormats
import RunwayJSON

/// An envelope of merged requests, parsed and validated: `{"requests":[{"id","method","path","headers","body"}]}`.
///
/// An invalid envelope is refused before any of its requests runs. An invalid request in a valid envelope does not
/// affect the other requests.
struct EnvelopeRequest {
    struct Refusal: Error {
        let status: HTTPResponse.Status
        let message: String
    }

    /// A request to run, or the response that refuses it.
    enum Item {
        case run(MergedItem)
        case refuse(id: String, MergedResponse)
    }

    let items: [Item]

    private static let maximumIDByteCount = 128

    /// Parses an envelope.
    ///
    /// - Throws: ``Refusal``, with status 400 for an invalid envelope and 413 for too many requests.
    init(_ bytes: [UInt8], in outer: HTTPRequest, checking rules: ItemRules) throws(Refusal) {
        let root: JSONValue
        do {
            let limits = JSONLimits(
                maximumByteCount: bytes.count, maximumDepth: 32, maximumValueCount: EnvelopeItem.maximumValueCount)
            root = try JSONDocument(bytes, limits: limits).root
        } catch {
            throw Refusal(status: .badRequest, message: "The envelope can't be read: \(error)")
        }
        guard root["requests"].kind == .array else {
            throw Refusal(status: .badRequest, message: "The envelope has no array \"requests\".")
        }
        let maximumItems = max(1, rules.limits.maximumItems)
        guard root["requests"].count <= maximumItems else {
            throw Refusal(
                status: .contentTooLarge, message: "The envelope has more than \(maximumItems) requests.")
        }
        var ids: Set<String> = []
        var items: [Item] = []
        for element in root["requests"].elements {
            guard let id = element["id"].string, !id.isEmpty, id.utf8.count <= Self.maximumIDByteCount else {
                throw Refusal(status: .badRequest, message: "A request has no \"id\" that is a string.")
            }
            // Requests with the same id could not be distinguished in the response.
            guard ids.insert(id).inserted else {
                throw Refusal(status: .badRequest, message: "Two requests have the same \"id\".")
            }
            do throws(ItemRules.Violation) {
                items.append(
                    .run(try rules.item(element, id: id, position: items.count + 1, in: outer)))
            } catch {
                items.append(.refuse(id: id, MergedResponse(refusal: .badRequest, error.message)))
            }
        }
        self.items = items
    }
}
