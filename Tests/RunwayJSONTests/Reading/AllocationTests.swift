#if canImport(Glibc)
    import Glibc
    import RunwayJSON
    import Testing

    /// Counts what the Swift runtime allocates on one thread, by the hook that its instruments use.
    ///
    /// Every object, array buffer, string storage, box and closure context comes from `swift_allocObject`; this module's
    /// only other allocation, the index, is made while a document is read.
    enum AllocationCount {
        typealias Allocate = @convention(c) (UnsafeRawPointer?, Int, Int) -> UnsafeMutableRawPointer?

        nonisolated(unsafe) static var original: Allocate?
        nonisolated(unsafe) static var count = 0
        nonisolated(unsafe) static var thread = pthread_t()

        /// How many objects a body allocates, or nil where the runtime has no such hook.
        static func during(_ body: () -> Void) -> Int? {
            let process = dlopen(nil, RTLD_NOW)
            guard
                let hook = dlsym(process, "_swift_allocObject")?
                    .assumingMemoryBound(to: (UnsafeMutableRawPointer?).self),
                let flag = dlsym(
                    process, "_swift_enableSwizzlingOfAllocationAndRefCountingFunctions_forInstrumentsOnly")?
                    .assumingMemoryBound(to: Bool.self),
                let implementation = hook.pointee
            else { return nil }
            original = unsafeBitCast(implementation, to: Allocate.self)
            thread = pthread_self()
            count = 0
            let counting: Allocate = { metadata, size, alignment in
                if pthread_equal(AllocationCount.thread, pthread_self()) != 0 { AllocationCount.count += 1 }
                return AllocationCount.original!(metadata, size, alignment)
            }
            hook.pointee = unsafeBitCast(counting, to: UnsafeMutableRawPointer.self)
            flag.pointee = true
            body()
            flag.pointee = false
            hook.pointee = implementation
            return count
        }
    }

    @Suite(.serialized) struct AllocationTests {
        @Test func theCounterCounts() throws {
            var kept: [[Int]] = []
            kept.reserveCapacity(10)
            let count = AllocationCount.during { for size in 1...10 { kept.append(Array(repeating: 1, count: size)) } }
            try #require(count != nil, "the runtime has no hook to count by")
            #expect(count == 10)
        }

        @Test func valuesThatAreOnlyLookedAtAllocateNothing() throws {
            let items = (0..<30).map {
                #"{"id":\#($0),"title":"a title that is longer than fifteen bytes","esc":"a\nb","price":\#($0).25,"on":true,"tags":["a",{"b":null}]}"#
            }
            let raw = try JSONDocument(#"{"data":{"list":[\#(items.joined(separator: ","))]}}"#).root
            var seen = 0
            let count = AllocationCount.during {
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
