package cli

import (
	"fmt"
	"runtime"

	"github.com/spf13/cobra"
)

func (r *run) version() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print redq's version",
		Args:  noArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintf(r.Stdout, "redq %s (%s %s/%s)\n", r.Version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
			return err
		},
	}
}
