/// Keys and signatures of the bytes `runway`, made with securesystemslib 1.6.0.
enum ForeignSignature {
    static let rsaPSSKey = """
        -----BEGIN PUBLIC KEY-----
        MIIBojANBgkqhkiG9w0BAQEFAAOCAY8AMIIBigKCAYEA2JOboxu/mXzV8WTtUtgW
        79r+sJSpSD79KU+lmgAJ4Xj2CL9wqDpYv4a6ONL3wGnGjjar16lk9ZLaBuLfFMXN
        31yxkWfI5f0x67FuYuEOr1UzZVtVLQ9ZcHUKIsBVgmgqnO5tzG+VpVZLonRiu6yZ
        a52gD08OeCc3Dji3UVpKohl8WOjVj+NPHwYrzmUpundeiNU5bXmfoYHmvf3Whcjq
        MgkzLVD08XnxscVhUD5sgXiPfMfRXoRP+Z2Z37rxDWd8QH8DV8w0JLm/i1fXbSjL
        qgTUi/vJcmX0btf10e32yrqeOQZdTyHhEOsCZN4vwaRkC2dWsQm2S5Pb1/k7kHV/
        gf4oV0+i5jAKBt0Uv6hOrQbOcCBkQ8iq/nwEdJzCw8HxUWmy2p/KOWOksWQC0SCn
        vLYErzT4M2UccgNiPM+EBFREYI6H0w0ioj60kd+rb0aEFseBl3iGNN8EdkWGs6E6
        M+fK616jWUEFEmUmaiTGYfjvLOnZwDw+ExTXp9Ck79vrAgMBAAE=
        -----END PUBLIC KEY-----

        """
    static let rsaPSSID = "7baac811045d60829980dc400f1b30f3bd855874a1e0b75e32753d0d158de23a"
    static let rsaPSS =
        "649ce2a9c7ba543578527da918bff96769a82af86e5022079af277d5f61b093e81b2bd536fca7ff0406ab52a1d00b193"
        + "98112329ffc8963313fa5eb3410ecbd0eaec8e28aa539ab43dfd43b8b7d767e21bbd0de564313f05720ae684160c4a1a"
        + "b6a96958780286b0c8680002a098a8c649142a2e2f3e9ccce50e297aef81f8fe276225808d42b9da0543d2f63f048f3a"
        + "f496ac92a063658456816008a073b1ff300e85b83d2073f4dd335c98825c2c6dce2850665b0fbde975a16b89377fe8b3"
        + "70b232d70768dbf32ad7a5393be5cb28270a5da8e47613e7ce4ab36d942b6f2802256a751ca7b9cf3f6aaadf122c9270"
        + "e998cda1b89bdd29b108395bd76f8fc111e92c178720b93deeb558b6be611a77c5457dc8eb17d3cc84199d7d45906da7"
        + "67a3f39b937c4534e2d3f48fc36e10bc9771681bfa7b393e98bbc4534fb9f2643a0e690c129796a993a9cebe5707fefd"
        + "e8eb6f7fa3e72223a9234e733606da2e216616ee015b3d1cd993af9e3b1f93df56977b32ef5a2fa611eebfe22baeba11"
    static let p256Key = """
        -----BEGIN PUBLIC KEY-----
        MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEYXkehD1RplMbHW6KErnB89+FGNFH
        K66XBtmtPN7t65u08QDGjb6SVYcG/M2vyMvBqifJgsUElocJOJtzn8+acw==
        -----END PUBLIC KEY-----

        """
    static let p256ID = "8349d6d77e5b33aa78dcbc41b1beb96a51b4661ef5967a2565477baa0d10d296"
    static let p256 =
        "3045022100f64f258e10b8703dd2cd874423f0fbd83722341acd20b05c029cddbfa6624f9502203ebbd1a75c7ecdcb24"
        + "bec34f84779ae1c06831a9dd456559b88768e4187e9547"
    static let ed25519Key = "514875b572b95a607cfff5c00548c9baff1f0f2273d983d4f9e4218e07687723"
    static let ed25519ID = "3b34cad4e2afdf96885e998cd6f779b9aa74e4137c0c28cd5f4bcec63592e645"
    static let ed25519 =
        "415270906e54cc4ef5e859cf79708bde8d9e02ddec32db60c79ae823333c968d157254f3cef421029262eae6e07e1f65"
        + "bf53027630237426c965ad0be9ea120e"
}
