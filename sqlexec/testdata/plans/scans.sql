-- What a scan decides itself: times become its range, comparisons its filter, the rest stays with it as residual.
SELECT msg FROM logs WHERE ts >= '2024-01-01' AND ts < '2024-01-02' AND host = 'a';

SELECT msg FROM logs WHERE ts BETWEEN '2024-01-01' AND '2024-01-02';

SELECT msg FROM logs WHERE ts > '2024-01-02' AND ts < '2024-01-01';

SELECT msg FROM logs WHERE host = 'a' OR host = 'b';

SELECT msg FROM logs WHERE host IN ('b', 'a', 'b') AND app NOT IN ('x', 'y');

SELECT msg FROM logs WHERE host = 'a' OR status >= 500;

-- A choice among texts is a search for them.
SELECT msg FROM logs WHERE msg ~ 'timeout' AND msg !~ 'retry';

SELECT msg FROM logs WHERE msg LIKE '%x%' AND msg NOT LIKE 'y%';

SELECT msg FROM logs WHERE matches_term(msg, 'timeout') AND NOT starts_with(msg, 'get');

SELECT msg FROM logs WHERE lower(level) = 'error';

SELECT msg FROM logs WHERE ok AND level IS NOT NULL AND host IS NULL;

SELECT msg FROM logs WHERE NOT ok AND length(msg) > 10;
