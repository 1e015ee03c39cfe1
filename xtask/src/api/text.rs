//! Tokens as text, spaced as people write them.

use proc_macro2::{Delimiter, Spacing, TokenStream, TokenTree};

/// Returns the tokens on one line.
pub(super) fn text(tokens: TokenStream) -> String {
    let mut line = Line::default();
    line.add(tokens);
    // A comma before the end of a list that was written on several lines.
    for (long, short) in [(",)", ")"), (", )", ")"), (",>", ">"), (", }", " }")] {
        line.0 = line.0.replace(long, short);
    }
    line.0
}

#[derive(Default)]
struct Line(String);

impl Line {
    fn add(&mut self, tokens: TokenStream) {
        let mut joined = false;
        for token in tokens {
            match token {
                TokenTree::Group(group) => {
                    let (open, close) = match group.delimiter() {
                        Delimiter::Parenthesis => ("(", ")"),
                        Delimiter::Bracket => ("[", "]"),
                        Delimiter::Brace => (" { ", " }"),
                        Delimiter::None => ("", ""),
                    };
                    match open {
                        "(" if self.0.ends_with([',', '=', ':', '+'])
                            && !self.0.ends_with("::") =>
                        {
                            self.0.push(' ');
                        }
                        "(" if self.0.ends_with("->") => self.0.push(' '),
                        "[" if self.0.ends_with([',', '=', ':']) => self.0.push(' '),
                        "[" if self.0.ends_with("->") || self.0.ends_with("mut") => {
                            self.0.push(' ')
                        }
                        _ => {}
                    }
                    self.0.push_str(open);
                    self.add(group.stream());
                    self.0.push_str(close);
                    joined = false;
                }
                TokenTree::Punct(punct) => {
                    let sign = punct.as_char();
                    if !joined && self.needs_space_before(sign) {
                        self.0.push(' ');
                    }
                    self.0.push(sign);
                    joined = punct.spacing() == Spacing::Joint || sign == '\'';
                }
                TokenTree::Ident(_) | TokenTree::Literal(_) => {
                    let word = token.to_string();
                    if !joined_word(&self.0, joined) {
                        self.0.push(' ');
                    }
                    self.0.push_str(&word);
                    joined = false;
                }
            }
        }
    }

    fn needs_space_before(&self, sign: char) -> bool {
        let Some(last) = self.0.chars().next_back() else {
            return false;
        };
        if self.0.ends_with("->") || self.0.ends_with("=>") {
            return true;
        }
        match sign {
            '=' | '+' | '-' | '|' => last != ' ' && last != '(',
            '&' | '*' | '#' | '?' | '\'' => {
                matches!(last, ',' | '=' | '+' | ':') && !self.0.ends_with("::")
                    || last.is_alphanumeric()
                    || last == '>'
            }
            '<' => matches!(last, ',' | '='),
            _ => false,
        }
    }
}

/// Returns whether a word follows the text without a space.
fn joined_word(text: &str, joined: bool) -> bool {
    if joined || text.is_empty() {
        return true;
    }
    if text.ends_with("->") || text.ends_with("=>") {
        return false;
    }
    text.ends_with("::") || text.ends_with(['(', '[', '<', '&', '*', '!', '.', ' ', '#', '?', '\''])
}
