//! `find` without actions.

use super::Reads;

/// Words of an expression that take nothing.
const PLAIN: &[&str] = &[
    "-print",
    "-print0",
    "-prune",
    "-depth",
    "-d",
    "-xdev",
    "-mount",
    "-ls",
    "-quit",
    "-empty",
    "-readable",
    "-writable",
    "-executable",
    "-true",
    "-false",
    "-daystart",
    "-nouser",
    "-nogroup",
    "-noleaf",
    "-not",
    "!",
    "-a",
    "-and",
    "-o",
    "-or",
    "(",
    ")",
    ",",
];

/// Words of an expression that take a value, which is no place.
const VALUED: &[&str] = &[
    "-name",
    "-iname",
    "-path",
    "-ipath",
    "-wholename",
    "-iwholename",
    "-regex",
    "-iregex",
    "-regextype",
    "-type",
    "-xtype",
    "-size",
    "-mtime",
    "-mmin",
    "-atime",
    "-amin",
    "-ctime",
    "-cmin",
    "-maxdepth",
    "-mindepth",
    "-perm",
    "-user",
    "-group",
    "-uid",
    "-gid",
    "-links",
    "-inum",
    "-lname",
    "-printf",
    "-newermt",
];

/// Words of an expression that take a place.
const PLACED: &[&str] = &["-newer", "-anewer", "-cnewer", "-samefile"];

/// Returns what it reads, if its expression only looks. `-L` is not taken: links lead anywhere.
pub(super) fn reads(arguments: &[&str]) -> Option<Reads> {
    let begins = |word: &&str| word.starts_with('-') || matches!(*word, "(" | "!" | ",");
    let place = arguments.iter().position(begins).unwrap_or(arguments.len());
    let (starts, expression) = arguments.split_at(place);
    let starts = if starts.is_empty() { &["."] } else { starts };
    let mut places: Vec<String> = starts.iter().map(|start| (*start).to_owned()).collect();
    let mut words = expression.iter();
    while let Some(word) = words.next() {
        if VALUED.contains(word) {
            words.next()?;
        } else if PLACED.contains(word) {
            places.push((*words.next()?).to_owned());
        } else if !PLAIN.contains(word) {
            return None;
        }
    }
    Some(Reads {
        places,
        ..Reads::default()
    })
}
