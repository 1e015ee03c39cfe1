# An agent of version 1 that does what its first argument and the prompt say, much of it against the rules.
# CAPS holds its capabilities. What it is asked is written to NOTES, a line for each message.
start=$1
say() { printf '%s\n' "$1"; }
answer() { say "{\"jsonrpc\":\"2.0\",\"id\":$id,\"result\":$1}"; }
fail() { say "{\"jsonrpc\":\"2.0\",\"id\":$id,\"error\":{\"code\":$1,\"message\":\"$2\"}}"; }
update() { say "{\"jsonrpc\":\"2.0\",\"method\":\"session/update\",\"params\":{\"sessionId\":\"s-1\",\"update\":$1}}"; }
chunk() { update "{\"sessionUpdate\":\"agent_message_chunk\",\"content\":{\"type\":\"text\",\"text\":\"$1\"}}"; }
thought() { update "{\"sessionUpdate\":\"agent_thought_chunk\",\"content\":{\"type\":\"text\",\"text\":\"$1\"}}"; }
request() { say "{\"jsonrpc\":\"2.0\",\"id\":\"$1\",\"method\":\"$2\",\"params\":{\"sessionId\":\"s-1\",$3}}"; }
stop() { answer "{\"stopReason\":\"$1\"}"; }
ask() {
    say "{\"jsonrpc\":\"2.0\",\"id\":\"ask-1\",\"method\":\"session/request_permission\",\"params\":{\"sessionId\":\"s-1\",\"toolCall\":{\"toolCallId\":\"t1\",\"title\":\"Write a.txt\",\"kind\":\"$1\",\"status\":\"pending\",\"locations\":[{\"path\":\"/w/a.txt\"}],\"content\":[{\"type\":\"diff\",\"path\":\"/w/a.txt\",\"oldText\":\"one\\n\",\"newText\":\"two\\n\"}]},\"options\":[{\"optionId\":\"yes\",\"name\":\"Allow\",\"kind\":\"allow_once\"},{\"optionId\":\"ever\",\"name\":\"Always allow\",\"kind\":\"allow_always\"},{\"optionId\":\"no\",\"name\":\"Reject\",\"kind\":\"reject_once\"}]}}"
}
noise() { [ "$start" = noise ] && printf 'Welcome!\n\033[31mnpm WARN\033[0m\n{not json}\n\n[1,2]\n'; }
echo "pid $$" >>"$NOTES"
[ "$start" = hang ] && exec sleep 1000
[ "$start" = dead ] && { echo "no configuration" >&2; exit 3; }
while IFS= read -r line; do
    printf '%s\n' "$line" >>"$NOTES"
    # What this shell sends has ids that are words, so that they are never mistaken.
    id=${line#*\"id\":}
    id=${id%%,*}
    noise
    case "$line" in
    *'"method":"initialize"'*) answer "{\"protocolVersion\":1,\"agentInfo\":{\"name\":\"hostile\",\"version\":\"1\"},\"agentCapabilities\":${CAPS:-{\}},\"authMethods\":[{\"id\":\"key\",\"name\":\"API key\",\"description\":\"Set HOSTILE_KEY\"}]}" ;;
    *'"method":"session/new"'*)
        [ "$start" = auth ] && { fail -32000 'Authentication required'; continue; }
        [ "$start" = early ] && chunk 'too early '
        answer '{"sessionId":"s-1"}'
        ;;
    *'"method":"session/list"'*) answer "${LIST:-{\}}" ;;
    *'"method":"session/resume"'*'"s-1'*) [ -n "$FORGETS" ] && fail -32002 'no such session' || answer '{}' ;;
    *'"method":"session/load"'*) [ -n "$LOSES" ] && { fail -32002 'no such session' ; continue; }
        case "$line" in
        *'"s-1'*) answer '{}' ;;
        *) fail -32002 'no such session' ;;
        esac
        ;;
    *'"method":"authenticate"'*) start= ; answer '{}' ;;
    *'"method":"session/cancel"'*)
        [ -n "$nag" ] && { ask edit ; continue; }
        [ -n "$pouring" ] && { kill "$pouring"; wait "$pouring" 2>/dev/null; pouring=; }
        [ -n "$open" ] && { id=$open; open=; stop cancelled; }
        ;;
    *'"id":"ask-1"'*)
        id=$open
        open=
        case "$line" in
        *'"optionId":"yes"'*) chunk 'Allowed.' ; update '{"sessionUpdate":"tool_call_update","toolCallId":"t1","status":"completed"}' ; stop end_turn ;;
        *'"optionId":"no"'*) chunk 'Rejected.' ; update '{"sessionUpdate":"tool_call_update","toolCallId":"t1","status":"failed"}' ; stop end_turn ;;
        *) stop cancelled ;;
        esac
        ;;
    *'"id":"ask-2"'*)
        id=$open
        open=
        case "$line" in
        *'"name":"Ada"'*) chunk 'Hello, Ada.' ;;
        *decline*) chunk 'You need not say.' ;;
        esac
        stop end_turn
        ;;
    *'"id":"svc-1"'*) request svc-2 fs/read_text_file "\"path\":\"$PWD/made.txt\"" ;;
    *'"id":"svc-2"'*) request svc-3 terminal/create '"command":"sh","args":["-c","echo from the terminal; exit 3"]' ;;
    *'"id":"svc-3"'*'"terminalId"'*)
        terminal=${line#*\"terminalId\":}
        terminal=${terminal%%\}*}
        update "{\"sessionUpdate\":\"tool_call\",\"toolCallId\":\"t1\",\"title\":\"Try it\",\"kind\":\"execute\",\"status\":\"in_progress\",\"content\":[{\"type\":\"terminal\",\"terminalId\":$terminal}]}"
        request svc-4 terminal/wait_for_exit "\"terminalId\":$terminal"
        ;;
    *'"id":"svc-4"'*) update '{"sessionUpdate":"tool_call_update","toolCallId":"t1","status":"completed"}' ; request svc-5 terminal/release "\"terminalId\":$terminal" ;;
    *'"id":"svc-'*) id=$open ; open= ; chunk 'Served.' ; stop end_turn ;;
    *'"text":"serve me"'*) open=$id ; request svc-1 fs/write_text_file "\"path\":\"$PWD/made.txt\",\"content\":\"made\\n\"" ;;
    *'"text":"reach out"'*) open=$id ; request svc-9 fs/write_text_file "\"path\":\"$PWD/../out.txt\",\"content\":\"x\"" ;;
    *'"text":"form"'*)
        open=$id
        say '{"jsonrpc":"2.0","id":"ask-2","method":"elicitation/create","params":{"sessionId":"s-1","mode":"form","message":"Who are you?","requestedSchema":{"type":"object","properties":{"age":{"type":"integer","minimum":0},"name":{"type":"string","title":"Name"}},"required":["name"]}}}'
        ;;
    *'"text":"say"'*) chunk 'Hello, ' ; chunk 'world.' ; stop end_turn ;;
    *'"text":"late"'*) chunk 'In time' ; stop end_turn ; chunk ', and too late.' ;;
    *'"text":"refuse"'*) chunk 'No.' ; stop refusal ;;
    *'"text":"tokens"'*) chunk 'To be con' ; stop max_tokens ;;
    *'"text":"requests"'*) stop max_turn_requests ;;
    *'"text":"odd stop"'*) stop tired ;;
    *'"text":"no stop"'*) chunk 'Perhaps.' ; answer '{}' ;;
    *'"text":"null stop"'*) answer 'null' ;;
    *'"text":"null reason"'*) answer '{"stopReason":null}' ;;
    *'"text":"all at once"'*)
        burst=$(
            update '{"sessionUpdate":"tool_call","toolCallId":"t1","title":"Look","kind":"read","status":"in_progress"}'
            update '{"sessionUpdate":"plan","entries":[{"content":"Look","priority":"high","status":"in_progress"}]}'
            update '{"sessionUpdate":"tool_call_update","toolCallId":"t1","status":"completed"}'
        )
        say "$burst"
        stop end_turn
        ;;
    *'"text":"no diff"'*)
        update '{"sessionUpdate":"tool_call","toolCallId":"t1","title":"Edit","kind":"edit","status":"completed","locations":[{"path":"/w/a.txt","line":3},{"path":"/w/a.txt","line":9}]}'
        update '{"sessionUpdate":"tool_call","toolCallId":"t2","title":"Delete","kind":"delete","status":"completed","locations":[{"path":"/w/b.txt"}]}'
        update '{"sessionUpdate":"tool_call","toolCallId":"t3","title":"Move","kind":"move","status":"completed","locations":[{"path":"/w/c.txt"}]}'
        update '{"sessionUpdate":"tool_call","toolCallId":"t4","title":"Read","kind":"read","status":"completed","locations":[{"path":"/w/d.txt"}]}'
        update '{"sessionUpdate":"tool_call","toolCallId":"t5","title":"Edit","kind":"edit","status":"failed","locations":[{"path":"/w/e.txt"}]}'
        update '{"sessionUpdate":"tool_call","toolCallId":"t6","title":"Edit","kind":"edit","status":"completed","locations":[{"path":"/w"},{"path":"/w/f.txt"}],"content":[{"type":"diff","path":"/w/f.txt","oldText":null,"newText":"new\n"}]}'
        stop end_turn
        ;;
    *'"text":"fail"'*) fail -32603 'the model is \u001b[31mon fire' ;;
    *'"text":"fail why"'*) say "{\"jsonrpc\":\"2.0\",\"id\":$id,\"error\":{\"code\":-32603,\"message\":\"Internal error\",\"data\":{\"details\":\"no \u001b[31mquota\",\"left\":0}}}" ;;
    *'"text":"login"'*) fail -32000 'log in' ;;
    *'"text":"give up"'*) stop cancelled ;;
    *'"text":"die"'*)
        chunk 'About to'
        echo 'out of \033[31mmemory' >&2
        kill -9 $$
        ;;
    *'"text":"work"'*) open=$id ; chunk 'working\n' ;;
    *'"text":"stubborn"'*) chunk 'working\n' ; while :; do read -r line || sleep 1000 ; done ;;
    *'"text":"endless"'*) while :; do chunk 'and on '; done ;;
    # Like the one before, but it listens meanwhile.
    *'"text":"gush"'*)
        open=$id
        (while :; do chunk 'and on '; done) &
        pouring=$!
        ;;
    *'"text":"lines"'*) i=0 ; while [ $i -lt 60 ]; do i=$((i + 1)) ; chunk "line $i\\n\\n" ; done ; stop end_turn ;;
    *'"text":"wide"'*)
        update '{"sessionUpdate":"tool_call","toolCallId":"t1","title":"読む 茶壺.txt","kind":"read","status":"completed","locations":[{"path":"/w/茶壺.txt"}]}'
        chunk '漢字かな交じり|\n\n한국어|\n\n👩‍👩‍👧 🇯🇵 👍🏽 ❤️|\n\nabc\u202edef\u2069|\n\nשלום עולם|\n\ne\u0301|\n\n| 名前 | n |\n|---|---|\n| 茶 | 1 |\n'
        stop end_turn
        ;;
    *'"text":"turn"'*)
        update '{"sessionUpdate":"plan","entries":[{"content":"Look","priority":"high","status":"completed"},{"content":"Change","priority":"high","status":"in_progress"},{"content":"Check","priority":"low","status":"pending"}]}'
        thought 'It is the handle.'
        update '{"sessionUpdate":"tool_call","toolCallId":"t1","title":"Read src/pot.rs","kind":"read","status":"completed","locations":[{"path":"/w/src/pot.rs"}]}'
        update '{"sessionUpdate":"tool_call","toolCallId":"t2","title":"cargo test","kind":"execute","status":"completed","content":[{"type":"content","content":{"type":"text","text":"running 2 tests\n\ntest result: ok"}}]}'
        update '{"sessionUpdate":"tool_call","toolCallId":"t3","title":"Edit src/pot.rs","kind":"edit","status":"failed","content":[{"type":"diff","path":"/w/src/pot.rs","oldText":"let a = 1;\n","newText":"let a = 2;\n"}]}'
        chunk '## Done\n\nThe *handle* was `loose`:\n\n```rust\nfn pour() {}\n```\n\n- one\n- two\n'
        stop end_turn
        ;;
    *'"text":"think and edit"'*) open=$id ; thought 'It is the handle.' ; ask edit ;;
    *'"text":"mid-line and edit"'*) open=$id ; chunk 'I am going to' ; ask edit ;;
    *'"text":"edit"'*) open=$id ; ask edit ;;
    *'"text":"read"'*) open=$id ; ask read ;;
    *'"text":"glance"'*)
        open=$id
        say '{"jsonrpc":"2.0","id":"ask-1","method":"session/request_permission","params":{"sessionId":"s-1","toolCall":{"toolCallId":"t1","title":"Look","kind":"read","status":"pending"},"options":[{"optionId":"yes","name":"Allow","kind":"allow_once"},{"optionId":"no","name":"Reject","kind":"reject_once"}]}}'
        ;;
    *'"text":"both"'*) open=$id ; both=$(ask edit ; ask edit | sed 's/ask-1/ask-3/') ; say "$both" ;;
    *'"text":"nag"'*) open=$id ; nag=1 ; chunk 'working\n' ;;
    *'"text":"pour"'*)
        open=$id
        big=$(head -c 2000 /dev/zero | tr '\0' x)
        i=0
        while [ $i -lt 4000 ]; do chunk "$big" ; i=$((i + 1)) ; done
        ;;
    *'"text":"sentence"'*) open=$id ; chunk 'One moment, please wait.' ;;
    *'"text":"much"'*)
        big=$(head -c 1000000 /dev/zero | tr '\0' x)
        chunk "$big"
        stop end_turn
        ;;
    *'"text":"refuse much"'*)
        big=$(head -c 1000000 /dev/zero | tr '\0' x)
        chunk "$big"
        stop refusal
        ;;
    *'"text":"big"'*)
        open=$id
        big=$(head -c 1000000 /dev/zero | tr '\0' x)
        chunk "$big"
        ;;
    *'"text":"flood"'*)
        big=$(head -c 10485760 /dev/zero | tr '\0' x)
        update '{"sessionUpdate":"tool_call","toolCallId":"t1","title":"Print much","kind":"execute","status":"in_progress"}'
        update "{\"sessionUpdate\":\"tool_call_update\",\"toolCallId\":\"t1\",\"status\":\"completed\",\"content\":[{\"type\":\"content\",\"content\":{\"type\":\"text\",\"text\":\"first\\n$big\\nlast\"}}]}"
        chunk 'That was much.'
        stop end_turn
        ;;
    *'"text":"deceive"'*)
        odd='a\u001b[2J\u001b]52;c;eA==\u0007\u202etxt\u0085'
        thought "$odd"
        update "{\"sessionUpdate\":\"plan\",\"entries\":[{\"content\":\"$odd\",\"priority\":\"high\",\"status\":\"pending\"}]}"
        update "{\"sessionUpdate\":\"tool_call\",\"toolCallId\":\"t1\",\"title\":\"$odd\",\"kind\":\"execute\",\"status\":\"failed\",\"locations\":[{\"path\":\"/w/$odd\"}],\"content\":[{\"type\":\"content\",\"content\":{\"type\":\"text\",\"text\":\"$odd\"}},{\"type\":\"diff\",\"path\":\"/w/$odd\",\"oldText\":\"$odd\\n\",\"newText\":\"b\\n\"}]}"
        update "{\"sessionUpdate\":\"session_info_update\",\"title\":\"$odd\"}"
        chunk "$odd"
        stop "$odd"
        ;;
    *'"method":"session/prompt"'*) chunk 'Heard.' ; stop end_turn ;;
    *) ;;
    esac
done
