//! What makes `sed` and `awk` run other programs: their scripts.

use super::after_last;

/// Options of `sed` that neither run nor write anything.
const SED_OPTIONS: &[&str] = &[
    "-n",
    "-E",
    "-r",
    "-nE",
    "-nr",
    "-En",
    "-rn",
    "--quiet",
    "--silent",
    "--regexp-extended",
];

/// Options of `sed` after which a script follows.
const SED_SCRIPT_OPTIONS: &[&str] = &["-e", "-ne", "-Ee", "-re", "--expression"];

/// A script of `sed` can run commands and write files by a single letter, so only the forms that
/// people use most are taken for harmless: lines to print or leave out, and replacements.
pub(super) fn sed(arguments: &[&str]) -> usize {
    read_sed(arguments).0
}

/// Returns the files that `sed` reads, if it only prints.
pub(in crate::permission) fn sed_files<'w>(arguments: &[&'w str]) -> Option<Vec<&'w str>> {
    let (needed, files) = read_sed(arguments);
    // What was taken for the script is a file once an option brings another.
    let is_option = |word: &&&str| SED_SCRIPT_OPTIONS.contains(*word);
    let early = arguments.iter().take_while(|word| word.starts_with('-'));
    let mixed = arguments.iter().any(|word| is_option(&word))
        && !early.clone().any(|word| is_option(&word));
    (needed == 0 && !mixed).then_some(files)
}

/// Returns the place after the last word that is not known to be harmless, and the files.
fn read_sed<'w>(arguments: &[&'w str]) -> (usize, Vec<&'w str>) {
    let mut needed = 0;
    let mut files = Vec::new();
    let (mut expected, mut given) = (false, false);
    for (place, word) in arguments.iter().enumerate() {
        let safe = if !expected && word.starts_with('-') {
            expected = SED_SCRIPT_OPTIONS.contains(word);
            expected || SED_OPTIONS.contains(word)
        } else if expected || !given {
            // Only an option before it makes the first word a file: some stop looking for options there.
            (expected, given) = (false, true);
            is_plain_script(word)
        } else {
            files.push(*word);
            true
        };
        if !safe {
            needed = place + 2;
        }
    }
    // A script that never came is an error, whatever else there is.
    if expected || !given {
        needed = needed.max(arguments.len() + 1);
    }
    (needed, files)
}

fn is_plain_script(script: &str) -> bool {
    let mut rest = Script(script);
    loop {
        rest.skip_blanks();
        if !rest.address() || !rest.command() {
            return false;
        }
        rest.skip_blanks();
        match rest.next() {
            None => return true,
            Some(';') => {}
            Some(_) => return false,
        }
    }
}

/// What is left of a script.
struct Script<'s>(&'s str);

impl Script<'_> {
    fn peek(&self) -> Option<char> {
        self.0.chars().next()
    }

    fn next(&mut self) -> Option<char> {
        let mut letters = self.0.chars();
        let next = letters.next();
        self.0 = letters.as_str();
        next
    }

    fn skip_blanks(&mut self) {
        self.0 = self.0.trim_start_matches(' ');
    }

    fn skip_digits(&mut self) {
        self.0 = self.0.trim_start_matches(|c: char| c.is_ascii_digit());
    }

    /// Reads which lines a command is for; none is every line.
    fn address(&mut self) -> bool {
        if !self.line() {
            return false;
        }
        if self.peek() == Some(',') {
            self.next();
            if matches!(self.peek(), Some('+' | '~')) {
                self.next();
            }
            if !self.line() {
                return false;
            }
        }
        self.skip_blanks();
        if self.peek() == Some('!') {
            self.next();
        }
        true
    }

    fn line(&mut self) -> bool {
        match self.peek() {
            Some('$') => drop(self.next()),
            Some('/') => {
                self.next();
                if !self.until('/') {
                    return false;
                }
                if self.peek() == Some('I') {
                    self.next();
                }
            }
            _ => self.skip_digits(),
        }
        true
    }

    fn command(&mut self) -> bool {
        match self.next() {
            Some('p' | 'd' | '=') => true,
            Some('q') => {
                self.skip_digits();
                true
            }
            Some('s') => {
                let delimiter = self.next();
                let Some(delimiter) = delimiter.filter(|c| is_delimiter(*c)) else {
                    return false;
                };
                let whole = self.until(delimiter) && self.until(delimiter);
                let is_flag = |c: char| matches!(c, 'g' | 'p' | 'I' | 'i' | '0'..='9');
                self.0 = self.0.trim_start_matches(is_flag);
                whole
            }
            _ => false,
        }
    }

    /// Reads up to a delimiter. Programs differ on one inside of brackets, so there must be none.
    fn until(&mut self, delimiter: char) -> bool {
        let mut open = false;
        loop {
            match self.next() {
                None | Some('\n') => return false,
                Some('\\') if self.next().is_none_or(|c| c == '\n') => return false,
                Some('\\') => {}
                Some(c) if c == delimiter => return !open,
                // Whether a bracket that comes first closes, programs do not agree on either.
                Some('[') => {
                    open = true;
                    let rest = self.0.strip_prefix('^').unwrap_or(self.0);
                    if rest.starts_with([']', '[']) {
                        return false;
                    }
                }
                Some(']') => open = false,
                Some(_) => {}
            }
        }
    }
}

fn is_delimiter(c: char) -> bool {
    c.is_ascii_punctuation() && !matches!(c, '\\' | ';' | '[' | ']')
}

/// Programs of `awk` run commands through `system` and pipes, and write files.
pub(super) fn awk(arguments: &[&str]) -> usize {
    after_last(arguments, |word| {
        word.starts_with("-f")
            || word.starts_with("-i")
            || word.starts_with("-l")
            || word.starts_with("-E")
            || (word.starts_with("--") && word.len() > 2)
            || word.contains("system")
            || word.contains("getline")
            || word.contains(['|', '>', '@'])
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_that_only_print_are_known() {
        for script in [
            "p",
            "1,20p",
            "5q",
            "$p",
            "$=",
            "1,5p;10,20p",
            "1,5p; 10q",
            "/fn main/p",
            "/a/,/b/p",
            "/a/I,+3p",
            "/a\\/b/d",
            "/a/!d",
            "s/a/b/",
            "s/a/b/g;s,c,d,",
            "s|[a-z]*|x|gp",
            "10,$d",
            "s/x/e/",
        ] {
            assert!(is_plain_script(script), "{script}");
        }
        for script in [
            "e",
            "1e id",
            "w out",
            "/a/w out",
            "s/a/b/e",
            "s/a/b/w out",
            "s/a/b/gw out",
            "s/a/b/;e id",
            "p;e id",
            "p;w out",
            "r /etc/passwd",
            "R x",
            "W x",
            "p\ne id",
            "s/a/b\ne id",
            "s;a;b;;e id",
            "/[/p;s/]/w x/",
            "a\\text",
            "{p;e id}",
            "p}",
            "s\\a\\b\\e",
            "y/a/b/",
            "s,[],],g;s,w out,x,",
            "s,[^],],g;s,w out,x,",
            "s,[[:alpha:],],g;s,w out,x,",
            "/[]/]/p;s/w out/x/",
            "\\,a,e",
            "0~3e",
            "",
            "1,",
        ] {
            assert!(!is_plain_script(script), "{script}");
        }
    }
}
