#!/usr/bin/env bash
# Makes the release of the last commit: the wheel, the archive with program, manual pages, completions and licences, and
# their SHA-256 sums. The same commit, Rust and folder of crates give the same bytes. Needs Rust, git, GNU tar, and
# Python with pip and venv.
#
# usage: packaging/release.sh [--twice]     --twice: builds again in another folder and compares
#
# The files are in target/packaging/release.
set -euo pipefail
umask 022
cd "$(dirname "$0")/.."
about_version=0.9.3
glibc=2_28
work="$PWD/target/packaging"
tools="$work/tools"
target="$(uname -m)-unknown-linux-gnu"
version=$(sed -n '/^\[workspace.package\]/,/^\[/s/^version = "\(.*\)"/\1/p' Cargo.toml)
name="gpubench-$version-$target"
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
GPUBENCH_REVISION=$(git rev-parse --short HEAD)
export SOURCE_DATE_EPOCH GPUBENCH_REVISION

install_tools() {
    "$tools/bin/pip" --version >/dev/null 2>&1 || python3 -m venv --clear "$tools"
    "$tools/bin/pip" install --quiet --requirement packaging/tools.txt
    "$tools/bin/cargo-about" about --version 2>/dev/null | grep -qF "$about_version" ||
        cargo install cargo-about --quiet --locked --version "$about_version" --features cli --root "$tools"
    export PATH="$tools/bin:$PATH"
}

# Copies the commit into FOLDER/source, adds the licences of the crates, and builds the wheel in FOLDER/release.
build_wheel() {
    rm -rf "$1/source" "$1/release"
    mkdir -p "$1/source" "$1/release"
    # With the time of now: cargo would take an older file for one that it has built already.
    git archive HEAD | tar --extract --touch --directory "$1/source"
    cd "$1/source"
    cargo about generate --locked --fail --config packaging/about.toml --output-file LICENSE-THIRD-PARTY packaging/about.hbs
    # No path of this machine: neither those of the crates nor those of files that build scripts write.
    RUSTFLAGS="--remap-path-prefix=${CARGO_HOME:-$HOME/.cargo}/registry/src=/crates --remap-path-prefix=$1=/build" \
        maturin build --release --locked --zig --target "$target" --compatibility "manylinux_$glibc" \
        --target-dir "$1/build" --out "$1/release"
}

# Makes FOLDER/release/NAME.tar.gz around the program in the wheel.
pack_archive() {
    local content="$1/$name" program="$1/$name/gpubench" page
    rm -rf "$content" "$1/wheel"
    mkdir -p "$content/man/man1" "$content/completions"
    python3 -m zipfile -e "$1"/release/*.whl "$1/wheel"
    install -m 755 "$1"/wheel/*.data/scripts/gpubench "$program"
    install -m 644 -t "$content" "$1"/source/{README.md,CHANGELOG.md,LICENSE-*}
    "$program" man >"$content/man/man1/gpubench.1"
    for page in $(sed -n 's/^gpubench\\-\([a-z]*\)(1)$/\1/p' "$content/man/man1/gpubench.1"); do
        "$program" man "$page" >"$content/man/man1/gpubench-$page.1"
    done
    "$program" completions bash >"$content/completions/gpubench.bash"
    "$program" completions zsh >"$content/completions/_gpubench"
    "$program" completions fish >"$content/completions/gpubench.fish"
    tar --create --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner --format=ustar \
        --directory "$1" "$name" | gzip --no-name --best >"$1/release/$name.tar.gz"
}

make_release() {
    mkdir -p "$1"
    (build_wheel "$1")
    pack_archive "$1"
    (cd "$1/release" && sha256sum -- *.whl *.tar.gz >SHA256SUMS)
}

git diff --quiet HEAD || echo "release.sh: the release is of the last commit; changes after it are left out" >&2
install_tools
make_release "$work"
if [ "${1:-}" = --twice ]; then
    make_release "$work/again"
    diff "$work/release/SHA256SUMS" "$work/again/release/SHA256SUMS" ||
        { echo "release.sh: the second build differs from the first" >&2; exit 1; }
    echo "Both builds are equal."
fi
cat "$work/release/SHA256SUMS"
