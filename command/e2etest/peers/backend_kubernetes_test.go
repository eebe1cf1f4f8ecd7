package peers

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/tfdeps/tfdeps/command/e2etest/internal/harness"
	"github.com/tfdeps/tfdeps/internal/must"
)

// cluster stands for a Kubernetes API server: objects by their paths.
type cluster struct {
	*httptest.Server
	mu      sync.Mutex
	objects map[string]map[string]any
}

func newCluster(t *testing.T) *cluster {
	t.Helper()
	c := &cluster{objects: map[string]map[string]any{}}
	c.Server = httptest.NewServer(c)
	t.Cleanup(c.Close)
	return c
}

func (c *cluster) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	at := path.Clean(r.URL.Path)
	given := readObject(r)
	w.Header().Set("Content-Type", "application/json")
	if r.Method == http.MethodPost {
		at = path.Join(at, given["metadata"].(map[string]any)["name"].(string))
	}
	isCollection := path.Base(at) == "secrets" || path.Base(at) == "leases"
	switch known := c.objects[at]; {
	case r.Header.Get("Authorization") != "Bearer secret":
		status(w, http.StatusUnauthorized, "Unauthorized")
	case isCollection:
		items := []any{}
		for name, object := range c.objects {
			if path.Dir(name) == at {
				items = append(items, object)
			}
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"kind": "List", "apiVersion": "v1", "metadata": map[string]any{}, "items": items})
	case r.Method == http.MethodPost && known != nil:
		status(w, http.StatusConflict, "AlreadyExists")
	case r.Method == http.MethodPost, r.Method == http.MethodPut:
		given["metadata"].(map[string]any)["resourceVersion"] = "1"
		given["kind"], given["apiVersion"] = "Secret", "v1"
		if path.Base(path.Dir(at)) == "leases" {
			given["kind"], given["apiVersion"] = "Lease", "coordination.k8s.io/v1"
		}
		c.objects[at] = given
		_ = json.NewEncoder(w).Encode(given)
	case known == nil:
		status(w, http.StatusNotFound, "NotFound")
	default:
		_ = json.NewEncoder(w).Encode(known)
	}
}

// readObject reads what a request brings. Newer clients write leases as protobuf, and read answers
// in JSON as well.
func readObject(r *http.Request) (object map[string]any) {
	body, _ := io.ReadAll(r.Body)
	envelope, isProtobuf := bytes.CutPrefix(body, []byte("k8s\x00"))
	if !isProtobuf {
		_ = json.Unmarshal(body, &object)
		return object
	}
	lease := fieldsOf(fieldsOf(envelope).last(2))
	meta, spec := fieldsOf(lease.last(1)), fieldsOf(lease.last(2))
	written := map[string]any{"name": string(meta.last(1)), "namespace": string(meta.last(3)), "labels": meta.strings(11), "annotations": meta.strings(12)}
	object = map[string]any{"metadata": written, "spec": map[string]any{}}
	if holder := spec.last(1); holder != nil { // a lease without a holder isn't locked
		object["spec"] = map[string]any{"holderIdentity": string(holder)}
	}
	return object
}

// fields are those of a protobuf message that have a length, by their numbers.
type fields map[uint64][][]byte

func fieldsOf(message []byte) fields {
	found := fields{}
	for len(message) > 0 {
		tag, n := binary.Uvarint(message)
		if n <= 0 {
			break
		}
		value, m := binary.Uvarint(message[n:])
		if m <= 0 {
			break
		}
		if message = message[n+m:]; tag&7 != 2 { // a number
			continue
		}
		if value > uint64(len(message)) {
			break
		}
		found[tag>>3] = append(found[tag>>3], message[:value])
		message = message[value:]
	}
	return found
}

// last returns the field of a number, nil if there is none.
func (f fields) last(number uint64) []byte {
	if all := f[number]; len(all) > 0 {
		return all[len(all)-1]
	}
	return nil
}

// strings returns a field that is a map.
func (f fields) strings(number uint64) map[string]string {
	entries := map[string]string{}
	for _, entry := range f[number] {
		pair := fieldsOf(entry)
		entries[string(pair.last(1))] = string(pair.last(2))
	}
	return entries
}

func status(w http.ResponseWriter, code int, reason string) {
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(map[string]any{"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": reason, "message": reason, "code": code})
}

// content is the state in a secret, which is compressed there.
func (c *cluster) content(secret string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	object, err := json.Marshal(c.objects["/api/v1/namespaces/team/secrets/"+secret])
	if err != nil {
		return err.Error()
	}
	var kept struct{ Data struct{ TFState []byte } }
	if err := json.Unmarshal(object, &kept); err != nil {
		return err.Error()
	}
	reader, err := gzip.NewReader(bytes.NewReader(kept.Data.TFState))
	if err != nil {
		return err.Error()
	}
	state, _ := io.ReadAll(reader)
	return string(state)
}

// writeKubeconfig leads to a cluster.
func writeKubeconfig(t *testing.T, url string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "config")
	must.Write(t, file, `{"apiVersion": "v1", "kind": "Config", "current-context": "c",
"clusters": [{"name": "c", "cluster": {"server": "`+url+`"}}], "users": [{"name": "u", "user": {}}],
"contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}]}`)
	return file
}

// TestBackendKubernetes_RefusesCleanly: init refuses, as Terraform does, a block that says nothing about where the cluster is. It
// doesn't ask whether there is one, and records what it takes to ask, so that plan works with it. With -with, Terraform's own refusal
// is passed on.
func TestBackendKubernetes_RefusesCleanly(t *testing.T) {
	t.Parallel()
	peer, tfdeps := harness.LookTerraform(t), harness.Tfdeps(t)
	const block = `backend "kubernetes" { namespace = "team" }`
	given := []string{"-backend-config=secret_suffix=s", "-backend-config=token=secret"}
	dir, handed := backendDir(t, block), backendDir(t, block)
	env := harness.Env(t, "CHECKPOINT_DISABLE=1")
	fail := func(dir string, line ...string) string {
		end := harness.Exec(t, dir, env, line...)
		must.Equal(t, end.Code, 1, line)
		return end.Said()
	}
	const refusal = "Failed to initialize kubernetes configuration"
	must.Contain(t, fail(dir, append([]string{tfdeps, "init"}, given...)...), refusal)
	must.Refuse(os.Stat(filepath.Join(dir, ".terraform/terraform.tfstate")))(t, "tfdeps failed, and there is a record")
	c := newCluster(t)
	reaching := append(env, "KUBE_CONFIG_PATH="+writeKubeconfig(t, c.URL))
	harness.Run(t, dir, reaching, append([]string{tfdeps, "init"}, given...)...)
	harness.Run(t, dir, reaching, peer, "plan", "-input=false")

	said := fail(handed, append([]string{tfdeps, "init", "-input=false", "-no-color", "-with=terraform"}, given...)...)
	for _, want := range []string{refusal, "The backend isn't initialized", "Modules and providers are in place"} {
		must.Contain(t, strings.Join(strings.Fields(said), " "), want)
	}
	if strings.Contains(said, "secret ") || strings.Contains(said, "=secret") {
		t.Errorf("a secret is shown:\n%s", said)
	}
	must.Refuse(os.Stat(filepath.Join(handed, ".terraform/terraform.tfstate")))(t, "the real init failed, and there is a record")
}
