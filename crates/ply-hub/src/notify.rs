//! The user's own command, which is told of questions that nobody sees.

use std::collections::HashSet;
use std::process::Stdio;
use std::time::Duration;

use futures::StreamExt as _;
use rustix::process::{Pid, Signal};
use tokio::process::{Child, Command};

use crate::ask::Live;

/// How long a question waits before the command is run: an editor may be about to come back after the hub was started again.
pub(crate) const PATIENCE: Duration = Duration::from_secs(2);
/// How long the command may take; then it is ended.
const COMMAND_TIME_MAX: Duration = Duration::from_secs(30);
/// Commands that run at a time.
const COMMANDS_MAX: usize = 4;

/// The session that asks.
const SESSION: &str = "PLY_HUB_SESSION";
/// What the session is called.
const TITLE: &str = "PLY_HUB_TITLE";
/// The name of its agent.
const AGENT: &str = "PLY_HUB_AGENT";
/// What is asked, in one line.
const QUESTION: &str = "PLY_HUB_QUESTION";
/// The command that answers.
const ANSWER: &str = "PLY_HUB_ANSWER";

/// The command.
#[derive(Debug)]
pub(crate) struct Notifier {
    program: String,
    args: Vec<String>,
}

/// A question that nobody sees.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Unseen {
    session: String,
    title: String,
    agent: String,
    question: String,
    answer: String,
}

/// The questions that the command was told of.
#[derive(Debug, Default)]
pub(crate) struct Known(HashSet<(String, u64)>);

impl Known {
    /// Returns the questions that nobody sees and that were not returned before.
    pub(crate) fn unseen(&mut self, sessions: &[Live]) -> Vec<Unseen> {
        let mut open = HashSet::new();
        let mut unseen = Vec::new();
        for live in sessions {
            for asked in &live.questions {
                let id = (live.id.clone(), asked.id);
                if !self.0.contains(&id) {
                    if live.approvers > 0 {
                        continue;
                    }
                    unseen.push(Unseen::new(
                        live,
                        asked.id,
                        &asked.title,
                        asked.options.is_empty(),
                    ));
                }
                open.insert(id);
            }
        }
        // Those that were answered are forgotten.
        self.0 = open;
        unseen
    }
}

impl Unseen {
    fn new(live: &Live, id: u64, question: &str, is_form: bool) -> Self {
        let session = live.id.clone();
        let answer = match is_form {
            true => format!("ply chat --session {session}"),
            false => format!("ply permits allow {session}:{id}"),
        };
        Self {
            title: one_line(live.title.as_deref().unwrap_or_default()),
            agent: one_line(live.agent.as_deref().unwrap_or_default()),
            question: one_line(question),
            session,
            answer,
        }
    }
}

/// Returns text without what would begin another line, or command a terminal.
fn one_line(text: &str) -> String {
    let plain = |char: char| if char.is_control() { ' ' } else { char };
    text.chars().map(plain).collect()
}

impl Notifier {
    /// Returns nothing for a command without words.
    pub(crate) fn new(command: Vec<String>) -> Option<Self> {
        let mut words = command.into_iter();
        let program = words.next().filter(|program| !program.is_empty())?;
        let args = words.collect();
        Some(Self { program, args })
    }

    /// Runs the command for each of them, and waits for its end.
    pub(crate) async fn tell(&self, unseen: Vec<Unseen>) {
        let told = futures::stream::iter(unseen).map(|unseen| self.run(unseen));
        told.buffer_unordered(COMMANDS_MAX)
            .for_each(|()| std::future::ready(()))
            .await;
    }

    async fn run(&self, unseen: Unseen) {
        let mut command = Command::new(&self.program);
        command
            .args(&self.args)
            .env(SESSION, unseen.session)
            .env(TITLE, unseen.title)
            .env(AGENT, unseen.agent)
            .env(QUESTION, unseen.question)
            .env(ANSWER, unseen.answer)
            .current_dir("/")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .process_group(0)
            .kill_on_drop(true);
        let mut child = match command.spawn() {
            Ok(child) => child,
            Err(error) => {
                return tracing::warn!(%error, command = self.program, "the notify command cannot be started");
            }
        };
        match tokio::time::timeout(COMMAND_TIME_MAX, child.wait()).await {
            Ok(Ok(status)) if status.success() => {}
            Ok(Ok(status)) => tracing::warn!(%status, "the notify command failed"),
            Ok(Err(error)) => tracing::warn!(%error, "how the notify command ended is not known"),
            Err(_) => {
                tracing::warn!("the notify command took too long and is ended");
                end(&mut child).await;
            }
        }
    }
}

/// Ends the command and what it started.
async fn end(child: &mut Child) {
    let group = child.id().and_then(|id| Pid::from_raw(id.cast_signed()));
    if let Some(group) = group
        && let Err(error) = rustix::process::kill_process_group(group, Signal::KILL)
    {
        tracing::debug!(%error, "the notify command has ended meanwhile");
    }
    // It was killed, so this does not take long.
    drop(child.wait().await);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ask::{Asked, Choice};

    fn live(approvers: usize, questions: &[u64]) -> Live {
        let choice = Choice {
            id: "yes".to_owned(),
            name: "Yes".to_owned(),
            kind: "allow_once".to_owned(),
        };
        let asked = |id: &u64| Asked {
            id: *id,
            title: "Run\n\u{1b}it".to_owned(),
            options: vec![choice.clone()],
        };
        Live {
            id: "s".to_owned(),
            agent: None,
            cwd: "/".into(),
            title: None,
            state: "requires_action".to_owned(),
            clients: approvers,
            approvers,
            queue: Vec::new(),
            paused: false,
            questions: questions.iter().map(asked).collect(),
        }
    }

    #[test]
    fn a_question_is_told_once_and_only_if_nobody_sees_it() {
        let mut known = Known::default();
        assert_eq!(known.unseen(&[live(1, &[7])]), []);
        let told = known.unseen(&[live(0, &[7])]);
        assert_eq!(told.len(), 1);
        assert_eq!(told[0].question, "Run  it");
        assert_eq!(told[0].answer, "ply permits allow s:7");
        assert_eq!(known.unseen(&[live(0, &[7])]), []);
        // Somebody looked, and went away again.
        assert_eq!(known.unseen(&[live(1, &[7])]), []);
        assert_eq!(known.unseen(&[live(0, &[7])]), []);
        assert_eq!(known.unseen(&[live(0, &[7, 8])]).len(), 1);
    }

    #[test]
    fn a_form_is_answered_where_it_can_be_shown() {
        let mut form = live(0, &[7]);
        form.questions[0].options.clear();
        let told = Known::default().unseen(&[form]);
        assert_eq!(told[0].answer, "ply chat --session s");
    }

    #[test]
    fn a_command_without_words_is_none() {
        assert!(Notifier::new(Vec::new()).is_none());
        assert!(Notifier::new(vec![String::new()]).is_none());
        assert!(Notifier::new(vec!["true".to_owned()]).is_some());
    }
}
