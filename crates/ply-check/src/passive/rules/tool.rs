//! Tool calls and permission.

use crate::rule::Rule;

#[rustfmt::skip]
pub(super) const RULES: &[Rule] = &[
    Rule::agent("V1-TOOL-01", "A tool call is announced before it is updated.").should()
        .matters("Clients have no card to show the update on.")
        .fix("Send `tool_call` first."),
    Rule::agent("V1-TOOL-02", "Ids of tool calls are not used again.")
        .matters("Two calls with one id overwrite each other.")
        .fix("Make a new id for each call."),
    Rule::agent("V1-TOOL-03", "A tool call has an id and a title.")
        .matters("A call without id or title cannot be shown.")
        .fix("Send `toolCallId` and `title` with `tool_call`."),
    Rule::agent("V1-TOOL-04", "The kind of a tool call is one of the listed ones.")
        .matters("Strict clients refuse an unknown kind.")
        .fix("Use `other` where none fits."),
    Rule::agent("V1-TOOL-05", "The status of a tool call is one of the listed ones.")
        .matters("Strict clients refuse an unknown status.")
        .fix("Use pending, in_progress, completed or failed."),
    Rule::agent("V1-TOOL-11", "A tool call that is done has its final status before the turn ends.")
        .matters("The client shows a spinner that never ends.")
        .fix("Send `completed` or `failed` when a tool is done."),
    Rule::agent("V1-TOOL-12", "Content of a tool call is `content`, `diff` or `terminal`.")
        .matters("Content of an unknown type is dropped.")
        .fix("Wrap a block in `{\"type\":\"content\",\"content\":…}`."),
    Rule::agent("V1-TOOL-13", "A diff has an absolute path and the new text.")
        .matters("A diff without a place or a new text cannot be shown.")
        .fix("Send `path` as an absolute path, and `newText`."),
    Rule::agent("V1-TOOL-14", "Locations have absolute paths, and lines from 1.")
        .matters("The client cannot follow the agent to a relative path.")
        .fix("Make paths absolute and count lines from 1."),
    Rule::agent("V1-TOOL-17", "Calls that a cancel cut off are closed before the answer.").should()
        .matters("The client shows a call running that was stopped.")
        .fix("Send `failed` for each open call, and then answer the prompt."),
    Rule::agent("V1-PERM-03", "A question names its session, its tool call and its options.")
        .matters("The user cannot decide about something that is not named.")
        .fix("Send `sessionId`, `toolCall` with its id, and `options`."),
    Rule::agent("V1-PERM-04", "Each option has an id of its own, a name and a known kind.")
        .matters("Two options with one id may mean yes and no.")
        .fix("Give each option its own `optionId`, a `name` and one of the four kinds."),
    Rule::client("V1-PERM-05", "A question is answered with a selected option or with `cancelled`.")
        .matters("An answer in another shape is not understood, and the turn hangs.")
        .fix("Answer `{\"outcome\":{\"outcome\":\"selected\",\"optionId\":…}}` or `{\"outcome\":{\"outcome\":\"cancelled\"}}`."),
    Rule::client("V1-PERM-06", "The selected option is one of those offered.")
        .matters("An option that was not offered has no meaning.")
        .fix("Answer with an `optionId` of the question."),
    Rule::agent("V1-PERM-12", "A rejected tool call is closed.")
            .unspecified()
        .matters("A call that goes on after a no suggests that the no was ignored.")
        .fix("Send `failed` for a call that the user rejected."),
    Rule::agent("V2-TOOL-09", "A call that is over stays as it ended.").should()
        .matters("A card that was settled changes again.")
        .fix("Tell a final status once."),
    Rule::agent("V2-TOOL-01", "Tool calls are told with `tool_call_update`.").should()
        .matters("Clients of version 2 do not know the other update and show no call.")
        .fix("Send `tool_call_update`, the first time too."),
    Rule::agent("V2-TOOL-06", "The status of a tool call is a listed one, or begins with an underscore.")
        .matters("Names without the mark belong to future versions.")
        .fix("Use a listed status, or put `_` in front of an own one."),
    Rule::agent("V2-TOOL-10", "Calls that a cancel cut off end as cancelled.").should()
        .matters("The client shows a call running that was stopped.")
        .fix("Send `cancelled` for each open call before idle."),
    Rule::agent("V2-TOOL-12", "Lines of locations are counted from 1.")
        .matters("A line too low opens the wrong place.")
        .fix("Add one to positions that are counted from 0."),
    Rule::agent("V2-TERM-04", "The directory of a terminal is absolute.")
        .matters("The client shows a place that means nothing to it.")
        .fix("Make `cwd` absolute."),
    Rule::agent("V2-DIFF-01", "Changed files have absolute paths.")
        .matters("The client cannot find the file that was changed.")
        .fix("Make `path` and `oldPath` absolute."),
    Rule::agent("V2-PERM-01", "A question has a session, a title, and options with ids of their own.")
        .matters("The user cannot decide about something that is not named.")
        .fix("Send `sessionId`, `title`, and at least one option with its own `optionId`."),
    Rule::agent("V2-PERM-04", "A command that is asked about has an absolute directory.")
        .matters("The user allows a command without knowing where it runs.")
        .fix("Make `cwd` of the subject absolute."),
    Rule::client("V2-PERM-12", "A question is answered with an offered option or with `cancelled`.")
        .matters("An option that was not offered has no meaning.")
        .fix("Answer with an `optionId` of the question, or with `cancelled`."),
];
