//! What a walk may show, and what belongs to the agent itself.

use std::path::{Path, PathBuf};

use ply_coder::permission::{Mode, Permissions, Stores};

use super::{A, Q, access, permissions, word};

#[test]
fn a_walk_shows_what_may_be_read_without_asking() {
    let some = permissions(&["-read(notes.txt)", "?read(drafts/**)", "read(a/.env)"]);
    for mode in Mode::ALL {
        let may = |path: &str| some.may_read(mode, Path::new(path));
        assert!(may("/p/src/a.rs"), "{mode:?}");
        assert!(may("/p/a/.env"), "{mode:?}: a rule names it");
        for path in ["/p/.env", "/p/notes.txt", "/p/drafts/a", "/p/.ssh/id_rsa"] {
            assert!(!may(path), "{mode:?} {path}");
        }
        assert_eq!(may("/usr/include/a.h"), mode == Mode::Full, "{mode:?}");
    }
}

#[test]
fn a_walk_hears_of_rules_that_are_kept_and_forgotten() {
    let some = permissions(&[]);
    let path = Path::new("/p/a");
    let deny = super::rules(&["-read(a)"]).remove(0);
    assert!(some.may_read(Mode::Ask, path));
    let session = ply_coder::permission::Scope::Session;
    some.remember(session, deny.clone()).unwrap();
    assert!(!some.may_read(Mode::Ask, path));
    assert!(some.forget(session, &deny).unwrap());
    assert!(some.may_read(Mode::Ask, path));
}

#[test]
fn what_belongs_to_the_agent_is_guarded() {
    let stores = Stores {
        own: vec![PathBuf::from("/p/state"), PathBuf::from("/p/ply.toml")],
        ..Stores::default()
    };
    let some = Permissions::new(vec![PathBuf::from("/p")], Vec::new(), stores);
    for (what, expected) in [
        ("write /p/state/sessions/1", Q),
        ("write /p/ply.toml", Q),
        ("delete /p/state", Q),
        ("write /p/stateful", A),
    ] {
        let verdict = some.decide(Mode::Full, &[access(what)]);
        assert_eq!(word(&verdict), expected, "{what}");
    }
    assert!(!some.may_read(Mode::Full, Path::new("/p/state/log")));
}
