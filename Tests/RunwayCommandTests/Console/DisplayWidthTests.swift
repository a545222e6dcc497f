import Foundation
import Testing

@testable import RunwayCommand

/// How many columns a text takes on a terminal.
struct DisplayWidthTests {
    @Test(arguments: [
        "", "a", "望月公馆", "“采光之王”，", "50.8 ㎡", "🏡 ok", "e\u{301}", "한국어", "ﾊﾝ", "50,000元/㎡ · 135.5", "…→—",
    ])
    func widthsAreThoseOfTheSystem(text: String) throws {
        let locale = try #require(newlocale(LC_CTYPE_MASK, "C.UTF-8", nil))
        defer { freelocale(locale) }
        let previous = uselocale(locale)
        defer { uselocale(previous) }

        #expect(text.displayWidth == text.unicodeScalars.reduce(0) { $0 + Int(wcwidth(wchar_t($1.value))) })
    }

    @Test func aCutTextEndsWithAnEllipsisAndFits() {
        for columns in 0...12 {
            let text = "望月公馆 2室".fitted(to: columns)
            #expect(text.displayWidth <= columns && (columns < 1 || columns > 11 || text.hasSuffix("…")), "\(columns)")
            #expect("望月公馆 2室".padded(to: columns).displayWidth == columns)
        }
        #expect("望月公馆 2室".fitted(to: 12) == "望月公馆 2室")
    }
}
