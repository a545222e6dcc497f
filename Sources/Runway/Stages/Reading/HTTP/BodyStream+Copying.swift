extension BodyStream {
    /// This stream, which passes a copy to `store` when it ends; `nil` as soon as it is larger than the limit.
    func copied(upTo maximumByteCount: Int, _ store: @escaping @Sendable ([UInt8]?) -> Void) -> BodyStream {
        BodyStream {
            var iterator = makeAsyncIterator()
            var copy: [UInt8]? = []
            return {
                // A truncated stream throws, and is not stored.
                guard let part = try await iterator.next() else {
                    if let whole = copy { store(whole) }
                    copy = nil
                    return nil
                }
                if let count = copy?.count, count + part.count <= maximumByteCount {
                    copy?.append(contentsOf: part)
                } else if copy != nil {
                    copy = nil
                    store(nil)
                }
                return part
            }
        }
    }
}
