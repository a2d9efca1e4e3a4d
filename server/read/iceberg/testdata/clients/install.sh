#!/bin/sh
# Installs the engines that read open tables into the directory of the first argument, once for each list of versions.
set -e
here=$(cd "$(dirname "$0")" && pwd)
versions=$(cat "$here/requirements.txt")
[ "$(cat "$1/versions" 2>/dev/null)" = "$versions" ] && exit 0
rm -rf "$1"
python3 -m venv "$1"
"$1/bin/pip" install -q --disable-pip-version-check -r "$here/requirements.txt"
echo "$versions" >"$1/versions"
