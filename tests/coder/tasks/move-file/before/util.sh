say() { printf "%s\n" "$1"; }
