//! Questions for permission: their shape, and what comes of each answer.

mod answers;
mod shape;

pub(super) use self::shape::look;
use super::bench::Bench;
use crate::rule::Rule;
use crate::topic::{Probe, Topic};

pub(super) const TOPIC: Topic<Bench> = Topic {
    rules: &[
        Rule::agent("V1-PERM-02", "A tool that needs permission waits for the answer.")
            .may()
            .matters("A question that is not waited for protects nobody.")
            .fix("Run the tool only after the answer to `session/request_permission` is there."),
        Rule::agent("V1-PERM-03", "A question names its session and its tool call, and has options.")
            .matters("Clients cannot show what is asked about, and refuse the request.")
            .fix("Send `sessionId`, `toolCall` with at least `toolCallId`, and `options`."),
        Rule::agent("V1-PERM-04", "Each option has an id of its own, a name and one of the four kinds.")
            .matters("Clients show the wrong button, or answer with an id that means two things.")
            .fix("Give `optionId`, `name` and a `kind` such as `allow_once` with every option."),
        Rule::agent("V1-PERM-09", "The tool does not run when the answer is no, `cancelled`, an error or an option that was not offered.")
            .matters("Users said no, and it happened.")
            .fix("Run the tool only for an option that was offered and allows it; take everything else as a no."),
        Rule::agent("V1-PERM-12", "A call that was refused is closed as `failed`, and the turn goes on to its end.")
            .unspecified()
            .matters("The card waits for an answer that was given, or the user gets an error for saying no.")
            .fix("Report `failed`, tell the model about the refusal, and let it finish."),
        Rule::agent("V2-PERM-01", "A question has a session, a title and at least one option, each with an id of its own.")
            .matters("Clients cannot show the question, and refuse the request.")
            .fix("Send `sessionId`, `title` and a list of `options` that is not empty."),
        Rule::agent("V2-PERM-04", "A question about a command has the command and an absolute `cwd`.")
            .matters("Users approve a command without knowing where it runs.")
            .fix("Give `command` and `cwd` in a subject of type `command`."),
        Rule::agent("V2-PERM-07", "Outcomes that are not known and options that were not offered approve nothing.")
            .matters("A newer client's answer is taken for a yes that nobody gave.")
            .fix("Go on only with the id of an offered option that allows it."),
        Rule::agent("V2-PERM-08", "After `cancelled` the operation does not go on.")
            .matters("Users dismissed the question, and it happened.")
            .fix("Take `cancelled` as not approved, whatever the reason for it."),
    ],
    probes: &[
        Probe {
            name: "permission that is given",
            rules: &[
                "V1-PERM-02", "V1-PERM-03", "V1-PERM-04", "V1-PROMPT-05", "V2-PERM-01", "V2-PERM-04",
                "V2-STATE-04", "V2-STATE-05",
            ],
            run: |bench| Box::pin(answers::given(bench)),
        },
        Probe {
            name: "permission that is refused",
            rules: &["V1-PERM-09", "V1-PERM-12", "V2-PERM-07", "V2-STATE-05"],
            run: |bench| Box::pin(answers::refused(bench)),
        },
        Probe {
            name: "permission that is answered in strange ways",
            rules: &["V1-PERM-09", "V1-CREQ-09", "V2-PERM-07"],
            run: |bench| Box::pin(answers::strange(bench)),
        },
        Probe {
            name: "permission that is answered with cancelled",
            rules: &["V1-PERM-09", "V1-CANCEL-12", "V2-PERM-08", "V2-STATE-05"],
            run: |bench| Box::pin(answers::dismissed(bench)),
        },
    ],
};
