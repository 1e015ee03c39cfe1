//! The search itself, on a thread that may wait.

use std::collections::{BTreeMap, HashMap};
use std::io::{self, Read};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{
    BinaryDetection, Searcher, SearcherBuilder, Sink, SinkContext, SinkFinish, SinkMatch,
};

use super::super::Readable;
use super::super::glob::Wanted;
use super::super::lines::cut;
use super::{BY_ENDING, Outcome};
use crate::permission::is_secret;
use crate::workspace::{Error, Inner, Kind, Show, Spot, Walk, Walked, label};

/// Bytes of one file that are searched.
const FILE_BYTES_MAX: u64 = 64 * 1024 * 1024;
/// Bytes of one line; a file with a longer one is left out from there on.
const LINE_BYTES_MAX: usize = 4 * 1024 * 1024;
/// Bytes of the result.
const OUTPUT_BYTES_MAX: usize = 64 * 1024;
/// Characters of a line that are shown.
const LINE_CHARS_MAX: usize = 400;
/// Endings of names that are told apart when lines are counted.
const ENDINGS_MAX: usize = 20;
/// Bytes that a compiled pattern may take.
const PATTERN_BYTES_MAX: usize = 4 * 1024 * 1024;

/// What to return.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    Content,
    Files,
    Count,
}

/// What to search for.
#[derive(Debug)]
pub(super) struct Query {
    pub(super) matcher: RegexMatcher,
    pub(super) wanted: Option<Wanted>,
    pub(super) mode: Mode,
    pub(super) context: usize,
    pub(super) limit: usize,
}

/// Compiles a pattern.
pub(super) fn matcher(
    pattern: &str,
    case_insensitive: bool,
    literal: bool,
) -> Result<RegexMatcher, Outcome> {
    let mut builder = RegexMatcherBuilder::new();
    builder
        .case_insensitive(case_insensitive)
        .fixed_strings(literal)
        .size_limit(PATTERN_BYTES_MAX)
        .line_terminator(Some(b'\n'));
    builder.build(pattern).map_err(|error| {
        // The words show the pattern with a mark below it, over several lines.
        let words = cut(&error.to_string().replace('\n', " "), LINE_CHARS_MAX);
        Outcome::failed(format!(
            "The pattern cannot be searched for: {words}. Patterns match within one line. \
             Set literal = true to search for the text as it is written."
        ))
    })
}

impl Query {
    /// Searches a file, or everything below a directory.
    pub(super) fn run(
        &self,
        inner: &Inner,
        spot: &Spot,
        base: &Path,
        overlay: &[(PathBuf, String)],
        readable: &Readable,
        stop: &AtomicBool,
    ) -> Result<String, Error> {
        let overlay: HashMap<_, _> = overlay
            .iter()
            .map(|(path, text)| (path.as_path(), text.as_str()))
            .collect();
        let mut search = Search {
            query: self,
            searcher: self.searcher(),
            found: Found::new(self),
            stop,
        };
        let walked = match spot.kind {
            Kind::File => {
                let shown = label(spot.real.strip_prefix(base).unwrap_or(&spot.real));
                match overlay.get(spot.real.as_path()) {
                    Some(text) => search.slice(shown, text),
                    None => search.file(shown, inner.open(spot)?),
                }
                Walked::Whole
            }
            Kind::Directory => {
                let walk = Walk {
                    show: Show::Kept,
                    depth: usize::MAX,
                    contents_first: false,
                    stop,
                };
                inner.walk(spot, walk, &mut |entry| {
                    let wanted = self.wanted.as_ref();
                    if entry.kind != Kind::File
                        || wanted.is_some_and(|wanted| !wanted.is_match(entry.path))
                    {
                        return Ok(ControlFlow::Continue(()));
                    }
                    let real = spot.real.join(entry.path);
                    // Permission was given to look into the directory. What needs more is asked for
                    // by its own name.
                    if is_secret(inner.below_root(&real)) || !readable(&real) {
                        search.found.secrets += 1;
                        return Ok(ControlFlow::Continue(()));
                    }
                    let shown = label(real.strip_prefix(base).unwrap_or(&real));
                    match overlay.get(real.as_path()) {
                        Some(text) => search.slice(shown, text),
                        // One that cannot be opened is none that matches.
                        None => {
                            if let Ok((file, _)) = entry.open() {
                                search.file(shown, file);
                            }
                        }
                    }
                    Ok(match search.found.full {
                        true => ControlFlow::Break(()),
                        false => ControlFlow::Continue(()),
                    })
                })?
            }
            Kind::Missing => return Err(Error::NotFound),
            Kind::Link => return Err(Error::Moved),
            Kind::Special => return Err(Error::Special),
        };
        Ok(search.found.finish(walked))
    }

    fn searcher(&self) -> Searcher {
        let context = match self.mode {
            Mode::Content => self.context,
            Mode::Files | Mode::Count => 0,
        };
        SearcherBuilder::new()
            .binary_detection(BinaryDetection::quit(0))
            .line_number(true)
            .before_context(context)
            .after_context(context)
            .heap_limit(Some(LINE_BYTES_MAX))
            .build()
    }
}

struct Search<'q> {
    query: &'q Query,
    searcher: Searcher,
    found: Found<'q>,
    stop: &'q AtomicBool,
}

impl Search<'_> {
    fn file(&mut self, path: String, file: std::fs::File) {
        self.found.begin(path);
        let reader = Stoppable {
            reader: file.take(FILE_BYTES_MAX),
            stop: self.stop,
        };
        let matcher = &self.query.matcher;
        if let Err(error) = self
            .searcher
            .search_reader(matcher, reader, &mut self.found)
        {
            tracing::debug!(%error, "a file was not searched to its end");
        }
        self.found.end();
    }

    fn slice(&mut self, path: String, text: &str) {
        self.found.begin(path);
        let matcher = &self.query.matcher;
        let searched = self
            .searcher
            .search_slice(matcher, text.as_bytes(), &mut self.found);
        if let Err(error) = searched {
            tracing::debug!(%error, "a buffer was not searched to its end");
        }
        self.found.end();
    }
}

/// A reader that fails once nobody waits for what is in it.
struct Stoppable<'s, R> {
    reader: R,
    stop: &'s AtomicBool,
}

impl<R: Read> Read for Stoppable<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.stop.load(Ordering::Relaxed) {
            true => Err(io::Error::other("nobody waits any more")),
            false => self.reader.read(buffer),
        }
    }
}

/// What was found so far.
struct Found<'q> {
    query: &'q Query,
    out: String,
    /// Matches, or files, depending on the mode.
    results: usize,
    /// Of the file that is searched.
    path: String,
    matches: usize,
    /// Where its results begin, to take them back if it turns out to be binary.
    start: (usize, usize),
    full: bool,
    /// Files that were left out.
    secrets: usize,
    /// In the mode that counts: files and lines that match, by the ending of the file's name.
    endings: BTreeMap<String, (u64, u64)>,
}

impl<'q> Found<'q> {
    fn new(query: &'q Query) -> Self {
        Self {
            query,
            out: String::new(),
            results: 0,
            path: String::new(),
            matches: 0,
            start: (0, 0),
            full: false,
            secrets: 0,
            endings: BTreeMap::new(),
        }
    }

    fn begin(&mut self, path: String) {
        self.path = path;
        self.matches = 0;
        self.start = (self.out.len(), self.results);
    }

    fn end(&mut self) {
        if self.matches > 0 {
            match self.query.mode {
                Mode::Content => {}
                Mode::Files => {
                    self.out.push_str(&format!("{}\n", self.path));
                    self.results += 1;
                }
                Mode::Count => self.count(),
            }
        }
        let is_full = self.results >= self.query.limit || self.out.len() >= OUTPUT_BYTES_MAX;
        // What is counted is counted to the end, even if not every file can be listed.
        self.full |= is_full && self.query.mode != Mode::Count;
    }

    fn count(&mut self) {
        let name = self.path.rsplit('/').next().unwrap_or(&self.path);
        let ending = match name.rsplit_once('.') {
            Some((before, ending)) if !before.is_empty() && !ending.contains(' ') => ending,
            _ => "none",
        };
        let (files, lines) = self.endings.entry(ending.to_owned()).or_default();
        *files += 1;
        *lines += self.matches as u64;
        if self.results < self.query.limit && self.out.len() < OUTPUT_BYTES_MAX {
            self.out
                .push_str(&format!("{}:{}\n", self.path, self.matches));
            self.results += 1;
        }
    }

    /// Sums up what was counted, if not every file is listed.
    fn totals(&self) -> Option<String> {
        let files: u64 = self.endings.values().map(|(files, _)| files).sum();
        if files <= self.results as u64 {
            return None;
        }
        let lines: u64 = self.endings.values().map(|(_, lines)| lines).sum();
        let mut all: Vec<_> = self.endings.iter().collect();
        all.sort_by_key(|(_, (_, lines))| std::cmp::Reverse(*lines));
        let named = all
            .iter()
            .take(ENDINGS_MAX)
            .map(|(ending, (files, lines))| format!("{ending} {lines} lines in {files} files"));
        let named = named.collect::<Vec<_>>().join(", ");
        Some(format!(
            "[{} of {files} files are listed; {lines} lines match in all. {BY_ENDING}{named}.]",
            self.results
        ))
    }

    fn line(&mut self, number: Option<u64>, mark: char, bytes: &[u8]) {
        let text = String::from_utf8_lossy(bytes);
        let text = cut(&text, LINE_CHARS_MAX);
        let number = number.unwrap_or_default();
        self.out
            .push_str(&format!("{}{mark}{number}{mark}{text}\n", self.path));
    }

    fn finish(mut self, walked: Walked) -> String {
        if self.out.is_empty() {
            self.out.push_str("[Nothing matches.]");
        }
        if let Some(totals) = self.totals() {
            self.out.push_str(&totals);
        }
        if self.full {
            self.out.push_str(&format!("[Stopped after {} results. Narrow the pattern, the path or the glob, or raise limit.]",
                self.results
            ));
        } else if walked == Walked::Cut {
            self.out
                .push_str("\n[The directory is too large to look through; name one further down.]");
        }
        if self.secrets > 0 {
            let files = match self.secrets {
                1 => "1 file that needs permission was".to_owned(),
                many => format!("{many} files that need permission were"),
            };
            self.out.push_str(&format!(
                "\n[{files} not searched; name one as path if it matters.]"
            ));
        }
        self.out
    }
}

impl Sink for Found<'_> {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> Result<bool, io::Error> {
        self.matches += 1;
        if self.query.mode != Mode::Content {
            return Ok(self.query.mode == Mode::Count);
        }
        if self.results >= self.query.limit || self.out.len() >= OUTPUT_BYTES_MAX {
            self.full = true;
            return Ok(false);
        }
        self.results += 1;
        self.line(found.line_number(), ':', found.bytes());
        Ok(true)
    }

    fn context(&mut self, _: &Searcher, context: &SinkContext<'_>) -> Result<bool, io::Error> {
        self.line(context.line_number(), '-', context.bytes());
        Ok(self.out.len() < OUTPUT_BYTES_MAX)
    }

    fn context_break(&mut self, _: &Searcher) -> Result<bool, io::Error> {
        self.out.push_str("--\n");
        Ok(true)
    }

    fn finish(&mut self, _: &Searcher, finish: &SinkFinish) -> Result<(), io::Error> {
        if finish.binary_byte_offset().is_some() {
            let (length, results) = self.start;
            self.out.truncate(length);
            self.results = results;
            self.matches = 0;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::super::super::glob::StopOnDrop;
    use super::*;

    #[test]
    fn a_search_that_nobody_waits_for_ends_in_the_middle_of_a_file() {
        let waiting = StopOnDrop::default();
        let flag = Arc::clone(&waiting.0);
        let query = Query {
            matcher: matcher("needle", false, true).unwrap(),
            wanted: None,
            mode: Mode::Content,
            context: 0,
            limit: 10,
        };
        // It never ends by itself.
        let endless = io::repeat(b'\n');
        let mut waiting = Some(waiting);
        let reader = Stoppable {
            reader: Watched {
                reader: endless,
                after: || drop(waiting.take()),
            },
            stop: &flag,
        };
        let mut found = Found::new(&query);
        let searched = query
            .searcher()
            .search_reader(&query.matcher, reader, &mut found);
        assert_eq!(searched.unwrap_err().to_string(), "nobody waits any more");
    }

    /// A reader that does something after each read.
    struct Watched<R, F> {
        reader: R,
        after: F,
    }

    impl<R: Read, F: FnMut()> Read for Watched<R, F> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let read = self.reader.read(buffer)?;
            (self.after)();
            Ok(read)
        }
    }
}
