package uitest

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"time"
)

// ticks is the unit of times in /proc, in every Linux there is: USER_HZ.
const ticks = time.Second / 100

// Usage reads what the program has used so far.
func (t *Term) Usage() (Usage, error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", t.Pid()))
	if err != nil {
		return Usage{}, err
	}
	// The second field is the name, in parentheses, and may hold blanks.
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	const utime, stime, rss = 11, 12, 21 // counted from the third field
	if len(fields) <= rss {
		return Usage{}, fmt.Errorf("/proc/%d/stat: %d fields", t.Pid(), len(fields))
	}
	var n [3]int64
	for i, f := range []int{utime, stime, rss} {
		if n[i], err = strconv.ParseInt(string(fields[f]), 10, 64); err != nil {
			return Usage{}, err
		}
	}
	return Usage{CPU: time.Duration(n[0]+n[1]) * ticks, Resident: n[2] * int64(os.Getpagesize())}, nil
}
