//! What the user writes behind a command, put into its text.

/// Bytes of a command's text with its arguments in it.
const EXPANDED_BYTES_MAX: usize = 256 * 1024;
/// Stands for everything behind the command.
const ALL: &str = "ARGUMENTS";

/// Puts arguments into a command's text: `$ARGUMENTS` is all of them as they were typed, `$1` to `$9` are single
/// ones, quoted as in a shell. Arguments that the text has no place for follow it.
///
/// What was put in is not looked at again, and nothing is run.
///
/// # Errors
///
/// The result is too long; the words are for the user.
pub(crate) fn expand(body: &str, arguments: &str) -> Result<String, String> {
    let arguments = arguments.trim();
    let words = split(arguments);
    let mut text = String::new();
    let (mut rest, mut has_place) = (body, false);
    while let Some((before, after)) = rest.split_once('$') {
        text.push_str(before);
        let digit = after.chars().next().and_then(|c| c.to_digit(10));
        let is_number = digit.is_some_and(|digit| digit > 0)
            && !after.chars().nth(1).is_some_and(|c| c.is_ascii_digit());
        if let Some(after) = after.strip_prefix(ALL) {
            text.push_str(arguments);
            (rest, has_place) = (after, true);
        } else if let Some(digit) = digit.filter(|_| is_number) {
            let place = usize::try_from(digit).unwrap_or_default().saturating_sub(1);
            text.push_str(words.get(place).map_or("", String::as_str));
            (rest, has_place) = (after.get(1..).unwrap_or_default(), true);
        } else {
            text.push('$');
            rest = after;
        }
        // Each place may take all that was typed, which may be much.
        check(&text)?;
    }
    text.push_str(rest);
    if !has_place && !arguments.is_empty() {
        text.push_str("\n\nArguments: ");
        text.push_str(arguments);
    }
    check(&text)?;
    Ok(text)
}

fn check(text: &str) -> Result<(), String> {
    match text.len() > EXPANDED_BYTES_MAX {
        true => Err(format!(
            "The command and its arguments are longer than {} KiB together. Put the long part into a file and name that.",
            EXPANDED_BYTES_MAX / 1024
        )),
        false => Ok(()),
    }
}

/// Splits arguments as a shell does: quotes hold words together, a backslash takes the next character as it is. A
/// quote that is not closed is an apostrophe.
fn split(arguments: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut rest = arguments.chars();
    while let Some(c) = rest.next() {
        match c {
            c if c.is_whitespace() => words.extend(word.take()),
            '\'' | '"' if rest.as_str().contains(c) => {
                let word = word.get_or_insert_default();
                while let Some(quoted) = rest.next().filter(|quoted| *quoted != c) {
                    match quoted {
                        '\\' if c == '"' => word.extend(rest.next()),
                        quoted => word.push(quoted),
                    }
                }
            }
            '\\' => word.get_or_insert_default().extend(rest.next()),
            c => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_expand(body: &str, arguments: &str, expected: &str) {
        assert_eq!(
            expand(body, arguments).as_deref(),
            Ok(expected),
            "{body} {arguments}"
        );
    }

    #[test]
    fn arguments_have_their_places() {
        check_expand("Fix $1 in $2.", "it 'a b.rs'", "Fix it in a b.rs.");
        check_expand("Fix $ARGUMENTS!", " it  now ", "Fix it  now!");
        check_expand("Fix $1 and $3.", "it", "Fix it and .");
        check_expand("No places", "a b", "No places\n\nArguments: a b");
        check_expand("No places", "", "No places");
        // What is no place stays as it is, and what was put in is none.
        check_expand("$0 $10 $HOME $ $$1 !`ls`", "x", "$0 $10 $HOME $ $x !`ls`");
    }

    #[test]
    fn what_was_put_in_is_not_looked_at_again() {
        check_expand("$1 $2", "$2 $ARGUMENTS", "$2 $ARGUMENTS");
    }

    #[test]
    fn words_are_quoted_as_in_a_shell() {
        let check = |arguments: &str, expected: &[&str]| {
            assert_eq!(split(arguments), expected, "{arguments}");
        };
        check("", &[]);
        check(" a  b\nc ", &["a", "b", "c"]);
        check(r#"'a b'c "d \" e" f\ g"#, &["a bc", "d \" e", "f g"]);
        check("'' x", &["", "x"]);
        check("don't #5", &["don't", "#5"]);
        check("\\", &[""]);
    }

    #[test]
    fn a_text_that_grows_without_end_is_refused() {
        let body = "$ARGUMENTS".repeat(100);
        assert!(expand(&body, &"x".repeat(10_000)).is_err());
    }
}
