//! The tool `grep`.

use std::path::Path;
use std::sync::Arc;

use ply_agent::v2;
use serde_json::{Value, json};

use self::search::{Mode, Query};
use super::arguments::Arguments;
use super::glob::{StopOnDrop, Wanted};
use super::{Access, Outcome, Prepared, Preparing, Tool, ToolContext};
use crate::model::ToolSpec;
use crate::workspace::label;

mod search;

/// Results returned when the call does not say how many.
const RESULTS_DEFAULT: usize = 200;
/// Results returned, whatever the call says.
const RESULTS_MAX: usize = 2000;
/// Lines shown before and after a match.
const CONTEXT_LINES_MAX: usize = 20;

/// What stands before the totals of a count in which not every file is listed.
pub(crate) const BY_ENDING: &str = "By ending: ";

/// Finds text in files.
#[derive(Debug, Clone, Copy, Default)]
pub struct Grep;

impl Tool for Grep {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "grep".to_owned(),
            description: "Searches files for a regular expression, line by line, without `.git`, binary files, \
                secrets such as `.env`, and files that git ignores. Modes: `content` returns `path:line:text` for \
                each match (and `path-line-text` for context), `files` the paths of files with a match, `count` \
                the number of matching lines in each file. Set literal = true to search for plain text."
                .to_owned(),
            schema: json!({
                "type": "object",
                "properties": {
                    "pattern": {
                        "type": "string",
                        "description": "A regular expression in Rust's syntax, such as `fn \\w+\\(`."
                    },
                    "path": {
                        "type": "string",
                        "description": "The directory or file to search. Default: the working directory."
                    },
                    "glob": {
                        "type": "string",
                        "description": "Searches only files with such names, such as `*.rs` or `src/**/*.{ts,tsx}`."
                    },
                    "mode": {
                        "type": "string",
                        "enum": ["content", "files", "count"],
                        "description": "What to return. Default: content."
                    },
                    "context": {
                        "type": "integer",
                        "minimum": 0,
                        "maximum": CONTEXT_LINES_MAX,
                        "description": "How many lines to show before and after each match. Default: 0."
                    },
                    "case_insensitive": {
                        "type": "boolean",
                        "description": "Whether upper and lower case are the same. Default: false."
                    },
                    "literal": {
                        "type": "boolean",
                        "description": "Whether the pattern is plain text. Default: false."
                    },
                    "limit": {
                        "type": "integer",
                        "minimum": 1,
                        "maximum": RESULTS_MAX,
                        "description": "How many results to return. Default: 200."
                    }
                },
                "required": ["pattern"]
            }),
        }
    }

    fn kind(&self) -> v2::ToolKind {
        v2::ToolKind::Search
    }

    fn prepare<'t>(&'t self, arguments: Value, context: ToolContext<'t>) -> Preparing<'t> {
        Box::pin(async move {
            let arguments = Arguments::new(arguments)?;
            let pattern = arguments.text("pattern")?;
            let path = arguments.optional_text("path")?.unwrap_or(".".to_owned());
            let query = query(&arguments, &pattern)?;
            let spot = context.workspace.spot_to_read(&path).await;
            let spot = spot.map_err(|error| error.refuse("search", &path))?;
            let place = context.workspace.label(&spot);
            let title = match (query.mode, pattern.as_str()) {
                (Mode::Count, "^") => format!("Count lines in `{place}`"),
                _ => format!("Search `{}` in `{place}`", label(Path::new(&pattern))),
            };
            let (shown, real) = (spot.shown.clone(), spot.real.clone());
            Ok(Prepared::new(title, v2::ToolKind::Search, async move {
                let stop = StopOnDrop::default();
                let flag = Arc::clone(&stop.0);
                let base = context.workspace.cwd().to_owned();
                let overlay = context.workspace.overlay(context.surface).await;
                let readable = context.surface.readable();
                let found = context
                    .workspace
                    .blocking(move |inner| {
                        query.run(inner, &spot, &base, &overlay, &readable, &flag)
                    })
                    .await;
                found.map_or_else(|error| error.refuse("search", &place), Outcome::done)
            })
            .touches(shown, None)
            .needs(Access::Read(real)))
        })
    }
}

fn query(arguments: &Arguments, pattern: &str) -> Result<Query, Outcome> {
    if pattern.is_empty() {
        return Err(arguments.wrong("pattern", "is empty; say what to search for"));
    }
    let mode = match arguments.optional_text("mode")?.as_deref() {
        None | Some("content") => Mode::Content,
        Some("files") => Mode::Files,
        Some("count") => Mode::Count,
        Some(_) => return Err(arguments.wrong("mode", "must be content, files or count")),
    };
    let glob = arguments.optional_text("glob")?;
    let context = arguments.count("context")?.unwrap_or(0);
    let limit = arguments.count("limit")?.unwrap_or(RESULTS_DEFAULT);
    Ok(Query {
        matcher: search::matcher(
            pattern,
            arguments.switch("case_insensitive")?,
            arguments.switch("literal")?,
        )?,
        wanted: glob.map(|glob| Wanted::new(&glob)).transpose()?,
        mode,
        context: context.min(CONTEXT_LINES_MAX),
        limit: limit.clamp(1, RESULTS_MAX),
    })
}
