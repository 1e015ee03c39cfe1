//! The words of an HTML page. No parser: tags become line breaks or nothing, scripts and styles go.

/// Elements whose content nobody reads.
const SKIPPED: [&str; 4] = ["script", "style", "noscript", "template"];
/// Elements that end a line.
const BREAKING: [&str; 20] = [
    "p",
    "br",
    "div",
    "li",
    "ul",
    "ol",
    "tr",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "pre",
    "section",
    "article",
    "header",
    "footer",
    "table",
    "blockquote",
];

/// Returns the text of a page.
pub(super) fn to_text(page: &str) -> String {
    let mut text = String::with_capacity(page.len() / 2);
    let mut rest = page;
    while let Some(at) = rest.find('<') {
        let (before, tag) = rest.split_at(at);
        add(&mut text, before);
        if let Some(comment) = tag.strip_prefix("<!--") {
            rest = comment.split_once("-->").map_or("", |(_, after)| after);
            continue;
        }
        let Some((inside, after)) = tag.get(1..).and_then(|tag| tag.split_once('>')) else {
            rest = "";
            break;
        };
        let name = name_of(inside);
        if BREAKING.contains(&name.as_str()) && !text.ends_with('\n') {
            text.push('\n');
        }
        rest = match SKIPPED.contains(&name.as_str()) && !inside.starts_with('/') {
            true => skip(after, &name),
            false => after,
        };
    }
    add(&mut text, rest);
    text.trim().to_owned()
}

fn name_of(inside: &str) -> String {
    let name = inside.trim_start_matches('/');
    let end = name
        .find(|c: char| !c.is_ascii_alphanumeric())
        .unwrap_or(name.len());
    name.get(..end).unwrap_or("").to_ascii_lowercase()
}

/// Returns what follows the end of an element.
fn skip<'p>(page: &'p str, name: &str) -> &'p str {
    // Each byte is looked at once, here or by the caller: a page may be nothing but such elements.
    let ends = page.match_indices("</").map(|(at, _)| at + 2);
    let mut ends = ends.filter_map(|at| page.get(at..));
    let end = ends.find(|end| {
        let begins = end.as_bytes().get(..name.len());
        begins.is_some_and(|begins| begins.eq_ignore_ascii_case(name.as_bytes()))
    });
    let end = end.and_then(|end| end.split_once('>'));
    end.map_or("", |(_, after)| after)
}

/// Adds words, with entities resolved and runs of white space joined.
fn add(text: &mut String, words: &str) {
    let words = words
        .replace("&nbsp;", " ")
        .replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&quot;", "\"")
        .replace("&#39;", "'")
        .replace("&amp;", "&");
    for (place, word) in words.split_whitespace().enumerate() {
        let spaced = place > 0 || words.starts_with(char::is_whitespace);
        if spaced && !text.is_empty() && !text.ends_with(['\n', ' ']) {
            text.push(' ');
        }
        text.push_str(word);
    }
    if words.ends_with(char::is_whitespace) && !text.is_empty() && !text.ends_with(['\n', ' ']) {
        text.push(' ');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_go_and_words_stay() {
        let page = "<html><head><style>p{}</style><SCRIPT>alert('<p>')</SCRIPT></head>\
                    <body><h1>Title</h1><p>One <b>two</b>\n three &amp; four<!-- <p>no -->\
                    <ul><li>a<li>b</ul></body>";
        assert_eq!(to_text(page), "Title\nOne two three & four\na\nb");
    }

    #[test]
    fn a_page_of_nothing_but_scripts_is_read_in_one_go() {
        // As large as a page may be. A script that looked at all of the rest anew would take far too long.
        let page = "<script></SCRIPT>".repeat(2 * 1024 * 1024 / 17);
        assert_eq!(to_text(&page), "");
        assert_eq!(to_text(&format!("{page}<p>The end")), "The end");
    }

    #[test]
    fn an_end_of_something_else_ends_no_script() {
        let page = "<script>a</b>c</ script>é</é</Script x>words";
        assert_eq!(to_text(page), "words");
    }

    #[test]
    fn broken_pages_end() {
        for page in [
            "<",
            "<p",
            "<script>x",
            "<script></",
            "<script></scrip",
            "<script></script",
            "a<!--b",
            "</",
            "<>",
            "é<é>",
        ] {
            to_text(page);
        }
    }
}
