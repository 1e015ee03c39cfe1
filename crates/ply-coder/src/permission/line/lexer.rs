//! The tokens of a command line.

use std::str::Chars;

use super::{Join, Unclear};

/// A piece of a line.
pub(super) enum Token {
    Word(RawWord),
    /// A redirection; its target is the word that follows.
    Redirect(Redirect),
    Join(Join),
    Newline,
    Background,
    End,
}

/// A word, and how it was written.
#[derive(Default)]
pub(super) struct RawWord {
    pub(super) text: String,
    pub(super) dynamic: bool,
    pub(super) quoted: bool,
}

/// What sort of redirection it is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Redirect {
    /// To or from a file.
    File,
    /// To another output of the command: `>&`.
    Output,
    /// Anything else.
    Other,
}

impl Redirect {
    pub(super) fn is_harmless(self, target: &RawWord) -> bool {
        let text = target.text.as_str();
        match self {
            Self::File => !target.dynamic && text == "/dev/null",
            Self::Output => !target.dynamic && matches!(text, "1" | "2"),
            Self::Other => false,
        }
    }
}

pub(super) struct Lexer<'l> {
    rest: Chars<'l>,
    /// Whether nothing or a blank is right before the rest, so that a joined line changes no token.
    after_blank: bool,
}

impl<'l> Lexer<'l> {
    pub(super) fn new(line: &'l str) -> Self {
        Self {
            rest: line.chars(),
            after_blank: true,
        }
    }

    fn peek(&self) -> Option<char> {
        self.rest.clone().next()
    }

    fn take_if(&mut self, wanted: char) -> bool {
        let found = self.peek() == Some(wanted);
        if found {
            self.rest.next();
        }
        found
    }

    /// Returns the next token.
    pub(super) fn token(&mut self) -> Result<Token, Unclear> {
        self.skip_blanks()?;
        let Some(first) = self.peek() else {
            return Ok(Token::End);
        };
        if !is_operator(first) && first != '\n' {
            self.after_blank = false;
            return self.word();
        }
        self.rest.next();
        self.after_blank = first == '\n';
        match first {
            '\n' => Ok(Token::Newline),
            ';' => match self.peek() {
                Some(';' | '&') => Err(Unclear::Keyword),
                _ => Ok(Token::Join(Join::Next)),
            },
            '&' if self.take_if('&') => Ok(Token::Join(Join::And)),
            // One shell redirects both outputs, another starts a command in the background.
            '&' if self.peek() == Some('>') => Err(Unclear::ShellsDiffer),
            '&' => Ok(Token::Background),
            '|' if self.take_if('|') => Ok(Token::Join(Join::Or)),
            '|' if self.peek() == Some('&') => Err(Unclear::ShellsDiffer),
            '|' => Ok(Token::Join(Join::Pipe)),
            '<' | '>' => self.redirect(first).map(Token::Redirect),
            _ => Err(Unclear::Grouping),
        }
    }

    fn skip_blanks(&mut self) -> Result<(), Unclear> {
        loop {
            match self.peek() {
                Some(' ' | '\t') => {
                    self.rest.next();
                    self.after_blank = true;
                }
                Some('#') => {
                    while self.peek().is_some_and(|c| c != '\n') {
                        self.rest.next();
                    }
                    return Ok(());
                }
                Some('\\') if self.rest.as_str().starts_with("\\\n") => {
                    // Elsewhere, what was two operators becomes another one.
                    if !self.after_blank {
                        return Err(Unclear::ShellsDiffer);
                    }
                    self.rest.next();
                    self.rest.next();
                    if self.peek() == Some('#') {
                        return Err(Unclear::ShellsDiffer);
                    }
                }
                _ => return Ok(()),
            }
        }
    }

    /// Reads the rest of a redirection that begins with `first`.
    fn redirect(&mut self, first: char) -> Result<Redirect, Unclear> {
        let second = self.peek();
        match (first, second) {
            (_, Some('(')) => Err(Unclear::Substitution),
            ('<', Some('<')) => Err(Unclear::HereDocument),
            ('>', Some('>')) => {
                self.rest.next();
                match self.peek() {
                    Some('(') => Err(Unclear::Substitution),
                    _ => Ok(Redirect::File),
                }
            }
            ('>', Some('&')) => {
                self.rest.next();
                Ok(Redirect::Output)
            }
            (_, Some('|' | '>' | '&')) => {
                self.rest.next();
                Ok(Redirect::Other)
            }
            _ => Ok(Redirect::File),
        }
    }

    /// Reads a word, or a redirection that begins with the number of a descriptor.
    fn word(&mut self) -> Result<Token, Unclear> {
        let mut word = RawWord::default();
        let mut before = None;
        while let Some(c) = self.peek() {
            match c {
                ' ' | '\t' | '\n' => break,
                '<' | '>' if is_descriptor(&word)? => {
                    self.rest.next();
                    return self.redirect(c).map(Token::Redirect);
                }
                c if is_operator(c) => break,
                _ => {}
            }
            self.rest.next();
            match c {
                '\'' => self.single_quoted(&mut word)?,
                '"' => self.double_quoted(&mut word)?,
                '\\' => {
                    word.quoted = true;
                    match self.rest.next() {
                        Some('\n') => return Err(Unclear::ShellsDiffer),
                        Some(next) => word.text.push(next),
                        None => return Err(Unclear::Unterminated),
                    }
                }
                '`' => return Err(Unclear::Substitution),
                '$' if matches!(self.peek(), Some('\'' | '"')) => {
                    return Err(Unclear::ShellsDiffer);
                }
                '$' => self.expansion(&mut word)?,
                c if !c.is_ascii() && !c.is_alphanumeric() => return Err(Unclear::Deceptive),
                c => {
                    word.dynamic |= is_expanded(c, before);
                    word.text.push(c);
                }
            }
            before = Some(c);
        }
        Ok(Token::Word(word))
    }

    fn single_quoted(&mut self, word: &mut RawWord) -> Result<(), Unclear> {
        word.quoted = true;
        for c in self.rest.by_ref() {
            if c == '\'' {
                return Ok(());
            }
            word.text.push(c);
        }
        Err(Unclear::Unterminated)
    }

    fn double_quoted(&mut self, word: &mut RawWord) -> Result<(), Unclear> {
        word.quoted = true;
        while let Some(c) = self.rest.next() {
            match c {
                '"' => return Ok(()),
                '`' => return Err(Unclear::Substitution),
                '$' => self.expansion(word)?,
                '\\' => match self.rest.next() {
                    Some('\n') => return Err(Unclear::ShellsDiffer),
                    Some(next @ ('$' | '`' | '"' | '\\')) => word.text.push(next),
                    Some(next) => word.text.extend(['\\', next]),
                    None => return Err(Unclear::Unterminated),
                },
                c => word.text.push(c),
            }
        }
        Err(Unclear::Unterminated)
    }

    /// Reads what follows a `$`. A plain variable makes the word dynamic; the rest can hide commands.
    fn expansion(&mut self, word: &mut RawWord) -> Result<(), Unclear> {
        match self.peek() {
            // A joined line may make it anything.
            Some('(' | '{' | '[' | '\\') => Err(Unclear::Substitution),
            _ => {
                word.dynamic = true;
                word.text.push('$');
                Ok(())
            }
        }
    }
}

fn is_operator(c: char) -> bool {
    matches!(c, ';' | '&' | '|' | '<' | '>' | '(' | ')')
}

/// Says whether what stands before `<` or `>` is the number of a descriptor.
fn is_descriptor(word: &RawWord) -> Result<bool, Unclear> {
    let digits = !word.quoted
        && !word.text.is_empty()
        && word.text.bytes().all(|byte| byte.is_ascii_digit());
    match (digits, word.text.len()) {
        (true, 1) => Ok(true),
        (true, _) => Err(Unclear::ShellsDiffer),
        (false, _) => Ok(false),
    }
}

/// Says whether a shell may put something else in place of a character that is not quoted.
fn is_expanded(c: char, before: Option<char>) -> bool {
    match c {
        '*' | '?' | '[' | '{' => true,
        '~' => matches!(before, None | Some('=' | ':')),
        '!' | '=' => before.is_none(),
        _ => false,
    }
}
