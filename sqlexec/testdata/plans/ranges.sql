-- A range query repeats rows for their slots, groups by slot, and fills slots up where it is asked to.
SELECT ts, host, avg(took) RANGE '10m' FROM logs WHERE status = 500 ALIGN '5m' BY (host);

SELECT ts, host, avg(took) RANGE '10m', max(took) RANGE '5m' FROM logs ALIGN '5m' BY (host) FILL LINEAR;

SELECT ts, count(*) RANGE '1h' FILL 0 FROM logs ALIGN '1h' TO '2024-01-01' BY ();
