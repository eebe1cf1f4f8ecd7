// Command upstream shows what a new version of Terraform or OpenTofu changes for tfdeps: which folders of its test
// configurations are new or differ between two versions. Given the newer program, it also runs get, providers and init of that
// program and of tfdeps in each folder, and prints where their exit codes differ.
//
//	go run ./testdata/upstream CHECKOUT v1.15.9 v1.16.0 [path/to/terraform path/to/tfdeps]
//
// CHECKOUT is a git repository of the product. docs/house/upstream.md says what to do with the output.
package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// perCommand is the timeout of a command, because some folders name hosts that don't exist.
const perCommand = 30 * time.Second

func main() {
	if n := len(os.Args); n != 4 && n != 6 {
		fmt.Fprintln(os.Stderr, "usage: upstream CHECKOUT FROM TO [PROGRAM TFDEPS]")
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Args[2], os.Args[3], os.Args[4:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(checkout, from, to string, programs []string) error {
	changed, err := git(checkout, "diff", "--name-only", "--diff-filter=d", from, to)
	if err != nil {
		return err
	}
	var folders []string
	for name := range strings.Lines(string(changed)) {
		name = strings.TrimSpace(name)
		isConfig := slices.Contains([]string{".tf", ".json", ".hcl", ".tfvars", ".tofu"}, path.Ext(name)) && !strings.HasPrefix(path.Base(name), "package")
		if strings.Contains(name, "/testdata/") && isConfig {
			folders = append(folders, path.Dir(name))
		}
	}
	folders = slices.Compact(slices.Sorted(slices.Values(folders)))
	for _, folder := range folders {
		said := ""
		if len(programs) > 0 {
			if said, err = compare(checkout, to, folder, programs); err != nil {
				return err
			}
		}
		fmt.Println(folder, said)
	}
	return nil
}

// compare runs both programs in copies of a folder, and returns how they differ.
func compare(checkout, to, folder string, programs []string) (differences string, err error) {
	for _, command := range []string{"get", "providers", "init"} {
		var codes [2]int
		var said [2]string
		for i, program := range programs {
			if codes[i], said[i], err = runIn(checkout, to, folder, program, command); err != nil {
				return "", err
			}
		}
		if codes[0] != codes[1] {
			differences += fmt.Sprintf("\n  %s: %d and %d\n    %s\n    %s", command, codes[0], codes[1], firstError(said[0]), firstError(said[1]))
		}
	}
	return differences, nil
}

// runIn runs a command in a copy of a folder.
func runIn(checkout, to, folder, program, command string) (code int, said string, err error) {
	dir, err := os.MkdirTemp("", "upstream-*")
	if err != nil {
		return 0, "", err
	}
	defer os.RemoveAll(dir)
	archive, err := git(checkout, "archive", to, folder)
	if err != nil {
		return 0, "", err
	}
	unpack := exec.Command("tar", "-x", "-C", dir)
	unpack.Stdin = bytes.NewReader(archive)
	if err := unpack.Run(); err != nil {
		return 0, "", err
	}
	if program, err = filepath.Abs(program); err != nil {
		return 0, "", err
	}
	ctx, cancel := context.WithTimeout(context.Background(), perCommand)
	defer cancel()
	args := []string{command, "-no-color"}
	if command == "init" {
		args = append(args, "-backend=false", "-input=false", "-plugin-dir="+dir)
	}
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir = filepath.Join(dir, filepath.FromSlash(folder))
	cmd.Env = append(os.Environ(), "CHECKPOINT_DISABLE=1", "TFDEPS_TERRAFORM_VERSION="+strings.TrimPrefix(to, "v"), "TFDEPS_TOFU_VERSION="+strings.TrimPrefix(to, "v"))
	out, _ := cmd.CombinedOutput() // only the exit code matters
	return cmd.ProcessState.ExitCode(), string(out), nil
}

// firstError returns the headline of the first error in a program's output.
func firstError(said string) string {
	_, after, _ := strings.Cut(said, "Error: ")
	line, _, _ := strings.Cut(after, "\n")
	return line
}

func git(checkout string, args ...string) ([]byte, error) {
	cmd := exec.Command("git", append([]string{"-C", checkout}, args...)...)
	cmd.Stderr = os.Stderr
	return cmd.Output()
}
