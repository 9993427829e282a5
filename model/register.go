package model

import (
	"cmp"
	"maps"
	"slices"
	"sync"
)

// register numbers what runs behind the screen, from 1. The zero value has nothing. It is
// safe for concurrent use.
type register[T any] struct {
	mu   sync.Mutex
	last int // number of the one that came last
	all  map[int]T
}

func (r *register[T]) add(one T) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.all == nil {
		r.all = map[int]T{}
	}
	r.last++
	r.all[r.last] = one
	return r.last
}

func (r *register[T]) get(id int) (T, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	one, ok := r.all[id]
	return one, ok
}

// list returns the numbers of all, and who has them, in order.
func (r *register[T]) list() (ids []int, all []T) {
	r.mu.Lock()
	defer r.mu.Unlock()
	ids = slices.SortedFunc(maps.Keys(r.all), cmp.Compare[int])
	for _, id := range ids {
		all = append(all, r.all[id])
	}
	return ids, all
}

func (r *register[T]) drop(id int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.all, id)
}
