// Package e2e tests the built program from outside: it starts `varve serve`, speaks HTTP to it, kills it, and looks at
// what is left. It imports no product package.
//
//	go test ./bench/e2e                                  a few rounds of everything (what CI runs)
//	go test ./bench/e2e -run Kill -rounds 1000 -seed 7   the kill test for a release
//
// Samples of real logs are posted where ../shared/data lies beside the repository; elsewhere the generated ones stand
// for them, and the test says so.
package e2e
