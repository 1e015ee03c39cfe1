//! Fixture.
fn main() {}
