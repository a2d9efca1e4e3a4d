"""Reflects the tables of a server with SQLAlchemy and reads one with pandas."""
import os
import sys

import pandas
from sqlalchemy import MetaData, Table, create_engine, func, inspect, select, text
from sqlalchemy.ext.automap import automap_base

engine = create_engine("postgresql+%s://ann@%s/public" % (sys.argv[1], os.environ["PGADDR"]))
look = inspect(engine)
print("schemas", sorted(look.get_schema_names()))
print("tables", look.get_table_names(), look.get_table_names(schema="other"))
print("views", sorted(look.get_view_names()), look.get_view_definition("failed"))
for column in look.get_columns("logs"):
    print("column", column["name"], column["type"], column["nullable"], column["default"], column["comment"])
print("key", look.get_pk_constraint("logs")["name"], look.get_pk_constraint("logs")["constrained_columns"])
print("key of a view", look.get_pk_constraint("failed")["constrained_columns"])
print("key in append mode", look.get_pk_constraint("appended")["constrained_columns"])
for table in ("logs", "appended"):
    for index in look.get_indexes(table):
        print("index", index["name"], index["column_names"], index["unique"])
print("others", look.get_foreign_keys("logs"), look.get_unique_constraints("logs"), look.get_check_constraints("logs"))
print("comment", look.get_table_comment("logs")["text"], look.get_table_options("logs"), look.get_enums())
print("has", look.has_table("logs"), look.has_table("absent"), look.has_table("failed"), look.has_index("logs", "logs_pkey"))
logs = Table("logs", MetaData(), autoload_with=engine)
print("reflected", [c.name for c in logs.primary_key], logs.c.status.comment)
every = MetaData()
every.reflect(engine, views=True)
print("all", sorted(every.tables))
base = automap_base()
base.prepare(autoload_with=engine)
print("mapped", sorted(base.classes.keys()))
with engine.connect() as c:
    print("rows", c.execute(select(logs.c.host, func.count()).group_by(logs.c.host).order_by(logs.c.host)).all())
    print("exact", c.execute(select(logs.c.dec, logs.c.raw).where(logs.c.raw == b"\x00\xff")).all())
frame = pandas.read_sql(text("SELECT ts, status, took FROM logs ORDER BY ts"), engine)
print("frame", list(frame.status), list(frame.took), frame.ts.dt.tz is not None)
