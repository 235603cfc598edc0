//! The part of JSON Schema (2020-12) that `docs/dataset.schema.json` uses. An unknown keyword is a panic, not a pass. A
//! whole validator as a dependency would be 45 crates for this one schema.

use serde_json::Value;

/// A schema with its definitions.
pub(crate) struct Schema(pub(crate) Value);

impl Schema {
    /// Whether a value follows the schema; if not, the first place where it does not.
    pub(crate) fn check(&self, value: &Value) -> Result<(), String> {
        self.follow(&self.0, value, "")
    }

    fn follow(&self, rules: &Value, value: &Value, at: &str) -> Result<(), String> {
        if let Value::Bool(allowed) = rules {
            return if *allowed { Ok(()) } else { Err(format!("nothing may stand at {at:?}")) };
        }
        for (keyword, rule) in rules.as_object().unwrap() {
            if !self.keyword(keyword, rule, rules, value, at)? {
                return Err(format!("{at:?} breaks {keyword} {rule}"));
            }
        }
        Ok(())
    }

    /// Whether a value follows one keyword. Keywords ignore values of types they do not apply to.
    fn keyword(&self, keyword: &str, rule: &Value, rules: &Value, value: &Value, at: &str) -> Result<bool, String> {
        let length = |least: bool, found: Option<usize>| {
            let limit = usize::try_from(rule.as_u64().unwrap()).unwrap();
            found.is_none_or(|found| if least { found >= limit } else { found <= limit })
        };
        let number =
            |holds: fn(f64, f64) -> bool| value.as_f64().is_none_or(|found| holds(found, rule.as_f64().unwrap()));
        let list = value.as_array();
        Ok(match keyword {
            "$schema" | "$defs" | "title" | "description" => true,
            "$ref" => {
                let target = self.0.pointer(rule.as_str().unwrap().trim_start_matches('#')).unwrap();
                self.follow(target, value, at)?;
                true
            }
            "type" => match rule {
                Value::Array(types) => types.iter().any(|name| is_a(value, name)),
                name => is_a(value, name),
            },
            "const" => value == rule,
            "enum" => rule.as_array().unwrap().contains(value),
            "oneOf" => {
                rule.as_array().unwrap().iter().filter(|inner| self.follow(inner, value, at).is_ok()).count() == 1
            }
            "anyOf" => rule.as_array().unwrap().iter().any(|inner| self.follow(inner, value, at).is_ok()),
            "minimum" => number(|found, limit| found >= limit),
            "maximum" => number(|found, limit| found <= limit),
            "exclusiveMinimum" => number(|found, limit| found > limit),
            "minLength" => length(true, value.as_str().map(|text| text.chars().count())),
            "minItems" => length(true, list.map(Vec::len)),
            "maxItems" => length(false, list.map(Vec::len)),
            "uniqueItems" => list.is_none_or(|list| (1..list.len()).all(|end| !list[..end].contains(&list[end]))),
            "items" => {
                let skipped = rules.get("prefixItems").map_or(0, |prefix| prefix.as_array().unwrap().len());
                for (index, inner) in list.into_iter().flatten().enumerate().skip(skipped) {
                    self.follow(rule, inner, &format!("{at}/{index}"))?;
                }
                true
            }
            "prefixItems" => {
                for (index, (inner, rule)) in list.into_iter().flatten().zip(rule.as_array().unwrap()).enumerate() {
                    self.follow(rule, inner, &format!("{at}/{index}"))?;
                }
                true
            }
            "required" => {
                let there = |name: &Value| value.get(name.as_str().unwrap()).is_some();
                !value.is_object() || rule.as_array().unwrap().iter().all(there)
            }
            "properties" | "additionalProperties" => {
                for (name, inner) in value.as_object().into_iter().flatten() {
                    let listed = rules.get("properties").and_then(|properties| properties.get(name));
                    let rule = if keyword == "properties" { listed } else { listed.is_none().then_some(rule) };
                    if let Some(rule) = rule {
                        self.follow(rule, inner, &format!("{at}/{name}"))?;
                    }
                }
                true
            }
            _ => panic!("this keyword is not known here: {keyword}"),
        })
    }
}

fn is_a(value: &Value, name: &Value) -> bool {
    match name.as_str().unwrap() {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "number" => value.is_number(),
        "integer" => value.as_f64().is_some_and(|number| number.fract() == 0.0),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        other => panic!("this type is not known here: {other}"),
    }
}
