//! Dependencies between our crates point inward.

#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

use std::collections::BTreeSet;
use std::process::Command;

use cargo_metadata::{DependencyKind, MetadataCommand};

/// What each crate of ours may depend on, test dependencies aside. A crate that is not here fails the test.
const MAY_DEPEND_ON: &[(&str, &[&str])] = &[
    ("ply-sys", &[]),
    ("ply-json", &[]),
    ("ply-rpc", &["ply-json", "ply-sys"]),
    ("ply-wire", &["ply-json", "ply-rpc"]),
    ("ply-session", &["ply-json", "ply-wire"]),
    ("ply-journal", &[]),
    (
        "ply-agent",
        &["ply-journal", "ply-rpc", "ply-session", "ply-wire"],
    ),
    ("ply-roots", &[]),
    ("ply-client", &["ply-roots", "ply-rpc", "ply-wire"]),
    (
        "ply-coder",
        &["ply-agent", "ply-roots", "ply-rpc", "ply-sys"],
    ),
    (
        "ply-hub",
        &[
            "ply-agent",
            "ply-client",
            "ply-journal",
            "ply-rpc",
            "ply-session",
            "ply-sys",
            "ply-wire",
        ],
    ),
    ("ply-tui", &["ply-client"]),
    ("ply-check", &["ply-client", "ply-rpc", "ply-wire"]),
    ("ply", &["ply-agent", "ply-client"]),
    (
        "ply-cli",
        &[
            "ply-agent",
            "ply-check",
            "ply-client",
            "ply-coder",
            "ply-hub",
            "ply-journal",
            "ply-rpc",
            "ply-sys",
            "ply-tui",
        ],
    ),
    ("ply-sim", &["ply-session", "ply-wire"]),
    (
        "ply-fuzz",
        &["ply-rpc", "ply-session", "ply-sim", "ply-wire"],
    ),
    (
        "ply-bench",
        &[
            "ply-agent",
            "ply-client",
            "ply-journal",
            "ply-rpc",
            "ply-sys",
            "ply-tui",
            "ply-wire",
            "terminal-tests",
        ],
    ),
    ("process-tests", &["ply-client", "ply-hub", "ply-rpc"]),
    (
        "hub-tests",
        &[
            "ply-agent",
            "ply-client",
            "ply-hub",
            "ply-journal",
            "ply-rpc",
        ],
    ),
    ("check-tests", &["ply-check", "ply-client"]),
    ("interop-tests", &["ply-agent", "ply-hub"]),
    ("ply-model-server", &[]),
    ("terminal-tests", &["ply-sys"]),
    (
        "ply-mcp-server",
        &["ply-agent", "ply-coder", "ply-rpc", "ply-sys"],
    ),
    (
        "coder-tests",
        &[
            "ply-agent",
            "ply-client",
            "ply-coder",
            "ply-journal",
            "ply-model-server",
            "ply-rpc",
        ],
    ),
    ("crash-shim", &[]),
    (
        "crash-tests",
        &[
            "crash-shim",
            "ply-agent",
            "ply-journal",
            "ply-session",
            "ply-sim",
            "ply-wire",
        ],
    ),
    ("xtask", &["terminal-tests"]),
];

/// Crates that only these of ours may use, test dependencies aside.
const RESERVED: &[(&str, &[&str])] = &[
    ("agent-client-protocol", &["ply-bench", "interop-tests"]),
    ("agent-client-protocol-schema", &["ply-wire", "ply-bench"]),
    ("rusqlite", &["ply-journal", "crash-tests"]),
    // The coding agent forbids unsafe code, and uses the numbers of system calls alone.
    ("libc", &["ply-sys", "ply-coder", "crash-shim"]),
];

/// Crates that know no runtime, and what none of them may depend on, however far away.
const WITHOUT_IO: &[&str] = &["ply-wire", "ply-session", "ply-sim"];
const IO: &[&str] = &["ply-rpc", "ply-sys", "rustix", "tokio"];

#[test]
fn the_core_depends_on_no_runtime() {
    for package in WITHOUT_IO {
        // Metadata would have the features that the other crates of the workspace ask for.
        let tree = Command::new(std::env::var_os("CARGO").unwrap())
            .args(["tree", "--locked", "--edges", "normal", "--prefix", "none"])
            .args(["--package", package])
            .output()
            .unwrap();
        let (found, trouble) = (
            String::from_utf8(tree.stdout).unwrap(),
            String::from_utf8_lossy(&tree.stderr),
        );
        assert!(tree.status.success(), "{trouble}");
        let names = found.lines().filter_map(|line| line.split(' ').next());
        let wrong: BTreeSet<_> = names.filter(|name| IO.contains(name)).collect();
        assert!(wrong.is_empty(), "{package} depends on {wrong:?}");
    }
}

#[test]
fn dependency_arrows_point_inward() {
    let metadata = MetadataCommand::new().no_deps().exec().unwrap();
    let ours: BTreeSet<_> = metadata
        .packages
        .iter()
        .map(|package| package.name.as_str())
        .collect();
    let mut wrong = Vec::new();
    for package in &metadata.packages {
        let name = package.name.as_str();
        let Some((_, allowed)) = MAY_DEPEND_ON.iter().find(|(listed, _)| *listed == name) else {
            wrong.push(format!("{name} is not in the table of this test"));
            continue;
        };
        for dependency in package
            .dependencies
            .iter()
            .filter(|dependency| dependency.kind != DependencyKind::Development)
        {
            let target = dependency.name.as_str();
            if ours.contains(target) && !allowed.contains(&target) {
                wrong.push(format!("{name} -> {target}"));
            }
            let reserved = RESERVED.iter().find(|(listed, _)| *listed == target);
            if reserved.is_some_and(|(_, users)| !users.contains(&name)) {
                wrong.push(format!("{name} -> {target}, which is reserved"));
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "arrows the wrong way:\n{}",
        wrong.join("\n")
    );
}
