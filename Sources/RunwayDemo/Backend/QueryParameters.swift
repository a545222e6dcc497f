#if Command
    import HummingbirdCore

    /// A request's query, read parameter by parameter; an invalid value fails as ``BackendFailure/badParameter``.
    struct QueryParameters {
        /// The longest delay of a response.
        static let maximumDelayMilliseconds = 5000

        private let uri: URI

        init(of uri: URI) {
            self.uri = uri
        }

        /// Returns the value of `name`; nil when it is missing or empty.
        func string(_ name: String) -> String? {
            guard let value = uri.queryParameters[name[...]], !value.isEmpty else { return nil }
            return String(value)
        }

        /// Returns the value of `name` as an integer of `range`; nil when it is missing or empty.
        func integer(_ name: String, in range: ClosedRange<Int>) throws(BackendFailure) -> Int? {
            guard let text = string(name) else { return nil }
            guard let value = Int(text), range.contains(value) else {
                throw .badParameter(
                    name: name, found: text, expected: "an integer from \(range.lowerBound) to \(range.upperBound)")
            }
            return value
        }

        /// Returns the value of `delay_ms`, the delay of the response, at most ``maximumDelayMilliseconds``.
        func delay(default milliseconds: Int) throws(BackendFailure) -> Duration {
            .milliseconds(try integer("delay_ms", in: 0...Self.maximumDelayMilliseconds) ?? milliseconds)
        }

        /// Returns the filter of `city`, `district`, and a price limit called `maximumPrice` in units of `yuanPerUnit`.
        ///
        /// A district needs its city, since two cities may have districts of one name.
        func filter(maximumPrice: String, yuanPerUnit: Int) throws(BackendFailure) -> ListingFilter {
            var filter = ListingFilter()
            if let code = string("city") {
                guard let city = City.named(code) else { throw .unknownPlace(code) }
                filter.city = city
            }
            if let code = string("district") {
                guard let city = filter.city else {
                    throw .badParameter(name: "district", found: code, expected: "to come with a city")
                }
                guard let district = city.district(named: code) else { throw .unknownPlace("\(city.code)/\(code)") }
                filter.district = district
            }
            filter.maximumPrice = try integer(maximumPrice, in: 0...1_000_000_000).map { $0 * yuanPerUnit }
            return filter
        }
    }
#endif
