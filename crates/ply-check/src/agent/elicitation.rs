//! Forms and pages that agents ask users with.

mod answers;
mod shape;

pub(super) use self::shape::look;
use super::bench::Bench;
use crate::rule::Rule;
use crate::topic::{Probe, Topic};

pub(super) const TOPIC: Topic<Bench> = Topic {
    rules: &[
        Rule::agent("V1-ELIC-01", "Only those modes are used that the client offers.")
            .matters("The user is never asked, and the turn fails.")
            .fix("Look for `elicitation.form` and `elicitation.url`; an empty object offers neither."),
        Rule::agent("V1-ELIC-02", "Without forms the agent goes on in another way.")
            .should()
            .matters("Turns fail in clients without forms.")
            .fix("Ask in a message, or leave the question out."),
        Rule::agent("V1-ELIC-03", "A question says its mode.")
            .matters("Clients cannot tell a form from a page.")
            .fix("Send `mode` with every `elicitation/create`."),
        Rule::agent("V1-ELIC-04", "A question belongs to a session or to a request, not to both or neither.")
            .matters("Clients do not know where to show it.")
            .fix("Send `sessionId`, or `requestId`, and one of them only."),
        Rule::agent("V1-ELIC-12", "Forms do not ask for secrets.")
            .matters("Passwords go through the client and into its logs.")
            .fix("Use a page (`url`) for everything secret."),
        Rule::agent("V1-ELIC-13", "Forms are flat: objects of texts, numbers, booleans and choices.")
            .matters("Clients cannot show the form.")
            .fix("Ask for nested values one by one."),
        Rule::agent("V1-ELIC-17", "A question that is declined, dismissed or fails does not break the turn.")
            .matters("Users get an error for saying no.")
            .fix("Go on without the answer, or end the turn."),
        Rule::agent("V1-ELIC-19", "Pages that are open at the same time have ids of their own.")
            .matters("The end of one is taken for the end of the other.")
            .fix("Make a new `elicitationId` for each page."),
        Rule::agent("V1-ELIC-20", "`elicitation/complete` names a page that was asked for on this connection.")
            .matters("Clients close the wrong page.")
            .fix("Send the id of the original question."),
        Rule::agent("V1-ELIC-25", "Addresses of pages hold no user names or passwords, and are `https` but for local ones.")
            .matters("Secrets end up in logs and histories.")
            .fix("Leave credentials out of the address."),
        Rule::agent("V1-ELIC-28", "An action that is not known is not taken as acceptance.")
            .matters("The agent goes on with an answer that nobody gave.")
            .fix("Take only `accept` as acceptance, and everything unknown as `cancel`."),
        Rule::agent("V2-ELIC-01", "Questions keep the rules of version 1: offered modes, one scope, flat forms without secrets.")
            .matters("Clients cannot show the question, or should not.")
            .fix("Look for `capabilities.elicitation`, and see the rules of version 1."),
        Rule::agent("V2-ELIC-02", "A question of the session changes its state as one for permission does: `requires_action`, then `running` or `idle`.")
            .matters("Users wait for the agent while it waits for them.")
            .fix("Report states around forms as around questions for permission."),
        Rule::agent("V2-ELIC-04", "Unknown actions are handled as `cancel`.")
            .matters("The agent goes on with an answer that nobody gave.")
            .fix("Take only `accept` as acceptance."),
    ],
    probes: &[
        Probe {
            name: "a form for a client without forms",
            rules: &["V1-ELIC-01", "V1-ELIC-02", "V2-ELIC-01"],
            run: |bench| Box::pin(answers::not_offered(bench)),
        },
        Probe {
            name: "a form that is answered in every way",
            rules: &[
                "V1-ELIC-01", "V1-ELIC-03", "V1-ELIC-04", "V1-ELIC-12", "V1-ELIC-13", "V1-ELIC-17",
                "V1-ELIC-28", "V2-ELIC-01", "V2-ELIC-04",
            ],
            run: |bench| Box::pin(answers::forms(bench)),
        },
        Probe {
            name: "a form that is left open",
            rules: &["V2-CANCEL-13", "V2-ELIC-02", "V2-STATE-04"],
            run: |bench| Box::pin(answers::left_open(bench)),
        },
        Probe {
            name: "a page to visit",
            rules: &["V1-ELIC-01", "V1-ELIC-19", "V1-ELIC-20", "V1-ELIC-25", "V2-ELIC-01"],
            run: |bench| Box::pin(answers::page(bench)),
        },
    ],
};
