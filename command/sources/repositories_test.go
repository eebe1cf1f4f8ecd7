package sources

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tfdeps/tfdeps/command/cli"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/oci"
	"github.com/tfdeps/tfdeps/internal/peertest"
)

// TestCreateRepository_EndsWithItsCommand runs a command that leaves a process with open output, and one with much output.
func TestCreateRepository_EndsWithItsCommand(t *testing.T) {
	t.Parallel()
	if !peertest.RunsScripts() {
		t.Skip("the commands are scripts for a shell")
	}
	at := oci.Repository{Registry: "registry.example.com", Name: "providers/widget"}
	create := func(script string) error {
		t.Helper()
		path := filepath.Join(t.TempDir(), "create.sh")
		must.Write(t, path, script)
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second) // ends the test after a failure
		defer cancel()
		return CreateRepository(&cli.Meta{Context: t.Context(), Env: cli.Environment(os.Environ())}, "sh "+path)(ctx, at)
	}
	here, err := os.Getwd()
	must.Succeed(t, err)
	must.Succeed(t, create("test \"$(pwd -P)\" != '"+peertest.ScriptPath(here)+"'"), "it runs in the working directory")
	begun := time.Now()
	if err := create("sleep 30 & test \"$1 $OCI_REGISTRY\" = 'providers/widget registry.example.com'"); err != nil || time.Since(begun) > 20*time.Second {
		t.Errorf("with a process that goes on: %v, after %s", err, time.Since(begun))
	}
	err = create("for i in 1 2 3 4 5 6 7 8 9 10; do printf '%0200d' 7; done; echo AccessDenied; exit 3")
	if err == nil || !strings.HasSuffix(err.Error(), "7AccessDenied") || !strings.Contains(err.Error(), ": ...0") || len(err.Error()) > hookOutput+300 {
		t.Errorf("%v", err)
	}
}
