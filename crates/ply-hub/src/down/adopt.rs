//! Going on with an agent that outlived the hub which started it.

use std::sync::Arc;
use std::time::Duration;

use ply_agent::event::Handover;
use ply_agent::{Error, History, Result, Session, Stop, Turn};
use ply_wire::transcript::MessageKind;
use ply_wire::v2;

use super::Launched;
use super::book::Book;
use super::link::again::{Again, Resumed, Told};
use super::link::{Link, Output, Wish};
use super::process::Process;
use super::queue::Baton;
use super::reporting::{Live, Worked, interrupted};
use super::runner::Runner;
use crate::pipe::FromAgent;

/// How long a holder may take to give what it has.
const LINES_TIME_MAX: Duration = Duration::from_secs(30);

/// What is to be known of a turn that goes on.
struct Stand {
    /// The message of the last prompt that the agent was sent.
    prompted: Option<v2::MessageId>,
    /// Whether something still comes of it.
    goes_on: bool,
}

impl Runner {
    /// Goes on with the process that another hub had. If that cannot be done, the session is opened like any other; its turn begins
    /// if no agent was sent its prompt, and else ends with words that say why.
    pub(super) async fn adopt(
        self: Arc<Self>,
        session: &Session,
        handover: &Handover,
    ) -> Result<()> {
        let mut why = "its process is gone".to_owned();
        if self.shared.holds(handover) {
            match self.try_adopt(session, handover).await {
                Ok(()) => return Ok(()),
                Err(error) => why = error.to_string(),
            }
            tracing::warn!(session = %session.id().0, why, "an agent could not be taken over");
        }
        self.bury(handover).await;
        for passed in &handover.questions {
            session.take_back(passed.ask);
        }
        // First, so that the turn finds a process that has the session.
        let opened = self.open_again(session).await;
        if is_unsent(handover) {
            session
                .adopt_turn(move |turn| async move { self.prompt(&turn).await })
                .await?;
        } else {
            let words =
                format!("The hub ended and came back, and cannot go on with the agent: {why}.");
            session
                .adopt_turn(move |_| async move { Err(interrupted(&words)) })
                .await?;
        }
        opened
    }

    /// Ends a process that nobody goes on with.
    async fn bury(&self, handover: &Handover) {
        let runner = handover.runner.as_ref();
        let Some(holder) = runner.and_then(|runner| runner.holder.as_deref()) else {
            return;
        };
        // Most are gone.
        if let Ok(launched) = self.reach(holder).await
            && let Some(holder) = &launched.holder
        {
            holder.control.bury().await;
        }
    }

    async fn try_adopt(self: &Arc<Self>, session: &Session, handover: &Handover) -> Result<()> {
        let history = session.history().await?;
        self.remember(&history);
        let holder = handover.holder().unwrap_or_default();
        let mut launched = self.reach(holder).await?;
        let resumed = resume(&mut launched, handover, &history).await?;
        let ends =
            |(_, output): &(u64, Output)| matches!(output, Output::Ended(_) | Output::Rested(_));
        let stand = Stand {
            prompted: resumed.prompted.clone(),
            goes_on: resumed.link.is_working() || resumed.outputs.iter().any(ends),
        };
        let (was_working, is_working) = (resumed.was_working, resumed.link.is_working());
        let asked = still_asked(&resumed);
        let last = handover.told.last().map(|told| told.number);
        let told = last.unwrap_or(handover.told_before);
        let state_bytes = handover.state.as_ref().map_or(0, String::len);
        let book = Book::go_on(session.clone(), told, state_bytes);
        let process = Process::go_on(launched, resumed, book);
        let process = Arc::new(process.ok_or_else(|| lost("its state is not known"))?);
        process.known.set(history.transcript().config_options());
        let mut baton = Arc::clone(&process.queue).lock_owned().await;
        baton.is_late = was_working;
        let live = self.meet(session, &process);
        let (open, over): (Vec<_>, Vec<_>) = handover
            .questions
            .iter()
            .cloned()
            .partition(|passed| asked.contains(&passed.request));
        live.know(open);
        // The agent does not wait for these any more.
        let over = over.iter().filter(|passed| passed.answer.is_none());
        over.for_each(|passed| session.take_back(passed.ask));
        self.set_live(Arc::clone(&live)).await;
        let (works, runner) = (Arc::clone(&live), Arc::clone(self));
        let is_adopted = session
            .adopt_turn(move |turn| async move {
                match works.go_on(&turn, baton, stand).await? {
                    Worked::Ended(stop) => Ok(stop),
                    Worked::Unread(_) => runner.prompt(&turn).await,
                }
            })
            .await?;
        if !is_adopted && is_working {
            // Its turn is over for everybody else.
            live.process.tell(Wish::Cancel).await;
        }
        Ok(())
    }
}

impl Live {
    /// Goes on with a turn that another hub began.
    async fn go_on(&self, turn: &Turn, mut baton: Baton, stand: Stand) -> Result<Worked> {
        let Some(message) = turn.prompt().message_id() else {
            return self.see_to_its_end(turn, baton, &stand).await;
        };
        if stand.prompted.as_ref() == Some(message) {
            return self.see_to_its_end(turn, baton, &stand).await;
        }
        // The other hub did not come to send it.
        baton.is_late = false;
        drop(baton);
        let content = turn.prompt().content().to_vec();
        self.prompt(turn, message.clone(), content).await
    }

    async fn see_to_its_end(&self, turn: &Turn, baton: Baton, stand: &Stand) -> Result<Worked> {
        if stand.goes_on {
            return self.report(turn, baton).await;
        }
        Ok(Worked::Ended(Stop::EndTurn))
    }
}

/// Returns whether no agent was sent the prompt whose turn has not ended.
pub(super) fn is_unsent(handover: &Handover) -> bool {
    let Some(prompt) = &handover.prompt else {
        return false;
    };
    let is_it = |wish: &Wish| matches!(wish, Wish::Prompt { message, .. } if message == prompt);
    let mut told = handover.told.iter();
    // What cannot be read may be anything.
    if told.any(|told| serde_json::from_str(&told.what).map_or(true, |wish| is_it(&wish))) {
        return false;
    }
    match handover.state.as_deref().map(serde_json::from_str::<Link>) {
        None => true,
        Some(Ok(link)) => link.prompted() != Some(prompt),
        Some(Err(_)) => false,
    }
}

/// Makes the link what it was, from what is recorded and from the lines that the holder kept.
async fn resume(
    launched: &mut Launched,
    handover: &Handover,
    history: &History,
) -> Result<Resumed> {
    let state = handover.state.as_deref().unwrap_or_default();
    let link: Link = serde_json::from_str(state).map_err(|error| lost(&error.to_string()))?;
    let mut next = handover.told_before;
    let mut told = Vec::new();
    for record in &handover.told {
        next += 1;
        if record.number != next {
            return Err(lost("not everything is recorded that it was told"));
        }
        let wish = serde_json::from_str(&record.what).map_err(|error| lost(&error.to_string()))?;
        let wish = with_content(wish, history)?;
        let after = record.after;
        told.push(Told { after, wish });
    }
    let hello = launched.pipe.hello;
    let upto = handover.lines.max(link.last_in());
    let mut again = Again::new(link, told, upto, hello.last_in);
    let reading = async {
        let mut last = hello.first_out.saturating_sub(1);
        while last < hello.last_out {
            match launched.pipe.from.recv().await {
                Some(FromAgent::Line { number, line }) => {
                    last = number;
                    let taken = again.line(number, &line);
                    taken.map_err(|torn| lost(&torn.to_string()))?;
                }
                // It is not said again.
                Some(FromAgent::Wrote { number }) => launched.pipe.hello.last_in = number,
                Some(FromAgent::Exit(_)) | None => return Err(lost("its holder is gone")),
            }
        }
        Ok(())
    };
    let read = tokio::time::timeout(LINES_TIME_MAX, reading).await;
    read.map_err(|_| lost("its holder does not answer"))??;
    again.finish().map_err(|torn| lost(&torn.to_string()))
}

/// Gives a prompt its content, which the history has.
fn with_content(wish: Wish, history: &History) -> Result<Wish> {
    let Wish::Prompt { message, .. } = wish else {
        return Ok(wish);
    };
    let said = history.transcript().message(MessageKind::User, &message);
    let said = said.ok_or_else(|| lost("a prompt is not in the history"))?;
    let content = said.content.clone();
    Ok(Wish::Prompt { message, content })
}

/// Returns the requests of the agent that wait for an answer.
fn still_asked(resumed: &Resumed) -> Vec<u64> {
    let outputs = resumed.outputs.iter().map(|(_, output)| output);
    let outputs = resumed.asked.iter().chain(outputs);
    let asked = outputs.filter_map(|output| match output {
        Output::Ask { request, .. } => Some(*request),
        _ => None,
    });
    asked.collect()
}

fn lost(why: &str) -> Error {
    Error::msg(why.to_owned())
}
