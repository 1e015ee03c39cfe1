//! Rules that are offered to be kept.

use ply_coder::permission::{Mode, Scope, Verdict};

use super::{access, permissions};

#[test]
fn offers_are_narrow_and_work() {
    let offers = [
        ("write /p/src/a.rs", Some("write(/p/src/a.rs)")),
        ("read /usr/include/a.h", Some("read(/usr/include/a.h)")),
        ("fetch https://docs.rs/tokio/latest", Some("fetch(docs.rs)")),
        (
            "mcp github search",
            Some("mcp(github/search#00000000000000000000000000000000)"),
        ),
        ("delete /p/a", None),
        ("write /etc/hosts", None),
        ("write /p/.git/config", None),
        ("read /p/.env", None),
        ("write /p/a*b", None),
        ("fetch http://docs.rs/", None),
        ("fetch https://u@docs.rs/", None),
        ("mcp github *", None),
        ("mcp a/b c", None),
    ];
    for (what, expected) in offers {
        let permissions = permissions(&[]);
        let Verdict::Ask(question) = permissions.decide(Mode::Ask, &[access(what)]) else {
            panic!("{what} asks");
        };
        let offered = question.remember.first().map(|one| one.rule.to_string());
        assert_eq!(offered.as_deref(), expected, "{what}");
        if let Some(one) = question.remember.first() {
            assert_eq!(one.scope, Scope::Session);
            permissions.remember(one.scope, one.rule.clone()).unwrap();
            assert_eq!(
                permissions.decide(Mode::Ask, &[access(what)]),
                Verdict::Allow
            );
        }
    }
}

#[test]
fn a_rule_that_asks_offers_nothing_that_it_would_overrule() {
    let permissions = permissions(&["?write(src/**)"]);
    let Verdict::Ask(question) = permissions.decide(Mode::Full, &[access("write /p/src/a")]) else {
        panic!("it asks");
    };
    assert!(question.remember.is_empty());
}
