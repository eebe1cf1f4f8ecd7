package view

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/tfdeps/tfdeps/command/problem"
	"github.com/tfdeps/tfdeps/command/view/explain"
	"github.com/tfdeps/tfdeps/command/view/terminal"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/providercache/event"
)

// broken is a configuration with mistakes.
const broken = `terraform {
  required_providers {
    aaa = { bogus = 1 }
  }
}
`

// speaker is an Init with its output.
type speaker struct {
	*Init
	out, err bytes.Buffer
}

func newSpeaker(change func(*Options)) *speaker {
	s := &speaker{}
	opts := Options{
		Names:    asTerraform,
		Stdout:   terminal.Stream{Writer: &s.out},
		Stderr:   terminal.Stream{Writer: &s.err},
		Now:      func() time.Time { return time.Date(2026, 5, 4, 3, 2, 1, 123456000, time.UTC) },
		Progress: ProgressNone,
		Showing: explain.Showing{ReadFile: func(name string) ([]byte, error) {
			if name != "main.tf" {
				return nil, errors.New("no such file")
			}
			return []byte(broken), nil
		}},
	}
	if change != nil {
		change(&opts)
	}
	s.Init = NewInit(opts)
	return s
}

func (s *speaker) check(t *testing.T, wantOut, wantErr string) {
	t.Helper()
	must.Equal(t, s.out.String(), wantOut)
	must.Equal(t, s.err.String(), wantErr)
}

// installation reports an installation in which everything occurs.
func (s *speaker) installation() (warnings problem.List) {
	for _, e := range []event.Event{
		pending(alpha, beta, gamma, builtIn),
		on(event.Query, gamma, true),
		on(event.Query, beta, getproviders.MustParseConstraints("~> 1.0")),
		on(event.Query, alpha),
		on(event.Warning, beta, []string{"it is old", "use another"}),
		ended(event.BuiltIn, builtIn),
		ended(event.Present, gamma, v1),
		on(event.Fetching, beta, v1),
		on(event.Fetching, alpha, v1),
		ended(event.Fetched, beta, v1, getproviders.AuthenticationResult{
			TrustLevel: getproviders.LevelCommunity, KeyID: "0123456789ABCDEF", Notes: []string{"the key expired"},
		}),
		ended(event.Fetched, alpha, v1),
	} {
		s.Observe(e)
	}
	return s.ProvidersEnd()
}

func TestHuman_Init(t *testing.T) {
	s := newSpeaker(func(o *Options) { o.Plain = true })
	s.Version("0.1.0", "by TFDEPS_TERRAFORM_VERSION")
	s.BackendBegin(false)
	s.ProvidersBegin()
	warnings := s.installation()
	s.LockSaved(true)
	s.Done(warnings, false)
	s.check(t, `Initializing the backend...
Initializing provider plugins...
- terraform.io/builtin/terraform is built in to Terraform
- Finding latest version of example.com/acme/alpha...
- Finding example.com/acme/beta versions matching "~> 1.0"...
- Reusing previous version of example.com/acme/gamma from the dependency lock file
- Installing example.com/acme/alpha v1.2.3...
- Installed example.com/acme/alpha v1.2.3 (unauthenticated)
- Installing example.com/acme/beta v1.2.3...
- Installed example.com/acme/beta v1.2.3 (self-signed, key ID 0123456789ABCDEF)
  note: the key expired
- Using previously-installed example.com/acme/gamma v1.2.3
Partner and community providers are signed by their developers.
If you'd like to know more about provider signing, you can read about it here:
https://developer.hashicorp.com/terraform/cli/plugins/signing
Terraform has created a lock file .terraform.lock.hcl to record the provider
selections it made above. Include this file in your version control repository
so that Terraform can guarantee to make the same selections by default when
you run "terraform init" in the future.


Warning: Additional provider information from registry

The sources of example.com/acme/beta returned warnings:
- it is old
- use another
Terraform has been successfully initialized!

You may now begin working with Terraform. Try running "terraform plan" to see
any changes that are required for your infrastructure. All Terraform commands
should now work.

If you ever set or change modules or backend configuration for Terraform,
rerun this command to reinitialize your working directory. If you forget, other
commands will detect it and remind you to do so if necessary.
`, "")
}

func TestHuman_InitInAutomation(t *testing.T) {
	s := newSpeaker(nil)
	s.BackendBegin(true)
	s.LockSaved(false)
	s.Done(nil, true)
	s.check(t, `Initializing HCP Terraform...
Terraform has made some changes to the provider dependency selections recorded
in the .terraform.lock.hcl file. Review those changes and commit them to your
version control system if they represent changes you intended to make.

HCP Terraform has been successfully initialized!
`, "")
}

func TestHuman_InitOfOpenTofu(t *testing.T) {
	s := newSpeaker(func(o *Options) { o.Product = asOpenTofu })
	s.BackendBegin(true)
	s.LockSaved(true)
	s.Done(nil, false)
	s.check(t, `
Initializing cloud backend...

OpenTofu has created a lock file .terraform.lock.hcl to record the provider
selections it made above. Include this file in your version control repository
so that OpenTofu can guarantee to make the same selections by default when
you run "tofu init" in the future.

Cloud backend has been successfully initialized!

You may now begin working with cloud backend. Try running "tofu plan" to
see any changes that are required for your infrastructure.

If you ever set or change modules or OpenTofu Settings, run "tofu init"
again to reinitialize your working directory.
`, "")
}

// bogus is the argument that is wrong in broken.
func bogus() hcl.Range {
	at := strings.Index(broken, "bogus")
	return hcl.Range{
		Filename: "main.tf",
		Start:    hcl.Pos{Line: 3, Column: 13, Byte: at},
		End:      hcl.Pos{Line: 3, Column: 18, Byte: at + len("bogus")},
	}
}

func TestHuman_Problems(t *testing.T) {
	elsewhere := bogus()
	elsewhere.Filename = "gone.tf"
	problems := problem.List{
		problem.At(bogus(), problem.Error("", "Unsupported argument",
			"An argument of this name is not expected here, nor is it expected anywhere else in the world of configurations.")),
		problem.At(elsewhere, problem.Warning("Strange", "It is strange:\n  terraform init")),
		problem.Error("", "broken", ""),
		problem.At(bogus(), problem.Error("", "Unsupported argument",
			"An argument of this name is not expected here, nor is it expected anywhere else in the world of configurations.")),
	}
	tests := []struct {
		name   string
		change func(*Options)
		want   string
	}{
		{"boxes where nothing is against them", nil, `╷
│ Error: broken
│ 
│ 
╵
╷
│ Warning: Strange
│ 
│   on gone.tf line 3:
│   (source code not available)
│ 
│ It is strange:
│   terraform init
╵
╷
│ Error: Unsupported argument
│ 
│   on main.tf line 3, in terraform:
│    3:     aaa = { bogus = 1 }
│ 
│ An argument of this name is not expected here, nor is it expected anywhere
│ else in the world of configurations.
╵
`},
		{"none with -no-color", func(o *Options) { o.Plain = true }, `
Error: broken


Warning: Strange

  on gone.tf line 3:
  (source code not available)

It is strange:
  terraform init

Error: Unsupported argument

  on main.tf line 3, in terraform:
   3:     aaa = { bogus = 1 }

An argument of this name is not expected here, nor is it expected anywhere
else in the world of configurations.
`},
		{"as wide as the terminal", func(o *Options) { o.Stderr.Width = 40; o.Showing.ReadFile = nil }, `╷
│ Error: broken
│ 
│ 
╵
╷
│ Warning: Strange
│ 
│   on gone.tf line 3:
│   (source code not available)
│ 
│ It is strange:
│   terraform init
╵
╷
│ Error: Unsupported argument
│ 
│   on main.tf line 3:
│   (source code not available)
│ 
│ An argument of this name is not
│ expected here, nor is it expected
│ anywhere else in the world of
│ configurations.
╵
`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newSpeaker(func(o *Options) {
				if o.Stderr.Terminal = true; tt.change != nil {
					tt.change(o)
				}
			})
			s.Problems(problems)
			s.check(t, "", tt.want)
		})
	}
}

// Warnings, downloads and the summary are on stderr if that is a terminal, or if
// stdout is for programs. Errors always are.
func TestHuman_WarningsInPipes(t *testing.T) {
	const warning, problem1 = "╷\n│ Warning: Strange\n│ \n│ Look.\n╵\n\n", "╷\n│ Error: broken\n│ \n│ \n╵\n\n"
	for name, tt := range map[string]struct {
		change           func(*Options)
		wantOut, wantErr string
	}{
		"a pipe":              {func(*Options) {}, warning, problem1},
		"a terminal":          {func(o *Options) { o.Stderr.Terminal = true }, "", warning + problem1},
		"stdout for programs": {func(o *Options) { o.Data = true }, "", warning + problem1},
		"a report in JSON":    {func(o *Options) { o.JSON = true }, "", warning + problem1},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSpeaker(nil)
			o := Options{Stdout: terminal.Stream{Writer: &s.out}, Stderr: terminal.Stream{Writer: &s.err}}
			tt.change(&o)
			Problems(o, problem.List{problem.Warning("Strange", "Look."), problem.Error("", "broken", "")})
			s.check(t, tt.wantOut, tt.wantErr)
		})
	}
}

func TestInit_SummaryInPipes(t *testing.T) {
	for name, tt := range map[string]struct {
		change           func(*Options)
		wantOut, wantErr string
	}{
		"a pipe":     {func(o *Options) { o.Progress = ProgressAuto }, "\nChecked 0 providers in 0ms: nothing to do\n", ""},
		"a terminal": {func(o *Options) { o.Progress, o.Stderr.Terminal = ProgressAuto, true }, "", "Checked 0 providers in 0ms: nothing to do\n"},
		"plain":      {func(o *Options) { o.Progress = ProgressPlain }, "", "Checked 0 providers in 0ms: nothing to do\n"},
		"none":       {nil, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSpeaker(tt.change)
			s.Done(nil, true)
			s.check(t, "\nTerraform has been successfully initialized!\n"+tt.wantOut, tt.wantErr)
		})
	}
}

func TestHuman_Colors(t *testing.T) {
	s := newSpeaker(func(o *Options) { o.Stdout.Color, o.Stderr.Color, o.Stderr.Terminal = true, true, true })
	s.BackendBegin(false)
	s.Done(problem.List{problem.At(bogus(), problem.Warning("Strange", "Look."))}, true)
	s.check(t, "\x1b[1mInitializing the backend...\x1b[0m\n"+
		"\n\x1b[1m\x1b[32mTerraform has been successfully initialized!\x1b[0m\n",
		"\x1b[33m╷\x1b[0m\n"+
			"\x1b[33m│\x1b[0m \x1b[1m\x1b[33mWarning: \x1b[0m\x1b[1mStrange\x1b[0m\n"+
			"\x1b[33m│\x1b[0m \n"+
			"\x1b[33m│\x1b[0m   on main.tf line 3, in terraform:\n"+
			"\x1b[33m│\x1b[0m    3:     aaa = { \x1b[4mbogus\x1b[0m = 1 }\n"+
			"\x1b[33m│\x1b[0m \n"+
			"\x1b[33m│\x1b[0m Look.\n"+
			"\x1b[33m╵\x1b[0m\n")
}

func TestHuman_ColorsOnlyWhereWelcome(t *testing.T) {
	for name, change := range map[string]func(*Options){
		"no terminal": nil,
		"-no-color":   func(o *Options) { o.Plain, o.Stdout.Color, o.Stderr.Color = true, true, true },
		"NO_COLOR":    func(o *Options) { o.NoColor, o.Stdout.Color, o.Stderr.Color = true, true, true },
	} {
		s := newSpeaker(change)
		s.BackendBegin(false)
		s.Done(problem.List{problem.At(bogus(), problem.Warning("Strange", "Look."))}, false)
		must.NotContain(t, s.out.String()+s.err.String(), "\x1b", name)
	}
}

// A run over directories may find another product in the second.
func TestInit_SpeaksAsTheProductOfTheDirectory(t *testing.T) {
	s := newSpeaker(func(o *Options) { o.Several, o.JSON = true, true })
	s.Enter("a", asOpenTofu)
	s.BackendBegin(true)
	must.Contain(t, s.out.String(), "Initializing cloud backend...")
}
