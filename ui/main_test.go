package ui

import (
	"testing"
	"time"

	"go.uber.org/goleak"
)

// TestMain fixes the zone in which times are shown.
func TestMain(m *testing.M) {
	time.Local = time.UTC
	goleak.VerifyTestMain(m,
		// teatest waits for an interrupt as long as the process lives.
		goleak.IgnoreTopFunction("github.com/charmbracelet/x/exp/teatest.NewTestModel.func2"))
}
