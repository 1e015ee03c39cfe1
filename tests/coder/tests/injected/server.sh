#!/bin/sh
# An MCP server of three answers: what it is, the list in the file $1, and the result in the file $2.
list=$(cat "$1")
result=$(cat "$2")
answer() {
    printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$1"
}
while IFS= read -r line; do
    id=${line#*\"id\":}
    id=${id%%[,\}]*}
    case $line in
    *'"method":"initialize"'*)
        answer '{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}'
        ;;
    *'"method":"tools/list"'*) answer "$list" ;;
    *'"method":"tools/call"'*) answer "$result" ;;
    *'"method":"ping"'*) answer '{}' ;;
    esac
done
