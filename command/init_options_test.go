package command

import (
	"reflect"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/command/view"
)

func TestParseInit(t *testing.T) {
	plain := initOptions{backend: true, get: true}
	with := func(change func(*initOptions)) initOptions {
		opts := plain
		change(&opts)
		return opts
	}
	tests := []struct {
		args string
		want initOptions
	}{
		{"", plain},
		{"-upgrade", with(func(o *initOptions) { o.upgrade = true })},
		{"--upgrade=false", plain},
		{"-json", with(func(o *initOptions) { o.json = true })},
		{"-json=false", plain},
		{"-target -json", plain},
		{"-backend=false", with(func(o *initOptions) { o.backend = false })},
		{"-cloud=false", with(func(o *initOptions) { o.backend = false })},
		{"-get=false", with(func(o *initOptions) { o.get = false })},
		{"-lockfile=readonly", with(func(o *initOptions) { o.readonly = true })},
		{"-lockfile=readonly -lockfile=", plain},
		{"-input=false -backend=true -get=true -upgrade=false", plain}, // as terraform-exec has it
		{"-backend-config=a -backend-config= -reconfigure", with(func(o *initOptions) {
			o.state = backendOptions{config: []string{"a", ""}, reconfigure: true}
		})},
		{"-with=tofu -force-copy -lock=false -backend-config=a=b -upgrade", with(func(o *initOptions) {
			o.upgrade = true
			o.state = backendOptions{config: []string{"a=b"}, forceCopy: true, with: "tofu",
				passed: []string{"-lock=false", "-force-copy=true", "-backend-config=a=b"}}
		})},
		{"-plugin-dir=a -plugin-dir b", with(func(o *initOptions) { o.pluginDirGiven, o.pluginDirs = true, []string{"a", "b"} })},
		{"-plugin-dir=", with(func(o *initOptions) { o.pluginDirGiven = true })},
		{"-progress=plain", with(func(o *initOptions) { o.progress = view.ProgressPlain })},
		{"-mirror-fallback=next", with(func(o *initOptions) { o.mirrorFallback = "next" })},
	}
	for _, tt := range tests {
		t.Run(tt.args, func(t *testing.T) {
			got, problems := parseInit(strings.Fields(tt.args), nil, nil)
			if problems.HasErrors() {
				t.Fatal(problems)
			}
			got.by, got.readonlyBy = nil, "" // see TestFrozenNamesWhoSetIt
			if !reflect.DeepEqual(got, tt.want) {
				t.Errorf("got %+v, want %+v", got, tt.want)
			}
		})
	}
}

func TestParseInitTellsAllProblems(t *testing.T) {
	_, problems := parseInit(strings.Fields("-lockfile=x -backend=true -cloud=true -reconfigure -migrate-state -with=x"), nil, nil)
	var got []string
	for _, p := range problems {
		got = append(got, p.Summary)
	}
	want := "Invalid init options, Invalid lock file mode, Invalid program, Invalid init options"
	if strings.Join(got, ", ") != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// Who asks for it under the name of the real tool means the real tool.
func TestStateIsMovedByWhoseNameWeHave(t *testing.T) {
	if _, problems := parseInit([]string{"-force-copy"}, nil, nil); !problems.HasErrors() {
		t.Error("under our own name, state is moved")
	}
	opts, problems := parseInit([]string{"-force-copy"}, nil, &StandIn{Name: "tofu1.12.6"})
	if problems.HasErrors() || opts.state.with != "tofu1.12.6" {
		t.Errorf("as tofu1.12.6: got %q and %v", opts.state.with, problems)
	}
}

func TestParseInitKnowsHowToTellThem(t *testing.T) {
	opts, problems := parseInit([]string{"-nonsense", "-json"}, nil, nil)
	if !problems.HasErrors() || !opts.json {
		t.Errorf("got %v and %+v, want an error told in JSON", problems, opts)
	}
}

func FuzzParseInit(f *testing.F) {
	f.Add("-upgrade -lockfile=readonly x")
	f.Add("-reconfigure=maybe -lock-timeout=1h --")
	f.Fuzz(func(_ *testing.T, args string) { parseInit(strings.Fields(args), nil, nil) })
}
