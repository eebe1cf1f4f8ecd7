package peers

import (
	"encoding/json"
	"flag"
	"fmt"
	"hash/crc32"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/tfdeps/tfdeps/command/e2etest/internal/harness"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/peertest"
)

// TestBackend_LeavesNoStateBehind changes each setting of the backend to each other one, with each option that says what
// becomes of state, and with state in several workspaces. The real program does the same in a directory of its own.
//
//   - Where tfdeps succeeds, plan finds the states that it finds after the real program; where that one refuses, those that it found before.
//   - Where tfdeps refuses, no file has changed, and the real program didn't just record the new backend.
//
// A fixed sample of the cases runs: see [inSample].
func TestBackend_LeavesNoStateBehind(t *testing.T) {
	t.Parallel()
	eachProduct(t, func(t *testing.T, programs [2]string, env func(...string) []string) {
		places := env()
		for _, before := range stateSettings {
			if len(before.given) > 0 {
				continue // a record doesn't have the origin of its values
			}
			t.Run("from "+before.name, func(t *testing.T) {
				t.Parallel()
				newStatePlaces(t, before, programs, places).compareAll(t)
			})
		}
	})
}

// eachProduct runs a test with tfdeps, set to a product, and the real program of the product.
func eachProduct(t *testing.T, run func(t *testing.T, programs [2]string, env func(...string) []string)) {
	for name, look := range map[string]func(testing.TB) string{"terraform": harness.LookTerraform, "tofu": harness.LookTofu} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			peer := look(t)
			fresh := map[string]func(testing.TB, ...string) []string{"terraform": harness.PinnedEnv, "tofu": harness.Env}[name]
			run(t, [2]string{harness.LinkTo(t, harness.Tfdeps(t), "tfdeps"), peer}, func(more ...string) []string {
				return fresh(t, append(more, "CHECKPOINT_DISABLE=1", "TFDEPS_PRODUCT="+name)...)
			})
		})
	}
}

// stateSetting is a configuration of a backend. DIR is the directory, and STATE the address of the state.
type stateSetting struct {
	name, block string
	given       []string
}

var stateSettings = []stateSetting{
	{name: "none"},
	{name: "local", block: `backend "local" {}`},
	{name: "path", block: `backend "local" { path = "a/one" }`},
	{name: "dir", block: `backend "local" { workspace_dir = "states" }`},
	{name: "both", block: "backend \"local\" {\n path = \"b/one\"\n workspace_dir = \"b/others\"\n}"},
	{name: "the usual ones, absolute", block: "backend \"local\" {\n path = \"DIR/terraform.tfstate\"\n workspace_dir = \"DIR/./terraform.tfstate.d\"\n}"},
	{name: "others, absolute", block: "backend \"local\" {\n path = \"DIR/a/one\"\n workspace_dir = \"DIR/states\"\n}"},
	{name: "http", block: `backend "http" { address = "STATE" }`},
	{name: "dir given", block: `backend "local" {}`, given: []string{"-backend-config=workspace_dir=states"}},
}

var stateOptions = map[string][]string{
	"plain": nil, "reconfigure": {"-reconfigure"}, "migrate": {"-migrate-state"}, "force": {"-force-copy"},
}

// stateContent has the workspaces and the content of their states. usual are the states in the default files, which
// aren't read while the backend names others.
type stateContent struct {
	selected     string
	there, usual map[string]string
}

var stateContents = map[string]stateContent{
	"no state":                     {},
	"default":                      {there: map[string]string{"default": "old"}},
	"selected workspace":           {selected: "dev", there: map[string]string{"dev": "old dev"}},
	"workspace":                    {there: map[string]string{"dev": "old dev"}},
	"default and workspace":        {selected: "dev", there: map[string]string{"default": "old", "dev": "old dev"}},
	"empty workspace":              {selected: "dev", there: map[string]string{"dev": ""}},
	"also at the usual places":     {selected: "dev", there: map[string]string{"default": "old", "dev": "old dev"}, usual: map[string]string{"default": "usual", "dev": "usual dev"}},
	"default at the usual place":   {usual: map[string]string{"default": "usual"}},
	"workspace at the usual place": {selected: "dev", usual: map[string]string{"dev": "usual dev"}},
}

// statePlaces are two directories, one for each program, which change from one setting to each other one.
type statePlaces struct {
	before   stateSetting
	programs [2]string
	env      []string
	dirs     [2]string
	records  [2][]byte // of the setting before
	states   *stateServer
}

func newStatePlaces(t *testing.T, before stateSetting, programs [2]string, env []string) *statePlaces {
	t.Helper()
	p := &statePlaces{before: before, programs: programs, env: env, states: newStateServer(t)}
	for i := range p.dirs {
		p.dirs[i] = t.TempDir()
		p.configure(t, i, before)
		if end := p.init(t, i, nil); end.Code != 0 {
			t.Fatalf("%s: %s", programs[i], end)
		}
		p.records[i], _ = os.ReadFile(filepath.Join(p.dirs[i], ".terraform/terraform.tfstate"))
	}
	return p
}

func (p *statePlaces) configure(t *testing.T, i int, s stateSetting) {
	t.Helper()
	block := strings.NewReplacer("DIR", filepath.ToSlash(p.dirs[i]), "STATE", fmt.Sprintf("%s/%d", p.states.URL, i)).Replace(s.block)
	must.Write(t, filepath.Join(p.dirs[i], "main.tf"), strings.ReplaceAll(backendConfig, "BACKEND", block))
}

func (p *statePlaces) init(t *testing.T, i int, options []string) harness.Ended {
	return harness.Exec(t, p.dirs[i], p.env, append([]string{p.programs[i], "init", "-no-color", "-input=false"}, options...)...)
}

func (p *statePlaces) compareAll(t *testing.T) {
	for _, after := range stateSettings {
		for _, option := range slices.Sorted(maps.Keys(stateOptions)) {
			for _, content := range slices.Sorted(maps.Keys(stateContents)) {
				if p.isAlike(option, content) {
					continue
				}
				name := "to " + after.name + "/" + option + "/" + content
				if !inSample(t.Name() + "/" + name) {
					continue
				}
				t.Run(name, func(t *testing.T) {
					p.compare(t, after, slices.Concat(stateOptions[option], after.given), stateContents[content])
				})
			}
		}
	}
}

// inSample reports whether a case runs. Of the 1,665 of each product a 90th does, with TFDEPS_TEST_PEERS=all a 12th; all of
// them do with TFDEPS_TEST_BACKENDS=all, or if -run names cases.
func inSample(name string) bool {
	oneIn := uint32(90)
	switch named := strings.Contains(flag.Lookup("test.run").Value.String(), "/"); {
	case named || os.Getenv("TFDEPS_TEST_BACKENDS") == "all":
		return true
	case peertest.All():
		oneIn = 12
	}
	return crc32.ChecksumIEEE([]byte(name))%oneIn == 0
}

// isAlike reports whether another case tests the same: if a backend is recorded, programs read the default files only with
// -reconfigure, and without any option they refuse another backend.
func (p *statePlaces) isAlike(option, content string) bool {
	if stateContents[content].usual != nil {
		return option != "reconfigure" || p.before.block == ""
	}
	return option == "plain" && p.before.block != "" && content != "default and workspace" && content != "no state"
}

// compare changes, with both programs, from the setting before to another one.
func (p *statePlaces) compare(t *testing.T, after stateSetting, options []string, content stateContent) {
	t.Helper()
	var was, is [2]found
	var before, left [2]map[string]harness.File // content of files and the server, without records
	var ends [2]harness.Ended
	for i := range p.programs {
		p.place(t, i, content)
		was[i] = p.find(t, i, p.before)
		p.configure(t, i, after)
		before[i] = p.filesIn(t, i)
		ends[i] = p.init(t, i, options)
		is[i], left[i] = p.find(t, i, after), p.filesIn(t, i)
	}
	usual := stateSays([]byte(before[1]["terraform.tfstate"].Content))
	if strings.Contains(after.block, "DIR/terraform.tfstate") && is[1].states["default"] == "" && usual != "" {
		is[1].states["default"] = usual // difference 66
	}
	// The backend that it has recorded may refuse the workspace, which tfdeps doesn't ask: difference 34.
	refuses := ends[0].Code != 0
	recorded := ends[1].Code == 0 || strings.Contains(ends[1].Out, "Successfully configured")
	asked := slices.Contains(options, "-migrate-state") || slices.Contains(options, "-force-copy")
	switch {
	case !refuses && !(recorded && is[0].equals(is[1])) && !is[0].keeps(was[0]):
		t.Errorf("tfdeps leaves state behind: plan finds\n%v\nbefore it finds\n%v\nafter %s it finds\n%v\n%s", is[0], was[0], p.programs[1], is[1], ends[1])
	case refuses && !maps.Equal(before[0], left[0]):
		t.Errorf("tfdeps refuses, and has changed files: %v, which were %v", left[0], before[0])
	case asked && (strings.Contains(p.before.block, "http") || content.selected != "" || !is[1].keeps(was[1])): // difference 35: tfdeps moves nothing, and asks no backend
	case refuses && ends[1].Code == 0 && !is[1].planFails && sameStates(before[1], left[1]):
		t.Errorf("tfdeps refuses where %s only records the backend. It says\n%s", p.programs[1], ends[0])
	}
}

// found is the state that plan finds.
type found struct {
	planFails bool // the record isn't about this configuration
	selected  string
	states    map[string]string
}

func (f found) equals(other found) bool {
	return f.planFails == other.planFails && f.selected == other.selected && maps.Equal(f.states, other.states)
}

// keeps reports whether everything that was found before is still found.
func (f found) keeps(before found) bool {
	for workspace, text := range before.states {
		if f.states[workspace] != text {
			return false
		}
	}
	return f.planFails || f.selected == before.selected || before.selected == ""
}

func sameStates(before, after map[string]harness.File) bool {
	before, after = maps.Clone(before), maps.Clone(after)
	for _, files := range []map[string]harness.File{before, after} {
		maps.DeleteFunc(files, func(name string, _ harness.File) bool { return strings.HasPrefix(name, ".terraform/") })
	}
	return maps.Equal(before, after)
}

// place prepares a directory: the record of the setting before, states and the selected workspace.
func (p *statePlaces) place(t *testing.T, i int, content stateContent) {
	t.Helper()
	dir := p.dirs[i]
	entries, _ := os.ReadDir(dir)
	for _, entry := range entries {
		must.Succeed(t, os.RemoveAll(filepath.Join(dir, entry.Name())))
	}
	p.states.put(fmt.Sprintf("/%d", i), "")
	if p.records[i] != nil {
		must.Write(t, filepath.Join(dir, ".terraform/terraform.tfstate"), p.records[i])
	}
	if content.selected != "" {
		must.Write(t, filepath.Join(dir, ".terraform/environment"), content.selected)
	}
	for name, text := range content.usual {
		must.Write(t, stateFile(dir, "", "", name), stateText(text))
	}
	kind, config := recorded(t, dir)
	for name, text := range content.there {
		switch kind {
		case "", "local":
			must.Write(t, stateFile(dir, config["path"], config["workspace_dir"], name), stateText(text))
		case "http":
			if name == "default" {
				p.states.put(fmt.Sprintf("/%d", i), stateText(text))
			}
		}
	}
}

// find returns what a plan would find.
func (p *statePlaces) find(t *testing.T, i int, configured stateSetting) found {
	t.Helper()
	dir := p.dirs[i]
	kind, config := recorded(t, dir)
	f := found{planFails: configured.block == "" && kind != "", selected: "default", states: map[string]string{}}
	if name, err := os.ReadFile(filepath.Join(dir, ".terraform/environment")); err == nil {
		f.selected = string(name)
	}
	switch kind {
	case "", "local":
		others := filepath.Dir(filepath.Dir(stateFile(dir, "", config["workspace_dir"], "x")))
		made, _ := filepath.Glob(filepath.Join(others, "*"))
		for _, workspace := range append([]string{"default"}, made...) {
			name := filepath.Base(workspace)
			src, _ := os.ReadFile(stateFile(dir, config["path"], config["workspace_dir"], name))
			f.states[name] = stateSays(src)
		}
	default:
		f.selected = "" // the backend would be asked: difference 34
		f.states["default"] = stateSays([]byte(p.states.get(fmt.Sprintf("/%d", i))))
	}
	maps.DeleteFunc(f.states, func(_, text string) bool { return text == "" })
	return f
}

// recorded is the type of the backend that a directory has, "" for none, and its arguments that are strings.
func recorded(t *testing.T, dir string) (kind string, config map[string]string) {
	t.Helper()
	src, err := os.ReadFile(filepath.Join(dir, ".terraform/terraform.tfstate"))
	if err != nil {
		return "", nil
	}
	var record struct {
		Backend struct {
			Type   string
			Config map[string]any
		}
	}
	must.Succeed(t, json.Unmarshal(src, &record))
	config = map[string]string{}
	for name, value := range record.Backend.Config {
		if text, ok := value.(string); ok {
			config[name] = text
		}
	}
	return record.Backend.Type, config
}

// stateFile returns the path of a workspace's state in a local backend.
func stateFile(dir, path, others, workspace string) string {
	if path == "" {
		path = "terraform.tfstate"
	}
	if others == "" {
		others = "terraform.tfstate.d"
	}
	if workspace != "default" {
		path = filepath.Join(others, workspace, "terraform.tfstate")
	}
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}

// stateText returns a state with an output, or without one for "".
func stateText(says string) string {
	outputs := ""
	if says != "" {
		outputs = fmt.Sprintf(`"greeting": {"value": %q, "type": "string"}`, says)
	}
	return fmt.Sprintf(`{"version": 4, "terraform_version": "1.5.0", "serial": 3, "lineage": "of %s", "outputs": {%s}, "resources": []}`, says, outputs)
}

func stateSays(src []byte) string {
	var state struct {
		Outputs map[string]struct{ Value string }
	}
	_ = json.Unmarshal(src, &state)
	return state.Outputs["greeting"].Value
}

// filesIn returns all files of a directory with their content, and the objects of the server.
func (p *statePlaces) filesIn(t *testing.T, i int) map[string]harness.File {
	t.Helper()
	state := fmt.Sprintf("/%d", i)
	files := harness.Files(t, p.dirs[i])
	files[state] = harness.File{Content: p.states.get(state)}
	return files
}

// stateServer keeps a state for each path, and for each key of Consul. Only the user u with the password secret gets to /private.
type stateServer struct {
	*httptest.Server
	states sync.Map
}

func newStateServer(t *testing.T) *stateServer {
	t.Helper()
	s := new(stateServer)
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

func (s *stateServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch user, password, _ := r.BasicAuth(); {
	case r.URL.Path == "/private" && (user != "u" || password != "secret"):
		w.WriteHeader(http.StatusUnauthorized)
	case r.Method == "LOCK", r.Method == "UNLOCK":
	case r.Method == http.MethodPost:
		body, _ := io.ReadAll(r.Body)
		s.put(r.URL.Path, string(body))
	case r.Method == http.MethodDelete:
		s.put(r.URL.Path, "")
	case r.URL.Path == "/v1/txn": // of Consul's API
		var operations []struct {
			KV struct {
				Key   string
				Value []byte
			}
		}
		_ = json.NewDecoder(r.Body).Decode(&operations)
		s.put("/v1/kv/"+operations[0].KV.Key, string(operations[0].KV.Value))
		_, _ = io.WriteString(w, `{"Results": [{"KV": {"ModifyIndex": 1}}]}`)
	case s.get(r.URL.Path) == "":
		w.WriteHeader(http.StatusNotFound)
	case strings.HasPrefix(r.URL.Path, "/v1/kv/"):
		w.Header().Set("X-Consul-Index", "1")
		_ = json.NewEncoder(w).Encode([]any{map[string]any{"Value": []byte(s.get(r.URL.Path)), "ModifyIndex": 1}})
	default:
		_, _ = io.WriteString(w, s.get(r.URL.Path))
	}
}

func (s *stateServer) put(path, state string) { s.states.Store(path, state) }

func (s *stateServer) get(path string) string {
	state, _ := s.states.Load(path)
	text, _ := state.(string)
	return text
}
