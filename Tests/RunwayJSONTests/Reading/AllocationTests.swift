#if canImport(Glibc)
    import CountedAllocation
    import RunwayJSON
    import Testing

    /// Where glibc is the C library every allocation is counted, unless a sanitizer has its own allocator.
    @Suite(.disabled(if: counted_allocation_is_sanitized() == 1, "a sanitizer has an allocator of its own"))
    struct AllocationTests {
        init() throws { try #require(counted_allocation_is_on() == 1, "allocations are not counted") }

        /// How many allocations of any kind this thread makes during a body, once what is made for all times is there: the
        /// runtime's metadata, constants, the first message of the test library.
        private func allocations(_ body: () -> Void) -> Int {
            body()
            let before = counted_allocation_count()
            body()
            return counted_allocation_count() - before
        }

        @Test func theCounterCounts() {
            var arrays: [[Int]] = []
            arrays.reserveCapacity(30)
            #expect(allocations { for size in 1...10 { arrays.append(Array(repeating: 1, count: size)) } } == 10)
        }

        private static func listing() throws -> JSONValue {
            let items = (0..<30).map {
                #"{"id":\#($0),"title":"a title that is longer than fifteen bytes","esc":"a\nb","price":\#($0).25,"lng":121.47370190000001,"lat":-31.230416999999999,"on":true,"tags":["a",{"b":null}]}"#
            }
            return try JSONDocument(#"{"data":{"list":[\#(items.joined(separator: ","))]}}"#).root
        }

        @Test func readingValuesAllocatesNothing() throws {
            let raw = try Self.listing()
            var seen = 0
            let count = allocations {
                let list = raw["data"]["list"]
                for item in list.elements {
                    seen += item["id"].int ?? 0
                    seen += Int(item["price"].double ?? 0)
                    seen += Int(item["lng"].double ?? 0) + Int(item["lat"].double ?? 0)
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

        @Test func absentValueAllocatesWhatItsPathTakes() throws {
            let raw = try Self.listing()
            var seen = 0
            #expect(allocations { seen += raw["nothing"].exists ? 1 : 0 } == 1)
            #expect(allocations { seen += raw["data"]["list"][30].exists ? 1 : 0 } == 1)
            #expect(allocations { seen += raw["a name that is longer"]["b"][3].exists ? 1 : 0 } == 5)
            #expect(seen == 0)
        }

        @Test func slowPathNumbersAllocateAFewTimes() throws {
            let raw = try JSONDocument("[1.2345678901234567890123,1e-30,12345678901234567890.12,4200.50,5e300]").root
            var seen = 0
            for (index, most) in [(0, 1), (1, 1), (2, 1), (3, 0), (4, 1)] {
                let value = raw[index]
                #expect(allocations { seen += value.double == nil ? 0 : 1 } <= most, "\(value)")
            }
            let money = raw[3]
            let long = raw[2]
            #expect(allocations { seen += money.decimal == nil ? 0 : 1 } == 0)
            #expect(allocations { seen += long.decimal == nil ? 0 : 1 } <= 3)
            #expect(seen > 0)
        }
    }
#endif
