import Testing

@testable import RunwayJSON

/// The vector scans that this processor runs and the one written byte by byte make the same index.
@Suite struct ScanTests {
    /// The words of the index that each scan makes, the portable one's last; nil where it refuses.
    private func indices(_ bytes: [UInt8], limits: JSONLimits = .default) -> [[UInt32]?] {
        PlaceScan.all.map { scan in
            JSONStorage(indexing: bytes, limits: limits, scan: scan).map { storage in
                (0..<storage.stride(at: 0)).map { storage.name(ofValueAt: $0 + 1).bits }
            }
        }
    }

    @Test func thereIsAPortableScan() {
        guard case .portable = PlaceScan.all.last else {
            Issue.record("the last scan is not the portable one")
            return
        }
        #if arch(arm64)
            #expect(PlaceScan.all.count == 2)
        #endif
    }

    /// What stands behind the last place is converted like a place, also where an `Int` has 32 bits.
    @Test func lastPlaceFitsAnIntOf32Bits() {
        for scan in PlaceScan.all {
            Array("1".utf8).withUnsafeBufferPointer { bytes in
                var places = PlaceReader(BorrowedBytes(bytes), scan: scan)
                defer { places.deallocate() }
                #expect(places.refillIfNeeded() && places.count == 1 && places.place() == 0)
                for ahead in 1...8 {
                    #expect(places.kind(ahead) == 0 && Int32(exactly: places.place(ahead)) != nil)
                    #expect(places.place(ahead) > JSONLimits.largestByteCount)
                }
            }
        }
    }

    @Test(arguments: GrammarTests.rules)
    func everyScanJudgesEveryRuleTheSame(_ rule: GrammarRule) {
        for padding in [0, 1, 60, 63, 64, 4090, 4095] {
            let blanks = String(repeating: " ", count: padding)
            for (texts, isAccepted) in [(rule.accepted, true), (rule.refused, false)] {
                for text in texts {
                    let indices = indices(Array((blanks + text).utf8))
                    #expect(indices.allSatisfy { $0 == indices[0] && ($0 != nil) == isAccepted }, "\(text)")
                }
            }
        }
    }

    @Test func everyScanJudgesUTF8TheSame() {
        for row in UTF8Tests.rows {
            for place in row.ranges.indices {
                for byte in [0x00, 0x22, 0x5C, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xFF] as [UInt8] {
                    var sequence = row.ranges.map(\.lowerBound)
                    sequence[place] = byte
                    for padding in 58...64 {
                        let bytes = [0x22] + [UInt8](repeating: 0x61, count: padding) + sequence + [0x61, 0x22]
                        let indices = indices(bytes)
                        #expect(indices.allSatisfy { $0 == indices[0] }, "\(sequence) after \(padding)")
                    }
                }
            }
        }
    }

    @Test(arguments: 0..<4 as Range<UInt64>)
    func everyScanIndexesGeneratedDocumentsTheSame(_ shard: UInt64) async {
        for number in 0..<1500 as Range<UInt64> {
            await Task.yield()
            let seed = shard &* 1_000_000 &+ number
            var generator = DocumentGenerator(seed: seed)
            let document = generator.document()
            for bytes in [document, generator.mutated(document)] {
                let indices = indices(bytes)
                #expect(indices.allSatisfy { $0 == indices[0] }, "seed \(seed)")
            }
        }
    }
}
