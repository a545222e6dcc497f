#if Command
    import Foundation

    /// The expected text of the row of a listing, derived from the listing itself and from no response.
    ///
    /// It computes independently the rows that backend, reformer and row view produce together, so that a mistake that
    /// they have in common is found.
    extension Listing {
        var rowText: String {
            let (id, price) =
                switch kind {
                case .secondHand: ("E\(100_000 + number)", "\(priceText) 万")
                case .rental: ("\(2_000_000 + number)", "\(price) 元/月")
                case .newHome: ("xf-\(number)", "\(grouped(price))元/㎡")
                }
            return
                "\(id)  \(title.chinese)  \(price) · \(squareMetres) ㎡ · \(city.name.chinese)\(district.name.chinese)"
        }

        /// The expected text of the pin of a second-hand home.
        var pinText: String { "📍 \(latitude), \(longitude)  \(priceText) 万" }

        /// 万, to a tenth.
        private var priceText: String { "\(Double(price) / 10_000)" }

        private func grouped(_ number: Int) -> String {
            number.formatted(.number.locale(Locale(identifier: "en_US")).grouping(.automatic))
        }
    }

    extension ListingCatalogue {
        /// Returns the listings of a kind that should be on the first page of a list.
        func first(
            _ count: Int, of kind: Listing.Kind, city: String, district: String? = nil, priceAtMost maximum: Int = .max
        ) -> [Listing] {
            let found = self[kind].lazy.filter { listing in
                listing.city.code == city && (district.map { listing.district.code == $0 } ?? true)
                    && listing.price <= maximum
            }
            return Array(found.prefix(count))
        }
    }
#endif
