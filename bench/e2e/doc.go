// Package e2e tests the built program from outside: it starts `varve serve`, speaks HTTP to it, kills it, and checks
// what is left on disk. It imports no product package.
//
//	go test ./bench/e2e                                  a few rounds of everything (what CI runs)
//	go test ./bench/e2e -run Kill -rounds 1000 -seed 7   the kill test for a release
//
// The tests post samples of real logs where ../shared/data lies beside the repository. Elsewhere they post generated
// logs, and say so.
package e2e
