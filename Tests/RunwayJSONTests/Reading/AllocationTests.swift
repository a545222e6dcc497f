#if canImport(CountedAllocation)
    import CountedAllocation
    import RunwayJSON
    import Testing

    @Suite(.enabled(if: counted_allocation_is_on() == 1)) struct AllocationTests {
        /// How many allocations of any kind this thread makes during a body.
        private func allocations(_ body: () -> Void) -> Int {
            let before = counted_allocation_count()
            body()
            return counted_allocation_count() - before
        }

        @Test func theCounterCounts() {
            var kept: [[Int]] = []
            kept.reserveCapacity(10)
            #expect(allocations { for size in 1...10 { kept.append(Array(repeating: 1, count: size)) } } == 10)
        }

        @Test func valuesThatAreOnlyLookedAtAllocateNothing() throws {
            let items = (0..<30).map {
                #"{"id":\#($0),"title":"a title that is longer than fifteen bytes","esc":"a\nb","price":\#($0).25,"on":true,"tags":["a",{"b":null}]}"#
            }
            let raw = try JSONDocument(#"{"data":{"list":[\#(items.joined(separator: ","))]}}"#).root
            var seen = 0
            let count = allocations {
                let list = raw["data"]["list"]
                for item in list.elements {
                    seen += item["id"].int ?? 0
                    seen += Int(item["price"].double ?? 0)
                    seen += item["on"].bool == true ? 1 : 0
                    seen += item["title"].isString("a title that is longer than fifteen bytes") ? 1 : 0
                    seen += item["esc"].isString("a\nb") ? 1 : 0
                    seen += item["tags"][1]["b"].isNull ? 1 : 0
                    seen += item["title"].kind == .string ? item["title"].byteRange.count : 0
                    for member in item.members { seen += member.value.count + (member.hasKey("id") ? 1 : 0) }
                }
                seen += list.count + list[29]["tags"].rawBytes.count
            }
            #expect(seen > 0)
            #expect(count == 0)
        }
    }
#endif
