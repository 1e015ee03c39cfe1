//! Where only a text may stand: names of members, and JSON that is written as it is.

use std::fmt::Display;

use serde::ser::{Error as _, Impossible, Serialize, Serializer};
use serde_json::Error;

use super::displayed;
use crate::escape::{Sink, string};

/// Writes the name of a member.
pub(super) struct Key<'o, O>(pub(super) &'o mut O);

/// Writes a text without quotes, since it is JSON.
pub(super) struct Text<'o, O>(pub(super) &'o mut O);

fn bad_key() -> Error {
    Error::custom("key must be a string")
}

fn bad_text() -> Error {
    Error::custom("expected JSON text")
}

macro_rules! quoted {
    ($($method:ident: $type:ty),*) => {
        $(
            fn $method(self, value: $type) -> Result<(), Error> {
                displayed(&value, self.0)
            }
        )*
    };
}

macro_rules! refused {
    ($error:ident; $($method:ident: $type:ty),*) => {
        $(
            fn $method(self, _value: $type) -> Result<(), Error> {
                Err($error())
            }
        )*
    };
}

macro_rules! nothing_else {
    ($error:ident) => {
        type Ok = ();
        type Error = Error;
        type SerializeSeq = Impossible<(), Error>;
        type SerializeTuple = Impossible<(), Error>;
        type SerializeTupleStruct = Impossible<(), Error>;
        type SerializeTupleVariant = Impossible<(), Error>;
        type SerializeMap = Impossible<(), Error>;
        type SerializeStruct = Impossible<(), Error>;
        type SerializeStructVariant = Impossible<(), Error>;

        fn serialize_none(self) -> Result<(), Error> {
            Err($error())
        }

        fn serialize_unit(self) -> Result<(), Error> {
            Err($error())
        }

        fn serialize_unit_struct(self, _name: &'static str) -> Result<(), Error> {
            Err($error())
        }

        fn serialize_newtype_variant<T: Serialize + ?Sized>(
            self,
            _name: &'static str,
            _index: u32,
            _variant: &'static str,
            _value: &T,
        ) -> Result<(), Error> {
            Err($error())
        }

        fn serialize_seq(self, _len: Option<usize>) -> Result<Self::SerializeSeq, Error> {
            Err($error())
        }

        fn serialize_tuple(self, _len: usize) -> Result<Self::SerializeTuple, Error> {
            Err($error())
        }

        fn serialize_tuple_struct(
            self,
            _name: &'static str,
            _len: usize,
        ) -> Result<Self::SerializeTupleStruct, Error> {
            Err($error())
        }

        fn serialize_tuple_variant(
            self,
            _name: &'static str,
            _index: u32,
            _variant: &'static str,
            _len: usize,
        ) -> Result<Self::SerializeTupleVariant, Error> {
            Err($error())
        }

        fn serialize_map(self, _len: Option<usize>) -> Result<Self::SerializeMap, Error> {
            Err($error())
        }

        fn serialize_struct(
            self,
            _name: &'static str,
            _len: usize,
        ) -> Result<Self::SerializeStruct, Error> {
            Err($error())
        }

        fn serialize_struct_variant(
            self,
            _name: &'static str,
            _index: u32,
            _variant: &'static str,
            _len: usize,
        ) -> Result<Self::SerializeStructVariant, Error> {
            Err($error())
        }
    };
}

impl<O: Sink> Serializer for Key<'_, O> {
    nothing_else!(bad_key);
    quoted!(
        serialize_bool: bool, serialize_i8: i8, serialize_i16: i16, serialize_i32: i32,
        serialize_i64: i64, serialize_i128: i128, serialize_u8: u8, serialize_u16: u16,
        serialize_u32: u32, serialize_u64: u64, serialize_u128: u128, serialize_char: char
    );
    refused!(bad_key; serialize_bytes: &[u8]);

    fn serialize_f32(self, value: f32) -> Result<(), Error> {
        float(value.is_finite(), &value, self.0)
    }

    fn serialize_f64(self, value: f64) -> Result<(), Error> {
        float(value.is_finite(), &value, self.0)
    }

    #[inline]
    fn serialize_str(self, value: &str) -> Result<(), Error> {
        string(value, self.0);
        Ok(())
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), Error> {
        value.serialize(self)
    }

    fn serialize_unit_variant(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
    ) -> Result<(), Error> {
        self.serialize_str(variant)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _name: &'static str,
        value: &T,
    ) -> Result<(), Error> {
        value.serialize(self)
    }

    fn collect_str<T: Display + ?Sized>(self, value: &T) -> Result<(), Error> {
        displayed(value, self.0)
    }
}

fn float(is_finite: bool, value: &impl Serialize, out: &mut impl Sink) -> Result<(), Error> {
    if !is_finite {
        return Err(Error::custom(
            "float key must be finite (got NaN or +/-inf)",
        ));
    }
    string(&serde_json::to_string(value)?, out);
    Ok(())
}

impl<O: Sink> Serializer for Text<'_, O> {
    nothing_else!(bad_text);
    refused!(
        bad_text;
        serialize_bool: bool, serialize_i8: i8, serialize_i16: i16, serialize_i32: i32,
        serialize_i64: i64, serialize_i128: i128, serialize_u8: u8, serialize_u16: u16,
        serialize_u32: u32, serialize_u64: u64, serialize_u128: u128, serialize_char: char,
        serialize_f32: f32, serialize_f64: f64, serialize_bytes: &[u8]
    );

    fn serialize_str(self, value: &str) -> Result<(), Error> {
        self.0.put(value);
        Ok(())
    }

    fn serialize_some<T: Serialize + ?Sized>(self, _value: &T) -> Result<(), Error> {
        Err(bad_text())
    }

    fn serialize_unit_variant(
        self,
        _name: &'static str,
        _index: u32,
        _variant: &'static str,
    ) -> Result<(), Error> {
        Err(bad_text())
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _name: &'static str,
        _value: &T,
    ) -> Result<(), Error> {
        Err(bad_text())
    }
}
