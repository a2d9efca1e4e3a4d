#!/usr/bin/env bash
# Has pgAdmin connect to a server, see ask.py. Not part of .ci/run: pgAdmin with its requirements takes minutes to install. Needs python3 with
# venv, psql, and bin/varve (make pgadmin-test builds it). pgAdmin stays installed under the cache folder; everything else is removed at the
# end. With RECORD=FILE the statements that it sends are appended to FILE, as record.py notes them.
set -euo pipefail
cd "$(dirname "$0")"
here=$PWD root=$(cd ../../../../.. && pwd)
for program in python3 psql; do
	command -v "$program" >/dev/null || {
		echo "there is no $program: pgAdmin is not asked" >&2
		exit 1
	}
done
venv="${XDG_CACHE_HOME:-$HOME/.cache}/varve/pgadmin"
if [ "$(cat "$venv/versions" 2>/dev/null)" != "$(sha256sum <requirements.txt)" ]; then
	echo "installing pgAdmin in $venv"
	rm -rf "$venv" && python3 -m venv "$venv" && "$venv/bin/pip" install -q --disable-pip-version-check -r requirements.txt
	sha256sum <requirements.txt >"$venv/versions"
fi
site=$("$venv/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/pgadmin4
cp config_local.py "$site/"
dir=$(mktemp -d)
pids=()
end() {
	for pid in "${pids[@]}"; do kill "$pid" 2>/dev/null && wait "$pid" 2>/dev/null || true; done
	rm -rf "$dir"
}
trap end EXIT

read -r http pg port record < <(python3 -c '
import socket
all = [socket.socket() for _ in range(4)]
for s in all: s.bind(("127.0.0.1", 0))
print(*(s.getsockname()[1] for s in all))')
export PGADDR=127.0.0.1:$pg PGADMIN_TEST_PORT=$port PGADMIN_TEST_DIR=$dir/pgadmin PYTHONDONTWRITEBYTECODE=1
export PGADMIN_SETUP_EMAIL=ann@example.com PGADMIN_SETUP_PASSWORD=of-a-test-only-$$-$RANDOM$RANDOM
mkdir "$PGADMIN_TEST_DIR"

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
"$venv/bin/python" "$site/pgAdmin4.py" >"$dir/pgadmin.log" 2>&1 &
pids+=($!)
until_answers 180 python3 -c "import urllib.request; urllib.request.urlopen('http://127.0.0.1:$port/misc/ping')"
if [ -n "${RECORD:-}" ]; then
	python3 record.py "$record" "$PGADDR" "$RECORD" &
	pids+=($!)
	export PGADDR=127.0.0.1:$record
	until_answers 20 python3 -c "import socket; socket.create_connection(('127.0.0.1', $record))"
fi
python3 ask.py || {
	grep -a "Error" "$dir/pgadmin.log" >&2
	exit 1
}
