# An agent whose session has a mode, forgotten when it dies. KIND says how the mode is told: modes or options of version 1, or
# options of version 2. LIVED names a file that is there from the second life on, in which it behaves as SECOND says.
say() { printf '{"jsonrpc":"2.0",%s}\n' "$1"; }
answer() { say "\"id\":$id,\"result\":$1"; }
update() { say "\"method\":\"session/update\",\"params\":{\"sessionId\":\"s-1\",\"update\":$1}"; }
mode=ask
effort=low
second=
[ -e "$LIVED" ] && second=$SECOND
: >"$LIVED"
value() { printf '{"value":"%s","name":"%s"}' "$1" "$1"; }
option() {
    key=id
    [ "$KIND" = v2 ] && key=configId
    printf '{"%s":"%s","name":"%s","category":"%s","type":"select","currentValue":"%s","options":[%s,%s]}' \
        "$key" "$1" "$1" "$1" "$2" "$(value "$3")" "$(value "$4")"
}
plan=plan
[ "$second" = without ] && plan=other
state() {
    case "$KIND" in
    modes) printf '"modes":{"currentModeId":"%s","availableModes":[{"id":"ask","name":"ask"},{"id":"%s","name":"p"}]}' "$mode" "$plan" ;;
    *) printf '"configOptions":[%s,%s]' "$(option effort "$effort" low high)" "$(option mode "$mode" ask "$plan")" ;;
    esac
}
while IFS= read -r line; do
    id=${line#*\"id\":}
    id=${id%%,*}
    echo "$line" >&2
    case "$line" in
    *'"method":"initialize"'*)
        case "$KIND" in
        v2) answer '{"protocolVersion":2,"info":{"name":"a","version":"1"},"capabilities":{"session":{}}}' ;;
        *) answer '{"protocolVersion":1,"agentCapabilities":{"sessionCapabilities":{"resume":{}}}}' ;;
        esac
        ;;
    *'"method":"session/new"'*) answer "{\"sessionId\":\"s-1\",$(state)}" ;;
    *'"method":"session/resume"'*)
        case "$second" in
        silent) answer '{}' ;;
        bare) answer '{"configOptions":[]}' ;;
        kept) mode=plan ; effort=high ; answer "{$(state)}" ;;
        *) answer "{$(state)}" ;;
        esac
        ;;
    *'"method":"session/set_'*)
        [ "$second" = refuse ] && { say "\"id\":$id,\"error\":{\"code\":-32602,\"message\":\"not today\"}" ; continue; }
        case "$line" in
        *'"high"'*) effort=high ;;
        *'"low"'*) effort=low ;;
        # Choosing a mode resets the effort.
        *'"plan"'*) mode=plan ; effort=low ;;
        *'"ask"'*) mode=ask ; effort=low ;;
        esac
        [ "$second" = ignore ] && mode=ask
        answer "{$(state)}"
        ;;
    *'"method":"session/prompt"'*)
        case "$KIND" in
        v2)
            update '{"sessionUpdate":"state_update","state":"running"}'
            answer "{\"messageId\":\"m$id\"}"
            update "{\"sessionUpdate\":\"agent_message_chunk\",\"messageId\":\"a$id\",\"content\":{\"type\":\"text\",\"text\":\"$mode $effort\"}}"
            update '{"sessionUpdate":"state_update","state":"idle","stopReason":"end_turn"}'
            ;;
        *)
            update "{\"sessionUpdate\":\"agent_message_chunk\",\"content\":{\"type\":\"text\",\"text\":\"$mode $effort\"}}"
            answer '{"stopReason":"end_turn"}'
            ;;
        esac
        ;;
    esac
done
