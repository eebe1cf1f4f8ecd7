package oracle

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/command/e2etest/internal/harness"
	"github.com/tfdeps/tfdeps/internal/must"
)

// jsonCases are configurations, and the options of init in their files "args".
var jsonCases = map[string]files{
	"backend of an unknown type":    {"main.tf": "terraform {\n  backend \"mars\" {\n    x = 1\n  }\n}\n"},
	"backend changed":               {"main.tf": "terraform {\n  backend \"local\" {\n    path = \"x\"\n  }\n}\n", "terraform.tfstate": `{"version": 4}`},
	"unknown argument":              {"main.tf": "terraform {\n  backend \"local\" {\n    nothing = 1\n  }\n}\n"},
	"unknown block":                 {"main.tf": "locals {}\n\nnothing {\n}\n"},
	"syntax":                        {"main.tf": "locals {\n  x = \n}\n"},
	"provider that doesn't exist":   {"main.tf": "resource \"nothing_thing\" \"x\" {}\n"},
	"version that doesn't exist":    {"main.tf": "terraform {\n  required_providers {\n    widget = { source = \"acme/widget\", version = \"9.9.9\" }\n  }\n}\n"},
	"module without source":         {"main.tf": "module \"m\" {\n}\n"},
	"module that calls a bad one":   {"main.tf": "module \"m\" {\n  source = \"./m\"\n}\n", "m/main.tf": "locals {\n"},
	"copied":                        {"args": "-from-module=./source", "source/main.tf": "locals {}\n"},
	"copied without a backend":      {"args": "-from-module=./source -backend=false", "source/main.tf": "module \"m\" {\n  source = \"./m\"\n}\n", "source/m/main.tf": "locals {}\n"},
	"duplicate":                     {"main.tf": "variable \"x\" {}\nvariable \"x\" {}\n"},
	"local backend":                 {"main.tf": "terraform {\n  backend \"local\" {}\n}\n"},
	"lock file that can't be read":  {"main.tf": "locals {}\n", ".terraform.lock.hcl": "provider {\n"},
	"modules that are there":        {"main.tf": "module \"a\" {\n  source = \"./m\"\n}\nresource \"alpha_thing\" \"x\" {}\n", "m/main.tf": "locals {}\n"},
	"constraint that can't be read": {"main.tf": "terraform {\n  required_providers {\n    widget = { source = \"acme/widget\", version = \"one\" }\n  }\n}\n"},
}

// jsonSince are the cases of which older versions of Terraform say something else.
var jsonSince = map[string]string{"local backend": "1.15", "backend changed": "1.15", "lock file that can't be read": "1.15"}

// TestInitJSON_SameAsTerraform compares the messages of init -json, and of diagnostics severity, summary and place, to the column.
func TestInitJSON_SameAsTerraform(t *testing.T) {
	t.Parallel()
	compareJSON(t, withTerraform(t))
}

func compareJSON(t *testing.T, p *pair) {
	t.Helper()
	cases := maps.Clone(jsonCases)
	maps.DeleteFunc(cases, func(name string, _ files) bool {
		return jsonSince[name] != "" && harness.PeerOlderThan(t, jsonSince[name])
	})
	eachCase(t, cases, nil, 10, func(t *testing.T, c files, allowed harness.Exemption) {
		o := p.begin(t, nil, allowed)
		var said [2]string
		for i := range said {
			o.prepare(i, c)
			end := o.in(i, i, append([]string{"init", "-json"}, strings.Fields(c["args"])...)...)
			lines := o.placesOf(end.Said())
			slices.Sort(lines) // differences 22 and 60: each error once, and in another order
			said[i] = fmt.Sprintf("exit %d\n%s", end.Code, joined(slices.Compact(lines)))
		}
		o.same("what is said", said[0], said[1], false)
	})
}

// jsonLine is what counts of a line that -json prints.
type jsonLine struct {
	Type       string
	Message    string `json:"@message"`
	Diagnostic struct {
		Severity, Summary string
		Range             struct {
			Filename   string
			Start, End struct{ Line, Column int }
		}
	}
}

// placesOf are the lines of init -json without explanations, and without what only tfdeps or only Terraform says there.
func (o *run) placesOf(out string) (said []string) {
	o.t.Helper()
	for line := range strings.Lines(out) {
		var object jsonLine
		if !strings.HasPrefix(line, "{") {
			continue
		}
		must.Succeed(o.t, json.Unmarshal([]byte(line), &object), line)
		d := object.Diagnostic
		switch object.Type {
		case "version", "package", "module", "summary": // difference 60
		case "diagnostic":
			said = append(said, fmt.Sprintf("%s %s %s:%v-%v", d.Severity, d.Summary, d.Range.Filename, d.Range.Start, d.Range.End))
		default:
			said = append(said, keyID.ReplaceAllString(object.Message, "key ID KEY"))
		}
	}
	return said
}
