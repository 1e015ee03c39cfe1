# An agent of version 1 that does what the prompt says. CAPS holds its capabilities; with BROKEN naming a file that exists it
# fails at its start; with ECHOES set it answers any version and takes no second greeting, with ONCE set only the latter; with HOLD naming a pipe it writes its process id there and waits for a line before it starts.
if [ -n "$BROKEN" ] && [ -e "$BROKEN" ]; then
    echo "the configuration is broken" >&2
    exit 3
fi
if [ -n "$HOLD" ] && [ -p "$HOLD" ]; then
    echo $$ >"$HOLD"
    read -r _ <"$HOLD"
fi
say() { printf '%s\n' "$1"; }
answer() { say "{\"jsonrpc\":\"2.0\",\"id\":$id,\"result\":$1}"; }
chunk() {
    say "{\"jsonrpc\":\"2.0\",\"method\":\"session/update\",\"params\":{\"sessionId\":\"s-1\",\"update\":{\"sessionUpdate\":\"$1\",\"content\":{\"type\":\"text\",\"text\":\"$2\"}}}}"
}
echo "agent $$ starts" >&2
while IFS= read -r line; do
    id=${line#*\"id\":}
    id=${id%%,*}
    case "$line" in
    *'"method":"initialize"'*)
        version=1
        [ -n "$ONCE" ] && [ -n "$greeted" ] && exit 4
        greeted_before=$greeted
        greeted=1
        if [ -n "$ECHOES" ]; then
            [ -n "$greeted_before" ] && exit 4
            version=${line#*\"protocolVersion\":}
            version=${version%%[,\}]*}
            echo "asked for version $version" >&2
        fi
        answer "{\"protocolVersion\":$version,\"agentCapabilities\":${CAPS:-{\}}}"
        ;;
    *'"method":"session/new"'*) answer '{"sessionId":"s-1"}' ;;
    *'"method":"session/resume"'*) answer '{}' ;;
    *'"method":"session/load"'*)
        chunk user_message_chunk 'say'
        chunk agent_message_chunk 'done'
        answer 'null'
        ;;
    *'"text":"say"'*)
        chunk agent_message_chunk 'done'
        answer '{"stopReason":"end_turn"}'
        ;;
    *'"text":"exit 0"'*) exit 0 ;;
    *'"text":"exit 1"'*)
        echo "giving up" >&2
        exit 1
        ;;
    *'"text":"die"'*) kill -9 $$ ;;
    *'"text":"leave a child"'*)
        sleep 1000 &
        kill -9 $$
        ;;
    *'"text":"mute"'*)
        exec 1>&-
        while :; do sleep 1; done
        ;;
    *) ;;
    esac
done
