. ./lib/shell/words.sh
say hello
