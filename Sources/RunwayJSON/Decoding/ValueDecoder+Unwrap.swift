#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension ValueDecoder {
    /// Decodes any type, and applies the strategies for dates, data and numbers.
    func unwrap<T: Decodable>(_ type: T.Type) throws -> T { try unwrap(type, context.way(type)) }

    private func unwrap<T: Decodable>(_ type: T.Type, _ way: DecodingWay) throws -> T {
        switch way {
        case .itself: try T(from: self)
        case .string: sameType(try string(), as: type)
        case .int: sameType(try integer() as Int, as: type)
        case .double: sameType(try double(), as: type)
        case .bool: sameType(try bool(), as: type)
        case .strings: try [String].decode(from: self, as: type)
        case .ints: try [Int].decode(from: self, as: type)
        case .doubles: try [Double].decode(from: self, as: type)
        case .collection(let collection): try collection.decode(from: self, as: type)
        case .date: sameType(try date(), as: type)
        case .data: sameType(try data(), as: type)
        case .url: sameType(try url(), as: type)
        case .decimal: sameType(try decimal(), as: type)
        }
    }

    /// Decodes a type from a child of this value. Most types are first read without a new ``ValueDecoder``: only an
    /// error needs the coding path.
    func unwrap<T: Decodable>(
        _ type: T.Type, _ way: DecodingWay, at index: Int, by key: @autoclosure () -> any CodingKey
    ) throws -> T {
        switch way {
        case .string:
            if let string = storage.string(at: index) { return sameType(string, as: type) }
        case .int:
            if let int = storage.integer(at: index) as Int? { return sameType(int, as: type) }
        case .double:
            if let double = storage.double(at: index) { return sameType(double, as: type) }
        case .strings:
            if let strings = storage.array(at: index, of: { storage.string(at: $0) }) {
                return sameType(strings, as: type)
            }
        case .ints:
            if let ints = storage.array(at: index, of: { storage.integer(at: $0) as Int? }) {
                return sameType(ints, as: type)
            }
        case .doubles:
            if let doubles = storage.array(at: index, of: { storage.double(at: $0) }) {
                return sameType(doubles, as: type)
            }
        default: break
        }
        return try below(key(), at: index).unwrap(type, way)
    }

    private func date() throws -> Date {
        if kind == .null { throw mismatch(Date.self) }
        switch context.strategies.dateDecodingStrategy {
        case .deferredToDate: return try Date(from: self)
        case .secondsSince1970: return Date(timeIntervalSince1970: try double())
        case .millisecondsSince1970: return Date(timeIntervalSince1970: try double() / 1000)
        case .custom(let decode): return try decode(self)
        case .iso8601:
            let text = try string()
            guard let date = try? Date.ISO8601FormatStyle().parse(text) else {
                throw DecodingError.dataCorrupted(context("Expected date string to be ISO8601-formatted."))
            }
            return date
        case .formatted(let read):
            guard let date = read(try string()) else {
                throw DecodingError.dataCorrupted(context("Date string does not match format expected by formatter."))
            }
            return date
        }
    }

    private func data() throws -> Data {
        if kind == .null { throw mismatch(Data.self) }
        if case .deferredToData = context.strategies.dataDecodingStrategy { return try Data(from: self) }
        if case .custom(let decode) = context.strategies.dataDecodingStrategy { return try decode(self) }
        guard let data = Data(base64Encoded: try string()) else {
            throw DecodingError.dataCorrupted(context("Encountered Data is not valid Base64."))
        }
        return data
    }

    private func decimal() throws -> Decimal {
        guard kind == .number else { throw mismatch(Decimal.self) }
        guard let decimal = value.decimal else { throw unrepresentable(Decimal.self) }
        return decimal
    }

    private func url() throws -> URL {
        if kind == .null { throw mismatch(URL.self) }
        guard let url = URL(string: try string()) else {
            throw DecodingError.dataCorrupted(context("Invalid URL string."))
        }
        return url
    }
}
