"""Answers the statements of `bench -dataset analytics` with a database that runs inside of this process.

Arguments: the engine (duckdb or chdb) and the directory of its tables. Each line of standard input is a request, each
line of standard output its answer, both objects of JSON:

    {"op": "load", "table": T, "columns": [{"name": N, "kind": K}], "file": NDJSON}   -> {"rows": N}
    {"op": "run", "sql": S}              -> {"wall_ns": N, "cpu_ns": N, "rows": N, "columns": [{"hash": N, ..}]}

A failure answers {"error": TEXT}. The first line is written without a request: {"engine": NAME, "version": V}.
"""

import datetime
import decimal
import json
import os
import sys
import time
import zlib

THREADS = 2
EPOCH = datetime.datetime(1970, 1, 1)


class DuckDB:
    TYPES = {"time": "BIGINT", "int": "BIGINT", "float": "DOUBLE", "text": "VARCHAR", "bool": "BOOLEAN"}

    def __init__(self, directory):
        import duckdb

        self.version = duckdb.__version__
        self.connection = duckdb.connect(os.path.join(directory, "tables.duckdb"))
        self.connection.execute(f"SET threads = {THREADS}")
        self.connection.execute("SET TimeZone = 'UTC'")
        self.connection.execute("SET enable_progress_bar = false")

    def load(self, table, columns, file):
        types = ", ".join(f"{c['name']}: '{self.TYPES[c['kind'].rstrip('?')]}'" for c in columns)
        times = ", ".join(f"make_timestamp({c['name']}) AS {c['name']}" for c in columns if c["kind"] == "time")
        self.connection.execute(
            f"CREATE OR REPLACE TABLE {table} AS SELECT * REPLACE ({times}) FROM "
            f"read_json('{file}', format = 'newline_delimited', columns = {{{types}}})")
        return self.connection.execute(f"SELECT count(*) FROM {table}").fetchall()[0][0]

    def run(self, sql):
        return self.connection.execute(sql).fetchall()

    def rows(self, answer):
        return answer


class ChDB:
    TYPES = {"time": "Int64", "int": "Int64", "float": "Float64", "text": "String", "bool": "Bool",
             "text?": "Nullable(String)", "float?": "Nullable(Float64)"}

    def __init__(self, directory):
        import chdb
        from chdb import session

        self.version = chdb.__version__
        self.session = session.Session(os.path.join(directory, "chdb"))
        self.session.query(f"SET max_threads = {THREADS}")
        got = self.session.query("SELECT getSetting('max_threads')", "TSV").bytes().strip()
        if int(got) != THREADS:
            raise RuntimeError(f"max_threads is {got}, want {THREADS}")

    def load(self, table, columns, file):
        read = ", ".join(f"{c['name']} {self.TYPES[c['kind']]}" for c in columns)
        kept = ", ".join(f"{c['name']} " + ("DateTime64(6, 'UTC')" if c["kind"] == "time" else self.TYPES[c["kind"]])
                         for c in columns)
        picked = ", ".join(f"fromUnixTimestamp64Micro({c['name']}, 'UTC')" if c["kind"] == "time" else c["name"]
                           for c in columns)
        self.session.query(f"DROP TABLE IF EXISTS {table}")
        self.session.query(f"CREATE TABLE {table} ({kept}) ENGINE = MergeTree ORDER BY ts")
        self.session.query(f"INSERT INTO {table} SELECT {picked} FROM file('{file}', 'JSONEachRow', '{read}')")
        self.session.query(f"OPTIMIZE TABLE {table} FINAL")
        return int(self.session.query(f"SELECT count() FROM {table}", "TSV").bytes())

    def run(self, sql):
        return self.session.query(sql, "JSONCompact")

    def rows(self, answer):
        answer = json.loads(answer.bytes())
        times = [c["type"].startswith("DateTime") for c in answer["meta"]]
        return [[datetime.datetime.fromisoformat(v) if t and v is not None else v for v, t in zip(row, times)]
                for row in answer["data"]]


def digest(rows):
    """For each column the number of NULLs, the sum of its numbers and a sum of hashes that no order changes."""
    columns = [{"nulls": 0, "sum": 0.0, "hash": 0} for _ in (rows[0] if rows else ())]
    for row in rows:
        for column, value in zip(columns, row):
            if value is None:
                column["nulls"] += 1
                continue
            if isinstance(value, datetime.datetime):
                value = (value.replace(tzinfo=None) - EPOCH) // datetime.timedelta(microseconds=1)
            elif isinstance(value, bool):
                value = int(value)
            elif isinstance(value, decimal.Decimal):
                value = float(value)
            if not isinstance(value, str):
                column["sum"] += float(value)
            column["hash"] = (column["hash"] + zlib.crc32(str(value).encode())) & 0xFFFFFFFFFFFF
    return columns


def answer(engine, request):
    if request["op"] == "load":
        return {"rows": engine.load(request["table"], request["columns"], request["file"])}
    wall, cpu = time.perf_counter_ns(), time.process_time_ns()
    result = engine.run(request["sql"])
    wall, cpu = time.perf_counter_ns() - wall, time.process_time_ns() - cpu
    rows = engine.rows(result)
    return {"wall_ns": wall, "cpu_ns": cpu, "rows": len(rows), "columns": digest(rows)}


def main():
    name, directory = sys.argv[1], sys.argv[2]
    out = os.fdopen(os.dup(1), "w")  # what engines print goes to standard error
    os.dup2(2, 1)
    try:
        engine = {"duckdb": DuckDB, "chdb": ChDB}[name](directory)
    except ImportError as e:
        print(json.dumps({"missing": str(e)}), file=out, flush=True)
        return
    print(json.dumps({"engine": name, "version": engine.version}), file=out, flush=True)
    for line in sys.stdin:
        try:
            reply = answer(engine, json.loads(line))
        except Exception as e:  # whatever an engine throws is the answer to one statement
            reply = {"error": f"{type(e).__name__}: {e}"[:1000]}
        print(json.dumps(reply), file=out, flush=True)


main()
