#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| ply_fuzz::engine(data));
