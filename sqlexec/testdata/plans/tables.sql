-- The tables that all queries of this directory read.
CREATE TABLE logs (ts TIMESTAMP TIME INDEX, host STRING, app STRING, msg STRING, level STRING, status INT, took DOUBLE, ok BOOLEAN, tags JSON, PRIMARY KEY (host, app)) WITH ('append_mode'='true');

CREATE TABLE hosts (ts TIMESTAMP TIME INDEX, host STRING, zone STRING, cores INT, PRIMARY KEY (host));

CREATE TABLE events (ts TIMESTAMP TIME INDEX, host STRING, kind STRING, n BIGINT, PRIMARY KEY (host));
