-- The tables that all queries of this directory read.
CREATE TABLE logs (ts TIMESTAMP TIME INDEX, host STRING, app STRING, msg STRING, level STRING, status INT, took DOUBLE, ok BOOLEAN, tags JSON, PRIMARY KEY (host, app)) WITH ('append_mode'='true');

CREATE TABLE hosts (ts TIMESTAMP TIME INDEX, host STRING, zone STRING, cores INT, PRIMARY KEY (host));

CREATE TABLE events (ts TIMESTAMP TIME INDEX, host STRING, kind STRING, n BIGINT, PRIMARY KEY (host));

-- Those of the benchmarks.
CREATE TABLE access (ts TIMESTAMP TIME INDEX, service STRING, host STRING, level STRING, region STRING, method STRING, path STRING, status BIGINT, bytes BIGINT, latency_ms DOUBLE, client_ip STRING, user_id BIGINT, user_agent STRING, trace_id STRING, message STRING, PRIMARY KEY (service, host)) WITH ('append_mode'='true');

CREATE TABLE web (ts TIMESTAMP TIME INDEX, event_id BIGINT, user_id BIGINT, session_id STRING, host STRING, path STRING, title STRING, query STRING, referrer STRING, status BIGINT, bytes BIGINT, duration_ms DOUBLE, is_bot BOOLEAN, is_mobile BOOLEAN, country STRING, city STRING, browser STRING, os STRING, width BIGINT, client_ip BIGINT, props STRING) WITH ('append_mode'='true');

CREATE TABLE web_users (ts TIMESTAMP TIME INDEX, user_id BIGINT, bucket BIGINT, plan STRING, score DOUBLE, home STRING) WITH ('append_mode'='true');

CREATE TABLE web_hosts (ts TIMESTAMP TIME INDEX, host STRING, team STRING, tier BIGINT) WITH ('append_mode'='true');

CREATE TABLE web_releases (ts TIMESTAMP TIME INDEX, host STRING, build STRING) WITH ('append_mode'='true');
