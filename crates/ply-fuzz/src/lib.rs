//! The bodies of the fuzz targets: each takes any bytes and panics when a promise is broken.
//!
//! `fuzz/fuzz_targets/` calls them under libFuzzer; `tests/corpus.rs` replays `fuzz/corpus/` through them.
