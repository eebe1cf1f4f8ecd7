package view

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/command/problem"
)

// What all lines have in common in all tests.
const (
	jsonStart = `{"@level":"info","@message":`
	jsonStamp = `,"@module":"terraform.ui","@timestamp":"2026-05-04T03:02:01.123456Z",`
)

func jsonLog(text string) string { return jsonStart + text + jsonStamp + `"type":"log"}` + "\n" }

func jsonOutput(code, text string) string {
	return jsonStart + text + jsonStamp + `"message_code":"` + code + `","type":"init_output"}` + "\n"
}

func TestJSON_Init(t *testing.T) {
	s := newSpeaker(func(o *Options) { o.JSON = true })
	s.Version("0.1.0")
	s.BackendBegin(false)
	s.ProvidersBegin()
	warnings := s.installation()
	s.LockCreated()
	s.Done(warnings, false)
	s.check(t, jsonStart+`"Terraform 1.15.9"`+jsonStamp+`"terraform":"1.15.9","tfdeps":"0.1.0","type":"version","ui":"1.3"}`+"\n"+
		jsonOutput("initializing_backend_message", `"Initializing the backend..."`)+
		jsonOutput("initializing_provider_plugin_message", `"Initializing provider plugins..."`)+
		jsonLog(`"terraform.io/builtin/terraform is built in to Terraform"`)+
		jsonLog(`"example.com/acme/alpha: Finding latest version..."`)+
		jsonLog(`"Finding matching versions for provider: example.com/acme/beta, version_constraint: \"~\u003e 1.0\""`)+
		jsonLog(`"example.com/acme/gamma: Reusing previous version from the dependency lock file"`)+
		jsonLog(`"Installing provider version: example.com/acme/alpha v1.2.3..."`)+
		jsonLog(`"Installed provider version: example.com/acme/alpha v1.2.3 (unauthenticated)"`)+
		jsonLog(`"Installing provider version: example.com/acme/beta v1.2.3..."`)+
		jsonLog(`"Installed provider version: example.com/acme/beta v1.2.3 (self-signedkey_id: 0123456789ABCDEF)"`)+
		jsonLog(`"example.com/acme/beta v1.2.3: the key expired"`)+
		jsonLog(`"example.com/acme/gamma v1.2.3: Using previously-installed provider version"`)+
		jsonLog(`"Partner and community providers are signed by their developers.\nIf you'd like to know more about provider signing, you can read about it here:\nhttps://developer.hashicorp.com/terraform/cli/plugins/signing"`)+
		jsonOutput("lock_info", `"Terraform has created a lock file .terraform.lock.hcl to record the provider\nselections it made above. Include this file in your version control repository\nso that Terraform can guarantee to make the same selections by default when\nyou run \"terraform init\" in the future."`)+
		`{"@level":"warn","@message":"Warning: Additional provider information from registry"`+jsonStamp+
		`"diagnostic":{"severity":"warning","summary":"Additional provider information from registry","detail":"The sources of example.com/acme/beta returned warnings:\n- it is old\n- use another"},"type":"diagnostic"}`+"\n"+
		jsonOutput("output_init_success_message", `"Terraform has been successfully initialized!"`)+
		jsonOutput("output_init_success_cli_message", `"You may now begin working with Terraform. Try running \"terraform plan\" to see\nany changes that are required for your infrastructure. All Terraform commands\nshould now work.\n\nIf you ever set or change modules or backend configuration for Terraform,\nrerun this command to reinitialize your working directory. If you forget, other\ncommands will detect it and remind you to do so if necessary."`),
		"")
}

func TestJSON_ProblemWithSource(t *testing.T) {
	s := newSpeaker(func(o *Options) { o.JSON = true })
	s.Problems(problem.List{problem.At(bogus(), problem.Error("Unsupported argument", "Not expected."))})
	s.check(t, `{"@level":"error","@message":"Error: Unsupported argument"`+jsonStamp+
		`"diagnostic":{"severity":"error","summary":"Unsupported argument","detail":"Not expected.",`+
		`"range":{"filename":"main.tf","start":{"line":3,"column":13,"byte":47},"end":{"line":3,"column":18,"byte":52}},`+
		`"snippet":{"context":"terraform","code":"    aaa = { bogus = 1 }","start_line":3,`+
		`"highlight_start_offset":12,"highlight_end_offset":17,"values":[]},"code":"invalid_configuration"},"type":"diagnostic"}`+"\n", "")
}

func TestJSON_ProblemWithoutSource(t *testing.T) {
	s := newSpeaker(func(o *Options) { o.JSON, o.ReadFile = true, nil })
	s.Problems(problem.List{problem.At(bogus(), problem.Error("Unsupported argument", "Not expected."))})
	if got := s.out.String(); strings.Contains(got, "snippet") || !strings.Contains(got, `"line":3`) {
		t.Errorf("got %s, want a range and no snippet", got)
	}
}

func TestJSON_IsOneObjectALine(t *testing.T) {
	s := newSpeaker(func(o *Options) { o.JSON = true })
	s.Problems(problem.List{problem.Error("Two\nlines", "\"quoted\"\u2028\x00\xff")})
	line := s.out.Bytes()
	if strings.Count(string(line), "\n") != 1 {
		t.Errorf("got more than one line: %q", line)
	}
	if !json.Valid(line) {
		t.Errorf("%q is not JSON", line)
	}
}
