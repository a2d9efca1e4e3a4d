CREATE TABLE IF NOT EXISTS "dashboard" (
  "definition" STRING NULL,
  "name" STRING NULL,
  "saved_at" TIMESTAMP(3) NOT NULL,
  TIME INDEX ("saved_at"),
  PRIMARY KEY ("name")
)

ENGINE=mito
WITH(
  ttl = 'forever'
);

CREATE TABLE IF NOT EXISTS "metric_exemplars" (
  "at" TIMESTAMP(3) NULL,
  "database" STRING NULL,
  "database_made" BIGINT NULL,
  "labels" STRING NULL,
  "metric" STRING NULL,
  "number" BIGINT NULL,
  "place" TIMESTAMP(3) NOT NULL,
  "series" STRING NULL,
  "table_id" BIGINT NULL,
  "value" DOUBLE NULL,
  TIME INDEX ("place")
)

ENGINE=mito
;

CREATE TABLE IF NOT EXISTS "metric_metadata" (
  "database" STRING NULL,
  "database_made" BIGINT NULL,
  "described_at" TIMESTAMP(3) NOT NULL,
  "help" STRING NULL,
  "metric" STRING NULL,
  "table_id" BIGINT NULL,
  "type" STRING NULL,
  "unit" STRING NULL,
  TIME INDEX ("described_at"),
  PRIMARY KEY ("database", "metric")
)

ENGINE=mito
;

CREATE TABLE IF NOT EXISTS "pipelines" (
  "name" STRING NULL,
  "schema" STRING NULL,
  "content_type" STRING NULL,
  "pipeline" STRING NULL,
  "created_at" TIMESTAMP(9) NOT NULL,
  TIME INDEX ("created_at"),
  PRIMARY KEY ("name", "schema", "content_type")
)

ENGINE=mito
WITH(
  ttl = 'forever'
);

CREATE TABLE IF NOT EXISTS "rejected" (
  "time" TIMESTAMP(9) NOT NULL,
  "entry" STRING NULL,
  "protocol" STRING NULL,
  "reason" STRING NULL,
  "table" STRING NULL,
  TIME INDEX ("time")
)

ENGINE=mito
WITH(
  append_mode = 'true',
  comment = 'entries that could not be stored, and whose senders cannot be told',
  ttl = '7days'
);

CREATE TABLE IF NOT EXISTS "rule_alerts" (
  "active_at" TIMESTAMP(3) NULL,
  "alert" STRING NULL,
  "annotations" STRING NULL,
  "at" TIMESTAMP(3) NOT NULL,
  "delivered" STRING NULL,
  "ended_at" TIMESTAMP(3) NULL,
  "file" STRING NULL,
  "fired_at" TIMESTAMP(3) NULL,
  "group" STRING NULL,
  "labels" STRING NULL,
  "rule" STRING NULL,
  "sent_at" TIMESTAMP(3) NULL,
  "value" DOUBLE NULL,
  "keep_since" TIMESTAMP(3) NULL,
  TIME INDEX ("at"),
  PRIMARY KEY ("alert")
)

ENGINE=mito
WITH(
  ttl = 'forever'
);

CREATE TABLE IF NOT EXISTS "rules" (
  "definition" STRING NULL,
  "name" STRING NULL,
  "saved_at" TIMESTAMP(3) NOT NULL,
  TIME INDEX ("saved_at"),
  PRIMARY KEY ("name")
)

ENGINE=mito
WITH(
  ttl = 'forever'
);

CREATE TABLE IF NOT EXISTS "slow_queries" (
  "client" STRING NULL,
  "cost" BIGINT UNSIGNED NULL,
  "db" STRING NULL,
  "error" STRING NULL,
  "is_promql" BOOLEAN NULL,
  "promql_end" TIMESTAMP(3) NULL,
  "promql_start" TIMESTAMP(3) NULL,
  "promql_step" BIGINT UNSIGNED NULL,
  "query" STRING NULL,
  "row_count" BIGINT UNSIGNED NULL,
  "threshold" BIGINT UNSIGNED NULL,
  "timestamp" TIMESTAMP(3) NOT NULL,
  "user_name" STRING NULL,
  TIME INDEX ("timestamp")
)

ENGINE=mito
WITH(
  append_mode = 'true',
  comment = 'statements that took slow_query.threshold or longer',
  ttl = '30days'
);

CREATE TABLE IF NOT EXISTS "views" (
  "columns" STRING NULL,
  "definition" STRING NULL,
  "ts" TIMESTAMP(3) NOT NULL,
  "view_name" STRING NULL,
  "view_schema" STRING NULL,
  TIME INDEX ("ts"),
  PRIMARY KEY ("view_schema", "view_name")
)

ENGINE=mito
;

