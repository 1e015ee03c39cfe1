//! A thread that swaps directories while files are read and written.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use super::super::super::refusal::Refusal;
use super::super::super::scratch::Scratch;

const SECRET: &str = "a secret from outside";
/// Reads and writes in all while directories are swapped.
const RACE_TRIES: usize = 20_000;
/// Every so many tries one writes; writes wait for the disk.
const RACE_WRITE_EVERY: usize = 9;

/// Tells the other thread to stop, also when the test fails.
struct Done<'a>(&'a AtomicBool);

impl Drop for Done<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

// Also: V1-FS-11.
#[test]
fn h3_a_directory_swapped_for_a_link_never_leads_outside() {
    let tree = Scratch::new();
    tree.file("root/real/file", "inside");
    tree.file("root/real/sub/file", "inside");
    tree.file("outside/file", SECRET);
    tree.file("outside/sub/file", SECRET);
    tree.link("root/trap", tree.at("outside"));
    tree.link("root/trap-rel", "../outside");
    tree.file("root/leaf", "inside");
    tree.link("root/trap-leaf", tree.at("outside/file"));
    let before = tree.everything_in("outside");
    let (done, swaps) = (AtomicBool::new(false), AtomicUsize::new(0));
    let pairs = [
        ("real", "trap"),
        ("leaf", "trap-leaf"),
        ("real", "trap-rel"),
    ];
    let pairs = pairs.map(|(name, trap)| {
        let at = |name| tree.at(&format!("root/{name}"));
        (at(name), at(trap))
    });
    let roots = tree.roots();
    let mut outcomes = (0, 0);
    std::thread::scope(|scope| {
        let (done, swaps) = (&done, &swaps);
        scope.spawn(move || {
            let flags = rustix::fs::RenameFlags::EXCHANGE;
            let here = rustix::fs::CWD;
            for (name, trap) in pairs.iter().cycle() {
                // There and back, so that the name is the real one half of the time.
                for _ in 0..2 {
                    rustix::fs::renameat_with(here, name, here, trap, flags).unwrap();
                    swaps.fetch_add(1, Ordering::Relaxed);
                }
                if done.load(Ordering::Relaxed) {
                    return;
                }
            }
        });
        let _done = Done(done);
        for index in 0..RACE_TRIES {
            let roots = match index % 2 {
                0 => roots.clone(),
                _ => roots.by_hand(),
            };
            let writes = index % RACE_WRITE_EVERY == 0;
            let path = match index % 4 {
                // Writing to it would end the race: the link would be replaced.
                3 if !writes => tree.at("root/leaf"),
                0 => tree.at("root/real/sub/../file"),
                1 => tree.at("root/real/sub/file"),
                _ => tree.at("root/real/file"),
            };
            let result = if writes {
                let written = super::super::write(&roots, &path, None, "inside");
                written.map(|()| "inside".to_owned())
            } else {
                super::super::read::read(&roots, &path, None, None, None)
            };
            match result {
                Ok(text) => {
                    assert_eq!(text, "inside", "escaped at try {index}");
                    outcomes.0 += 1;
                }
                Err(refusal) => {
                    assert!(
                        matches!(refusal, Refusal::Outside | Refusal::Changing),
                        "{refusal:?}"
                    );
                    outcomes.1 += 1;
                }
            }
        }
    });
    assert_eq!(tree.everything_in("outside"), before, "written outside");
    assert!(swaps.load(Ordering::Relaxed) > 100, "{swaps:?}");
    assert!(outcomes.0 > 0 && outcomes.1 > 0, "{outcomes:?}");
}
