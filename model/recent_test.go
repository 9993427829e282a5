package model

import (
	"slices"
	"testing"
)

func TestRecentKeepsWhatMattersAndCountsTheRest(t *testing.T) {
	var r recent[int]
	for i := range 100 {
		r = r.with(i, i%10 != 0, 5)
	}
	if got, want := r.all(), []int{50, 60, 70, 80, 90, 95, 96, 97, 98, 99}; !slices.Equal(got, want) {
		t.Errorf("kept %v, want %v", got, want)
	}
	if r.dropped() != 90 || r.len() != 10 {
		t.Errorf("%d kept, %d dropped", r.len(), r.dropped())
	}
}

// What was taken out of it stays as it was, while it goes on.
func TestRecentDoesNotChangeWhatOthersHold(t *testing.T) {
	var r recent[int]
	for i := range 8 {
		r = r.with(i, false, 4)
	}
	held, all := r, r.all()
	for i := range 50 {
		r = r.with(100+i, false, 4)
	}
	if want := []int{4, 5, 6, 7}; !slices.Equal(all, want) || !slices.Equal(held.all(), want) {
		t.Errorf("it became %v and %v, want %v", all, held.all(), want)
	}
}
