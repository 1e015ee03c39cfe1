//! Tool calls, permission and plans.

rules! {
    V2_TOOL_01 => Agent Should Documentation("tool-calls").recorded():
        "Tool calls are reported with `tool_call_update`; `tool_call` is gone."
        "Clients of version 2 keep it as something unknown and show nothing."
        "Send `tool_call_update` for the first report too.";
    V2_TOOL_02 => Client Must Documentation("tool-calls"):
        "Members of a tool call that are null are cleared, those left out are kept."
        "The call, and what it did, is not shown; or the connection ends in the middle of a turn."
        "Tell null and absent apart.";
    V2_TOOL_03 => Agent Should Documentation("tool-calls").recorded():
        "The first report of a call has a `title`."
        "Users see a card without words."
        "Give the title with the first `tool_call_update`.";
    V2_TOOL_04 => Client Must Crate:
        "A tool call may be told by its id alone."
        "The call, and what it did, is not shown; or the connection ends in the middle of a turn."
        "Take the defaults for all else.";
    V2_TOOL_05 => Client Must Documentation("tool-calls"):
        "Content of a tool call may come in chunks."
        "The call, and what it did, is not shown; or the connection ends in the middle of a turn."
        "Append each chunk to the call's content.";
    V2_TOOL_06 => Agent Must Documentation("tool-calls").recorded():
        "Statuses are those of version 2, or begin with `_`."
        "Unknown words without the mark may come to mean something else later."
        "Use `pending`, `in_progress`, `completed`, `failed`, `cancelled` or `paused`.";
    V2_TOOL_07 => Client Should Crate:
        "A status or kind that is not known is taken."
        "The call, and what it did, is not shown; or the connection ends in the middle of a turn."
        "Show it as in progress, and as other.";
    V2_TOOL_08 => Client Must Documentation("tool-calls"):
        "Tool calls may change while the session is idle."
        "The call, and what it did, is not shown; or the connection ends in the middle of a turn."
        "Take the update and leave the state.";
    V2_TOOL_09 => Agent Should Documentation("tool-calls").recorded():
        "A tool that runs is `in_progress`, and its end brings a final status."
        "Users cannot tell what works, and cards never settle."
        "Send `in_progress` at the start and a final status before the session is idle.";
    V2_TOOL_10 => Agent Should Documentation("tool-calls").recorded():
        "Calls that a cancel cut off end as `cancelled`."
        "Users take their own cancel for a failure of the tool, or see the call run on."
        "Send `cancelled` for each open call before the idle that ends the work.";
    V2_TOOL_11 => Client Should Documentation("tool-calls"):
        "Content of a type that is not known is taken."
        "The call, and what it did, is not shown; or the connection ends in the middle of a turn."
        "Show it generically.";
    V2_TOOL_12 => Agent Must Crate.recorded():
        "Lines of locations count from 1."
        "Clients drop the line, or open the wrong one."
        "Add 1 to lines that count from 0.";
    V2_TERM_01 => Agent Must Documentation("tool-calls").recorded():
        "The id of a terminal is used for one terminal of the session only."
        "The output of two commands becomes one."
        "Make a new id for each command.";
    V2_TERM_02 => Client Must Documentation("tool-calls"):
        "Output of a terminal may come before and after the call that shows it."
        "The call, and what it did, is not shown; or the connection ends in the middle of a turn."
        "Keep terminals by their id.";
    V2_TERM_04 => Agent Must Documentation("tool-calls").recorded():
        "A terminal's `cwd` is absolute."
        "Users cannot tell where a command ran."
        "Send an absolute `cwd`, or none.";
    V2_TERM_05 => Agent Should Documentation("tool-calls").recorded():
        "The first update of a terminal names its command."
        "Users see output of they do not know what."
        "Give `command` with the first `terminal_update`.";
    V2_TERM_09 => Client Must Documentation("tool-calls"):
        "A terminal has exited when it has an exit status, also an empty one."
        "The call, and what it did, is not shown; or the connection ends in the middle of a turn."
        "Look whether it is there, not what it holds.";
    V2_DIFF_01 => Agent Must Documentation("tool-calls").recorded():
        "A diff lists its changes, each with an operation and absolute paths."
        "Clients cannot say which files were touched, or open the wrong ones."
        "Give `changes` with `operation` and `path`, and `oldPath` for a move or a copy.";
    V2_DIFF_02 => Agent Must Documentation("tool-calls").recorded():
        "A patch is a `git_patch` of the same files as the changes."
        "Users approve one thing and get another."
        "Make `changes` and `patch` from the same list: one `diff --git` section for each change.";
    V2_DIFF_03 => Agent Must Crate.recorded():
        "A patch names files without `a/` and `b/`, and has no headers of a commit."
        "Clients look for files in directories `a` and `b`."
        "Write absolute paths after `---` and `+++`, and `/dev/null` for the side that is not there.";
    V2_DIFF_04 => Agent Should Documentation("tool-calls").recorded():
        "A diff of text has a patch."
        "Users see that a file changes, not how."
        "Send the patch with the diff wherever both texts are known.";
    V2_DIFF_05 => Client Must Documentation("tool-calls"):
        "A diff without a patch is taken."
        "The call, and what it did, is not shown; or the connection ends in the middle of a turn."
        "List the changes.";
    V2_PERM_01 => Agent Must Documentation("tool-calls#requesting-permission").recorded():
        "A question has a session, a title and at least one option, each with an id of its own."
        "Clients cannot show the question, and refuse the request."
        "Send `sessionId`, `title` and a list of `options` that is not empty.";
    V2_PERM_03 => Client Must Crate:
        "A permission request may be the first to tell of a tool call."
        "The question is lost, and the work hangs."
        "Apply the tool call of the subject before you ask.";
    V2_PERM_04 => Agent Must Documentation("tool-calls#requesting-permission").recorded():
        "A question about a command has the command and an absolute `cwd`."
        "Users approve a command without knowing where it runs."
        "Give `command` and `cwd` in a subject of type `command`.";
    V2_PERM_06 => Client Should Documentation("tool-calls#requesting-permission"):
        "A permission request may be about nothing, or about what is not known."
        "The question is lost, and the work hangs."
        "Ask generically, or decline.";
    V2_PERM_07 => Agent Must Documentation("tool-calls#requesting-permission"):
        "Outcomes that are not known and options that were not offered approve nothing."
        "A newer client's answer is taken for a yes that nobody gave."
        "Go on only with the id of an offered option that allows it.";
    V2_PERM_08 => Agent Must Crate:
        "After `cancelled` the operation does not go on."
        "Users dismissed the question, and it happened."
        "Take `cancelled` as not approved, whatever the reason for it.";
    V2_PERM_10 => Client Should Documentation("tool-calls#requesting-permission"):
        "Options of an unknown kind are shown like others."
        "The question is lost, and the work hangs."
        "Show the name, and answer with the id.";
    V2_PERM_12 => Client Must Documentation("tool-calls#requesting-permission").recorded():
        "The answer is an outcome: `selected` with an option that was offered, or `cancelled`."
        "The agent takes it for no permission."
        "Nest it: `outcome: {outcome: \"selected\", optionId}`.";
    V2_PLAN_01 => Agent Should Documentation("agent-plan").recorded():
        "Plans are sent as `plan_update` with items."
        "Clients of version 2 do not know `plan` and show none."
        "Send `plan_update` with `plan: {type: \"items\", planId, entries}`.";
    V2_PLAN_02 => Agent Must Documentation("agent-plan").recorded():
        "Every plan has a `planId`."
        "Clients cannot tell one plan from another."
        "Give each plan an id and keep it for its updates.";
    V2_PLAN_03 => Agent Must Documentation("agent-plan").recorded():
        "Every update of a plan is the whole plan."
        "Clients replace the plan with what they get, so entries that were left out vanish."
        "Send all entries each time, also those that did not change.";
    V2_PLAN_04 =>
        Agent Must Documentation("agent-plan").recorded():
            "Statuses of entries are known ones, or begin with `_`."
            "Unknown words without the mark may come to mean something else later."
            "Use `pending`, `in_progress`, `completed` or `cancelled`.",
        Client Must Documentation("agent-plan"):
            "Entries of a plan may be cancelled, or of a status of one's own."
            "The call, and what it did, is not shown; or the connection ends in the middle of a turn."
            "Show an unknown status plainly.";
    V2_PLAN_05 => Client Must Crate:
        "A plan of an unknown type is taken."
        "The call, and what it did, is not shown; or the connection ends in the middle of a turn."
        "Replace the plan of that id.";
}
