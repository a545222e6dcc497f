/// A listing response as backends write it: items of 25 fields with nested arrays, Chinese text and escapes.
struct ListingDocument {
    private var state: UInt64 = 20_261_121

    private mutating func number(_ bound: Int) -> Int {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return Int((state >> 33) % UInt64(bound))
    }

    private mutating func pick(_ texts: [String]) -> String { texts[number(texts.count)] }

    /// The bytes of a document with so many items.
    static func bytes(itemCount: Int) -> [UInt8] {
        var document = ListingDocument()
        let items = (0..<itemCount).map { document.item($0) }.joined(separator: ",")
        let text =
            #"{"code":0,"message":"成功","request_id":"7f3c1c9e-51f2-4b52-9b1e","data":{"total":\#(itemCount),"list":[\#(items)]}}"#
        return Array(text.utf8)
    }

    private mutating func item(_ index: Int) -> String {
        let district = pick(["浦东新区", "徐汇区", "静安区", "长宁区", "Huangpu", "杨浦区"])
        let community = pick(["陆家嘴花园", "世纪公园名邸", "中远两湾城", "Greenville 绿城", "仁恒河滨城"])
        let images = (0..<4).map { #""https:\/\/img.example.com\/l\/\#(index)\/\#(number(1_000_000))_\#($0).jpg""# }
        let tags = (0..<3).map { _ in "\"\(pick(["近地铁", "满五唯一", "精装修", "南北通透", "随时看房", "VR"]))\"" }
        let subway = (0..<2).map { _ in
            #"{"line":"\#(number(18) + 1)号线","station":"\#(pick(["世纪大道", "徐家汇", "静安寺"]))","distance":\#(number(1500))}"#
        }
        return """
            {"id":\(7_300_000_000 + index),"title":"\(community) \(pick(["三室两厅", "两室一厅", "一室户"])) 采光好 \(pick(["拎包入住", "业主诚售", "价格可谈"]))",\
            "subtitle":"\(district)·\(community) \\"\(pick(["稀缺", "特价", "新上"]))\\"","type":"\(pick(["esf", "zf", "xinfang"]))",\
            "price":\(100_000 + number(9_000_000)),"unit_price":\(number(120_000)).\(number(100)),"area":\(30 + number(200)).\(number(10)),\
            "layout":"\(1 + number(5))室\(number(3))厅\(1 + number(2))卫","floor":"\(pick(["低", "中", "高"]))楼层\\/共\(number(33) + 1)层",\
            "orientation":"\(pick(["南", "南北", "东南", "西"]))","decoration":"\(pick(["精装", "简装", "毛坯"]))","built_year":\(1990 + number(35)),\
            "district":{"id":\(number(100)),"name":"\(district)"},"community":{"id":\(number(100_000)),"name":"\(community)","address":"\(district)世纪大道\(number(3000))号"},\
            "location":[121.\(100_000 + number(899_999)),31.\(100_000 + number(899_999))],"tags":[\(tags.joined(separator: ","))],\
            "images":[\(images.joined(separator: ","))],"cover":"https://img.example.com/c/\(index)/\(number(1_000_000)).jpg",\
            "subway":[\(subway.joined(separator: ","))],"agent":{"id":"A\(number(100_000))","name":"\(pick(["王芳", "李伟", "Zhang Min"]))","phone":"138\(10_000_000 + number(89_999_999))","score":\(number(5)).\(number(10))},\
            "description":"房源位于\(district)，\(community)，户型方正。\\n业主\\"诚心\\"出售，看房方便，配套齐全。\\n\\u8be6\\u60c5\\u8bf7\\u54a8\\u8be2：周一至周日均可预约，欢迎来电。步行十分钟内有学校、医院、菜场和公园，小区绿化好，物业全天值守。",\
            "is_new":\(number(2) == 0),"is_vip":\(number(2) == 0),"virtual_tour":\(number(2) == 0 ? "null" : "\"https://vr.example.com/\(index)\""),"updated_at":"2026-11-\(10 + number(20))T08:\(10 + number(49)):00Z"}
            """
    }
}
