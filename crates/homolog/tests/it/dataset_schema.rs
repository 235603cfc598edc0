//! `docs/dataset.schema.json` and `docs/formats.md` against the reader and the writer.

use crate::common;
use crate::data_sets;
use crate::json_schema;

use common::rng;
use data_sets::random_data_set;
use homolog::data::Split;
use homolog::data::dataset::DataSet;
use json_schema::Schema;
use serde_json::Value;
use std::path::Path;

fn document(name: &str) -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(name)).unwrap()
}

fn schema() -> Schema {
    Schema(serde_json::from_str(&document("dataset.schema.json")).unwrap())
}

#[test]
fn what_is_written_follows_the_schema() {
    let schema = schema();
    let mut rng = rng(91);
    for _ in 0..200 {
        let text = random_data_set(&mut rng).to_json().unwrap();
        let value: Value = serde_json::from_str(&text).unwrap();
        if let Err(error) = schema.check(&value) {
            panic!("{error}: {text}");
        }
    }
}

/// Every value inside a value, by its JSON pointer.
fn pointers(value: &Value, at: &str, found: &mut Vec<String>) {
    found.push(at.to_string());
    match value {
        Value::Array(list) => {
            list.iter().enumerate().for_each(|(index, inner)| pointers(inner, &format!("{at}/{index}"), found));
        }
        Value::Object(map) => {
            map.iter().for_each(|(key, inner)| {
                let key = key.replace('~', "~0").replace('/', "~1");
                pointers(inner, &format!("{at}/{key}"), found);
            });
        }
        _ => {}
    }
}

/// Whatever the schema refuses, the reader refuses too: nothing is read that the documents do not allow.
#[test]
fn what_the_schema_refuses_is_not_read() {
    let schema = schema();
    let mut rng = rng(92);
    let others = [r#""NaN""#, "-1", "1.5", "null", "[]", "{}", "true", "[0]", r#"[["x"]]"#, r#"{"x":[1]}"#, r#""""#];
    let others = others.map(|text| serde_json::from_str::<Value>(text).unwrap());
    let (mut refused, mut accepted) = (0, 0);
    for _ in 0..25 {
        let text = random_data_set(&mut rng).to_json().unwrap();
        let value: Value = serde_json::from_str(&text).unwrap();
        let mut places = Vec::new();
        pointers(&value, "", &mut places);
        for place in places {
            for other in &others {
                let mut spoiled = value.clone();
                *spoiled.pointer_mut(&place).unwrap() = other.clone();
                if schema.check(&spoiled).is_ok() {
                    accepted += 1;
                    continue;
                }
                refused += 1;
                let text = spoiled.to_string();
                assert!(DataSet::from_json(&text).is_err(), "{other} at {place} is read: {text}");
            }
        }
    }
    assert!(refused > 1000 && accepted > 100, "{refused} refused, {accepted} accepted");
}

#[test]
fn the_example_in_the_documents_is_a_data_set() {
    let page = document("formats.md");
    let example = page.split("```json\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    assert_eq!(schema().check(&serde_json::from_str(example).unwrap()), Ok(()));
    let data = DataSet::from_json(example).unwrap();
    let truths: Vec<_> = data.pairs().iter().map(|pair| pair.truth.as_ref().unwrap().left_to_right()).collect();
    assert_eq!(truths, [[Some(0), None, Some(1)], [Some(1), None, Some(0)]]);
    assert_eq!(data.pairs().iter().filter(|pair| pair.split == Some(Split::Train)).count(), 1);
}
