import RunwayJSON

// The examples in the doc comments of RunwayJSON, line by line. They are compiled and not run.

struct Price {
    var amount: Int
    var currency: String
}

extension Price: JSONReadable {
    static func read(from value: JSONValue) throws(JSONError) -> Price {
        Price(amount: try value["amount"].require(), currency: try value["currency"].require())
    }
}

func readDocument() throws -> String? {
    let document = try JSONDocument(#"{"data":{"list":[{"title":"Loft","price":4200}]}}"#)
    let title = document.root["data"]["list"][0]["title"].string
    return title
}

func readValue(_ raw: JSONValue) -> String? {
    let title = raw["data"]["list"][3]["title"].string
    return title
}

func write() -> String {
    var writer = JSONWriter(sortsKeys: true)
    writer.beginObject()
    writer.name("city")
    writer.string("上海")
    writer.endObject()
    let text = String(decoding: writer.bytes, as: UTF8.self)  // {"city":"上海"}
    return text
}
