package sources

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/command/e2etest/internal/harness"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/providertest"
)

// TestMirror_CreatesRepositories publishes to a registry that has no repository, as ECR has only those that were
// created. The command that creates them is no line for a shell, and what it says when it fails is shown.
func TestMirror_CreatesRepositories(t *testing.T) {
	t.Parallel()
	harness.SkipIfShort(t)
	program, ca := harness.Tfdeps(t), harness.NewCA(t)
	created := t.TempDir()
	front := harness.Start(t, providertest.NewServer, providertest.ServerOptions{CA: ca, Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusNotFound)
		_, _ = w.Write([]byte(`{"errors": [{"code": "NAME_UNKNOWN", "message": "The repository does not exist in the registry"}]}`))
	})})
	registry := harness.Start(t, providertest.NewRegistry, providertest.Options{CA: ca})
	registry.Add(providertest.PackageSpec{Namespace: "acme", Type: "widget", Version: "1.0.0"})
	env := append(harness.Redirect(t, registry, "registry.terraform.io"), "HOME="+t.TempDir(), "CREATED="+created)
	dir := harness.WorkDir(t, requiring("acme/widget"))
	hook := filepath.Join(dir, "create.sh")
	must.Write(t, hook, "#!/bin/sh\n[ \"$#\" = 2 ] && [ \"$1\" = '$(>injected);' ] && [ \"$2\" = \"$OCI_REPOSITORY\" ] || exit 9\n"+
		"echo \"$OCI_REGISTRY\" >\"$CREATED/$(echo \"$2\" | tr / -)\"\n")
	must.Succeed(t, os.Chmod(hook, 0o755))
	host := strings.TrimPrefix(front.BaseURL(), "https://")
	harness.Run(t, dir, env, program, "init")
	for target, args := range map[string][]string{
		"providers-acme-widget": {"providers", "mirror", "-platform=" + expandNames("$PLATFORM"), "oci://" + host + "/providers/${namespace}/${type}"},
		"ci":                    {"cache", "push", "oci://" + host + "/ci"},
	} {
		options, location := args[:len(args)-1], args[len(args)-1]
		failing := func(options ...string) string {
			end := harness.Exec(t, dir, env, append(append([]string{program}, options...), "-no-color", location)...)
			if end.Code == 0 {
				t.Errorf("%q succeeded", options)
			}
			return harness.OneLine(end.Said())
		}
		must.Contain(t, failing(options...), "doesn't make repositories by itself")
		broken := filepath.Join(dir, "broken.sh")
		must.Write(t, broken, "#!/bin/sh\necho An error occurred: AccessDeniedException\nexit 254\n")
		must.Succeed(t, os.Chmod(broken, 0o755))
		if said := failing(append(options[:len(options):len(options)], "-create-repository="+broken)...); !strings.Contains(said, "exit status 254") || !strings.Contains(said, "AccessDeniedException") {
			t.Errorf("with a command that fails: %s", said)
		}
		failing(append(options[:len(options):len(options)], "-create-repository="+hook+" $(>injected);")...)
		must.Equal(t, strings.TrimSpace(harness.ReadText(t, filepath.Join(created, target))), host, target)
	}
	must.Refuse(os.Stat(filepath.Join(dir, "injected")))(t, "a shell has read the command")
}
