package ui

import (
	"os"
	"testing"
	"time"
)

// TestMain fixes the zone in which times are shown.
func TestMain(m *testing.M) {
	time.Local = time.UTC
	os.Exit(m.Run())
}
