/// The JSON Schema of documents, made from the tables of nodes and attributes.
///
/// Editors complete and check documents that name it in `$schema`. The reader of ``ViewDocument`` is more tolerant: it
/// ignores what it does not know. Paths inside texts, names, tokens and templates are checked by the reader only.
public enum ViewSchema {
    /// The schema as text (JSON Schema 2020-12), one member per line, as in `docs/view.schema.json`.
    public static var text: String {
        let properties =
            NodeMember.allCases.map { ($0.rawValue, schema(of: $0)) }
            + Attribute.allCases.map { ($0.rawValue, schema(of: $0)) }
        let kinds = NodeKind.allCases.map { kind in
            let others =
                NodeMember.allCases.filter { !$0.isMember(of: kind) }.map(\.rawValue)
                + (kind == .use ? Attribute.allCases.map(\.rawValue) : [])
            let required = kind == .use ? #", "required": ["template"]"# : ""
            let absent = others.map { "\"\($0)\": false" }.joined(separator: ", ")
            return
                #"        { "if": { "properties": { "node": { "const": "\#(kind.rawValue)" } } }, "then": { "properties": { \#(absent) }\#(required) } }"#
        }
        return """
            {
              "$schema": "https://json-schema.org/draft/2020-12/schema",
              "title": "A view of Runway",
              "if": { "required": ["node"] },
              "then": { "$ref": "#/$defs/node" },
              "else": {
                "type": "object", "required": ["view"], "additionalProperties": false,
                "properties": {
                  "$schema": { "type": "string" },
                  "view": { "$ref": "#/$defs/node" },
                  "templates": { "type": "object", "additionalProperties": { "$ref": "#/$defs/node" } }
                }
              },
              "$defs": {
                "path": { "type": "string", "pattern": "\(path("^", "$"))" },
                "condition": { "type": "string", "pattern": "\(path("^!?", "$"))" },
                "token": { "type": "string", "pattern": "^\\\\$" },
                "content": { "type": ["string", "number", "boolean"] },
                "color": { "type": "string", "pattern": "^#([0-9A-Fa-f]{3,4}|[0-9A-Fa-f]{6}|[0-9A-Fa-f]{8})$" },
                "event": {
                  "oneOf": [
                    { "type": "string" },
                    { "type": "object", "required": ["name"], "properties": { "name": { "type": "string" }, "detail": true } }
                  ]
                },
                "node": {
                  "type": "object", "required": ["node"], "additionalProperties": false,
                  "properties": {
            \(properties.map { "        \"\($0)\": \($1)" }.joined(separator: ",\n"))
                  },
                  "allOf": [
            \(kinds.joined(separator: ",\n"))
                  ]
                }
              }
            }

            """
    }

    /// The pattern of a path in braces, escaped for JSON.
    private static func path(_ before: String, _ after: String) -> String {
        let name = #"[^{}.\\s]+"#
        return #"\#(before)\\{\#(name)(\\.\#(name)){0,15}\\}\#(after)"#
    }

    private static func list(_ words: some Sequence<String>) -> String {
        "[\(words.map { "\"\($0)\"" }.joined(separator: ", "))]"
    }

    private static func schema(of member: NodeMember) -> String {
        switch member {
        case .node: #"{ "enum": \#(list(NodeKind.allCases.map(\.rawValue))) }"#
        case .if: ##"{ "$ref": "#/$defs/condition" }"##
        case .each: ##"{ "$ref": "#/$defs/path" }"##
        case .as, .name, .template: #"{ "type": "string" }"#
        case .else: ##"{ "$ref": "#/$defs/node" }"##
        case .children: ##"{ "type": "array", "items": { "$ref": "#/$defs/node" } }"##
        case .layout: #"{ "enum": \#(list(BoxLayout.allCases.map(\.rawValue))), "default": "column" }"#
        case .mode: #"{ "enum": \#(list(InputMode.allCases.map(\.rawValue))), "default": "text" }"#
        case .heading: #"{ "type": "integer", "minimum": 1, "maximum": 6 }"#
        case .key, .label, .text, .source, .value, .placeholder: ##"{ "$ref": "#/$defs/content" }"##
        case .with: #"{ "type": "object" }"#
        case .on:
            ##"{ "type": "object", "additionalProperties": false, "properties": { "##
                + Gesture.allCases.map { ##""\##($0.rawValue)": { "$ref": "#/$defs/event" }"## }.joined(separator: ", ")
                + " } }"
        }
    }

    private static func schema(of attribute: Attribute) -> String {
        let row = attribute.row
        let about = "\(row.property) in a style sheet, \(row.modifier) in SwiftUI"
        return
            ##"{ "description": "\##(about)", "anyOf": [\##(schema(of: row.form)), { "$ref": "#/$defs/path" }, { "$ref": "#/$defs/token" }] }"##
    }

    private static func schema(of form: ValueForm) -> String {
        func number(_ range: ClosedRange<Double>, _ type: String = "number") -> String {
            #"{ "type": "\#(type)", "minimum": \#(range.lowerBound.plain), "maximum": \#(range.upperBound.plain) }"#
        }
        switch form {
        case .number(let range, let unit): return number(range, unit == .whole ? "integer" : "number")
        case .length: return number(ValueForm.lengths) + #", { "enum": \#(list(ValueForm.sizes.keys.sorted())) }"#
        case .flag: return #"{ "type": "boolean" }"#
        case .keyword(let words): return #"{ "enum": \#(list(words.keys.sorted())) }"#
        case .color:
            let color = ##"{ "$ref": "#/$defs/color" }"##
            return color
                + #", { "type": "object", "required": ["light", "dark"], "additionalProperties": false, "properties": { "light": \#(color), "dark": \#(color) } }"#
        case .animation:
            let properties = ViewAnimation.Property.allCases.map { property in
                #"{ "properties": { "property": { "const": "\#(property.rawValue)" }, "from": \#(number(property.range)), "to": \#(number(property.range)) } }"#
            }
            return
                #"{ "type": "object", "required": ["property", "from", "to", "seconds"], "properties": { "seconds": \#(number(ViewAnimation.durations)), "repeats": { "type": "boolean" }, "reverses": { "type": "boolean" } }, "oneOf": [\#(properties.joined(separator: ", "))] }"#
        }
    }
}
