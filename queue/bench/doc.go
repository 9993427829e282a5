// Package bench runs redq's queue package side by side with what people use in its place:
// hibiken/asynq, adjust/rmq, Redis commands by hand, and redq's own scripts in a bare
// loop. It holds nothing but benchmarks, and is a module of its own so that what it
// compares with is no dependency of redq.
//
//	cd queue/bench && go test -bench . -benchtime 1x
//
// Every row works on the same real server, without persistence, with messages of about
// 100 bytes and handlers that do nothing; the ways of a table take turns, and medians are
// shown. Figures differ from machine to machine: "redq/this", which is taken within one
// turn, is what counts. Nothing here fails for being slow, only for being wrong.
package bench
