import RunwayJSON
import Testing

@Suite struct RedactionTests {
    @Test(arguments: [
        "password", "Password", "PASS_WORD", "access_token", "accessToken", "Access-Token", "api key", "X-API-Key",
        "set-cookie", "CVV", "user.password", "login[pin]", "a[b][token]",
        "sig", "key", "pass", "assertion", "SAMLResponse", "samlresponse", "saml_response", "user_password",
        "UserPassword", "X-Amz-Signature", "X-Amz-Security-Token", "X-Amz-Credential", "X-Goog-Signature",
        "Private-Token", "X-Vault-Token", "X-Session-Id", "Set-Cookie2", "client_assertion", "APIKey", "x-goog-api-key",
        "Ocp-Apim-Subscription-Key", "code_verifier", "CSRFToken", "XSRF-TOKEN", "refreshTOKEN", "token_1", "password2",
        "x-authtoken", "x-apikey", "x-accesstoken", "x-sessionid", "userpassword", "xcsrftoken", "my-usersecret",
        "X-AUTHTOKEN", "servicejwt", "passwordhash", "socialsecuritynumber", "devicecode", "codeverifier",
        "thistoken", "aVeryLongPrefixOfAName_userprofileauthtoken",
        "AWSAccessKeyId", "JSESSIONID", "passwordHash", "db_pass", "otp", "user[Sig]", "id_token_hint", "hmac",
    ])
    func namesAreSecretWhateverTheirSpelling(_ name: String) {
        #expect(JSONRedaction.default.isSecret(name))
    }

    @Test(arguments: [
        "title", "tokens_left", "passenger", "city", "", "keyword", "monkey", "keys", "primary_key", "Idempotency-Key",
        "code", "barcode", "postcode", "zipcode", "statusCode", "country_code", "error.code", "design", "signal",
        "assigned", "significant", "compass", "bypass", "tokenize", "max_tokens", "tokenType", "token_expires_in",
        "nextPageToken", "continuation-token", "has_password", "Access-Control-Allow-Credentials", "response",
        "secretary", "author", "authors", "cookies_accepted", "session_count", "signature_version", "ü", "_", "-1",
        "keyboard", "turkey", "hotkey", "accessible", "refreshRate", "refreshrate", "nextpagetoken", "haspassword",
        "zipcode", "errorcode", "discountcode", "tokens", "passwordless", "hockey", "access", "refresh",
        "Sec-WebSocket-Key", "ETag", "client_assertion_type",
    ])
    func otherNamesAreNot(_ name: String) {
        #expect(!JSONRedaction.default.isSecret(name))
    }

    @Test(arguments: [
        ("code=hunter2&state=a", #"code="[redacted]"&state=a"#),
        ("https://a.example/cb?state=a&code=hunter2", #"https://a.example/cb?state=a&code="[redacted]""#),
        (#"{"code":0,"detail":"#, #"{"code":0,"detail":"#), ("status code=5", "status code=5"),
    ])
    func codeIsSecretInParametersOnly(_ text: String, _ shown: String) {
        #expect(JSONRedaction.default.redactedText(of: text.utf8, maximumByteCount: 200) == shown)
    }

    @Test(arguments: [
        #"{"access":"hunter2","refresh":"hunter2"}"#, #"{"tokens":{"refresh":"hunter2","page":2}}"#,
        #"{"text":"{\"access\": \"hunter2\"}"}"#,
    ])
    func aPairOfTokensIsNeverShown(_ text: String) throws {
        let root = try JSONDocument(text).root
        let cut = Array(text.utf8.dropLast())
        for shown in [root.description, JSONRedaction.default.redactedText(of: cut, maximumByteCount: 500)] {
            #expect(!shown.contains("hunter2"), "\(shown)")
        }
        let error = #expect(throws: JSONError.self) { try root["refresh"].require(Int.self) }
        #expect(error?.description.contains("hunter2") == false)
    }

    @Test func accessAndRefreshWithoutTokensAreShown() throws {
        let text = #"{"access":true,"refresh":30,"refreshRate":"60 Hz","accessible":"yes"}"#
        let shown = JSONRedaction.default.redactedText(
            of: try JSONDocument(text).root, maximumByteCount: 500, isIndented: false)
        #expect(shown == text)
        #expect(JSONRedaction.default.redactedText(of: text.utf8, maximumByteCount: 500) == text)
    }

    @Test func aCodeInJSONIsShown() throws {
        #expect(try JSONDocument(#"{"code":"invalid_grant"}"#).description.contains("invalid_grant"))
        #expect(try !JSONDocument(#"{"next":"/cb?code=hunter2"}"#).description.contains("hunter2"))
    }

    @Test func addedNamesOfAnyLengthAndScriptMatch() {
        let names = JSONRedaction(secretNames: ["Rental_Agreement_Number", "Straße", "rent_code"])
        for name in ["rentalAgreementNumber", "STRAßE", "straße", "rentCode"] {
            #expect(names.isSecret(name), "\(name)")
        }
        for name in ["rentalAgreementNumbers", "user_password", "X-Vault-Token", "code"] {
            #expect(!names.isSecret(name))
        }
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

    @Test(arguments: [
        #"{"next":"https://a.example/list?page=2&access_token=hunter2"}"#,
        #"{"payload":"{\"user\":{\"password\":\"hunter2\"},\"city\":\"上海\"}"}"#,
        #"["Authorization: hunter2"]"#, #"{"user.password":"hunter2"}"#, #""token=hunter2""#,
        #""[redacted] token=hunter2""#,
    ])
    func noSecretIsShownThatAStringHolds(_ text: String) throws {
        let shown = try JSONDocument(text).description
        #expect(!shown.contains("hunter2"))
        #expect(shown.contains(JSONRedaction.mask))
        #expect(try JSONDocument(shown).root.exists)
    }

    @Test func truncatedStringShowsNoPartOfASecret() throws {
        let root = try JSONDocument(#""token=hunter2 and so on""#).root
        for count in 0..<40 {
            #expect(!JSONRedaction.default.redactedText(of: root, maximumByteCount: count).contains("hu"), "\(count)")
        }
    }

    @Test(arguments: [#""https://a.example/list?page=2&city=b""#, #""10:30\nto: 11:00 \u4e2d""#])
    func stringsWithoutSecretsAreShownAsWritten(_ text: String) throws {
        #expect(try JSONDocument(text).description == text)
    }

    @Test func typesWithADocumentShowNoBytes() throws {
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
        // Quotation marks that do not pair, single ones, none, a form, elements.
        #"x" {"password":"hunter2"}"#, #"{'password':'hunter2'}"#, #"{password: "hunter2"}"#,
        "access_token=hunter2&x=1", "<password>hunter2</password>",
        // And what is like these.
        #"{"text":"{\"password\":\"hunter2\\\"hunter2\"}","#, #"{"a":"b, "password":"hunter2"#,
        "x=1&user%5Bpass%77ord%5D=hunter2 'hunter2,hunter2", "a.password[]=hunter2",
        "Authorization: Digest a=\"b\", hunter2",
        "{'token' => 'hunter2'}", "<?xml version='1.0'?><a><ns:pin id='1'><b>hunter2</b></ns:pin></a>",
        #"see https://a.b/c?x=1&token=hunter2""#, #"password":"hunter2"}"#, "{token:[hunter2,[\"]\",hunter2],'hunter2'",
        "password=hunter2", "\npassword: hunter2, hunter2\n", #"<input password="hunter2">"#,
    ])
    func brokenBodysErrorsShowNoSecret(_ text: String) throws {
        let error = try #require(throws: JSONError.self) { try JSONDocument(text) }
        #expect(!error.description.contains("hunter2"))
        #expect(error.bodyStart?.contains("[redacted]") == true)
    }

    @Test func otherValuesAreShown() {
        for text in [
            "<html><body class=\"a\">502 Bad Gateway: a=1, b=2</body></html>", "x=1&y=2", #"{"a":"b","c":{"d":1},"#,
            #"{"token_count":7,'e':"f","password"}"#, "<password/>", "a > b: c",
        ] { #expect(JSONRedaction.default.redactedText(of: text.utf8, maximumByteCount: 200) == text) }
        #expect(
            JSONRedaction.default.redactedText(of: "a=1&token=x&b=2".utf8, maximumByteCount: 200)
                == #"a=1&token="[redacted]"&b=2"#)
        #expect(
            JSONRedaction.default.redactedText(of: "<a><pin>1</pin><b>2</b>".utf8, maximumByteCount: 200)
                == "<a><pin>[redacted]</pin><b>2</b>")
    }

    @Test(arguments: [Int.max, .max - 1, .max / 2, 0, -1, .min])
    func everyBoundIsTaken(_ bound: Int) throws {
        let raw = try JSONDocument(#"{"a":[1,{"token":"hunter2"}]}"#).root
        let text = JSONRedaction.default.redactedText(of: #"{"a":1,"token":"hunter2""#.utf8, maximumByteCount: bound)
        #expect(bound > 0 ? text == #"{"a":1,"token":"[redacted]""# : text == "…")
        let shown = JSONRedaction.default.redactedText(of: raw, maximumByteCount: bound)
        #expect(bound > 0 ? shown.contains("[redacted]") : shown.hasSuffix("more bytes of JSON)"))
    }

    @Test func oneLineTextNeverExceedsTheDocument() throws {
        let depth = 500
        let numbers = String(repeating: "1,", count: 20_000)
        let text =
            String(repeating: #"{"a":["#, count: depth / 2) + numbers + #"{"pin":[1,2]},{},[]"#
            + String(repeating: "]}", count: depth / 2)
        let raw = try JSONDocument(text).root
        let line = JSONRedaction.default.redactedText(of: raw, maximumByteCount: .max, isIndented: false)
        #expect(line == text.replacing("[1,2]", with: #""[redacted]""#))
        // Indented it has a line for each value, but not a thousand blanks before it.
        #expect(JSONRedaction.default.redactedText(of: raw, maximumByteCount: .max).utf8.count < 140 * 21_000)
    }

    @Test func secretCutOffByTheBoundStaysSecret() throws {
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

    @Test func longNamesAreShownShortened() throws {
        for name in [String(repeating: "n", count: 100_000), "e" + String(repeating: "\u{301}", count: 50_000)] {
            let raw = try JSONDocument(#"{"\#(name)":{"a":1}}"#).root
            var texts = [
                String(reflecting: raw[name]["a"]), "\(raw[name]["b"])", String(reflecting: raw["\(name)x"]["b"]),
            ]
            texts += raw.members.flatMap { ["\($0)", String(reflecting: $0)] }
            let error = try #require(throws: JSONError.self) { try raw[name]["a"].require(String.self) }
            texts.append(error.description)
            for text in texts { #expect(text.utf8.count < 1500, "\(text.prefix(40))") }
        }
    }

    @Test func bodyOnOneLineHasNoControlCharacters() {
        let text = JSONRedaction.default.redactedText(
            of: Array("a\nb\u{1B}[31m\r\nc".utf8) + [0xFF], maximumByteCount: 100)
        #expect(text.unicodeScalars.allSatisfy { $0.value >= 0x20 })
    }

    @Test func missingValuesAreNamed() throws {
        let raw = try JSONDocument("{}").root
        #expect(raw["a"][1].description == "missing: a[1]")
        #expect(JSONValue(invalid: JSONError(kind: .syntax)).description == "invalid: The body is not JSON")
        #expect(raw.debugDescription == "$, object: {}")
    }
}
