// Package varve is the root of a database server for logs, metrics and traces. It holds no code: the program is
// cmd/varve, and the tests here keep the house in order (who may import whom, what may lie in the tree).
package varve
