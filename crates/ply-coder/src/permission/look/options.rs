//! Arguments, told apart into options and operands by a list of the options that are known.

/// The options of a program.
#[derive(Debug, Clone, Copy)]
pub(super) struct Options {
    /// One-letter options. After a letter, `:` takes a value, `@` one that is a place, `=` one that is a
    /// pattern, and `?` may have one in the same word.
    pub(super) letters: &'static str,
    /// Long options without their dashes, marked at their end in the same way; `?` and its value stand
    /// in one word, parted by `=`.
    pub(super) long: &'static [&'static [&'static str]],
    /// Whether `-20` is an option.
    pub(super) digits: bool,
}

/// Arguments of which every option is known.
#[derive(Debug, Default)]
pub(super) struct Parsed<'w> {
    pub(super) operands: Vec<&'w str>,
    /// Values that are places.
    pub(super) places: Vec<&'w str>,
    /// Values of any kind.
    pub(super) values: Vec<&'w str>,
    /// The letters and the long names that were given.
    pub(super) given: Vec<&'w str>,
    /// Whether an option is a pattern, so that no operand is.
    pub(super) has_pattern: bool,
}

/// What an option takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Takes {
    Nothing,
    Value,
    Place,
    Pattern,
    /// A value in the same word, or none.
    Maybe,
}

impl Takes {
    fn of(mark: Option<char>) -> Self {
        match mark {
            Some(':') => Self::Value,
            Some('@') => Self::Place,
            Some('=') => Self::Pattern,
            Some('?') => Self::Maybe,
            _ => Self::Nothing,
        }
    }
}

impl<'w> Parsed<'w> {
    /// Reads arguments; none if one of the options is not known.
    pub(super) fn new(arguments: &[&'w str], options: &Options) -> Option<Self> {
        let mut parsed = Self::default();
        let mut words = arguments.iter().copied();
        while let Some(word) = words.next() {
            match word.strip_prefix('-') {
                None | Some("") => parsed.operands.push(word),
                Some("-") => {
                    parsed.given.push("--");
                    parsed.operands.extend(words.by_ref());
                }
                Some(name) if name.starts_with('-') => {
                    parsed.long(name.get(1..)?, options, &mut words)?;
                }
                Some(digits) if options.digits && is_number(digits) => {}
                Some(letters) => parsed.letters(letters, options, &mut words)?,
            }
        }
        Some(parsed)
    }

    /// Says whether an option was given, as a letter or by its long name.
    pub(super) fn has(&self, names: &[&str]) -> bool {
        self.given.iter().any(|given| names.contains(given))
    }

    fn long(
        &mut self,
        text: &'w str,
        options: &Options,
        words: &mut impl Iterator<Item = &'w str>,
    ) -> Option<()> {
        let (name, glued) = match text.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (text, None),
        };
        // The marks in the list are no letters of a name.
        if !name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
        {
            return None;
        }
        let mut known = options.long.iter().flat_map(|list| list.iter());
        let takes = known.find_map(|known| {
            let rest = known.strip_prefix(name)?;
            let mut mark = rest.chars();
            let takes = Takes::of(mark.next());
            (rest.is_empty() || (takes != Takes::Nothing && mark.next().is_none())).then_some(takes)
        })?;
        self.given.push(name);
        match (takes, glued) {
            (Takes::Nothing, None) | (Takes::Maybe, None) => Some(()),
            (Takes::Nothing, Some(_)) => None,
            (takes, Some(value)) => self.value(takes, value),
            (takes, None) => self.value(takes, words.next()?),
        }
    }

    fn letters(
        &mut self,
        cluster: &'w str,
        options: &Options,
        words: &mut impl Iterator<Item = &'w str>,
    ) -> Option<()> {
        for (at, letter) in cluster.char_indices() {
            if !letter.is_ascii_alphanumeric() {
                return None;
            }
            let known = options.letters.find(letter)?;
            let mark = options.letters.get(known + 1..)?.chars().next();
            let takes = Takes::of(mark);
            self.given.push(cluster.get(at..=at)?);
            let rest = cluster.get(at + 1..)?;
            match takes {
                Takes::Nothing => {}
                Takes::Maybe if rest.is_empty() => return Some(()),
                takes if rest.is_empty() => return self.value(takes, words.next()?),
                takes => return self.value(takes, rest),
            }
        }
        Some(())
    }

    fn value(&mut self, takes: Takes, value: &'w str) -> Option<()> {
        self.values.push(value);
        self.has_pattern |= takes == Takes::Pattern;
        if takes == Takes::Place {
            self.places.push(value);
        }
        Some(())
    }
}

/// Says whether a text is a number of decimal digits.
pub(super) fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    const OPTIONS: Options = Options {
        letters: "nie=f@C:u?",
        long: &[&["line-number", "max-count:", "file@", "color?"]],
        digits: true,
    };

    #[track_caller]
    fn check(line: &str, operands: &[&str], places: &[&str]) {
        let words: Vec<&str> = line.split(' ').collect();
        let parsed = Parsed::new(&words, &OPTIONS).unwrap();
        assert_eq!(parsed.operands, operands, "{line}");
        assert_eq!(parsed.places, places, "{line}");
    }

    #[test]
    fn options_are_told_from_operands() {
        check("-n x -i y", &["x", "y"], &[]);
        check("-in x", &["x"], &[]);
        check("-nC3 x", &["x"], &[]);
        check("-nC 3 x", &["x"], &[]);
        check("-f p x", &["x"], &["p"]);
        check("-fp x", &["x"], &["p"]);
        check("--file p --file=q", &[], &["p", "q"]);
        check("--color=always --color x", &["x"], &[]);
        check("-20 x", &["x"], &[]);
        check("-u -uno x", &["x"], &[]);
        check("- -- -n --file", &["-", "-n", "--file"], &[]);
    }

    #[test]
    fn what_is_not_known_is_refused() {
        for line in [
            "-o x",
            "-no x",
            "--line",
            "--line-number=1",
            "--max-count",
            "--fil p",
            "--pre x",
            "-é",
            "-=",
            "-:",
            "--color-moved",
            "--color?",
        ] {
            let words: Vec<&str> = line.split(' ').collect();
            assert!(Parsed::new(&words, &OPTIONS).is_none(), "{line}");
        }
    }
}
