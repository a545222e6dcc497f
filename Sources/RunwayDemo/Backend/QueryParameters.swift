#if Command
    import HummingbirdCore

    /// Reads the query parameters of a request. An invalid value throws ``BackendFailure/badParameter``.
    struct QueryParameters {
        static let maximumDelayMilliseconds = 5000

        private let uri: URI

        init(of uri: URI) {
            self.uri = uri
        }

        /// Returns the value of a parameter; `nil` if it is missing or empty.
        func string(_ name: String) -> String? {
            guard let value = uri.queryParameters[name[...]], !value.isEmpty else { return nil }
            return String(value)
        }

        /// Returns the value of a parameter as an integer within `range`; `nil` if it is missing or empty.
        func integer(_ name: String, in range: ClosedRange<Int>) throws(BackendFailure) -> Int? {
            guard let text = string(name) else { return nil }
            guard let value = Int(text), range.contains(value) else {
                throw .badParameter(
                    name: name, found: text, expected: "an integer from \(range.lowerBound) to \(range.upperBound)")
            }
            return value
        }

        /// Returns the delay of the response, `delay_ms`, at most ``maximumDelayMilliseconds``.
        func delay(default milliseconds: Int) throws(BackendFailure) -> Duration {
            .milliseconds(try integer("delay_ms", in: 0...Self.maximumDelayMilliseconds) ?? milliseconds)
        }

        /// Returns the filter of `city`, `district` and the price limit. `maximumPrice` is the name of the query
        /// parameter for the price limit.
        ///
        /// A district needs its city, since two cities may have districts with the same name.
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
