//! Finds tests and the ids they name, line by line.
//!
//! Only what carries a test attribute counts, so code that is not a test cannot cover a rule,
//! whatever its comments say. The scanner relies on the layout of rustfmt: a body ends at the first
//! closing brace that is not indented deeper than its `fn`. Where that fails, a body ends early and
//! a rule is shown as not covered, which somebody notices; the other way round nobody would.

use std::collections::BTreeSet;

use super::id::{self, Id};

/// A test and the rules that it names.
#[derive(Debug)]
pub(crate) struct Test {
    /// The file, relative to the repository.
    pub(crate) path: String,
    pub(crate) name: String,
    /// Ids in the name.
    pub(crate) named: BTreeSet<Id>,
    /// Ids in comments only.
    pub(crate) noted: BTreeSet<Id>,
}

/// What stands directly above a line: comments and attributes without a gap.
#[derive(Default)]
struct Above {
    noted: BTreeSet<Id>,
    test: bool,
    ignored: bool,
    /// Inside an attribute of several lines.
    attribute: bool,
}

/// Returns the tests of a file that name a rule, in the order of the file.
///
/// A test that is ignored by default shows nothing by default, so it is left out.
pub(crate) fn tests(path: &str, text: &str) -> Vec<Test> {
    let mut found: Vec<Test> = Vec::new();
    let mut above = Above::default();
    // The test that the line is in, and how deep its `fn` is indented.
    let mut body: Option<(Test, usize)> = None;
    for line in text.lines() {
        let code = line.trim();
        let indent = line.len() - line.trim_start().len();
        if let Some((mut test, depth)) = body.take() {
            if code.starts_with('}') && indent <= depth {
                found.push(test);
            } else {
                test.noted
                    .extend(comment(code).map(id::in_comment).unwrap_or_default());
                body = Some((test, depth));
            }
        } else if above.attribute {
            above.attribute = !code.ends_with(']');
        } else if code.starts_with("//") {
            above.noted.extend(id::in_comment(code));
        } else if let Some(attribute) = code.strip_prefix("#[") {
            above.test |= is_test(attribute);
            above.ignored |= attribute.starts_with("ignore");
            above.attribute = !code.ends_with(']');
        } else {
            let above = std::mem::take(&mut above);
            if let (Some(name), true, false) = (function(code), above.test, above.ignored) {
                let test = Test {
                    path: path.to_owned(),
                    name: name.to_owned(),
                    named: id::in_name(name).into_iter().collect(),
                    noted: above.noted,
                };
                if code.ends_with('}') {
                    found.push(test);
                } else {
                    body = Some((test, indent));
                }
            }
        }
    }
    found.extend(body.map(|(test, _)| test));
    found.retain(|test| !test.named.is_empty() || !test.noted.is_empty());
    found
}

/// Returns the comment of a line, whether or not code stands before it.
fn comment(code: &str) -> Option<&str> {
    if code.starts_with("//") {
        return Some(code);
    }
    // With a space on either side it is not part of an address.
    code.rsplit_once(" // ").map(|(_, comment)| comment)
}

/// Returns whether an attribute makes a test: its path is `test`, or ends in it.
fn is_test(attribute: &str) -> bool {
    let end = attribute.find(['(', ']']).unwrap_or(attribute.len());
    let (path, _) = attribute.split_at(end);
    path.rsplit("::").next() == Some("test")
}

/// Returns the name of the function that a line begins.
fn function(code: &str) -> Option<&str> {
    let code = code.strip_prefix("pub ").unwrap_or(code);
    let code = code.strip_prefix("async ").unwrap_or(code);
    let name = code.strip_prefix("fn ")?;
    name.split(['(', '<']).next()
}

#[cfg(test)]
mod tests {
    use super::tests;

    /// Returns `name: ids` per test. The `@` of a sample stands for the 1 of an id, since this file
    /// is scanned as well and its samples are no tests.
    fn found(sample: &str) -> Vec<String> {
        tests("a.rs", &sample.replace('@', "1"))
            .iter()
            .map(|test| {
                let ids: Vec<_> = test
                    .named
                    .iter()
                    .chain(&test.noted)
                    .map(ToString::to_string)
                    .collect();
                format!("{}: {}", test.name, ids.join(" "))
            })
            .collect()
    }

    #[test]
    fn names_comments_above_and_comments_inside_count() {
        let sample = "
// V@-FS-02.
#[tokio::test(start_paused = true)]
async fn v@_fs_01_first() {
    check(1); // V@-FS-03.
    let address = \"https://V@-FS-04\";
    if true {
        // V@-FS-05..06
    }
}

/// V@-FS-07
#[test]
#[expect(
    lint,
    reason = \"long\"
)]
// V@-FS-08
fn second() {}
";
        let first = "v1_fs_01_first: V1-FS-01 V1-FS-02 V1-FS-03 V1-FS-05 V1-FS-06";
        assert_eq!(found(sample), [first, "second: V1-FS-07 V1-FS-08"]);
    }

    #[test]
    fn tests_in_modules_and_property_tests_count() {
        let sample = "
#[cfg(test)]
mod tests {
    proptest! {
        #[test]
        fn v@_fs_01_any(bytes in vec(any::<u8>(), 0..9)) {
            // V@-FS-02
        }
        // V@-FS-03
    }
}
";
        assert_eq!(found(sample), ["v1_fs_01_any: V1-FS-01 V1-FS-02"]);
    }

    #[test]
    fn what_is_no_test_counts_for_nothing() {
        let sample = "
/// Follows V@-FS-01.
/// #[test]
pub fn v@_fs_02_production() {
    // V@-FS-03
}

// V@-FS-04, a gap away.

#[test]
fn plain() {
    assert!(true, \"V@-FS-05\");
}
// V@-FS-06, below.

#[test]
#[ignore = \"slow\"]
fn v@_fs_07_ignored() {
    // V@-FS-08
}
";
        assert_eq!(found(sample), [""; 0]);
    }
}
