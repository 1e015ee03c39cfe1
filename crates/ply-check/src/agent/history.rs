//! Sessions that are taken up again: loading, resuming and closing.

mod close;
pub(super) mod load;
mod resume;

use super::bench::Bench;
use crate::rule::Rule;
use crate::topic::{Probe, Topic};

pub(super) const TOPIC: Topic<Bench> = Topic {
    rules: &[
        Rule::agent("V1-LOAD-04", "Loading replays the whole conversation, oldest first.")
            .gate("loadSession")
            .matters("The user sees an empty or torn conversation.")
            .fix("Keep every message and tool call, and send them as `session/update` in order."),
        Rule::agent("V1-LOAD-05", "The answer to `session/load` comes after the whole replay.")
            .gate("loadSession")
            .matters("Clients take what comes later for something new, and show it twice or as live.")
            .fix("Write all entries first, then the answer."),
        Rule::agent("V1-LOAD-06", "The user's words are replayed as the user's, and the agent's as the agent's.")
            .gate("loadSession")
            .matters("The conversation reads as if one side had said it all.")
            .fix("Replay prompts as `user_message_chunk` and answers as `agent_message_chunk`."),
        Rule::agent("V1-LOAD-08", "The result of `session/load` is an object or null.")
            .gate("loadSession")
            .matters("Typed clients take a session that was loaded for one that was not.")
            .fix("Answer with an object."),
        Rule::agent("V1-LOAD-09", "A loaded session takes prompts.")
            .gate("loadSession")
            .matters("The user can read the conversation and not go on with it.")
            .fix("Restore what the session needs before answering."),
        Rule::agent("V1-LOAD-11", "Message ids in a replay are different for different messages.")
            .may()
            .gate("loadSession")
            .matters("Clients join messages that have nothing to do with each other.")
            .fix("Give each message an id of its own, or none."),
        Rule::agent("V1-LOAD-12", "Notices are not replayed.")
            .should()
            .gate("loadSession")
            .matters("Warnings of long ago look like new ones.")
            .fix("Leave notices out of what is kept."),
        Rule::agent("V1-LOAD-13", "The use of the context is told after loading, if it is known.")
            .should()
            .gate("loadSession")
            .matters("The user cannot see how full the context is until the next turn.")
            .fix("Send a `usage_update` around the answer."),
        Rule::agent("V1-LOAD-14", "Loading a session that is not known fails with an error.")
            .gate("loadSession")
            .matters("The user goes on in an empty conversation and believes it to be the old one.")
            .fix("Answer with -32002."),
        Rule::agent("V1-RESUME-03", "Resuming replays nothing.")
            .gate("sessionCapabilities.resume")
            .matters("Clients that still have the conversation show it twice.")
            .fix("Restore the session without sending its messages."),
        Rule::agent("V1-RESUME-04", "A resumed session takes prompts.")
            .gate("sessionCapabilities.resume")
            .matters("The user cannot go on.")
            .fix("Answer once the session is ready."),
        Rule::agent("V1-CLOSE-02", "Closing a session cancels what runs in it.")
            .gate("sessionCapabilities.close")
            .matters("Work goes on that nobody sees, and the prompt is never answered.")
            .fix("Do what `session/cancel` does, answer the prompt with `cancelled`, then free the session."),
        Rule::agent("V1-CLOSE-03", "Closing a session returns an empty object.")
            .gate("sessionCapabilities.close")
            .matters("Typed clients take a session that was closed for one that was not.")
            .fix("Answer `{}`."),
        Rule::agent("V1-CLOSE-04", "Closing a session that is not open is answered, one way or the other.")
            .may()
            .gate("sessionCapabilities.close")
            .matters("The client waits and cannot clean up.")
            .fix("Answer `{}` or an error."),
        Rule::agent("V2-RESUME-01", "Sessions can be resumed.")
            .gate("session")
            .matters("The user cannot go on after the editor was restarted.")
            .fix("Implement `session/resume` for all sessions that are kept."),
        Rule::agent("V2-RESUME-02", "Without `replayFrom` nothing is replayed.")
            .gate("session")
            .matters("Clients that still have the conversation show it twice.")
            .fix("Send messages and tool calls only if a replay is asked for."),
        Rule::agent("V2-RESUME-03", "With `replayFrom` at the start the whole conversation is replayed.")
            .gate("session")
            .matters("The user sees an empty or torn conversation.")
            .fix("Keep every entry, and send them in order before the answer."),
        Rule::agent("V2-RESUME-04", "The entry that a cursor names is replayed too.")
            .gate("session")
            .matters("The first message of the conversation is missing.")
            .fix("Begin with the entry itself, and not after it."),
        Rule::agent("V2-RESUME-05", "A cursor that is not known or cannot be read is refused with -32602.")
            .gate("session")
            .matters("The client believes to have a replay that it did not get.")
            .fix("Check `replayFrom` before anything is restored."),
        Rule::agent("V2-RESUME-06", "Messages have the same ids in a replay as they had live.")
            .gate("session")
            .matters("Clients that know some of the messages show them twice.")
            .fix("Keep the ids with the messages."),
        Rule::agent("V2-RESUME-07", "The answer to `session/resume` comes after the whole replay.")
            .gate("session")
            .matters("Clients take what comes later for something new.")
            .fix("Write all entries first, then the answer."),
        Rule::agent("V2-RESUME-08", "The state of the session is told after the replay and before the answer.")
            .gate("session")
            .matters("The client does not know whether the agent works or waits.")
            .fix("Send a `state_update` before each answer to `session/resume`."),
        Rule::agent("V2-RESUME-13", "Notices are not replayed.")
            .should()
            .gate("session")
            .matters("Warnings of long ago look like new ones.")
            .fix("Leave notices out of what is kept."),
        Rule::agent("V2-RESUME-15", "Options are brought up to date around a resume.")
            .unspecified()
            .gate("session")
            .matters("The selectors of the client are empty, or show what was before.")
            .fix("Send `configOptions` with the answer, as with that to `session/new`."),
        Rule::agent("V2-CLOSE-01", "Closing a session ends what runs in it.")
            .gate("session")
            .matters("Work goes on that nobody sees.")
            .fix("Cancel the turn and stop what runs beside it."),
        Rule::agent("V2-CLOSE-02", "Work that closing cancels ends with an idle state before the answer.")
            .gate("session")
            .matters("The client shows a turn that never ends.")
            .fix("Send the last updates and `idle` with `cancelled`, then answer."),
        Rule::agent("V2-CLOSE-03", "Prompts that wait when a session is closed are answered: with -32800 if they never began, with their message id if they did.")
            .gate("session")
            .matters("The client does not learn what became of the user's words.")
            .fix("Answer every open prompt of the session before `session/close`."),
        Rule::agent("V2-CLOSE-04", "After the answer to `session/close` nothing more is sent for the session.")
            .gate("session")
            .matters("Clients get updates for something that is gone.")
            .fix("End all that writes for the session before answering."),
        Rule::agent("V2-CLOSE-05", "Closing a session that is not open succeeds.")
            .should()
            .gate("session")
            .matters("Cleaning up twice shows an error to the user.")
            .fix("Answer `{}`."),
        Rule::agent("V2-CLOSE-07", "Open questions are withdrawn before the answer to `session/close`.")
            .should()
            .gate("session")
            .matters("A dialog stays open that nobody waits for.")
            .fix("Send `$/cancel_request` for each open request of the session first."),
    ],
    probes: &[
        Probe {
            name: "loading a session",
            rules: &[
                "V1-LOAD-04", "V1-LOAD-05", "V1-LOAD-06", "V1-LOAD-08", "V1-LOAD-09", "V1-LOAD-11", "V1-LOAD-12", "V1-LOAD-13",
            ],
            run: |bench| Box::pin(load::loading(bench)),
        },
        Probe {
            name: "resuming a session",
            rules: &[
                "V1-RESUME-03", "V1-RESUME-04", "V2-RESUME-01", "V2-RESUME-02", "V2-RESUME-03", "V2-RESUME-04", "V2-RESUME-05",
                "V2-RESUME-06", "V2-RESUME-07", "V2-RESUME-08", "V2-RESUME-13", "V2-RESUME-15", "V2-ERR-02", "V2-SESS-09",
            ],
            run: |bench| Box::pin(resume::resuming(bench)),
        },
        Probe {
            name: "closing a session",
            rules: &["V1-CLOSE-03", "V1-CLOSE-04", "V2-CLOSE-04", "V2-CLOSE-05", "V2-RPC-05", "V2-SESS-09"],
            run: |bench| Box::pin(close::closing(bench)),
        },
        Probe {
            name: "closing a session in the middle of a turn",
            rules: &["V1-CLOSE-02", "V2-CLOSE-01", "V2-CLOSE-02", "V2-CLOSE-03", "V2-CLOSE-04", "V2-CLOSE-07"],
            run: |bench| Box::pin(close::closing_amid(bench)),
        },
    ],
};
