//! What is written is what `serde_json` writes, to the byte.

#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "tests fail by panicking"
)]

use std::collections::BTreeMap;

use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

#[track_caller]
fn check(value: &(impl Serialize + ?Sized)) {
    let (mut text, mut bytes) = (String::new(), Vec::new());
    let written = ply_json::write(value, &mut text);
    match serde_json::to_string(value) {
        Ok(expected) => {
            written.unwrap();
            assert_eq!(text, expected);
            ply_json::write(value, &mut bytes).unwrap();
            assert_eq!(bytes, expected.into_bytes());
        }
        Err(_) => assert!(written.is_err(), "{text}"),
    }
}

#[derive(Serialize)]
struct Unit;

#[derive(Serialize)]
struct Newtype<T>(T);

#[derive(Serialize)]
struct Tuple(u8, &'static str);

#[derive(Serialize)]
enum Choice {
    Unit,
    Newtype(f64),
    Tuple(i8, char),
    Struct { a: Option<u8>, b: () },
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Tagged {
    First {
        text: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        absent: Option<u8>,
        #[serde(flatten)]
        rest: BTreeMap<String, Value>,
    },
    Second,
}

#[test]
fn every_kind_of_type() {
    check(&Unit);
    check(&Newtype("x"));
    check(&Tuple(1, "\"\\\n\u{1}\u{7f}é\u{2028}😀"));
    check(&[
        Choice::Unit,
        Choice::Newtype(0.1),
        Choice::Tuple(-5, '"'),
        Choice::Struct { a: None, b: () },
        Choice::Struct { a: Some(7), b: () },
    ]);
    let rest = BTreeMap::from([("z".to_owned(), json!([null, 1.5, {}]))]);
    let first = Tagged::First {
        text: "t".to_owned(),
        absent: None,
        rest,
    };
    check(&(first, Tagged::Second));
    check(&(i8::MIN, i16::MIN, i32::MIN, i64::MIN, i128::MIN));
    check(&(u8::MAX, u16::MAX, u32::MAX, u64::MAX, u128::MAX));
    check(&(1.0_f32, f64::MAX, f64::NAN, f32::INFINITY, -0.0_f64));
    check(&(Some(true), None::<bool>, ()));
    check(&[0_u8; 0]);
    check(&serde_json::Map::new());
    check(format!("{:?}", "a\0b").as_str());
    check(&format_args!("{}-\n{}", 1, "\""));
}

#[test]
fn keys_of_every_kind() {
    check(&BTreeMap::from([(1_u8, 1)]));
    check(&BTreeMap::from([(-1_i128, 1)]));
    check(&BTreeMap::from([(true, 1)]));
    check(&BTreeMap::from([('"', 1)]));
    check(&BTreeMap::from([(Some("a"), 1)]));
    check(&BTreeMap::from([(None::<&str>, 1)]));
    check(&BTreeMap::from([((), 1)]));
    check(&BTreeMap::from([([1, 2], 1)]));
    #[derive(Serialize, PartialEq, Eq, PartialOrd, Ord)]
    enum Key {
        A,
        B(u8),
    }
    check(&BTreeMap::from([(Key::A, 1)]));
    check(&BTreeMap::from([(Key::B(1), 1)]));
}

#[test]
fn json_that_is_text_already_is_written_as_it_is() {
    let raw = RawValue::from_string("{ \"a\" : [1, 2.50] }".to_owned()).unwrap();
    check(&raw);
    check(&[&*raw, &*raw]);
    check(&json!({"n": 12345678901234567890_u64}));
}

fn values() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
        vec(
            prop_oneof!["[ -~]{0,40}", "\\PC{0,3}", "[\\x00-\\x1f\"\\\\]{0,2}"],
            0..6
        )
        .prop_map(|parts| Value::from(parts.concat())),
    ];
    leaf.prop_recursive(4, 64, 8, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..8).prop_map(Value::from),
            btree_map(any::<String>(), inner, 0..8)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn any_value(value in values()) {
        check(&value);
    }

    #[test]
    fn any_text_is_read_as_it_was_written(text in any::<String>()) {
        let json = serde_json::to_string(&text).unwrap();
        let mut reader = ply_json::Reader::new(&json);
        prop_assert_eq!(reader.text().unwrap(), text);
        prop_assert!(reader.is_at_end());
    }
}

proptest! {
    /// Escapes of all kinds are read back, and the text takes no more room than it needs where none of them is a code point.
    #[test]
    fn a_text_with_escapes_is_read_into_as_much_as_it_needs(plain in "[a-z\\n\"\\\\]{1,40}", other in any::<String>()) {
        let json = serde_json::to_string(&plain).unwrap();
        let read = ply_json::Reader::new(&json).text().unwrap();
        prop_assert_eq!(&*read, &*plain);
        if let std::borrow::Cow::Owned(read) = read {
            prop_assert_eq!(read.capacity(), plain.len());
        }
        let points: String = other.encode_utf16().map(|unit| format!("\\u{unit:04x}")).collect();
        let json = format!("\"{points}\"");
        let read = ply_json::Reader::new(&json).text();
        prop_assert_eq!(read.as_deref(), Some(&*other));
    }
}
