CREATE TABLE logs (ts TIMESTAMP(3) TIME INDEX, host STRING, app STRING INVERTED INDEX, status INT COMMENT 'http status', bytes BIGINT DEFAULT 0, took DOUBLE, ok BOOLEAN, body STRING FULLTEXT INDEX, raw VARBINARY, d DATE, dec DECIMAL(10,2), j JSON, PRIMARY KEY(host, app));
COMMENT ON TABLE logs IS 'access logs';
INSERT INTO logs (ts, host, app, status, bytes, took, ok, body, raw, d, dec, j) VALUES ('2023-11-14T22:13:20Z','h1','web',200,10,0.5,true,'hello world','\x00ff','2023-11-14',1.50,'{"a": 1}'),('2023-11-14T22:14:20Z','h2','web',500,20,1.5,false,'bad thing',null,null,null,null),('2023-11-14T22:15:20Z','h1','db',200,30,2.5,true,'ok',null,null,null,null);
CREATE TABLE appended (ts TIMESTAMP(3) TIME INDEX, host STRING PRIMARY KEY, v DOUBLE) WITH ('append_mode'='true');
CREATE VIEW failed AS SELECT ts, host, status FROM logs WHERE status >= 500;
CREATE DATABASE other;
CREATE TABLE other.u (ts TIMESTAMP(3) TIME INDEX, v DOUBLE);
