#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| ply_fuzz::v2_messages(data));
