//! Command lines, taken apart into simple commands.
//!
//! This is no shell. It understands words, quotes, the operators between commands and plain
//! redirections, as every `sh` reads them; of the rest it says that it cannot tell. It never guesses:
//! where shells differ (`$'..'`, `&>`, `|&`) or where one line hides another (`$(..)`, here-documents),
//! the line is unclear. It looks at every character once and does not recurse.

mod lexer;

use self::lexer::{Lexer, Token};
use super::text::is_deceptive;

/// How long a line may be.
pub const LINE_BYTES_MAX: usize = 16 * 1024;

/// How many commands a line may have.
pub const COMMANDS_MAX: usize = 64;

/// A simple command: a program's name and what it is given.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Command {
    /// The words after quotes are removed, the program's name first.
    pub words: Vec<Word>,
    /// How it follows the command before it.
    pub join: Join,
    /// Whether variables are set before it, or in place of it.
    pub assigns: bool,
    /// Whether its input or output goes to anything but `/dev/null` and its own other output, or a
    /// redirection stands before its name.
    pub redirects: bool,
    /// Whether nobody waits for it.
    pub background: bool,
}

impl Command {
    /// Returns the words when they are all there is to the command: none of them is dynamic, nothing is
    /// set, redirected or left in the background.
    pub fn plain_words(&self) -> Option<Vec<&str>> {
        let plain = !self.assigns
            && !self.redirects
            && !self.background
            && !self.words.is_empty()
            && self.words.iter().all(|word| !word.dynamic);
        plain.then(|| self.words.iter().map(|word| word.text.as_str()).collect())
    }

    fn is_empty(&self) -> bool {
        self.words.is_empty() && !self.assigns && !self.redirects
    }
}

/// A word of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Word {
    /// The word after quotes are removed.
    pub text: String,
    /// Whether the shell may put something else in its place: variables, patterns, `~`.
    pub dynamic: bool,
}

/// How a command follows the one before it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Join {
    /// After it, or at the beginning: `;`, `&`, a new line.
    #[default]
    Next,
    /// If it worked: `&&`.
    And,
    /// If it failed: `||`.
    Or,
    /// With its output: `|`.
    Pipe,
}

/// Why it cannot be told what a line does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
#[non_exhaustive]
pub enum Unclear {
    /// It is longer than [`LINE_BYTES_MAX`].
    #[error("the line is too long to be checked")]
    TooLong,
    /// It has more commands than [`COMMANDS_MAX`].
    #[error("the line has too many commands to be checked")]
    TooMany,
    /// It has characters that are not seen or look like others.
    #[error("the line has characters that are not seen, or that look like others")]
    Deceptive,
    /// A quote is not closed.
    #[error("a quote is not closed")]
    Unterminated,
    /// It runs commands to build others.
    #[error("the line has a substitution, whose commands are not checked")]
    Substitution,
    /// It groups commands, or defines a function.
    #[error("the line groups commands")]
    Grouping,
    /// It brings its own input.
    #[error("the line has a here-document")]
    HereDocument,
    /// It has a condition, a loop or another keyword.
    #[error("the line has a keyword of the shell")]
    Keyword,
    /// Shells do not agree on what it means.
    #[error("shells differ on what the line means")]
    ShellsDiffer,
    /// It is no command line.
    #[error("the line is no complete command")]
    Syntax,
}

/// Takes a line apart.
///
/// # Errors
///
/// It cannot be told for certain which commands the line runs.
pub fn read(line: &str) -> Result<Vec<Command>, Unclear> {
    if line.len() > LINE_BYTES_MAX {
        return Err(Unclear::TooLong);
    }
    if line.chars().any(is_deceptive) {
        return Err(Unclear::Deceptive);
    }
    let mut lexer = Lexer::new(line);
    let mut commands = Vec::new();
    let mut current = Command::default();
    loop {
        match lexer.token()? {
            Token::Word(word) => add_word(&mut current, word)?,
            Token::Redirect(redirect) => {
                let Token::Word(target) = lexer.token()? else {
                    return Err(Unclear::Syntax);
                };
                // Before the name even a harmless one counts: it may be all there is.
                current.redirects |= current.words.is_empty() || !redirect.is_harmless(&target);
            }
            Token::Newline if current.is_empty() => {}
            Token::Newline => end(&mut commands, &mut current, Join::Next)?,
            Token::Join(_) | Token::Background if current.is_empty() => {
                return Err(Unclear::Syntax);
            }
            Token::Join(join) => end(&mut commands, &mut current, join)?,
            Token::Background => {
                current.background = true;
                end(&mut commands, &mut current, Join::Next)?;
            }
            Token::End if !current.is_empty() => {
                end(&mut commands, &mut current, Join::Next)?;
                return Ok(commands);
            }
            Token::End if current.join == Join::Next => return Ok(commands),
            Token::End => return Err(Unclear::Syntax),
        }
    }
}

fn end(commands: &mut Vec<Command>, current: &mut Command, join: Join) -> Result<(), Unclear> {
    if commands.len() >= COMMANDS_MAX {
        return Err(Unclear::TooMany);
    }
    let next = Command {
        join,
        ..Command::default()
    };
    commands.push(std::mem::replace(current, next));
    Ok(())
}

/// Words with a meaning of their own where a command begins, in `sh` or in `bash`.
const KEYWORDS: &[&str] = &[
    "!", "[[", "{", "}", "case", "coproc", "do", "done", "elif", "else", "esac", "fi", "for",
    "function", "if", "in", "select", "then", "time", "until", "while",
];

fn add_word(command: &mut Command, word: lexer::RawWord) -> Result<(), Unclear> {
    if command.words.is_empty() {
        if !word.quoted && KEYWORDS.contains(&word.text.as_str()) {
            return Err(Unclear::Keyword);
        }
        // More than the assignments that a shell sees: no program worth a rule has such a name.
        if word.text.contains('=') {
            command.assigns = true;
            return Ok(());
        }
    }
    // Alone it opens no pattern; it is the name of a program.
    let dynamic = word.dynamic && word.text != "[";
    command.words.push(Word {
        text: word.text,
        dynamic,
    });
    Ok(())
}
