//! Tool calls, permission and plans.

rules! {
    V1_TOOL_01 => Agent Should Documentation("tool-calls").recorded():
        "A tool call is announced with `tool_call` before it is updated."
        "Clients have no tool call for the update, and drop it."
        "Send `tool_call` when the model asks for a tool, and `tool_call_update` from then on.";
    V1_TOOL_02 => Agent Must Documentation("tool-calls").recorded():
        "A tool call id is used only once in a session."
        "The second call overwrites the first."
        "Use ids that do not repeat in a session, even after it is loaded.";
    V1_TOOL_03 => Agent Must Documentation("tool-calls").recorded():
        "`tool_call` has a `toolCallId` and a `title`, both strings."
        "Clients refuse the update, or show a tool call without a title."
        "Send both members with every `tool_call`.";
    V1_TOOL_04 => Agent Must Documentation("tool-calls").recorded():
        "`kind` is one of the ten kinds of version 1."
        "Typed clients cannot read the update."
        "Use `other` if no kind fits.";
    V1_TOOL_05 => Agent Must Documentation("tool-calls").recorded():
        "`status` is `pending`, `in_progress`, `completed` or `failed`."
        "Typed clients cannot parse the update, and the call seems to run forever."
        "Map every other status to one of these; a cancelled call is `failed`.";
    V1_TOOL_06 => Agent Must Documentation("tool-calls").recorded():
        "`tool_call_update` names its call with `toolCallId`."
        "Clients cannot tell which call to update."
        "Send the id in every update; other members are optional.";
    V1_TOOL_08 => Client Must Schema:
        "Null members of a tool call mean unchanged."
        "The update is not shown, or the connection breaks in the middle of a turn."
        "Treat null as absent.";
    V1_TOOL_09 => Agent Should Documentation("tool-calls").recorded():
        "A tool that runs is reported as `in_progress` before it ends."
        "Users cannot tell a waiting call from a running one."
        "Send `in_progress` when the tool starts, after permission if it needs one.";
    V1_TOOL_11 => Agent Must Documentation("tool-calls").recorded():
        "A completed call has a final status before the turn ends."
        "The tool call seems to run forever."
        "Send `completed` or `failed` for every call before the turn ends.";
    V1_TOOL_12 => Agent Must Documentation("tool-calls").recorded():
        "Tool call content is `content` with a block, `diff` or `terminal`."
        "A bare block is skipped, and users see an empty tool call."
        "Wrap blocks: `{\"type\":\"content\",\"content\":{…}}`.";
    V1_TOOL_13 => Agent Must Documentation("tool-calls").recorded():
        "A diff has an absolute `path` and `newText`; `oldText` is a string, null or absent."
        "Editors cannot open the file, or show no diff."
        "Make the path absolute, and leave `oldText` out for a new file.";
    V1_TOOL_14 => Agent Must Documentation("tool-calls").recorded():
        "Locations have an absolute `path`, and a `line` that counts from 1."
        "Editors that follow the agent open the wrong place."
        "Join relative paths with the session's directory and add 1 to lines that count from 0.";
    V1_TOOL_16 => Client Unspecified Silent("tool-calls"):
        "An update of an unknown tool call is accepted."
        "The update is not shown, or the connection breaks in the middle of a turn."
        "Create the tool call from the update.";
    V1_TOOL_17 => Agent Should Schema.recorded():
        "Calls that a cancel interrupts are closed before the prompt response."
        "Tool calls seem to run in an idle session."
        "Send `failed` for each open call, then the prompt response.";
    V1_TOOL_18 => Client Should Schema:
        "Unknown tool call content is skipped."
        "The update is not shown, or the connection breaks in the middle of a turn."
        "Skip the item, not the update.";
    V1_TOOL_19 => Agent May Crate.recorded():
        "`name`, if given, is a string or null."
        "Clients that match tools by name fail."
        "Give the programmatic name as a string, or leave it out.";
    V1_PERM_01 => Client Must Documentation("tool-calls#requesting-permission"):
        "Every client answers permission requests."
        "Agents that ask for permission cannot do anything."
        "Implement `session/request_permission`.";
    V1_PERM_02 => Agent May Documentation("tool-calls#requesting-permission"):
        "A tool that needs permission waits for the decision."
        "A permission request that nothing waits for protects nobody."
        "Run the tool only after the `session/request_permission` response.";
    V1_PERM_03 => Agent Must Documentation("tool-calls#requesting-permission").recorded():
        "A permission request has its session, its tool call and options."
        "Clients cannot show the request, and refuse it."
        "Send `sessionId`, `toolCall` with at least `toolCallId`, and `options`.";
    V1_PERM_04 => Agent Must Documentation("tool-calls#requesting-permission").recorded():
        "Each option has a unique id, a name and one of the four kinds."
        "Clients show the wrong button, or send an ambiguous id."
        "Give `optionId`, `name` and a `kind` such as `allow_once` with every option.";
    V1_PERM_05 => Client Must Documentation("tool-calls#requesting-permission").recorded():
        "The response has an outcome: `selected` with an option, or `cancelled`."
        "The agent cannot parse the response, and does nothing."
        "Nest it: `outcome: {outcome: \"selected\", optionId}`.";
    V1_PERM_06 => Client Must Documentation("tool-calls#requesting-permission").recorded():
        "The selected option is one that was offered."
        "The agent treats it as no permission."
        "Return an `optionId` of the request, not a kind or name.";
    V1_PERM_08 => Client Must Documentation("tool-calls#requesting-permission"):
        "The client answers a permission request of a cancelled turn with `cancelled`."
        "The agent acts on a choice that the user did not make."
        "Return `cancelled`, not an option.";
    V1_PERM_09 => Agent Must Documentation("tool-calls#requesting-permission"):
        "The tool does not run if the response is a rejection, `cancelled`, an error or an unknown option."
        "Users said no, and the tool ran."
        "Run the tool only for an offered option that allows it; treat everything else as no.";
    V1_PERM_11 => Client Should Documentation("tool-calls#requesting-permission"):
        "A permission request may be about an unknown tool call."
        "The request is lost, and the turn hangs."
        "Create the tool call from the request.";
    V1_PERM_12 => Agent Unspecified Silent("tool-calls#requesting-permission").recorded():
        "A refused call is closed as `failed`, and the turn continues."
        "The tool call stays open, or the user sees an error after saying no."
        "Report `failed`, tell the model about the refusal, and let it finish.";
    V1_PLAN_01 => Agent Should Documentation("agent-plan").recorded():
        "The model's plan is reported with `plan`."
        "Users do not see what the agent plans to do."
        "Send a `plan` update when the model writes or changes its plan.";
    V1_PLAN_02 => Agent Must Documentation("agent-plan").recorded():
        "Plan entries have content and a valid priority and status."
        "Typed clients cannot parse the plan and show none."
        "Give `content`, `priority` (high, medium, low) and `status` (pending, in_progress, completed).";
    V1_PLAN_03 => Agent Should Documentation("agent-plan").recorded():
        "Progress is reported with further `plan` updates."
        "The plan looks stuck while the work continues."
        "Send the plan again whenever a status changes.";
    V1_PLAN_04 => Agent Must Documentation("agent-plan").recorded():
        "Every `plan` is the whole plan."
        "Clients replace the whole plan, so omitted entries vanish."
        "Send all entries each time, even unchanged ones.";
    V1_PLAN_05 => Client Must Documentation("agent-plan"):
        "A plan, even an empty one, replaces the previous one."
        "The update is not shown, or the connection breaks in the middle of a turn."
        "Replace the whole plan.";
    V1_PLAN_07 => Agent Must Draft("agent-plan").recorded():
        "`plan_update` and `plan_removed` are sent only to clients that support them."
        "Other version 1 clients do not know these updates and show no plan."
        "Send `plan` unless the client has the capability `plan`.";
}
