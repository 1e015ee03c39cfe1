# How often things are tried, and the seconds between.
connect() {
    tries=3
    pause=1
}

upload() {
    tries=10
    pause=5
}
