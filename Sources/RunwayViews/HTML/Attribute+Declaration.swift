extension Setting {
    /// The declaration in a style sheet. It consists of text of the table and of numbers.
    var declaration: String {
        let row = attribute.row
        return "\(row.property):\(row.before)\(css(row.form))\(row.after)"
    }

    private func css(_ form: ValueForm) -> String {
        switch (form, value) {
        case (.number(_, .points), .number(let number)), (.length, .number(let number)): "\(number.plain)px"
        case (.number(_, .degrees), .number(let number)): "\(number.plain)deg"
        case (_, .number(let number)): number.plain
        case (.length, .keyword(let word)): ValueForm.sizes[word] ?? "auto"
        case (.keyword(let words), .keyword(let word)): words[word] ?? "unset"
        case (_, .keyword): "unset"
        case (.flag(let yes, let no), .flag(let isSet)): isSet ? yes : no
        case (_, .flag): "unset"
        case (_, .color(let light, let dark)): light == dark ? light.css : "light-dark(\(light.css),\(dark.css))"
        case (_, .animation(let animation)): animation.css
        }
    }
}

extension ViewAnimation {
    /// The name of the key frames: equal animations share them.
    var name: String {
        let name = "\(property.rawValue)_\(from.plain)_\(to.plain)"
        return String(name.map { $0 == "." ? "p" : $0 == "+" ? "e" : $0 })
    }

    var css: String {
        "\(seconds.plain)s linear \(repeats ? "infinite" : "1") \(reverses ? "alternate" : "normal") both \(name)"
    }

    var keyFrames: String {
        func state(_ number: Double) -> String {
            switch property {
            case .slide: "translate:calc(var(--inline)*\(number.plain)%)"
            case .opacity, .scale: "\(property.rawValue):\(number.plain)"
            case .rotate: "rotate:\(number.plain)deg"
            }
        }
        return "@keyframes \(name){from{\(state(from))}to{\(state(to))}}"
    }
}
