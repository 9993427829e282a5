//go:build race

package main_test

// buildFlags make the program look for races when the tests do.
func buildFlags() []string { return []string{"-race"} }
