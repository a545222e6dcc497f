#if Command
    /// The words from which titles, names and tags are composed. All names are invented.
    enum ListingVocabulary {
        typealias Text = Listing.Text

        static let communityBeginnings: [Text] = [
            "锦绣|Jinxiu", "金桂|Golden Osmanthus", "翠湖|Green Lake", "云山|Cloud Hill", "春江|Spring River",
            "梧桐|Parasol", "望月|Moonrise", "和风|Gentle Wind", "书香|Scholar", "朗庭|Bright Court",
        ]
        static let communityEndings: [Text] = [
            "花园|Garden", "家园|Homes", "公馆|Residence", "小区|Estate", "新城|New Town", "名苑|Court",
        ]
        static let streets = ["人民路", "解放街", "文一西路", "中山大道", "建设北路", "青年路", "学院路", "滨河大道"]
        static let surnames: [Text] = ["王|Wang", "李|Li", "张|Zhang", "陈|Chen", "赵|Zhao", "欧阳|Ouyang", "吕|Lü", "周|Zhou"]
        static let givenNames: [Text] = [
            "伟|Wei", "秀英|Xiuying", "子涵|Zihan", "建国|Jianguo", "思远|Siyuan", "雨桐|Yutong", "明|Ming", "晓燕|Xiaoyan",
        ]
        static let agencies: [Text] = [
            "安心置业|Peace of Mind Realty", "百家房产|Hundred Homes", "四海找房|Four Seas", "青瓦地产|Grey Tile & Sons",
        ]
        static let stations: [Text] = [
            "人民广场|People's Square", "体育中心|Sports Centre", "大学城|University Town", "科技园|Science Park",
            "火车东站|East Railway Station", "文化宫|Palace of Culture",
        ]
        static let orientations: [Text] = ["南|south", "南北|south and north", "东南|south-east", "西|west", "东|east"]
        static let tags: [Text] = [
            "满五唯一|tax-free resale", "近地铁|near the metro", "精装修|fully fitted", "随时看房|view any time",
            "有电梯|lift", "有车位|parking", "学校旁|by a school", "可养宠物|pets welcome", "采光好|bright",
            "低密度|low density",
        ]
        static let facilities: [Text] = [
            "空调|air conditioning", "洗衣机|washing machine", "冰箱|fridge", "热水器|water heater", "宽带|broadband",
            "阳台|balcony",
        ]

        /// Sellers' texts. Some contain characters that JSON has to escape.
        static let praises: [Text] = [
            "\"采光之王\"，南北通透|\"King of light\", windows on both sides",
            "业主急售，价格可谈|Owner must sell, price open",
            "楼下就是地铁\\公交换乘|Metro\\bus interchange downstairs",
            "带露台，适合三代同堂 🏡|With a terrace, room for three generations 🏡",
            "书房/次卧两用|Study/second bedroom",
            "安静的内院 <不临街>|Quiet courtyard <off the street>",
            "推窗见湖|Lake outside the window, the owner's favourite",
        ]

        static let descriptions: [Text] = [
            "房屋保养良好，家具家电齐全，\n拎包入住。\t欢迎预约看房。|Well cared for and furnished;\nmove in today.\tCall ahead.",
            "小区绿化率高，物业二十四小时值班。|Leafy grounds with staff on duty day and night.",
            "户型方正，客厅带落地窗，视野开阔。|A square plan; the sitting room has a window to the floor.",
            "步行可达菜市场、公园与社区医院。|Market, park and clinic within a walk.",
        ]
    }
#endif
