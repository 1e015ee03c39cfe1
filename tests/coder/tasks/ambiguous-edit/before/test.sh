. ./retry.sh
connect && [ "$tries" = 3 ] && [ "$pause" = 1 ] || exit 1
upload && [ "$tries" = 10 ] && [ "$pause" = 5 ] || exit 1
