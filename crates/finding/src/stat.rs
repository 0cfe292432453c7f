//! How a value of `stats` is written in JSON: as the plain number, boolean or string that it is.
//!
//! By hand, because serde's `untagged` would take whichever variant happens to parse first and
//! report a failure as "data did not match any variant". JSON has no infinity and no not-a-number;
//! those are written as strings, so that a document raddle wrote is always one it can read.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, Visitor};
use serde::ser::{Serialize, Serializer};

use crate::model::Stat;

impl Serialize for Stat {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Stat::Int(value) => serializer.serialize_i64(*value),
            Stat::Float(value) if value.is_finite() => serializer.serialize_f64(*value),
            Stat::Float(value) => serializer.serialize_str(&value.to_string()),
            Stat::Bool(value) => serializer.serialize_bool(*value),
            Stat::Text(value) => serializer.serialize_str(value),
        }
    }
}

impl<'de> Deserialize<'de> for Stat {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Stat, D::Error> {
        deserializer.deserialize_any(StatVisitor)
    }
}

struct StatVisitor;

impl Visitor<'_> for StatVisitor {
    type Value = Stat;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number, a boolean or a string")
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Stat, E> {
        Ok(Stat::Int(value))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Stat, E> {
        // Beyond i64 the magnitude matters more than the last digits.
        Ok(i64::try_from(value).map_or(Stat::Float(value as f64), Stat::Int))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Stat, E> {
        Ok(Stat::Float(value))
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Stat, E> {
        Ok(Stat::Bool(value))
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Stat, E> {
        Ok(Stat::Text(value.to_owned()))
    }
}

impl fmt::Display for Stat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Stat::Int(value) => value.fmt(f),
            Stat::Float(value) => value.fmt(f),
            Stat::Bool(value) => value.fmt(f),
            Stat::Text(value) => f.write_str(value),
        }
    }
}

impl From<u64> for Stat {
    /// A count; one that does not fit an `i64` becomes its maximum.
    fn from(value: u64) -> Stat {
        Stat::Int(i64::try_from(value).unwrap_or(i64::MAX))
    }
}

impl From<f64> for Stat {
    fn from(value: f64) -> Stat {
        Stat::Float(value)
    }
}

impl From<bool> for Stat {
    fn from(value: bool) -> Stat {
        Stat::Bool(value)
    }
}

impl From<&str> for Stat {
    fn from(value: &str) -> Stat {
        Stat::Text(value.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round(stat: Stat) -> (String, Stat) {
        let json = serde_json::to_string(&stat).unwrap();
        let back = serde_json::from_str(&json).unwrap();
        (json, back)
    }

    #[test]
    fn every_variant_comes_back_as_itself() {
        for (stat, json) in [
            (Stat::Int(-3), "-3"),
            (Stat::Float(1.0), "1.0"),
            (Stat::Float(0.25), "0.25"),
            (Stat::Bool(true), "true"),
            (Stat::Text("hb".into()), "\"hb\""),
        ] {
            assert_eq!(round(stat.clone()), (json.to_owned(), stat));
        }
    }

    #[test]
    fn what_json_cannot_hold_becomes_text() {
        assert_eq!(round(Stat::Float(f64::INFINITY)), ("\"inf\"".into(), Stat::Text("inf".into())));
        assert_eq!(round(Stat::Float(f64::NAN)).0, "\"NaN\"");
    }

    #[test]
    fn a_count_beyond_i64_keeps_its_magnitude() {
        let stat: Stat = serde_json::from_str("18446744073709551615").unwrap();
        assert_eq!(stat, Stat::Float(u64::MAX as f64));
        assert_eq!(Stat::from(u64::MAX), Stat::Int(i64::MAX));
    }

    #[test]
    fn stats_are_flat() {
        let error = serde_json::from_str::<Stat>("[1]").unwrap_err().to_string();
        assert!(error.contains("a number, a boolean or a string"), "{error}");
        assert!(serde_json::from_str::<Stat>("null").is_err());
    }
}
