// Command manpages writes the manual pages of tfdeps, made from the help of its commands, into a directory:
//
//	go run ./testdata/manpages DIR
package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/tfdeps/tfdeps/command"
)

func main() {
	if err := write(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "Error:", err)
		os.Exit(1)
	}
}

func write(args []string) error {
	if len(args) != 1 {
		return errors.New("manpages needs a directory, and nothing else")
	}
	if err := os.MkdirAll(args[0], 0o755); err != nil {
		return err
	}
	for name, page := range command.ManPages() {
		if err := os.WriteFile(filepath.Join(args[0], name), []byte(page), 0o644); err != nil {
			return err
		}
	}
	return nil
}
