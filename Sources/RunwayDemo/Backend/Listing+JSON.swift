#if Command
    import Foundation
    import Runway

    extension Listing.Kind {
        /// The prefix of listing ids in the team's format.
        var idPrefix: String {
            switch self {
            case .secondHand: "E"
            case .rental: ""
            case .newHome: "xf-"
            }
        }

        /// The number that stands for listing 0 in the team's ids.
        var firstNumber: Int {
            switch self {
            case .secondHand: 100_000
            case .rental: 2_000_000
            case .newHome: 0
            }
        }
    }

    extension Listing {
        var json: ParameterValue {
            switch kind {
            case .secondHand: .object(secondHand)
            case .rental: .object(rental)
            case .newHome: .object(newHome)
            }
        }

        /// The second-hand team's format. Most values are at the top level.
        private var secondHand: Parameters {
            var item: Parameters = [
                "esf_id": "E\(Kind.secondHand.firstNumber + number)",
                "esf_title": .string(title.chinese), "esf_title_en": .string(title.english),
                "esf_description": .string(description.chinese),
                "esf_image_url": .string(imageURLs[0]), "esf_images": .array(imageURLs.map { .string($0) }),
                // The unit is 万: 523.4 means 5,234,000 yuan.
                "esf_total_price": .double(Double(price / 1000) / 10),
                "esf_unit_price": .integer(Int64((Double(price) / squareMetres).rounded())),
                "esf_area": .double(squareMetres), "esf_rooms": .count(rooms), "esf_halls": .count(halls),
                "esf_baths": .count(baths),
                "esf_floor": ["esf_level": .count(level), "esf_total_levels": .count(totalLevels)],
                "esf_orientation": .string(orientation.chinese), "esf_year_built": .count(yearBuilt),
                "esf_city": .string(city.name.chinese), "esf_district": .string(district.name.chinese),
                "esf_district_en": .string(district.name.english), "esf_community": .string(community.chinese),
                "esf_address": .string(address), "esf_lat": .double(latitude), "esf_lng": .double(longitude),
                "esf_tags": .array(tags.map { .string($0.chinese) }),
                "esf_agent": [
                    "esf_agent_name": .string(agent.name.chinese), "esf_agent_name_en": .string(agent.name.english),
                    "esf_agent_company": .string(agent.agency.chinese), "esf_agent_phone": .string(agent.phone),
                    "esf_agent_rating": .double(agent.rating),
                ],
                "esf_listed_at": .string(Date(timeIntervalSince1970: Double(publishedAt)).formatted(.iso8601)),
                "esf_has_video": .bool(hasVideo), "esf_verified": .bool(isVerified),
            ]
            item["esf_metro"] = metro.map { "\($0.line)号线\($0.station.chinese)站 步行\($0.walkMinutes)分钟" }
            return item
        }

        /// The rental team's format: numbers for ids and times, text for coordinates, and nested objects.
        private var rental: Parameters {
            var item: Parameters = [
                "zf_id": .count(Kind.rental.firstNumber + number), "zf_name": .string(title.chinese),
                "zf_subtitle": .string(title.english), "zf_intro": .string(description.chinese),
                "zf_rent": .count(price),
                "zf_deposit_months": .count(1 + number % 3), "zf_cover": .string(imageURLs[0]),
                "zf_photos": .array(imageURLs.map { ["url": .string($0), "width": 1280, "height": 960] }),
                "zf_size_sqm": .double(squareMetres), "zf_layout": "\(rooms)室\(halls)厅\(baths)卫",
                // The values mean one room of the flat, and the whole flat.
                "zf_mode": rooms > 3 ? "合租" : "整租",
                "zf_floor": "\(level)/\(totalLevels)层", "zf_direction": .string(orientation.english),
                "zf_region": [
                    "city": .string(city.name.chinese), "code": .string(district.code),
                    "name": .string(district.name.chinese), "name_en": .string(district.name.english),
                ],
                "zf_estate": .string(community.chinese), "zf_street": .string(address),
                "zf_location": ["lat": "\(latitude)", "lon": "\(longitude)"],
                "zf_facilities": .array(
                    ListingVocabulary.facilities.prefix(2 + number % 5).map { .string($0.chinese) }),
                "zf_labels": .array(tags.map { [.string($0.chinese), .string($0.english)] }),
                "zf_contact": [
                    "name": .string(agent.name.chinese), "company": .string(agent.agency.english),
                    "phone": .string(agent.phone), "score": .double(agent.rating),
                ],
                "zf_published": .count(publishedAt), "zf_min_months": .count(6 + number % 7),
                "zf_pets": .count(number % 2), "zf_checked": .bool(isVerified), "zf_has_video": .bool(hasVideo),
            ]
            item["zf_metro"] = metro.map { metro in
                [
                    "line": .count(metro.line), "station": .string(metro.station.chinese),
                    "walk_minutes": .count(metro.walkMinutes),
                ]
            }
            return item
        }

        /// The new-homes team's format: prices as text, coordinates as `[longitude, latitude]`, and nested arrays.
        private var newHome: Parameters {
            let areas: ParameterValue = [.double(squareMetres), .double((squareMetres * 14).rounded() / 10)]
            let images = imageURLs.map { ParameterValue.string($0) }
            let yuan = price.formatted(.number.locale(Locale(identifier: "en_US")).grouping(.automatic))
            return [
                "xinfang_id": "xf-\(number)", "xinfang_headline": .string(title.chinese),
                "xinfang_headline_en": .string(title.english), "xinfang_about": .string(description.chinese),
                "xinfang_picture": images[0],
                "xinfang_album": [.array(Array(images.prefix(2))), .array(Array(images.dropFirst(2)))],
                "xinfang_average_price": "\(yuan)元/㎡", "xinfang_area_range": areas,
                "xinfang_room_types": .array(
                    [rooms, rooms + 1].map { rooms in
                        [
                            "type": "\(rooms)室\(halls)厅", "square_metres": areas,
                            "plans": [["A\(rooms)", "B\(rooms)"], ["C\(rooms)"]],
                        ]
                    }),
                "xinfang_storeys": .count(totalLevels), "xinfang_facing": .string(orientation.chinese),
                "xinfang_completion": "\(yearBuilt)-\(["03", "06", "09", "12"][number % 4])",
                "xinfang_city": .string(city.name.chinese), "xinfang_zone": .string(district.name.chinese),
                "xinfang_zone_en": .string(district.name.english), "xinfang_project": .string(community.chinese),
                "xinfang_project_en": .string(community.english), "xinfang_site": .string(address),
                "xinfang_coordinate": [.double(longitude), .double(latitude)],
                "xinfang_transport": metro.map {
                    ["地铁\($0.line)号线", .string($0.station.chinese), "\($0.walkMinutes)"]
                } ?? [],
                "xinfang_features": .array(tags.map { .string($0.chinese) }),
                "xinfang_buildings": .array(
                    (1...2).map { building in
                        [
                            "name": "\(building)号楼", "storeys": .count(totalLevels),
                            "units": .count(totalLevels * 2 * building),
                        ]
                    }),
                "xinfang_developer": .string(agent.agency.chinese),
                "xinfang_adviser": ["name": .string(agent.name.chinese), "phone": .string(agent.phone)],
                "xinfang_on_sale": .bool(isVerified), "xinfang_updated": .count(publishedAt),
            ]
        }
    }

    extension ParameterValue {
        fileprivate static func count(_ number: Int) -> ParameterValue { .integer(Int64(number)) }
    }
#endif
