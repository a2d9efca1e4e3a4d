-- Addresses: sql.md 12.4.
SELECT ipv4_string_to_num('10.0.0.1') AS a, ipv4_string_to_num('255.255.255.255') AS b, ipv4_num_to_string(167772161) AS c, ipv4_num_to_string(0) AS d, ipv4_num_to_string(4294967296) AS e;
SELECT ipv4_to_cidr('192.168.1.0') AS a, ipv4_to_cidr('172.16') AS b, ipv4_to_cidr('192.168.1.1', 24) AS c, ipv4_to_cidr('10.0.0.1', 16) AS d, ipv4_to_cidr('192') AS e, ipv4_to_cidr('1.2.3.4') AS f, ipv4_to_cidr('1.2.3.4', 33) AS g, ipv4_to_cidr('300.1.1.1') AS h;
SELECT ipv4_in_range('192.168.1.5', '192.168.1.0/24') AS a, ipv4_in_range('192.168.2.1', '192.168.1.0/24') AS b, ipv4_in_range('10.0.0.1', '0.0.0.0/0') AS c, ipv4_in_range(NULL, '10.0.0.0/8') AS d;
SELECT ipv6_string_to_num('::1') AS a, ipv6_num_to_string('20010db8000000000000000000000001') AS b, ipv6_num_to_string(ipv6_string_to_num('2001:db8::ff00:42:8329')) AS c, ipv6_num_to_string('12') AS d;
SELECT ipv6_to_cidr('2001:db8::') AS a, ipv6_to_cidr('2001:db8::1', 48) AS b, ipv6_in_range('2001:db8::1', '2001:db8::/32') AS c, ipv6_in_range('2001:db9::1', '2001:db8::/32') AS d;
SELECT ipv4_string_to_num('x');
SELECT ipv4_in_range('1.2.3.4', '1.2.3.4');
SELECT ipv6_string_to_num('x');
SELECT ipv4_to_cidr();
-- The names of other systems.
SELECT inet_ntoa(3232235777) AS a, inet_aton('192.168.1.1') AS b, inet_ntoa(-1) AS c, inet_ntoa(NULL) AS d, inet_aton(inet_ntoa(4294967295)) AS e;
SELECT inet_aton('1.2.3');
