// Package scene plays the classic faults of queues before somebody's eyes: on
// queues of its own it runs the programs that fail, and says what it counts meanwhile. It
// needs a server, and knows nothing of who watches.
package scene

import "context"

// Scene is one that can be played.
type Scene struct {
	Name    string // one word
	Title   string // a few words
	Explain string // one sentence: what will be seen

	play func(ctx context.Context, a *act) error
}

// Line is what an audience is told at a moment.
type Line struct {
	Scene string // the name of the scene; "" before the first
	Text  string // what is to be seen now, with the numbers that the scene has counted
	Done  bool   // the scene has come to its end
}

// Prefix is how the names of all keys begin that scenes make. Each play begins by
// deleting them all.
const Prefix = "scene:"

// scenes are all there are, in the order they are best looked at.
func scenes() []Scene {
	return []Scene{
		{"crash", "A crash", "Two consumers are killed with messages in hand: a plain list has lost them, a backup list still has them.", playCrash},
		{"poison", "Poison messages", "One message always fails, another kills its worker: each ends in dead after its last attempt.", playPoison},
		{"lock", "A lock conflict", "Somebody else holds a lock that three consumers need: one fails, one sleeps, one defers.", playLock},
		{"race", "A race", "Four workers race for the same due messages and waste takes; beside them one script takes without waste.", playRace},
		{"burst", "A burst", "Many messages are due at once: a consumer that polls is late, one that knows when they are due is not.", playBurst},
	}
}
