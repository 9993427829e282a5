// Package queue looks at, repairs, feeds and consumes the message queues that
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
//
// # Producing
//
// [Client.Enqueue] adds one message and [Client.EnqueueAll] many in one round trip;
// [Client.Schedule] and [Client.ScheduleAll] add delayed ones. A delayed message that is the earliest
// of its queue wakes the consumers that sleep until the next due time.
//
// # Consuming
//
// A [Consumer] takes messages in one of eight patterns and gives them to a [Handler]. What
// becomes of a message when something goes wrong depends on the pattern:
//
//	pattern                          process killed          handler failed (default)
//	ListPoll, ListBlock              what is in hand is lost  dead, or dropped without a dead place
//	ZsetRace, ZsetScript             what is in hand is lost  dead, or dropped without a dead place
//	Dispatch                         what is in hand is lost  put back up to 5 attempts, then dead
//	BackupList                       stays in backup          stays in backup
//	Pipeline, LockRetry with ready   recovered by another     put back up to 5 attempts, then dead
//
// The first five rows are at-most-once patterns: what is in hand is [Consumer.Batch] plus
// [Consumer.Concurrency] messages and what is on its way when a connection is cut. They exist since many programs
// work so, and a consumer can take their place. [Pattern.AtLeastOnce] tells the others: there
// a message leaves the backup list only when its handler has said that it is done, so none is
// lost, and one whose acknowledgement was cut off, whose consumer died, or that an operator re-drove
// while it was being handled may be handled twice. A handler must bear that.
//
// A graceful stop (the end of Run's context) finishes what handlers have begun and puts back what
// they have not, in every pattern. Due times are those of the server's clock; no message is taken early.
// Errors of the server end nothing: the consumer waits with growing pauses, and goes on.
package queue
