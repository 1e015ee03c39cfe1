//! `session/cancel`.

mod open;
mod running;

use super::bench::Bench;
use crate::rule::Rule;
use crate::topic::{Probe, Topic};

pub(super) const TOPIC: Topic<Bench> = Topic {
    rules: &[
        Rule::agent("V1-CANCEL-04", "Work stops soon after a cancel.")
            .should()
            .matters("Users press stop and watch it go on.")
            .fix("Abort requests to the model and end running tools when the notification comes."),
        Rule::agent("V1-CANCEL-05", "The prompt of a cancelled turn is answered with `cancelled`.")
            .matters("Clients wait for the end of the turn before they take the next prompt.")
            .fix("When all is aborted and reported, answer the prompt with the stop reason `cancelled`."),
        Rule::agent("V1-CANCEL-06", "What aborting raises does not become an error of the prompt.")
            .matters("Users get an error message for pressing stop.")
            .fix("Catch errors of aborted work, and answer with a result."),
        Rule::agent("V1-CANCEL-07", "Nothing of a cancelled turn comes after its answer.")
            .matters("Late updates land in the next turn.")
            .fix("Send what is still to tell, then answer the prompt, then be silent."),
        Rule::agent("V1-CANCEL-09", "`session/cancel` itself gets no answer.")
            .matters("An answer nobody asked for is an error to strict clients.")
            .fix("Write nothing for a notification."),
        Rule::agent("V1-CANCEL-10", "The session can be used after a cancelled turn.")
            .matters("One press of stop costs the whole conversation.")
            .fix("Reset what marks the turn as cancelled before the next prompt."),
        Rule::agent("V1-CANCEL-11", "A cancel with nothing to cancel does nothing, also to the next prompt.")
            .unspecified()
            .matters("The next prompt ends before it begins.")
            .fix("Drop the notification if no turn of that session runs."),
        Rule::agent("V1-CANCEL-12", "The outcome `cancelled` of a question ends the turn as cancelled.")
            .unspecified()
            .matters("The agent works around an answer that meant stop.")
            .fix("Take the outcome as a cancel of the turn, not as a refusal of one tool."),
        Rule::agent("V1-CANCEL-13", "A cancel touches only the session that it names.")
            .matters("Stopping one conversation stops another.")
            .fix("Keep what can be cancelled by session, not for the whole process."),
        Rule::agent("V2-CANCEL-04", "After a cancel the agent no longer waits for open questions.")
            .matters("Work that was stopped never becomes idle if the question stays unanswered.")
            .fix("Take open questions as not approved, and withdraw them with `$/cancel_request`."),
        Rule::agent("V2-CANCEL-05", "Work stops soon after a cancel.")
            .should()
            .matters("Users press stop and watch it go on.")
            .fix("Abort requests to the model and end running tools when the notification comes."),
        Rule::agent("V2-CANCEL-06", "Cancelled work ends with idle and `cancelled`; without work there is nothing to tell.")
            .matters("Clients do not learn that the work is over.")
            .fix("Send `idle` with the stop reason `cancelled` when all is aborted and reported."),
        Rule::agent("V2-CANCEL-07", "What aborting raises is reported as `cancelled`, not as `error`.")
            .matters("Users get an error message for pressing stop.")
            .fix("Catch errors of aborted work."),
        Rule::agent("V2-CANCEL-08", "Nothing of cancelled work comes after the idle that ends it.")
            .matters("Late updates land in the next turn.")
            .fix("Send what is still to tell before `idle`."),
        Rule::agent("V2-CANCEL-10", "A cancel answers prompts that were not inserted with -32800, and leaves later ones alone.")
            .matters("A prompt that was to be stopped runs after all, or one that was not is lost.")
            .fix("Refuse what waits when the cancel comes; take prompts that come after it as usual."),
        Rule::agent("V2-CANCEL-12", "An answer that comes after a cancel does not revive the work.")
            .should()
            .matters("A tool runs that was stopped.")
            .fix("Forget open questions when the work ends."),
        Rule::agent("V2-CANCEL-13", "Forms that a cancel makes useless are withdrawn.")
            .should()
            .matters("Users fill in forms that nobody reads.")
            .fix("Send `$/cancel_request` for open elicitations of the cancelled work."),
        Rule::agent("V2-CANCEL-14", "A cancel for a session that is unknown or idle is ignored.")
            .should()
            .matters("The next prompt ends before it begins, or the connection breaks.")
            .fix("Drop the notification if no work of that session runs."),
    ],
    probes: &[
        Probe {
            name: "a cancel in the middle of a turn",
            rules: &[
                "V1-CANCEL-04", "V1-CANCEL-05", "V1-CANCEL-06", "V1-CANCEL-07", "V1-CANCEL-09",
                "V1-CANCEL-10", "V1-STOP-07", "V1-TOOL-17", "V2-CANCEL-05", "V2-CANCEL-06",
                "V2-CANCEL-07", "V2-CANCEL-08", "V2-TOOL-10",
            ],
            run: |bench| Box::pin(running::in_the_middle(bench)),
        },
        Probe {
            name: "a cancel with nothing to cancel",
            rules: &["V1-CANCEL-11", "V1-CANCEL-09", "V2-CANCEL-14", "V2-CANCEL-06"],
            run: |bench| Box::pin(running::while_idle(bench)),
        },
        Probe {
            name: "a cancel of one session of two",
            rules: &["V1-CANCEL-13"],
            run: |bench| Box::pin(running::one_of_two(bench)),
        },
        Probe {
            name: "a cancel while a question is open",
            rules: &[
                "V1-CANCEL-05", "V1-CREQ-07", "V1-PERM-09", "V2-CANCEL-04", "V2-CANCEL-12",
                "V2-STATE-05", "V2-STATE-13",
            ],
            run: |bench| Box::pin(open::question(bench)),
        },
        Probe {
            name: "a cancel while a prompt waits",
            rules: &["V2-CANCEL-10"],
            run: |bench| Box::pin(open::prompt(bench)),
        },
    ],
};
