. ./util.sh
say hello
