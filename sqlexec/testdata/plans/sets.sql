-- UNION ALL is flat; the other operations are joins with the rows of the other side.
SELECT host FROM logs UNION ALL SELECT host FROM hosts UNION ALL SELECT host FROM events;

SELECT host FROM logs UNION SELECT host FROM hosts;

SELECT host FROM logs INTERSECT SELECT host FROM hosts;

SELECT host FROM logs EXCEPT SELECT host FROM hosts;

SELECT host FROM logs INTERSECT ALL SELECT host FROM hosts;
