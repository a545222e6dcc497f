#if Command
    struct City: Sendable, Equatable {
        /// The name of the city in requests, such as `hangzhou`.
        let code: String
        let name: Listing.Text
        let latitude: Double
        let longitude: Double
        let districts: [District]

        /// Returns the city with a code; `nil` if the catalogue has no such city.
        static func named(_ code: String) -> City? { all.first { $0.code == code } }

        /// Returns the district with a code; `nil` if the city has no such district.
        func district(named code: String) -> District? { districts.first { $0.code == code } }
    }

    /// A district of a ``City``.
    struct District: Sendable, Equatable {
        /// The name of the district in requests, such as `xihu`.
        let code: String
        let name: Listing.Text
        /// The average price of a flat per square metre, in yuan.
        let yuanPerSquareMetre: Int

        init(_ code: String, _ name: Listing.Text, _ yuanPerSquareMetre: Int) {
            (self.code, self.name, self.yuanPerSquareMetre) = (code, name, yuanPerSquareMetre)
        }
    }

    extension City {
        static let all: [City] = [
            City(
                code: "beijing", name: "北京|Beijing", latitude: 39.9042, longitude: 116.4074,
                districts: [
                    District("chaoyang", "朝阳|Chaoyang", 72_000), District("haidian", "海淀|Haidian", 89_000),
                    District("fengtai", "丰台|Fengtai", 61_000), District("tongzhou", "通州|Tongzhou", 43_000),
                    District("changping", "昌平|Changping", 41_000),
                ]),
            City(
                code: "shanghai", name: "上海|Shanghai", latitude: 31.2304, longitude: 121.4737,
                districts: [
                    District("pudong", "浦东|Pudong", 68_000), District("xuhui", "徐汇|Xuhui", 92_000),
                    District("jingan", "静安|Jing'an", 95_000), District("minhang", "闵行|Minhang", 58_000),
                    District("yangpu", "杨浦|Yangpu", 74_000),
                ]),
            City(
                code: "hangzhou", name: "杭州|Hangzhou", latitude: 30.2741, longitude: 120.1551,
                districts: [
                    District("xihu", "西湖|Xihu", 46_000), District("shangcheng", "上城|Shangcheng", 49_000),
                    District("binjiang", "滨江|Binjiang", 47_000), District("yuhang", "余杭|Yuhang", 29_000),
                ]),
            City(
                code: "shenzhen", name: "深圳|Shenzhen", latitude: 22.5431, longitude: 114.0579,
                districts: [
                    District("nanshan", "南山|Nanshan", 98_000), District("futian", "福田|Futian", 91_000),
                    District("longgang", "龙岗|Longgang", 46_000), District("baoan", "宝安|Bao'an", 63_000),
                ]),
            City(
                code: "chengdu", name: "成都|Chengdu", latitude: 30.5728, longitude: 104.0668,
                districts: [
                    District("jinjiang", "锦江|Jinjiang", 27_000), District("wuhou", "武侯|Wuhou", 22_000),
                    District("gaoxin", "高新|Gaoxin", 25_000), District("qingyang", "青羊|Qingyang", 21_000),
                ]),
        ]
    }
#endif
