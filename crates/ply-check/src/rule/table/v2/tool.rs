//! Tool calls, permission and plans.

rules! {
    V2_TOOL_01 => Agent Should Documentation("tool-calls").recorded():
        "Tool calls are reported with `tool_call_update`; `tool_call` is gone."
        "Version 2 clients treat it as unknown and show nothing."
        "Send `tool_call_update` from the start.";
    V2_TOOL_02 => Client Must Documentation("tool-calls"):
        "Null members of a tool call are cleared; absent ones are kept."
        "The update is not shown, or the connection breaks in the middle of a turn."
        "Distinguish null from absent.";
    V2_TOOL_03 => Agent Should Documentation("tool-calls").recorded():
        "The first report of a call has a `title`."
        "Users see a tool call without a title."
        "Send the title with the first `tool_call_update`.";
    V2_TOOL_04 => Client Must Crate:
        "A tool call may be reported with its id alone."
        "The update is not shown, or the connection breaks in the middle of a turn."
        "Use the defaults for everything else.";
    V2_TOOL_05 => Client Must Documentation("tool-calls"):
        "Content of a tool call may come in chunks."
        "The update is not shown, or the connection breaks in the middle of a turn."
        "Append each chunk to the call's content.";
    V2_TOOL_06 => Agent Must Documentation("tool-calls").recorded():
        "Statuses are those of version 2, or begin with `_`."
        "A later version may give the name another meaning."
        "Use `pending`, `in_progress`, `completed`, `failed`, `cancelled` or `paused`.";
    V2_TOOL_07 => Client Should Crate:
        "An unknown status or kind is accepted."
        "The update is not shown, or the connection breaks in the middle of a turn."
        "Show it as in progress, and as other.";
    V2_TOOL_08 => Client Must Documentation("tool-calls"):
        "Tool calls may change while the session is idle."
        "The update is not shown, or the connection breaks in the middle of a turn."
        "Apply the update without changing the state.";
    V2_TOOL_09 => Agent Should Documentation("tool-calls").recorded():
        "A running tool is `in_progress`, and gets a final status when it ends."
        "Users cannot tell what is running, and tool calls never end."
        "Send `in_progress` at the start and a final status before the session is idle.";
    V2_TOOL_10 => Agent Should Documentation("tool-calls").recorded():
        "Calls that a cancel interrupts end as `cancelled`."
        "Users take their cancel for a tool failure, or see the call still running."
        "Send `cancelled` for each open call before the idle that ends the work.";
    V2_TOOL_11 => Client Should Documentation("tool-calls"):
        "Content of an unknown type is accepted."
        "The update is not shown, or the connection breaks in the middle of a turn."
        "Show it generically.";
    V2_TOOL_12 => Agent Must Crate.recorded():
        "Lines of locations count from 1."
        "Clients drop the line, or open the wrong one."
        "Add 1 to lines that count from 0.";
    V2_TERM_01 => Agent Must Documentation("tool-calls").recorded():
        "A terminal id is used only once in a session."
        "The output of two commands is mixed up."
        "Use a new id for each command.";
    V2_TERM_02 => Client Must Documentation("tool-calls"):
        "Terminal output may come before and after the tool call that shows it."
        "The update is not shown, or the connection breaks in the middle of a turn."
        "Keep terminals by their id.";
    V2_TERM_04 => Agent Must Documentation("tool-calls").recorded():
        "A terminal's `cwd` is absolute."
        "Users cannot tell where a command ran."
        "Send an absolute `cwd`, or none.";
    V2_TERM_05 => Agent Should Documentation("tool-calls").recorded():
        "The first update of a terminal names its command."
        "Users see output without its command."
        "Send `command` with the first `terminal_update`.";
    V2_TERM_09 => Client Must Documentation("tool-calls"):
        "A terminal with an exit status, even an empty one, has exited."
        "The update is not shown, or the connection breaks in the middle of a turn."
        "Check whether it is present, not its contents.";
    V2_DIFF_01 => Agent Must Documentation("tool-calls").recorded():
        "A diff lists its changes, each with an operation and absolute paths."
        "Clients cannot tell which files changed, or open the wrong ones."
        "Send `changes` with `operation` and `path`, and `oldPath` for a move or a copy.";
    V2_DIFF_02 => Agent Must Documentation("tool-calls").recorded():
        "A patch is a `git_patch` of the same files as the changes."
        "Users approve one change and get another."
        "Make `changes` and `patch` from the same list: one `diff --git` section for each change.";
    V2_DIFF_03 => Agent Must Crate.recorded():
        "A patch names files without `a/` and `b/`, and has no commit headers."
        "Clients look for files in directories `a` and `b`."
        "Write absolute paths after `---` and `+++`, and `/dev/null` for a missing side.";
    V2_DIFF_04 => Agent Should Documentation("tool-calls").recorded():
        "A diff of text has a patch."
        "Users see that a file changes, not how."
        "Send the patch with the diff wherever both texts are known.";
    V2_DIFF_05 => Client Must Documentation("tool-calls"):
        "A diff without a patch is accepted."
        "The update is not shown, or the connection breaks in the middle of a turn."
        "List the changes.";
    V2_PERM_01 => Agent Must Documentation("tool-calls#requesting-permission").recorded():
        "A permission request has a session, a title and at least one option, with unique ids."
        "Clients cannot show the request, and refuse it."
        "Send `sessionId`, `title` and a non-empty list of `options`.";
    V2_PERM_03 => Client Must Crate:
        "A permission request may introduce a tool call."
        "The request is lost, and the work hangs."
        "Apply the subject's tool call before asking.";
    V2_PERM_04 => Agent Must Documentation("tool-calls#requesting-permission").recorded():
        "A permission request about a command has the command and an absolute `cwd`."
        "Users approve a command without knowing where it runs."
        "Send `command` and `cwd` in a subject of type `command`.";
    V2_PERM_06 => Client Should Documentation("tool-calls#requesting-permission"):
        "A permission request may have no subject, or an unknown one."
        "The request is lost, and the work hangs."
        "Ask generically, or decline.";
    V2_PERM_07 => Agent Must Documentation("tool-calls#requesting-permission"):
        "Unknown outcomes and options that were not offered approve nothing."
        "The agent treats a newer client's response as an approval."
        "Proceed only with an offered option that allows it.";
    V2_PERM_08 => Agent Must Crate:
        "After `cancelled`, the operation does not proceed."
        "Users dismissed the dialog, and the tool ran."
        "Treat `cancelled` as not approved, whatever the reason.";
    V2_PERM_10 => Client Should Documentation("tool-calls#requesting-permission"):
        "Options of an unknown kind are shown like others."
        "The request is lost, and the work hangs."
        "Show the name, and return the id.";
    V2_PERM_12 => Client Must Documentation("tool-calls#requesting-permission").recorded():
        "The response has an outcome: `selected` with an offered option, or `cancelled`."
        "The agent treats it as no permission."
        "Nest it: `outcome: {outcome: \"selected\", optionId}`.";
    V2_PLAN_01 => Agent Should Documentation("agent-plan").recorded():
        "Plans are sent as `plan_update` with items."
        "Version 2 clients do not know `plan` and show none."
        "Send `plan_update` with `plan: {type: \"items\", planId, entries}`.";
    V2_PLAN_02 => Agent Must Documentation("agent-plan").recorded():
        "Every plan has a `planId`."
        "Clients cannot tell one plan from another."
        "Give each plan an id and use it for its updates.";
    V2_PLAN_03 => Agent Must Documentation("agent-plan").recorded():
        "Every update of a plan is the whole plan."
        "Clients replace the whole plan, so omitted entries vanish."
        "Send all entries each time, even unchanged ones.";
    V2_PLAN_04 =>
        Agent Must Documentation("agent-plan").recorded():
            "Entry statuses are known, or begin with `_`."
            "A later version may give the name another meaning."
            "Use `pending`, `in_progress`, `completed` or `cancelled`.",
        Client Must Documentation("agent-plan"):
            "Plan entries may be cancelled or have a custom status."
            "The update is not shown, or the connection breaks in the middle of a turn."
            "Show an unknown status generically.";
    V2_PLAN_05 => Client Must Crate:
        "A plan of an unknown type is accepted."
        "The update is not shown, or the connection breaks in the middle of a turn."
        "Replace the plan of that id.";
}
