//! What is listed, and what is not.

use super::list::list;
use super::source::Source;

#[track_caller]
fn check(source: &str, expected: &[&str]) {
    let source = Source::parse("it", source).unwrap_or_else(|error| panic!("{error}"));
    let list = list(&source);
    let lines: Vec<_> = list.lines().skip(1).collect();
    assert_eq!(lines, expected);
}

#[test]
fn only_what_others_can_name_is_listed() {
    check(
        "mod inner { pub struct Out; pub struct In; impl Out { pub fn a(&self) {} fn b(&self) {} } impl In { pub fn c() {} } }
         pub use inner::Out as Shown;
         pub(crate) fn own() {}
         #[doc(hidden)] pub fn hidden() {}
         #[cfg(test)] pub mod tests { pub fn t() {} }",
        &["pub struct it::Shown", "pub fn it::Shown::a(&self)"],
    );
}

#[test]
fn imports_are_followed_through_modules_globs_and_other_crates() {
    check(
        "mod a { pub mod b { pub const X: &[u8] = b\"\"; } pub use self::b::*; }
         pub use a::X; pub use a::b; pub use std::fmt::Debug;",
        &[
            "pub use it::Debug = std::fmt::Debug",
            "pub const it::X: &[u8]",
            "pub mod it::b",
            "pub const it::b::X: &[u8]",
        ],
    );
}

#[test]
fn shapes_are_written_as_people_write_them() {
    check(
        "#[derive(Clone, Debug)] #[non_exhaustive]
         pub enum E<'a, T: Into<String> + 'a> { A, B(&'a T, #[doc = \"x\"] u8), C { d: Option<Vec<T>> } }
         pub trait Tr: Send { type Out: Default; fn f<R>(&mut self, mut x: impl Fn(&R) -> bool) -> Result<(), R> where R: Send, { todo!() } }
         #[cfg(feature = \"x\")] impl<'a, T> From<T> for E<'a, T> {}",
        &[
            "#[non_exhaustive] pub enum it::E<'a, T: Into<String> + 'a>",
            "impl Clone for it::E",
            "impl Debug for it::E",
            "impl<'a, T> From<T> for it::E<'a, T> [feature = \"x\"]",
            "pub it::E::A",
            "pub it::E::B(&'a T, u8)",
            "pub it::E::C { d: Option<Vec<T>> }",
            "pub trait it::Tr: Send",
            "type it::Tr::Out: Default",
            "fn it::Tr::f<R>(&mut self, x: impl Fn(&R) -> bool) -> Result<(), R> where R: Send { … }",
        ],
    );
}
