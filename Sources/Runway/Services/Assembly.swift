import HTTPTypes
import RunwayJSON

extension ServiceSettings {
    /// Creates the request of an endpoint.
    ///
    /// - Throws: ``NetworkError/Kind/invalidParameters``.
    func assemble<E: Endpoint>(
        _ endpoint: E, _ content: CallContent, at baseURL: BaseURL, delivery: ResponseDelivery, in flight: Flight
    ) throws(NetworkError) -> Request {
        if let problem = content.path.problem { throw NetworkError(.invalidParameters, in: .assembling, problem) }
        let parameters = content.parameters.merging(defaults: content.common.merging(defaults: commonParameters))
        var fields = HTTPFields()
        try fields.set(commonHeaders)
        try fields.set(content.headers)
        if case .raw(let contentType) = E.encoding, fields[.contentType] == nil {
            try fields.set(HTTPField.Name.contentType.rawName, contentType)
        }
        do {
            var query = ""
            var body = RequestBody.none
            switch E.encoding {
            case .query(let style):
                query = try style.text(parameters)
            case .form(let style):
                body = .bytes(Array(try style.text(parameters).utf8))
                fields.setDefault(.contentType, "application/x-www-form-urlencoded")
            case .json(let dates):
                body = .bytes(try parameters.json(dates: dates))
                fields.setDefault(.contentType, "application/json")
            case .raw:
                query = try QueryStyle.default.text(parameters)
                body = try endpoint.content
            case .multipart(let style):
                let form = MultipartForm(
                    try style.fields(parameters).map { FormPart.field($0.name, $0.value) } + (try endpoint.parts),
                    flight.context.randomness.bits())
                if let problem = form.problem { throw UnsendableForm(problem: problem) }
                body = form.body
                // The media type contains the boundary, without which the server could not separate the parts.
                fields[.contentType] = form.contentType
            }
            let target = baseURL.target(content.path, query)
            var head = baseURL.head
            if head.method != E.method { head.method = E.method }
            head.path = target
            if !fields.isEmpty { head.headerFields = fields }
            return Request(head: head, body: body, delivery: delivery)
        } catch {
            throw .invalidParameters(in: .assembling, error)
        }
    }
}

extension BaseURL {
    /// Returns the request's target: the path and query as they are sent.
    fileprivate func target(_ path: EndpointPath, _ query: String) -> String {
        query.isEmpty
            ? String(joining: [pathPrefix, "/", path.percentEncoded])
            : String(joining: [pathPrefix, "/", path.percentEncoded, "?", query])
    }
}

extension HTTPFields {
    /// Replaces fields in the order of their names.
    ///
    /// - Throws: The errors of ``set(_:_:)``.
    mutating func set(_ headers: [String: String]) throws(NetworkError) {
        if headers.isEmpty { return }
        for (name, value) in headers.sorted(by: { $0.key < $1.key }) { try set(name, value) }
    }

    /// Replaces a field.
    ///
    /// - Throws: ``NetworkError/Kind/invalidParameters`` if RFC 9110 §5 does not allow the name or value. The error
    ///   does not contain the value, which may be secret.
    fileprivate mutating func set(_ name: String, _ value: String) throws(NetworkError) {
        guard let fieldName = HTTPField.Name(name) else {
            throw NetworkError(.invalidParameters, in: .assembling, "\"\(name)\" is not the name of a header field.")
        }
        guard HTTPField.isValidValue(value) else {
            throw NetworkError(
                .invalidParameters, in: .assembling,
                "The value of the header field \"\(name)\" has a character that is not allowed in it.")
        }
        // Assigning `Cookie` by its name would split it into one field for each cookie, which HTTP/1.1 does not allow.
        self[fieldName] = nil
        append(HTTPField(name: fieldName, value: value))
    }

    fileprivate mutating func setDefault(_ name: HTTPField.Name, _ value: String) {
        if self[name] == nil { self[name] = value }
    }
}
