-- Options of a database: those that act live and those that new tables begin with

CREATE DATABASE dd WITH (ttl = '7d', append_mode = 'true', skip_wal = 'true');

CREATE TABLE dd.t (ts TIMESTAMP TIME INDEX, v INT);

CREATE TABLE dd.merged (ts TIMESTAMP TIME INDEX, v INT) WITH (merge_mode = 'last_non_null');

SELECT table_name, create_options FROM information_schema.tables WHERE table_schema = 'dd' ORDER BY table_name;

ALTER DATABASE dd SET 'append_mode' = 'false';

ALTER DATABASE dd UNSET 'skip_wal';

ALTER DATABASE dd SET 'ttl' = 'instant';

ALTER DATABASE dd SET 'ttl' = '1d', 'compaction.twcs.time_window' = '2h';

CREATE DATABASE bad WITH (append_mode = 'true', merge_mode = 'last_non_null');

DROP DATABASE dd;
