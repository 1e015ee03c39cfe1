//! Blocks of content, plans, usage, options and commands.

use crate::rule::Rule;

#[rustfmt::skip]
pub(super) const RULES: &[Rule] = &[
    Rule::agent("V1-CONTENT-01", "Blocks are text, image, audio, resource link or resource.")
        .matters("A block of another type cannot be shown.")
        .fix("Send what it holds as one of the five types."),
    Rule::client("V1-CONTENT-01", "Blocks are text, image, audio, resource link or resource.")
        .matters("A block of another type cannot be shown.")
        .fix("Send what it holds as one of the five types."),
    Rule::client("V1-CONTENT-04", "Pictures go only to agents that take them.")
        .matters("An agent that takes no pictures refuses or ignores them.")
        .fix("Look for `promptCapabilities.image` first."),
    Rule::client("V1-CONTENT-05", "Sound goes only to agents that take it.")
        .matters("An agent that takes no sound refuses or ignores it.")
        .fix("Look for `promptCapabilities.audio` first."),
    Rule::client("V1-CONTENT-06", "Embedded files go only to agents that take them.")
        .matters("An agent that takes no embedded files refuses or ignores them.")
        .fix("Look for `promptCapabilities.embeddedContext` first, and send a link without it."),
    Rule::agent("V1-CONTENT-08", "A block has the members of its type.")
        .matters("A block without its members cannot be shown.")
        .fix("Send every member that the type needs."),
    Rule::client("V1-CONTENT-08", "A block has the members of its type.")
        .matters("A block without its members cannot be shown.")
        .fix("Send every member that the type needs."),
    Rule::agent("V2-CONTENT-01", "Blocks are as in version 1, and own types begin with an underscore.")
        .matters("A block without its members cannot be shown.")
        .fix("Send every member that the type needs, and put `_` in front of own types."),
    Rule::client("V2-CONTENT-01", "Blocks are as in version 1, and own types begin with an underscore.")
        .matters("A block without its members cannot be shown.")
        .fix("Send every member that the type needs, and put `_` in front of own types."),
    Rule::agent("V1-PLAN-02", "Entries of a plan have content, a known priority and a known status.")
        .matters("Strict clients refuse the whole plan.")
        .fix("Send all three members with listed values."),
    Rule::agent("V1-PLAN-07", "`plan_update` and `plan_removed` go only to clients that asked for them.")
        .matters("A client that did not ask for it shows no plan at all.")
        .fix("Send `plan` unless the client gave `plan`."),
    Rule::agent("V2-PLAN-02", "Every plan has an id.")
        .matters("Without its id a plan cannot be replaced.")
        .fix("Send `planId` with each plan."),
    Rule::client("V1-MODE-02", "The mode that is set is one of those available.")
        .matters("A mode that is not there cannot be switched to.")
        .fix("Choose among `availableModes`."),
    Rule::agent("V1-MODE-04", "A change of mode names `currentModeId`.")
        .matters("The client goes on showing the old mode.")
        .fix("Send the id in `currentModeId`."),
    Rule::agent("V1-CONF-04", "Boolean options go only to clients that know them.")
        .matters("A client that knows no booleans cannot show the option.")
        .fix("Leave the option out, or send it as a choice, unless the client gave `session.configOptions.boolean`."),
    Rule::agent("V1-CONF-05", "The current value of an option is one of its values.")
        .matters("The client shows an option without a value.")
        .fix("Send a `currentValue` that is among `options`."),
    Rule::agent("V1-CONF-09", "Setting an option is answered with all options.")
        .matters("One change may alter other options, which the client then shows wrong.")
        .fix("Answer with `configOptions`, complete."),
    Rule::client("V1-CONF-11", "A boolean is set with its type.")
        .matters("Without its type the value is taken for the name of one.")
        .fix("Send `type`: \"boolean\" with a boolean value."),
    Rule::agent("V1-CMD-03", "A command has a name and a description.")
        .matters("A command without a name cannot be run.")
        .fix("Send `name` and `description` with each command."),
    Rule::agent("V1-USAGE-02", "Usage has two counts, `used` and `size`.")
        .matters("The client divides by it.")
        .fix("Send both counts, or no update."),
    Rule::agent("V1-NOTICE-01", "Notices go only to clients that asked for them.")
        .matters("A client that does not know notices may refuse the update.")
        .fix("Send `notice` only if the client gave `session.notices`."),
    Rule::agent("V1-COMPACT-01", "News of compaction go only to clients that asked for them.")
        .matters("A client that does not know compaction may refuse the update.")
        .fix("Send them only if the client gave `session.compaction`."),
    Rule::client("V2-CONF-02", "An option is set with its type.")
        .matters("The agent cannot tell what kind of value it gets.")
        .fix("Send `type` with the value."),
    Rule::agent("V2-CONF-03", "Setting an option is answered with all options.")
        .matters("One change may alter other options, which the client then shows wrong.")
        .fix("Answer with `configOptions`, complete."),
    Rule::agent("V2-CONF-05", "The current value of an option is one of its values.")
        .matters("The client shows an option without a value.")
        .fix("Send a `currentValue` that is among `options`."),
    Rule::agent("V2-CMD-01", "A command has a plain name and a description.")
        .matters("A command without a proper name cannot be run.")
        .fix("Send `name` without slash and white space, and `description`."),
];
