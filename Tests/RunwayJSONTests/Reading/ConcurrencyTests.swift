import RunwayJSON
import Testing

@Suite struct ConcurrencyTests {
    @Test func manyTasksReadOneDocumentAtOnce() async throws {
        let items = (0..<300).map { #"{"id":\#($0),"title":"标题\\n \#($0)","price":\#($0).25,"tags":["a","b"]}"# }
        let raw = try JSONDocument("[" + items.joined(separator: ",") + "]").root
        let sums = await withTaskGroup(of: Int.self) { group in
            for _ in 0..<16 {
                group.addTask {
                    raw.elements.reduce(0) { sum, item in
                        let title = item["title"].string?.utf8.count ?? 0
                        return sum + (item["id"].int ?? 0) + title + item["tags"].count + Int(item["price"].double ?? 0)
                            + (item["no"]["such"].exists ? 1 : 0)
                    }
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(Set(sums).count == 1)
        #expect(sums.count == 16)
    }
}
