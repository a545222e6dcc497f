#if Command
    import Foundation

    /// The expected text of a listing's row, computed from the listing and not from a response.
    ///
    /// The backend, the app's `Reformer` and the row view produce the shown text together. The separate computation
    /// here reveals a mistake that they share.
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

        /// The expected text of a second-hand home's pin.
        var pinText: String { "📍 \(latitude), \(longitude)  \(priceText) 万" }

        /// The price in 万, with one decimal.
        private var priceText: String { "\(Double(price) / 10_000)" }

        private func grouped(_ number: Int) -> String {
            number.formatted(.number.locale(Locale(identifier: "en_US")).grouping(.automatic))
        }
    }

    extension ListingCatalogue {
        /// Returns the listings that should be on the first page of a list.
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
