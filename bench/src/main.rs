//! Benchmark peers.
fn main() {}
