package peers

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/tfdeps/tfdeps/command/e2etest/internal/harness"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/providertest"
)

// httpBackend is a backend of type http: it keeps one state, and one lock.
type httpBackend struct {
	*httptest.Server
	mu          sync.Mutex
	state, lock []byte
}

func newHTTPBackend(t *testing.T) *httpBackend {
	t.Helper()
	k := &httpBackend{}
	k.Server = httptest.NewServer(k)
	t.Cleanup(k.Close)
	return k
}

func (k *httpBackend) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	k.mu.Lock()
	defer k.mu.Unlock()
	body, _ := io.ReadAll(r.Body)
	switch user, password, _ := r.BasicAuth(); {
	case user != "u" || password != "secret":
		w.WriteHeader(http.StatusUnauthorized)
	case r.Method == "LOCK" && k.lock != nil:
		w.WriteHeader(http.StatusLocked)
		_, _ = w.Write(k.lock)
	case r.Method == "LOCK":
		k.lock = body
	case r.Method == "UNLOCK":
		k.lock = nil
	case r.Method == http.MethodPost:
		k.state = body
	case k.state == nil:
		w.WriteHeader(http.StatusNotFound)
	default:
		_, _ = w.Write(k.state)
	}
}

func (k *httpBackend) block() string {
	return `backend "http" {
    lock_address   = "` + k.URL + `"
    unlock_address = "` + k.URL + `"
    username       = "u"
  }`
}

// given is the rest of the configuration, with a secret.
func (k *httpBackend) given() []string {
	return []string{"-backend-config=address=" + k.URL, "-backend-config=password=secret"}
}

func (k *httpBackend) content() string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return string(k.state)
}

// TestBackend_TerraformPlansAndApplies: after tfdeps init, Terraform plans and applies; the state
// is where it should be, and terraform init finds nothing to do. What terraform init writes
// elsewhere by itself are the same bytes.
func TestBackend_TerraformPlansAndApplies(t *testing.T) {
	t.Parallel()
	peer, tfdeps := harness.LookTerraform(t), harness.Tfdeps(t)
	for _, backend := range []struct {
		name  string
		start func(t *testing.T) (block string, given []string, state func() string)
	}{
		{"local", func(t *testing.T) (string, []string, func() string) {
			path := filepath.Join(t.TempDir(), "state")
			return `backend "local" { path = "` + path + `" }`, nil, func() string { return harness.ReadText(t, path) }
		}},
		{"http", func(t *testing.T) (string, []string, func() string) {
			k := newHTTPBackend(t)
			return k.block(), k.given(), k.content
		}},
		{"pg", func(t *testing.T) (string, []string, func() string) {
			db := startPostgres(t)
			db.query(t, `CREATE SCHEMA mine`)
			return `backend "pg" {
    schema_name          = "mine"
    skip_schema_creation = true
    skip_table_creation  = false
    skip_index_creation  = false
  }`, []string{"-backend-config=conn_str=" + db.url}, func() string { return db.query(t, `SELECT data FROM mine.states WHERE name = 'default'`) }
		}},
		{"kubernetes", func(t *testing.T) (string, []string, func() string) {
			c := newCluster(t)
			return `backend "kubernetes" {
    secret_suffix = "s"
    namespace     = "team"
    labels        = { b = "1", a = "2" }
  }`, []string{"-backend-config=config_path=" + writeKubeconfig(t, c.URL), "-backend-config=token=secret"},
				func() string { return c.content("tfstate-default-s") }
		}},
	} {
		t.Run(backend.name, func(t *testing.T) {
			t.Parallel()
			block, given, state := backend.start(t)
			dir, theirs := backendDir(t, block), backendDir(t, block)
			env := harness.Env(t, "CHECKPOINT_DISABLE=1")
			run := func(dir string, line ...string) string { return harness.Run(t, dir, env, line...) }

			run(dir, append([]string{tfdeps, "init"}, given...)...)
			record := harness.ReadText(t, filepath.Join(dir, ".terraform/terraform.tfstate"))
			run(theirs, append([]string{peer, "init", "-input=false"}, given...)...)
			must.Equal(t, record, harness.ReadText(t, filepath.Join(theirs, ".terraform/terraform.tfstate")))
			run(dir, peer, "plan", "-input=false", "-out=planned")
			run(dir, peer, "apply", "-input=false", "planned")
			must.Contain(t, state(), "hello from tfdeps")
			for _, line := range [][]string{{peer, "init", "-input=false"}, {tfdeps, "init"}} {
				must.NotContain(t, run(dir, line...), "Successfully configured", line)
			}
			must.Equal(t, harness.ReadText(t, filepath.Join(dir, ".terraform/terraform.tfstate")), record)
		})
	}
}

// TestInitWith_TerraformDoesTheBackend: with -with, terraform init initializes the backend with
// the providers that tfdeps installed, and what only the state knows of is found and installed.
func TestInitWith_TerraformDoesTheBackend(t *testing.T) {
	t.Parallel()
	harness.LookTerraform(t)
	tfdeps := harness.Tfdeps(t)
	registry := harness.Start(t, providertest.NewRegistry, providertest.Options{})
	for _, name := range []string{"new", "old"} {
		registry.Add(providertest.PackageSpec{Namespace: "ns", Type: name, Version: "1.0.0", Protocols: []string{"5.0"}})
	}
	redirect := harness.Redirect(t, registry, "tf.example.com")
	k := newHTTPBackend(t)
	k.state = []byte(`{"version": 4, "terraform_version": "1.0.0", "serial": 1, "lineage": "x", "outputs": {}, "resources": [
		{"mode": "managed", "type": "old_thing", "name": "a", "provider": "provider[\"tf.example.com/ns/old\"]", "instances": []}]}`)
	dir := backendDir(t, k.block()+`
  required_providers {
    new = { source = "tf.example.com/ns/new" }
  }`)
	env := harness.Env(t, redirect...)
	out := harness.Run(t, dir, env, append([]string{tfdeps, "init", "-no-color", "-input=false", "-with=terraform"}, k.given()...)...)
	if !strings.Contains(out, `Successfully configured the backend "http"`) || strings.Contains(out, "secret") {
		t.Errorf("tfdeps says:\n%s", out)
	}
	for _, name := range []string{"new", "old"} {
		if _, err := os.Stat(filepath.Join(dir, ".terraform/providers/tf.example.com/ns", name, "1.0.0")); err != nil {
			t.Error(err)
		}
		must.Equal(t, registry.Requests("archive"), 2)
	}
}

// TestLink_MovesStateAsTerraform: called by a link with Terraform's name, init moves state as
// Terraform does, and all other commands are passed on to it.
func TestLink_MovesStateAsTerraform(t *testing.T) {
	t.Parallel()
	peer := harness.LookTerraform(t)
	bin := t.TempDir()
	link := filepath.Join(bin, "terraform")
	if err := must.Symlink(harness.Tfdeps(t), link); err != nil {
		t.Skipf("no links here: %v", err)
	}
	dir := backendDir(t, `backend "local" { path = "before" }`)
	env := harness.Env(t, "CHECKPOINT_DISABLE=1")
	env = append(env, "PATH="+bin, "TFDEPS_TERRAFORM_PATH="+peer)
	harness.Run(t, dir, env, link, "init", "-no-color", "-input=false", "-backend=true", "-get=true", "-upgrade=false")
	harness.Run(t, dir, env, link, "apply", "-input=false", "-auto-approve")
	must.Write(t, filepath.Join(dir, "main.tf"), strings.ReplaceAll(backendConfig, "BACKEND", `backend "local" { path = "after" }`))
	harness.Run(t, dir, env, link, "init", "-no-color", "-input=false", "-force-copy")
	must.Contain(t, harness.ReadText(t, filepath.Join(dir, "after")), "hello from tfdeps")
	must.Equal(t, harness.Run(t, dir, env, link, "output", "-raw", "greeting"), "hello from tfdeps")
	must.Equal(t, harness.Run(t, dir, env, link, "workspace", "show"), "default\n")
}

const backendConfig = `terraform {
  BACKEND
}

output "greeting" {
  value = "hello from tfdeps"
}
`

// backendDir makes a directory with a configuration that has a backend.
func backendDir(t *testing.T, block string) string {
	t.Helper()
	dir := harness.WorkDir(t, strings.ReplaceAll(backendConfig, "BACKEND", block))
	return dir
}
