"""Reads open tables by an engine: pyiceberg or duckdb. A line of the input asks for columns of a table, as JSON; the
answer is a line with the rows, each value as text, in order. Times are microseconds since 1970."""
import base64
import datetime
import json
import os
import sys

engine, url, user = sys.argv[1:]
token = base64.b64encode(user.encode()).decode()
EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)


def text(v):
    if v is None:
        return None
    if isinstance(v, datetime.datetime):
        return str((v - EPOCH) // datetime.timedelta(microseconds=1))
    if isinstance(v, bool):
        return str(v).lower()
    if isinstance(v, (dict, list)):
        return json.dumps(dict(v), sort_keys=True)
    return str(v)


def by_pyiceberg():
    from pyiceberg.catalog import load_catalog
    catalog = load_catalog("varve", type="rest", uri=url, token=token)

    def read(q):
        if not q["columns"]:
            return [[".".join(t)] for n in catalog.list_namespaces() for t in catalog.list_tables(n)]
        name = (q["db"], q["table"])
        if not catalog.table_exists(name):
            return None
        found = catalog.load_table(name)
        scan = found.scan(selected_fields=tuple(q["columns"]), row_filter=q.get("where") or "true")
        rows = scan.to_arrow().to_pydict()
        return [list(r) for r in zip(*(rows[c] for c in q["columns"]))]
    return read


def by_duckdb():
    import duckdb
    import duckdb_ext
    con = duckdb.connect()
    con.execute("SET extension_directory = ?", (os.path.join(list(duckdb_ext.__path__)[0], "extensions"),))
    con.execute("SET autoinstall_known_extensions = false")
    for name in ("avro", "httpfs", "iceberg"):
        con.execute("LOAD " + name)
    con.execute("SET TimeZone = 'UTC'")
    con.execute(f"CREATE SECRET s (TYPE iceberg, TOKEN '{token}')")
    asked = 0

    def read(q):
        nonlocal asked
        asked += 1
        at = f"c{asked}"
        con.execute(f"ATTACH 'w' AS {at} (TYPE iceberg, ENDPOINT '{url}', SECRET s)")
        try:
            if not q["columns"]:
                return con.execute("SELECT table_schema || '.' || table_name FROM information_schema.tables "
                                   "WHERE table_catalog = ?", (at,)).fetchall()
            from_ = f'FROM {at}."{q["db"]}"."{q["table"]}"'
            types = dict(con.execute(f"SELECT column_name, column_type FROM (DESCRIBE SELECT * {from_})").fetchall())
            list_ = ", ".join(f'epoch_us("{c}")' if types[c].startswith("TIMESTAMP") else f'"{c}"'
                              for c in q["columns"])
            return con.execute(f"SELECT {list_} {from_} WHERE {q.get('where') or 'true'}").fetchall()
        finally:
            con.execute(f"DETACH {at}")
    return read


read = {"pyiceberg": by_pyiceberg, "duckdb": by_duckdb}[engine]()
print("ready", flush=True)
for line in sys.stdin:
    rows = read(json.loads(line))
    print(json.dumps(rows and sorted([[text(v) for v in r] for r in rows], key=str)), flush=True)
