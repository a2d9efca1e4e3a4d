\set n random(0, 99)
SELECT number FROM numbers WHERE number = :n;
