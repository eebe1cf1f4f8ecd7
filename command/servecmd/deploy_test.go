package servecmd

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/peertest"
	"github.com/tfdeps/tfdeps/internal/providertest"
	yaml "github.com/zclconf/go-cty-yaml"
	"github.com/zclconf/go-cty/cty"
)

const deployDir = "../../docs/fleet/"

func readDeployed(t *testing.T, name string) []byte {
	t.Helper()
	content := must.Get(os.ReadFile(deployDir + name))(t)
	return content
}

// find returns the values at a path of keys; "*" means all elements of a list or map.
func find(v cty.Value, path ...string) (found []cty.Value) {
	if len(path) == 0 {
		return []cty.Value{v}
	}
	if v.IsNull() || !v.CanIterateElements() {
		return nil
	}
	for it := v.ElementIterator(); it.Next(); {
		key, inner := it.Element()
		if path[0] == "*" || key.Type() == cty.String && key.AsString() == path[0] {
			found = append(found, find(inner, path[1:]...)...)
		}
	}
	return found
}

func texts(values []cty.Value) (all []string) {
	for _, v := range values {
		all = append(all, v.AsString())
	}
	return all
}

// yamlOf reads all documents of a file as one list.
func yamlOf(t *testing.T, name string) cty.Value {
	t.Helper()
	var all []cty.Value
	for _, document := range bytes.Split(readDeployed(t, name), []byte("\n---\n")) {
		typ := must.Get(yaml.ImpliedType(document))(t, name)
		v := must.Get(yaml.Unmarshal(document, typ))(t, name)
		all = append(all, v)
	}
	return cty.TupleVal(all)
}

// checkServeArguments checks that the arguments are valid options of serve, with a bucket or directory.
func checkServeArguments(t *testing.T, name string, args []string) {
	t.Helper()
	must.Len(t, must.Get(new(options).flags().Parse(args))(t).Operands, 1, name, args)
}

// TestDeployment_FilesAreRight checks the files of docs/fleet: their options exist, and installed programs accept the files.
func TestDeployment_FilesAreRight(t *testing.T) {
	services := yamlOf(t, "compose.yaml")
	checkServeArguments(t, "compose.yaml", texts(find(services, "*", "services", "serve", "command", "*")))
	for name, pattern := range map[string]string{"Dockerfile": `ENTRYPOINT \["/tfdeps", (.*)\]`, "tfdeps-serve.service": `ExecStart=/usr/local/bin/tfdeps (serve .*)`} {
		line := regexp.MustCompile(pattern).FindStringSubmatch(string(readDeployed(t, name)))
		if line == nil {
			t.Errorf("%s starts no server", name)
			continue
		}
		args := strings.Fields(strings.NewReplacer(`"`, "", ",", "").Replace(line[1]))
		if name == "Dockerfile" {
			args = append(args, "directory")
		}
		checkServeArguments(t, name, args[1:])
	}
	t.Run("versitygw", func(t *testing.T) {
		program := peertest.LookProgram(t, "versitygw")
		args := texts(find(yamlOf(t, "compose.yaml"), "*", "services", "store", "command", "*"))
		if out, err := exec.CommandContext(t.Context(), program, append(args[:len(args)-1], "--help")...).CombinedOutput(); err != nil || bytes.Contains(out, []byte("Incorrect Usage")) {
			t.Errorf("%q: %v: %.500s", args, err, out)
		}
	})
	t.Run("systemd", func(t *testing.T) {
		program := peertest.LookProgram(t, "systemd-analyze")
		dir, self := t.TempDir(), os.Args[0]
		for _, name := range []string{"tfdeps-serve.socket", "tfdeps-serve.service"} {
			content := bytes.ReplaceAll(readDeployed(t, name), []byte("/usr/local/bin/tfdeps"), []byte(self))
			must.Write(t, filepath.Join(dir, name), content)
		}
		out, err := exec.CommandContext(t.Context(), program, "verify", filepath.Join(dir, "tfdeps-serve.service"), filepath.Join(dir, "tfdeps-serve.socket")).CombinedOutput()
		if err != nil || bytes.Contains(out, []byte("tfdeps-serve")) {
			t.Errorf("%v: %s", err, out)
		}
	})
	t.Run("nginx", func(t *testing.T) {
		program := peertest.LookProgram(t, "nginx", "/usr/sbin/nginx", "/usr/local/sbin/nginx")
		dir, ca := t.TempDir(), providertest.NewCA()
		cert, key, err := ca.ServerPEM()
		must.Succeed(t, err)
		server := strings.NewReplacer("/etc/nginx", peertest.ScriptPath(dir), "serve:8080", "127.0.0.1:8080").Replace(string(readDeployed(t, "nginx.conf")))
		config := "pid " + peertest.ScriptPath(dir) + "/pid;\nerror_log stderr;\nevents {}\nhttp {\naccess_log off;\n" + server + "}\n"
		must.WriteAll(t, dir, map[string][]byte{"nginx.conf": []byte(config), "cert.pem": cert, "key.pem": key})
		out, err := exec.CommandContext(t.Context(), program, "-t", "-c", filepath.Join(dir, "nginx.conf")).CombinedOutput()
		must.Succeed(t, err, string(out))
	})
	t.Run("Caddy", func(t *testing.T) {
		program := peertest.LookProgram(t, "caddy")
		cmd := exec.CommandContext(t.Context(), program, "validate", "--adapter", "caddyfile", "--config", deployDir+"Caddyfile")
		cmd.Env = append(os.Environ(), "HOME="+t.TempDir())
		out, err := cmd.CombinedOutput()
		must.Succeed(t, err, string(out))
	})
}

// TestDeployment_PageNamesOptionsThatExist: each option in the page's part about the server is one of serve, of serve gc, or another
// command's that is named here.
func TestDeployment_PageNamesOptionsThatExist(t *testing.T) {
	page := must.Get(os.ReadFile("../../docs/fleet.md"))(t)
	_, text, _ := strings.Cut(string(page), "## Start\n")
	text, _, _ = strings.Cut(text, "\n## For one command\n")
	known := []string{"mirror-fallback", "run"}
	for _, f := range append(new(options).flags(), new(collectOptions).gcFlags()...) {
		known = append(known, f.Name)
	}
	named := namesIn("[` ]-([a-z][a-z-]+)", text)
	for _, name := range named {
		if !slices.Contains(known, name) {
			t.Errorf("docs/fleet.md names -%s, which isn't an option", name)
		}
	}
	if len(named) < 20 {
		t.Errorf("docs/fleet.md names %q", named)
	}
}
