#!/bin/sh
# Installs `ply` from a release: the program, shell completions and manual pages.
#
#   PREFIX=DIR           install below this directory [default: ~/.local]
#   PLY_VERSION=v1.2.3   install this version [default: the latest]
#   PLY_ARCHIVE=FILE     install from this archive instead of downloading one; FILE.sha256 must be beside it
#   PLY_RELEASES=URL     download from here; the copy of this script in a release knows its own address
set -eu

fail() {
    printf 'error: %s\n' "$1" >&2
    [ -z "${2:-}" ] || printf '  hint: %s\n' "$2" >&2
    exit 1
}

target() {
    case "$(uname -s)-$(uname -m)" in
        Linux-x86_64) echo x86_64-unknown-linux-musl ;;
        Linux-aarch64 | Linux-arm64) echo aarch64-unknown-linux-musl ;;
        *) fail "there is no build for $(uname -s) on $(uname -m)" "build it from source: cargo install --locked --path crates/ply-cli" ;;
    esac
}

download() {
    if command -v curl >/dev/null; then
        curl --proto '=https' --tlsv1.2 -fsSL --retry 3 -o "$2" "$1"
    elif command -v wget >/dev/null; then
        wget -q -O "$2" "$1"
    else
        fail "neither curl nor wget is installed" "install one, or set PLY_ARCHIVE to an archive you downloaded"
    fi
}

check() {
    expected=$(cut -d ' ' -f 1 <"$1.sha256")
    if command -v sha256sum >/dev/null; then
        found=$(sha256sum "$1" | cut -d ' ' -f 1)
    elif command -v shasum >/dev/null; then
        found=$(shasum -a 256 "$1" | cut -d ' ' -f 1)
    else
        fail "neither sha256sum nor shasum is installed" "install one; an unchecked download is not installed"
    fi
    [ "$expected" = "$found" ] || fail "wrong checksum: the archive has $found, expected $expected" "download it again"
}

main() {
    prefix=${PREFIX:-$HOME/.local}
    target=$(target)
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT INT TERM
    if [ -n "${PLY_ARCHIVE:-}" ]; then
        [ -f "$PLY_ARCHIVE" ] || fail "no such file: $PLY_ARCHIVE" "PLY_ARCHIVE names a downloaded ply-TARGET.tar.gz"
        [ -f "$PLY_ARCHIVE.sha256" ] || fail "no such file: $PLY_ARCHIVE.sha256" "download the checksum as well"
        cp "$PLY_ARCHIVE" "$work/ply.tar.gz"
        cp "$PLY_ARCHIVE.sha256" "$work/ply.tar.gz.sha256"
    else
        releases=${PLY_RELEASES:-}
        [ -n "$releases" ] || fail "no address to download from" "use the install.sh of a release, or set PLY_RELEASES"
        case "${PLY_VERSION:-}" in
            "") from=$releases/latest/download ;;
            *) from=$releases/download/$PLY_VERSION ;;
        esac
        download "$from/ply-$target.tar.gz" "$work/ply.tar.gz"
        download "$from/ply-$target.tar.gz.sha256" "$work/ply.tar.gz.sha256"
    fi
    check "$work/ply.tar.gz"
    tar -xzf "$work/ply.tar.gz" -C "$work"
    [ -x "$work/ply/ply" ] || fail "the archive contains no program" "download it again"
    mkdir -p "$prefix/bin" "$prefix/share/man/man1" "$prefix/share/bash-completion/completions" \
        "$prefix/share/zsh/site-functions" "$prefix/share/fish/vendor_completions.d"
    # Moved into place, so that a running program is not overwritten.
    cp "$work/ply/ply" "$prefix/bin/.ply.new"
    mv -f "$prefix/bin/.ply.new" "$prefix/bin/ply"
    "$prefix/bin/ply" man "$prefix/share/man/man1"
    "$prefix/bin/ply" completions bash >"$prefix/share/bash-completion/completions/ply"
    "$prefix/bin/ply" completions zsh >"$prefix/share/zsh/site-functions/_ply"
    "$prefix/bin/ply" completions fish >"$prefix/share/fish/vendor_completions.d/ply.fish"
    printf 'installed %s to %s\n' "$("$prefix/bin/ply" --version)" "$prefix/bin/ply"
    case ":$PATH:" in
        *":$prefix/bin:"*) ;;
        *) printf '  hint: add %s/bin to your PATH\n' "$prefix" ;;
    esac
}

main
