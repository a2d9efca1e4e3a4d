#!/bin/sh
# make open-test: engines of others read open tables. It says which were missing; without any it fails.
cd "$(dirname "$0")/../../../../.."
dir="${VARVE_OPEN_CLIENTS:-${XDG_CACHE_HOME:-$HOME/.cache}/varve/open}"
server/read/iceberg/testdata/clients/install.sh "$dir" || { echo "PyIceberg and DuckDB are missing: they cannot be installed"; exit 1; }
echo "Spark, Trino and catalogs of others are missing: this test does not know them"
VARVE_NEED_OPEN_CLIENTS=1 VARVE_OPEN_CLIENTS="$dir" exec go test -v -count=1 -run '^TestOpenClients$' ./server/read/iceberg
