import HTTPTypes
import Runway
import Testing

@testable import RunwayJSON

struct RawDataJSONTests {
    private func raw(_ text: String) -> RawData { RawData(Array(text.utf8)) }

    @Test func missingValuesOfAPathAreNil() {
        let raw = raw(#"{"data":{"list":[{"title":"a"},{"title":"b"}],"none":null}}"#)
        #expect(raw["data"]["list"][1]["title"].string == "b")
        #expect(raw["data"]["list"][2]["title"].string == nil)
        #expect(raw["data"]["list"][-1].exists == false)
        #expect(raw["data"]["list"]["title"].string == nil)
        #expect(raw["nothing"][7]["x"].string == nil)
        #expect(raw["data"]["none"].isNull && raw["data"]["none"].string == nil)
        #expect(raw[0].exists == false)
    }

    @Test func requireNamesPathTypesAndBody() throws {
        let raw = raw(#"{"data":{"list":[{"title":7}]}}"#)
        let wrong = try #require(throws: JSONError.self) { try raw["data"]["list"][0]["title"].require(String.self) }
        #expect(
            "\(wrong)" == "A value is of the wrong kind at data.list[0].title (line 1, column 27, byte 26): "
                + #"expected a string, found a number, 7; the body starts with: {"data":{"list":[{"title":7}]}}"#)
        let missing = try #require(throws: JSONError.self) { try raw["data"]["list"][3]["title"].require(String.self) }
        #expect(missing.path == "data.list[3].title")
        #expect(missing.expected == "a string")
        #expect(missing.found == "nothing: data.list exists but has 1 element; [3] was requested")
        #expect(missing.bodyStart == #"{"data":{"list":[{"title":7}]}}"#)
    }

    @Test func secretsAreNotInTheTextsOfErrors() throws {
        let raw = raw(#"{"access_token":"hunter2","user":{"password":"hunter3"},"a":1}"#)
        for read in [
            { try raw["a"].require(String.self) }, { try raw["missing"].require(String.self) },
        ] as [() throws -> String] {
            let error = try #require(throws: JSONError.self) { try read() }
            #expect(!"\(error)".contains("hunter"))
        }
        let secret = try #require(throws: JSONError.self) { try raw["access_token"].require(Int.self) }
        #expect(!"\(secret)".contains("hunter"))
    }

    @Test(arguments: [
        ("", "expected a value, found the end of the document"),
        ("<html><body>502 Bad Gateway", "expected a value, found '<'"),
        (#"{"a":1"#, "found the end of the document"),
        (#"{"a":[1,2"#, "found the end of the document"),
        (#"{"a":"b"#, "found the end of the document"),
        (#"{"a":1}x"#, "found 'x'"),
        (#"{'a':1}"#, "found '''"),
        (#"{"a":01}"#, "found '1'"),
        (#"[1,]"#, "found ']'"),
        ("[\"\u{1}\"]", "found byte 0x01"),
    ])
    func bodyWithoutJSONExplainsEveryRequire(_ text: String, _ found: String) throws {
        let raw = raw(text)
        #expect(!raw.json.exists)
        #expect(raw["a"].int == nil && raw[0].string == nil && raw["a"]["b"][3].bool == nil)
        for value in [raw.json, raw["a"], raw[1]["c"]] {
            let error = try #require(throws: JSONError.self) { try value.require(Int.self) }
            #expect(error.kind == .syntax)
            #expect("\(error)".contains(found), "\(error)")
            #expect(error.offset != nil && error.line == 1)
            #expect(error.bodyStart == text.replacing("\u{1}", with: " "))
        }
    }

    @Test func longBodyIsTruncatedInItsError() throws {
        let error = try #require(raw("<" + String(repeating: "中", count: 10_000)).json.invalidDocumentError)
        let start = try #require(error.bodyStart)
        #expect(start.hasPrefix("<中中") && start.hasSuffix("中…"))
        #expect(start.utf8.count <= 210)
    }

    @Test func firstOfDuplicateMembersIsRead() {
        let raw = raw(#"{"a":1,"a":2,"\u0061":3}"#)
        #expect(raw["a"].int == 1)
        #expect(raw.json.members.compactMap(\.value.int) == [1, 2, 3])
    }

    @Test(arguments: [("[", "]"), (#"{"a":"#, "}")])
    func documentNestedTooDeeplyIsRefused(_ open: String, _ close: String) throws {
        for depth in [1000, 100_000] {
            let text = String(repeating: open, count: depth) + "1" + String(repeating: close, count: depth)
            let raw = raw(text)
            let error = try #require(raw.json.invalidDocumentError)
            #expect(error.kind == .limitExceeded)
            #expect("\(error)".contains("512"))
            #expect(raw["a"]["a"].int == nil)
        }
    }

    @Test func documentWithinTheBoundIsReadWhole() {
        var value = raw(String(repeating: "[", count: 512) + String(repeating: "]", count: 512)).json
        var depth = 0
        while value.exists {
            value = value[0]
            depth += 1
        }
        #expect(depth == 512)
    }

    @Test func nothingIsParsedBeforeItIsNeeded() {
        let raw = raw("not JSON at all")
        #expect(raw.text == "not JSON at all")
        #expect(raw.bytes.count == 15)
    }

    @Test func documentIsIndexedOnceByAllTasks() async {
        let raw = raw(#"{"list":[\#((0..<1000).map(String.init).joined(separator: ","))]}"#)
        let indexes = await withTaskGroup(of: ObjectIdentifier.self) { group in
            for number in 0..<32 {
                // A copy shares the index.
                let copy = raw
                group.addTask {
                    #expect(copy["list"][number].int == number)
                    return ObjectIdentifier(copy.json.storage)
                }
            }
            return await group.reduce(into: Set<ObjectIdentifier>()) { $0.insert($1) }
        }
        #expect(indexes == [ObjectIdentifier(raw.json.storage)])
        #expect(!indexes.contains(ObjectIdentifier(RawData(raw.bytes).json.storage)))
    }

    /// RFC 8259 §8.1 and §11: JSON is UTF-8, and a charset parameter means nothing.
    @Test(arguments: ["iso-8859-1", "gbk", "windows-1252"])
    func wellFormedUTF8WinsOverTheCharset(_ charset: String) {
        let raw = RawData(
            Array(#"{"city":"中山"}"#.utf8),
            response: HTTPResponse(
                status: .ok, headerFields: [.contentType: "application/json; charset=\(charset)"]))
        #expect(raw["city"].string == "中山")
    }
}
