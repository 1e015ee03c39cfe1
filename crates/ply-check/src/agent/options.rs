//! Modes and config options.

mod config;
mod modes;

pub(super) use self::modes::{Modes, of as modes_of};
use super::bench::Bench;
use crate::rule::Rule;
use crate::topic::{Probe, Topic};

pub(super) const TOPIC: Topic<Bench> = Topic {
    rules: &[
        Rule::agent("V1-MODE-01", "`modes` has the modes there are, and the current one is among them.")
            .may()
            .gate("modes")
            .matters("The client shows no mode, or one that is not there.")
            .fix("Send `currentModeId` and `availableModes`, each with `id` and `name`."),
        Rule::agent("V1-MODE-02", "A mode that is not there is refused.")
            .unspecified()
            .gate("modes")
            .matters("The client shows a mode that the agent is not in.")
            .fix("Answer -32602 if the id is none of `availableModes`."),
        Rule::agent("V1-MODE-03", "The mode can be changed at any time.")
            .gate("modes")
            .matters("The user cannot stop an agent from editing while it works.")
            .fix("Serve `session/set_mode` while a turn runs, without ending it."),
        Rule::agent("V1-MODE-04", "A change of the mode is told with `currentModeId`.")
            .gate("modes")
            .matters("Clients do not see the change.")
            .fix("Name the member `currentModeId`."),
        Rule::agent("V1-MODE-05", "A mode that was changed by an option is told as a mode too.")
            .should()
            .gate("modes")
            .matters("Clients that show modes keep showing the old one.")
            .fix("Send a `current_mode_update` when the option of the mode changes."),
        Rule::agent("V1-MODE-07", "Modes and the option for the mode say the same.")
            .should()
            .gate("modes")
            .matters("Two selectors show two modes, and one of them is wrong.")
            .fix("Send an option with the category `mode` beside `modes`, and change both at once."),
        Rule::agent("V1-CONF-01", "Options have an id, a name, a type and a current value.")
            .may()
            .gate("configOptions")
            .matters("The client cannot show them.")
            .fix("Fill these members of each option."),
        Rule::agent("V1-CONF-04", "Boolean options go only to clients that know them.")
            .gate("configOptions")
            .matters("Older clients refuse the session, or lose all options.")
            .fix("Leave them out, or send them as a choice of two, unless the client has `session.configOptions.boolean`."),
        Rule::agent("V1-CONF-05", "Every option has a current value that is one of its values.")
            .gate("configOptions")
            .matters("The selector is empty, and the agent does not work until the user has chosen.")
            .fix("Give every option a default."),
        Rule::agent("V1-CONF-08", "Categories are known ones, or begin with an underscore.")
            .gate("configOptions")
            .matters("A later version of the protocol may give the name another meaning.")
            .fix("Put `_` before the name of the category."),
        Rule::agent("V1-CONF-09", "Setting an option returns all options.")
            .gate("configOptions")
            .matters("Clients replace their list by the answer and lose the rest.")
            .fix("Answer with the complete `configOptions`."),
        Rule::agent("V1-CONF-10", "A value that is not offered is refused, and nothing changes.")
            .unspecified()
            .gate("configOptions")
            .matters("The client shows one value, and the agent works with another.")
            .fix("Answer -32602 for unknown options and values."),
        Rule::agent("V1-CONF-12", "An update of options carries all of them.")
            .gate("configOptions")
            .matters("Clients replace their list by the update and lose the rest.")
            .fix("Send the complete `configOptions`."),
        Rule::agent("V1-CONF-13", "Options can be changed in the middle of a turn.")
            .gate("configOptions")
            .matters("The user has to stop the agent to change a setting.")
            .fix("Serve `session/set_config_option` while a turn runs."),
        Rule::agent("V2-CONF-01", "Options have `configId`, and groups of values `groupId`.")
            .gate("configOptions")
            .matters("Clients cannot name the option that they want to set.")
            .fix("Use the names of version 2."),
        Rule::agent("V2-CONF-03", "Setting an option returns all options.")
            .gate("configOptions")
            .matters("Clients replace their list by the answer and lose the rest.")
            .fix("Answer with the complete `configOptions`."),
        Rule::agent("V2-CONF-04", "An option, a value or a type of value that is not known is refused with -32602, and nothing changes.")
            .gate("configOptions")
            .matters("The client shows one value, and the agent works with another.")
            .fix("Check all three before anything is changed."),
        Rule::agent("V2-CONF-05", "The current value is one of the values, of which there is at least one and none twice.")
            .gate("configOptions")
            .matters("The selector is empty, or shows a choice twice.")
            .fix("Give every option a default, and every value once."),
    ],
    probes: &[
        Probe {
            name: "modes",
            rules: &["V1-MODE-01", "V1-MODE-02", "V1-MODE-03", "V1-MODE-04", "V1-MODE-07", "V1-CONF-12"],
            run: |bench| Box::pin(modes::modes(bench)),
        },
        Probe {
            name: "options",
            rules: &[
                "V1-CONF-01", "V1-CONF-04", "V1-CONF-05", "V1-CONF-08", "V2-CONF-01", "V2-CONF-05",
            ],
            run: |bench| Box::pin(config::shapes(bench)),
        },
        Probe {
            name: "setting options",
            rules: &["V1-CONF-09", "V1-CONF-10", "V1-CONF-12", "V1-MODE-05", "V2-CONF-03", "V2-CONF-04", "V2-ERR-02"],
            run: |bench| Box::pin(config::setting(bench)),
        },
    ],
};
