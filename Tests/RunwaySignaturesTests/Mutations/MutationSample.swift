import HTTPTypes
import RunwayFormats
import RunwayTesting

@testable import RunwaySignatures

/// A random message as text, which the code under test and the oracle read each in its way.
struct MutationSample: CustomStringConvertible {
    var method: String
    var target: String
    var host: String
    var fields: [(name: String, value: String)]
    var trailers: [(name: String, value: String)]
    /// The members of `Example-Dict`: keys, canonical values, and how they are spelled.
    var dictionary: [(key: String, value: String, spelling: String)]
    /// The status and the fields of a response; `nil` if the sample is a request.
    var response: (status: Int, fields: [(name: String, value: String)])?
    var body: [UInt8]

    /// Values of members: the canonical form first, and then other spellings of it.
    private static let values = [
        ["1", "01"], ["-3"], ["1.5", "1.50", "01.5"], ["\"z \\\" (\""], ["tok/en;x=-3", "tok/en; x=-3"],
        ["(1 2);q=1.5", "( 1   2 ); q=1.50"], [":AQ==:"], ["?0"], ["?1;y", "?1;y=?1"], ["()", "(  )"], ["@7"],
        ["%\"a%c3%a4\""],
    ]
    private static let alphabet = Array("abzAZ09-._~%2F%2f/?&=+;:@!$'()*, \t")

    init(_ random: inout SeededGenerator) {
        method = ["GET", "POST", "PUT", "purge"].randomElement(using: &random) ?? ""
        target = "/" + Self.text(20, &random).filter { $0 != " " && $0 != "\t" }
        if !target.contains("?") { target += "?" }
        target += "&only=" + (["", "1", "a+b", "%2f", "x%20y", "%", "%7e"].randomElement(using: &random) ?? "")
        host =
            ["api.example.com", "API.example.com:443", "[2001:db8::1]", "a.example:8443"].randomElement(using: &random)
            ?? ""
        body = Exchange.body
        fields = [("Content-Digest", BodyDigest(of: body).fieldValue)]
        for name in ["X-List", "X-List", "Accept", "X-Other", "x-list", "X-Bytes", "X-Bytes"] {
            fields.append((name, Bool.random(using: &random) ? Self.text(8, &random) : ""))
        }
        fields.shuffle(using: &random)
        trailers = [("X-Trailer", Self.text(4, &random)), ("X-Trailer", "end")]
        dictionary = ["a", "b", "c"].map { ($0, "", "") }
        response = nil
        for index in dictionary.indices { setMember(index, &random) }
        if Bool.random(using: &random) {
            response = (200, [("X-List", "own"), ("Content-Digest", BodyDigest(of: body).fieldValue)])
        }
    }

    private static func text(_ maximum: Int, _ random: inout SeededGenerator) -> String {
        let length = Int.random(in: 0...maximum, using: &random)
        return String((0..<length).map { _ in alphabet.randomElement(using: &random) ?? "x" })
    }

    private mutating func setMember(_ index: Int, _ random: inout SeededGenerator) {
        let spellings = Self.values.randomElement(using: &random) ?? ["1"]
        (dictionary[index].value, dictionary[index].spelling) = (spellings[0], spellings[0])
    }

    /// The components that a signature of the sample covers.
    var components: [String] {
        response == nil
            ? [
                #""@method""#, #""@authority""#, #""@path""#, #""@query""#, #""content-digest""#, #""x-list""#,
                #""accept""#, #""@query-param";name="only""#, #""@target-uri""#, #""@request-target""#, #""@scheme""#,
                #""x-bytes";bs"#, #""example-dict";sf"#, #""example-dict";key="a""#, #""example-dict";key="b""#,
                #""x-trailer";tr"#,
            ]
            : [
                #""@status""#, #""@method";req"#, #""@authority";req"#, #""@path";req"#, #""@query";req"#,
                #""content-digest""#, #""x-list""#, #""x-list";req"#, #""x-bytes";req;bs"#, #""x-trailer";tr"#,
            ]
    }

    // MARK: - Changes

    mutating func mutate(_ random: inout SeededGenerator) {
        let index = Int.random(in: 0..<fields.count, using: &random)
        let member = Int.random(in: 0..<dictionary.count, using: &random)
        switch Int.random(in: 0..<20, using: &random) {
        case 0: method = Bool.random(using: &random) ? method.lowercased() : "PATCH"
        case 1: host = Bool.random(using: &random) ? host.uppercased() : "b." + host
        case 2: host = host.hasSuffix(":443") ? String(host.dropLast(4)) : host + ":443"
        case 3: target = edited(target, &random).filter { $0 != " " && $0 != "\t" }
        case 4: target += ["?", "&", "?a=1", "/", "%", "&only=1"].randomElement(using: &random) ?? ""
        case 5: fields.swapAt(index, Int.random(in: 0..<fields.count, using: &random))
        case 6: fields[index].value = edited(fields[index].value, &random)
        case 7: fields[index].value = " \t" + fields[index].value + "  "
        case 8: fields.remove(at: index)
        case 9: fields.append((fields[index].name.uppercased(), Self.text(3, &random)))
        case 10: merge(index)
        case 11: setMember(member, &random)
        case 12, 13: respell(member, &random)
        case 14: dictionary.swapAt(0, member)
        case 15: trailers[0].value = edited(trailers[0].value, &random)
        case 16: trailers.swapAt(0, trailers.count - 1)
        case 17: body = Bool.random(using: &random) ? body.dropLast() : body + [0]
        case 18: changeResponse(&random)
        default: fields.append(("X-New", "1"))
        }
        if !target.hasPrefix("/") { target = "/" + target }
        if fields.isEmpty { fields = [("X-New", "1")] }
    }

    /// Another spelling of the same value.
    private mutating func respell(_ index: Int, _ random: inout SeededGenerator) {
        let value = dictionary[index].value
        guard let spellings = Self.values.first(where: { $0[0] == value }) else { return }
        dictionary[index].spelling = spellings.randomElement(using: &random) ?? value
    }

    private mutating func changeResponse(_ random: inout SeededGenerator) {
        if Bool.random(using: &random) {
            response?.status = 201
        } else {
            response?.fields.append(("x-list", Self.text(3, &random)))
        }
    }

    private func edited(_ text: String, _ random: inout SeededGenerator) -> String {
        var characters = Array(text)
        let place = Int.random(in: 0...characters.count, using: &random)
        if place < characters.count, Bool.random(using: &random) {
            characters[place] = Self.alphabet.randomElement(using: &random) ?? "x"
        } else {
            characters.insert(Self.alphabet.randomElement(using: &random) ?? "x", at: place)
        }
        return String(characters)
    }

    /// Joins a field with the next one of the same name, as a proxy may.
    private mutating func merge(_ index: Int) {
        let name = fields[index].name.lowercased()
        guard let next = fields.indices.first(where: { $0 > index && fields[$0].name.lowercased() == name }) else {
            return
        }
        fields[index].value += ", " + fields[next].value
        fields.remove(at: next)
    }

    // MARK: - Both readings

    private static func fields(of lines: [(name: String, value: String)]) -> HTTPFields {
        var result = HTTPFields()
        for (name, value) in lines {
            guard let name = HTTPField.Name(name) else { preconditionFailure("The names of the sample are tokens") }
            result.append(HTTPField(name: name, lenientValue: Array(value.utf8)))
        }
        return result
    }

    /// The message, with more fields.
    func context(with more: HTTPFields = [:]) -> SignatureContext {
        var request = HTTPRequest(
            method: HTTPRequest.Method(method) ?? .get, scheme: "https", authority: host, path: target,
            headerFields: Self.fields(of: fields))
        for (index, member) in dictionary.enumerated() {
            let text = member.spelling.hasPrefix("?1") ? String(member.spelling.dropFirst(2)) : "=" + member.spelling
            // The members stand on lines of their own or beside one another.
            let line = Self.fields(of: [("Example-Dict", member.key + text)])
            if index.isMultiple(of: 2) || request.headerFields[values: .exampleDict].isEmpty {
                request.headerFields += line
            } else {
                let last = request.headerFields[values: .exampleDict]
                request.headerFields[values: .exampleDict] =
                    last.dropLast() + [(last.last ?? "") + ",\t" + member.key + text]
            }
        }
        var context: SignatureContext
        if let response {
            let head = HTTPResponse(
                status: .init(code: response.status), headerFields: Self.fields(of: response.fields) + more)
            context = SignatureContext(head, to: request, trailerFields: Self.fields(of: trailers))
        } else {
            request.headerFields += more
            context = SignatureContext(request, trailerFields: Self.fields(of: trailers))
        }
        context.structuredFieldTypes["example-dict"] = .dictionary
        return context
    }

    var oracle: BaseOracle {
        BaseOracle(
            method: method, target: target, host: host, fields: fields, trailers: trailers,
            dictionary: dictionary.map { ($0.key, $0.value) }, response: response)
    }

    var description: String { "\(method) \(target) \(host) \(fields) \(dictionary) \(trailers) \(response as Any)" }
}

extension HTTPField.Name {
    fileprivate static let exampleDict = HTTPField.Name("Example-Dict", known: ())
}

extension HTTPFields {
    fileprivate static func + (left: HTTPFields, right: HTTPFields) -> HTTPFields {
        var all = left
        for field in right { all.append(field) }
        return all
    }

    fileprivate static func += (left: inout HTTPFields, right: HTTPFields) { left = left + right }
}
