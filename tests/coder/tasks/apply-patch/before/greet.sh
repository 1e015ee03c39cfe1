greet() {
    echo hello
}
greet "$@"
