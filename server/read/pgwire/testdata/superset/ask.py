"""Adds a server to Superset as a database, by Superset's API, and asks for what its pages ask for. Needs the addresses
SUPERSET_TEST_ADDR and PGADDR. Prints what does not hold and ends with 1 then."""
import json
import os
import sys
import urllib.error
import urllib.request

base, token, failed = "http://" + os.environ["SUPERSET_TEST_ADDR"], None, 0


def call(method, path, body=None):
    headers = {"Accept": "application/json"}
    if token:
        headers["Authorization"] = "Bearer " + token
    data = None
    if body is not None:
        data, headers["Content-Type"] = json.dumps(body).encode(), "application/json"
    request = urllib.request.Request(base + path, method=method, data=data, headers=headers)
    try:
        with urllib.request.urlopen(request, timeout=120) as answer:
            return json.loads(answer.read())
    except urllib.error.HTTPError as e:
        return {"error": e.code, "text": e.read().decode()[:1000]}


def holds(what, got, want):
    global failed
    if got == want:
        print("ok    ", what)
        return
    failed += 1
    print("FAILED", what, "\n   got", got, "\n  want", want)


token = call("POST", "/api/v1/security/login", {"username": "admin", "password": "admin", "provider": "db"})["access_token"]
uri = "postgresql+psycopg2://ann@%s/public" % os.environ["PGADDR"]
holds("test of the connection", call("POST", "/api/v1/database/test_connection/", {"sqlalchemy_uri": uri, "database_name": "varve"}), {"message": "OK"})
db = call("POST", "/api/v1/database/", {"sqlalchemy_uri": uri, "database_name": "varve", "expose_in_sqllab": True})["id"]
holds("schemas", sorted(call("GET", "/api/v1/database/%d/schemas/" % db)["result"]), ["information_schema", "other", "public", "service_private"])
tables = call("GET", "/api/v1/database/%d/tables/?q=(schema_name:public)" % db)["result"]
holds("tables", sorted((t["type"], t["value"]) for t in tables), [("table", "appended"), ("table", "logs"), ("view", "failed"), ("view", "numbers")])
about = call("GET", "/api/v1/database/%d/table_metadata/?name=logs&schema=public" % db)
holds("indexes", [i["name"] for i in about["indexes"] if i["type"] == "index"], ["logs_app_inverted_idx", "logs_body_fulltext_idx"])
table = call("POST", "/api/v1/dataset/", {"database": db, "schema": "public", "table_name": "logs"})["id"]
holds("columns are synced", call("PUT", "/api/v1/dataset/%d/refresh" % table), {"message": "OK"})
about = call("GET", "/api/v1/dataset/%d" % table)["result"]
holds("types", {c["column_name"]: c["type"] for c in about["columns"]}, {"ts": "TIMESTAMP WITH TIME ZONE", "host": "TEXT", "app": "TEXT",
      "status": "INTEGER", "bytes": "BIGINT", "took": "DOUBLE PRECISION", "ok": "BOOLEAN", "body": "TEXT", "raw": "BYTEA", "d": "DATE",
      "dec": "NUMERIC(10, 2)", "j": "JSON"})
holds("column of time", about["main_dttm_col"], "ts")


def query(**parts):
    whole = {"granularity": "ts", "time_range": "2023-11-01 : 2023-12-01", "columns": [], "metrics": ["count"], "orderby": [], "row_limit": 100,
             "filters": [], "extras": {}}
    whole.update(parts)
    return {"datasource": {"id": table, "type": "table"}, "queries": [whole], "result_format": "json", "result_type": "full"}


def rows(**parts):
    answer = call("POST", "/api/v1/chart/data", query(**parts))
    return answer["result"][0]["data"] if "result" in answer else answer


def times(grain):
    axis = {"timeGrain": grain, "columnType": "BASE_AXIS", "sqlExpression": "ts", "label": "ts", "expressionType": "SQL"}
    answer = rows(columns=[axis], extras={"time_grain_sqla": grain})
    return sorted((int(r["ts"]) // 1000, r["count"]) for r in answer) if isinstance(answer, list) else answer


first = 1700000000  # of three rows, a minute apart
for grain, want in {"PT1S": [(first + 60 * i, 1) for i in range(3)], "PT5S": [(first + 60 * i, 1) for i in range(3)],
                    "PT30S": [(first - 20 + 60 * i, 1) for i in range(3)], "PT1M": [(first - 20 + 60 * i, 1) for i in range(3)],
                    "PT5M": [(1699999800, 2), (1700000100, 1)], "PT10M": [(1699999800, 3)], "PT15M": [(1699999200, 2), (1700000100, 1)],
                    "PT30M": [(1699999200, 3)], "PT1H": [(1699999200, 3)], "P1D": [(1699920000, 3)], "P1W": [(1699833600, 3)],
                    "P1M": [(1698796800, 3)], "P3M": [(1696118400, 3)], "P1Y": [(1672531200, 3)]}.items():
    holds("time by " + grain, times(grain), want)
average = {"expressionType": "SIMPLE", "column": {"column_name": "took"}, "aggregate": "AVG", "label": "average"}
own = {"expressionType": "SQL", "sqlExpression": "percentile_cont(0.5) WITHIN GROUP (ORDER BY took)", "label": "median"}
holds("groups", rows(columns=["host"], metrics=["count", average, own], orderby=[["count", False]]),
      [{"host": "h1", "count": 2, "average": 1.5, "median": 1.5}, {"host": "h2", "count": 1, "average": 1.5, "median": 1.5}])
holds("filters", rows(columns=["host", "status"], metrics=[], filters=[{"col": "status", "op": ">=", "val": 200}, {"col": "host", "op": "IN", "val": ["h1", "h3"]},
      {"col": "body", "op": "ILIKE", "val": "%HELLO%"}, {"col": "ok", "op": "IS TRUE"}, {"col": "d", "op": "TEMPORAL_RANGE", "val": "2023-11-14 : 2023-11-15"}]),
      [{"host": "h1", "status": 200}])
holds("series limit", rows(columns=["host"], series_columns=["host"], series_limit=1, is_timeseries=True, extras={"time_grain_sqla": "PT1H"}),
      [{"__timestamp": 1699999200000.0, "host": "h1", "count": 2}])
holds("rows", [r["body"] for r in rows(columns=["ts", "body"], metrics=[], orderby=[["ts", False]])], ["ok", "bad thing", "hello world"])
chart = call("POST", "/api/v1/chart/", {"slice_name": "requests", "viz_type": "table", "datasource_id": table, "datasource_type": "table",
             "params": json.dumps({"datasource": "%d__table" % table, "viz_type": "table", "groupby": ["host"], "metrics": ["count"]}),
             "query_context": json.dumps(query(columns=["host"], orderby=[["count", False]]))})["id"]
holds("data of a chart", call("GET", "/api/v1/chart/%d/data/" % chart)["result"][0]["data"], [{"host": "h1", "count": 2}, {"host": "h2", "count": 1}])
total = call("POST", "/api/v1/chart/", {"slice_name": "all requests", "viz_type": "big_number_total", "datasource_id": table, "datasource_type": "table",
             "params": json.dumps({"datasource": "%d__table" % table, "viz_type": "big_number_total", "metric": average, "time_range": "No filter"})})["id"]
with open(os.environ["SUPERSET_TEST_DIR"] + "/charts", "w") as file:  # for look.go
    file.write("%d %d" % (chart, total))
holds("values of a filter", sorted(call("GET", "/api/v1/datasource/table/%d/column/host/values/" % table)["result"]), ["h1", "h2"])
for sql, want in {"SELECT host, count(*) FROM logs GROUP BY 1 ORDER BY 2 DESC": [{"host": "h1", "count": 2}, {"host": "h2", "count": 1}],
                  "WITH a AS (SELECT * FROM logs) SELECT max(status) FROM a": [{"max": 500}],
                  "SELECT date_trunc('hour', ts) AS h, count(*) AS c FROM public.logs GROUP BY 1": [{"h": "2023-11-14T22:00:00+00:00", "c": 3}]}.items():
    answer = call("POST", "/api/v1/sqllab/execute/", {"database_id": db, "sql": sql, "schema": "public", "runAsync": False, "queryLimit": 100})
    holds(sql, answer.get("data", answer), want)
virtual = call("POST", "/api/v1/dataset/", {"database": db, "schema": "public", "table_name": "hosts", "sql": "SELECT DISTINCT host FROM logs"})
holds("columns of a query", [c["column_name"] for c in virtual["data"]["columns"]], ["host"])
print("%d failed" % failed)
sys.exit(failed > 0)
