# Answers each line of its input with one line.
while read -r word; do
    case $word in
        ping) echo pong ;;
        *) echo "unknown: $word" ;;
    esac
done
