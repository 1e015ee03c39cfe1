//! `cargo xtask prop`: the property tests with more cases than a commit has time for.

use std::process::Command;

use crate::Result;

/// Packages with property tests, and the test files that hold them.
const PROPERTIES: &[(&str, &str)] = &[
    ("ply-session", "properties"),
    ("ply-wire", "translation_properties"),
];

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// How many cases each property is tried with
    #[arg(long, default_value_t = 100_000)]
    cases: u64,
    /// Only the properties of this package
    #[arg(long, value_parser = PROPERTIES.iter().map(|(package, _)| *package).collect::<Vec<_>>())]
    package: Option<String>,
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let wanted = |package: &str| {
        let only = arguments.package.as_deref();
        only.is_none_or(|only| only == package)
    };
    for (package, test) in PROPERTIES.iter().filter(|(package, _)| wanted(package)) {
        let status = Command::new("cargo")
            .args(["test", "--release", "--package", package, "--test", test])
            .env("PROPTEST_CASES", arguments.cases.to_string())
            .status()
            .map_err(|error| format!("cargo cannot be run: {error}"))?;
        if !status.success() {
            return Err(
                format!("a property of {package} does not hold; see the case above").into(),
            );
        }
    }
    Ok(())
}
