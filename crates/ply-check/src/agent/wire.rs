//! Everything that agents have written in a run, looked at once more.

mod talk;

use ply_client::Direction;
use ply_wire::negotiate::Version;
use serde_json::{Value, json};

use super::bench::Bench;
use super::shape;
use super::turn::{self, Choice, is_of_turn, permit};
use crate::findings::Found;
use crate::peer::Stopped;
use crate::recording::{Frame, Recording};
use crate::rule::Rule;
use crate::topic::{Probe, Topic};
use crate::verdict::Evidence;

const PROBE: &str = "everything that was written";
/// Characters of an error's message, beyond which it is not concise.
const MESSAGE_CHARS_MAX: usize = 300;

pub(super) const TOPIC: Topic<Bench> = Topic {
    rules: &[
        Rule::agent("V1-INFO-03", "What changes about a session is told without its id, directory or roots inside the update.")
            .matters("Clients cannot tell which of two directories is meant.")
            .fix("Send `title`, `updatedAt` and `_meta` only."),
        Rule::agent("V1-CMD-01", "Commands are told with `available_commands_update`.")
            .may()
            .matters("The user does not see the commands there are.")
            .fix("Send the list as `availableCommands`, after the answer to `session/new`."),
        Rule::agent("V1-CMD-03", "A command has a name and a description, and its input a hint.")
            .matters("Clients cannot show the command, or drop all of them.")
            .fix("Fill `name` and `description`, and `input.hint` if there is an `input`."),
        Rule::agent("V1-EXT-01", "Data of one's own goes into `_meta` only.")
            .matters("A later version of the protocol may give the member another meaning.")
            .fix("Move the member below `_meta`."),
        Rule::agent("V1-EXT-02", "Methods of one's own begin with an underscore.")
            .matters("A later version of the protocol may give the method another meaning.")
            .fix("Put `_` before the name of the method."),
        Rule::agent("V1-EXT-03", "Custom requests are answered, those that are not known with -32601.")
            .matters("Clients ask for extensions to find out what there is; without this answer they wait.")
            .fix("Answer -32601 for every custom method that is not implemented."),
        Rule::agent("V1-EXT-06", "Keys of `_meta` that are not known change nothing.")
            .matters("Clients that trace their requests are shut out.")
            .fix("Ignore what you do not know in `_meta`."),
        Rule::agent("V1-ERR-01", "Error codes keep their meaning.")
            .matters("Clients choose what to do by the code: log in, load again, give up.")
            .fix("Use the codes of JSON-RPC, -32000 for a missing login, -32002 for what is not found, -32800 for what was cancelled."),
        Rule::agent("V1-ERR-02", "The message of an error is one short sentence.")
            .should()
            .matters("It is shown to the user as it is.")
            .fix("Put stacks, dumps and other details into `data`."),
        Rule::agent("V2-CMD-01", "A command has the type `command`, a name of its own without slash or white space, and a description.")
            .matters("Clients cannot show the command, or run another.")
            .fix("Fill `type`, `name` and `description`, each name once."),
        Rule::agent("V2-CMD-02", "The input of a command is a text with a hint.")
            .matters("Clients cannot show what to type.")
            .fix("Send `input` with the type `text` and a `hint`, or none."),
        Rule::agent("V2-EXT-01", "Values of one's own begin with an underscore.")
            .matters("A later version of the protocol may give the value another meaning.")
            .fix("Put `_` before kinds of updates, states and types that the protocol does not have."),
        Rule::agent("V2-EXT-04", "Methods of one's own begin with an underscore, and `_meta` changes nothing.")
            .matters("Clients that trace their requests are shut out, and names get a second meaning.")
            .fix("Ignore what you do not know in `_meta`, and put `_` before methods of your own."),
        Rule::agent("V2-ERR-01", "Error codes keep their meaning, and -32002 for a session names it in `data.sessionId`.")
            .matters("Clients choose what to do by the code: log in, resume, give up.")
            .fix("Use the codes of JSON-RPC and of the protocol, -32022 for versions included."),
        Rule::agent("V2-ERR-02", "A kind of block, server, cursor or value that is not supported is refused with -32602.")
            .matters("The agent guesses, and the user does not learn what was left out.")
            .fix("Refuse the whole request before it has an effect."),
    ],
    probes: &[Probe {
        name: PROBE,
        rules: &[
            "V1-RPC-01", "V1-RPC-03", "V1-RPC-13", "V1-RPC-14", "V1-STDIO-03", "V1-INIT-10", "V1-INIT-11", "V1-INFO-03", "V1-MODE-04",
            "V1-CMD-01", "V1-CMD-03", "V1-EXT-02", "V1-ERR-02", "V2-RPC-01", "V2-RPC-03", "V2-RPC-04", "V2-RPC-05",
            "V2-BATCH-02", "V2-INIT-14", "V2-CMD-01", "V2-CMD-02", "V2-EXT-01", "V2-EXT-04",
        ],
        run: |bench| Box::pin(look(bench)),
    }],
};

async fn look(bench: &mut Bench) -> Result<(), Stopped> {
    // Whoever asks for one rule alone has not made the agent say much.
    if !bench.findings.recordings.iter().any(has_turns) {
        let (mut agent, session) = bench.session().await?;
        agent.listen(super::judging::QUIET).await?;
        agent.ask(super::judging::PING, json!({})).await?;
        permit(&mut agent, Choice::Allow);
        let prompts = bench.subject.prompts.clone();
        for prompt in [prompts.short, prompts.look, prompts.change] {
            turn::run(bench, &mut agent, &session, &prompt).await?;
        }
        bench.give_back(agent);
    }
    let recordings = bench.findings.recordings.clone();
    for (place, recording) in recordings.iter().enumerate() {
        look_at(bench, place, recording);
    }
    Ok(())
}

fn has_turns(recording: &Recording) -> bool {
    !recording.is_foul() && recording.with_frames(|frames| frames.iter().any(is_of_turn))
}

fn look_at(bench: &mut Bench, place: usize, recording: &Recording) {
    let is_foul = recording.is_foul();
    let frames = recording.with_frames(<[Frame]>::to_vec);
    let theirs = frames
        .iter()
        .filter(|frame| frame.direction == Direction::ToClient);
    for frame in theirs {
        let mut seen = Seen {
            bench,
            place,
            frame,
        };
        let is_array = frame.json.as_ref().is_some_and(Value::is_array);
        // An array that answers an array is for its probe to judge.
        let fault = fault(frame).filter(|_| !(is_foul && is_array));
        seen.judge(
            &["V1-STDIO-03", "V2-RPC-01"],
            fault.is_none(),
            fault.unwrap_or_default(),
        );
        // Whatever was asked, an answer has the shape of one.
        if !frame.is_cut
            && frame.is_answer()
            && let Some(json) = &frame.json
        {
            seen.answer(json);
        }
        // What a probe has provoked on purpose is for the probe to judge.
        if !is_foul
            && !frame.is_cut
            && let Some(json) = &frame.json
        {
            seen.envelope(json);
            seen.request();
            talk::update(&mut seen);
        }
    }
    if !is_foul {
        talk::reused(bench, place, &frames);
    }
}

/// A frame, and where what it shows is noted.
pub(super) struct Seen<'a> {
    bench: &'a mut Bench,
    place: usize,
    frame: &'a Frame,
}

impl Seen<'_> {
    fn version(&self) -> Version {
        self.bench.version
    }

    fn judge(&mut self, rules: &[&str], is_kept: bool, saw: &str) {
        let (found, saw) = match is_kept {
            true => (Found::Kept, ""),
            false => (Found::Broken, saw),
        };
        for rule in rules {
            let evidence = Evidence {
                recording: self.place,
                frames: vec![self.frame.number],
            };
            self.bench
                .findings
                .add(rule, found, saw, evidence, Some(PROBE));
        }
    }

    fn answer(&mut self, json: &Value) {
        let (result, error) = (json.get("result"), json.get("error"));
        let is_error = error.is_some_and(|error| {
            error.get("code").is_some_and(Value::is_i64)
                && error.get("message").is_some_and(Value::is_string)
        });
        let is_kept = result.is_some() != error.is_some() && (result.is_some() || is_error);
        let saw =
            "an answer has both a result and an error, or an error without its code or message";
        self.judge(&["V1-RPC-03", "V2-RPC-01"], is_kept, saw);
    }

    fn envelope(&mut self, json: &Value) {
        let version = json.get("jsonrpc").and_then(Value::as_str);
        let saw = "a message lacks `\"jsonrpc\":\"2.0\"`";
        self.judge(&["V1-RPC-01", "V2-RPC-01"], version == Some("2.0"), saw);
        self.judge(&["V2-BATCH-02"], !json.is_array(), "a line is an array");
        if !self.frame.is_answer() {
            return;
        }
        let (result, error) = (json.get("result"), json.get("error"));
        let id = self.frame.id();
        let is_kept = match error {
            Some(_) => id.is_some(),
            None => id.is_some_and(|id| !id.is_null()),
        };
        self.judge(&["V2-RPC-04"], is_kept, "an answer lacks its id");
        if let Some(result) = result {
            let saw = "a result is no object";
            self.judge(&["V2-RPC-05"], result.is_object(), saw);
        }
        let message = error
            .and_then(|error| error.get("message"))
            .and_then(Value::as_str);
        if let Some(message) = message {
            let is_kept = !message.trim().is_empty()
                && !message.contains('\n')
                && message.chars().count() <= MESSAGE_CHARS_MAX;
            let saw = "the message of an error is empty, long or has several lines";
            self.judge(&["V1-ERR-02"], is_kept, saw);
        }
    }

    /// Judges the method of a request or notification. The clients of all probes that are judged here offer nothing.
    fn request(&mut self) {
        let Some(method) = self.frame.method().map(str::to_owned) else {
            return;
        };
        let known: &[&str] = match self.version() {
            Version::V1 => &[
                "session/update",
                "session/request_permission",
                "fs/read_text_file",
                "fs/write_text_file",
                "terminal/create",
                "terminal/output",
                "terminal/release",
                "terminal/wait_for_exit",
                "terminal/kill",
                "elicitation/create",
                "elicitation/complete",
                "$/cancel_request",
            ],
            Version::V2 => &[
                "session/update",
                "session/request_permission",
                "elicitation/create",
                "elicitation/complete",
                "$/cancel_request",
            ],
        };
        // Methods of drafts are the protocol's own, whatever becomes of them.
        let is_draft = method.starts_with("mcp/")
            || method.starts_with("auth/status")
            || method.starts_with("$/");
        let is_kept = known.contains(&method.as_str()) || method.starts_with('_') || is_draft;
        let saw = "a method is neither known in this version nor begins with an underscore";
        self.judge(&["V1-EXT-02", "V1-INIT-10", "V2-EXT-04"], is_kept, saw);
        let is_service = ["fs/", "terminal/", "elicitation/create"]
            .iter()
            .any(|gated| method.starts_with(gated));
        // A greeting with capabilities is told by its own recording.
        if !self.offers_services() {
            let saw = "something was asked of a client that does not offer it";
            self.judge(&["V1-INIT-11"], !is_service, saw);
        }
        let is_of_files = method.starts_with("fs/") || method.starts_with("terminal/");
        let saw = "a file or a terminal of the client was asked for";
        self.judge(&["V2-INIT-14"], !is_of_files, saw);
    }

    /// Returns whether the client of this connection said that it can do anything.
    fn offers_services(&self) -> bool {
        let recording = self.bench.findings.recordings.get(self.place);
        recording.is_some_and(|recording| {
            recording.with_frames(|frames| {
                let hello = frames
                    .iter()
                    .find(|frame| frame.method() == Some("initialize"));
                let params = hello.and_then(Frame::params);
                let capabilities = params.and_then(|params| {
                    params
                        .get("clientCapabilities")
                        .or_else(|| params.get("capabilities"))
                });
                capabilities.is_some_and(|capabilities| *capabilities != json!({}))
            })
        })
    }
}

/// Says why a line of the standard output is no message.
pub(super) fn fault(frame: &Frame) -> Option<&'static str> {
    // Long recordings keep only the beginning of a long frame, which may end inside of a character.
    if frame.is_cut {
        return None;
    }
    if std::str::from_utf8(&frame.bytes).is_err() {
        return Some("a line of the standard output is no UTF-8");
    }
    let Some(json) = &frame.json else {
        return Some("a line of the standard output is no JSON");
    };
    if !json.is_object() {
        return Some("a line of the standard output is no JSON object");
    }
    let is_message = frame.method().is_some() || frame.is_answer();
    (!is_message).then_some("a line of the standard output is neither a request nor an answer")
}

/// Returns whether paths of an update are absolute.
fn are_absolute(update: &Value) -> bool {
    let texts = [update.get("cwd"), update.get("path")];
    let locations = update.get("locations").and_then(Value::as_array);
    let locations = locations
        .into_iter()
        .flatten()
        .map(|location| location.get("path"));
    let contents = update.get("content").and_then(Value::as_array);
    let diffs = contents
        .into_iter()
        .flatten()
        .filter(|content| content.get("type").and_then(Value::as_str) == Some("diff"))
        .map(|diff| diff.get("path"));
    let mut paths = texts.into_iter().chain(locations).chain(diffs).flatten();
    paths.all(|path| path.as_str().is_none_or(shape::is_absolute))
}

/// Returns whether lines of an update are counted from 1; none if it names no line.
fn are_counted(update: &Value) -> Option<bool> {
    let locations = update.get("locations").and_then(Value::as_array);
    let lines = locations.into_iter().flatten();
    let mut lines = lines.filter_map(|location| location.get("line")?.as_i64());
    let first = lines.next()?;
    Some(first >= 1 && lines.all(|line| line >= 1))
}
