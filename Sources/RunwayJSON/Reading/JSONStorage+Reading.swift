import Synchronization

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The start of a document as errors show it. This is a class, so that the text can be created once and shared.
final class BodyStart: Sendable {
    let text: String

    init(text: String) { self.text = text }
}

extension JSONStorage {
    @usableFromInline
    func stride(at index: Int) -> Int { entry(at: index).stride }

    /// Returns the index of an array's first element, or of the name of an object's first member.
    @usableFromInline
    func firstChild(at index: Int) -> Int { index &+ IndexEntry.wordCount }

    @usableFromInline
    func end(at index: Int) -> Int { index &+ entry(at: index).extent }

    @usableFromInline
    func kind(at index: Int) -> JSONKind { entry(at: index).kind }

    /// Returns the number of elements or members; 0 for every other kind.
    @usableFromInline
    func count(at index: Int) -> Int {
        let entry = entry(at: index)
        return entry.isContainer ? self.entry(at: index &+ entry.extent).extent : 0
    }

    /// Returns the elements of an array, or `nil` if the value is not an array or an element is not of the requested
    /// kind.
    @inline(__always)
    func array<Element>(at index: Int, of read: (_ index: Int) -> Element?) -> [Element]? {
        guard kind(at: index) == .array else { return nil }
        var array: [Element] = []
        array.reserveCapacity(count(at: index))
        var place = firstChild(at: index)
        let end = end(at: index)
        while place < end {
            guard let element = read(place) else { return nil }
            array.append(element)
            place &+= stride(at: place)
        }
        return array
    }

    @usableFromInline
    func string(at index: Int) -> String? {
        let entry = entry(at: index)
        if entry.rawTag == IndexEntry.Tag.string.rawValue {
            return text(entry.offset..<(entry.offset &+ entry.extent))
        }
        return entry.isString ? StringText(entry: entry).text(in: self) : nil
    }

    @usableFromInline
    func isString(_ text: String, at index: Int) -> Bool {
        let entry = entry(at: index)
        return entry.isString && StringText(entry: entry).equals(text.utf8, in: bytes)
    }

    func nameText(ofValueAt index: Int) -> String {
        StringText(entry: name(ofValueAt: index).string(in: bytes)).text(in: self)
    }

    @usableFromInline
    func bool(at index: Int) -> Bool? {
        switch entry(at: index).rawTag {
        case IndexEntry.Tag.true.rawValue: true
        case IndexEntry.Tag.false.rawValue: false
        default: nil
        }
    }

    func number(at index: Int) -> NumberText<UInt64>? {
        let entry = entry(at: index)
        return entry.isNumber ? NumberText(bytes, at: entry.offset, count: entry.extent) : nil
    }

    @usableFromInline
    func int64(at index: Int) -> Int64? {
        let entry = entry(at: index)
        if entry.rawTag == IndexEntry.Tag.integer.rawValue, entry.extent <= 18 {
            return NumberText.shortInteger(bytes, at: entry.offset, count: entry.extent)
        }
        return number(at: index)?.integer()
    }

    @usableFromInline
    func uint64(at index: Int) -> UInt64? { number(at: index)?.integer() }

    /// Returns the number, or `nil` if it is not an integer that the type can represent.
    @inline(__always)
    func integer<T: FixedWidthInteger>(at index: Int) -> T? {
        if let signed = int64(at: index) { return T(exactly: signed) }
        if T.bitWidth > 64 { return wideInteger(at: index) }
        return uint64(at: index).flatMap(T.init(exactly:))
    }

    private func wideInteger<T: FixedWidthInteger>(at index: Int) -> T? {
        let entry = entry(at: index)
        guard entry.isNumber else { return nil }
        return NumberText<UInt128>(bytes, at: entry.offset, count: entry.extent).integer()
    }

    @usableFromInline
    func double(at index: Int) -> Double? {
        guard let number = number(at: index) else { return nil }
        if let value = number.quickDouble ?? number.wideDouble { return value }
        guard let value = Double(numberText(at: index)), value.isFinite else { return nil }
        return value
    }

    func float(at index: Int) -> Float? {
        guard entry(at: index).isNumber, let value = Float(numberText(at: index)), value.isFinite else { return nil }
        return value
    }

    func decimal(at index: Int) -> Decimal? {
        guard let number = number(at: index) else { return nil }
        if let quick = number.quickDecimal { return quick }
        guard let value = Decimal(string: numberText(at: index)), !value.isNaN else { return nil }
        return value
    }

    /// The redacted, truncated start of the document for errors.
    var bodyStart: String {
        if let made = bodyStartText.load() { return made.text }
        return bodyStartText.storeIfNil(BodyStart(text: GrammarCheck.bodyStart(bytes))).text
    }

    /// Returns a number as written in the document.
    func numberText(at index: Int) -> String {
        let entry = entry(at: index)
        return text(entry.offset..<(entry.offset &+ entry.extent))
    }
}
