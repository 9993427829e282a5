//go:build !race

package main_test

func buildFlags() []string { return nil }
