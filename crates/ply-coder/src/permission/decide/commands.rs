//! The decision about a command line.

use std::path::{Component, Path, PathBuf};

use super::is_inside;
use super::judge::{Finding, Judge};
use crate::permission::effect::Effect;
use crate::permission::line::{self, Command, Join};
use crate::permission::look::{self, Need, Reach};
use crate::permission::place::{GuardKind, Place};
use crate::permission::sweep::{Found, sweep};
use crate::permission::{Mode, expand, launch, links, named, offer, repository, text};
use crate::tool::Access;

/// Commands after which the next one runs elsewhere. A rule cannot allow them, as it is not known then
/// where that is; what a leading `cd` does is looked at by itself.
pub(in crate::permission) const MOVES: &[&str] = &["cd", "chdir", "pushd", "popd"];

/// Why a command that only reads is asked about.
struct Trouble(String);

impl Judge<'_> {
    pub(super) fn shell(&self, line: &str, cwd: &Path) -> Finding {
        if self.mode == Mode::Full {
            if line.len() > named::LINE_BYTES_MAX {
                return Finding::ask("It is too long to be checked.");
            }
            let named = named::files(line, cwd);
            let secret = named.iter().find_map(|file| self.hidden(file));
            let secret = secret.or_else(|| named::by_object(line, cwd).map(str::to_owned));
            return secret.map_or(Finding::Allow, Finding::ask);
        }
        let commands = match line::read(line) {
            Ok(commands) => commands,
            Err(unclear) => return Finding::ask(format!("It cannot be checked: {unclear}.")),
        };
        if !is_inside(cwd, self.roots) {
            return Finding::ask("It runs outside of the project.");
        }
        let entered = enters(&commands, cwd).and_then(|path| self.looked_at(&path));
        let (here, rest) = match (&entered, commands.split_first()) {
            (Some(path), Some((_, rest))) => (path.as_path(), rest),
            _ => (cwd, commands.as_slice()),
        };
        if commands.is_empty() {
            return Finding::ask("It is no command.");
        }
        // What a pattern stands for is known only while nothing is changed.
        let only_reads = |command: &Command| {
            let expanded = expand::words(command, here);
            expanded.is_some_and(|expanded| {
                let may_read = |file: &String| self.looked_at(&here.join(file)).is_some();
                self.reads_freely(&expanded.words, here) == Some(Ok(()))
                    && expanded.files.iter().all(may_read)
            })
        };
        if rest.iter().all(only_reads) {
            return Finding::Allow;
        }
        let asked: Vec<&Command> = rest
            .iter()
            .filter(|command| !self.is_command_allowed(command, here))
            .collect();
        match asked.as_slice() {
            [] => Finding::Allow,
            [command] => self.ask_about(command, here),
            several => {
                let effects = several.iter().map(|command| Effect::of_command(command));
                let worst = effects.max().unwrap_or(Effect::Unknown);
                Finding::ask(format!(
                    "{} of its commands are not allowed by a rule. {}",
                    several.len(),
                    worst.reason()
                ))
            }
        }
    }

    fn ask_about(&self, command: &Command, here: &Path) -> Finding {
        let words = expand::words(command, here).unwrap_or_default().words;
        let effect = Effect::of_command(command);
        let reason = match self.reads_freely(&words, here) {
            Some(Err(Trouble(reason))) => reason,
            _ => effect.reason().to_owned(),
        };
        let offer = command
            .plain_words()
            .filter(|words| self.is_at_home(words, here))
            .filter(|words| self.words_to_name_guarded(words, here) == 0)
            .and_then(|words| offer::for_command(&words, effect));
        Finding::Ask { reason, offer }
    }

    fn is_command_allowed(&self, command: &Command, here: &Path) -> bool {
        let Some(words) = command.plain_words() else {
            return false;
        };
        let owned: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        if self.reads_freely(&owned, here) == Some(Ok(())) {
            return true;
        }
        let guarded = self.words_to_name_guarded(&words, here);
        self.is_at_home(&words, here)
            && self
                .rules
                .iter()
                .any(|rule| rule.allows_command(&words, guarded))
    }

    /// Says whether a command that only reads may run unasked; none if it does more than read.
    fn reads_freely(&self, words: &[String], here: &Path) -> Option<Result<(), Trouble>> {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let reads = look::reads(&words)?;
        let trouble = |reason: &str| Some(Err(Trouble(reason.to_owned())));
        let mut from = here.to_owned();
        match &reads.needs {
            Some(Need::Toolchain) => {
                if let Some(reason) = repository::trouble_with_toolchain(here) {
                    return trouble(reason);
                }
            }
            Some(Need::Repository(git)) => {
                if let Some(directory) = &git.directory {
                    match self.looked_at(&here.join(directory)) {
                        Some(there) => from = there,
                        None => return trouble("It looks at a place that is asked about."),
                    }
                }
                let may_read = |file: &Path| self.may_come_across(file);
                let reason = repository::trouble_with_git(&from, git, may_read);
                if let Some(reason) = reason {
                    return trouble(reason);
                }
            }
            None => {}
        }
        for place in &reads.places {
            if let Err(trouble) = self.reads_place(&from.join(place), reads.reach) {
                return Some(Err(trouble));
            }
        }
        Some(Ok(()))
    }

    fn reads_place(&self, path: &Path, reach: Reach) -> Result<(), Trouble> {
        let shown = |path: &Path| text::code(&text::shown(&path.to_string_lossy()));
        let Some(real) = self.looked_at(path) else {
            return Err(Trouble(match self.judge(&Access::Read(path.to_owned())) {
                Finding::Ask { reason, .. } => reason,
                _ => format!("It reads {}, which leads elsewhere.", shown(path)),
            }));
        };
        sweep(&real, reach, |file| self.may_come_across(file)).map_err(|found| match found {
            Found::File(file) => {
                Trouble(format!("It would read {}, which is guarded.", shown(&file)))
            }
            Found::TooMuch => Trouble("It reads too many files to check each of them.".to_owned()),
        })
    }

    /// Says whether rules hold for a command in a folder. They hold below the folders that the user chose
    /// too, but there `./build.sh` is another script, and `git` may obey another repository.
    fn is_at_home(&self, words: &[&str], here: &Path) -> bool {
        let Some(first) = words.first() else {
            return false;
        };
        let program = launch::program(first);
        if MOVES.contains(&program.as_str()) {
            return false;
        }
        let mut roots = self.roots.iter();
        if first.contains('/') && !first.starts_with('/') {
            return roots.any(|root| root == here);
        }
        let root = roots.find(|root| here.starts_with(root));
        root.is_some_and(|root| program != "git" || !repository::differs_below(root, here))
    }

    /// Returns how many words a rule must say itself because they name something guarded: `shell(cp *)`
    /// does not mean `cp x .git/hooks/pre-commit`.
    fn words_to_name_guarded(&self, words: &[&str], here: &Path) -> usize {
        let reads = Effect::of_words(words) == Effect::Reads;
        let is_git = words
            .first()
            .is_some_and(|word| launch::program(word) == "git");
        let counts = |kind: GuardKind| match kind {
            GuardKind::Secret | GuardKind::Own => true,
            GuardKind::Repository | GuardKind::Layout => !reads,
            // `git add` makes nobody run what it is given.
            _ => !reads && !is_git,
        };
        let guarded = |word: &&str| {
            let by_id = is_git && repository::is_id_of_file(here, word);
            by_id
                || paths_in(word).any(|path| {
                    let named = cleaned(&here.join(path));
                    let real = links::real(&named).filter(|real| *real != named);
                    std::iter::once(named).chain(real).any(|path| {
                        let place = Place::of(&path, self.roots, self.own);
                        place.guards.iter().any(|guard| counts(guard.kind))
                    })
                })
        };
        let arguments = words.get(1..).unwrap_or_default();
        let guarded = arguments.iter().rposition(guarded).map_or(0, |at| at + 2);
        let as_text = named::as_text(words).map_or(0, |at| at + 1);
        guarded.max(as_text)
    }

    /// Returns the place that a command looks at, if it may without a question: both what the command
    /// names and where links lead from there.
    pub(super) fn looked_at(&self, path: &Path) -> Option<PathBuf> {
        let may_look = |path: &Path| {
            (is_inside(path, self.roots) || is_inside(path, self.readable))
                && matches!(self.judge(&Access::Read(path.to_owned())), Finding::Allow)
        };
        let around: Vec<PathBuf> = self.roots.iter().chain(self.readable).cloned().collect();
        let real = links::real_in(path, &around)?;
        // Where a path goes up, only where it ends is known.
        let goes_up = path.components().any(|part| part == Component::ParentDir);
        let named = goes_up || may_look(&cleaned(path));
        (named && may_look(&real)).then_some(real)
    }
}

impl PartialEq for Trouble {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}

/// Returns where the commands after a leading `cd` run: it must be certain that they run nowhere else.
fn enters(commands: &[Command], here: &Path) -> Option<PathBuf> {
    let (first, rest) = commands.split_first()?;
    let words = first.plain_words()?;
    let ["cd", target] = words.as_slice() else {
        return None;
    };
    let next = rest.first()?;
    let certain = next.join == Join::And
        && rest
            .iter()
            .all(|command| matches!(command.join, Join::And | Join::Pipe));
    // What goes up is left to the user: with links in the way, shells differ on where it ends.
    let up = Path::new(target)
        .components()
        .any(|part| part == Component::ParentDir);
    (certain && !up && !target.is_empty() && !target.starts_with('-'))
        .then(|| cleaned(&here.join(target)))
}

/// Returns a path without `.` in it.
fn cleaned(path: &Path) -> PathBuf {
    path.components()
        .filter(|part| *part != Component::CurDir)
        .collect()
}

/// Returns everything in a word that may be a path: the word, the value of an option, what follows a mark.
fn paths_in(word: &str) -> impl Iterator<Item = &str> {
    let glued = word.strip_prefix('-').and_then(|rest| {
        rest.char_indices()
            .nth(1)
            .and_then(|(at, _)| rest.get(at..))
    });
    std::iter::once(word)
        .chain(glued)
        .chain(
            word.split(['=', '@', ':', ','])
                .filter(move |part| *part != word),
        )
        .filter(|part| !part.is_empty())
}
