# How often things are tried, and how long apart.
connect() {
    tries=3
    pause=1
}

upload() {
    tries=3
    pause=5
}
