# Answers each line of its input with one line.
while read -r word; do
    case $word in
        ping) echo pnog ;;
        *) echo "unknown: $word" ;;
    esac
done
