package sst

// Parts of the tests are small: what only large ones have begins with them.
func init() { leastIndexed, fewKeys = 3, 2 }
