package queue

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

const (
	// calledQueues is how many queues one poll asks for their consumers; more take turns.
	calledQueues = 50
	// calledConsumers is how many heartbeats it asks for, and crewSize of how many
	// consumers of one queue.
	calledConsumers, crewSize = 150, 64
)

// crew is what a sampler remembers of a queue's consumers.
type crew struct {
	polled time.Time // when its queue was last polled
	at     time.Time // when its list was last asked for; zero: never
	denied bool      // the user may not read the list

	met    bool            // there has been a consumer
	ids    []string        // those in the list
	alive  map[string]bool // by id; of some the heartbeat was not asked for yet
	counts bool            // alive has all of them
}

// roll is one crew to be asked for in a poll: who is in the list, and for the
// heartbeats of those who were in it last time, so that one pipeline does.
type roll struct {
	queue *Queue
	crew  *crew
	ids   []string // the crew's, as they were when it was asked
	list  *redis.ScanCmd
	beats []*redis.SliceCmd
}

// callRoll gives every queue its crew, forgets those that are polled no more, and
// picks the queues to ask for their consumers.
func (s *Sampler) callRoll(qs []Queue) (crews []*crew, rolls []*roll) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.clock()
	crews = make([]*crew, len(qs))
	var manned, others []*roll
	for i := range qs {
		cr := s.crewOf(qs[i].ConsumersKey())
		cr.polled, crews[i] = now, cr
		r := &roll{queue: &qs[i], crew: cr, ids: cr.ids}
		switch {
		case cr.denied:
		case len(r.ids) > 0:
			manned = append(manned, r)
		default:
			others = append(others, r)
		}
	}
	maps.DeleteFunc(s.crews, func(_ string, cr *crew) bool { return now.Sub(cr.polled) > unpolledMemory })
	manned = longestUncalled(manned, calledQueues)
	heartbeats := 0
	for i, r := range manned {
		if heartbeats += len(r.ids); i > 0 && heartbeats > calledConsumers {
			manned = manned[:i]
			break
		}
	}
	return crews, append(manned, longestUncalled(others, calledQueues-len(manned))...)
}

func longestUncalled(rolls []*roll, n int) []*roll {
	slices.SortStableFunc(rolls, func(a, b *roll) int { return a.crew.at.Compare(b.crew.at) })
	return rolls[:min(n, len(rolls))]
}

// crewOf returns the crew by the key of its list, a new one at first.
func (s *Sampler) crewOf(key string) *crew {
	cr := s.crews[key]
	if cr == nil {
		cr = &crew{}
		s.crews[key] = cr
	}
	return cr
}

// queueRolls adds the questions to a pipeline.
func queueRolls(ctx context.Context, pipe redis.Pipeliner, rolls []*roll) {
	for _, r := range rolls {
		r.list = pipe.HScan(ctx, r.queue.ConsumersKey(), 0, "", crewSize)
		for _, id := range r.ids {
			r.beats = append(r.beats, pipe.HMGet(ctx, r.queue.ConsumerKey(id), heartbeatFields()[:2]...))
		}
	}
}

// read takes the answers into the crew; without one it stays as it was. now is the
// server's clock, at the sampler's.
func (r *roll) read(now, at time.Time) {
	cr := r.crew
	fields, more, err := r.list.Result()
	if err != nil && !isReply(err) {
		return
	}
	cr.at, cr.denied = at, redis.HasErrorPrefix(err, "NOPERM")
	cr.alive = make(map[string]bool, len(r.beats))
	for i, beat := range r.beats {
		if values, err := beat.Result(); err == nil {
			var info ConsumerInfo
			info.readBeat(values, now)
			cr.alive[r.ids[i]] = info.Alive
		}
	}
	cr.ids, cr.counts = nil, err == nil && more == 0
	for i := 0; i+1 < len(fields); i += 2 {
		if _, ours := parseConsumer(fields[i], fields[i+1]); !ours {
			continue
		}
		if len(cr.ids) == crewSize {
			cr.counts = false
			break
		}
		cr.ids = append(cr.ids, fields[i])
		if _, asked := cr.alive[fields[i]]; !asked {
			cr.counts = false
		}
	}
	maps.DeleteFunc(cr.alive, func(id string, _ bool) bool { return !slices.Contains(cr.ids, id) })
	cr.met = cr.met || len(cr.ids) > 0
}

// count returns how many consumers are alive, and how many are gone without a word.
func (cr *crew) count() (alive, gone Count) {
	if !cr.met {
		return Count{}, Count{}
	}
	alive.State, gone.State = AtLeast, AtLeast
	if cr.counts {
		alive.State, gone.State = Known, Known
	}
	for _, beats := range cr.alive {
		if beats {
			alive.N++
		} else {
			gone.N++
		}
	}
	return alive, gone
}

// deserted reports whether key is the backup list of a consumer that is gone.
func (cr *crew) deserted(q Queue, key string) bool {
	id, own := strings.CutPrefix(key, q.BackupKey(""))
	alive, asked := cr.alive[id]
	return own && asked && !alive
}
