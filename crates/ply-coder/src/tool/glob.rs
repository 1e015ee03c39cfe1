//! The tool `glob`.

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use globset::{GlobBuilder, GlobMatcher};
use ply_agent::v2;
use serde_json::{Value, json};

use super::arguments::Arguments;
use super::{Access, Outcome, Prepared, Preparing, Tool, ToolContext};
use crate::model::ToolSpec;
use crate::workspace::{Error, Inner, Kind, Show, Spot, Walk, Walked, label};

/// Files returned.
const FILES_MAX: usize = 200;

/// Finds files by name.
#[derive(Debug, Clone, Copy, Default)]
pub struct Glob;

impl Tool for Glob {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "glob".to_owned(),
            description: "Finds files by name, newest first, without `.git` and files that git ignores. `*` matches \
                anything but `/`, `**` any directories, `{a,b}` either of the two. A pattern without `/` matches \
                names at any depth: `*.rs` finds all Rust files. Returns up to 200 paths."
                .to_owned(),
            schema: json!({
                "type": "object",
                "properties": {
                    "pattern": {
                        "type": "string",
                        "description": "Such as `src/**/*.{ts,tsx}` or `Cargo.toml`; relative to path."
                    },
                    "path": {
                        "type": "string",
                        "description": "The directory to look in. Default: the working directory."
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
            let wanted = Wanted::new(&pattern)?;
            let spot = context.workspace.spot_to_read(&path).await;
            let spot = spot.map_err(|error| error.refuse("search", &path))?;
            let place = context.workspace.label(&spot);
            let title = format!("Find `{}` in `{place}`", label(Path::new(&pattern)));
            let (shown, real) = (spot.shown.clone(), spot.real.clone());
            Ok(Prepared::new(title, v2::ToolKind::Search, async move {
                let stop = StopOnDrop::default();
                let flag = Arc::clone(&stop.0);
                let base = context.workspace.cwd().to_owned();
                let found = context
                    .workspace
                    .blocking(move |inner| find(inner, &spot, &base, &wanted, &flag))
                    .await;
                found.map_or_else(|error| error.refuse("search", &place), Outcome::done)
            })
            .touches(shown, None)
            .needs(Access::Read(real)))
        })
    }
}

/// Tells a search that nobody waits for it any more.
#[derive(Debug, Default)]
pub(super) struct StopOnDrop(pub(super) Arc<AtomicBool>);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Which names are wanted.
#[derive(Debug)]
pub(super) struct Wanted {
    glob: GlobMatcher,
    /// Whether only the last name of a path is compared.
    names: bool,
}

impl Wanted {
    pub(super) fn new(pattern: &str) -> Result<Self, Outcome> {
        let pattern = pattern.strip_prefix("./").unwrap_or(pattern);
        if pattern.starts_with('/') {
            return Err(Outcome::failed(
                "The pattern must not begin with `/`: it is relative to `path`. Put the directory into `path`.",
            ));
        }
        let glob = GlobBuilder::new(pattern).literal_separator(true).build();
        match glob {
            Ok(glob) => Ok(Self {
                glob: glob.compile_matcher(),
                names: !pattern.contains('/'),
            }),
            Err(error) => Err(Outcome::failed(format!(
                "The pattern is no glob: {}. Use `*`, `**`, `?`, `[ab]` and `{{a,b}}`, and `\\` before these to mean themselves.",
                error.kind()
            ))),
        }
    }

    pub(super) fn is_match(&self, path: &Path) -> bool {
        match self.names {
            true => path
                .file_name()
                .is_some_and(|name| self.glob.is_match(name)),
            false => self.glob.is_match(path),
        }
    }
}

fn find(
    inner: &Inner,
    spot: &Spot,
    base: &Path,
    wanted: &Wanted,
    stop: &AtomicBool,
) -> Result<String, Error> {
    match spot.kind {
        Kind::Directory => {}
        Kind::Missing => return Err(Error::NotFound),
        _ => return Err(Error::NotADirectory),
    }
    let mut found = Vec::new();
    let walk = Walk {
        show: Show::Kept,
        depth: usize::MAX,
        contents_first: false,
        stop,
    };
    // Bounded by how many entries a walk looks at.
    let walked = inner.walk(spot, walk, &mut |entry| {
        if entry.kind == Kind::File && wanted.is_match(entry.path) {
            let time = entry.stat.modified();
            found.push((time, spot.real.join(entry.path)));
        }
        Ok(ControlFlow::Continue(()))
    })?;
    found.sort_by(|(time, path), (other_time, other)| {
        other_time.cmp(time).then_with(|| path.cmp(other))
    });
    let total = found.len();
    let mut out = String::new();
    for (_, path) in found.iter().take(FILES_MAX) {
        out.push_str(&label(path.strip_prefix(base).unwrap_or(path)));
        out.push('\n');
    }
    if total == 0 {
        out.push_str("[No file has such a name. What git ignores is left out.]");
    }
    if total > FILES_MAX {
        out.push_str(&format!(
            "[The newest {FILES_MAX} of {total} files. Narrow the pattern or the path to see others.]"
        ));
    }
    if walked == Walked::Cut {
        out.push_str("\n[The directory is too large to look through; name one further down.]");
    }
    Ok(out)
}
