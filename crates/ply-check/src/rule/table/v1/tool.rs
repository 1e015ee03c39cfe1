//! Tool calls, permission and plans.

rules! {
    V1_TOOL_01 => Agent Should Documentation("tool-calls").recorded():
        "A tool call is announced with `tool_call` before it is updated."
        "Clients have no card to put an update on, and drop it."
        "Send `tool_call` when the model asks for a tool, and `tool_call_update` from then on.";
    V1_TOOL_02 => Agent Must Documentation("tool-calls").recorded():
        "The id of a tool call is used for one call of the session only."
        "Two calls of one id become one card, and the first is overwritten."
        "Make ids from something that does not repeat in a session, also after it was loaded.";
    V1_TOOL_03 => Agent Must Documentation("tool-calls").recorded():
        "`tool_call` has a `toolCallId` and a `title`, both strings."
        "Clients refuse the update, or show a card without words."
        "Give both members with every `tool_call`.";
    V1_TOOL_04 => Agent Must Documentation("tool-calls").recorded():
        "`kind` is one of the ten kinds of version 1."
        "Typed clients cannot read the update."
        "Use `other` for what has no kind of its own.";
    V1_TOOL_05 => Agent Must Documentation("tool-calls").recorded():
        "`status` is `pending`, `in_progress`, `completed` or `failed`."
        "Typed clients cannot read the update, and the call seems to run for ever."
        "Map every other status to one of the four; a cancelled call is `failed`.";
    V1_TOOL_06 => Agent Must Documentation("tool-calls").recorded():
        "`tool_call_update` names its call with `toolCallId`."
        "Clients cannot know what to change."
        "Repeat the id of the announcement in every update; other members are optional.";
    V1_TOOL_08 => Client Must Schema:
        "Members of a tool call that are null are taken as unchanged."
        "The call, and what it did, is not shown; or the connection ends in the middle of a turn."
        "Read null as absent.";
    V1_TOOL_09 => Agent Should Documentation("tool-calls").recorded():
        "A tool that runs is reported as `in_progress` before it ends."
        "Users cannot tell a call that waits for them from one that works."
        "Send `in_progress` when the tool starts, after permission if it needs one.";
    V1_TOOL_11 => Agent Must Documentation("tool-calls").recorded():
        "A call that ended in its turn was told its final status."
        "The card spins for ever although the work is done."
        "Send `completed` or `failed` for every call before the turn ends.";
    V1_TOOL_12 => Agent Must Documentation("tool-calls").recorded():
        "Content of a call is `content` with a block in it, `diff` or `terminal`."
        "A bare block is skipped, and users see an empty card."
        "Wrap blocks: `{\"type\":\"content\",\"content\":{…}}`.";
    V1_TOOL_13 => Agent Must Documentation("tool-calls").recorded():
        "A diff has an absolute `path` and `newText`; `oldText` is a string, null or absent."
        "Editors cannot open the file, or show no diff."
        "Make the path absolute, and leave `oldText` out for a new file.";
    V1_TOOL_14 => Agent Must Documentation("tool-calls").recorded():
        "Locations have an absolute `path`, and a `line` that counts from 1."
        "Editors that follow along open the wrong place."
        "Join relative paths with the session's directory and add 1 to lines that count from 0.";
    V1_TOOL_16 => Client Unspecified Silent("tool-calls"):
        "An update of a tool call that was not announced is taken."
        "The call, and what it did, is not shown; or the connection ends in the middle of a turn."
        "Make the call from the update.";
    V1_TOOL_17 => Agent Should Schema.recorded():
        "Calls that a cancel cut off are closed before the prompt is answered."
        "Cards go on spinning in a session that does nothing."
        "Send `failed` for each open call, then answer the prompt.";
    V1_TOOL_18 => Client Should Schema:
        "Content of a tool call that is not known is skipped."
        "The call, and what it did, is not shown; or the connection ends in the middle of a turn."
        "Skip the item, not the update.";
    V1_TOOL_19 => Agent May Crate.recorded():
        "`name`, if given, is a string or null."
        "Clients that match tools by name cannot read it."
        "Give the programmatic name as a string, or leave it out.";
    V1_PERM_01 => Client Must Documentation("tool-calls#requesting-permission"):
        "Every client answers permission requests."
        "Agents that ask before they act can do nothing."
        "Implement `session/request_permission`.";
    V1_PERM_02 => Agent May Documentation("tool-calls#requesting-permission"):
        "A tool that needs permission waits for the answer."
        "A question that is not waited for protects nobody."
        "Run the tool only after the answer to `session/request_permission` is there.";
    V1_PERM_03 => Agent Must Documentation("tool-calls#requesting-permission").recorded():
        "A question names its session and its tool call, and has options."
        "Clients cannot show what is asked about, and refuse the request."
        "Send `sessionId`, `toolCall` with at least `toolCallId`, and `options`.";
    V1_PERM_04 => Agent Must Documentation("tool-calls#requesting-permission").recorded():
        "Each option has an id of its own, a name and one of the four kinds."
        "Clients show the wrong button, or answer with an id that means two things."
        "Give `optionId`, `name` and a `kind` such as `allow_once` with every option.";
    V1_PERM_05 => Client Must Documentation("tool-calls#requesting-permission").recorded():
        "The answer is an outcome: `selected` with an option, or `cancelled`."
        "The agent cannot read the answer, and does not act."
        "Nest it: `outcome: {outcome: \"selected\", optionId}`.";
    V1_PERM_06 => Client Must Documentation("tool-calls#requesting-permission").recorded():
        "The option chosen is one that was offered."
        "The agent takes it for no permission."
        "Answer with the `optionId` of the request, not its kind or name.";
    V1_PERM_08 => Client Must Documentation("tool-calls#requesting-permission"):
        "A permission request of a cancelled turn is answered with `cancelled`."
        "The agent takes a choice for the user's that nobody made."
        "Answer `cancelled`, not a choice.";
    V1_PERM_09 => Agent Must Documentation("tool-calls#requesting-permission"):
        "The tool does not run when the answer is no, `cancelled`, an error or an option that was not offered."
        "Users said no, and it happened."
        "Run the tool only for an option that was offered and allows it; take everything else as a no.";
    V1_PERM_11 => Client Should Documentation("tool-calls#requesting-permission"):
        "A permission request may be about a tool call that was not announced."
        "The question is lost, and the turn hangs."
        "Take the tool call of the request as an announcement.";
    V1_PERM_12 => Agent Unspecified Silent("tool-calls#requesting-permission").recorded():
        "A call that was refused is closed as `failed`, and the turn goes on to its end."
        "The card waits for an answer that was given, or the user gets an error for saying no."
        "Report `failed`, tell the model about the refusal, and let it finish.";
    V1_PLAN_01 => Agent Should Documentation("agent-plan").recorded():
        "A plan that the model makes is reported with `plan`."
        "Users do not see what the agent is up to."
        "Send a `plan` update when the model writes or changes its plan.";
    V1_PLAN_02 => Agent Must Documentation("agent-plan").recorded():
        "Entries of a plan have content, a priority and a status that there are."
        "Typed clients cannot read the plan and show none."
        "Give `content`, `priority` (high, medium, low) and `status` (pending, in_progress, completed).";
    V1_PLAN_03 => Agent Should Documentation("agent-plan").recorded():
        "Progress is reported with further `plan` updates."
        "The plan stands still while the work goes on."
        "Send the plan again whenever a status changes.";
    V1_PLAN_04 => Agent Must Documentation("agent-plan").recorded():
        "Every `plan` is the whole plan."
        "Clients replace the plan with what they get, so entries that were left out vanish."
        "Send all entries each time, also those that did not change.";
    V1_PLAN_05 => Client Must Documentation("agent-plan"):
        "A plan replaces the one before it, also by an empty one."
        "The call, and what it did, is not shown; or the connection ends in the middle of a turn."
        "Replace the whole plan.";
    V1_PLAN_07 => Agent Must Draft("agent-plan").recorded():
        "`plan_update` and `plan_removed` are not sent to a client that did not ask for them."
        "Clients of version 1 do not know these updates and show no plan."
        "Send `plan` unless the client has the capability `plan`.";
}
