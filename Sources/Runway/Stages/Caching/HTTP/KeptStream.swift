extension BodyStream {
    /// This stream, of which a copy is given to `keep` when it has come to its end; `nil` is, as soon as it proves to be larger than that.
    func copied(upTo maximumByteCount: Int, _ keep: @escaping @Sendable ([UInt8]?) -> Void) -> BodyStream {
        BodyStream {
            var iterator = makeAsyncIterator()
            var copy: [UInt8]? = []
            return {
                // What is torn off throws, and is not kept.
                guard let part = try await iterator.next() else {
                    if let whole = copy { keep(whole) }
                    copy = nil
                    return nil
                }
                if let count = copy?.count, count + part.count <= maximumByteCount {
                    copy?.append(contentsOf: part)
                } else if copy != nil {
                    copy = nil
                    keep(nil)
                }
                return part
            }
        }
    }
}
