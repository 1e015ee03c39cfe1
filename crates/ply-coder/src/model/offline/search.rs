//! Where something is defined or used.

use serde_json::json;

use super::names::literal;
use super::script::Reply;
use super::tally::{files, plural};
use super::turn::{Done, Rounds};
use super::{outline, words};
use crate::text;

/// Places that are listed.
const PLACES_MAX: usize = 10;
/// Places that are looked for.
const FOUND_MAX: u32 = 500;
/// Lines shown of the first definition.
const SHOWN_LINES: u32 = 16;
/// Lines before it that may hold its documentation.
const LINES_BEFORE: u64 = 8;
/// Characters of a line that are shown.
const LINE_CHARS_MAX: usize = 110;

/// What defines things, in the languages that there are.
const DEFINES: &str = "(fn|func|function|def|fun|struct|enum|union|trait|class|interface|protocol|type|object|\
                       record|mod|module|namespace|const|static|var|macro_rules!|#define)";

/// One line that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Place {
    path: String,
    line: u64,
    text: String,
}

/// Looks for where something is defined, or else for where it is mentioned.
pub(super) fn definition(name: &str, rounds: &Rounds<'_>) -> Reply {
    let searches: Vec<_> = rounds.calls("grep").collect();
    let Some(found) = searches.first().copied() else {
        return Reply::call("grep", json!({ "pattern": word(name), "limit": FOUND_MAX }));
    };
    let mentioned = places(found);
    let mut defined = definitions(&mentioned, name);
    if defined.is_empty() {
        match searches.get(1) {
            // There was too much to see all of it.
            None if is_cut(found) => {
                let pattern = format!("\\b{DEFINES}\\s+(\\([^)]*\\)\\s*)?{}\\b", literal(name));
                return Reply::call("grep", json!({ "pattern": pattern, "limit": FOUND_MAX }));
            }
            None if mentioned.is_empty() => {
                let arguments = json!({
                    "pattern": literal(name), "case_insensitive": true, "limit": FOUND_MAX,
                });
                return Reply::call("grep", arguments);
            }
            None => return Reply::say(words::signed(&mentions(name, found))),
            Some(more) => defined = definitions(&places(*more), name),
        }
    }
    let Some(best) = defined.first() else {
        let last = searches.last().copied().unwrap_or(found);
        return Reply::say(words::signed(&mentions(name, last)));
    };
    let shown = match module_file(best, name) {
        Some(pattern) => match rounds.calls("glob").last() {
            Some(files) => module(name, best, files),
            None => return Reply::call("glob", json!({ "pattern": pattern })),
        },
        None => match rounds.calls("read_file").last() {
            Some(read) => shown(name, &defined, read),
            None => {
                let first = best.line.saturating_sub(LINES_BEFORE).max(1);
                let limit = u64::from(SHOWN_LINES) + best.line - first;
                let arguments = json!({ "path": best.path, "offset": first, "limit": limit });
                return Reply::call("read_file", arguments);
            }
        },
    };
    let more = if is_cut(found) { " or more" } else { "" };
    let lines = plural(mentioned.len() as u64, "line mentions", "lines mention");
    Reply::say(words::signed(&format!(
        "{shown}\n{lines}{more} it; `where is {name} used?` lists them.\n"
    )))
}

/// Shows the first definition, and lists the others.
fn shown(name: &str, defined: &[Place], read: Done<'_>) -> String {
    let Some(best) = defined.first() else {
        return String::new();
    };
    let (path, line) = (&best.path, best.line);
    let mut said = match defined {
        [_] => format!("`{name}` is defined in `{path}:{line}`"),
        _ => {
            let count = plural(defined.len() as u64, "place", "places");
            format!("`{name}` is defined in {count}; the first is `{path}:{line}`")
        }
    };
    said.push_str(&format!(":\n\n```\n{}```\n", code(read, line)));
    if defined.len() > 1 {
        let others: Vec<_> = defined.iter().skip(1).cloned().collect();
        said.push_str(&format!("\nThe others:\n\n{}", list(&others)));
    }
    said
}

/// Returns a pattern for the file of a module, if that is what a line declares.
fn module_file(place: &Place, name: &str) -> Option<String> {
    let (kind, _, _) = outline::definition(&place.text)?;
    let declares = kind == "module" && place.text.trim_end().ends_with(';');
    declares.then(|| format!("**/{{{name}.rs,{name}/mod.rs}}"))
}

/// Says in which file a module is.
fn module(name: &str, declared: &Place, files: Done<'_>) -> String {
    let mut files: Vec<&str> = files.lines().collect();
    files.sort_unstable();
    let (path, line) = (&declared.path, declared.line);
    let Some(file) = files.first() else {
        return format!("`{name}` is a module, declared in `{path}:{line}`.\n");
    };
    format!(
        "`{name}` is a module in `{file}`, declared in `{path}:{line}`. `explain {file}` shows what is in it.\n"
    )
}

/// Returns a pattern for a whole word.
fn word(name: &str) -> String {
    format!("\\b{}\\b", literal(name))
}

/// Looks for where something is used.
pub(super) fn uses(name: &str, rounds: &Rounds<'_>) -> Reply {
    let Some(found) = rounds.round(0).first() else {
        return Reply::call("grep", json!({ "pattern": word(name), "limit": FOUND_MAX }));
    };
    let places = places(*found);
    let said = match places.is_empty() {
        true => format!("Nothing here mentions `{name}`."),
        false => by_file(name, &places, is_cut(*found)),
    };
    Reply::say(words::signed(&said))
}

/// Looks for what is left to do.
pub(super) fn todos(rounds: &Rounds<'_>) -> Reply {
    let Some(found) = rounds.round(0).first() else {
        let pattern = "\\b(TODO|FIXME|XXX|HACK)\\b";
        return Reply::call("grep", json!({ "pattern": pattern, "limit": FOUND_MAX }));
    };
    let places = places(*found);
    let said = match places.len() as u64 {
        0 => "No comment here says TODO, FIXME, XXX or HACK.".to_owned(),
        count => {
            let least = if is_cut(*found) { "At least " } else { "" };
            let count = plural(count, "line says", "lines say");
            format!(
                "{least}{count} TODO, FIXME, XXX or HACK:\n\n{}",
                list(&places)
            )
        }
    };
    Reply::say(words::signed(&said))
}

/// Says where a name is mentioned that nothing defines.
fn mentions(name: &str, found: Done<'_>) -> String {
    let places = places(found);
    match places.is_empty() {
        true => format!("Nothing here defines or mentions `{name}`."),
        false => {
            let by_file = by_file(name, &places, is_cut(found));
            format!("I found no definition of `{name}`. {by_file}")
        }
    }
}

/// Returns the definitions among what was found, the likeliest first.
fn definitions(places: &[Place], name: &str) -> Vec<Place> {
    let is_it = |place: &&Place| {
        let defined = outline::definition(&place.text);
        defined.is_some_and(|(_, found, _)| found == name)
    };
    let rank = |place: &Place| {
        let is_public = outline::definition(&place.text).is_some_and(|(_, _, is_public)| is_public);
        let is_aside = place.path.contains("test") || place.path.contains("example");
        (place.path.ends_with(".md"), is_aside, !is_public)
    };
    let mut definitions: Vec<Place> = places.iter().filter(is_it).cloned().collect();
    definitions.sort_by_key(rank);
    definitions
}

fn places(found: Done<'_>) -> Vec<Place> {
    let places = found.found().map(|(path, line, text)| Place {
        path: path.to_owned(),
        line,
        text: text.to_owned(),
    });
    places.collect()
}

fn is_cut(found: Done<'_>) -> bool {
    found.text.contains("[Stopped after ")
}

fn list(places: &[Place]) -> String {
    let mut said = String::new();
    for place in places.iter().take(PLACES_MAX) {
        let (path, line) = (&place.path, place.line);
        let words = text::first_line(&place.text, LINE_CHARS_MAX);
        said.push_str(&format!(
            "- `{path}:{line}`: `{}`\n",
            words.replace('`', "'")
        ));
    }
    if places.len() > PLACES_MAX {
        said.push_str(&format!("- and {} more\n", places.len() - PLACES_MAX));
    }
    said
}

/// Says in which files a name is, with its first lines.
fn by_file(name: &str, places: &[Place], is_cut: bool) -> String {
    let mut counts: Vec<(&str, u64)> = Vec::new();
    for place in places {
        match counts.iter_mut().find(|(path, _)| *path == place.path) {
            Some((_, count)) => *count += 1,
            None => counts.push((&place.path, 1)),
        }
    }
    let total = plural(places.len() as u64, "line", "lines");
    let more = if is_cut { " or more" } else { "" };
    let in_files = files(counts.len() as u64);
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let shown = counts
        .iter()
        .take(PLACES_MAX)
        .map(|(path, count)| format!("`{path}` ({count})"));
    let shown = shown.collect::<Vec<_>>().join(", ");
    let rest = match counts.len().saturating_sub(PLACES_MAX) {
        0 => String::new(),
        rest => format!(" and {rest} more"),
    };
    format!(
        "{total}{more} in {in_files} mention `{name}`: {shown}{rest}.\n\nThe first:\n\n{}",
        list(places)
    )
}

/// Returns the lines of a definition: its documentation and its beginning.
fn code(read: Done<'_>, line: u64) -> String {
    let numbered = read.text.lines().filter_map(|text| {
        let (number, text) = text.trim_start().split_once('\t')?;
        Some((number.parse::<u64>().ok()?, text))
    });
    let numbered: Vec<(u64, &str)> = numbered.collect();
    let before = numbered.iter().filter(|(number, _)| *number < line);
    let is_about = |text: &str| {
        let text = text.trim_start();
        text.starts_with("//") || text.starts_with(['#', '@', '*', '/'])
    };
    let before = before.rev().take_while(|(_, text)| is_about(text)).count() as u64;
    let mut code = String::new();
    let mut depth = None;
    for (number, text) in &numbered {
        if *number + before < line {
            continue;
        }
        code.push_str(&format!("{number:>5}  {text}\n"));
        let indent = text.len() - text.trim_start().len();
        if *number == line {
            depth = Some(indent);
        }
        // The block ends where a line closes it.
        let closes = text.trim_start().starts_with(['}', ')', ']']) && depth == Some(indent);
        let is_whole = *number == line && text.trim_end().ends_with(';');
        if *number > line && closes || is_whole {
            break;
        }
    }
    code
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    fn done(text: &str) -> Done<'_> {
        Done {
            name: "grep",
            arguments: &Value::Null,
            text,
            failed: false,
        }
    }

    #[test]
    fn the_likeliest_definition_comes_first() {
        let text = "tests/a.rs:1:fn pour() {}\nREADME.md:3:type pour x\nsrc/a.rs:9:    // fn pour\n\
                    src/b.rs:7:pub fn pour() {}\nsrc/b.rs:2:impl pour {}\n";
        let found = definitions(&places(done(text)), "pour");
        let paths: Vec<_> = found.iter().map(|place| place.path.as_str()).collect();
        assert_eq!(paths, ["src/b.rs", "tests/a.rs", "README.md"]);
    }

    #[test]
    fn a_definition_is_shown_with_its_documentation_and_to_its_end() {
        let text = "     1\tuse x;\n     2\t\n     3\t/// Pours.\n     4\t#[inline]\n     5\tfn pour() {\n     \
                    6\t    x();\n     7\t}\n     8\t\n     9\tfn other() {}\n";
        assert_eq!(
            code(done(text), 5),
            "    3  /// Pours.\n    4  #[inline]\n    5  fn pour() {\n    6      x();\n    7  }\n"
        );
    }
}
