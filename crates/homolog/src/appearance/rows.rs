//! A table in a model file as one text per row, "0.5 -1.25 3": a third of the size of nested lists, and a number read back is the same
//! number, bit for bit.

use ndarray::Array2;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};
use std::fmt::Display;
use std::str::FromStr;

pub(super) fn serialize<T: Display, S: Serializer>(table: &Array2<T>, serializer: S) -> Result<S::Ok, S::Error> {
    let text = |row: ndarray::ArrayView1<'_, T>| row.iter().map(T::to_string).collect::<Vec<_>>().join(" ");
    table.rows().into_iter().map(text).collect::<Vec<String>>().serialize(serializer)
}

pub(super) fn deserialize<'de, T: FromStr, D: Deserializer<'de>>(deserializer: D) -> Result<Array2<T>, D::Error> {
    let rows = Vec::<String>::deserialize(deserializer)?;
    let number = |word: &str| word.parse().map_err(|_| D::Error::custom(format!("{word:?} is not a number")));
    let width = rows.first().map_or(0, |row| row.split(' ').count());
    let mut values = Vec::with_capacity(rows.len() * width);
    for row in &rows {
        let before = values.len();
        for word in row.split(' ') {
            values.push(number(word)?);
        }
        if values.len() - before != width {
            return Err(D::Error::custom(format!("a row of {} numbers among rows of {width}", values.len() - before)));
        }
    }
    Array2::from_shape_vec((rows.len(), width), values).map_err(D::Error::custom)
}
