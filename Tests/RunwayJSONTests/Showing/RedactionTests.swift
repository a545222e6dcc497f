import RunwayJSON
import Testing

@Suite struct RedactionTests {
    @Test(arguments: [
        "password", "Password", "PASS_WORD", "access_token", "accessToken", "Access-Token", "api key", "X-API-Key",
        "set-cookie", "CVV",
    ])
    func namesAreSecretWhateverTheirSpelling(_ name: String) {
        #expect(JSONRedaction.default.isSecret(name))
    }

    @Test(arguments: ["title", "tokens_left", "passenger", "city", ""])
    func otherNamesAreNot(_ name: String) {
        #expect(!JSONRedaction.default.isSecret(name))
    }

    @Test func noTextOfAValueShowsASecret() throws {
        let raw = try JSONDocument(
            #"{"user":{"name":"Li","password":"hunter2"},"list":[{"token":{"deep":["hunter2"]}}],"to\u006ben":"hunter2"}"#
        ).root
        var dumped = ""
        dump(raw, to: &dumped)
        for text in [
            raw.description, raw.debugDescription, "\(raw)", String(reflecting: raw), dumped, "\([raw])",
            "\(raw["user"]["password"])",
        ] {
            #expect(!text.contains("hunter2"))
            #expect(text.contains("[redacted]"))
        }
        #expect(dumped.contains("Li"))
    }

    @Test func whatHoldsADocumentShowsNoBytes() throws {
        let raw = try JSONDocument(#"{"list":[{"token":"hunter2"}],"password":"hunter2"}"#).root
        for holder in [
            raw.members, raw["list"].elements, raw.members.makeIterator(), raw["list"].elements.makeIterator(),
        ]
            as [Any]
        {
            var dumped = ""
            dump(holder, to: &dumped)
            for text in [dumped, "\(holder)", String(reflecting: holder)] {
                #expect(!text.contains("hunter2"))
                // The first bytes of the secret, as an array of numbers is shown.
                #expect(!text.contains("104, 117, 110") && !text.contains("- 117"))
            }
        }
        for member in raw.members { #expect(!"\(member) \(String(reflecting: member))".contains("hunter2")) }
    }

    @Test func noErrorShowsASecret() throws {
        let raw = try JSONDocument(#"{"password":"hunter2","list":[{"token":{"deep":["hunter2"]}}]}"#).root
        for value in [raw["password"], raw["list"][0]["token"]["deep"][0], raw["list"], raw["list"][0], raw["nothing"]]
        {
            let error = #expect(throws: JSONError.self) { try value.require(Int.self) }
            #expect(error?.description.contains("hunter2") == false)
        }
    }

    @Test(arguments: [
        #"{"password":"hunter2","a":"#, #"{"password" : "hunter2"#, #"{"password":["hunter2",{"a":"hunter2"#,
        #"{"pass\u0077ord":"hunter2"]"#, #"{"password":hunter2,"a":1"#, #"{"a":1,"Token":  "hunter2" x"#,
        #"{"token":"a\"hunter2"x"#,
    ])
    func noErrorOfABrokenBodyShowsASecret(_ text: String) throws {
        let error = try #require(throws: JSONError.self) { try JSONDocument(text) }
        #expect(!error.description.contains("hunter2"))
        #expect(error.bodyStart?.contains("[redacted]") == true)
    }

    @Test func aSecretCutOffByTheBoundStaysSecret() throws {
        let filler = String(repeating: "a", count: 185)
        let error = try #require(throws: JSONError.self) {
            try JSONDocument(#"["\#(filler)",{"token":"hunter2hunter2"#)
        }
        #expect(!error.description.contains("hunter2"))
    }

    @Test func namesCanBeAdded() throws {
        let raw = try JSONDocument(#"{"rent_code":"1234","password":"x"}"#).root
        #expect(JSONRedaction.default.adding(["rentCode"]).redactedText(of: raw).contains("1234") == false)
        #expect(JSONRedaction.none.redactedText(of: raw).contains("1234"))
        #expect(JSONRedaction(secretNames: ["rent_code"]).isSecret("password") == false)
    }

    @Test func textIsBounded() throws {
        let long = try JSONDocument("[" + (0..<5000).map { #"{"name":"数\#($0)"}"# }.joined(separator: ",") + "]").root
        #expect(long.description.utf8.count < 4400)
        #expect(long.description.hasSuffix("more bytes of JSON)"))
        let small = JSONRedaction.default.redactedText(of: long, maximumByteCount: 50)
        #expect(small.utf8.count < 130)
        #expect(try JSONDocument("\"" + String(repeating: "文", count: 5000) + "\"").description.utf8.count < 4200)
        let error = try #require(throws: JSONError.self) { try long[0]["name"].require(Int.self) }
        #expect(error.description.utf8.count < 600)
    }

    @Test func aBodyOnOneLineHasNoControlCharacters() {
        let text = JSONRedaction.default.redactedText(
            of: Array("a\nb\u{1B}[31m\r\nc".utf8) + [0xFF], maximumByteCount: 100)
        #expect(text.unicodeScalars.allSatisfy { $0.value >= 0x20 })
    }

    @Test func valuesThatAreNotThereSaySo() throws {
        let raw = try JSONDocument("{}").root
        #expect(raw["a"][1].description == "missing: a[1]")
        #expect(JSONValue(invalid: JSONError(kind: .syntax)).description == "invalid: The body is not JSON")
        #expect(raw.debugDescription == "$, object: {}")
    }
}
