import HTTPTypes
import Runway
import RunwayJSON
import Testing

/// What a debugger, `dump`, `print` and a failing test show.
struct DebuggingTests {
    private enum Keys {
        static let title = ViewKey<String>("title", in: Self.self)
        static let price = ViewKey<Double>("price", in: Self.self)
        static let rooms = ViewKey<Int>("rooms", in: Self.self)
        static let isNew = ViewKey<Bool>("isNew", in: Self.self)
        static let token = ViewKey<String>("accessToken", in: Self.self)
    }

    private func dumped(_ value: Any) -> String {
        var text = ""
        dump(value, to: &text)
        return text
    }

    private func raw(_ text: String, type: String) -> RawData {
        RawData(Array(text.utf8), response: HTTPResponse(status: .ok, headerFields: [.contentType: type]))
    }

    @Test func rawDataShowsIndentedMaskedJSON() {
        let raw = raw(#"{"title":"上海","token":"abc"}"#, type: "application/json")
        let shown = """
            {
              "title": "上海",
              "token": "[redacted]"
            }
            """
        #expect("\(raw)" == shown)
        #expect(String(reflecting: raw) == "200, application/json, 32 bytes, from network: \(shown)")
        #expect(dumped(raw).contains(#""title": "上海""#))
        #expect(!dumped(raw).contains("abc"))
        #expect(!dumped([raw]).contains("abc"))
    }

    @Test func rawDataWithoutJSONShowsTextOrSize() {
        #expect("\(raw("<p>hello</p>", type: "text/html"))" == "<p>hello</p>")
        #expect("\(RawData([0xFF, 0x00]))" == "2 bytes")
        #expect("\(RawData([]))" == "empty")
        #expect("\(raw(#"{"token":"abc","#, type: "application/json"))".contains("[redacted]"))
    }

    @Test func descriptionIsBounded() {
        let long = String(repeating: "x", count: 1 << 20)
        #expect("\(raw(#"{"a":["\#(long)"]}"#, type: "application/json"))".utf8.count < 10_000)
        #expect("\(raw(long, type: "text/plain"))".utf8.count < 10_000)
        var row = ViewData()
        row[Keys.title] = long
        #expect("\(row)".utf8.count < 10_000)
    }

    @Test func viewDataShowsItsValuesUnderTheirNames() {
        var row = ViewData()
        row[Keys.title] = "two \"rooms\""
        row[Keys.price] = 1.5
        row[Keys.rooms] = 2
        row[Keys.isNew] = true
        row[Keys.token] = "hunter2"
        let text = "\(row)"
        #expect(text.hasPrefix("{\n"))
        #expect(text.contains(#"Keys.title": "two \"rooms\"","#))
        #expect(text.contains(#"Keys.price": 1.5,"#))
        #expect(text.contains(#"Keys.rooms": 2,"#))
        #expect(text.contains(#"Keys.isNew": true,"#))
        #expect(text.contains(#"Keys.accessToken": "[redacted]""#))
        #expect(!dumped(row).contains("hunter2"))
    }

    @Test func valuesWithoutJSONAreDescribed() {
        var row = ViewData()
        row[Keys.price] = .infinity
        #expect("\(row)".contains(#"Keys.price": "inf""#))
        #expect("\(ViewData())" == "{}")
    }

    @Test func noSecretDeepInViewDataIsShown() throws {
        struct Login { let password = "hunter2" }
        var inner = ViewData()
        inner[Keys.token] = "hunter2"
        inner[Keys.title] = "Loft"
        var data = ViewData()
        data[Deep.inner] = inner
        data[Deep.json] = try JSONDocument(#"{"pin":"hunter2","rooms":3}"#).root
        data[Deep.names] = ["password": "hunter2"]
        data[Deep.login] = "\(Login())"
        #expect(!"\(data)".contains("hunter2"))
        #expect("\(data)".contains(#""rooms": 3"#))
        #expect("\(data)".contains(#"title": "Loft""#))
    }

    private enum Deep {
        static let inner = ViewKey<ViewData>("inner", in: Self.self)
        static let json = ViewKey<JSONValue>("json", in: Self.self)
        static let names = ViewKey<[String: String]>("names", in: Self.self)
        static let login = ViewKey<String>("login", in: Self.self)
    }
}
