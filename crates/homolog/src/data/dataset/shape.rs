//! Pieces of a data set's text. Objects must be objects (serde would accept a list), numbers finite, and lists within limits. What is
//! refused here gets its line and column from serde_json.

use super::MAX_NODES;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Error as _, MapAccess, SeqAccess, Visitor};
use serde::ser::{SerializeMap, SerializeSeq};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::marker::PhantomData;

/// A finite number.
#[derive(Debug, Clone, Copy)]
pub(super) struct Number(pub(super) f64);

/// Points of two or three coordinates, one after the other.
#[derive(Debug, Default)]
pub(super) struct Points {
    /// 0 if there are no points.
    pub(super) dimension: usize,
    pub(super) coordinates: Vec<f64>,
}

/// Columns of numbers with their names, in the order of the text.
#[derive(Debug)]
pub(super) struct Columns(pub(super) Vec<(String, Vec<f64>)>);

/// A list of at most `LIMIT` items.
#[derive(Debug)]
pub(super) struct Capped<T, const LIMIT: usize>(pub(super) Vec<T>);

/// Something that must be written as an object.
#[derive(Debug)]
pub(super) struct Object<T>(pub(super) T);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Object<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ObjectVisitor<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for ObjectVisitor<T> {
            type Value = T;
            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("an object {...}")
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<T, A::Error> {
                T::deserialize(MapAccessDeserializer::new(map))
            }
        }
        deserializer.deserialize_any(ObjectVisitor(PhantomData)).map(Self)
    }
}

impl<'de, T: Deserialize<'de>, const LIMIT: usize> Deserialize<'de> for Capped<T, LIMIT> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ListVisitor<T, const LIMIT: usize>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>, const LIMIT: usize> Visitor<'de> for ListVisitor<T, LIMIT> {
            type Value = Vec<T>;
            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a list")
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Vec<T>, A::Error> {
                let mut list = Vec::new();
                while let Some(element) = seq.next_element()? {
                    if list.len() == LIMIT {
                        return Err(A::Error::custom(format_args!("there are more than {LIMIT}")));
                    }
                    list.push(element);
                }
                Ok(list)
            }
        }
        deserializer.deserialize_seq(ListVisitor::<T, LIMIT>(PhantomData)).map(Self)
    }
}

impl<T: Serialize, const LIMIT: usize> Serialize for Capped<T, LIMIT> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct NumberVisitor;
        impl Visitor<'_> for NumberVisitor {
            type Value = f64;
            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a finite number")
            }
            fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<f64, E> {
                if value.is_finite() { Ok(value) } else { Err(E::custom("the number is not finite")) }
            }
            fn visit_i64<E>(self, value: i64) -> Result<f64, E> {
                Ok(value as f64)
            }
            fn visit_u64<E>(self, value: u64) -> Result<f64, E> {
                Ok(value as f64)
            }
        }
        deserializer.deserialize_f64(NumberVisitor).map(Self)
    }
}

impl Serialize for Number {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(self.0)
    }
}

impl Points {
    pub(super) fn len(&self) -> usize {
        self.coordinates.len().checked_div(self.dimension).unwrap_or(0)
    }
}

impl<'de> Deserialize<'de> for Points {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct PointsVisitor;
        impl<'de> Visitor<'de> for PointsVisitor {
            type Value = Points;
            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a list of points [x, y] or [x, y, z]")
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Points, A::Error> {
                let mut points = Points::default();
                while let Some(Capped(point)) = seq.next_element::<Capped<Number, 4>>()? {
                    if !(2..=3).contains(&point.len()) {
                        return Err(A::Error::custom("a point has two or three coordinates"));
                    }
                    if points.dimension == 0 {
                        points.dimension = point.len();
                    }
                    if point.len() != points.dimension {
                        let reason =
                            format!("this point has {} coordinates, the first has {}", point.len(), points.dimension);
                        return Err(A::Error::custom(reason));
                    }
                    if points.len() == MAX_NODES {
                        return Err(A::Error::custom(format_args!("there are more than {MAX_NODES}")));
                    }
                    points.coordinates.extend(point.into_iter().map(|Number(value)| value));
                }
                Ok(points)
            }
        }
        deserializer.deserialize_seq(PointsVisitor)
    }
}

impl Serialize for Points {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut seq = serializer.serialize_seq(Some(self.len()))?;
        for point in self.coordinates.chunks(self.dimension.max(1)) {
            seq.serialize_element(point)?;
        }
        seq.end()
    }
}

impl<'de> Deserialize<'de> for Columns {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ColumnsVisitor;
        impl<'de> Visitor<'de> for ColumnsVisitor {
            type Value = Columns;
            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("an object of lists of numbers, one list per attribute")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Columns, A::Error> {
                let mut columns = Vec::new();
                let mut seen = std::collections::BTreeSet::new();
                while let Some((name, values)) = map.next_entry::<String, Vec<Number>>()? {
                    if !seen.insert(name.clone()) {
                        return Err(A::Error::custom(format_args!("{name:?} occurs twice")));
                    }
                    columns.push((name, values.into_iter().map(|Number(value)| value).collect()));
                }
                Ok(Columns(columns))
            }
        }
        deserializer.deserialize_map(ColumnsVisitor)
    }
}

impl Serialize for Columns {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, values) in &self.0 {
            map.serialize_entry(name, values)?;
        }
        map.end()
    }
}
