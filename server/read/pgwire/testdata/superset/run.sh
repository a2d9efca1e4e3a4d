#!/usr/bin/env bash
# Adds a server to Apache Superset, asks what its pages ask, see ask.py, and opens charts in a browser, see look.go. Not part of .ci/run: Superset with its requirements is 800 MB and
# takes minutes to install. Needs python3 with venv, psql, go, chromium, and bin/varve (make superset-test builds it). Superset stays
# installed under the cache folder; everything else is removed at the end.
set -euo pipefail
cd "$(dirname "$0")"
here=$PWD root=$(cd ../../../../.. && pwd)
for program in python3 psql go chromium; do
	command -v "$program" >/dev/null || {
		echo "there is no $program: Superset is not asked" >&2
		exit 1
	}
done
venv="${XDG_CACHE_HOME:-$HOME/.cache}/varve/superset"
if [ "$(cat "$venv/versions" 2>/dev/null)" != "$(sha256sum <requirements.txt)" ]; then
	echo "installing Superset in $venv"
	rm -rf "$venv" && python3 -m venv "$venv" && "$venv/bin/pip" install -q --disable-pip-version-check -r requirements.txt
	sha256sum <requirements.txt >"$venv/versions"
fi
dir=$(mktemp -d)
pids=()
end() {
	for pid in "${pids[@]}"; do kill "$pid" 2>/dev/null && wait "$pid" 2>/dev/null || true; done
	rm -rf "$dir"
}
trap end EXIT

# free PORTS..: prints free ports of this machine.
read -r http pg port < <(python3 -c '
import socket
all = [socket.socket() for _ in range(3)]
for s in all: s.bind(("127.0.0.1", 0))
print(*(s.getsockname()[1] for s in all))')
export PGADDR=127.0.0.1:$pg SUPERSET_TEST_ADDR=127.0.0.1:$port SUPERSET_TEST_DIR=$dir SUPERSET_TEST_KEY=of-a-test-only-$$-$RANDOM$RANDOM
export SUPERSET_CONFIG_PATH=$here/superset_config.py FLASK_APP='superset.app:create_app()' PYTHONDONTWRITEBYTECODE=1

# until_answers SECONDS COMMAND..: repeats a command until it succeeds.
until_answers() {
	local end=$((SECONDS + $1))
	shift
	until "$@" >/dev/null 2>&1; do
		[ $SECONDS -lt $end ] || {
			echo "no answer: $*" >&2
			cat "$dir"/*.log >&2
			return 1
		}
		sleep 0.2
	done
}

"$root/bin/varve" serve --data-dir "$dir/data" --http-addr "127.0.0.1:$http" --pg-addr "$PGADDR" >"$dir/varve.log" 2>&1 &
pids+=($!)
ask() { psql -X -q -w -h 127.0.0.1 -p "$pg" -U ann -d public "$@"; }
until_answers 20 ask -c 'SELECT 1'
ask -v ON_ERROR_STOP=1 -f ../clients/tables.sql
echo "preparing Superset"
{
	"$venv/bin/superset" db upgrade
	"$venv/bin/superset" fab create-admin --username admin --password admin --firstname a --lastname b --email admin@example.com
	"$venv/bin/superset" init
} >"$dir/init.log" 2>&1 || {
	cat "$dir/init.log"
	exit 1
}
"$venv/bin/gunicorn" -w 1 -k gthread --threads 4 -t 120 -b "$SUPERSET_TEST_ADDR" 'superset.app:create_app()' >"$dir/superset.log" 2>&1 &
pids+=($!)
until_answers 120 python3 -c "import urllib.request; urllib.request.urlopen('http://$SUPERSET_TEST_ADDR/health')"
python3 ask.py
(cd "$root" && go run "$here/look.go" "http://$SUPERSET_TEST_ADDR" $(cat "$dir/charts"))
