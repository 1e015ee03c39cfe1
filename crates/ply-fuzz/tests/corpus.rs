//! Replays the kept fuzz inputs, so that what was once found stays found.

#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

use std::path::Path;

#[test]
fn every_kept_input_of_every_target_passes() {
    let fuzz = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz");
    for (name, target) in ply_fuzz::TARGETS {
        let mut inputs = 0;
        for entry in std::fs::read_dir(fuzz.join("corpus").join(name)).unwrap() {
            let path = entry.unwrap().path();
            let input = std::fs::read(&path).unwrap();
            let passed = std::panic::catch_unwind(|| target(&input));
            assert!(
                passed.is_ok(),
                "replay with: cargo xtask fuzz {name} {}",
                path.display()
            );
            inputs += 1;
        }
        assert!(inputs > 0, "{name} has no corpus");
        let target = fuzz.join("fuzz_targets").join(name).with_extension("rs");
        assert!(target.exists(), "{} is missing", target.display());
    }
}
