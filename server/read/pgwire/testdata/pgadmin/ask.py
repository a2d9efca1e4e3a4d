"""Asks pgAdmin, by the requests of its pages, to connect to a server, to show the tree of its objects, and to run a statement in its query tool.
Needs PGADMIN_TEST_PORT and PGADDR. Prints what does not hold and ends with 1 then."""
import http.cookiejar
import json
import os
import sys
import time
import urllib.error
import urllib.parse
import urllib.request

base, failed = "http://127.0.0.1:" + os.environ["PGADMIN_TEST_PORT"], 0
host, port = os.environ["PGADDR"].rsplit(":", 1)
jar = http.cookiejar.CookieJar()
opener, token = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(jar)), None


def call(method, path, body=None, form=None):
    data, headers = None, {"Accept": "application/json", "Referer": base + "/browser/"}
    if token:
        headers["X-pgA-CSRFToken"] = token
    if body is not None:
        data, headers["Content-Type"] = json.dumps(body).encode(), "application/json"
    if form is not None:
        data = urllib.parse.urlencode(form).encode()
    request = urllib.request.Request(base + path, method=method, data=data, headers=headers)
    try:
        with opener.open(request, timeout=120) as answer:
            text = answer.read().decode()
    except urllib.error.HTTPError as e:
        text = e.read().decode()
        return {"code": e.code, "text": text[:2000], "success": 0}
    try:
        return json.loads(text)
    except ValueError:
        return text


def holds(what, got, want):
    global failed
    if got == want:
        print("ok    ", what)
        return
    failed += 1
    print("FAILED", what, "\n   got", got, "\n  want", want)


page = call("GET", "/login")
token = page.split('csrfToken": "')[1].split('"')[0] if isinstance(page, str) and 'csrfToken": "' in page else None
call("POST", "/authenticate/login", form={"email": os.environ["PGADMIN_SETUP_EMAIL"], "password": os.environ["PGADMIN_SETUP_PASSWORD"],
     "internal_button": "Login", "csrf_token": token or ""})
made = call("POST", "/browser/server/obj/1/", {"name": "varve", "gid": 1, "host": host, "port": int(port), "db": "service", "username": "ann",
            "connect_now": False, "sslmode": "disable", "connection_params": [{"name": "sslmode", "keyword": "sslmode", "value": "disable"}]})
server = made["node"]["_id"] if "node" in made else sys.exit("the server is not added: %s" % made)
connected = call("POST", "/browser/server/connect/1/%s" % server, form={"password": "", "save_password": "false"})
holds("connect", (connected.get("success"), connected.get("data", {}).get("connected")), (1, True))


def nodes(kind, *path):
    answer = call("GET", "/browser/%s/nodes/1/%s/%s" % (kind, server, "".join("%s/" % p for p in path)))
    return {n["label"]: n["_id"] for n in answer["data"]} if isinstance(answer, dict) and answer.get("data") is not None else answer


databases = nodes("database")
holds("databases", list(databases), ["service"])
database = databases.get("service")
call("POST", "/browser/database/connect/1/%s/%s" % (server, database))
schemas = nodes("schema", database)
holds("schemas", sorted(schemas), ["other", "public", "service_private"])
public = schemas.get("public")
tables = nodes("table", database, public)
holds("tables", sorted(tables), ["appended", "logs"])
logs = tables.get("logs")
holds("views", sorted(nodes("view", database, public)), ["failed", "numbers"])
holds("columns", sorted(nodes("column", database, public, logs)),
      sorted(["ts", "host", "app", "status", "bytes", "took", "ok", "body", "raw", "d", "dec", "j"]))
holds("indexes", sorted(nodes("index", database, public, logs)), ["logs_app_inverted_idx", "logs_body_fulltext_idx", "logs_pkey"])
for kind in ("trigger", "rule", "foreign_key", "unique_constraint", "exclusion_constraint", "row_security_policy"):
    holds(kind, nodes(kind, database, public, logs), {})
for kind in ("function", "procedure", "sequence", "mview", "type", "domain", "collation", "aggregate", "operator", "foreign_table", "fts_parser",
             "fts_dictionary", "fts_template", "fts_configuration", "trigger_function", "synonym", "package"):
    if kind not in ("synonym", "package"):
        holds(kind, nodes(kind, database, public), {})
for kind in ("cast", "event_trigger", "extension", "foreign_data_wrapper", "language", "publication", "subscription"):
    holds(kind, nodes(kind, database), {})
holds("roles", list(nodes("role")), ["ann"])
holds("tablespaces", sorted(nodes("tablespace")), ["pg_default"])


def about(kind, *path):
    return call("GET", "/browser/%s/obj/1/%s/%s" % (kind, server, "/".join(str(p) for p in path)))


holds("properties of a database", about("database", database).get("name"), "service")
holds("properties of a schema", about("schema", database, public).get("name"), "public")
properties = about("table", database, public, logs)
holds("properties of a table", properties.get("name"), "logs")
holds("columns among them", [c.get("name") for c in properties.get("columns") or []], ["ts", "host", "app", "status", "bytes", "took", "ok", "body", "raw",
      "d", "dec", "j"])
for kind, name in (("index", "logs_app_inverted_idx"), ("column", "status"), ("view", "failed")):
    of = (database, public) if kind == "view" else (database, public, logs)
    got = about(kind, *of, nodes(kind, *of).get(name))
    holds("properties of a %s" % kind, got.get("name"), name)
    sql = call("GET", "/browser/%s/sql/1/%s/%s" % (kind, server, "/".join(str(p) for p in (*of, nodes(kind, *of).get(name)))))
    holds("SQL of a %s" % kind, isinstance(sql, str) and name in sql or sql, True)
sql = call("GET", "/browser/table/sql/1/%s/%s/%s/%s" % (server, database, public, logs))
holds("SQL of a table", isinstance(sql, str) and "CREATE TABLE" in sql or sql, True)
for page in ("/dashboard/dashboard_stats/%s?chart_names=session_stats,tps_stats,ti_stats,to_stats,bio_stats" % server,
             "/dashboard/activity/%s" % server, "/dashboard/locks/%s" % server, "/dashboard/prepared/%s" % server, "/dashboard/config/%s" % server,
             "/dashboard/dashboard_stats/%s/%s?chart_names=session_stats,tps_stats,ti_stats,to_stats,bio_stats" % (server, database)):
    answer = call("GET", page)
    holds(page.split("?")[0].rsplit("/", 1)[0], isinstance(answer, (list, dict)) and "errormsg" not in str(answer)[:200] and not (isinstance(answer, dict) and answer.get("success") == 0) or answer, True)

trans = 4711
begun = call("POST", "/sqleditor/initialize/sqleditor/%d/1/%s/%s" % (trans, server, database), {"user": "ann", "role": None, "dbname": "service"})
holds("query tool", begun.get("success"), 1)
started = call("POST", "/sqleditor/query_tool/start/%d" % trans, {"sql": "SELECT host, count(*) AS n FROM logs GROUP BY host ORDER BY host", "explain_plan": None})
holds("statement", started.get("success"), 1)
for _ in range(100):
    answer = call("GET", "/sqleditor/poll/%d" % trans)
    if not (isinstance(answer, dict) and answer.get("data", {}).get("status") == "Busy"):
        break
    time.sleep(0.1)
data = answer.get("data", {}) if isinstance(answer, dict) else {}
holds("rows", [list(r.values())[:2] if isinstance(r, dict) else r[:2] for r in data.get("result") or []] or answer, [["h1", "2"], ["h2", "1"]])
print("%d failed" % failed)
sys.exit(failed > 0)
