//! The text of a patch, as models of OpenAI are trained to write it.

/// Files of one patch.
pub(super) const FILES_MAX: usize = 100;
/// Hunks of one file.
const HUNKS_MAX: usize = 1_000;

/// What a patch does to one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Section {
    Add {
        path: String,
        content: String,
    },
    Delete {
        path: String,
    },
    Update {
        path: String,
        move_to: Option<String>,
        hunks: Vec<Hunk>,
    },
}

/// A change in a file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Hunk {
    /// Lines that come somewhere before it, each after the one before.
    pub(super) within: Vec<String>,
    /// The lines that it replaces, and those that come in their place, each with a line end.
    pub(super) old: String,
    pub(super) new: String,
    /// Whether it is at the end of the file.
    pub(super) at_end: bool,
}

impl Hunk {
    fn is_empty(&self) -> bool {
        self.old.is_empty() && self.new.is_empty()
    }
}

/// Reads a patch. Its error says what is wrong, and what to write instead.
pub(super) fn parse(patch: &str) -> Result<Vec<Section>, String> {
    let mut lines = patch.trim().lines().enumerate().peekable();
    if lines
        .next()
        .is_none_or(|(_, first)| first.trim() != "*** Begin Patch")
    {
        return Err("It must begin with the line `*** Begin Patch`.".to_owned());
    }
    let mut sections = Vec::new();
    loop {
        let Some((number, line)) = lines.next() else {
            return Err("It must end with the line `*** End Patch`.".to_owned());
        };
        let line = line.trim_end();
        if line == "*** End Patch" {
            break;
        } else if let Some(path) = line.strip_prefix("*** Add File: ") {
            let mut content = String::new();
            while let Some((_, line)) = lines.next_if(|(_, line)| !is_marker(line)) {
                let Some(added) = line.strip_prefix('+') else {
                    let number = number + 2 + content.lines().count();
                    return Err(format!(
                        "Line {number}: each line of a new file begins with `+`."
                    ));
                };
                content.push_str(added);
                content.push('\n');
            }
            let path = path.trim().to_owned();
            sections.push(Section::Add { path, content });
        } else if let Some(path) = line.strip_prefix("*** Delete File: ") {
            let path = path.trim().to_owned();
            sections.push(Section::Delete { path });
        } else if let Some(path) = line.strip_prefix("*** Update File: ") {
            let moved = lines.next_if(|(_, line)| line.starts_with("*** Move to: "));
            let moved = moved.and_then(|(_, line)| line.strip_prefix("*** Move to: "));
            let mut reader = Hunks::default();
            while let Some((number, line)) =
                lines.next_if(|(_, line)| !is_marker(line) || is_end_of_file(line))
            {
                reader
                    .line(line)
                    .map_err(|what| format!("Line {}: {what}", number + 1))?;
            }
            let hunks = reader.end()?;
            if hunks.is_empty() && moved.is_none() {
                return Err(format!("There is nothing to change in `{}`.", path.trim()));
            }
            sections.push(Section::Update {
                path: path.trim().to_owned(),
                move_to: moved.map(|path| path.trim().to_owned()),
                hunks,
            });
        } else {
            return Err(format!(
                "Line {}: a file begins with `*** Add File: PATH`, `*** Update File: PATH` or `*** Delete File: PATH`.",
                number + 1
            ));
        }
        if sections.len() > FILES_MAX {
            return Err(format!("A patch changes at most {FILES_MAX} files."));
        }
    }
    match sections.is_empty() {
        true => Err("It changes no file.".to_owned()),
        false => Ok(sections),
    }
}

fn is_marker(line: &str) -> bool {
    line.starts_with("*** ")
}

fn is_end_of_file(line: &str) -> bool {
    line.trim_end() == "*** End of File"
}

/// The hunks of a file, line by line.
#[derive(Debug, Default)]
struct Hunks {
    done: Vec<Hunk>,
    hunk: Hunk,
}

impl Hunks {
    fn line(&mut self, line: &str) -> Result<(), String> {
        if is_end_of_file(line) {
            self.hunk.at_end = true;
            return self.next();
        }
        if let Some(within) = line.strip_prefix("@@") {
            if !self.hunk.is_empty() {
                self.next()?;
            }
            let within = within.trim().trim_end_matches("@@").trim();
            // Line numbers, as in other patches, say nothing that can be relied on.
            if !within.is_empty() && !within.starts_with('-') {
                self.hunk.within.push(within.to_owned());
            }
            return Ok(());
        }
        let mut add = |old: bool, new: bool, line: &str| {
            for (text, adds) in [(&mut self.hunk.old, old), (&mut self.hunk.new, new)] {
                if adds {
                    text.push_str(line);
                    text.push('\n');
                }
            }
        };
        let (sign, rest) = match line.chars().next() {
            // Models leave out the space of an empty line.
            None => (' ', ""),
            Some(sign) => (sign, line.get(sign.len_utf8()..).unwrap_or_default()),
        };
        match sign {
            ' ' => add(true, true, rest),
            '-' => add(true, false, rest),
            '+' => add(false, true, rest),
            _ => {
                return Err(
                    "each line of a change begins with a space, `-` or `+`, or with `@@`."
                        .to_owned(),
                );
            }
        }
        Ok(())
    }

    fn next(&mut self) -> Result<(), String> {
        let hunk = std::mem::take(&mut self.hunk);
        if hunk.old != hunk.new {
            self.done.push(hunk);
        }
        match self.done.len() > HUNKS_MAX {
            true => Err(format!("a file has at most {HUNKS_MAX} changes.")),
            false => Ok(()),
        }
    }

    fn end(mut self) -> Result<Vec<Hunk>, String> {
        self.next()?;
        Ok(self.done)
    }
}
