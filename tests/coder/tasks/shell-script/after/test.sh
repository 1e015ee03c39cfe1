check() {
    found=$(./slug "$1")
    [ "$found" = "$2" ] || { echo "slug '$1' is '$found', not '$2'"; failed=1; }
}
failed=0
check "Hello World" hello-world
check "Two  Spaces" two--spaces
check "*" "*"
exit $failed
