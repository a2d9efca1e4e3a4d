"""Asks a server by three drivers: texts, binary, cursors on the server, pipelines, COPY, errors."""
import asyncio
import datetime
import decimal
import os

import asyncpg
import psycopg
import psycopg2
import psycopg2.extras

host, port = os.environ["PGADDR"].rsplit(":", 1)
where = "host=%s port=%s user=ann dbname=public" % (host, port)
utc = datetime.timezone.utc
noon = datetime.datetime(2023, 11, 14, 12, tzinfo=utc)
values = "SELECT %s::int, %s::float8, %s::numeric, %s::bytea, %s::timestamptz, %s::date, %s::interval, %s::text, %s::bool"
given = (7, 0.5, decimal.Decimal("1.50"), b"\x00\xff", noon, noon.date(), datetime.timedelta(days=1, seconds=5), "it's", True)


def same(got):
    return [bytes(x) if isinstance(x, memoryview) else x for x in got] == list(given)


with psycopg2.connect(where) as c:
    with c.cursor(cursor_factory=psycopg2.extras.RealDictCursor) as rows:
        rows.execute("SELECT count(*), max(status), version() FROM logs")
        print("psycopg2 names", sorted(rows.fetchone()))
    with c.cursor() as rows:
        rows.execute(values, given)
        print("psycopg2 values", same(rows.fetchone()))
        rows.execute("SELECT host FROM logs WHERE host = ANY(%s) AND ts BETWEEN %s AND %s ORDER BY ts", (["h1"], noon, noon + datetime.timedelta(days=1)))
        print("psycopg2 lists", rows.fetchall())
        psycopg2.extras.execute_values(rows, "INSERT INTO other.u (ts, v) VALUES %s", [(noon, 1.5), (noon + datetime.timedelta(seconds=1), None)])
    with c.cursor("named") as rows:
        rows.itersize = 30
        rows.execute("SELECT number FROM numbers ORDER BY 1")
        print("psycopg2 cursor", sum(r[0] for r in rows))
    try:
        c.cursor().execute("SELECT x FROM logs")
    except psycopg2.errors.UndefinedColumn as e:
        print("psycopg2 error", e.pgcode)

for binary in (False, True):
    with psycopg.connect(where) as c:
        with c.cursor(binary=binary) as rows:
            print("psycopg values", binary, same(rows.execute(values, given).fetchone()))
            rows.execute("SELECT ts, host, status, took, ok, raw, d, dec, j, ARRAY[1, 2] AS parts FROM logs ORDER BY ts LIMIT 1")
            print("psycopg row", [str(x) for x in rows.fetchone()])
with psycopg.connect(where) as c:
    with c.cursor("named") as rows:
        rows.itersize = 30
        print("psycopg cursor", sum(r[0] for r in rows.execute("SELECT number FROM numbers")))
    with c.pipeline():
        cursors = [c.execute("SELECT %s::int + 1", [i]) for i in range(50)]
    print("psycopg pipeline", sum(r.fetchone()[0] for r in cursors))
    with c.cursor().copy("COPY other.u (ts, v) FROM STDIN (FORMAT BINARY)") as copy:
        copy.set_types(["timestamptz", "float8"])
        for i in range(100):
            copy.write_row((noon + datetime.timedelta(seconds=10 + i), float(i)))
    with c.cursor().copy("COPY (SELECT count(*), sum(v) FROM other.u) TO STDOUT") as copy:
        print("psycopg copy", b"".join(copy).strip())
    print("psycopg info", c.info.server_version, c.info.parameter_status("TimeZone"))


async def ask():
    c = await asyncpg.connect(host=host, port=int(port), user="ann", database="public")
    sql = values
    for i in range(len(given)):
        sql = sql.replace("%s", "$%d" % (i + 1), 1)
    print("asyncpg values", same(tuple(await c.fetchrow(sql, *given))))
    print("asyncpg lists", await c.fetchval("SELECT count(*) FROM logs WHERE host = ANY($1::text[])", ["h1"]))
    await c.executemany("INSERT INTO other.u VALUES ($1, $2)", [(noon + datetime.timedelta(hours=i), float(i)) for i in range(1, 5)])
    await c.copy_records_to_table("u", records=[(noon + datetime.timedelta(days=1), 1.0)], columns=["ts", "v"], schema_name="other")
    async with c.transaction():
        total = 0
        async for row in c.cursor("SELECT number FROM numbers", prefetch=7):
            total += row[0]
    print("asyncpg cursor", total, await c.fetchval("SELECT count(*) FROM other.u"))
    await c.close()


asyncio.run(ask())
