//! The standard streams: data to the one, everything else to the other.

use std::io::{self, BufWriter, IsTerminal, StdoutLock, Write as _};
use std::os::fd::AsFd;

use rustix::termios::tcgetwinsize;

/// Columns of a terminal that does not tell.
const COLUMNS: usize = 80;

/// Returns standard output, to be flushed in the end.
pub(crate) fn stdout() -> BufWriter<StdoutLock<'static>> {
    BufWriter::new(io::stdout().lock())
}

/// Returns the columns of standard output, if it is a terminal.
pub(crate) fn stdout_columns() -> Option<usize> {
    columns(&io::stdout())
}

/// Returns the columns of standard error, if it is a terminal.
pub(crate) fn stderr_columns() -> Option<usize> {
    columns(&io::stderr())
}

fn columns(stream: &(impl IsTerminal + AsFd)) -> Option<usize> {
    stream.is_terminal().then(|| match tcgetwinsize(stream) {
        Ok(size) if size.ws_col > 0 => usize::from(size.ws_col),
        _ => COLUMNS,
    })
}

/// Returns whether standard output is a terminal whose user wants colours.
pub(crate) fn has_colours() -> bool {
    io::stdout().is_terminal() && wants_colours()
}

/// Returns whether the user wants colours on terminals.
pub(crate) fn wants_colours() -> bool {
    let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let is_dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
    !is_set("NO_COLOR") && !is_dumb
}

/// Says something that is not data, without a line end.
pub(crate) fn tell_part(words: &str) {
    // If it cannot be said, there is nobody to say that to either.
    drop(io::stderr().write_all(words.as_bytes()));
}

/// Returns whether the user can be asked something.
pub(crate) fn can_ask() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

/// Says one line of data at once.
pub(crate) fn line(words: &str) {
    let mut out = io::stdout().lock();
    // If nobody reads it, nobody wants to know.
    drop(writeln!(out, "{words}").and_then(|()| out.flush()));
}

/// Says something that is not data, one or more lines.
pub(crate) fn tell(words: &str) {
    // In one piece, so that it stays one among what others say there. If it cannot be said, there
    // is nobody to say that to either.
    drop(io::stderr().write_all(format!("{words}\n").as_bytes()));
}

/// Asks the user a question and returns whether the answer is yes.
pub(crate) fn ask(question: &str) -> io::Result<bool> {
    write!(io::stderr(), "{question} [y/N] ")?;
    let mut answer = String::new();
    io::stdin().read_line(&mut answer)?;
    let answer = answer.trim();
    Ok(answer.eq_ignore_ascii_case("y") || answer.eq_ignore_ascii_case("yes"))
}
