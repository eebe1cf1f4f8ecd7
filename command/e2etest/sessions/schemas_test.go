package sessions

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/tfdeps/tfdeps/command/e2etest/internal/harness"
	"github.com/tfdeps/tfdeps/internal/must"
)

// runTfdeps runs the program, and compares the output of -json, and the file of -json-into, with the
// schemas of docs/json.
func runTfdeps(ts *testscript.TestScript, neg bool, args []string) {
	err := ts.Exec("tfdeps", args...)
	if failed := err != nil; failed != neg {
		ts.Fatalf("tfdeps %s: %v", strings.Join(args, " "), err)
	}
	checkJSON(ts, args)
}

// checkJSON compares the last output of the program with its schemas.
func checkJSON(ts *testscript.TestScript, args []string) {
	if wantsJSON(args) {
		ts.Check(conforms(args, ts.ReadFile("stdout")))
	}
	for _, arg := range args {
		if file, ok := strings.CutPrefix(arg, "-json-into="); ok {
			ts.Check(conforms(args, ts.ReadFile(file)))
		}
	}
}

func wantsJSON(args []string) bool { return slices.Contains(args, "-json") }

// schemas returns the schemas of docs/json, by the words of the commands joined with "_".
var schemas = sync.OnceValues(func() (map[string]*jsonschema.Schema, error) {
	root, err := harness.Root()
	if err != nil {
		return nil, err
	}
	files, err := filepath.Glob(filepath.Join(root, "docs/json/*.schema.json"))
	compiler := jsonschema.NewCompiler()
	compiler.AssertFormat()
	compiler.UseLoader(schemaDir(filepath.Join(root, "docs/json")))
	all := map[string]*jsonschema.Schema{}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".schema.json")
		schema, compileErr := compiler.Compile(file)
		all[name], err = schema, errors.Join(err, compileErr)
	}
	return all, err
})

// schemaDir has a schema, which others call by a URL, in a file of the same name.
type schemaDir string

func (d schemaDir) Load(url string) (any, error) {
	content, err := os.ReadFile(filepath.Join(string(d), path.Base(url)))
	if err != nil {
		return nil, err
	}
	return jsonschema.UnmarshalJSON(bytes.NewReader(content))
}

// conforms compares the output of a command with its schema: each line for commands that print an object a line,
// else the whole output.
func conforms(args []string, stdout string) error {
	all, err := schemas()
	if err != nil {
		return err
	}
	name := schemaName(args, all)
	schema := all[name]
	if schema == nil {
		return fmt.Errorf("docs/json has no schema for tfdeps %s", strings.Join(args, " "))
	}
	documents := []string{stdout}
	if name == "init" || name == "get" {
		documents = strings.Split(strings.TrimSuffix(stdout, "\n"), "\n")
	} else if stdout == "" && (name == "hash" || name == "version") {
		return nil // arguments that it doesn't take
	}
	var wrong []error
	for _, document := range documents {
		value, err := jsonschema.UnmarshalJSON(strings.NewReader(document))
		if err == nil {
			err = schema.Validate(value)
		}
		if err != nil {
			wrong = append(wrong, fmt.Errorf("docs/json/%s.schema.json: %w\n%s", name, err, document))
		}
	}
	return errors.Join(wrong...)
}

// schemaName is the name of the schema for a command line: that of the longest command that it names.
func schemaName(args []string, all map[string]*jsonschema.Schema) (name string) {
	if slices.Contains(args, "-version") {
		return "version"
	}
	var words []string
	for _, arg := range args {
		if strings.HasPrefix(arg, "-") {
			continue
		}
		words = append(words, arg)
		if longer := strings.Join(words, "_"); all[longer] != nil {
			name = longer
		}
	}
	return name
}

// Lines that conform, as the program prints them.
const (
	goodLine = `{"@level":"info","@message":"m","@module":"terraform.ui","@timestamp":"2026-05-04T03:02:01.123456Z","action":"fetched","authentication":"unauthenticated",` +
		`"bytes":0,"cache":"filled","link":"clone","provider":"example.com/acme/a","source":"registry example.com","type":"package","version":"1.2.3"}`
	goodProblem = `{"@level":"error","@message":"Error: m","@module":"terraform.ui","@timestamp":"2026-05-04T03:02:01.123456Z",` +
		`"diagnostic":{"severity":"error","summary":"m","detail":"","code":"failed"},"type":"diagnostic"}`
	goodReport = `{"format_version":"1.0","directory":"/c","named":false,"started_at":"2026-05-04T03:02:01.123456Z","ended_at":"2026-05-04T03:02:01.123456Z","diagnostics":[]}`
)

// TestSchemas_RefuseWhatIsWrong makes one change each to valid output, which the schemas have to refuse.
func TestSchemas_RefuseWhatIsWrong(t *testing.T) {
	t.Parallel()
	for good, changes := range map[string][][2]string{
		goodLine: {
			{`"action"`, `"x":1,"action"`},            // an unknown key
			{`"action":"fetched",`, ``},               // a key that is missing
			{`"bytes":0`, `"bytes":"0"`},              // another type
			{`"filled"`, `"full"`},                    // a word that isn't on the list
			{`"type":"package"`, `"type":"packages"`}, // an unknown type of line
			{`example.com/acme/a`, `acme/a`},          // no address
			{`2026-05-04T`, `2026-05-44T`},            // no time
			{`"type":"package"`, `"type":"log"`},      // a line of the product's own type with another key
			{goodLine, goodLine + "\n{}"},             // the second line
			{`{`, ``},                                 // no JSON
			{goodLine, goodLine + "\n"},               // an empty line
		},
		goodProblem: {{`,"code":"failed"`, ``}}, // an error without a code
		goodReport: {
			{`"named"`, `"names":1,"named"`},
			{`"directory":"/c",`, ``},
			{`"directory":"/c","named":false,`, ``}, // nothing found, and no reason
			{goodReport, goodReport + goodReport},
		},
	} {
		args := []string{"init", "-json"}
		if good == goodReport {
			args = []string{"cache", "dir", "-json"}
		}
		must.Succeed(t, conforms(args, good+"\n"), "before the change")
		for _, change := range changes {
			must.Refuse(conforms(args, strings.Replace(good, change[0], change[1], 1)+"\n"))(t, "taken for right", change)
		}
	}
	must.Refuse(conforms([]string{"get", "-json"}, goodLine[1:]+"\n"))(t, "no JSON of get")
	must.Refuse(conforms([]string{"plan", "-json"}, "\n"))(t, "a command without a schema")
}

// TestSchemas_HaveTheExamplesOfTheirPage: the examples in docs/json.md conform, and each schema is linked from there.
func TestSchemas_HaveTheExamplesOfTheirPage(t *testing.T) {
	t.Parallel()
	const page = "docs/json.md"
	examples := 0
	for _, b := range blocksOf(t, page) {
		if b.language != "json" {
			continue
		}
		examples++
		must.Succeed(t, conforms([]string{"init"}, b.text))
	}
	if examples == 0 {
		t.Errorf("%s has no example", page)
	}
	text := harness.ReadText(t, harness.Path(t, page))
	all := must.Get(schemas())(t)
	for name := range all {
		must.Contain(t, text, "(json/"+name+".schema.json)", page)
	}
}

// unchecked matches lines of sessions that run the program with -json by exec, so that the output isn't compared with the schemas.
var unchecked = regexp.MustCompile(`(?m)^(\[.*\] )?(! )?exec tfdeps .*-json\b.*$`)

func TestSchemas_AreComparedInEverySession(t *testing.T) {
	t.Parallel()
	sessions, err := filepath.Glob(harness.Path(t, "testdata", "*", "*.txtar"))
	if err != nil || len(sessions) < 100 {
		t.Fatalf("found %d sessions: %v", len(sessions), err)
	}
	for _, session := range sessions {
		content := harness.ReadText(t, session)
		for _, line := range unchecked.FindAllString(content, -1) {
			t.Errorf("%s: %q: without \"exec\" in front of tfdeps, what it prints is compared with its schema", filepath.Base(session), line)
		}
	}
	if !unchecked.MatchString("! exec tfdeps -chdir=a init -json -upgrade\n") || unchecked.MatchString("! tfdeps init -json\n") {
		t.Error("other lines are found than those that compare nothing")
	}
}
