// Package queue looks at, repairs and feeds the message queues that
// applications keep in Redis lists and sorted sets.
//
// It knows Redis and nothing of a terminal: the dashboard, the command line and
// any other Go program use the same calls. A message is bytes; the exact bytes
// the server sent are the only ones ever sent back.
//
// Reading ([Sampler.Sample], [Client.Distribution], [Client.Peek]) costs the
// server constant or logarithmic work. Repairing ([Client.Redrive],
// [Client.Delete], [Client.Reschedule], …) is one atomic script a message,
// which finds that very message or answers that it has gone. A write is sent
// once: when its answer is lost the result is [Unknown], never a second copy.
package queue
