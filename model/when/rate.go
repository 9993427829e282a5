package when

import (
	"errors"
	"strconv"
	"strings"
)

var errRate = errors.New("expected a rate like 50/s, 300/m or 1000")

// ParseRate reads how many a second: "50/s", "300/m", "7200/h", or a bare number of them a second.
func ParseRate(s string) (perSecond float64, err error) {
	number, unit, _ := strings.Cut(strings.ReplaceAll(s, " ", ""), "/")
	per, known := map[string]float64{"": 1, "s": 1, "m": 60, "h": 3600}[unit]
	n, err := strconv.ParseFloat(strings.ReplaceAll(number, ",", ""), 64)
	if err != nil || !known || !(n > 0 && n <= 1e9) {
		return 0, errRate
	}
	return n / per, nil
}
