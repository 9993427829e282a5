// Package handler makes queue.Handlers that have a message processed outside the
// calling program: by a command, by a web server, by a line in a log, by nobody. It knows
// these ways and what their answers mean for a message; it knows no Redis and no screen.
//
// [Exec] runs a command, [Post] sends a request, [Log] writes a line, [Simulate] behaves
// like a handler that is slow and fails, and [Mux] chooses a handler by a field of the
// payload. [Spec] describes any of the first four as data, for a form or a command line.
//
// Commands, servers and chosen handlers get the exact bytes of the payload. All handlers can
// be called from many goroutines at once. One that is interrupted by the end of its context
// returns an error that wraps the cause ([queue.ErrTimeLimit], [queue.ErrNotOurs],
// [queue.ErrAbandoned]). The errors hold text of others (standard error, replies, names):
// bounded, but not safe to print as it is.
package handler
