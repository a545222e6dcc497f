#if Command
    /// The words from which titles, names and tags are put together. Every name is made up.
    enum ListingVocabulary {
        typealias Text = Listing.Text

        static let communityBeginnings: [Text] = [
            .init(chinese: "锦绣", english: "Jinxiu"), .init(chinese: "金桂", english: "Golden Osmanthus"),
            .init(chinese: "翠湖", english: "Green Lake"), .init(chinese: "云山", english: "Cloud Hill"),
            .init(chinese: "春江", english: "Spring River"), .init(chinese: "梧桐", english: "Parasol"),
            .init(chinese: "望月", english: "Moonrise"), .init(chinese: "和风", english: "Gentle Wind"),
            .init(chinese: "书香", english: "Scholar"), .init(chinese: "朗庭", english: "Bright Court"),
        ]
        static let communityEndings: [Text] = [
            .init(chinese: "花园", english: "Garden"), .init(chinese: "家园", english: "Homes"),
            .init(chinese: "公馆", english: "Residence"), .init(chinese: "小区", english: "Estate"),
            .init(chinese: "新城", english: "New Town"), .init(chinese: "名苑", english: "Court"),
        ]
        static let streets = ["人民路", "解放街", "文一西路", "中山大道", "建设北路", "青年路", "学院路", "滨河大道"]
        static let surnames: [Text] = [
            .init(chinese: "王", english: "Wang"), .init(chinese: "李", english: "Li"),
            .init(chinese: "张", english: "Zhang"), .init(chinese: "陈", english: "Chen"),
            .init(chinese: "赵", english: "Zhao"), .init(chinese: "欧阳", english: "Ouyang"),
            .init(chinese: "吕", english: "Lü"), .init(chinese: "周", english: "Zhou"),
        ]
        static let givenNames: [Text] = [
            .init(chinese: "伟", english: "Wei"), .init(chinese: "秀英", english: "Xiuying"),
            .init(chinese: "子涵", english: "Zihan"), .init(chinese: "建国", english: "Jianguo"),
            .init(chinese: "思远", english: "Siyuan"), .init(chinese: "雨桐", english: "Yutong"),
            .init(chinese: "明", english: "Ming"), .init(chinese: "晓燕", english: "Xiaoyan"),
        ]
        static let agencies: [Text] = [
            .init(chinese: "安心置业", english: "Peace of Mind Realty"), .init(chinese: "百家房产", english: "Hundred Homes"),
            .init(chinese: "四海找房", english: "Four Seas"), .init(chinese: "青瓦地产", english: "Grey Tile & Sons"),
        ]
        static let stations: [Text] = [
            .init(chinese: "人民广场", english: "People's Square"), .init(chinese: "体育中心", english: "Sports Centre"),
            .init(chinese: "大学城", english: "University Town"), .init(chinese: "科技园", english: "Science Park"),
            .init(chinese: "火车东站", english: "East Railway Station"),
            .init(chinese: "文化宫", english: "Palace of Culture"),
        ]
        static let orientations: [Text] = [
            .init(chinese: "南", english: "south"), .init(chinese: "南北", english: "south and north"),
            .init(chinese: "东南", english: "south-east"), .init(chinese: "西", english: "west"),
            .init(chinese: "东", english: "east"),
        ]
        static let tags: [Text] = [
            .init(chinese: "满五唯一", english: "tax-free resale"), .init(chinese: "近地铁", english: "near the metro"),
            .init(chinese: "精装修", english: "fully fitted"), .init(chinese: "随时看房", english: "view any time"),
            .init(chinese: "有电梯", english: "lift"), .init(chinese: "有车位", english: "parking"),
            .init(chinese: "学校旁", english: "by a school"), .init(chinese: "可养宠物", english: "pets welcome"),
            .init(chinese: "采光好", english: "bright"), .init(chinese: "低密度", english: "low density"),
        ]
        static let facilities: [Text] = [
            .init(chinese: "空调", english: "air conditioning"), .init(chinese: "洗衣机", english: "washing machine"),
            .init(chinese: "冰箱", english: "fridge"), .init(chinese: "热水器", english: "water heater"),
            .init(chinese: "宽带", english: "broadband"), .init(chinese: "阳台", english: "balcony"),
        ]

        /// Texts of sellers. Some contain characters that a JSON writer must escape.
        static let praises: [Text] = [
            .init(chinese: "\"采光之王\"，南北通透", english: "\"King of light\", windows on both sides"),
            .init(chinese: "业主急售，价格可谈", english: "Owner must sell, price open"),
            .init(chinese: "楼下就是地铁\\公交换乘", english: "Metro\\bus interchange downstairs"),
            .init(chinese: "带露台，适合三代同堂 🏡", english: "With a terrace, room for three generations 🏡"),
            .init(chinese: "书房/次卧两用", english: "Study/second bedroom"),
            .init(chinese: "安静的内院 <不临街>", english: "Quiet courtyard <off the street>"),
            .init(chinese: "推窗见湖", english: "Lake outside the window, the owner's favourite"),
        ]

        /// Descriptions. One has a line break and a tab.
        static let descriptions: [Text] = [
            .init(
                chinese: "房屋保养良好，家具家电齐全，\n拎包入住。\t欢迎预约看房。",
                english: "Well cared for and furnished;\nmove in today.\tCall ahead."),
            .init(chinese: "小区绿化率高，物业二十四小时值班。", english: "Leafy grounds with staff on duty day and night."),
            .init(chinese: "户型方正，客厅带落地窗，视野开阔。", english: "A square plan; the sitting room has a window to the floor."),
            .init(chinese: "步行可达菜市场、公园与社区医院。", english: "Market, park and clinic within a walk."),
        ]
    }
#endif
