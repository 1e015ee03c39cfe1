//! A serializer: any serde type to JSON text, the same as `serde_json` writes.

use std::fmt::{self, Display};

use serde::ser::{self, Error as _, Serialize};
use serde_json::Error;

use crate::escape::{Sink, escape, string};

/// How `serde_json` names the one field of a value that is JSON text already, or a number that is digits.
const RAW_VALUE: &str = "$serde_json::private::RawValue";
const NUMBER: &str = "$serde_json::private::Number";

/// Appends the JSON of a value to `out`.
///
/// # Errors
///
/// The value has no JSON form: it says so itself, or has a map with keys that are neither strings nor numbers. What was
/// written until then stays in `out`.
pub fn write(value: &(impl Serialize + ?Sized), out: &mut impl Sink) -> Result<(), Error> {
    value.serialize(Value(out))
}

/// Writes one value.
struct Value<'o, O>(&'o mut O);

/// Writes what is between the brackets of an array or an object, and then its end.
struct Items<'o, O> {
    out: &'o mut O,
    is_first: bool,
    end: &'static str,
}

impl<'o, O: Sink> Items<'o, O> {
    #[inline]
    fn new(out: &'o mut O, begin: &'static str, end: &'static str) -> Self {
        out.put(begin);
        let is_first = true;
        Self { out, is_first, end }
    }

    /// Begins an object with one member, whose value is `begin` to `end`.
    #[inline]
    fn within(out: &'o mut O, name: &str, begin: &'static str, end: &'static str) -> Self {
        out.put("{");
        string(name, out);
        out.put(":");
        Self::new(out, begin, end)
    }

    #[inline]
    fn next(&mut self) {
        if !std::mem::replace(&mut self.is_first, false) {
            self.out.put(",");
        }
    }

    #[inline]
    fn item(&mut self, value: &(impl Serialize + ?Sized)) -> Result<(), Error> {
        self.next();
        value.serialize(Value(self.out))
    }

    #[inline]
    fn member(
        &mut self,
        name: &'static str,
        value: &(impl Serialize + ?Sized),
    ) -> Result<(), Error> {
        self.next();
        string(name, self.out);
        self.out.put(":");
        value.serialize(Value(self.out))
    }

    #[inline]
    fn finish(self) {
        self.out.put(self.end);
    }
}

/// Escapes what is written to it.
struct Escaped<'o, O>(&'o mut O);

impl<O: Sink> fmt::Write for Escaped<'_, O> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        escape(text, self.0);
        Ok(())
    }
}

fn displayed(value: &(impl Display + ?Sized), out: &mut impl Sink) -> Result<(), Error> {
    out.put("\"");
    fmt::write(&mut Escaped(out), format_args!("{value}")).map_err(Error::custom)?;
    out.put("\"");
    Ok(())
}

macro_rules! integers {
    ($($method:ident: $type:ty),*) => {
        $(
            #[inline]
            fn $method(self, value: $type) -> Result<(), Error> {
                self.0.put(itoa::Buffer::new().format(value));
                Ok(())
            }
        )*
    };
}

impl<'o, O: Sink> ser::Serializer for Value<'o, O> {
    type Ok = ();
    type Error = Error;
    type SerializeSeq = Items<'o, O>;
    type SerializeTuple = Items<'o, O>;
    type SerializeTupleStruct = Items<'o, O>;
    type SerializeTupleVariant = Items<'o, O>;
    type SerializeMap = Items<'o, O>;
    type SerializeStruct = Struct<'o, O>;
    type SerializeStructVariant = Items<'o, O>;

    integers!(
        serialize_i8: i8, serialize_i16: i16, serialize_i32: i32, serialize_i64: i64,
        serialize_i128: i128, serialize_u8: u8, serialize_u16: u16, serialize_u32: u32,
        serialize_u64: u64, serialize_u128: u128
    );

    #[inline]
    fn serialize_bool(self, value: bool) -> Result<(), Error> {
        self.0.put(if value { "true" } else { "false" });
        Ok(())
    }

    fn serialize_f32(self, value: f32) -> Result<(), Error> {
        // Rare enough to be left to the judge.
        self.0.put(&serde_json::to_string(&value)?);
        Ok(())
    }

    fn serialize_f64(self, value: f64) -> Result<(), Error> {
        self.0.put(&serde_json::to_string(&value)?);
        Ok(())
    }

    fn serialize_char(self, value: char) -> Result<(), Error> {
        self.serialize_str(value.encode_utf8(&mut [0; 4]))
    }

    #[inline]
    fn serialize_str(self, value: &str) -> Result<(), Error> {
        string(value, self.0);
        Ok(())
    }

    fn serialize_bytes(self, value: &[u8]) -> Result<(), Error> {
        let mut items = Items::new(self.0, "[", "]");
        for byte in value {
            items.item(byte)?;
        }
        items.finish();
        Ok(())
    }

    #[inline]
    fn serialize_none(self) -> Result<(), Error> {
        self.serialize_unit()
    }

    #[inline]
    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), Error> {
        value.serialize(self)
    }

    #[inline]
    fn serialize_unit(self) -> Result<(), Error> {
        self.0.put("null");
        Ok(())
    }

    fn serialize_unit_struct(self, _name: &'static str) -> Result<(), Error> {
        self.serialize_unit()
    }

    #[inline]
    fn serialize_unit_variant(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
    ) -> Result<(), Error> {
        self.serialize_str(variant)
    }

    #[inline]
    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _name: &'static str,
        value: &T,
    ) -> Result<(), Error> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<(), Error> {
        let mut items = Items::new(self.0, "{", "}");
        items.member(variant, value)?;
        items.finish();
        Ok(())
    }

    fn serialize_seq(self, _len: Option<usize>) -> Result<Items<'o, O>, Error> {
        Ok(Items::new(self.0, "[", "]"))
    }

    fn serialize_tuple(self, _len: usize) -> Result<Items<'o, O>, Error> {
        Ok(Items::new(self.0, "[", "]"))
    }

    fn serialize_tuple_struct(
        self,
        _name: &'static str,
        _len: usize,
    ) -> Result<Items<'o, O>, Error> {
        Ok(Items::new(self.0, "[", "]"))
    }

    fn serialize_tuple_variant(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
        _len: usize,
    ) -> Result<Items<'o, O>, Error> {
        Ok(Items::within(self.0, variant, "[", "]}"))
    }

    #[inline]
    fn serialize_map(self, _len: Option<usize>) -> Result<Items<'o, O>, Error> {
        Ok(Items::new(self.0, "{", "}"))
    }

    #[inline]
    fn serialize_struct(self, name: &'static str, _len: usize) -> Result<Struct<'o, O>, Error> {
        // The two names are longer than any usual one, which tells them apart without a look at their letters.
        Ok(if name == RAW_VALUE || name == NUMBER {
            Struct::Text(self.0)
        } else {
            Struct::Members(Items::new(self.0, "{", "}"))
        })
    }

    fn serialize_struct_variant(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
        _len: usize,
    ) -> Result<Items<'o, O>, Error> {
        Ok(Items::within(self.0, variant, "{", "}}"))
    }

    fn collect_str<T: Display + ?Sized>(self, value: &T) -> Result<(), Error> {
        displayed(value, self.0)
    }
}

/// A struct, or a value of `serde_json` that is text to be written as it is.
enum Struct<'o, O> {
    Members(Items<'o, O>),
    Text(&'o mut O),
}

impl<O: Sink> ser::SerializeStruct for Struct<'_, O> {
    type Ok = ();
    type Error = Error;

    #[inline]
    fn serialize_field<T: Serialize + ?Sized>(
        &mut self,
        name: &'static str,
        value: &T,
    ) -> Result<(), Error> {
        match self {
            Self::Members(items) => items.member(name, value),
            Self::Text(out) => value.serialize(text::Text(*out)),
        }
    }

    #[inline]
    fn end(self) -> Result<(), Error> {
        if let Self::Members(items) = self {
            items.finish();
        }
        Ok(())
    }
}

macro_rules! sequences {
    ($($trait:ident: $method:ident),*) => {
        $(
            impl<O: Sink> ser::$trait for Items<'_, O> {
                type Ok = ();
                type Error = Error;

                #[inline]
                fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
                    self.item(value)
                }

                #[inline]
                fn end(self) -> Result<(), Error> {
                    self.finish();
                    Ok(())
                }
            }
        )*
    };
}

sequences!(
    SerializeSeq: serialize_element,
    SerializeTuple: serialize_element,
    SerializeTupleStruct: serialize_field,
    SerializeTupleVariant: serialize_field
);

impl<O: Sink> ser::SerializeStructVariant for Items<'_, O> {
    type Ok = ();
    type Error = Error;

    #[inline]
    fn serialize_field<T: Serialize + ?Sized>(
        &mut self,
        name: &'static str,
        value: &T,
    ) -> Result<(), Error> {
        self.member(name, value)
    }

    #[inline]
    fn end(self) -> Result<(), Error> {
        self.finish();
        Ok(())
    }
}

impl<O: Sink> ser::SerializeMap for Items<'_, O> {
    type Ok = ();
    type Error = Error;

    #[inline]
    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), Error> {
        self.next();
        key.serialize(text::Key(self.out))
    }

    #[inline]
    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
        self.out.put(":");
        value.serialize(Value(self.out))
    }

    #[inline]
    fn end(self) -> Result<(), Error> {
        self.finish();
        Ok(())
    }
}

mod text;
