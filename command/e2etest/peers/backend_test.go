package peers

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tfdeps/tfdeps/command/e2etest/internal/harness"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/providertest"
)

// privateBlock is an http backend that wants a user and a password, and privateGiven the rest of its configuration, with a secret.
func privateBlock(s *stateServer) string {
	return `backend "http" {
    lock_address   = "` + s.URL + `/private"
    unlock_address = "` + s.URL + `/private"
    username       = "u"
  }`
}

func privateGiven(s *stateServer) []string {
	return []string{"-backend-config=address=" + s.URL + "/private", "-backend-config=password=secret"}
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
			return `backend "local" { path = "` + filepath.ToSlash(path) + `" }`, nil, func() string { return harness.ReadText(t, path) }
		}},
		{"http", func(t *testing.T) (string, []string, func() string) {
			s := newStateServer(t)
			return privateBlock(s), privateGiven(s), func() string { return s.get("/private") }
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
		{"consul", func(t *testing.T) (string, []string, func() string) {
			s := newStateServer(t)
			return `backend "consul" {
    path   = "tf"
    scheme = "http"
    lock   = false
  }`, []string{"-backend-config=address=" + strings.TrimPrefix(s.URL, "http://"), "-backend-config=access_token=secret"}, func() string { return s.get("/v1/kv/tf") }
		}},
	} {
		t.Run(backend.name, func(t *testing.T) {
			t.Parallel()
			block, given, state := backend.start(t)
			dir, theirs := backendDir(t, block), backendDir(t, block)
			env := harness.Env(t, "CHECKPOINT_DISABLE=1")
			run := func(dir string, line ...string) string { return harness.Run(t, dir, env, line...) }

			run(dir, append([]string{tfdeps, "init"}, given...)...)
			record := recordOf(dir)
			run(theirs, append([]string{peer, "init", "-input=false"}, given...)...)
			must.Equal(t, record, recordOf(theirs))
			run(dir, peer, "plan", "-input=false", "-out=planned")
			run(dir, peer, "apply", "-input=false", "planned")
			must.Contain(t, state(), "hello from tfdeps")
			for _, line := range [][]string{{peer, "init", "-input=false"}, {tfdeps, "init"}} {
				must.NotContain(t, run(dir, line...), "Successfully configured", line)
			}
			must.Equal(t, recordOf(dir), record)
		})
	}
}

// TestInitWith_TerraformDoesTheBackend: with -with, terraform init initializes the backend with
// the providers that tfdeps installed, and providers that only the state requires are installed.
func TestInitWith_TerraformDoesTheBackend(t *testing.T) {
	t.Parallel()
	harness.LookTerraform(t)
	tfdeps := harness.Tfdeps(t)
	registry := harness.Start(t, providertest.NewRegistry, providertest.Options{})
	for _, name := range []string{"new", "old"} {
		registry.Add(providertest.PackageSpec{Namespace: "ns", Type: name, Version: "1.0.0", Protocols: []string{"5.0"}})
	}
	redirect := harness.Redirect(t, registry, "tf.example.com")
	k := newStateServer(t)
	k.put("/private", `{"version": 4, "terraform_version": "1.0.0", "serial": 1, "lineage": "x", "outputs": {}, "resources": [
		{"mode": "managed", "type": "old_thing", "name": "a", "provider": "provider[\"tf.example.com/ns/old\"]", "instances": []}]}`)
	dir := backendDir(t, privateBlock(k)+`
  required_providers {
    new = { source = "tf.example.com/ns/new" }
  }`)
	env := harness.Env(t, redirect...)
	out := harness.Run(t, dir, env, append([]string{tfdeps, "init", "-no-color", "-input=false", "-with=terraform"}, privateGiven(k)...)...)
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
	link := harness.LinkIn(t, bin, harness.Tfdeps(t), "terraform")
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
	return harness.WorkDir(t, strings.ReplaceAll(backendConfig, "BACKEND", block))
}

// TestBackendKubernetes_RefusesCleanly: init refuses, as Terraform does, a block that says nothing about where the cluster is. It
// doesn't ask whether there is one. With -with, Terraform's own refusal is passed on.
func TestBackendKubernetes_RefusesCleanly(t *testing.T) {
	t.Parallel()
	harness.LookTerraform(t)
	tfdeps := harness.Tfdeps(t)
	const block = `backend "kubernetes" { namespace = "team" }`
	given := []string{"-input=false", "-no-color", "-backend-config=secret_suffix=s", "-backend-config=token=secret"}
	dir, handed := backendDir(t, block), backendDir(t, block)
	env := harness.Env(t, "CHECKPOINT_DISABLE=1")
	fail := func(dir string, options ...string) string {
		end := harness.Exec(t, dir, env, slices.Concat([]string{tfdeps, "init"}, given, options)...)
		must.Equal(t, end.Code, 1, options)
		must.Equal(t, recordOf(dir), "", options)
		return end.Said()
	}
	const refusal = "Failed to initialize kubernetes configuration"
	must.Contain(t, fail(dir), refusal)
	config := filepath.Join(t.TempDir(), "config")
	must.Write(t, config, strings.ReplaceAll(kubeconfig, "URL", "https://127.0.0.1:1"))
	harness.Run(t, dir, append(env, "KUBE_CONFIG_PATH="+config), append([]string{tfdeps, "init"}, given...)...)

	said := fail(handed, "-with=terraform")
	for _, want := range []string{refusal, "The backend isn't initialized", "Modules and providers are in place"} {
		must.Contain(t, harness.OneLine(said), want)
	}
	if strings.Contains(said, "secret ") || strings.Contains(said, "=secret") {
		t.Errorf("a secret is shown:\n%s", said)
	}
}

// postgres is a database server on loopback.
type postgres struct{ url, psql string }

// startPostgres runs a server for the test. It refuses to run as root, who gives the directory to
// the user nobody.
func startPostgres(t *testing.T) postgres {
	t.Helper()
	initdb, server, psql := postgresProgram(t, "initdb"), postgresProgram(t, "postgres"), postgresProgram(t, "psql")
	dir, err := os.MkdirTemp("", "tfdeps-pg")
	must.Succeed(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	var as []string
	if os.Getuid() == 0 {
		setpriv, err := exec.LookPath("setpriv")
		if err != nil {
			t.Skip("PostgreSQL refuses to be run by root, and there is no setpriv")
		}
		as = []string{setpriv, "--reuid=nobody", "--regid=nogroup", "--clear-groups", "--"}
		if out, err := exec.Command("chown", "nobody", dir).CombinedOutput(); err != nil {
			t.Skipf("chown: %v\n%s", err, out)
		}
	}
	command := func(line ...string) *exec.Cmd {
		line = slices.Concat(as, line)
		cmd := exec.Command(line[0], line[1:]...)
		cmd.Dir = dir
		return cmd
	}
	data := filepath.Join(dir, "data")
	if out, err := command(initdb, "-D", data, "-U", "tf", "-A", "trust", "-N").CombinedOutput(); err != nil {
		t.Skipf("initdb doesn't work here: %v\n%s", err, out)
	}
	port := freePort(t)
	running := command(server, "-D", data, "-h", "127.0.0.1", "-p", fmt.Sprint(port), "-k", "", "-F")
	must.Succeed(t, running.Start())
	t.Cleanup(func() {
		_ = running.Process.Signal(os.Interrupt) // a fast shutdown; setpriv is the server by now
		_ = running.Wait()
	})
	p := postgres{fmt.Sprintf("postgres://tf@127.0.0.1:%d/postgres?sslmode=disable", port), psql}
	for range 600 { // half a minute
		if exec.Command(psql, p.url, "-c", "SELECT 1").Run() == nil {
			return p
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Fatal("the server doesn't answer")
	return p
}

func (p postgres) query(t *testing.T, text string) string {
	t.Helper()
	out, err := exec.Command(p.psql, p.url, "-At", "-c", text).Output()
	if err != nil {
		t.Fatalf("psql: %v%s", err, harness.StderrOf(err))
	}
	return string(out)
}

// postgresProgram finds a program on PATH, or where Debian has it.
func postgresProgram(t *testing.T, name string) string {
	t.Helper()
	if path, err := exec.LookPath(name); err == nil {
		return path
	}
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/" + name)
	if len(found) == 0 {
		t.Skipf("%s is not installed", name)
	}
	return found[len(found)-1]
}

func freePort(t *testing.T) int {
	t.Helper()
	listener := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer listener.Close()
	return listener.Addr().(*net.TCPAddr).Port
}
