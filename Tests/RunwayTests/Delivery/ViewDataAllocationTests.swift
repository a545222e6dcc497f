#if canImport(Glibc)
    import CountedAllocation
    import Runway
    import RunwayJSON
    import Testing

    /// Where glibc is the C library every allocation is counted, unless a sanitizer has its own allocator.
    @Suite(.disabled(if: counted_allocation_is_sanitized() == 1, "a sanitizer has an allocator of its own"))
    struct ViewDataAllocationTests {
        private enum Keys {
            static let title = ViewKey<String>("title", in: Self.self)
            static let layout = ViewKey<String>("layout", in: Self.self)
            static let cover = ViewKey<String>("cover", in: Self.self)
            static let price = ViewKey<Int>("price", in: Self.self)
            static let area = ViewKey<Double>("area", in: Self.self)
        }

        private let raw = RawData(
            Array(
                #"{"title":"a title of more than fifteen bytes","layout":"三室两厅一卫 南北通透","cover":"https://a.b/c/d.jpg","price":4200,"area":89.5}"#
                    .utf8))

        init() throws { try #require(counted_allocation_is_on() == 1, "allocations are not counted") }

        /// How many allocations this thread makes during a body, once what is made for all times is there.
        private func allocations(_ body: () -> Void) -> Int {
            body()
            let before = counted_allocation_count()
            body()
            return counted_allocation_count() - before
        }

        private func row() -> ViewData {
            var row = ViewData()
            row[Keys.title] = raw["title"].string
            row[Keys.layout] = raw["layout"].string
            row[Keys.cover] = raw["cover"].string
            row[Keys.price] = raw["price"].int
            row[Keys.area] = raw["area"].double
            return row
        }

        @Test func rowOfFiveIsOneAllocationBesideStrings() {
            var rows: [ViewData] = []
            rows.reserveCapacity(4)
            #expect(allocations { rows.append(row()) } == 1 + 3)
            #expect(rows.count == 2 && rows[1].count == 5)
        }

        @Test func readingARowDoesNotAllocate() {
            let row = row()
            var seen = 0
            let count = allocations {
                seen += row[Keys.title]?.utf8.count ?? 0
                seen += row[Keys.layout]?.utf8.count ?? 0
                seen += row[Keys.cover]?.utf8.count ?? 0
                seen += row[Keys.price] ?? 0
                seen += Int(row[Keys.area] ?? 0)
            }
            #expect(count == 0 && seen > 8000)
        }
    }
#endif
