package view

import (
	"errors"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/command/problem"
	"github.com/tfdeps/tfdeps/internal/config/modules"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/providercache"
	"github.com/tfdeps/tfdeps/providercache/event"
)

// The parts that all lines share in all tests.
const (
	jsonStart = `{"@level":"info","@message":`
	jsonEnded = `"ended_at":"2026-05-04T03:02:01.123456Z",`
	jsonBegun = `,"started_at":"2026-05-04T03:02:01.123456Z"`
	jsonStamp = `,"@module":"terraform.ui","@timestamp":"2026-05-04T03:02:01.123456Z",`
)

func jsonLog(text string) string { return jsonStart + text + jsonStamp + `"type":"log"}` + "\n" }

func jsonOutput(code, text string) string {
	return jsonStart + text + jsonStamp + `"message_code":"` + code + `","type":"init_output"}` + "\n"
}

func TestJSON_Init(t *testing.T) {
	s := newSpeaker(func(o *Options) { o.JSON = true })
	s.Version("0.1.0", "by TFDEPS_TERRAFORM_VERSION")
	s.BackendBegin(false)
	s.ProvidersBegin()
	warnings := s.installation()
	s.LockSaved(true)
	s.Done(warnings, false)
	s.check(t, jsonStart+`"Terraform 1.15.9"`+jsonStamp+`"because":"by TFDEPS_TERRAFORM_VERSION","terraform":"1.15.9","tfdeps":"0.1.0","type":"version","ui":"1.3"}`+"\n"+
		jsonOutput("initializing_backend_message", `"Initializing the backend..."`)+
		jsonOutput("initializing_provider_plugin_message", `"Initializing provider plugins..."`)+
		jsonLog(`"terraform.io/builtin/terraform is built in to Terraform"`)+
		jsonStart+`"terraform.io/builtin/terraform: built_in"`+jsonStamp+`"action":"built_in","provider":"terraform.io/builtin/terraform","type":"package"}`+"\n"+
		jsonLog(`"example.com/acme/alpha: Finding latest version..."`)+
		jsonLog(`"Finding matching versions for provider: example.com/acme/beta, version_constraint: \"~\u003e 1.0\""`)+
		jsonLog(`"example.com/acme/gamma: Reusing previous version from the dependency lock file"`)+
		jsonLog(`"Installing provider version: example.com/acme/alpha v1.2.3..."`)+
		jsonLog(`"Installed provider version: example.com/acme/alpha v1.2.3 (unauthenticated)"`)+
		jsonFetched("alpha", "", "unauthenticated", jsonEnded, jsonBegun)+
		jsonLog(`"Installing provider version: example.com/acme/beta v1.2.3..."`)+
		jsonLog(`"Installed provider version: example.com/acme/beta v1.2.3 (self-signedkey_id: 0123456789ABCDEF)"`)+
		jsonLog(`"example.com/acme/beta v1.2.3: the key expired"`)+
		jsonFetched("beta", "", "self-signed", jsonEnded+`"key_id":"0123456789ABCDEF",`, jsonBegun)+
		jsonLog(`"example.com/acme/gamma v1.2.3: Using previously-installed provider version"`)+
		jsonStart+`"example.com/acme/gamma v1.2.3: present"`+jsonStamp+`"action":"present","provider":"example.com/acme/gamma","type":"package","version":"1.2.3"}`+"\n"+
		jsonLog(`"Partner and community providers are signed by their developers.\nIf you'd like to know more about provider signing, you can read about it here:\nhttps://developer.hashicorp.com/terraform/cli/plugins/signing"`)+
		jsonOutput("lock_info", `"Terraform has created a lock file .terraform.lock.hcl to record the provider\nselections it made above. Include this file in your version control repository\nso that Terraform can guarantee to make the same selections by default when\nyou run \"terraform init\" in the future."`)+
		`{"@level":"warn","@message":"Warning: Additional provider information from registry"`+jsonStamp+
		`"diagnostic":{"severity":"warning","summary":"Additional provider information from registry","detail":"The sources of example.com/acme/beta returned warnings:\n- it is old\n- use another"},"type":"diagnostic"}`+"\n"+
		jsonOutput("output_init_success_message", `"Terraform has been successfully initialized!"`)+
		jsonOutput("output_init_success_cli_message", `"You may now begin working with Terraform. Try running \"terraform plan\" to see\nany changes that are required for your infrastructure. All Terraform commands\nshould now work.\n\nIf you ever set or change modules or backend configuration for Terraform,\nrerun this command to reinitialize your working directory. If you forget, other\ncommands will detect it and remind you to do so if necessary."`),
		"")
}

func TestJSON_End(t *testing.T) {
	s := newSpeaker(func(o *Options) { o.JSON = true })
	s.installation()
	s.Observe(ended(event.Failed, alpha, errors.New("gone")))
	s.ObserveModules(modules.Downloading{Key: "net", Package: "git::https://example.com/net"})
	s.Problems(problem.List{problem.Error("", "Bad", ""), problem.Warning("Odd", "")})
	s.out.Reset()
	s.ModulesEnd(3)
	s.End(1)
	s.check(t, jsonStart+`"Failed after 0ms: 1 error"`+jsonStamp+`"bytes":0,"changed":true,"ended_at":"2026-05-04T03:02:01.123456Z","errors":1,"exit_code":1,`+
		`"modules":{"called":3,"fetched":1},"providers":{"built_in":1,"downloaded":1,"failed":1,"linked":0,"local":0,"present":1},`+
		`"started_at":"2026-05-04T03:02:01.123456Z","type":"summary","warnings":1}`+"\n", "")
}

func TestJSON_Records(t *testing.T) {
	tests := []struct {
		name string
		say  func(s *speaker)
		want string // what the last line has
	}{
		{"linked", func(s *speaker) {
			s.Observe(on(event.Selected, alpha))
			s.Observe(ended(event.Linked, alpha, v1, providercache.LinkHardlink))
		}, `"action":"linked","cache":"hit",` + jsonEnded + `"link":"hardlink","provider":"example.com/acme/alpha"` + jsonBegun + `,"type":"package","version":"1.2.3"}`},
		{"failed", func(s *speaker) {
			s.Observe(ended(event.Failed, alpha, errors.New("gone")))
		},
			`"action":"failed","code":"failed","error":"gone","provider":"example.com/acme/alpha","type":"package"}`},
		{"into the cache", func(s *speaker) {
			s.Observe(ended(event.Fetched, alpha, v1, providercache.LinkClone))
		}, `"bytes":0,"cache":"filled","link":"clone"`},
		{"local module", func(s *speaker) {
			s.ObserveModules(modules.Recorded{Record: modules.Record{Key: "net", Source: "./net", Dir: "net"}})
		}, `"dir":"net","fetched":false,"key":"net","source":"./net","type":"module"}`},
		{"fetched module", func(s *speaker) {
			s.ObserveModules(modules.Downloading{Key: "net"})
			s.ObserveModules(modules.Recorded{Record: modules.Record{Key: "net", Source: "git::https://u:secret@example.com/n", Version: "1.0.0", Dir: "x"}})
		}, `"dir":"x",` + jsonEnded + `"fetched":true,"key":"net","source":"git::https://example.com/n"` + jsonBegun + `,"type":"module","version":"1.0.0"}`},
	}
	for _, tt := range tests {
		s := newSpeaker(func(o *Options) { o.JSON = true })
		s.Observe(pending(alpha))
		s.Observe(on(event.Query, alpha))
		tt.say(s)
		lines := strings.Split(strings.TrimSpace(s.out.String()), "\n")
		must.Contain(t, lines[len(lines)-1], tt.want, tt.name)
	}
}

func TestJSON_ProblemWithSource(t *testing.T) {
	s := newSpeaker(func(o *Options) { o.JSON = true })
	s.Problems(problem.List{problem.At(bogus(), problem.Error("invalid_configuration", "Unsupported argument", "Not expected."))})
	s.check(t, `{"@level":"error","@message":"Error: Unsupported argument"`+jsonStamp+
		`"diagnostic":{"severity":"error","summary":"Unsupported argument","detail":"Not expected.",`+
		`"range":{"filename":"main.tf","start":{"line":3,"column":13,"byte":47},"end":{"line":3,"column":18,"byte":52}},`+
		`"snippet":{"context":"terraform","code":"    aaa = { bogus = 1 }","start_line":3,`+
		`"highlight_start_offset":12,"highlight_end_offset":17,"values":[]},"code":"invalid_configuration"},"type":"diagnostic"}`+"\n", "")
}
