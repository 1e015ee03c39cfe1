//! `ply permits ls`, `allow` and `deny`: questions of sessions in the hub, answered from a shell.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use ply_client::text::Line;
use ply_hub::ask::{Ask, Asked, Live, Told};
use serde::Serialize;

use super::place;
use crate::program::{Error, json, output};

/// A question as it is listed. The names are promised to scripts.
#[derive(Debug, Serialize)]
struct Listed<'a> {
    id: String,
    session: &'a str,
    agent: Option<&'a str>,
    title: String,
    options: Vec<&'a str>,
}

/// What is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    Allow { always: bool },
    Deny { always: bool },
}

impl Verdict {
    fn kind(self) -> &'static str {
        match self {
            Self::Allow { always: false } => "allow_once",
            Self::Allow { always: true } => "allow_always",
            Self::Deny { always: false } => "reject_once",
            Self::Deny { always: true } => "reject_always",
        }
    }
}

/// Lists the questions that wait.
pub(crate) async fn list(store: Option<PathBuf>, as_json: bool) -> Result<(), Error> {
    let sessions = sessions(store).await?;
    let questions: Vec<Listed<'_>> = all(&sessions)
        .map(|(live, asked)| Listed {
            id: id(live, asked),
            session: &live.id,
            agent: live.agent.as_deref(),
            title: match as_json {
                true => asked.title.clone(),
                false => shown(&asked.title, &live.cwd),
            },
            options: asked
                .options
                .iter()
                .map(|option| option.name.as_str())
                .collect(),
        })
        .collect();
    let mut out = output::stdout();
    let written = if as_json {
        json::write(&mut out, &questions)
    } else {
        questions.iter().try_for_each(|listed| {
            let agent = listed.agent.unwrap_or("-");
            let title = Line(&listed.title);
            writeln!(out, "{}\t{}\t{title}", Line(&listed.id), Line(agent))
        })
    };
    written.and_then(|()| out.flush()).map_err(Error::Output)?;
    if questions.is_empty() {
        output::tell("nothing waits for an answer");
    }
    Ok(())
}

/// Answers a question: the one with this id, or the only one.
pub(crate) async fn answer(
    store: Option<PathBuf>,
    wanted: Option<&str>,
    verdict: Verdict,
) -> Result<(), Error> {
    let sessions = sessions(store.clone()).await?;
    let (live, asked) = find(&sessions, wanted)?;
    let kind = verdict.kind();
    let mut options = asked.options.iter();
    let Some(option) = options.find(|option| option.kind == kind) else {
        return Err(Error::Argument(no_option(asked, kind)));
    };
    let answer = Ask::Answer {
        session: live.id.clone(),
        question: asked.id,
        option: option.id.clone(),
        by: "ply permits".to_owned(),
    };
    place::ask(store, answer).await?;
    let title = shown(&asked.title, &live.cwd);
    output::tell(&format!("{}: {}", Line(&title), Line(&option.name)));
    Ok(())
}

async fn sessions(store: Option<PathBuf>) -> Result<Vec<Live>, Error> {
    match place::ask(store, Ask::Sessions).await? {
        Some(Told::Sessions(sessions)) => Ok(sessions),
        _ => Ok(Vec::new()),
    }
}

fn all(sessions: &[Live]) -> impl Iterator<Item = (&Live, &Asked)> {
    let with = |live| std::iter::repeat(live);
    sessions
        .iter()
        .flat_map(move |live| with(live).zip(&live.questions))
}

/// Returns a title for people: without the marks of Markdown, and with paths as they are seen from the session's directory.
fn shown(title: &str, cwd: &Path) -> String {
    let title = title.replace('`', "");
    let Some(cwd) = cwd.to_str().filter(|cwd| *cwd != "/") else {
        return title;
    };
    let words = title.split_inclusive(char::is_whitespace).map(|word| {
        let path = word.trim_start_matches(['"', '\'', '(']);
        let marks = word.get(..word.len() - path.len()).unwrap_or_default();
        let below = path.strip_prefix(cwd).and_then(|it| it.strip_prefix('/'));
        // The directory itself stays whole.
        let below = below.filter(|below| !below.trim().is_empty());
        below.map_or(word.to_owned(), |below| format!("{marks}{below}"))
    });
    words.collect()
}

fn id(live: &Live, asked: &Asked) -> String {
    format!("{}:{}", live.id, asked.id)
}

fn find<'a>(sessions: &'a [Live], wanted: Option<&str>) -> Result<(&'a Live, &'a Asked), Error> {
    let is_it = |(live, asked): &(&Live, &Asked)| {
        wanted.is_none_or(|wanted| id(live, asked).starts_with(wanted))
    };
    let found: Vec<_> = all(sessions).filter(is_it).collect();
    match (found.as_slice(), wanted) {
        ([only], _) => Ok(*only),
        ([], None) => Err(Error::Argument(
            "nothing waits for an answer; `ply hub sessions` lists open sessions".to_owned(),
        )),
        ([], Some(wanted)) => Err(Error::Argument(format!(
            "no question has the id `{}`; `ply permits ls` lists those that wait",
            Line(wanted)
        ))),
        (several, _) => Err(Error::Argument(format!(
            "{} questions wait; say which one, by its id in `ply permits ls`",
            several.len()
        ))),
    }
}

fn no_option(asked: &Asked, kind: &str) -> String {
    if asked.options.is_empty() {
        return "this question is a form; open the session with `ply chat` to fill it in"
            .to_owned();
    }
    let offered: Vec<String> = asked
        .options
        .iter()
        .map(|option| format!("{} ({})", Line(&option.name), Line(&option.kind)))
        .collect();
    format!(
        "the agent does not offer {kind}; it offers: {}",
        offered.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn live(id: &str, questions: &[u64]) -> Live {
        let asked = |id: &u64| Asked {
            id: *id,
            title: "Run".to_owned(),
            options: Vec::new(),
        };
        Live {
            id: id.to_owned(),
            agent: None,
            cwd: "/".into(),
            title: None,
            state: "requires_action".to_owned(),
            clients: 0,
            approvers: 0,
            queue: Vec::new(),
            paused: false,
            questions: questions.iter().map(asked).collect(),
        }
    }

    #[test]
    fn a_title_has_no_backticks_and_short_paths() {
        let shown = |title: &str| shown(title, Path::new("/home/me/project"));
        assert_eq!(
            shown("Write `/home/me/project/src/k.txt`"),
            "Write src/k.txt"
        );
        assert_eq!(
            shown("Move '/home/me/project/a b' to /home/me/project/c"),
            "Move 'a b' to c"
        );
        for whole in [
            "List /home/me/project",
            "List /home/me/project/",
            "Read /home/me/project-2/x",
            "Read /mnt/home/me/project/x",
        ] {
            assert_eq!(shown(whole), whole);
        }
    }

    #[test]
    fn a_question_is_found_by_the_beginning_of_its_id_or_because_it_is_alone() {
        let one = [live("sess-a", &[7])];
        assert_eq!(find(&one, None).unwrap().1.id, 7);
        let several = [live("sess-a", &[7]), live("sess-b", &[7, 8])];
        assert!(find(&several, None).is_err());
        assert_eq!(find(&several, Some("sess-a")).unwrap().0.id, "sess-a");
        assert_eq!(find(&several, Some("sess-b:8")).unwrap().1.id, 8);
        assert!(find(&several, Some("sess-b")).is_err());
        assert!(find(&several, Some("sess-c")).is_err());
        assert!(find(&[], None).is_err());
    }
}
